//! The format of one value in a shared cache: the facts of several files, in the order of the files that its name is derived
//! from.
//!
//! ```text
//! "stanfct1" | name (32) | tag (32) | postcard: a list of facts, or nothing for a file that is not shared
//! ```
//!
//! The tag is HMAC-SHA-256 of name and list with the secret. Without a secret it is a checksum, which proves that the value is
//! complete, but not who wrote it.

use sha2::{Digest as _, Sha256};
use stan_lang::language::{ExtractOptions, Extraction};
use stan_model::{FileFacts, FileProblem};
use xxhash_rust::xxh3::xxh3_64;

use super::Member;

/// Must change whenever the layout or the meaning of facts changes.
const MAGIC: &[u8; 8] = b"stanfct1";
/// A bundle of a few hundred files has a few hundred kilobytes.
const MAX_BUNDLE_BYTES: u64 = 32 << 20;
/// How many bytes a bundle may have in addition to those that its files justify: for messages, and for facts of tiny files.
const SPARE: u64 = 256 << 10;

/// Of bundles with fewer files, one file in this many is extracted again on average, so some of these bundles are not checked at
/// all.
const SAMPLED: u64 = 16;

/// Facts, problems, and whether the file did not parse cleanly; `None` for a file that is not shared.
type Stored = Option<(FileFacts, Vec<FileProblem>, bool)>;
type Borrowed<'f> = Option<(&'f FileFacts, &'f [FileProblem], bool)>;

/// The common part of all names of a run.
pub(super) fn base(languages: &[(&str, u32)], options: &ExtractOptions, secret: Option<&[u8]>) -> [u8; 32] {
    let mut hasher = Sha256::new();
    hasher.update(MAGIC);
    let mut text = |text: &str| {
        hasher.update((text.len() as u64).to_le_bytes());
        hasher.update(text.as_bytes());
    };
    text(env!("CARGO_PKG_VERSION"));
    for (language, version) in languages {
        text(language);
        text(&version.to_string());
    }
    options.description_tags.iter().for_each(|tag| text(tag));
    text(&options.description_limit.to_string());
    // Keeps values of different secrets, and values without a secret, under different names.
    if let Some(secret) = secret {
        hasher.update(authenticated(secret, &[b"name"]));
    }
    hasher.finalize().into()
}

/// The name of a bundle: a hash of all inputs of its facts.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct BundleName(pub(super) [u8; 32]);

impl BundleName {
    pub(super) fn of(base: &[u8; 32], members: &[Member<'_>]) -> Self {
        let mut hasher = Sha256::new();
        hasher.update(base);
        for member in members {
            let name = member.path.rsplit('/').next().unwrap_or(member.path);
            hasher.update((name.len() as u64).to_le_bytes());
            hasher.update(name.as_bytes());
            hasher.update(member.meta.digest.0);
        }
        Self(hasher.finalize().into())
    }

    /// The path below the address of the cache. Subfolders keep directory listings on servers short.
    pub(super) fn path(&self) -> String {
        let digits: String = self.0.iter().map(|byte| format!("{byte:02x}")).collect();
        format!("v1/{}/{digits}", digits.get(..2).unwrap_or_default())
    }

    /// The index of the file to extract again: one in each bundle of at least `SAMPLED` files. A smaller bundle is sampled with
    /// the probability `count / SAMPLED`.
    pub(super) fn sample(&self, seed: u64, count: usize) -> Option<usize> {
        let mut bytes = self.0.to_vec();
        bytes.extend_from_slice(&seed.to_le_bytes());
        let random = xxh3_64(&bytes);
        let chosen = usize::try_from(random % SAMPLED).unwrap_or(0) < count;
        chosen.then(|| usize::try_from((random >> 8) % (count as u64).max(1)).unwrap_or(0))
    }
}

/// The maximum size of these files' facts. Decoding takes up to 20 times as much memory, so a server must not be able to choose
/// the size.
pub(super) fn largest(members: &[Member<'_>]) -> u64 {
    let size = members.iter().fold(0u64, |sum, member| sum.saturating_add(member.meta.size));
    size.saturating_mul(16).saturating_add(SPARE).min(MAX_BUNDLE_BYTES)
}

/// `None` for facts that cannot be encoded.
pub(super) fn encode(name: &BundleName, facts: &[Option<&Extraction>], secret: Option<&[u8]>) -> Option<Vec<u8>> {
    let borrowed = facts
        .iter()
        .map(|facts| facts.map(|Extraction { facts, problems, incomplete }| (facts, problems.as_slice(), *incomplete)));
    let list = postcard::to_stdvec(&borrowed.collect::<Vec<Borrowed<'_>>>()).ok()?;
    let tag = tag(name, &list, secret);
    Some([MAGIC.as_slice(), &name.0, &tag, &list].concat())
}

/// `None` for a value that is incomplete, not authentic, of another name, or cannot be the facts of these files.
pub(super) fn decode(
    name: &BundleName,
    bytes: &[u8],
    members: &[Member<'_>],
    secret: Option<&[u8]>,
) -> Option<Vec<Option<Extraction>>> {
    let rest = bytes.strip_prefix(MAGIC)?;
    let (own_name, rest) = rest.split_first_chunk::<32>()?;
    let (found, list) = rest.split_first_chunk::<32>()?;
    if *own_name != name.0 || !is_same(found, &tag(name, list, secret)) {
        return None;
    }
    // An entry of one byte takes hundreds of bytes in memory, so check the count before decoding.
    let (count, _): (u64, &[u8]) = postcard::take_from_bytes(list).ok()?;
    if count != members.len() as u64 {
        return None;
    }
    let (stored, rest): (Vec<Stored>, &[u8]) = postcard::take_from_bytes(list).ok()?;
    if stored.len() != members.len() || !rest.is_empty() {
        return None;
    }
    let extraction = |(stored, member): (Stored, &Member<'_>)| match stored {
        None => Some(None),
        Some((facts, problems, incomplete)) => {
            let is_sound = facts.is_consistent(member.meta.size);
            is_sound.then_some(Some(Extraction { facts, problems, incomplete }))
        }
    };
    stored.into_iter().zip(members).map(extraction).collect()
}

fn tag(name: &BundleName, list: &[u8], secret: Option<&[u8]>) -> [u8; 32] {
    match secret {
        Some(secret) => authenticated(secret, &[&name.0, list]),
        None => {
            let mut tag = [0; 32];
            tag[..8].copy_from_slice(&xxh3_64(list).to_le_bytes());
            tag
        }
    }
}

/// HMAC-SHA-256.
fn authenticated(secret: &[u8], parts: &[&[u8]]) -> [u8; 32] {
    let short: [u8; 32] = Sha256::digest(secret).into();
    let key: &[u8] = if secret.len() > 64 { &short } else { secret };
    let keyed = |pad: u8| {
        let mut block = [pad; 64];
        block.iter_mut().zip(key).for_each(|(byte, key)| *byte ^= key);
        Sha256::new().chain_update(block)
    };
    let inner = parts.iter().fold(keyed(0x36), |hasher, part| hasher.chain_update(part)).finalize();
    keyed(0x5c).chain_update(inner).finalize().into()
}

/// Compares in constant time.
fn is_same(a: &[u8; 32], b: &[u8; 32]) -> bool {
    a.iter().zip(b).fold(0, |difference, (a, b)| difference | (a ^ b)) == 0
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn authentication_is_hmac_sha_256() {
        // RFC 4231, test cases 2 and 6.
        let hex = |bytes: [u8; 32]| bytes.iter().map(|byte| format!("{byte:02x}")).collect::<String>();
        assert_eq!(
            hex(authenticated(b"Jefe", &[b"what do ya want ", b"for nothing?"])),
            "5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843"
        );
        assert_eq!(
            hex(authenticated(&[0xaa; 131], &[b"Test Using Larger Than Block-Size Key - Hash Key First"])),
            "60e431591ee0b67f0d8a26aacbf5b77f8e0bc6213728c5140546040f0ee37f54"
        );
    }
}
