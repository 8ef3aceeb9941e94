//! A run of consecutive files, read and framed for the archive by one thread into one buffer.

use std::io::{self, Read};
use std::ops::Range;

use stan_model::Digest;
use stan_repo::{OpenFile, SystemExt as _, sha256};

use super::{WriteJob, memory};
use crate::classify::{LARGE_BYTES, TextShape, is_binary};
use crate::entry::{ArchiveEntry, Guard, Secrets, Source};
use crate::error::Error;
use crate::tar::{EntryHeader, append_header, padding};

/// A group that buffers this much pauses, and resumes when the buffer has been written.
const MAX_BYTES: usize = 2 << 20;

/// The metadata of a file that is ready to be written.
pub(super) struct GroupItem {
    pub(super) index: usize,
    pub(super) size: u64,
    pub(super) executable: bool,
    /// Whether other users may not read the source file.
    pub(super) private: bool,
    /// Its byte range, relative to the start of the buffer or of the large file.
    pub(super) range: Range<u64>,
    /// `None` for a binary, which is not archived.
    pub(super) shape: Option<TextShape>,
    /// Why a text is left out of the archive.
    pub(super) secrets: Option<Secrets>,
    /// Also set for a verified file that is left out: a file that replaced it must not pass unnoticed.
    pub(super) digest: Option<Digest>,
}

impl GroupItem {
    pub(super) fn length(&self) -> u64 {
        self.range.end - self.range.start
    }
}

/// An entry whose header is in the buffer and whose contents follow.
struct OpenEntry<'e> {
    index: usize,
    entry: &'e ArchiveEntry,
    executable: bool,
    /// The offset of its header.
    start: usize,
    /// The offset of its contents.
    contents: usize,
}

#[derive(Default)]
pub(super) struct FileGroup {
    /// The remaining files.
    left: Range<usize>,
    bytes: Vec<u8>,
    items: Vec<GroupItem>,
    /// A file that is too large for memory; it follows the buffered bytes. It stays open, because each file is opened only once.
    large: Option<(usize, OpenFile)>,
    error: Option<Error>,
}

impl FileGroup {
    pub(super) fn restart(&mut self, files: Range<usize>) {
        *self = Self {
            left: files,
            bytes: std::mem::take(&mut self.bytes),
            items: std::mem::take(&mut self.items),
            large: None,
            error: None,
        };
    }

    /// Continues reading until there is enough to write, a large file, or an error.
    pub(super) fn fill(&mut self, job: &WriteJob<'_>) {
        self.bytes.clear();
        self.items.clear();
        while self.bytes.len() < MAX_BYTES && self.large.is_none() && self.error.is_none() {
            let Some(index) = self.left.next() else { return };
            let added = job.entry(index).and_then(|entry| self.add(job, index, entry));
            self.error = added.err();
        }
    }

    pub(super) fn bytes(&self) -> &[u8] {
        &self.bytes
    }

    pub(super) fn take_items(&mut self) -> impl Iterator<Item = GroupItem> + '_ {
        self.items.drain(..)
    }

    pub(super) fn take_large(&mut self) -> Option<(usize, OpenFile)> {
        self.large.take()
    }

    pub(super) fn take_error(&mut self) -> Option<Error> {
        self.error.take()
    }

    pub(super) fn is_done(&self) -> bool {
        self.left.is_empty()
    }

    fn add(&mut self, job: &WriteJob<'_>, index: usize, entry: &ArchiveEntry) -> Result<(), Error> {
        let path = match &entry.source {
            Source::Bytes(bytes) if bytes.len() as u64 > LARGE_BYTES => {
                self.large = Some((index, memory::open(bytes)));
                return Ok(());
            }
            Source::Bytes(bytes) => {
                let executable = entry.executable.unwrap_or(false);
                let open = self.start(job, index, entry, bytes.len() as u64, executable)?;
                self.bytes.extend_from_slice(bytes);
                self.close(job, &open, false);
                return Ok(());
            }
            Source::File(path) | Source::Proved { path, .. } => path,
        };
        let unreadable = |reason| Error::Unreadable { name: entry.name.clone(), reason };
        let mut file = job.system.open_real(path).map_err(unreadable)?;
        if file.stat.size > LARGE_BYTES {
            self.large = Some((index, file));
            return Ok(());
        }
        let executable = is_executable(entry, &file);
        let open = self.start(job, index, entry, file.stat.size, executable)?;
        let size = self.read(&mut file).map_err(unreadable)?;
        check_unchanged(entry, &file, size as u64)?;
        self.close(job, &open, file.private);
        Ok(())
    }

    /// Appends the header of an entry.
    fn start<'e>(
        &mut self,
        job: &WriteJob<'_>,
        index: usize,
        entry: &'e ArchiveEntry,
        size: u64,
        executable: bool,
    ) -> Result<OpenEntry<'e>, Error> {
        let start = self.bytes.len();
        append_header(&mut self.bytes, &EntryHeader { name: &entry.name, size, executable, modified: job.modified })?;
        Ok(OpenEntry { index, entry, executable, start, contents: self.bytes.len() })
    }

    /// Appends the bytes of a small file, and at most one byte more than expected.
    fn read(&mut self, file: &mut OpenFile) -> io::Result<usize> {
        let start = self.bytes.len();
        let wanted = usize::try_from(file.stat.size).unwrap_or(usize::MAX).saturating_add(1);
        self.bytes.resize(start.saturating_add(wanted), 0);
        let room = self.bytes.get_mut(start..).unwrap_or_default();
        let filled = fill_from(&mut file.reader, room, wanted - 1);
        self.bytes.truncate(start + filled.as_ref().copied().unwrap_or(0));
        filled
    }

    /// Classifies the contents that follow the header. If they are not archived, removes them and the header from the buffer.
    fn close(&mut self, job: &WriteJob<'_>, open: &OpenEntry<'_>, private: bool) {
        let OpenEntry { index, entry, executable, start, contents } = *open;
        let bytes = self.bytes.get(contents..).unwrap_or_default();
        let size = bytes.len() as u64;
        let shape = if is_binary(bytes) { None } else { Some(TextShape::of(bytes)) };
        let digest = (shape.is_some() || entry.is_proved()).then(|| sha256(bytes));
        let is_clean = entry.guard == Guard::Scanned && digest.as_ref().is_some_and(job.is_clean);
        let secrets = shape.filter(|_| !is_clean).and_then(|_| Secrets::of(entry, bytes));
        let is_archived = shape.is_some() && secrets.is_none();
        let digest = digest.filter(|_| is_archived || entry.is_proved());
        if is_archived {
            self.bytes.resize(self.bytes.len() + padding(size), 0);
        } else {
            self.bytes.truncate(start);
        }
        let range = start as u64..self.bytes.len() as u64;
        self.items.push(GroupItem { index, size, executable, private, range, shape, secrets, digest });
    }
}

/// Reads until the buffer is full, the file ends, or exactly `enough` bytes are read: a short read of a regular file means its
/// end, and the stat detects one that has grown.
fn fill_from(reader: &mut dyn Read, room: &mut [u8], enough: usize) -> io::Result<usize> {
    let mut filled = 0;
    while let Some(rest) = room.get_mut(filled..).filter(|rest| !rest.is_empty()) {
        match reader.read(rest) {
            Ok(0) => break,
            Ok(count) => filled += count,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
            Err(error) => return Err(error),
        }
        if filled == enough {
            break;
        }
    }
    Ok(filled)
}

pub(super) fn is_executable(entry: &ArchiveEntry, file: &OpenFile) -> bool {
    match &entry.source {
        // Staged copies are only read, never executed.
        Source::Proved { .. } => false,
        _ => entry.executable.unwrap_or(file.executable),
    }
}

/// Checks that the open file is unchanged, after `size` bytes were read from it.
pub(super) fn check_unchanged(entry: &ArchiveEntry, file: &OpenFile, size: u64) -> Result<(), Error> {
    let changed = |how| Error::ChangedWhileRead { name: entry.name.clone(), how };
    let expected = file.stat.size;
    if size != expected {
        let more = if size > expected { "more" } else { "fewer" };
        return Err(changed(format!("it had {expected} bytes, then {more}")));
    }
    let now = file.reader.stat().map_err(|reason| Error::Unreadable { name: entry.name.clone(), reason })?;
    if now.size != expected {
        return Err(changed(format!("it had {expected} bytes, then {}", now.size)));
    }
    if now.mtime != file.stat.mtime {
        return Err(changed("it was written to".to_owned()));
    }
    Ok(())
}
