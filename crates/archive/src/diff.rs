//! The diff archive: entries copied from the finished full archive, so that no source is read twice, and a few entries from
//! memory. Snapshots decide which files changed, not this file.

use std::collections::BTreeMap;
use std::io::{self, Read, SeekFrom};
use std::ops::Range;

use stan_repo::{InputFile, System, SystemExt as _};

use crate::contents::FinishedArchive;
use crate::entry::{ArchiveEntry, Source, Written};
use crate::error::Error;
use crate::tar::{EntryHeader, append_end, append_header, padding};
use crate::transaction::{OutputStream, Prepared};

const PIECE: u64 = 1 << 20;

/// Writes the entries of the full archive that are in `names`, and the `extra` entries from memory, sorted by name. Returns the
/// size of the archive in bytes.
///
/// Names that are not in the full archive are skipped: a binary is in neither.
pub fn write_diff<'n>(
    system: &dyn System,
    FinishedArchive { file: full, written }: FinishedArchive<'_>,
    names: impl IntoIterator<Item = &'n str>,
    extra: &[ArchiveEntry],
    modified: u64,
    out: &mut OutputStream,
) -> Result<u64, Error> {
    // Sorted by name, as in the full archive: the ranges are then ascending, and the archive is read from front to back.
    let mut parts: BTreeMap<&str, DiffPart<'_>> = BTreeMap::new();
    for file in names.into_iter().filter_map(|name| written.file(name)) {
        parts.insert(&file.name, DiffPart::Copied(file.range.clone()));
    }
    for entry in extra {
        let Source::Bytes(bytes) = &entry.source else {
            return Err(Error::BadName {
                name: entry.name.clone(),
                reason: "only bytes in memory can be added to a diff",
            });
        };
        if parts.insert(&entry.name, DiffPart::Made(bytes)).is_some() {
            return Err(Error::DuplicateName { name: entry.name.clone() });
        }
    }
    // The diff contains the same bytes, so it must not be readable by more users than the full archive.
    if written.private {
        out.keep_private();
    }
    let mut archive = system.open(full.path()).map_err(|error| Error::io("read", full.path(), error))?;
    let mut copier = Copier { archive: &mut *archive.reader, full, pending: 0..0, out, size: 0, piece: Vec::new() };
    for (name, part) in parts {
        match part {
            DiffPart::Copied(range) => copier.copy(range)?,
            DiffPart::Made(bytes) => copier.add_from_memory(name, bytes, modified)?,
        }
    }
    copier.finish()
}

/// The size of the archive that [`write_diff`] would write.
pub fn diff_size<'n>(
    written: &Written,
    names: impl IntoIterator<Item = &'n str>,
    extra: &[ArchiveEntry],
) -> Result<u64, Error> {
    let copied = names.into_iter().filter_map(|name| written.file(name)).map(|file| file.range.end - file.range.start);
    let mut size = copied.sum();
    for entry in extra {
        if let Source::Bytes(bytes) = &entry.source {
            let mut header = Vec::new();
            let length = bytes.len() as u64;
            append_header(
                &mut header,
                &EntryHeader { name: &entry.name, size: length, executable: false, modified: 0 },
            )?;
            size += (header.len() + bytes.len() + padding(length)) as u64;
        }
    }
    let mut end = Vec::new();
    append_end(&mut end, size);
    Ok(size + end.len() as u64)
}

enum DiffPart<'a> {
    Copied(Range<u64>),
    Made(&'a [u8]),
}

struct Copier<'a> {
    archive: &'a mut dyn InputFile,
    full: &'a Prepared,
    /// The next range to copy. Adjacent ranges are merged, so that a diff of everything is one long copy.
    pending: Range<u64>,
    out: &'a mut OutputStream,
    size: u64,
    piece: Vec<u8>,
}

impl Copier<'_> {
    fn copy(&mut self, range: Range<u64>) -> Result<(), Error> {
        if range.start != self.pending.end {
            self.flush()?;
            self.pending.start = range.start;
        }
        self.pending.end = range.end;
        Ok(())
    }

    fn add_from_memory(&mut self, name: &str, bytes: &[u8], modified: u64) -> Result<(), Error> {
        self.flush()?;
        let mut entry = Vec::new();
        let size = bytes.len() as u64;
        append_header(&mut entry, &EntryHeader { name, size, executable: false, modified })?;
        entry.extend_from_slice(bytes);
        entry.resize(entry.len() + padding(size), 0);
        self.write(&entry)
    }

    fn finish(mut self) -> Result<u64, Error> {
        self.flush()?;
        let mut end = Vec::new();
        append_end(&mut end, self.size);
        self.write(&end)?;
        Ok(self.size)
    }

    fn flush(&mut self) -> Result<(), Error> {
        let Range { start, end } = std::mem::replace(&mut self.pending, 0..0);
        if start == end {
            return Ok(());
        }
        let unreadable = |full: &Prepared, error| Error::io("read", full.path(), error);
        self.archive.seek(SeekFrom::Start(start)).map_err(|error| unreadable(self.full, error))?;
        let mut left = end - start;
        while left > 0 {
            let mut piece = std::mem::take(&mut self.piece);
            piece.clear();
            let count = (&mut *self.archive).take(left.min(PIECE)).read_to_end(&mut piece);
            match count.map_err(|error| unreadable(self.full, error))? {
                // Another process has truncated the archive that was just written.
                0 => return Err(unreadable(self.full, io::ErrorKind::UnexpectedEof.into())),
                count => left -= count as u64,
            }
            let put = self.write(&piece);
            self.piece = piece;
            put?;
        }
        Ok(())
    }

    fn write(&mut self, bytes: &[u8]) -> Result<(), Error> {
        self.size += bytes.len() as u64;
        self.out.put(bytes)
    }
}
