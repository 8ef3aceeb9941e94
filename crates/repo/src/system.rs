//! Every effect of the libraries, behind one trait: what cannot be done here is not done at all.

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

/// Whose a file or folder is, as seen by the user who runs this.
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
    /// Whether its owner may run it; `false` where the platform has no such thing.
    pub executable: bool,
    /// Whether users other than the owner and the group may not read it; `false` where the platform has no such thing.
    /// A copy of it must not be readable for them either.
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
    /// Returns when the bytes are on the disk and not only on their way.
    fn sync(&mut self) -> io::Result<()>;

    /// Gives a file that was made with [`Access::Undecided`] the permissions of [`Access::Shared`].
    fn share(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// Who may do what with a file that is made.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Access {
    /// As the user's habits say (0666 less the umask).
    Shared,
    /// The owner alone reads and writes it (0600).
    Private,
    /// As `Shared`, and it can be run.
    Executable,
    /// As `Private` until [`OutputFile::share`] is called: for files whose sources are known only while they are written.
    Undecided,
}

/// A lock that is held until it is dropped, or until the process is gone, however it ends.
pub trait HeldLock: Send + Sync {
    /// Replaces the contents of the lock's file, which name the holder.
    fn describe(&mut self, holder: &str) -> io::Result<()>;
}

/// Reads the files of one directory by their names alone: the way to the directory is walked once for all of them.
pub trait DirectoryFiles: Send {
    /// Appends the bytes of the regular file `name` to `buffer`, as `SystemExt::read_real` would. The stat is taken before
    /// reading, and only where it is wanted: it costs a system call.
    fn read(&self, name: &str, limit: u64, wants_stat: bool, buffer: &mut Vec<u8>) -> io::Result<Option<Stat>>;

    /// Stats a name of the directory without following a link.
    fn lstat(&self, name: &str) -> io::Result<Stat>;
}

/// A file that says to be larger gets its room as it is read.
pub(crate) const MOST_RESERVED: usize = 64 << 20;

/// Appends the bytes of an open file to `buffer`; nothing when there are more than `limit`.
pub(crate) fn append(file: OpenFile, limit: u64, buffer: &mut Vec<u8>) -> io::Result<Stat> {
    let OpenFile { stat, reader, .. } = file;
    if stat.size > limit {
        return Err(io::ErrorKind::FileTooLarge.into());
    }
    let start = buffer.len();
    buffer.reserve(usize::try_from(stat.size).unwrap_or(0).saturating_add(1).min(MOST_RESERVED));
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

/// The read-only half of the outside world: few primitives, and none has a default. A default that follows links would let an
/// implementation lose a security property without a word; what can be made of these calls is in [`crate::SystemExt`]. An
/// implementation that changes only some calls of another one is a [`crate::SystemLayer`].
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
    /// more than `limit`. Returns the file's stat *taken from the open file before reading it*. This could be made of
    /// `open_file`, at the price of an allocation and of zeroed memory for each file of a scan.
    fn read_file(&self, path: &Path, links: Links, limit: u64, buffer: &mut Vec<u8>) -> io::Result<Stat>;

    /// A shorter way to the files of a directory than their paths, where the system has one. Links are refused, in the path and
    /// among the files.
    fn directory_files(&self, path: &Path) -> Option<Box<dyn DirectoryFiles>>;

    fn read_link(&self, path: &Path) -> io::Result<PathBuf>;

    /// Nanoseconds since the epoch. Only ever compared with file times, never shown.
    fn now(&self) -> i64;
}

/// The writing half, for what `stan` keeps between runs. No method has a default, for the reason that [`System`] gives: one that
/// falls back to a weaker form would drop privacy or durability.
pub trait WritableSystem: System {
    /// Puts a file in place all at once: readers see the old contents or the new, never a part. A link at `path` is
    /// replaced, not followed; a file's permissions are kept. The directory must exist.
    fn write_atomic(&self, path: &Path, bytes: &[u8]) -> io::Result<()>;

    /// As `write_atomic`, for bytes that lie in several places: a large file need not be copied into one first.
    fn write_atomic_pieces(&self, path: &Path, pieces: &[&[u8]]) -> io::Result<()>;

    /// As `write_atomic`, for what cannot be rebuilt: it also survives a power cut.
    fn write_atomic_durable(&self, path: &Path, bytes: &[u8]) -> io::Result<()>;

    fn create_dir_all(&self, path: &Path) -> io::Result<()>;

    /// As `create_dir_all`; what is made is for the owner alone (0700).
    fn create_private_dir_all(&self, path: &Path) -> io::Result<()>;

    /// Fills `bytes` with random numbers that are fit for a secret key.
    fn random(&self, bytes: &mut [u8]) -> io::Result<()>;

    /// One line that names this process among all processes of all machines, also after a reboot.
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

    /// Makes a file that does not exist yet; whatever is at `path`, even a dangling link, is an error.
    fn create_new(&self, path: &Path, access: Access) -> io::Result<Box<dyn OutputFile>>;

    /// Moves a file within one directory, replacing a file or link at `to` all at once.
    fn rename(&self, from: &Path, to: &Path) -> io::Result<()>;

    /// Removes a directory, when nothing is in it.
    fn remove_dir(&self, path: &Path) -> io::Result<()>;

    /// Returns when the names in a directory are on the disk.
    fn sync_dir(&self, path: &Path) -> io::Result<()>;

    /// Takes the lock whose file is at `path`, which is made when it is missing; never follows a link. `None` when
    /// it is held.
    fn try_lock(&self, path: &Path) -> io::Result<Option<Box<dyn HeldLock>>>;
}
