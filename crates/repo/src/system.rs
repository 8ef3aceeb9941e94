//! Every effect of the libraries, behind one trait. Libraries do nothing that is not possible here.

use std::ffi::OsString;
use std::io::{self, Read, Seek, Write};
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

/// What a directory entry or a path is, without following links.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub enum EntryKind {
    File,
    Dir,
    Link,
    /// Sockets, pipes, devices: never opened, because opening one may block without end.
    Other,
}

/// One entry of a directory, as the file system lists it.
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
    /// Nanoseconds since the epoch; equals `mtime` where the platform has none.
    pub ctime: i64,
    /// 0 where the platform has none.
    pub inode: u64,
}

/// The owner of a file or folder, relative to the current user.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Owner {
    /// The caller's (the effective user of this process), or the platform has no owners.
    Caller,
    /// The administrator's, whom every user has to trust.
    Root,
    /// Another user's.
    Other,
}

/// A regular file, open for reading. The fields hold its state when it was opened; `reader` can stat it again.
pub struct OpenFile {
    /// Taken from the open file, before anything was read.
    pub stat: Stat,
    /// Whether its owner may execute it; `false` on platforms without such permissions.
    pub executable: bool,
    /// Whether only owner and group may read it; `false` on platforms without such permissions. A copy must not be more readable.
    pub private: bool,
    pub reader: Box<dyn InputFile>,
}

/// The bytes of an open file.
pub trait InputFile: Read + Seek + Send {
    /// The stat of the open file now: it differs from the first one when the file changed meanwhile.
    fn stat(&self) -> io::Result<Stat>;
}

/// A file that is being written.
pub trait OutputFile: Write + Send {
    /// Flushes to disk (fsync).
    fn sync(&mut self) -> io::Result<()>;

    /// Gives a file that was made with [`Access::Undecided`] the permissions of [`Access::Shared`].
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

/// A lock that is held until it is dropped or the process ends, even if it is killed.
pub trait HeldLock: Send + Sync {
    /// Replaces the contents of the lock's file, which name the holder.
    fn describe(&mut self, holder: &str) -> io::Result<()>;
}

/// Reads files of one open directory by name, without resolving the path of the directory again.
pub trait DirectoryFiles: Send {
    /// Appends the bytes of the regular file `name` to `buffer`, as `SystemExt::read_real` would. The stat is taken before
    /// reading, and only where it is wanted: it costs a system call.
    fn read(&self, name: &str, limit: u64, wants_stat: bool, buffer: &mut Vec<u8>) -> io::Result<Option<Stat>>;

    /// Stats a name of the directory without following a link.
    fn lstat(&self, name: &str) -> io::Result<Stat>;
}

/// The most memory that is reserved because of a stat's size. Beyond it, the buffer grows as bytes arrive.
pub(crate) const MAX_RESERVED: usize = 64 << 20;

/// Appends the bytes of an open file to `buffer`; nothing when there are more than `limit`.
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

/// What happens at a symbolic link on the way to a path or at its end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Links {
    /// It is followed, as the kernel does.
    Follow,
    /// It is an error. For paths that the caller has found to be without links: where the system supports it, a link
    /// that was put there since then is not followed, so that what was checked is what is read.
    Refuse,
}

/// The reading half of all effects: few primitives, none with a default. A default that follows links would let an implementation
/// silently lose a security property. What can be built on these calls is in [`crate::SystemExt`]; an implementation that changes
/// only some calls of another one is a [`crate::SystemLayer`].
pub trait System: Send + Sync {
    /// The entries of a directory in any order, without `.` and `..`.
    fn list_dir(&self, path: &Path, links: Links) -> io::Result<Vec<DirEntry>>;

    /// The stat of a path; a final link is not followed.
    fn lstat(&self, path: &Path) -> io::Result<Stat>;

    /// Whose the path is, without following a final link.
    fn owner(&self, path: &Path) -> io::Result<Owner>;

    /// Opens a regular file for reading; fails on anything else, without blocking.
    fn open_file(&self, path: &Path, links: Links) -> io::Result<OpenFile>;

    /// Appends the bytes of a regular file to `buffer`; fails on anything else, and with `ErrorKind::FileTooLarge` when there are
    /// more than `limit`. Returns the file's stat *taken from the open file before reading it*. A primitive although
    /// `open_file` would do, because that costs an allocation and zeroed memory for each file of a scan.
    fn read_file(&self, path: &Path, links: Links, limit: u64, buffer: &mut Vec<u8>) -> io::Result<Stat>;

    /// Opens a directory to access its files by name, if the system supports that. Refuses links, in the path and among the files.
    fn directory_files(&self, path: &Path) -> Option<Box<dyn DirectoryFiles>>;

    fn read_link(&self, path: &Path) -> io::Result<PathBuf>;

    /// Nanoseconds since the epoch. Only ever compared with file times, never shown.
    fn now(&self) -> i64;
}

/// The writing half. No method has a default, as in [`System`]: a fallback to a weaker form would silently lose privacy or
/// durability.
pub trait WritableSystem: System {
    /// Replaces a file atomically: readers see the old contents or the new ones, never a part. A link at `path` is replaced, not
    /// followed; the permissions of an existing file are kept. The directory must exist.
    fn write_atomic(&self, path: &Path, bytes: &[u8]) -> io::Result<()>;

    /// As `write_atomic`, for contents in several buffers, which need not be copied into one.
    fn write_atomic_pieces(&self, path: &Path, pieces: &[&[u8]]) -> io::Result<()>;

    /// As `write_atomic`, and durable: for files that cannot be rebuilt after a power cut.
    fn write_atomic_durable(&self, path: &Path, bytes: &[u8]) -> io::Result<()>;

    fn create_dir_all(&self, path: &Path) -> io::Result<()>;

    /// As `create_dir_all`; new directories are accessible to the owner only (0700).
    fn create_private_dir_all(&self, path: &Path) -> io::Result<()>;

    /// Fills `bytes` with random numbers that are fit for a secret key.
    fn random(&self, bytes: &mut [u8]) -> io::Result<()>;

    /// One line that identifies this process among the processes of all machines, also after a reboot.
    fn process_token(&self) -> io::Result<String>;

    /// Whether the process that a token names still runs; `None` when that cannot be determined, as for another
    /// machine.
    fn is_running(&self, token: &str) -> Option<bool>;

    /// The permission bits of a file, as Unix has them.
    fn permissions(&self, path: &Path) -> io::Result<u32>;

    /// Sets the permission bits of a file.
    fn set_permissions(&self, path: &Path, mode: u32) -> io::Result<()>;

    /// Removes a file, or a link itself.
    fn remove_file(&self, path: &Path) -> io::Result<()>;

    /// As `remove_file`, in a folder whose path has no link in it. Refuses one that appeared since it was checked, where the system
    /// can ([`Links::Refuse`]).
    fn remove_real(&self, path: &Path) -> io::Result<()>;

    /// Makes a file that does not exist yet; whatever is at `path`, even a dangling link, is an error.
    fn create_new(&self, path: &Path, access: Access) -> io::Result<Box<dyn OutputFile>>;

    /// Moves a file within one directory, replacing a file or link at `to` all at once.
    fn rename(&self, from: &Path, to: &Path) -> io::Result<()>;

    /// As `rename`, between folders whose paths have no link in them. Refuses one that appeared since they were checked.
    fn rename_real(&self, from: &Path, to: &Path) -> io::Result<()>;

    /// Removes a directory, when nothing is in it.
    fn remove_dir(&self, path: &Path) -> io::Result<()>;

    /// Flushes a directory to disk, so that created and renamed files survive a power cut.
    fn sync_dir(&self, path: &Path) -> io::Result<()>;

    /// Takes the lock whose file is at `path`, which is made when it is missing; never follows a link. `None` when
    /// it is held.
    fn try_lock(&self, path: &Path) -> io::Result<Option<Box<dyn HeldLock>>>;
}
