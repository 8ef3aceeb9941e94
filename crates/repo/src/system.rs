//! Every effect of the libraries, behind one trait: what cannot be done here is not done at all.

use std::ffi::OsString;
use std::io::{self, Cursor, Read, Seek, Write};
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

/// Whose a file or folder is, as seen by the user who runs this.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Owner {
    /// The caller's (the effective user of this process), or the platform has no owners.
    Caller,
    /// The administrator's, whom everybody has to trust.
    Root,
    /// Another user's.
    Other,
}

/// A regular file, open for reading. What it was when it was opened stays here; `reader` tells what it is now.
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
    /// What the open file is now: another stat than the first one tells that it changed meanwhile.
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
    /// Replaces the contents of the lock's file, which tell others who holds it.
    fn describe(&mut self, holder: &str) -> io::Result<()>;
}

/// Reads the files of one directory by their names alone: the way to the directory is walked once for all of them.
pub trait DirectoryFiles: Send {
    /// Appends the bytes of the regular file `name` to `buffer`, as `System::read_at_most` would. The stat is taken before
    /// reading, and only where it is wanted: it costs a system call.
    fn read(&self, name: &str, limit: u64, wants_stat: bool, buffer: &mut Vec<u8>) -> io::Result<Option<Stat>>;

    /// Looks at a name of the directory without following a link.
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

/// The read-only half of the outside world.
pub trait System: Send + Sync {
    /// The entries of a directory in any order, without `.` and `..`.
    fn read_dir(&self, path: &Path) -> io::Result<Vec<DirEntry>>;

    /// As `read_dir`, for a path without a link anywhere in it (see `open_real`).
    fn read_real_dir(&self, path: &Path) -> io::Result<Vec<DirEntry>> {
        self.read_dir(path)
    }

    /// Looks at a path without following a final link.
    fn lstat(&self, path: &Path) -> io::Result<Stat>;

    /// Whose the path is, without following a final link. This body is for test doubles.
    fn owner(&self, _path: &Path) -> io::Result<Owner> {
        Ok(Owner::Caller)
    }

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

    /// Opens a regular file for reading; fails on anything else, without blocking. Links are followed.
    ///
    /// This body is for test doubles: it reads the whole file at once and knows of no executables.
    fn open(&self, path: &Path) -> io::Result<OpenFile> {
        let mut bytes = Vec::new();
        let stat = self.read_into(path, &mut bytes)?;
        let reader = Box::new(WholeFile { bytes: Cursor::new(bytes), stat });
        Ok(OpenFile { stat, executable: false, private: false, reader })
    }

    /// As `open`, for a path without a link anywhere in it, as the caller has seen before. Where the system can tell, one
    /// that was put there meanwhile is an error: what was checked is what is read.
    fn open_real(&self, path: &Path) -> io::Result<OpenFile> {
        self.open(path)
    }

    /// Appends the bytes of a regular file of at most `limit` bytes to `buffer`; more are `ErrorKind::FileTooLarge`. For a
    /// path without a link anywhere in it, as `open_real`.
    fn read_real(&self, path: &Path, limit: u64, buffer: &mut Vec<u8>) -> io::Result<Stat> {
        append(self.open_real(path)?, limit, buffer)
    }

    /// Fills `buffer` with the bytes of a regular file from `offset` on; fails when there are not as many.
    fn read_range(&self, path: &Path, offset: u64, buffer: &mut [u8]) -> io::Result<()> {
        let mut whole = Vec::new();
        self.read_into(path, &mut whole)?;
        let part = usize::try_from(offset).ok().and_then(|start| whole.get(start..)?.get(..buffer.len()));
        buffer.copy_from_slice(part.ok_or(io::ErrorKind::UnexpectedEof)?);
        Ok(())
    }

    /// A shorter way to the files of a directory than their paths, where the system has one. As for `open_real`, there is no
    /// link in the path, and none among the files.
    fn directory_files(&self, _path: &Path) -> Option<Box<dyn DirectoryFiles>> {
        None
    }

    fn read_link(&self, path: &Path) -> io::Result<PathBuf>;

    /// Nanoseconds since the epoch. Only ever compared with file times, never shown.
    fn now(&self) -> i64;
}

/// The writing half, for what `stan` keeps between runs. Test doubles may leave out what they do not need: it then fails
/// as unsupported.
pub trait WritableSystem: System {
    /// Puts a file in place all at once: readers see the old contents or the new, never a part. A link at `path` is
    /// replaced, not followed; a file's permissions are kept. The directory must exist.
    fn write_atomic(&self, path: &Path, bytes: &[u8]) -> io::Result<()>;

    /// As `write_atomic`, for what cannot be rebuilt: it also survives a power cut.
    fn write_atomic_durable(&self, path: &Path, bytes: &[u8]) -> io::Result<()> {
        self.write_atomic(path, bytes)
    }

    fn create_dir_all(&self, path: &Path) -> io::Result<()>;

    /// As `create_dir_all`; what is made is for the owner alone (0700).
    fn create_private_dir_all(&self, path: &Path) -> io::Result<()> {
        self.create_dir_all(path)
    }

    /// Fills `bytes` with random numbers that are fit for a secret key.
    fn random(&self, _bytes: &mut [u8]) -> io::Result<()> {
        Err(io::ErrorKind::Unsupported.into())
    }

    /// One line that names this process among all processes of all machines, also after a reboot.
    fn process_token(&self) -> io::Result<String> {
        Err(io::ErrorKind::Unsupported.into())
    }

    /// Whether the process that a token names still runs; `None` when that cannot be told, as for another machine.
    fn is_running(&self, _token: &str) -> Option<bool> {
        None
    }

    /// The permission bits of a file, as Unix has them.
    fn permissions(&self, _path: &Path) -> io::Result<u32> {
        Err(io::ErrorKind::Unsupported.into())
    }

    /// Sets the permission bits of a file.
    fn set_permissions(&self, _path: &Path, _mode: u32) -> io::Result<()> {
        Err(io::ErrorKind::Unsupported.into())
    }

    /// Removes a file, or a link itself.
    fn remove_file(&self, path: &Path) -> io::Result<()>;

    /// Makes a file that is not there yet; whatever is at `path`, even a link that leads nowhere, is an error.
    fn create_new(&self, _path: &Path, _access: Access) -> io::Result<Box<dyn OutputFile>> {
        Err(io::ErrorKind::Unsupported.into())
    }

    /// Moves a file within one directory, replacing a file or link at `to` all at once.
    fn rename(&self, _from: &Path, _to: &Path) -> io::Result<()> {
        Err(io::ErrorKind::Unsupported.into())
    }

    /// Removes a directory, when nothing is in it.
    fn remove_dir(&self, _path: &Path) -> io::Result<()> {
        Err(io::ErrorKind::Unsupported.into())
    }

    /// Returns when the names in a directory are on the disk.
    fn sync_dir(&self, _path: &Path) -> io::Result<()> {
        Err(io::ErrorKind::Unsupported.into())
    }

    /// Takes the lock whose file is at `path`, which is made when it is missing; never follows a link. `None` when
    /// it is held.
    fn try_lock(&self, _path: &Path) -> io::Result<Option<Box<dyn HeldLock>>> {
        Err(io::ErrorKind::Unsupported.into())
    }
}

/// A file that was read as a whole when it was opened.
struct WholeFile {
    bytes: Cursor<Vec<u8>>,
    stat: Stat,
}

impl Read for WholeFile {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        self.bytes.read(buffer)
    }
}

impl Seek for WholeFile {
    fn seek(&mut self, to: io::SeekFrom) -> io::Result<u64> {
        self.bytes.seek(to)
    }
}

impl InputFile for WholeFile {
    fn stat(&self) -> io::Result<Stat> {
        Ok(self.stat)
    }
}
