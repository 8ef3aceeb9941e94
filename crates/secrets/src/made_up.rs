//! Values that a person made up: as long as a secret and with enough entropy, but of a shape that random generators do not
//! produce. Each shape has a probability below one in a thousand among random values of the usual alphabets.

use crate::randomness::{is_hex, is_placeholder, is_wordy};
use crate::web_token::decode;

/// Words spelled with hexadecimal digits. A random value of 64 digits contains two of them with a probability of 1 in 30,000.
const HEX_WORDS: [&[u8]; 8] = [b"dead", b"beef", b"cafe", b"babe", b"face", b"f00d", b"feed", b"c0de"];

/// In longer values, pairs of characters repeat by chance.
const LONGEST_TYPED: usize = 64;

/// How often one pair of characters repeats in a value that was typed by mashing keys.
const REPEATED: usize = 4;

pub(crate) fn is_made_up(value: &[u8]) -> bool {
    let lower = value.to_ascii_lowercase();
    if is_hex(value) {
        let words = HEX_WORDS.iter().filter(|word| memchr::memmem::find(&lower, word).is_some()).count();
        return words >= 2 || (value.len() <= LONGEST_TYPED && repeats(&lower, 4, 3));
    }
    if is_compound(value) {
        return true;
    }
    // Pairs also repeat in base64 of text, so judge the decoded text instead.
    match decoded_text(value) {
        Some(text) => is_wordy(&text) || is_placeholder(&text),
        None => value.len() <= LONGEST_TYPED && repeats(&lower, 2, REPEATED),
    }
}

/// Decodes base64; `None` if the result is not printable text.
fn decoded_text(value: &[u8]) -> Option<Vec<u8>> {
    let plain = value.strip_suffix(b"==").or_else(|| value.strip_suffix(b"=")).unwrap_or(value);
    decode(plain).filter(|text| text.iter().all(|byte| matches!(byte, b' '..=b'~' | b'\n')))
}

/// Whether some group of `length` characters occurs `times` times.
fn repeats(lower: &[u8], length: usize, times: usize) -> bool {
    let mut groups: Vec<&[u8]> = lower.windows(length).collect();
    groups.sort_unstable();
    groups.chunk_by(|a, b| a == b).any(|same| same.len() >= times)
}

/// A name such as `swift-dockerhub-2026` or `softhsm2_engine`: parts that are a word, a number, or a word and a number.
fn is_compound(value: &[u8]) -> bool {
    let is_part = |part: &[u8]| {
        let letters = part.iter().take_while(|byte| byte.is_ascii_lowercase()).count();
        let digits = part.get(letters..).unwrap_or_default();
        !part.is_empty() && digits.len() <= 4 && digits.iter().all(u8::is_ascii_digit) && letters != 1
    };
    let mut parts = value.split(|byte| matches!(byte, b'-' | b'_'));
    let count = parts.clone().count();
    count >= 2 && value.len() / count >= 3 && parts.all(is_part)
}

#[cfg(test)]
mod tests {
    use super::is_made_up;

    #[test]
    fn values_that_chance_does_not_give() {
        for value in [
            // Hexadecimal words.
            "e3b68aa711e6deadc62d5b76355674beef7cc3116062ddba",
            // Mashed keys: `45` and `gr` repeat.
            "45gr45GRhk45tgr9gr45ergRt",
            // `this-is-a-text-for-a-test-2`
            "dGhpcy1pcy1hLXRleHQtZm9yLWEtdGVzdC0y",
            // Hexadecimal digits that repeat.
            "abcab3ABCab3abcab3ABCab3abcab3AB",
            "swift-dockerhub-2026",
            "softhsm2-enginepkcs11",
        ] {
            assert!(is_made_up(value.as_bytes()), "{value}");
        }
        for value in [
            "9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0bdead",
            "q7Rz0bXk2Lm9vTgYw3HdPs5Nc8JfUe1Wa6Zt",
            // Base64 of 36 random hexadecimal digits: pairs repeat, but the text contains no words.
            "NGY4YjE2ZjhiYTRiZjE0ZjRlNmI0ZjliNmZhNGJhMTRmOGUy",
        ] {
            assert!(!is_made_up(value.as_bytes()), "{value}");
        }
    }

    /// The false positive rate: how many random values of the usual alphabets are taken for made up.
    #[test]
    fn random_values_are_not_made_up() {
        let mut state = 7u64;
        let mut next = |below: usize| {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            usize::try_from(state >> 33).unwrap_or(0) % below
        };
        let all = b"0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ";
        for (alphabet, length) in [(16, 32), (16, 64), (36, 40), (62, 20), (62, 40), (62, 64)] {
            let mut wrong = 0;
            for _ in 0..10_000 {
                let value: Vec<u8> = (0..length).map(|_| all[next(alphabet)]).collect();
                wrong += usize::from(is_made_up(&value));
            }
            assert!(wrong <= 10, "{wrong} of 10,000 with {alphabet} characters, {length} long");
        }
    }
}
