//! Every effect of the libraries, behind one trait: what cannot be done here is not done at all.

use std::ffi::OsString;
use std::io;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

/// What a directory entry or a path is, without following links.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub enum EntryKind {
    File,
    Dir,
    Link,
    /// Sockets, pipes, devices: never opened, because opening one may block for ever.
    Other,
}

/// One entry of a directory, as the file system lists it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DirEntry {
    pub name: OsString,
    pub kind: EntryKind,
}

/// What `lstat` tells of a path: enough to notice that it changed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Stat {
    pub kind: EntryKind,
    pub size: u64,
    /// Nanoseconds since the epoch.
    pub mtime: i64,
    /// Nanoseconds since the epoch; equals `mtime` where the platform has none.
    pub ctime: i64,
    /// 0 where the platform has none.
    pub inode: u64,
}

/// Reads the files of one directory by their names alone: the way to the directory is walked once for all of them.
pub trait DirectoryFiles: Send {
    /// Reads the regular file `name`, as `System::read_at_most` would, into the start of `buffer`, and says how many
    /// bytes it has. The buffer only ever grows, and what lies behind the bytes is of no meaning. The stat is taken
    /// before reading, and only where it is wanted: it costs a system call.
    fn read(&self, name: &str, limit: u64, wants_stat: bool, buffer: &mut Vec<u8>)
    -> io::Result<(usize, Option<Stat>)>;
}

/// The read-only half of the outside world.
pub trait System: Send + Sync {
    /// The entries of a directory in any order, without `.` and `..`.
    fn read_dir(&self, path: &Path) -> io::Result<Vec<DirEntry>>;

    /// Looks at a path without following a final link.
    fn lstat(&self, path: &Path) -> io::Result<Stat>;

    /// Appends the bytes of a regular file to `buffer`; fails on anything else. Links are followed.
    /// Returns the file's stat *taken from the open file before reading it*.
    fn read_into(&self, path: &Path, buffer: &mut Vec<u8>) -> io::Result<Stat>;

    /// As `read_into`, but refuses a file of more than `limit` bytes with `ErrorKind::FileTooLarge`.
    fn read_at_most(&self, path: &Path, limit: u64, buffer: &mut Vec<u8>) -> io::Result<Stat> {
        let start = buffer.len();
        let stat = self.read_into(path, buffer)?;
        if (buffer.len() - start) as u64 > limit {
            buffer.truncate(start);
            return Err(io::ErrorKind::FileTooLarge.into());
        }
        Ok(stat)
    }

    /// Hands the bytes of a regular file to `take`, piece by piece, so that a huge file does not fill the memory.
    fn read_chunks(&self, path: &Path, take: &mut dyn FnMut(&[u8])) -> io::Result<Stat> {
        let mut buffer = Vec::new();
        let stat = self.read_into(path, &mut buffer)?;
        take(&buffer);
        Ok(stat)
    }

    /// Fills `buffer` with the bytes of a regular file from `offset` on; fails when there are not as many.
    fn read_range(&self, path: &Path, offset: u64, buffer: &mut [u8]) -> io::Result<()> {
        let mut whole = Vec::new();
        self.read_into(path, &mut whole)?;
        let part = usize::try_from(offset).ok().and_then(|start| whole.get(start..)?.get(..buffer.len()));
        buffer.copy_from_slice(part.ok_or(io::ErrorKind::UnexpectedEof)?);
        Ok(())
    }

    /// A shorter way to the files of a directory than their paths, where the system has one.
    fn directory_files(&self, _path: &Path) -> Option<Box<dyn DirectoryFiles>> {
        None
    }

    fn read_link(&self, path: &Path) -> io::Result<PathBuf>;

    /// Nanoseconds since the epoch. Only ever compared with file times, never shown.
    fn now(&self) -> i64;
}

/// The writing half, for what `stan` keeps between runs.
pub trait WritableSystem: System {
    /// Puts a file in place all at once: readers see the old contents or the new, never a part. A link at `path` is
    /// replaced, not followed. The directory must exist.
    fn write_atomic(&self, path: &Path, bytes: &[u8]) -> io::Result<()>;

    fn create_dir_all(&self, path: &Path) -> io::Result<()>;

    /// Removes a file, or a link itself.
    fn remove_file(&self, path: &Path) -> io::Result<()>;
}
