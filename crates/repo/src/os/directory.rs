//! An open directory whose files are read by name, which takes half the time of resolving a whole path and matters for many small
//! files. Also lists directories, refusing symlinks in their path if the system can.

use std::fs::File;
use std::io;
use std::os::fd::OwnedFd;
use std::path::Path;

use rustix::buffer::spare_capacity;
use rustix::fs::{AtFlags, FileType, Mode, OFlags, openat};
use rustix::io::retry_on_intr;

#[cfg(target_os = "linux")]
use crate::system::DirEntry;
use crate::system::{DirectoryFiles, EntryKind, MAX_RESERVED, Stat};

/// The buffer of the first read, before the size of the file is known: larger than most source files.
const FIRST_READ: usize = 64 << 10;

pub(super) struct OpenDirectory {
    descriptor: OwnedFd,
}

impl OpenDirectory {
    pub(super) fn new(path: &Path) -> io::Result<Self> {
        let flags = OFlags::DIRECTORY | OFlags::CLOEXEC;
        #[cfg(target_os = "linux")]
        let flags = flags | OFlags::PATH;
        Ok(Self { descriptor: open_without_links(path, flags)? })
    }

    /// The folder of a file.
    fn of(path: &Path) -> io::Result<Self> {
        Self::new(path.parent().ok_or(io::ErrorKind::InvalidInput)?)
    }
}

/// Moves a file between folders whose paths have no links.
pub(super) fn rename(from: &Path, to: &Path) -> io::Result<()> {
    let (source, target) = (OpenDirectory::of(from)?, OpenDirectory::of(to)?);
    let renamed = rustix::fs::renameat(&source.descriptor, name_of(from)?, &target.descriptor, name_of(to)?);
    renamed.map_err(io::Error::from)
}

/// Removes a file, or a link itself, from a folder whose path has no links.
pub(super) fn remove(path: &Path) -> io::Result<()> {
    let folder = OpenDirectory::of(path)?;
    rustix::fs::unlinkat(&folder.descriptor, name_of(path)?, AtFlags::empty()).map_err(io::Error::from)
}

fn name_of(path: &Path) -> io::Result<&std::ffi::OsStr> {
    path.file_name().ok_or_else(|| io::ErrorKind::InvalidInput.into())
}

impl DirectoryFiles for OpenDirectory {
    fn read(&self, name: &str, limit: u64, wants_stat: bool, buffer: &mut Vec<u8>) -> io::Result<Option<Stat>> {
        // Without blocking, so that a pipe at this path cannot hang the run.
        let flags = OFlags::RDONLY | OFlags::NONBLOCK | OFlags::CLOEXEC | OFlags::NOFOLLOW;
        let opened =
            retry_on_intr(|| openat(&self.descriptor, name, flags, Mode::empty())).map_err(a_link_is_no_answer)?;
        let file = File::from(opened);
        let seen = if wants_stat { Some(regular_stat(&file, limit)?) } else { None };
        append(&file, seen, limit, buffer)?;
        Ok(seen)
    }

    fn lstat(&self, name: &str) -> io::Result<Stat> {
        let stat = retry_on_intr(|| rustix::fs::statat(&self.descriptor, name, AtFlags::SYMLINK_NOFOLLOW))?;
        Ok(from_raw(&stat))
    }
}

fn from_raw(stat: &rustix::fs::Stat) -> Stat {
    let nanos = |seconds: i64, rest: i64| seconds.saturating_mul(1_000_000_000).saturating_add(rest);
    Stat {
        kind: kind(FileType::from_raw_mode(stat.st_mode)),
        size: wide(stat.st_size),
        mtime: nanos(wide(stat.st_mtime), wide(stat.st_mtime_nsec)),
        ctime: nanos(wide(stat.st_ctime), wide(stat.st_ctime_nsec)),
        inode: wide(stat.st_ino),
    }
}

/// The integer types in a stat differ between platforms.
fn wide<N: TryInto<W>, W: Default>(number: N) -> W {
    number.try_into().unwrap_or_default()
}

fn kind(kind: FileType) -> EntryKind {
    match kind {
        FileType::RegularFile => EntryKind::File,
        FileType::Directory => EntryKind::Dir,
        FileType::Symlink => EntryKind::Link,
        _ => EntryKind::Other,
    }
}

/// Appends the bytes of an open file; fails and appends nothing unless it is a regular file of at most `limit` bytes. `seen` is
/// the result of [`regular_stat`], if it was called.
pub(super) fn append(file: &File, seen: Option<Stat>, limit: u64, buffer: &mut Vec<u8>) -> io::Result<()> {
    let start = buffer.len();
    // Reads into uninitialised memory, without zeroing it first.
    let read = |buffer: &mut Vec<u8>| rustix::io::read(file, spare_capacity(buffer));
    let read = fill(read, || regular_stat(file, limit), seen, limit, buffer);
    if read.is_err() {
        buffer.truncate(start);
    }
    read
}

/// Appends the bytes that `read` returns, until it returns none. A read may return less than requested before the end: on FUSE,
/// 9p and some network file systems, and after a signal.
fn fill(
    mut read: impl FnMut(&mut Vec<u8>) -> rustix::io::Result<usize>,
    look: impl Fn() -> io::Result<Stat>,
    mut seen: Option<Stat>,
    limit: u64,
    buffer: &mut Vec<u8>,
) -> io::Result<()> {
    // One byte more than the size, so that one more read finds both the rest and the end.
    let rest_of = |stat: Stat, filled: usize| {
        let size = usize::try_from(stat.size).unwrap_or(usize::MAX);
        if size >= filled { (size - filled).saturating_add(1) } else { filled }
    };
    let start = buffer.len();
    let mut wanted = seen.map_or(FIRST_READ, |stat| rest_of(stat, 0));
    loop {
        // Later reads use the spare capacity first: most of them only find the end of the file.
        if buffer.len() == start || buffer.len() == buffer.capacity() {
            buffer.reserve(wanted.clamp(1, MAX_RESERVED));
        }
        let count = retry_on_intr(|| read(buffer))?;
        let filled = buffer.len() - start;
        // Stat only if the first read did not settle it: a full buffer may be a part of a huge file, and an empty one may not be
        // a regular file.
        if seen.is_none() && (filled == 0 || buffer.capacity() == buffer.len()) {
            seen = Some(look()?);
        }
        if filled as u64 > limit {
            return Err(io::ErrorKind::FileTooLarge.into());
        }
        // A read of exactly the stat's size that left room in the buffer has reached the end. A file of size 0 may still have
        // contents, on virtual file systems.
        let is_whole = seen.is_some_and(|stat| stat.size == filled as u64 && buffer.len() < buffer.capacity());
        if count == 0 || is_whole {
            return Ok(());
        }
        wanted = seen.map_or(filled, |stat| rest_of(stat, filled));
    }
}

/// The buffer for one call of getdents: some thousand names.
#[cfg(target_os = "linux")]
const LISTING_BUFFER: usize = 128 << 10;

/// The entries of a directory whose path contains no symlink. Calls getdents directly: the standard library would copy each name
/// twice.
#[cfg(target_os = "linux")]
pub(super) fn list(path: &Path) -> io::Result<Vec<DirEntry>> {
    use rustix::fs::RawDir;
    use std::ffi::OsStr;
    use std::os::unix::ffi::OsStrExt as _;

    let directory = open_without_links(path, OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC)?;
    let mut buffer = Vec::with_capacity(LISTING_BUFFER);
    let mut listing = RawDir::new(&directory, buffer.spare_capacity_mut());
    let mut entries = Vec::new();
    while let Some(entry) = listing.next() {
        let entry = entry?;
        let name = entry.file_name();
        if matches!(name.to_bytes(), b"." | b"..") {
            continue;
        }
        let kind = match entry.file_type() {
            // Some file systems do not return the type.
            FileType::Unknown => {
                let stat = retry_on_intr(|| rustix::fs::statat(&directory, name, AtFlags::SYMLINK_NOFOLLOW))?;
                FileType::from_raw_mode(stat.st_mode)
            }
            known => known,
        };
        entries.push(DirEntry { name: OsStr::from_bytes(name.to_bytes()).to_owned(), kind: self::kind(kind) });
    }
    Ok(entries)
}

/// Opens a file for reading, without blocking, by a path without symlinks.
pub(super) fn open_real(path: &Path) -> io::Result<File> {
    open_without_links(path, OFlags::RDONLY | OFlags::NONBLOCK | OFlags::CLOEXEC).map(File::from)
}

/// Opens a path without symlinks. A symlink that appeared in any component since the check is an error; if the system cannot
/// check all components, at least the last one is not followed.
fn open_without_links(path: &Path, flags: OFlags) -> io::Result<OwnedFd> {
    let flags = flags | OFlags::NOFOLLOW;
    #[cfg(target_os = "linux")]
    {
        use rustix::fs::{CWD, ResolveFlags, openat2};
        match retry_on_intr(|| openat2(CWD, path, flags, Mode::empty(), ResolveFlags::NO_SYMLINKS)) {
            // Kernels before 5.6 do not have it, and some sandboxes forbid it.
            Err(rustix::io::Errno::NOSYS | rustix::io::Errno::PERM) => {}
            opened => return opened.map_err(a_link_is_no_answer),
        }
    }
    retry_on_intr(|| rustix::fs::open(path, flags, Mode::empty())).map_err(a_link_is_no_answer)
}

/// Replaces the system's "too many levels of symbolic links" by a message that explains what happened.
fn a_link_is_no_answer(error: rustix::io::Errno) -> io::Error {
    match error {
        rustix::io::Errno::LOOP => io::Error::other("there is a link on the way to it, which is not followed"),
        error => error.into(),
    }
}

/// The stat of a regular file of at most `limit` bytes.
pub(super) fn regular_stat(file: &File, limit: u64) -> io::Result<Stat> {
    // The standard library calls statx for more fields than needed here, which takes longer.
    let stat = from_raw(&retry_on_intr(|| rustix::fs::fstat(file))?);
    if stat.kind != EntryKind::File {
        return Err(io::Error::new(io::ErrorKind::InvalidInput, "not a regular file"));
    }
    if stat.size > limit {
        return Err(io::ErrorKind::FileTooLarge.into());
    }
    Ok(stat)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{OsSystem, System, SystemExt as _, WritableSystem};

    /// Both ways of reading give the same bytes and the same stat, for any size.
    #[test]
    fn names_read_as_paths_do() {
        let folder = tempfile::tempdir().unwrap();
        let files = OsSystem.directory_files(folder.path()).unwrap();
        let mut buffer = Vec::new();
        for size in [0, 1, 100, FIRST_READ - 1, FIRST_READ, FIRST_READ + 1, 3 * FIRST_READ, 5] {
            let path = folder.path().join("file");
            let bytes: Vec<u8> = (0..size).map(|at| at as u8).collect();
            OsSystem.write_atomic(&path, &bytes).unwrap();
            let mut expected = Vec::new();
            let stat = OsSystem.read_into(&path, &mut expected).unwrap();
            assert_eq!((files.lstat("file").unwrap(), OsSystem.lstat(&path).unwrap()), (stat, stat));
            assert_eq!(expected, bytes);
            for (wants_stat, seen) in [(true, Some(stat)), (false, None)] {
                let before = buffer.len();
                assert_eq!(files.read("file", u64::MAX, wants_stat, &mut buffer).unwrap(), seen, "{size}");
                assert_eq!(buffer[before..], bytes);
            }
            let mut limited = b"before".to_vec();
            if let Some(less) = size.checked_sub(1) {
                let error = files.read("file", less as u64, false, &mut limited).unwrap_err();
                assert_eq!((error.kind(), &*limited), (io::ErrorKind::FileTooLarge, &b"before"[..]), "{size}");
            }
            files.read("file", size as u64, false, &mut limited).unwrap();
            assert_eq!(limited[6..], bytes);
        }
    }

    /// A short read is not the end of the file, and an interrupted one is not an error.
    #[test]
    fn short_reads_are_not_the_end() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("file");
        for size in [0, 1, 999, 1_000, 4_797, FIRST_READ, FIRST_READ + 1, 3 * FIRST_READ + 5] {
            let bytes: Vec<u8> = (0..size).map(|at| at as u8).collect();
            OsSystem.write_atomic(&path, &bytes).unwrap();
            let check = |piece: usize, interrupts: bool, wants_stat: bool, limit: u64| {
                let file = File::open(&path).unwrap();
                let seen = wants_stat.then(|| regular_stat(&file, u64::MAX).unwrap());
                let mut calls = 0;
                let read = |buffer: &mut Vec<u8>| {
                    calls += 1;
                    if interrupts && calls % 2 == 1 {
                        return Err(rustix::io::Errno::INTR);
                    }
                    let mut some = vec![0; piece.min(buffer.capacity() - buffer.len())];
                    let count = rustix::io::read(&file, &mut some)?;
                    buffer.extend_from_slice(&some[..count]);
                    Ok(count)
                };
                let mut buffer = b"before".to_vec();
                fill(read, || regular_stat(&file, limit), seen, limit, &mut buffer).map(|()| buffer[6..].to_vec())
            };
            for (piece, interrupts, wants_stat) in
                [(1_000, false, true), (1_000, true, false), (7_001, true, true), (usize::MAX, false, false)]
            {
                let read = check(piece, interrupts, wants_stat, u64::MAX).unwrap();
                assert!(read == bytes, "{size} bytes by {piece}: {} were read", read.len());
                if size > 0 {
                    let kind = check(piece, interrupts, wants_stat, size as u64 - 1).unwrap_err().kind();
                    assert_eq!(kind, io::ErrorKind::FileTooLarge);
                }
            }
        }
    }

    /// A symlink that an attacker swaps in after the stat is not followed, neither at the path itself nor at a parent.
    #[test]
    fn links_are_not_followed() {
        let folder = tempfile::tempdir().unwrap();
        let real = OsSystem.read_link(folder.path()).unwrap_or(folder.path().to_owned());
        let real = crate::paths::real_path(&OsSystem, &real).unwrap();
        let at = |name: &str| Path::new(&real).join(name);
        OsSystem.create_dir_all(&at("secret")).unwrap();
        OsSystem.write_atomic(&at("secret/file"), b"secret").unwrap();
        std::os::unix::fs::symlink("secret/file", at("file")).unwrap();
        std::os::unix::fs::symlink("secret", at("folder")).unwrap();
        assert!(OsSystem.open_real(&at("secret/file")).is_ok() && OsSystem.open(&at("folder/file")).is_ok());
        assert!(OsSystem.open_real(&at("file")).is_err() && OsSystem.open_real(&at("folder")).is_err());
        let files = OsSystem.directory_files(&at("")).unwrap();
        assert!(files.read("file", u64::MAX, false, &mut Vec::new()).is_err());
        for name in ["file", "folder", "secret", "absent"] {
            assert_eq!(files.lstat(name).ok(), OsSystem.lstat(&at(name)).ok(), "{name}");
        }
        let read = |name: &str| {
            let mut buffer = b"before ".to_vec();
            OsSystem.read_real(&at(name), 6, &mut buffer).map(|_| buffer)
        };
        assert_eq!(read("secret/file").unwrap(), b"before secret");
        assert!(read("file").is_err() && read("absent").is_err() && read("secret").is_err());
        let limited = OsSystem.read_real(&at("secret/file"), 5, &mut Vec::new());
        assert_eq!(limited.unwrap_err().kind(), io::ErrorKind::FileTooLarge);
        if cfg!(target_os = "linux") {
            assert!(OsSystem.open_real(&at("folder/file")).is_err() && read("folder/file").is_err());
            assert!(OsSystem.directory_files(&at("folder")).is_none());
            assert!(OsSystem.read_real_dir(&at("folder")).is_err());
            assert!(OsSystem.read_real_dir(&at("folder/below")).is_err());
        }
    }

    /// Both ways of listing give the same entries, over more than one system call.
    #[test]
    fn real_directories_list_as_others_do() {
        let folder = tempfile::tempdir().unwrap();
        let real = crate::paths::real_path(&OsSystem, folder.path()).unwrap();
        let real = Path::new(&real);
        std::os::unix::fs::symlink("nowhere", real.join("link")).unwrap();
        rustix::fs::mknodat(rustix::fs::CWD, real.join("pipe"), rustix::fs::FileType::Fifo, Mode::RUSR, 0).unwrap();
        OsSystem.create_dir_all(&real.join("below")).unwrap();
        for index in 0..3_000 {
            OsSystem.write_atomic(&real.join(format!("{index:0>200}")), b"").unwrap();
        }
        let sorted = |listed: io::Result<Vec<crate::DirEntry>>| {
            let mut entries = listed.unwrap();
            entries.sort_by(|left, right| left.name.cmp(&right.name));
            entries
        };
        let listed = sorted(OsSystem.read_real_dir(real));
        assert_eq!(listed.len(), 3_003);
        assert_eq!(listed, sorted(OsSystem.read_dir(real)));
        assert_eq!(OsSystem.read_real_dir(&real.join("absent")).unwrap_err().kind(), io::ErrorKind::NotFound);
        let file = real.join(format!("{:0>200}", 0));
        assert_eq!(OsSystem.read_real_dir(&file).unwrap_err().kind(), io::ErrorKind::NotADirectory);
    }

    #[test]
    fn only_regular_files_are_read() {
        let folder = tempfile::tempdir().unwrap();
        OsSystem.create_dir_all(&folder.path().join("below")).unwrap();
        let files = OsSystem.directory_files(folder.path()).unwrap();
        for wants_stat in [true, false] {
            assert!(files.read("below", u64::MAX, wants_stat, &mut Vec::new()).is_err());
            let absent = files.read("absent", u64::MAX, wants_stat, &mut Vec::new());
            assert_eq!(absent.unwrap_err().kind(), io::ErrorKind::NotFound);
        }
        assert!(OsSystem.directory_files(&folder.path().join("absent")).is_none());
        let device = OsSystem.directory_files(Path::new("/dev"));
        assert!(device.is_none_or(|files| files.read("null", u64::MAX, false, &mut Vec::new()).is_err()));
    }
}
