//! Headers of regular files: ustar, preceded by a pax header if a name, size or time does not fit. No current time, no owner, no
//! other kind of entry.

use super::BLOCK;
use crate::error::Error;
use crate::names::check_name;

/// The header fields of a file.
#[derive(Clone, Copy, Debug)]
pub struct EntryHeader<'a> {
    pub name: &'a str,
    pub size: u64,
    pub executable: bool,
    /// Seconds since the epoch.
    pub modified: u64,
}

/// The largest number with eleven octal digits: 8 GiB less one byte, or the year 2242.
const MAX_OCTAL: u64 = (1 << 33) - 1;

/// The whole archive is padded to a multiple of this, the traditional record size of tapes.
const RECORD: u64 = 10_240;

/// Appends the header of a file, to be followed by its bytes and [`padding`].
pub fn append_header(out: &mut Vec<u8>, header: &EntryHeader<'_>) -> Result<(), Error> {
    check_name(header.name)?;
    let split = if header.name.is_ascii() { split_name(header.name) } else { None };
    let mut records = Vec::new();
    if split.is_none() {
        append_record(&mut records, "path", header.name);
    }
    if header.size > MAX_OCTAL {
        append_record(&mut records, "size", &header.size.to_string());
    }
    if header.modified > MAX_OCTAL {
        append_record(&mut records, "mtime", &header.modified.to_string());
    }
    let last = header.name.rsplit('/').next().unwrap_or(header.name);
    if !records.is_empty() {
        let name = stand_in(&["PaxHeaders/", last].concat());
        append_block(out, SplitName::whole(&name), records.len() as u64, 0o644, header.modified, b'x');
        let fill = padding(records.len() as u64);
        out.append(&mut records);
        out.resize(out.len() + fill, 0);
    }
    let mode = if header.executable { 0o755 } else { 0o644 };
    match split {
        Some(name) => append_block(out, name, header.size, mode, header.modified, b'0'),
        // Readers that support pax ignore this name.
        None => append_block(out, SplitName::whole(&stand_in(last)), header.size, mode, header.modified, b'0'),
    }
    Ok(())
}

/// The number of zero bytes after a file of this size.
pub fn padding(size: u64) -> usize {
    let rest = (size % BLOCK as u64) as usize;
    if rest == 0 { 0 } else { BLOCK - rest }
}

/// Appends the end of an archive that is `position` bytes long so far.
pub fn append_end(out: &mut Vec<u8>, position: u64) {
    let end = position.saturating_add(2 * BLOCK as u64).next_multiple_of(RECORD);
    let zeros = usize::try_from(end - position).unwrap_or(0);
    out.resize(out.len() + zeros, 0);
}

/// A name as the two header fields store it.
#[derive(Clone, Copy)]
struct SplitName<'n> {
    prefix: &'n [u8],
    name: &'n [u8],
}

impl<'n> SplitName<'n> {
    /// For a name that fits into one field.
    fn whole(name: &'n [u8]) -> Self {
        Self { prefix: b"", name }
    }
}

/// `None` if the name does not fit into the two fields.
fn split_name(name: &str) -> Option<SplitName<'_>> {
    if name.len() <= 100 {
        return Some(SplitName::whole(name.as_bytes()));
    }
    let first = name.len() - 101;
    let slash = first + name.as_bytes().get(first..)?.iter().position(|&byte| byte == b'/')?;
    let (prefix, rest) = name.split_at_checked(slash)?;
    let rest = rest.get(1..)?;
    let fits = prefix.len() <= 155 && !prefix.is_empty() && !rest.is_empty();
    fits.then_some(SplitName { prefix: prefix.as_bytes(), name: rest.as_bytes() })
}

/// A name for readers without pax support: short enough, and ASCII.
fn stand_in(name: &str) -> Vec<u8> {
    name.bytes().take(100).map(|byte| if byte.is_ascii() { byte } else { b'_' }).collect()
}

/// `<length> <key>=<value>\n`, where the length includes its own digits.
fn append_record(out: &mut Vec<u8>, key: &str, value: &str) {
    let rest = key.len() + value.len() + 3;
    let mut length = rest + 1;
    while length != rest + length.to_string().len() {
        length = rest + length.to_string().len();
    }
    out.extend_from_slice(format!("{length} {key}={value}\n").as_bytes());
}

fn append_block(out: &mut Vec<u8>, name: SplitName<'_>, size: u64, mode: u64, modified: u64, kind: u8) {
    let mut block = [0; BLOCK];
    put(&mut block, 0, name.name);
    put_octal(&mut block, 100, 7, mode);
    put_octal(&mut block, 108, 7, 0);
    put_octal(&mut block, 116, 7, 0);
    // Numbers that do not fit are in the pax header, which takes precedence.
    put_octal(&mut block, 124, 11, if size > MAX_OCTAL { 0 } else { size });
    put_octal(&mut block, 136, 11, if modified > MAX_OCTAL { 0 } else { modified });
    put(&mut block, 148, b"        ");
    put(&mut block, 156, &[kind]);
    put(&mut block, 257, b"ustar\x0000");
    put_octal(&mut block, 329, 7, 0);
    put_octal(&mut block, 337, 7, 0);
    put(&mut block, 345, name.prefix);
    let sum = block.iter().map(|&byte| u64::from(byte)).sum();
    put_octal(&mut block, 148, 6, sum);
    put(&mut block, 154, b"\0 ");
    out.extend_from_slice(&block);
}

fn put(block: &mut [u8; BLOCK], at: usize, bytes: &[u8]) {
    block.iter_mut().skip(at).zip(bytes).for_each(|(place, &byte)| *place = byte);
}

/// Writes the octal digits of a number that fits.
fn put_octal(block: &mut [u8; BLOCK], at: usize, digits: usize, value: u64) {
    let mut rest = value;
    for place in block.iter_mut().skip(at).take(digits).rev() {
        *place = b'0' + (rest & 7) as u8;
        rest >>= 3;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn header(name: &str, size: u64) -> Vec<u8> {
        let mut out = Vec::new();
        append_header(&mut out, &EntryHeader { name, size, executable: false, modified: 0 }).unwrap();
        out
    }

    fn text(block: &[u8], at: usize, length: usize) -> String {
        let field = &block[at..at + length];
        let end = field.iter().position(|&byte| byte == 0).unwrap_or(length);
        String::from_utf8(field[..end].to_vec()).unwrap()
    }

    #[test]
    fn a_plain_header_is_one_block() {
        let block = header("src/a.ts", 10);
        assert_eq!(block.len(), BLOCK);
        assert_eq!(text(&block, 0, 100), "src/a.ts");
        assert_eq!(text(&block, 100, 8), "0000644");
        assert_eq!(text(&block, 124, 12), "00000000012");
        assert_eq!((text(&block, 265, 32), text(&block, 297, 32)), (String::new(), String::new()));
        let sum: u64 =
            block.iter().enumerate().map(|(i, &b)| if (148..156).contains(&i) { 32 } else { b.into() }).sum();
        assert_eq!(u64::from_str_radix(&text(&block, 148, 6), 8).unwrap(), sum);
    }

    #[test]
    fn names_that_fit_are_split_and_others_get_a_pax_header() {
        let (long, short) = ("d".repeat(155), "f".repeat(100));
        for (name, blocks) in [
            (short.clone(), 1),
            (format!("{long}/{short}"), 1),
            (format!("d{long}/{short}"), 3),
            (format!("{long}/f{short}"), 3),
            (format!("f{short}"), 3),
            ("ä".to_owned(), 3),
            (format!("a/{}", "x".repeat(3000)), 8),
        ] {
            assert_eq!(header(&name, 0).len() / BLOCK, blocks, "{name}");
        }
        let block = header(&format!("{long}/{short}"), 0);
        assert_eq!((text(&block, 345, 155), text(&block, 0, 100)), (long, short));
    }

    #[test]
    fn the_length_of_a_pax_record_counts_itself() {
        for (length, expected) in [(1, 6), (4, 9), (5, 11), (93, 99), (94, 101), (988, 995)] {
            let mut record = Vec::new();
            append_record(&mut record, "p", &"x".repeat(length));
            let text = String::from_utf8(record).unwrap();
            let (said, _) = text.split_once(' ').unwrap();
            assert_eq!((said.parse::<usize>().unwrap(), text.len()), (text.len(), expected), "{length}");
        }
    }

    #[test]
    fn numbers_too_large_for_octal_digits_are_in_the_pax_header() {
        let fits = header("a", MAX_OCTAL);
        assert_eq!((fits.len(), text(&fits, 124, 12).as_str()), (BLOCK, "77777777777"));
        let large = header("a", MAX_OCTAL + 1);
        assert_eq!(text(&large, BLOCK, BLOCK), "19 size=8589934592\n");
        assert_eq!(text(&large, 2 * BLOCK + 124, 12), "00000000000");
        let mut late = Vec::new();
        append_header(&mut late, &EntryHeader { name: "a", size: 0, executable: true, modified: 1 << 40 }).unwrap();
        assert_eq!(text(&late, BLOCK, BLOCK), "23 mtime=1099511627776\n");
        assert_eq!(text(&late, 2 * BLOCK + 100, 8), "0000755");
    }

    #[test]
    fn an_archive_ends_on_a_record() {
        for (position, expected) in [(0, 10_240), (9216, 10_240), (9728, 20_480), (10_240, 20_480)] {
            let mut end = Vec::new();
            append_end(&mut end, position);
            assert_eq!(position + end.len() as u64, expected);
        }
    }
}
