//! Operations built on the primitives of [`System`], the same for each system. They cannot be overridden, so a layer that
//! changes a primitive changes these too.

use std::io::{self, Read as _, Seek as _, SeekFrom};
use std::path::Path;

use crate::system::{DirEntry, Links, OpenFile, Stat, System};

/// How much of a file is in memory when it is read in pieces.
const CHUNK: u64 = 1 << 20;

/// Reading in the forms that callers need. Methods with `real` in their names refuse symlinks ([`Links::Refuse`]); the others
/// follow them.
pub trait SystemExt: System {
    /// The entries of a directory in any order, without `.` and `..`.
    fn read_dir(&self, path: &Path) -> io::Result<Vec<DirEntry>> {
        self.list_dir(path, Links::Follow)
    }

    /// As `read_dir`, for a path without symlinks.
    fn read_real_dir(&self, path: &Path) -> io::Result<Vec<DirEntry>> {
        self.list_dir(path, Links::Refuse)
    }

    /// Opens a regular file.
    fn open(&self, path: &Path) -> io::Result<OpenFile> {
        self.open_file(path, Links::Follow)
    }

    /// As `open`, for a path without symlinks.
    fn open_real(&self, path: &Path) -> io::Result<OpenFile> {
        self.open_file(path, Links::Refuse)
    }

    /// Appends the bytes of a regular file of any size to `buffer`.
    fn read_into(&self, path: &Path, buffer: &mut Vec<u8>) -> io::Result<Stat> {
        self.read_file(path, Links::Follow, u64::MAX, buffer)
    }

    /// As `read_into`, but fails with `ErrorKind::FileTooLarge` for a file of more than `limit` bytes.
    fn read_at_most(&self, path: &Path, limit: u64, buffer: &mut Vec<u8>) -> io::Result<Stat> {
        self.read_file(path, Links::Follow, limit, buffer)
    }

    /// As `read_at_most`, for a path without symlinks.
    fn read_real(&self, path: &Path, limit: u64, buffer: &mut Vec<u8>) -> io::Result<Stat> {
        self.read_file(path, Links::Refuse, limit, buffer)
    }

    /// Calls `take` with the bytes of a regular file, in pieces, so that a huge file does not exhaust memory.
    fn read_chunks(&self, path: &Path, take: &mut dyn FnMut(&[u8])) -> io::Result<Stat> {
        let OpenFile { stat, mut reader, .. } = self.open_file(path, Links::Follow)?;
        // One byte more than the size, so that a file that grew is detected, and a small one needs no large buffer.
        let length = usize::try_from(stat.size.saturating_add(1).min(CHUNK)).unwrap_or(1);
        let mut buffer = vec![0; length];
        loop {
            match reader.read(&mut buffer) {
                Ok(0) => return Ok(stat),
                Ok(count) => take(buffer.get(..count).unwrap_or_default()),
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Err(error),
            }
        }
    }

    /// Fills `buffer` with the bytes of a regular file from `offset`; fails if there are not enough.
    fn read_range(&self, path: &Path, offset: u64, buffer: &mut [u8]) -> io::Result<()> {
        let mut reader = self.open_file(path, Links::Follow)?.reader;
        if offset != 0 {
            reader.seek(SeekFrom::Start(offset))?;
        }
        reader.read_exact(buffer)
    }
}

impl<S: System + ?Sized> SystemExt for S {}
