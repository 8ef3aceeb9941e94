//! A fast inflater for the streams of most objects in packs, which are short and completely in memory. Half of them use deflate's
//! fixed codes, for which building decoding tables would take longer than decoding, so those tables are constants here. Tables
//! for dynamic codes are small; rare long codes are decoded bit by bit. Every incomplete or damaged stream is left to the
//! caller's general inflater.

/// Symbol and length of the fixed code at the start of the low nine bits.
const CODES: [(u16, u8); 512] = {
    let mut codes = [(0, 0); 512];
    let mut bits = 0;
    while bits < 512 {
        // Codes are stored with their first bit lowest.
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
    // The last code only means the maximum length.
    lengths[28] = (258, 0);
    lengths
};
const DISTANCES: [(u16, u8); 30] = steps::<30>(2, 1);

/// `group` symbols for each number of extra bits; the first two groups have none.
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

/// The order in which the lengths of code length codes are stored.
const LENGTH_ORDER: [usize; 19] = [16, 17, 18, 0, 8, 7, 9, 6, 10, 5, 11, 4, 12, 3, 13, 2, 14, 1, 15];

/// Streams with more blocks are not short.
const MAX_BLOCKS: usize = 16;

/// The `size` bytes of the zlib stream at the start of the input; `None` if it is another kind of stream, damaged, or incomplete.
pub(super) fn inflate(input: &[u8], size: usize) -> Option<Vec<u8>> {
    let (&[method, flags], body) = input.split_first_chunk::<2>()?;
    let is_deflate = method & 15 == 8 && method >> 4 <= 7 && flags & 32 == 0;
    if !is_deflate || u16::from_be_bytes([method, flags]) % 31 != 0 {
        return None;
    }
    let mut bits = Bits { body, at: 0 };
    // Limited by the input, so that a false size takes no memory: deflate expands a byte to at most 1032.
    let mut out = Output { bytes: Vec::with_capacity(size.min(body.len().saturating_mul(1032))), size };
    for _ in 0..MAX_BLOCKS {
        // The lowest bit marks the last block; the next two are its type.
        let kind = bits.take(3);
        match kind >> 1 {
            0 => stored(&mut bits, &mut out)?,
            1 => block(&mut bits, &mut out, fixed_symbol, fixed_distance)?,
            2 => {
                let (symbols, distances) = codes(&mut bits)?;
                block(&mut bits, &mut out, |bits| symbols.decode(bits), |bits| distances.decode(bits))?;
            }
            _ => return None,
        }
        if kind & 1 != 0 {
            // Bits after the end of the input are read as zeros, which can be valid codes, so check for overrun.
            let rest = body.get(bits.at.div_ceil(8)..)?;
            let sum = u32::from_be_bytes(*rest.first_chunk::<4>()?);
            return (out.bytes.len() == size && sum == adler32(&out.bytes)).then_some(out.bytes);
        }
    }
    None
}

/// The output so far, and its expected size.
struct Output {
    bytes: Vec<u8>,
    size: usize,
}

impl Output {
    /// Copies bytes that start `distance` bytes before the end.
    fn copy(&mut self, distance: usize, length: usize) -> Option<()> {
        let start = self.bytes.len().checked_sub(distance)?;
        // Checked before copying, so that the output never grows beyond the expected size.
        if length > self.size - self.bytes.len() {
            return None;
        }
        if distance >= length {
            self.bytes.extend_from_within(start..start + length);
        } else {
            // The ranges may overlap: a copy can start with bytes that it wrote itself.
            for at in start..start + length {
                self.bytes.push(*self.bytes.get(at)?);
            }
        }
        Some(())
    }
}

fn stored(bits: &mut Bits<'_>, out: &mut Output) -> Option<()> {
    // A stored block starts at a byte boundary.
    let start = bits.at.div_ceil(8);
    let (&[low, high, not_low, not_high], rest) = bits.body.get(start..)?.split_first_chunk::<4>()?;
    let length = u16::from_le_bytes([low, high]);
    if length != !u16::from_le_bytes([not_low, not_high]) || usize::from(length) > out.size - out.bytes.len() {
        return None;
    }
    out.bytes.extend_from_slice(rest.get(..usize::from(length))?);
    bits.at = 8 * (start + 4 + usize::from(length));
    Some(())
}

/// A symbol and the length of its code; `None` if no code starts with these bits.
type Decoded = Option<(u16, u8)>;

fn fixed_symbol(bits: u64) -> Decoded {
    Some(CODES[(bits & 511) as usize])
}

/// Five bits, first bit lowest.
fn fixed_distance(bits: u64) -> Decoded {
    Some(((((bits & 31) as u8).reverse_bits() >> 3).into(), 5))
}

fn block(
    bits: &mut Bits<'_>,
    out: &mut Output,
    symbol_of: impl Fn(u64) -> Decoded,
    distance_of: impl Fn(u64) -> Decoded,
) -> Option<()> {
    loop {
        let mut next = bits.peek();
        // The bits of one peek contain three codes, and ids in trees are mostly literals.
        for _ in 0..CODES_IN_PEEK {
            let (symbol, length) = symbol_of(next)?;
            bits.at += usize::from(length);
            next >>= length;
            match symbol {
                0..=255 if out.bytes.len() < out.size => out.bytes.push(symbol as u8),
                256 => return Some(()),
                257.. => {
                    let length = bits.number(*LENGTHS.get(usize::from(symbol) - 257)?);
                    let (symbol, taken) = distance_of(bits.peek())?;
                    bits.at += usize::from(taken);
                    let distance = bits.number(*DISTANCES.get(usize::from(symbol))?);
                    out.copy(distance, length)?;
                    break;
                }
                _ => return None,
            }
        }
    }
}

/// Parses the codes of a dynamic block.
fn codes(bits: &mut Bits<'_>) -> Option<(Codes<SYMBOL_TABLE>, Codes<DISTANCE_TABLE>)> {
    let [symbols, distances, lengths] = [(257, 5), (1, 5), (4, 4)].map(|number| bits.number(number));
    let mut own = [0; LENGTH_ORDER.len()];
    for &place in LENGTH_ORDER.get(..lengths)? {
        own[place] = bits.take(3) as u8;
    }
    let own = Codes::<LENGTH_TABLE>::new(&own)?;
    let mut all = [0; 288 + 32];
    let lengths = all.get_mut(..symbols + distances)?;
    let mut at = 0;
    while at < lengths.len() {
        let (symbol, taken) = own.decode(bits.peek())?;
        bits.at += usize::from(taken);
        let (length, times) = match symbol {
            16 => (*lengths.get(at.checked_sub(1)?)?, bits.number((3, 2))),
            17 => (0, bits.number((3, 3))),
            18 => (0, bits.number((11, 7))),
            length => (length as u8, 1),
        };
        lengths.get_mut(at..at + times)?.fill(length);
        at += times;
    }
    let (symbols, distances) = lengths.split_at_checked(symbols)?;
    Some((Codes::new(symbols)?, Codes::new(distances)?))
}

/// The entries of the tables of symbols, of distances, and of the lengths of their codes: powers of two, indexed by the next bits.
/// A stream has one of each, and filling a large table takes longer than decoding a short stream. Longer codes belong to rare symbols.
const SYMBOL_TABLE: usize = 1 << 10;
const DISTANCE_TABLE: usize = 1 << 7;
const LENGTH_TABLE: usize = 1 << 7;
const MAX_CODE_BITS: usize = 15;
/// [`Bits::peek`] returns at least 57 bits.
const CODES_IN_PEEK: usize = 57 / MAX_CODE_BITS;

/// A Huffman code, built from the lengths of its symbols' codes.
struct Codes<const TABLE: usize> {
    /// Indexed by the next bits: a symbol, and in the lowest four bits the length of its code; 0 if the code is longer.
    table: [u16; TABLE],
    /// The number of symbols by code length.
    counts: [u16; MAX_CODE_BITS + 1],
    /// Sorted by length, then by number.
    symbols: [u16; 288],
}

impl<const TABLE: usize> Codes<TABLE> {
    /// `None` for lengths that leave bit patterns unused or ambiguous; only a single symbol may leave some unused.
    fn new(lengths: &[u8]) -> Option<Self> {
        let mut codes = Self { table: [0; TABLE], counts: [0; MAX_CODE_BITS + 1], symbols: [0; 288] };
        for &length in lengths {
            *codes.counts.get_mut(usize::from(length))? += 1;
        }
        codes.counts[0] = 0;
        // For each length, the first index in `symbols` and its first code.
        let mut starts = [(0usize, 0u32); MAX_CODE_BITS + 1];
        let (mut start, mut code) = (0, 0);
        for (place, &count) in starts.iter_mut().zip(&codes.counts) {
            *place = (start, code);
            start += usize::from(count);
            code = (code + u32::from(count)) << 1;
        }
        if code != 2 << MAX_CODE_BITS && start > 1 {
            return None;
        }
        for (symbol, &length) in (0u16..).zip(lengths).filter(|(_, length)| **length != 0) {
            let (start, code) = &mut starts[usize::from(length)];
            *codes.symbols.get_mut(*start)? = symbol;
            if u32::from(length) <= TABLE.trailing_zeros() {
                // Codes are stored with their first bit lowest.
                let first = (code.reverse_bits() >> (32 - u32::from(length))) as usize;
                let places = codes.table.get_mut(first..)?.iter_mut().step_by(1 << length);
                places.for_each(|place| *place = symbol << 4 | u16::from(length));
            }
            *start += 1;
            *code += 1;
        }
        Some(codes)
    }

    fn decode(&self, bits: u64) -> Decoded {
        match self.table[bits as usize & (TABLE - 1)] {
            0 => self.decode_long(bits),
            entry => Some((entry >> 4, (entry & 15) as u8)),
        }
    }

    /// Decodes bit by bit: codes of one length are consecutive numbers.
    fn decode_long(&self, bits: u64) -> Decoded {
        let (mut code, mut first, mut start) = (0, 0, 0);
        for length in 1..=MAX_CODE_BITS {
            code |= (bits >> (length - 1) & 1) as usize;
            let count = usize::from(self.counts[length]);
            if code < first + count {
                return Some((*self.symbols.get(start + code.checked_sub(first)?)?, length as u8));
            }
            start += count;
            first = (first + count) << 1;
            code <<= 1;
        }
        None
    }
}

/// A bit stream, lowest bit of each byte first.
struct Bits<'b> {
    body: &'b [u8],
    /// The position in bits.
    at: usize,
}

impl Bits<'_> {
    /// At least the next 57 bits; zeros after the end.
    fn peek(&self) -> u64 {
        let rest = self.body.get(self.at / 8..).unwrap_or_default();
        let next = match rest.first_chunk::<8>() {
            Some(eight) => u64::from_le_bytes(*eight),
            None => rest.iter().rev().fold(0, |bits, byte| bits << 8 | u64::from(*byte)),
        };
        next >> (self.at % 8)
    }

    fn take(&mut self, count: u8) -> u32 {
        let bits = self.peek() & ((1 << count) - 1);
        self.at += usize::from(count);
        bits as u32
    }

    fn number(&mut self, (base, extra): (u16, u8)) -> usize {
        usize::from(base) + self.take(extra) as usize
    }
}

fn adler32(bytes: &[u8]) -> u32 {
    const LANES: usize = 16;
    let (mut low, mut high) = (1u32, 0u32);
    // The largest number of bytes for which the sums cannot overflow.
    for piece in bytes.chunks(5552) {
        let (chunks, rest) = piece.as_chunks::<LANES>();
        for chunk in chunks {
            // Compute both sums per chunk, which lets the compiler vectorise.
            let (mut sum, mut weighted) = (0, 0);
            for (weight, &byte) in (1..=LANES as u32).rev().zip(chunk) {
                sum += u32::from(byte);
                weighted += weight * u32::from(byte);
            }
            high += LANES as u32 * low + weighted;
            low += sum;
        }
        for &byte in rest {
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

    /// Literals and a self-overlapping copy.
    const FIXED: &[u8] =
        &[0x78, 0x01, 0xcb, 0x48, 0xcd, 0xc9, 0xc9, 0x57, 0xc8, 0x40, 0x27, 0x01, 0x68, 0x03, 0x08, 0xb1];

    #[test]
    fn a_stream_with_fixed_codes_is_inflated() {
        assert_eq!(inflate(FIXED, 23).as_deref(), Some(b"hello hello hello hello".as_slice()));
        for size in [0, 5, 22, 24] {
            assert_eq!(inflate(FIXED, size), None, "{size}");
        }
        for end in 0..FIXED.len() {
            assert_eq!(inflate(&FIXED[..end], 23), None, "{end}");
        }
    }

    #[test]
    fn length_and_distance_tables_equal_those_of_the_specification() {
        assert_eq!((LENGTHS[0], LENGTHS[8], LENGTHS[27], LENGTHS[28]), ((3, 0), (11, 1), (227, 5), (258, 0)));
        assert_eq!((DISTANCES[0], DISTANCES[4], DISTANCES[29]), ((1, 0), (5, 1), (24_577, 13)));
    }

    /// The general inflater would hide failures here, so compare with this one directly.
    #[test]
    fn streams_with_dynamic_codes_are_inflated() {
        let mixed = |length: u64| (0..length).map(|n| ((n * n * 2_654_435_761) >> 13) as u8).collect::<Vec<u8>>();
        // Symbols of decreasing frequency, so that some have long codes.
        let rare: Vec<u8> = (0..20_000u32).map(|n| (n.trailing_zeros() * 7) as u8).collect();
        let trees =
            (0..40u64).flat_map(|n| [b"100644 file".as_slice(), &mixed(n)[..n as usize / 2], b".ts\0"].concat());
        for bytes in [mixed(3000), rare, trees.collect(), b"tree ".repeat(500)] {
            for level in [1, 6, 9] {
                let stream = compress_to_vec_zlib(&bytes, level);
                assert_eq!(
                    inflate(&stream, bytes.len()).as_ref(),
                    Some(&bytes),
                    "{} bytes, level {level}",
                    bytes.len()
                );
                assert_eq!(inflate(&stream, bytes.len() + 1), None);
                assert_eq!(inflate(&stream[..stream.len() - 1], bytes.len()), None);
            }
        }
    }

    #[test]
    fn incomplete_codes_are_refused() {
        let codes = Codes::<LENGTH_TABLE>::new;
        assert!(codes(&[1, 1]).is_some() && codes(&[2, 2, 2, 2]).is_some());
        assert!(codes(&[0, 1, 0]).is_some() && codes(&[0, 0]).is_some(), "one symbol, or none");
        assert!(codes(&[1, 2]).is_none() && codes(&[1, 1, 1]).is_none() && codes(&[16]).is_none());
        assert_eq!(codes(&[0, 1]).unwrap().decode(1), None);
    }

    #[test]
    fn checksums_follow_the_definition_of_adler32() {
        let bytes: Vec<u8> = (0..20_000u32).map(|n| ((n % 251) ^ (n / 7)) as u8).collect();
        for length in [0, 1, 15, 16, 17, 5552, 5553, 20_000] {
            let step = |(low, high): (u32, u32), byte: &u8| {
                let low = (low + u32::from(*byte)) % 65_521;
                (low, (high + low) % 65_521)
            };
            let (low, high) = bytes[..length].iter().fold((1, 0), step);
            assert_eq!(adler32(&bytes[..length]), high << 16 | low, "{length}");
        }
    }

    proptest! {
        #[test]
        fn inflating_reverses_deflating(
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
        fn inflated_streams_have_exactly_the_expected_size(mut stream in prop::collection::vec(any::<u8>(), 0..80), size in 0usize..2000) {
            stream.splice(..0, [0x78, 0x9c, 0b011]);
            prop_assert!(inflate(&stream, size).is_none_or(|inflated| inflated.len() == size));
        }
    }
}
