//! The laws of the tar reader.

use std::io::{self, Read};

use stan_archive::{TarEnd, TarEntry, TarKind, read_tar};

const BLOCK: usize = 512;

/// The input as is, and with corrected header checksums, so that a changed header passes the first check. Entries are in order
/// within the archive; reading or skipping their contents gives the same entries.
pub fn law(bytes: &[u8]) {
    check(bytes);
    let repaired = with_checksums(bytes);
    if repaired != bytes {
        check(&repaired);
    }
}

/// The entries with their contents, and how the archive ended.
pub(crate) type Entries = (Vec<(TarEntry, Vec<u8>)>, Option<TarEnd>);

pub(crate) fn entries(archive: &[u8], reads: bool) -> Entries {
    let mut found = Vec::new();
    let mut reader = Short(archive);
    let end = read_tar(&mut reader, &mut |entry, contents| {
        let mut bytes = Vec::new();
        if reads {
            contents.read_to_end(&mut bytes)?;
        }
        found.push((entry.clone(), bytes));
        Ok(())
    });
    if let Err(error) = &end {
        assert!(error.offset <= archive.len() as u64 && !error.to_string().is_empty(), "{error}");
    }
    (found, end.ok())
}

fn check(archive: &[u8]) {
    let (found, end) = entries(archive, true);
    let (passed_by, same_end) = entries(archive, false);
    assert_eq!(end, same_end);
    assert!(found.iter().map(|(entry, _)| entry).eq(passed_by.iter().map(|(entry, _)| entry)));
    let mut position = 0;
    for (index, (entry, contents)) in found.iter().enumerate() {
        assert!(entry.offset >= position && entry.offset.is_multiple_of(BLOCK as u64), "{entry:?} overlaps");
        // The last entry of a truncated archive may be shorter than its header says.
        let is_whole = contents.len() as u64 == entry.size;
        assert!(is_whole || (end.is_none() && index + 1 == found.len()), "{entry:?} has {} bytes", contents.len());
        position = entry.offset + BLOCK as u64 + contents.len() as u64;
        assert!(position <= archive.len() as u64 || !is_whole, "{entry:?} is beyond the end");
        assert!(entry.kind == TarKind::File || matches!(entry.kind, TarKind::Special(_)) || contents.is_empty());
        assert!(entry.mode <= 0o7777);
        if let Some(name) = entry.safe_name() {
            assert!(name.split('/').all(|part| !matches!(part, "" | "." | "..")) && !name.contains('\0'), "{name:?}");
        }
    }
    if let Some(end) = end {
        assert_eq!(end.entries, found.len() as u64);
    }
}

/// Writes the correct checksum into every block that looks like a header.
pub(crate) fn with_checksums(archive: &[u8]) -> Vec<u8> {
    let mut repaired = archive.to_vec();
    for block in repaired.chunks_exact_mut(BLOCK) {
        if &block[257..262] == b"ustar" {
            block[148..156].fill(b' ');
            let sum: u32 = block.iter().map(|&byte| u32::from(byte)).sum();
            block[148..156].copy_from_slice(format!("{sum:06o}\0 ").as_bytes());
        }
    }
    repaired
}

/// A reader that returns less than requested, as pipes do.
struct Short<'a>(&'a [u8]);

impl Read for Short<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let most = buffer.len().min(if self.0.len().is_multiple_of(3) { 100 } else { 700 });
        self.0.read(&mut buffer[..most])
    }
}
