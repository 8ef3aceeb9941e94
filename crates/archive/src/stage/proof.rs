//! The verification itself: compares bytes with the size and SHA-256 in the map, and with the size and half the hash in the meta.

use std::io::{self, Read as _};
use std::path::Path;

use sha2::{Digest as _, Sha256};
use stan_model::Digest;
use stan_repo::{System, SystemExt as _, hash_real_file, sha256};

use super::External;
use crate::error::Error;
use crate::mismatch::{Mismatch, MismatchKind};
use crate::transaction::OutputStream;

/// An external with both promises.
pub(super) struct Promise<'e> {
    pub(super) external: &'e External,
    pub(super) map: (u64, Digest),
    pub(super) meta: (u64, [u8; 16]),
}

pub(super) enum Read<T> {
    Right(T),
    /// Never empty.
    Wrong(Vec<Mismatch>),
}

impl Promise<'_> {
    /// The mismatches of bytes with this size and digest. Without a digest, only the size is compared.
    pub(super) fn check(&self, size: u64, digest: Option<Digest>) -> Vec<Mismatch> {
        let mut mismatches = Vec::new();
        let bytes = |size: u64| format!("{size} bytes");
        let (map_size, map_digest) = self.map;
        if map_size != size {
            mismatches.push(self.mismatch(MismatchKind::MapSize, bytes(map_size), bytes(size)));
        } else if let Some(digest) = digest.filter(|digest| *digest != map_digest) {
            mismatches.push(self.mismatch(MismatchKind::MapHash, map_digest.to_string(), digest.to_string()));
        }
        let (meta_size, meta_half) = self.meta;
        if meta_size != size {
            mismatches.push(self.mismatch(MismatchKind::MetaSize, bytes(meta_size), bytes(size)));
        } else if let Some(half) = digest.map(|digest| digest.prefix()).filter(|half| *half != meta_half) {
            mismatches.push(self.mismatch(MismatchKind::MetaHash, spelled(meta_half), spelled(half)));
        }
        mismatches
    }

    /// Reads a copy back and verifies it.
    pub(super) fn check_copy(&self, system: &dyn System, path: &Path) -> Option<Mismatch> {
        let (size, digest) = self.map;
        let expected = format!("{size} bytes with SHA-256 {digest}");
        let actual = match hash_real_file(system, path) {
            Ok(found) if found.digest == digest && found.size == size => return None,
            Ok(found) => format!("{} bytes with SHA-256 {}", found.size, found.digest),
            Err(error) => error.to_string(),
        };
        Some(self.mismatch(MismatchKind::ReadBack, expected, actual))
    }

    pub(super) fn unreadable(&self, error: &io::Error) -> Mismatch {
        let expected = format!("a file of {} bytes", self.map.0);
        let actual = match error.kind() {
            io::ErrorKind::NotFound => "nothing there".to_owned(),
            io::ErrorKind::PermissionDenied => "permission denied".to_owned(),
            _ => error.to_string(),
        };
        self.mismatch(MismatchKind::Unreadable, expected, actual)
    }

    fn mismatch(&self, kind: MismatchKind, expected: String, actual: String) -> Mismatch {
        let External { id, source, .. } = self.external;
        Mismatch { id: id.clone(), source: source.clone(), kind, expected, actual }
    }
}

/// Reads a source into memory, and verifies it. Also returns whether it is private: other users may not read it.
pub(super) fn read_small(system: &dyn System, promise: &Promise<'_>) -> Read<(Vec<u8>, bool)> {
    let mut file = match system.open_real(&promise.external.source) {
        Ok(file) => file,
        Err(error) => return Read::Wrong(vec![promise.unreadable(&error)]),
    };
    let (size, _) = promise.map;
    if file.stat.size != size {
        return wrong(promise, file.stat.size, None);
    }
    // One byte more than promised, so that a file that grew is detected and a huge one is not held in memory.
    let mut bytes = Vec::with_capacity(usize::try_from(size).unwrap_or(0).saturating_add(1));
    if let Err(error) = (&mut file.reader).take(size.saturating_add(1)).read_to_end(&mut bytes) {
        return Read::Wrong(vec![promise.unreadable(&error)]);
    }
    let mismatches = promise.check(bytes.len() as u64, Some(sha256(&bytes)));
    if mismatches.is_empty() { Read::Right((bytes, file.private)) } else { Read::Wrong(mismatches) }
}

/// Copies a source in pieces and verifies the copied bytes. Without `out`, only verifies.
pub(super) fn stream_large(
    system: &dyn System,
    promise: &Promise<'_>,
    mut out: Option<&mut OutputStream>,
) -> Result<Read<()>, Error> {
    let mut file = match system.open_real(&promise.external.source) {
        Ok(file) => file,
        Err(error) => return Ok(Read::Wrong(vec![promise.unreadable(&error)])),
    };
    let (promised, _) = promise.map;
    if file.stat.size != promised {
        return Ok(wrong(promise, file.stat.size, None));
    }
    if let Some(out) = out.as_mut().filter(|_| file.private) {
        out.keep_private();
    }
    let mut hasher = Sha256::new();
    let mut piece = vec![0; 1 << 20];
    let mut size = 0;
    while size <= promised {
        let count = match file.reader.read(&mut piece) {
            Ok(0) => break,
            Ok(count) => count,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
            Err(error) => return Ok(Read::Wrong(vec![promise.unreadable(&error)])),
        };
        let bytes = piece.get(..count).unwrap_or_default();
        hasher.update(bytes);
        size += count as u64;
        if let Some(out) = out.as_mut() {
            out.put(bytes)?;
        }
    }
    let mismatches = promise.check(size, Some(Digest(hasher.finalize().into())));
    Ok(if mismatches.is_empty() { Read::Right(()) } else { Read::Wrong(mismatches) })
}

/// For a size that differs from the map's, so that there is always a mismatch.
fn wrong<T>(promise: &Promise<'_>, size: u64, digest: Option<Digest>) -> Read<T> {
    Read::Wrong(promise.check(size, digest))
}

/// The hash as the meta spells it, so that users can search for it: base64url without padding.
fn spelled(half: [u8; 16]) -> String {
    const ALPHABET: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";
    // 128 bits and four zero bits make 22 characters of 6 bits.
    let bits = u128::from_be_bytes(half);
    let six = |place: u32| if place == 21 { bits << 4 } else { bits >> (122 - 6 * place) };
    (0..22).map(|place| char::from(ALPHABET[(six(place) & 63) as usize])).collect()
}
