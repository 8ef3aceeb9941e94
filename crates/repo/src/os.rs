//! The real file system behind [`System`]: the one place that calls `std::fs` for reading.
#![expect(clippy::disallowed_methods, reason = "this is the implementation that the lint points to")]

use std::fs::{self, File, FileType, Metadata};
use std::io::{self, Read};
use std::path::{Path, PathBuf};
use std::time::{SystemTime, UNIX_EPOCH};

use crate::system::{DirEntry, EntryKind, Stat, System};

/// The real file system.
#[derive(Clone, Copy, Debug, Default)]
pub struct OsSystem;

impl System for OsSystem {
    fn read_dir(&self, path: &Path) -> io::Result<Vec<DirEntry>> {
        fs::read_dir(path)?
            .map(|entry| {
                let entry = entry?;
                Ok(DirEntry { kind: entry_kind(entry.file_type()?), name: entry.file_name() })
            })
            .collect()
    }

    fn lstat(&self, path: &Path) -> io::Result<Stat> {
        fs::symlink_metadata(path).map(|metadata| stat(&metadata))
    }

    fn read_into(&self, path: &Path, buffer: &mut Vec<u8>) -> io::Result<Stat> {
        let mut file = open_regular(path)?;
        let stat = stat(&file.metadata()?);
        if stat.kind != EntryKind::File {
            return Err(io::Error::new(io::ErrorKind::InvalidInput, "not a regular file"));
        }
        // One byte more than the size lets `read_to_end` see the end without growing the buffer.
        buffer.reserve(usize::try_from(stat.size).unwrap_or(usize::MAX).saturating_add(1).min(1 << 30));
        file.read_to_end(buffer)?;
        Ok(stat)
    }

    fn read_link(&self, path: &Path) -> io::Result<PathBuf> {
        fs::read_link(path)
    }

    fn now(&self) -> i64 {
        nanoseconds(SystemTime::now())
    }
}

/// Opens without blocking, so that a pipe put in the place of a file cannot hang the run.
#[cfg(unix)]
fn open_regular(path: &Path) -> io::Result<File> {
    use std::os::unix::fs::OpenOptionsExt;
    const O_NONBLOCK: i32 = if cfg!(target_os = "linux") { 0o4000 } else { 4 };
    fs::OpenOptions::new().read(true).custom_flags(O_NONBLOCK).open(path)
}

#[cfg(not(unix))]
fn open_regular(path: &Path) -> io::Result<File> {
    File::open(path)
}

fn entry_kind(kind: FileType) -> EntryKind {
    if kind.is_file() {
        EntryKind::File
    } else if kind.is_dir() {
        EntryKind::Dir
    } else if kind.is_symlink() {
        EntryKind::Link
    } else {
        EntryKind::Other
    }
}

fn nanoseconds(time: SystemTime) -> i64 {
    let clamp = |nanos: u128| i64::try_from(nanos).unwrap_or(i64::MAX);
    match time.duration_since(UNIX_EPOCH) {
        Ok(after) => clamp(after.as_nanos()),
        Err(before) => -clamp(before.duration().as_nanos()),
    }
}

#[cfg(unix)]
fn stat(metadata: &Metadata) -> Stat {
    use std::os::unix::fs::MetadataExt;
    let nanos = |seconds: i64, rest: i64| seconds.saturating_mul(1_000_000_000).saturating_add(rest);
    Stat {
        kind: entry_kind(metadata.file_type()),
        size: metadata.len(),
        mtime: nanos(metadata.mtime(), metadata.mtime_nsec()),
        ctime: nanos(metadata.ctime(), metadata.ctime_nsec()),
        inode: metadata.ino(),
    }
}

#[cfg(not(unix))]
fn stat(metadata: &Metadata) -> Stat {
    let mtime = metadata.modified().map(nanoseconds).unwrap_or(0);
    Stat { kind: entry_kind(metadata.file_type()), size: metadata.len(), mtime, ctime: mtime, inode: 0 }
}
