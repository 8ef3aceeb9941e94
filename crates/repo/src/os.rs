//! The real file system behind [`System`]: the only code that calls `std::fs`.
#![expect(clippy::disallowed_methods, reason = "this is the implementation that the lint points to")]

mod output;
pub(crate) mod process;
mod replace;
mod shell;

use std::fs::{self, File, FileType, Metadata};
use std::io;
use std::path::{Path, PathBuf};
use std::time::{SystemTime, UNIX_EPOCH};

use crate::processes::{Processes, ShellCommand, ShellOutcome};
use crate::system::{
    Access, DirEntry, DirectoryFiles, EntryKind, HeldLock, InputFile, Links, OpenFile, OutputFile, Owner, Stat, System,
    WritableSystem,
};

#[cfg(unix)]
mod directory;

/// The real file system.
#[derive(Clone, Copy, Debug, Default)]
pub struct OsSystem;

impl System for OsSystem {
    fn list_dir(&self, path: &Path, links: Links) -> io::Result<Vec<DirEntry>> {
        if links == Links::Refuse {
            #[cfg(target_os = "linux")]
            return directory::list(path);
            #[cfg(not(target_os = "linux"))]
            refuse_links(path)?;
        }
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

    fn owner(&self, path: &Path) -> io::Result<Owner> {
        fs::symlink_metadata(path).map(|metadata| owner(&metadata))
    }

    fn open_file(&self, path: &Path, links: Links) -> io::Result<OpenFile> {
        let file = open_regular(path, links)?;
        let metadata = file.metadata()?;
        let stat = regular(stat(&metadata))?;
        let (executable, private) = (is_executable(&metadata), is_private(&metadata));
        Ok(OpenFile { stat, executable, private, reader: Box::new(file) })
    }

    #[cfg(unix)]
    fn read_file(&self, path: &Path, links: Links, limit: u64, buffer: &mut Vec<u8>) -> io::Result<Stat> {
        // As `system::append`, without zeroing the memory first.
        let file = open_regular(path, links)?;
        let stat = directory::regular_stat(&file, limit)?;
        directory::append(&file, Some(stat), limit, buffer)?;
        Ok(stat)
    }

    #[cfg(not(unix))]
    fn read_file(&self, path: &Path, links: Links, limit: u64, buffer: &mut Vec<u8>) -> io::Result<Stat> {
        crate::system::append(self.open_file(path, links)?, limit, buffer)
    }

    #[cfg(unix)]
    fn directory_files(&self, path: &Path) -> Option<Box<dyn DirectoryFiles>> {
        Some(Box::new(directory::OpenDirectory::new(path).ok()?))
    }

    #[cfg(not(unix))]
    fn directory_files(&self, _path: &Path) -> Option<Box<dyn DirectoryFiles>> {
        None
    }

    fn read_link(&self, path: &Path) -> io::Result<PathBuf> {
        fs::read_link(path)
    }

    fn now(&self) -> i64 {
        nanoseconds(SystemTime::now())
    }
}

#[cfg(unix)]
fn owner(metadata: &Metadata) -> Owner {
    use std::os::unix::fs::MetadataExt;
    match metadata.uid() {
        uid if uid == rustix::process::geteuid().as_raw() => Owner::Caller,
        0 => Owner::Root,
        _ => Owner::Other,
    }
}

#[cfg(not(unix))]
fn owner(_metadata: &Metadata) -> Owner {
    Owner::Caller
}

impl WritableSystem for OsSystem {
    fn write_atomic(&self, path: &Path, bytes: &[u8]) -> io::Result<()> {
        replace::replace(path, &[bytes], false)
    }

    fn write_atomic_pieces(&self, path: &Path, pieces: &[&[u8]]) -> io::Result<()> {
        replace::replace(path, pieces, false)
    }

    fn write_atomic_durable(&self, path: &Path, bytes: &[u8]) -> io::Result<()> {
        replace::replace(path, &[bytes], true)
    }

    fn create_dir_all(&self, path: &Path) -> io::Result<()> {
        fs::create_dir_all(path)
    }

    #[cfg(unix)]
    fn create_private_dir_all(&self, path: &Path) -> io::Result<()> {
        use std::os::unix::fs::DirBuilderExt;
        fs::DirBuilder::new().recursive(true).mode(0o700).create(path)
    }

    #[cfg(not(unix))]
    fn create_private_dir_all(&self, path: &Path) -> io::Result<()> {
        fs::create_dir_all(path)
    }

    #[cfg(unix)]
    fn random(&self, bytes: &mut [u8]) -> io::Result<()> {
        use std::io::Read as _;
        File::open("/dev/urandom")?.read_exact(bytes)
    }

    #[cfg(not(unix))]
    fn random(&self, _bytes: &mut [u8]) -> io::Result<()> {
        Err(io::ErrorKind::Unsupported.into())
    }

    fn process_token(&self) -> io::Result<String> {
        process::token()
    }

    fn is_running(&self, token: &str) -> Option<bool> {
        process::is_running(token)
    }

    #[cfg(unix)]
    fn permissions(&self, path: &Path) -> io::Result<u32> {
        use std::os::unix::fs::PermissionsExt;
        Ok(fs::symlink_metadata(path)?.permissions().mode() & 0o7777)
    }

    #[cfg(not(unix))]
    fn permissions(&self, _path: &Path) -> io::Result<u32> {
        Err(io::ErrorKind::Unsupported.into())
    }

    #[cfg(unix)]
    fn set_permissions(&self, path: &Path, mode: u32) -> io::Result<()> {
        use std::os::unix::fs::PermissionsExt;
        fs::set_permissions(path, fs::Permissions::from_mode(mode))
    }

    #[cfg(not(unix))]
    fn set_permissions(&self, _path: &Path, _mode: u32) -> io::Result<()> {
        Err(io::ErrorKind::Unsupported.into())
    }

    fn remove_file(&self, path: &Path) -> io::Result<()> {
        fs::remove_file(path)
    }

    #[cfg(unix)]
    fn remove_real(&self, path: &Path) -> io::Result<()> {
        directory::remove(path)
    }

    #[cfg(not(unix))]
    fn remove_real(&self, path: &Path) -> io::Result<()> {
        fs::remove_file(path)
    }

    fn create_new(&self, path: &Path, access: Access) -> io::Result<Box<dyn OutputFile>> {
        output::create_new(path, access)
    }

    fn rename(&self, from: &Path, to: &Path) -> io::Result<()> {
        fs::rename(from, to)
    }

    #[cfg(unix)]
    fn rename_real(&self, from: &Path, to: &Path) -> io::Result<()> {
        directory::rename(from, to)
    }

    #[cfg(not(unix))]
    fn rename_real(&self, from: &Path, to: &Path) -> io::Result<()> {
        fs::rename(from, to)
    }

    fn remove_dir(&self, path: &Path) -> io::Result<()> {
        fs::remove_dir(path)
    }

    fn sync_dir(&self, path: &Path) -> io::Result<()> {
        output::sync_dir(path)
    }

    fn try_lock(&self, path: &Path) -> io::Result<Option<Box<dyn HeldLock>>> {
        output::try_lock(path)
    }
}

impl Processes for OsSystem {
    fn run(&self, command: &ShellCommand<'_>, is_cancelled: &dyn Fn() -> bool) -> io::Result<ShellOutcome> {
        shell::run(command, is_cancelled)
    }
}

impl InputFile for File {
    fn stat(&self) -> io::Result<Stat> {
        self.metadata().map(|metadata| stat(&metadata))
    }
}

fn regular(stat: Stat) -> io::Result<Stat> {
    if stat.kind == EntryKind::File {
        return Ok(stat);
    }
    Err(io::Error::new(io::ErrorKind::InvalidInput, "not a regular file"))
}

/// As in git: the owner's bit decides.
#[cfg(unix)]
fn is_executable(metadata: &Metadata) -> bool {
    use std::os::unix::fs::PermissionsExt;
    metadata.permissions().mode() & 0o100 != 0
}

#[cfg(not(unix))]
fn is_executable(_: &Metadata) -> bool {
    false
}

#[cfg(unix)]
fn is_private(metadata: &Metadata) -> bool {
    use std::os::unix::fs::PermissionsExt;
    metadata.permissions().mode() & 0o004 == 0
}

#[cfg(not(unix))]
fn is_private(_: &Metadata) -> bool {
    false
}

/// Opens without blocking, so that a pipe at this path cannot hang the run.
#[cfg(unix)]
fn open_regular(path: &Path, links: Links) -> io::Result<File> {
    use std::os::unix::fs::OpenOptionsExt;
    const O_NONBLOCK: i32 = if cfg!(target_os = "linux") { 0o4000 } else { 4 };
    match links {
        Links::Refuse => directory::open_real(path),
        Links::Follow => fs::OpenOptions::new().read(true).custom_flags(O_NONBLOCK).open(path),
    }
}

#[cfg(not(unix))]
fn open_regular(path: &Path, links: Links) -> io::Result<File> {
    if links == Links::Refuse {
        refuse_links(path)?;
    }
    File::open(path)
}

/// Fails if the path contains a symlink. For systems that cannot refuse symlinks while opening; a symlink that is created between
/// the two calls is followed.
#[cfg(not(target_os = "linux"))]
fn refuse_links(path: &Path) -> io::Result<()> {
    for part in path.ancestors().filter(|part| !part.as_os_str().is_empty()) {
        if fs::symlink_metadata(part)?.file_type().is_symlink() {
            return Err(io::Error::other("there is a link on the way to it, which is not followed"));
        }
    }
    Ok(())
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::SystemExt as _;

    #[test]
    fn atomic_writes_replace_and_leave_nothing_behind() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("file");
        OsSystem.write_atomic(&path, b"one").unwrap();
        OsSystem.write_atomic(&path, b"two").unwrap();
        let mut buffer = Vec::new();
        let stat = OsSystem.read_into(&path, &mut buffer).unwrap();
        assert_eq!((buffer.as_slice(), stat.size), (b"two".as_slice(), 3));
        assert_eq!(OsSystem.read_dir(directory.path()).unwrap().len(), 1);
        assert!(OsSystem.write_atomic(&directory.path().join("gone/file"), b"").is_err());
        OsSystem.remove_file(&path).unwrap();
        assert!(OsSystem.lstat(&path).is_err());
    }

    #[cfg(unix)]
    #[test]
    fn a_link_is_replaced_and_a_directory_is_not() {
        let directory = tempfile::tempdir().unwrap();
        let (link, target) = (directory.path().join("link"), directory.path().join("target"));
        OsSystem.write_atomic(&target, b"old").unwrap();
        std::os::unix::fs::symlink(&target, &link).unwrap();
        OsSystem.write_atomic(&link, b"new").unwrap();
        assert_eq!(OsSystem.lstat(&link).unwrap().kind, EntryKind::File);
        let mut buffer = Vec::new();
        OsSystem.read_into(&target, &mut buffer).unwrap();
        assert_eq!(buffer, b"old");
        OsSystem.create_dir_all(&directory.path().join("a/b")).unwrap();
        assert!(OsSystem.write_atomic(&directory.path().join("a"), b"").is_err());
        assert_eq!(OsSystem.read_dir(directory.path()).unwrap().len(), 3, "no temporary file is left");
    }
}
