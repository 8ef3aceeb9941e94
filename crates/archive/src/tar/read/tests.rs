//! Malformed archives: each gives an error with its offset, without large allocations or endless loops.

use std::io::Read;

use proptest::prelude::*;

use super::super::{EntryHeader, append_end, append_header};
use super::*;

/// A header block with a valid checksum.
fn block(name: &[u8], kind: u8, size: &[u8], edit: impl FnOnce(&mut [u8])) -> Vec<u8> {
    let mut block = vec![0; BLOCK];
    block[..name.len()].copy_from_slice(name);
    block[100..107].copy_from_slice(b"0000644");
    block[124..124 + size.len()].copy_from_slice(size);
    block[156] = kind;
    edit(&mut block);
    block[148..156].fill(b' ');
    let sum: u32 = block.iter().map(|&byte| u32::from(byte)).sum();
    block[148..154].copy_from_slice(format!("{sum:06o}").as_bytes());
    block
}

fn contents(bytes: &[u8]) -> Vec<u8> {
    let mut out = bytes.to_vec();
    out.resize(bytes.len().next_multiple_of(BLOCK), 0);
    out
}

fn list(archive: &[u8]) -> Result<(Vec<String>, TarEnd), TarError> {
    let mut lines = Vec::new();
    let end = read_tar(&mut &*archive, &mut |entry, reader| {
        let mut bytes = Vec::new();
        reader.take(100).read_to_end(&mut bytes)?;
        let kind = match &entry.kind {
            TarKind::File => "file".to_owned(),
            TarKind::Directory => "dir".to_owned(),
            TarKind::Link(target) => format!("link {}", String::from_utf8_lossy(target)),
            TarKind::HardLink(target) => format!("hard {}", String::from_utf8_lossy(target)),
            TarKind::Special(byte) => format!("special {}", char::from(*byte)),
        };
        let name = String::from_utf8_lossy(&entry.name);
        lines.push(format!("{kind} {name} {} {:?}", entry.size, String::from_utf8_lossy(&bytes)));
        Ok(())
    })?;
    Ok((lines, end))
}

fn check(archive: &[&[u8]], expected: &[&str]) {
    let mut bytes = archive.concat();
    bytes.extend_from_slice(&[0; 2 * BLOCK]);
    let (lines, end) = list(&bytes).unwrap();
    assert_eq!(lines, expected);
    assert!(end.is_marked && !end.has_trailing_bytes && end.entries == expected.len() as u64);
}

fn check_error(archive: &[&[u8]], expected: &str) {
    let mut bytes = archive.concat();
    bytes.extend_from_slice(&[0; 2 * BLOCK]);
    assert_eq!(list(&bytes).unwrap_err().to_string(), expected);
}

#[test]
fn files_folders_and_links_are_read_by_kind() {
    let link = |kind| block(b"l", kind, b"0", |block| block[157..159].copy_from_slice(b"to"));
    check(&[&block(b"a", b'0', b"3 ", |_| {}), &contents(b"abc")], &[r#"file a 3 "abc""#]);
    check(&[&block(b"a", 0, b"00000000003", |_| {}), &contents(b"abc")], &[r#"file a 3 "abc""#]);
    check(
        &[&block(b"d/", b'5', b"0", |_| {}), &block(b"e/", b'0', b"", |_| {})],
        &[r#"dir d/ 0 """#, r#"dir e/ 0 """#],
    );
    check(
        &[&link(b'2'), &link(b'1'), &link(b'3'), &link(b'6')],
        &[r#"link to l 0 """#, r#"hard to l 0 """#, r#"special 3 l 0 """#, r#"special 6 l 0 """#],
    );
    check(&[&block(b"s", b'S', b"1", |_| {}), &contents(b"x")], &[r#"special S s 1 "x""#]);
}

#[test]
fn long_names_and_numbers() {
    let posix = |block: &mut [u8]| {
        block[257..263].copy_from_slice(b"ustar\0");
        block[345..348].copy_from_slice(b"pre");
    };
    check(&[&block(b"a", b'0', b"0", posix)], &[r#"file pre/a 0 """#]);
    let gnu = |block: &mut [u8]| {
        block[257..265].copy_from_slice(b"ustar  \0");
        block[345..348].copy_from_slice(b"pre");
    };
    check(&[&block(b"a", b'0', b"0", gnu)], &[r#"file a 0 """#]);
    let name = "n".repeat(300);
    let said = format!("{:o}", name.len() + 1);
    let long = [contents(format!("{name}\0").as_bytes()), block(b"x", b'0', b"0", |_| {})].concat();
    check(&[&block(b"././@LongLink", b'L', said.as_bytes(), |_| {}), &long], &[&format!(r#"file {name} 0 """#)]);
    let binary = [0x80, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 2];
    check(&[&block(b"a", b'0', &binary, |_| {}), &contents(b"xy")], &[r#"file a 2 "xy""#]);
    let pax = contents(b"10 path=b\n12 comment=\n9 size=1\n");
    check(
        &[&block(b"p", b'x', b"37", |_| {}), &pax, &block(b"a", b'0', b"0", |_| {}), &contents(b"z")],
        &[r#"file b 1 "z""#],
    );
    check(
        &[&block(b"g", b'g', b"14", |_| {}), &contents(b"12 comment=\n"), &block(b"a", b'0', b"", |_| {})],
        &[r#"file a 0 """#],
    );
}

#[test]
fn headers_that_contradict_the_archive_are_errors() {
    let file = block(b"a", b'0', b"1", |_| {});
    let mut flipped = file.clone();
    flipped[3] ^= 1;
    check_error(&[&flipped], "not a tar header (wrong checksum) at byte 0");
    check_error(&[b"\x1f\x8b", &[7; 510]], "not a tar header (wrong checksum) at byte 0");
    check_error(&[&block(b"a", b'0', b"9x", |_| {})], "the header's field `size` is not a number at byte 0");
    check_error(&[&block(b"a", b'0', &[0xff; 12], |_| {})], "the header's field `size` is not a number at byte 0");
    check_error(
        &[&block(b"a", b'0', b"77777777777", |_| {})],
        "the archive ends in the middle of an entry at byte 512",
    );
    let huge = [0x80, 0, 0, 0, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff];
    check_error(&[&block(b"a", b'0', &huge, |_| {})], "the archive ends in the middle of an entry at byte 512");
    check_error(
        &[&block(b"a", b'x', b"77777777", |_| {})],
        "an extended header is longer than 1048576 bytes at byte 512",
    );
    check_error(
        &[&block(b"a", b'2', b"1", |_| {}), &contents(b"x")],
        "a link, folder or device has contents at byte 0",
    );
    check_error(&[&[0; BLOCK], &file, &contents(b"x")], "one block of zeros is followed by another entry at byte 512");
    for pax in [
        &b"8 path=b\n"[..],
        b"path=b",
        b"99 path=b\n",
        b"10 path=b ",
        b" path=b\n",
        b"1 ",
        b"13 path=b\0cd\n",
        b"10 path=b\n10 path=c\n",
        b"+9 size=1\n",
        b"9 size=-\n",
        b"23 GNU.sparse.major=1\n",
    ] {
        let size = format!("{:o}", pax.len());
        let archive =
            [block(b"p", b'x', size.as_bytes(), |_| {}), contents(pax), file.clone(), contents(b"x")].concat();
        assert!(list(&archive).is_err(), "{}", String::from_utf8_lossy(pax));
    }
    let pax = [block(b"p", b'x', b"12", |_| {}), contents(b"10 path=b\n")].concat();
    check_error(&[&pax], "an extended header has nothing to extend, or extends it twice at byte 1024");
    check_error(
        &[&pax, &pax, &file, &contents(b"x")],
        "an extended header has nothing to extend, or extends it twice at byte 1024",
    );
    check_error(
        &[&block(b"g", b'g', b"12", |_| {}), &contents(b"10 path=b\n")],
        "an extended header is malformed at byte 0",
    );
}

#[test]
fn the_end_of_an_archive_is_marked_or_not_and_cuts_are_errors() {
    let file = [block(b"a", b'0', b"1", |_| {}), contents(b"x")].concat();
    let end = |bytes: &[u8]| list(bytes).map(|(_, end)| (end.is_marked, end.has_trailing_bytes));
    assert_eq!(end(&file).unwrap(), (false, false));
    assert_eq!(end(&[file.as_slice(), &[0; BLOCK]].concat()).unwrap(), (false, false));
    assert_eq!(end(&[file.as_slice(), &[0; 5000]].concat()).unwrap(), (true, false));
    assert_eq!(end(&[file.as_slice(), &[0; 1024], b"junk"].concat()).unwrap(), (true, true));
    assert_eq!(end(&[]).unwrap(), (false, false));
    for cut in [1, 511, 513, 1000] {
        assert!(end(&file[..cut]).is_err(), "{cut}");
    }
}

#[test]
fn an_error_of_the_visitor_stops_the_reader() {
    let file = [block(b"a", b'0', b"1", |_| {}), contents(b"x")].concat();
    let error = read_tar(&mut &file[..], &mut |_, _| Err(io::Error::other("enough"))).unwrap_err();
    assert_eq!(error.to_string(), "the archive cannot be read (enough) at byte 512");
}

proptest! {
    #[test]
    fn written_archives_are_read_back(files in proptest::collection::btree_map("[^/\0]{1,150}(/[^/\0]{1,150}){0,2}", proptest::collection::vec(any::<u8>(), 0..2000), 0..6)) {
        let files: Vec<_> = files.into_iter().filter(|(name, _)| crate::names::check_name(name).is_ok()).collect();
        let mut archive = Vec::new();
        for (name, bytes) in &files {
            append_header(&mut archive, &EntryHeader { name, size: bytes.len() as u64, executable: false, modified: 0 }).unwrap();
            archive.extend_from_slice(&contents(bytes));
        }
        let position = archive.len() as u64;
        append_end(&mut archive, position);
        let mut read = Vec::new();
        let end = read_tar(&mut &archive[..], &mut |entry, reader| {
            let mut bytes = Vec::new();
            reader.read_to_end(&mut bytes)?;
            read.push((entry.safe_name().unwrap().to_owned(), bytes));
            Ok(())
        }).unwrap();
        prop_assert!(end.is_marked && !end.has_trailing_bytes);
        prop_assert_eq!(read, files);
    }

    #[test]
    fn a_damaged_archive_never_panics(at in 0_usize..3000, byte: u8, cut in 0_usize..4000) {
        let pax = [block(b"p", b'x', b"12", |_| {}), contents(b"10 path=b\n")].concat();
        let mut archive = [pax, block(b"a", b'0', b"1", |_| {}), contents(b"x"), vec![0; 1024]].concat();
        if let Some(place) = archive.get_mut(at) {
            *place = byte;
        }
        archive.truncate(cut);
        let _ = list(&archive);
    }
}
