//! base64url without padding, for exactly sixteen bytes. Only used for hash prefixes.

use super::HashPrefix;

const ALPHABET: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";

/// Sixteen bytes take this many characters.
pub(super) const LENGTH: usize = 22;

pub(super) fn encode(hash: &HashPrefix) -> [u8; LENGTH] {
    // 128 bits and four zero bits make 22 characters of 6 bits.
    let bits = u128::from_be_bytes(*hash);
    std::array::from_fn(|place| {
        let six = if place == LENGTH - 1 { bits << 4 } else { bits >> (122 - 6 * place) };
        ALPHABET[(six & 63) as usize]
    })
}

/// `None` for anything that `encode` does not write, including stray bits in the last character.
pub(super) fn decode(text: &str) -> Option<HashPrefix> {
    let characters: &[u8; LENGTH] = text.as_bytes().try_into().ok()?;
    let (last, others) = characters.split_last()?;
    let mut bits = 0u128;
    for character in others {
        bits = bits << 6 | u128::from(value(*character)?);
    }
    let last = value(*last)?;
    (last & 15 == 0).then(|| (bits << 2 | u128::from(last >> 4)).to_be_bytes())
}

fn value(character: u8) -> Option<u8> {
    match character {
        b'A'..=b'Z' => Some(character - b'A'),
        b'a'..=b'z' => Some(character - b'a' + 26),
        b'0'..=b'9' => Some(character - b'0' + 52),
        b'-' => Some(62),
        b'_' => Some(63),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn hashes_are_written_as_base64url_and_read_back() {
        let cases = [
            ([0; 16], "AAAAAAAAAAAAAAAAAAAAAA"),
            ([255; 16], "_____________________w"),
            (*b"Many hands make ", "TWFueSBoYW5kcyBtYWtlIA"),
            (std::array::from_fn(|place| place as u8 * 17), "ABEiM0RVZneImaq7zN3u_w"),
        ];
        for (hash, text) in cases {
            assert_eq!(encode(&hash), text.as_bytes(), "{text}");
            assert_eq!(decode(text), Some(hash), "{text}");
        }
    }

    #[test]
    fn texts_that_are_not_hashes_are_rejected() {
        for text in [
            "",
            "AAAAAAAAAAAAAAAAAAAAA",
            "AAAAAAAAAAAAAAAAAAAAAAA",
            "AAAAAAAAAAAAAAAAAAAAAB",
            "AAAAAAAAAAAAAAAAAAAA==",
            "AAAAAAAAAAAAAAAAAAAA+A",
            "éAAAAAAAAAAAAAAAAAAAAA",
            "éAAAAAAAAAAAAAAAAAAAA",
        ] {
            assert_eq!(decode(text), None, "{text}");
        }
    }

    proptest! {
        #[test]
        fn decoding_is_the_inverse(hash in any::<[u8; 16]>()) {
            prop_assert_eq!(decode(std::str::from_utf8(&encode(&hash)).unwrap()), Some(hash));
        }
    }
}
