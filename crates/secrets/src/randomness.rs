//! Decides whether a value was generated randomly or written by a person.

/// The most frequent letter pairs of English text and of identifiers. A random pair is among them in one case of five, a pair in
/// a word in more than two of three.
const COMMON_PAIRS: &str = "th he in er an re on at en nd ti es or te of ed is it al ar st to nt ng se ha as ou io le ve co \
me de hi ri ro ic ne ea ra ce li ch ll be ma si om ur ca el ta la ns di fo ho pe ec pr no ct us ac ot il tr ly nc et ut \
ss so rs un lo wa ge ie wh ee wi em ad ol rt po we na ul ni ts mo ow pa im mi ai sh ir su id os iv ia am fi ci vi pl ig \
tu ev ld ry mp fe bl ab gh ty op wo sa ay ex ke fr oo av ag if ap gr od bo ey rd";

const PAIR_BITS: [u32; 26] = pair_bits();

const fn pair_bits() -> [u32; 26] {
    let text = COMMON_PAIRS.as_bytes();
    let mut bits = [0; 26];
    let mut at = 0;
    while at + 1 < text.len() {
        if text[at] != b' ' && text[at + 1] != b' ' {
            bits[(text[at] - b'a') as usize] |= 1 << (text[at + 1] - b'a');
        }
        at += 1;
    }
    bits
}

/// Whether most pairs of adjacent letters occur in words. Counts pairs of one case, and pairs of a capital and a small letter.
pub(crate) fn is_wordy(value: &[u8]) -> bool {
    let value = value.get(..512).unwrap_or(value);
    let (mut pairs, mut common) = (0u32, 0u32);
    for pair in value.windows(2) {
        let &[first, second] = pair else { continue };
        let is_pair = first.is_ascii_alphabetic()
            && second.is_ascii_alphabetic()
            && (first.is_ascii_uppercase() || second.is_ascii_lowercase());
        if is_pair {
            pairs += 1;
            let index = usize::from(first.to_ascii_lowercase() - b'a');
            let bit = PAIR_BITS.get(index).copied().unwrap_or(0) >> (second.to_ascii_lowercase() - b'a') & 1;
            common += bit;
        }
    }
    pairs >= 7 && common * 10 >= pairs * 6
}

/// The Shannon entropy in bits per byte, of the first 256 bytes.
pub(crate) fn entropy(value: &[u8]) -> f64 {
    let value = value.get(..256).unwrap_or(value);
    let mut counts = [0u16; 256];
    for byte in value {
        if let Some(count) = counts.get_mut(usize::from(*byte)) {
            *count += 1;
        }
    }
    let total = value.len() as f64;
    let parts = counts.iter().filter(|count| **count > 0).map(|count| f64::from(*count) / total);
    -parts.map(|part| part * part.log2()).sum::<f64>()
}

pub(crate) fn is_hex(value: &[u8]) -> bool {
    value.iter().all(u8::is_ascii_hexdigit)
}

/// `8-4-4-4-12` hexadecimal digits.
pub(crate) fn is_uuid(value: &[u8]) -> bool {
    value.len() == 36
        && value.iter().enumerate().all(|(index, byte)| match index {
            8 | 13 | 18 | 23 => *byte == b'-',
            _ => byte.is_ascii_hexdigit(),
        })
}

/// What documentation uses in place of a secret.
const PLACEHOLDERS: [&[u8]; 34] = [
    b"example",
    b"sample",
    b"xxxx",
    b"your",
    b"placeholder",
    b"changeme",
    b"change_me",
    b"change-me",
    b"dummy",
    b"redacted",
    b"insert",
    b"replace",
    b"secret",
    b"password",
    b"1234567",
    b"abcdef0",
    b"abcdefg",
    b"9876543",
    b"0000000",
    b"aaaaaa",
    b"fake",
    b"lorem",
    b"todo",
    b"foobar",
    b"deadbeef",
    b"notreal",
    b"mytoken",
    b"token",
    b"abc123",
    b"123abc",
    b"uvwxyz",
    b"qwert",
    b"asdf",
    b"zxcvb",
];

/// Whether a value is a placeholder.
pub(crate) fn is_placeholder(value: &[u8]) -> bool {
    let value = value.get(..512).unwrap_or(value);
    let lower = value.to_ascii_lowercase();
    PLACEHOLDERS.iter().any(|word| memchr::memmem::find(&lower, word).is_some())
}

/// Whether the secret part of a token of a known format may be real.
pub(crate) fn is_plausible(value: &[u8]) -> bool {
    let value = value.get(..512).unwrap_or(value);
    let least = if value.len() < 20 || is_hex(value) { 2.6 } else { 3.1 };
    entropy(value) >= least && !is_placeholder(value) && (is_hex(value) || !is_wordy(value))
}

/// Whether a value of unknown format, of at least 16 bytes, looks random enough to be a secret.
pub(crate) fn is_random(value: &[u8]) -> bool {
    let has_digit = value.iter().any(u8::is_ascii_digit);
    let has_letter = value.iter().any(u8::is_ascii_alphabetic);
    if !has_digit || !has_letter {
        return false;
    }
    let least = if is_hex(value) { 3.0 } else { 3.6 };
    entropy(value) >= least && !is_placeholder(value) && !is_wordy(value)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_and_random_letters() {
        for wordy in [
            "getElementsByTagNameAndClass",
            "this-is-a-test-value-for-the-documentation",
            "AUTHENTICATION_REQUIRED_ERROR_2",
            "my-super-long-password-123",
            "com.example.internal.SomeFactory",
        ] {
            assert!(is_wordy(wordy.as_bytes()), "{wordy}");
        }
        for random in ["q7Rz0bXk2Lm9vTgYw3Hd", "9f86d081884c7d659a2feaa0c55ad015", "ZkJxQwVbYpGqKjXzHvBnWcFd"] {
            assert!(!is_wordy(random.as_bytes()), "{random}");
        }
    }

    #[test]
    fn entropy_of_known_texts() {
        assert!(entropy(b"aaaaaaaa") < 0.01);
        assert!((entropy(b"abababab") - 1.0).abs() < 0.01);
        assert!((entropy(b"abcdefgh") - 3.0).abs() < 0.01);
    }
}
