//! The checksum in tokens of GitHub and npm: CRC-32 of the random part as six base-62 digits.

/// Whether the last six of 36 characters are the checksum of the others.
pub(crate) fn is_right(token: &[u8]) -> bool {
    let Some((random, check)) = token.split_at_checked(token.len().saturating_sub(6)) else { return false };
    let mut value: u64 = 0;
    for byte in check {
        let digit = match byte {
            b'0'..=b'9' => byte - b'0',
            b'A'..=b'Z' => byte - b'A' + 10,
            b'a'..=b'z' => byte - b'a' + 36,
            _ => return false,
        };
        value = value * 62 + u64::from(digit);
    }
    value == u64::from(crc32(random))
}

fn crc32(bytes: &[u8]) -> u32 {
    let mut crc = u32::MAX;
    for byte in bytes {
        crc ^= u32::from(*byte);
        for _ in 0..8 {
            crc = (crc >> 1) ^ (0xedb8_8320 & (crc & 1).wrapping_neg());
        }
    }
    !crc
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn crc_of_the_published_test_vector() {
        assert_eq!(crc32(b"123456789"), 0xcbf4_3926);
    }
}
