//! The SHA-256 digest of a file. Computing it is `stan_repo`'s job.

use std::fmt;

use serde::{Deserialize, Serialize};

/// SHA-256 over the bytes of one file, exactly as they are on disk.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct Digest(pub [u8; 32]);

impl Digest {
    /// Lower-case hex, the spelling of the graph's `hash` field.
    pub fn hex(&self) -> [u8; 64] {
        const HEX: &[u8; 16] = b"0123456789abcdef";
        let mut out = [0u8; 64];
        for (pair, byte) in out.chunks_exact_mut(2).zip(self.0) {
            pair[0] = HEX[usize::from(byte >> 4)];
            pair[1] = HEX[usize::from(byte & 15)];
        }
        out
    }

    /// The first half, which is what maps show.
    pub fn prefix(&self) -> [u8; 16] {
        std::array::from_fn(|index| self.0[index])
    }

    /// Parses 64 lower-case hex digits.
    pub fn from_hex(text: &str) -> Option<Self> {
        let value = |digit: u8| match digit {
            b'0'..=b'9' => Some(digit - b'0'),
            b'a'..=b'f' => Some(digit - b'a' + 10),
            _ => None,
        };
        let (pairs, rest) = text.as_bytes().as_chunks::<2>();
        let mut bytes = [0u8; 32];
        if pairs.len() != bytes.len() || !rest.is_empty() {
            return None;
        }
        for (byte, [high, low]) in bytes.iter_mut().zip(pairs) {
            *byte = value(*high)? << 4 | value(*low)?;
        }
        Some(Self(bytes))
    }
}

impl fmt::Display for Digest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.iter().try_for_each(|byte| write!(f, "{byte:02x}"))
    }
}

impl fmt::Debug for Digest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

#[cfg(test)]
mod tests {
    use super::Digest;

    #[test]
    fn hex_and_display_agree() {
        let digest = Digest(std::array::from_fn(|i| (i * 9) as u8));
        assert_eq!(std::str::from_utf8(&digest.hex()).unwrap(), digest.to_string());
        assert!(digest.to_string().starts_with("0009121b"));
        assert_eq!(Digest::from_hex(&digest.to_string()), Some(digest));
        for text in ["", "00", &"0".repeat(63), &"0".repeat(65), &"A".repeat(64), &"é".repeat(32)] {
            assert_eq!(Digest::from_hex(text), None, "{text}");
        }
    }
}
