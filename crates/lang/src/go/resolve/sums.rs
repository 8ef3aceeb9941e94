//! Parses `go.sum`: the hashes of modules, by path and version. Only versions that it lists may be read from the module cache,
//! and only files of modules with that hash are staged.

use rustc_hash::FxHashMap;
use smallvec::SmallVec;
use stan_model::Digest;

use super::manifest::compare_versions;

/// The modules of one or several `go.sum` files. Hashes of only their `go.mod` are ignored.
#[derive(Debug, Default)]
pub(super) struct Sums {
    /// The highest version of each module.
    highest: FxHashMap<Box<str>, Box<str>>,
    /// By path and version, separated by a space.
    hashes: FxHashMap<Box<str>, SmallVec<[Digest; 1]>>,
}

impl Sums {
    /// Adds the lines of a file.
    pub(super) fn add(&mut self, text: &str) {
        // Half of the lines are about a `go.mod`.
        let lines = memchr::memchr_iter(b'\n', text.as_bytes()).count() / 2;
        self.highest.reserve(lines);
        self.hashes.reserve(lines);
        let mut start = 0;
        for end in memchr::memchr_iter(b'\n', text.as_bytes()).chain([text.len()]) {
            if let Some([path, version, hash]) = text.get(start..end).and_then(fields)
                && !version.ends_with("/go.mod")
                && let Some(digest) = hash.strip_prefix("h1:").and_then(digest)
            {
                self.add_hash(path, version, digest);
            }
            start = end + 1;
        }
    }

    fn add_hash(&mut self, path: &str, version: &str, digest: Digest) {
        match self.highest.get_mut(path) {
            Some(highest) => {
                if compare_versions(version, highest).then_with(|| version.cmp(highest)).is_gt() {
                    *highest = version.into();
                }
            }
            None => drop(self.highest.insert(path.into(), version.into())),
        }
        let hashes = self.hashes.entry(key(path, version)).or_default();
        if !hashes.contains(&digest) && hashes.len() < MAX_HASHES {
            hashes.push(digest);
        }
    }

    /// The hashes of a module version.
    pub(super) fn hashes(&self, path: &str, version: &str) -> &[Digest] {
        self.hashes.get(&key(path, version)).map_or(&[], SmallVec::as_slice)
    }

    /// The highest version of a module.
    pub(super) fn highest(&self, path: &str) -> Option<&str> {
        self.highest.get(path).map(|highest| &**highest)
    }
}

/// Unambiguous, because neither part contains a space.
fn key(path: &str, version: &str) -> Box<str> {
    [path, " ", version].concat().into()
}

/// The first three fields of a line.
fn fields(line: &str) -> Option<[&str; 3]> {
    if !line.is_ascii() {
        let mut words = line.split_whitespace();
        return Some([words.next()?, words.next()?, words.next()?]);
    }
    let is_space = |byte: u8| matches!(byte, b'\t'..=b'\r' | b' ');
    let mut fields = [""; 3];
    let mut rest = line;
    for field in &mut fields {
        rest = rest.get(rest.bytes().position(|byte| !is_space(byte))?..)?;
        let end = rest.bytes().position(is_space).unwrap_or(rest.len());
        (*field, rest) = rest.split_at_checked(end)?;
    }
    Some(fields)
}

/// Contradictory files list several hashes for a version; further ones are ignored.
const MAX_HASHES: usize = 16;

/// Decodes the base64 of a SHA-256.
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
    fn only_hashes_of_whole_modules_are_read() {
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
    fn words_are_separated_by_any_white_space() {
        for line in ["a b c", " a\tb  c\r", "a\u{b}b\u{c}c d", "a\u{a0}b c", "\u{3000}a b\u{2003}c\u{85}"] {
            assert_eq!(fields(line), Some(["a", "b", "c"]), "{line:?}");
        }
        assert_eq!(fields("a b"), None);
        assert_eq!(fields("é b "), None);
        assert_eq!(fields(""), None);
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
