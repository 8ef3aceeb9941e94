//! Inflates the streams that most objects of a pack are: one block, stored or with deflate's fixed codes. Building the decoding
//! tables of such a stream costs more than the rest of it, so the fixed codes are in a constant table here. Every other stream,
//! and every damaged one, is left to the caller's inflater.

/// Symbol and length of the fixed code that the low nine bits start with.
const CODES: [(u16, u8); 512] = {
    let mut codes = [(0, 0); 512];
    let mut bits = 0;
    while bits < 512 {
        // Codes are written with their first bit lowest.
        let code = (bits as u16).reverse_bits() >> 7;
        codes[bits] = match (code >> 2, code >> 1) {
            (seven @ 0..=0x17, _) => (256 + seven, 7),
            (_, eight @ 0x30..=0xbf) => (eight - 0x30, 8),
            (_, eight @ 0xc0..=0xc7) => (280 + eight - 0xc0, 8),
            _ => (144 + code - 0x190, 9),
        };
        bits += 1;
    }
    codes
};

/// Base and number of extra bits of each length symbol from 257 on, and of each distance symbol.
const LENGTHS: [(u16, u8); 29] = {
    let mut lengths = steps::<29>(4, 3);
    // The last code means the longest length only.
    lengths[28] = (258, 0);
    lengths
};
const DISTANCES: [(u16, u8); 30] = steps::<30>(2, 1);

/// `group` symbols for each number of extra bits, the first two groups without any.
const fn steps<const N: usize>(group: usize, first: u16) -> [(u16, u8); N] {
    let mut steps = [(0, 0); N];
    let mut base = first;
    let mut at = 0;
    while at < N {
        let extra = if at < 2 * group { 0 } else { (at / group - 1) as u8 };
        steps[at] = (base, extra);
        base = base.wrapping_add(1 << extra);
        at += 1;
    }
    steps
}

/// The `size` bytes of the zlib stream that the input starts with; `None` when it is another kind of stream, when it is damaged, or
/// when some of it is missing.
pub(super) fn inflate(input: &[u8], size: usize) -> Option<Vec<u8>> {
    let (&[method, flags], body) = input.split_first_chunk::<2>()?;
    let is_deflate = method & 15 == 8 && method >> 4 <= 7 && flags & 32 == 0;
    if !is_deflate || u16::from_be_bytes([method, flags]) % 31 != 0 {
        return None;
    }
    // The lowest bit says that it is the last block, the next two of which kind it is.
    let (bytes, rest) = match body.first()? & 7 {
        0b001 => stored(body, size)?,
        0b011 => fixed(body, size)?,
        _ => return None,
    };
    let sum = u32::from_be_bytes(*rest.first_chunk::<4>()?);
    (sum == adler32(&bytes)).then_some(bytes)
}

fn stored(body: &[u8], size: usize) -> Option<(Vec<u8>, &[u8])> {
    let (&[low, high, not_low, not_high], rest) = body.get(1..)?.split_first_chunk::<4>()?;
    let length = u16::from_le_bytes([low, high]);
    if usize::from(length) != size || length != !u16::from_le_bytes([not_low, not_high]) {
        return None;
    }
    let (bytes, rest) = rest.split_at_checked(size)?;
    Some((bytes.to_vec(), rest))
}

fn fixed(body: &[u8], size: usize) -> Option<(Vec<u8>, &[u8])> {
    let mut bits = Bits { body, at: 3 };
    let mut bytes = Vec::with_capacity(size);
    loop {
        let (symbol, length) = CODES[(bits.peek() & 511) as usize];
        bits.at += usize::from(length);
        match symbol {
            0..=255 if bytes.len() < size => bytes.push(symbol as u8),
            256 => break,
            257.. => {
                let length = bits.number(*LENGTHS.get(usize::from(symbol) - 257)?);
                // Five bits, the first lowest.
                let symbol = (bits.take(5) as u8).reverse_bits() >> 3;
                let distance = bits.number(*DISTANCES.get(usize::from(symbol))?);
                let start = bytes.len().checked_sub(distance)?;
                if length > size - bytes.len() {
                    return None;
                }
                // What is copied may begin with what was just written.
                for at in start..start + length {
                    bytes.push(*bytes.get(at)?);
                }
            }
            _ => return None,
        }
    }
    // Behind the end there are only zeros, which are a symbol too.
    let rest = body.get(bits.at.div_ceil(8)..)?;
    (bytes.len() == size).then_some((bytes, rest))
}

/// A stream of bits, the lowest of each byte first.
struct Bits<'b> {
    body: &'b [u8],
    /// In bits.
    at: usize,
}

impl Bits<'_> {
    /// The next 25 bits or more; zeros behind the end.
    fn peek(&self) -> u32 {
        let rest = self.body.get(self.at / 8..).unwrap_or_default();
        let next = match rest.first_chunk::<4>() {
            Some(four) => u32::from_le_bytes(*four),
            None => rest.iter().rev().fold(0, |bits, byte| bits << 8 | u32::from(*byte)),
        };
        next >> (self.at % 8)
    }

    fn take(&mut self, count: u8) -> u32 {
        let bits = self.peek() & ((1 << count) - 1);
        self.at += usize::from(count);
        bits
    }

    fn number(&mut self, (base, extra): (u16, u8)) -> usize {
        usize::from(base) + self.take(extra) as usize
    }
}

fn adler32(bytes: &[u8]) -> u32 {
    let (mut low, mut high) = (1u32, 0u32);
    // So many bytes cannot overflow the sums.
    for piece in bytes.chunks(5552) {
        for &byte in piece {
            low += u32::from(byte);
            high += low;
        }
        low %= 65_521;
        high %= 65_521;
    }
    high << 16 | low
}

#[cfg(test)]
mod tests {
    use miniz_oxide::deflate::compress_to_vec_zlib;
    use proptest::prelude::*;

    use super::*;

    /// Literals and a copy that overlaps itself.
    const FIXED: &[u8] =
        &[0x78, 0x01, 0xcb, 0x48, 0xcd, 0xc9, 0xc9, 0x57, 0xc8, 0x40, 0x27, 0x01, 0x68, 0x03, 0x08, 0xb1];

    #[test]
    fn a_stream_of_fixed_codes() {
        assert_eq!(inflate(FIXED, 23).as_deref(), Some(b"hello hello hello hello".as_slice()));
        for size in [0, 5, 22, 24] {
            assert_eq!(inflate(FIXED, size), None, "{size}");
        }
        for end in 0..FIXED.len() {
            assert_eq!(inflate(&FIXED[..end], 23), None, "{end}");
        }
    }

    #[test]
    fn length_and_distance_tables_are_those_of_deflate() {
        assert_eq!((LENGTHS[0], LENGTHS[8], LENGTHS[27], LENGTHS[28]), ((3, 0), (11, 1), (227, 5), (258, 0)));
        assert_eq!((DISTANCES[0], DISTANCES[4], DISTANCES[29]), ((1, 0), (5, 1), (24_577, 13)));
    }

    proptest! {
        #[test]
        fn what_is_inflated_is_what_was_deflated(
            bytes in prop::collection::vec(0u8..8, 0..300),
            spread in 1u8..=36,
            level in 0u8..=10,
            flipped in any::<prop::sample::Index>(),
        ) {
            let bytes: Vec<u8> = bytes.into_iter().map(|byte| byte.wrapping_mul(spread)).collect();
            let mut stream = compress_to_vec_zlib(&bytes, level);
            let inflated = inflate(&stream, bytes.len());
            prop_assert!(inflated.as_ref().is_none_or(|inflated| *inflated == bytes));
            if level == 0 {
                prop_assert!(inflated.is_some());
            }
            let at = flipped.index(stream.len());
            stream[at] ^= 1 << (at % 8);
            prop_assert!(inflate(&stream, bytes.len()).is_none_or(|inflated| inflated.len() == bytes.len()));
        }

        #[test]
        fn no_stream_yields_another_size_than_asked(mut stream in prop::collection::vec(any::<u8>(), 0..80), size in 0usize..2000) {
            stream.splice(..0, [0x78, 0x9c, 0b011]);
            prop_assert!(inflate(&stream, size).is_none_or(|inflated| inflated.len() == size));
        }
    }
}
