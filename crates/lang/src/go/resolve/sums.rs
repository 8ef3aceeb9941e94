//! `go.sum`: the hashes of modules, by path and version. Only what it names may be read from the module cache, and only
//! what has its hash is staged.

use rustc_hash::FxHashMap;
use stan_model::Digest;

use super::manifest::compare_versions;

/// The modules of one `go.sum` or of several. Hashes of their `go.mod` alone do not count.
#[derive(Debug, Default)]
pub(super) struct Sums {
    modules: FxHashMap<Box<str>, Versions>,
}

#[derive(Debug)]
struct Versions {
    highest: Box<str>,
    hashes: FxHashMap<Box<str>, Vec<Digest>>,
}

impl Sums {
    /// Adds what a file says.
    pub(super) fn add(&mut self, text: &str) {
        for line in text.lines() {
            let mut words = line.split_whitespace();
            let (Some(path), Some(version), Some(hash)) = (words.next(), words.next(), words.next()) else { continue };
            let Some(digest) = hash.strip_prefix("h1:").and_then(digest) else { continue };
            if version.ends_with("/go.mod") {
                continue;
            }
            let none = || Versions { highest: version.into(), hashes: FxHashMap::default() };
            let versions = self.modules.entry(path.into()).or_insert_with(none);
            if compare_versions(version, &versions.highest).then_with(|| version.cmp(&versions.highest)).is_gt() {
                versions.highest = version.into();
            }
            let hashes = versions.hashes.entry(version.into()).or_default();
            if !hashes.contains(&digest) && hashes.len() < MOST_HASHES {
                hashes.push(digest);
            }
        }
    }

    /// The hashes of a module's version.
    pub(super) fn hashes(&self, path: &str, version: &str) -> &[Digest] {
        self.modules.get(path).and_then(|versions| versions.hashes.get(version)).map_or(&[], Vec::as_slice)
    }

    /// The highest version of a module.
    pub(super) fn highest(&self, path: &str) -> Option<&str> {
        self.modules.get(path).map(|versions| &*versions.highest)
    }
}

/// Files that contradict each other have more than one hash of a version; more than this many are ignored.
const MOST_HASHES: usize = 16;

/// The 32 bytes behind the base64 of a SHA-256.
fn digest(text: &str) -> Option<Digest> {
    let text = text.strip_suffix('=').filter(|text| text.len() == 43)?;
    let value = |byte: u8| match byte {
        b'A'..=b'Z' => Some(byte - b'A'),
        b'a'..=b'z' => Some(byte - b'a' + 26),
        b'0'..=b'9' => Some(byte - b'0' + 52),
        b'+' => Some(62),
        b'/' => Some(63),
        _ => None,
    };
    let mut bytes = [0u8; 32];
    let (mut bits, mut count, mut next) = (0u32, 0, 0);
    for byte in text.bytes() {
        bits = (bits << 6) | u32::from(value(byte)?);
        count += 6;
        if count >= 8 {
            count -= 8;
            *bytes.get_mut(next)? = (bits >> count) as u8;
            next += 1;
            bits &= (1 << count) - 1;
        }
    }
    (bits == 0).then_some(Digest(bytes))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_hashes_of_whole_modules_count() {
        let zeros = "A".repeat(43);
        let mut sums = Sums::default();
        sums.add(&format!(
            "m.org/a v1.0.0 h1:{zeros}=\nm.org/a v1.0.0/go.mod h1:{zeros}=\nm.org/a v1.10.0 h1:{zeros}=\nm.org/b v1.0.0/go.mod h1:{zeros}=\n\
             m.org/c v1.0.0 h2:{zeros}=\nm.org/d v1.0.0 h1:short=\nm.org/e v1.0.0\n\n"
        ));
        assert_eq!(sums.highest("m.org/a"), Some("v1.10.0"));
        assert_eq!(sums.hashes("m.org/a", "v1.0.0"), [Digest([0; 32])]);
        for absent in ["m.org/b", "m.org/c", "m.org/d", "m.org/e"] {
            assert_eq!(sums.highest(absent), None, "{absent}");
        }
    }

    #[test]
    fn hashes_are_base64() {
        let bytes: [u8; 32] = std::array::from_fn(|index| index as u8 * 8 + 5);
        assert_eq!(digest("BQ0VHSUtNT1FTVVdZW11fYWNlZ2lrbW9xc3V3eXt9f0="), Some(Digest(bytes)));
        assert_eq!(digest(&("A".repeat(42) + "B=")), None);
        assert_eq!(digest(&("A".repeat(42) + "!=")), None);
        assert_eq!(digest(""), None);
    }
}
