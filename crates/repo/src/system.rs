//! Every effect of the libraries, behind one trait. Libraries can only do what this trait offers.

use std::ffi::OsString;
use std::io::{self, Read, Seek, Write};
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

/// The kind of a directory entry or path, without following symlinks.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub enum EntryKind {
    File,
    Dir,
    Link,
    /// Sockets, pipes, devices: never opened, because opening one may block indefinitely.
    Other,
}

/// An entry of a directory listing.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DirEntry {
    pub name: OsString,
    pub kind: EntryKind,
}

/// What `lstat` returns for a path: enough to notice that it changed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Stat {
    pub kind: EntryKind,
    pub size: u64,
    /// Nanoseconds since the epoch.
    pub mtime: i64,
    /// Nanoseconds since the epoch; equals `mtime` on platforms without it.
    pub ctime: i64,
    /// 0 on platforms without inodes.
    pub inode: u64,
}

/// The owner of a file or folder, relative to the current user.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Owner {
    /// The effective user of this process, or the platform has no owners.
    Caller,
    /// The administrator, whom every user must trust.
    Root,
    /// Another user.
    Other,
}

/// A regular file, open for reading. The fields hold its state when it was opened; `reader` can stat it again.
pub struct OpenFile {
    /// Taken from the open file before reading.
    pub stat: Stat,
    /// Whether its owner may execute it; `false` on platforms without such permissions.
    pub executable: bool,
    /// Whether only owner and group may read it; `false` on platforms without such permissions. A copy must not be readable by
    /// more users.
    pub private: bool,
    pub reader: Box<dyn InputFile>,
}

/// The bytes of an open file.
pub trait InputFile: Read + Seek + Send {
    /// The current stat of the open file. Differs from the first one if the file changed in the meantime.
    fn stat(&self) -> io::Result<Stat>;
}

/// A file that is being written.
pub trait OutputFile: Write + Send {
    /// Flushes to disk (fsync).
    fn sync(&mut self) -> io::Result<()>;

    /// Gives a file that was created with [`Access::Undecided`] the permissions of [`Access::Shared`].
    fn share(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// The permissions of a new file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Access {
    /// The default: 0666 minus the umask.
    Shared,
    /// Only the owner may read and write it (0600).
    Private,
    /// As `Shared`, and executable.
    Executable,
    /// As `Private` until [`OutputFile::share`] is called: for files whose sources are known only while they are written.
    Undecided,
}

/// A lock that is held until it is dropped or the process ends, even by a kill.
pub trait HeldLock: Send + Sync {
    /// Replaces the contents of the lock file, which name the holder.
    fn describe(&mut self, holder: &str) -> io::Result<()>;
}

/// Reads files of one open directory by name, without resolving the path of the directory again.
pub trait DirectoryFiles: Send {
    /// Appends the bytes of the regular file `name` to `buffer`, as `SystemExt::read_real` does. The stat is taken before
    /// reading, and only if requested: it costs a system call.
    fn read(&self, name: &str, limit: u64, wants_stat: bool, buffer: &mut Vec<u8>) -> io::Result<Option<Stat>>;

    /// The stat of an entry, without following a symlink.
    fn lstat(&self, name: &str) -> io::Result<Stat>;
}

/// The maximum memory that is reserved because of a stat's size. Beyond it, the buffer grows while bytes arrive.
pub(crate) const MAX_RESERVED: usize = 64 << 20;

/// Appends the bytes of an open file to `buffer`; fails and appends nothing if there are more than `limit`.
pub(crate) fn append(file: OpenFile, limit: u64, buffer: &mut Vec<u8>) -> io::Result<Stat> {
    let OpenFile { stat, reader, .. } = file;
    if stat.size > limit {
        return Err(io::ErrorKind::FileTooLarge.into());
    }
    let start = buffer.len();
    buffer.reserve(usize::try_from(stat.size).unwrap_or(0).saturating_add(1).min(MAX_RESERVED));
    let read = reader.take(limit.saturating_add(1)).read_to_end(buffer).and_then(|count| match count as u64 > limit {
        true => Err(io::ErrorKind::FileTooLarge.into()),
        false => Ok(stat),
    });
    if read.is_err() {
        buffer.truncate(start);
    }
    read
}

/// What to do about a symbolic link in a path, including its end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Links {
    /// Follow it, as the kernel does.
    Follow,
    /// Fail. For paths that the caller has checked to be without symlinks: if the system supports it, a symlink that was created
    /// since the check is not followed, so that the checked file is the one that is read.
    Refuse,
}

/// The reading half of all effects: few primitives, none with a default. With a default that follows symlinks, an implementation
/// could silently lose a security property. Operations built on these calls are in [`crate::SystemExt`]; an implementation that
/// changes only some calls of another one is a [`crate::SystemLayer`].
pub trait System: Send + Sync {
    /// The entries of a directory in any order, without `.` and `..`.
    fn list_dir(&self, path: &Path, links: Links) -> io::Result<Vec<DirEntry>>;

    /// The stat of a path, without following a final symlink.
    fn lstat(&self, path: &Path) -> io::Result<Stat>;

    /// The owner of a path, without following a final symlink.
    fn owner(&self, path: &Path) -> io::Result<Owner>;

    /// Opens a regular file for reading; fails on anything else, without blocking.
    fn open_file(&self, path: &Path, links: Links) -> io::Result<OpenFile>;

    /// Appends the bytes of a regular file to `buffer`; fails on anything else, and with `ErrorKind::FileTooLarge` if there are
    /// more than `limit`. Returns the file's stat *taken from the open file before reading it*. A primitive although `open_file`
    /// would be enough, because that costs an allocation and zeroed memory for each file of a scan.
    fn read_file(&self, path: &Path, links: Links, limit: u64, buffer: &mut Vec<u8>) -> io::Result<Stat>;

    /// Opens a directory to access its files by name, if the system supports that. Refuses symlinks in the path and among the
    /// files.
    fn directory_files(&self, path: &Path) -> Option<Box<dyn DirectoryFiles>>;

    fn read_link(&self, path: &Path) -> io::Result<PathBuf>;

    /// Nanoseconds since the epoch. Only compared with file times, never shown.
    fn now(&self) -> i64;
}

/// The writing half. No method has a default, as in [`System`]: a fallback to a weaker form would silently lose privacy or
/// durability.
pub trait WritableSystem: System {
    /// Replaces a file atomically: readers see either the old or the new contents. A symlink at `path` is replaced, not followed;
    /// the permissions of an existing file are kept. The directory must exist.
    fn write_atomic(&self, path: &Path, bytes: &[u8]) -> io::Result<()>;

    /// As `write_atomic`, for contents in several buffers, which need not be copied into one.
    fn write_atomic_pieces(&self, path: &Path, pieces: &[&[u8]]) -> io::Result<()>;

    /// As `write_atomic`, and durable: for files that cannot be rebuilt after a power cut.
    fn write_atomic_durable(&self, path: &Path, bytes: &[u8]) -> io::Result<()>;

    fn create_dir_all(&self, path: &Path) -> io::Result<()>;

    /// As `create_dir_all`; new directories are accessible to the owner only (0700).
    fn create_private_dir_all(&self, path: &Path) -> io::Result<()>;

    /// Fills `bytes` with random numbers suitable for a secret key.
    fn random(&self, bytes: &mut [u8]) -> io::Result<()>;

    /// One line that identifies this process among the processes of all machines, even after a reboot.
    fn process_token(&self) -> io::Result<String>;

    /// Whether the process with a token still runs; `None` if that cannot be determined, as on another machine.
    fn is_running(&self, token: &str) -> Option<bool>;

    /// The Unix permission bits of a file.
    fn permissions(&self, path: &Path) -> io::Result<u32>;

    /// Sets the permission bits of a file.
    fn set_permissions(&self, path: &Path, mode: u32) -> io::Result<()>;

    /// Removes a file, or a symlink itself.
    fn remove_file(&self, path: &Path) -> io::Result<()>;

    /// As `remove_file`, in a folder whose path has no link in it. Refuses one that appeared since it was checked, where the system
    /// can ([`Links::Refuse`]).
    fn remove_real(&self, path: &Path) -> io::Result<()>;

    /// Creates a file; fails if anything is at `path`, even a dangling symlink.
    fn create_new(&self, path: &Path, access: Access) -> io::Result<Box<dyn OutputFile>>;

    /// Moves a file within one directory, atomically replacing a file or symlink at `to`.
    fn rename(&self, from: &Path, to: &Path) -> io::Result<()>;

    /// As `rename`, between folders whose paths have no link in them. Refuses one that appeared since they were checked.
    fn rename_real(&self, from: &Path, to: &Path) -> io::Result<()>;

    /// Removes an empty directory.
    fn remove_dir(&self, path: &Path) -> io::Result<()>;

    /// Flushes a directory to disk, so that created and renamed files survive a power cut.
    fn sync_dir(&self, path: &Path) -> io::Result<()>;

    /// Takes the lock on the file at `path`, which is created if it is missing; never follows a symlink. `None` if the lock is
    /// held.
    fn try_lock(&self, path: &Path) -> io::Result<Option<Box<dyn HeldLock>>>;
}
