//! Creating files, syncing directories and locking on the real file system. Where files are written is decided elsewhere.

use std::fs::{self, File, OpenOptions, TryLockError};
use std::io::{self, Seek, Write};
use std::path::Path;

use super::{regular, stat};
use crate::advice::skip_unsupported_sync;
use crate::system::{Access, HeldLock, InputFile, OutputFile};

pub(super) fn create_new(path: &Path, access: Access) -> io::Result<Box<dyn OutputFile>> {
    if access != Access::Undecided {
        return Ok(Box::new(NewFile { file: create(path, access)?, shared_mode: None }));
    }
    // The mode of `Shared` depends on the umask and on the folder's default permissions, so it is read from an empty file. That
    // file is not used itself, because another process might open it before its permissions are removed.
    let trial = create(path, Access::Shared)?;
    let shared_mode = trial.metadata()?.permissions();
    drop(trial);
    fs::remove_file(path)?;
    Ok(Box::new(NewFile { file: create(path, Access::Private)?, shared_mode: Some(shared_mode) }))
}

fn create(path: &Path, access: Access) -> io::Result<File> {
    let mut options = OpenOptions::new();
    // `create_new` (O_EXCL) fails if the last component exists, even as a symlink.
    options.write(true).create_new(true);
    #[cfg(unix)]
    {
        use std::os::unix::fs::OpenOptionsExt;
        options.mode(match access {
            Access::Shared => 0o666,
            Access::Private | Access::Undecided => 0o600,
            Access::Executable => 0o777,
        });
    }
    #[cfg(not(unix))]
    let _ = access;
    options.open(path)
}

/// A file that is being written, and its permissions once it is shared.
struct NewFile {
    file: File,
    shared_mode: Option<fs::Permissions>,
}

impl Write for NewFile {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.file.write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.file.flush()
    }
}

impl OutputFile for NewFile {
    fn sync(&mut self) -> io::Result<()> {
        skip_unsupported_sync(self.file.sync_all())
    }

    fn share(&mut self) -> io::Result<()> {
        match self.shared_mode.take() {
            Some(mode) => self.file.set_permissions(mode),
            None => Ok(()),
        }
    }
}

#[cfg(unix)]
pub(super) fn sync_dir(path: &Path) -> io::Result<()> {
    skip_unsupported_sync(File::open(path)?.sync_all())
}

/// Elsewhere, a directory cannot be opened, and the journal of the file system keeps renames in order.
#[cfg(not(unix))]
pub(super) fn sync_dir(_: &Path) -> io::Result<()> {
    Ok(())
}

pub(super) fn try_lock(path: &Path) -> io::Result<Option<Box<dyn HeldLock>>> {
    match fs::symlink_metadata(path) {
        Ok(metadata) => drop(regular(stat(&metadata))?),
        Err(error) if error.kind() == io::ErrorKind::NotFound => {}
        Err(error) => return Err(error),
    }
    let file = OpenOptions::new().read(true).write(true).create(true).truncate(false).open(path)?;
    // If a symlink that was created in between was followed, the file at the path is not the open one.
    let (open, named) = (file.stat()?, stat(&fs::symlink_metadata(path)?));
    if regular(named)?.inode != open.inode {
        return Err(io::Error::other("the lock file was replaced while it was opened"));
    }
    match file.try_lock() {
        Ok(()) => Ok(Some(Box::new(LockFile(file)))),
        Err(TryLockError::WouldBlock) => Ok(None),
        Err(TryLockError::Error(error)) => Err(error),
    }
}

/// The lock belongs to the open file, so that the kernel releases it with the process. The file itself stays: if it were removed,
/// a third run could lock a new file of the same name while a second one waits for the old one.
struct LockFile(File);

impl HeldLock for LockFile {
    fn describe(&mut self, holder: &str) -> io::Result<()> {
        // Overwritten without truncating first, so that the file is never empty: others may read it at any time, and only its
        // first line.
        self.0.rewind()?;
        self.0.write_all(holder.as_bytes())?;
        self.0.set_len(holder.len() as u64)
    }
}

#[cfg(test)]
mod tests {
    use std::io::Read;

    use crate::OsSystem;
    use crate::system::{Access, EntryKind, System, WritableSystem};
    use crate::system_ext::SystemExt as _;

    #[test]
    fn a_new_file_never_replaces_an_existing_one() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("file");
        let mut file = OsSystem.create_new(&path, Access::Executable).unwrap();
        file.write_all(b"abc").unwrap();
        file.sync().unwrap();
        assert!(OsSystem.create_new(&path, Access::Shared).is_err());
        let mut open = OsSystem.open(&path).unwrap();
        let mut text = String::new();
        open.reader.read_to_string(&mut text).unwrap();
        assert_eq!((text.as_str(), open.stat.size, open.executable), ("abc", 3, cfg!(unix)));
        file.write_all(b"d").unwrap();
        assert_eq!(open.reader.stat().unwrap().size, 4, "an open file tells that it grew");
        assert!(OsSystem.open(directory.path()).is_err());
        OsSystem.sync_dir(directory.path()).unwrap();
    }

    #[test]
    fn renaming_replaces_and_only_empty_directories_go() {
        let directory = tempfile::tempdir().unwrap();
        let path = |name: &str| directory.path().join(name);
        OsSystem.create_dir_all(&path("d")).unwrap();
        OsSystem.write_atomic(&path("d/a"), b"a").unwrap();
        OsSystem.write_atomic(&path("d/b"), b"b").unwrap();
        OsSystem.rename(&path("d/a"), &path("d/b")).unwrap();
        assert_eq!(OsSystem.lstat(&path("d/a")).unwrap_err().kind(), std::io::ErrorKind::NotFound);
        assert!(OsSystem.remove_dir(&path("d")).is_err());
        OsSystem.remove_file(&path("d/b")).unwrap();
        OsSystem.remove_dir(&path("d")).unwrap();
    }

    #[test]
    fn a_lock_is_held_once_and_released_by_dropping_it() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("lock");
        let mut held = OsSystem.try_lock(&path).unwrap().unwrap();
        held.describe("the first one, with a long name").unwrap();
        held.describe("me").unwrap();
        assert!(OsSystem.try_lock(&path).unwrap().is_none());
        let mut text = Vec::new();
        OsSystem.read_into(&path, &mut text).unwrap();
        assert_eq!(text, b"me");
        drop(held);
        assert!(OsSystem.try_lock(&path).unwrap().is_some());
        assert!(OsSystem.try_lock(directory.path()).is_err());
    }

    #[cfg(unix)]
    #[test]
    fn links_are_neither_written_through_nor_locked() {
        use std::os::unix::fs::PermissionsExt;
        let directory = tempfile::tempdir().unwrap();
        let (link, target) = (directory.path().join("link"), directory.path().join("target"));
        std::os::unix::fs::symlink(&target, &link).unwrap();
        assert!(OsSystem.create_new(&link, Access::Shared).is_err());
        assert!(OsSystem.try_lock(&link).is_err());
        assert!(OsSystem.lstat(&target).is_err());
        assert_eq!(OsSystem.lstat(&link).unwrap().kind, EntryKind::Link);
        drop(OsSystem.create_new(&target, Access::Private).unwrap());
        assert_eq!(target.metadata().unwrap().permissions().mode() & 0o777, 0o600);
    }

    #[cfg(unix)]
    #[test]
    fn an_undecided_file_is_private_until_it_is_shared() {
        use std::os::unix::fs::PermissionsExt;
        let directory = tempfile::tempdir().unwrap();
        let path = |name: &str| directory.path().join(name);
        let mode = |name: &str| path(name).metadata().unwrap().permissions().mode() & 0o777;
        drop(OsSystem.create_new(&path("shared"), Access::Shared).unwrap());
        let mut file = OsSystem.create_new(&path("file"), Access::Undecided).unwrap();
        file.write_all(b"abc").unwrap();
        assert_eq!(mode("file"), 0o600);
        assert!(OsSystem.open(&path("file")).unwrap().private);
        file.share().unwrap();
        assert_eq!(mode("file"), mode("shared"));
        assert!(OsSystem.create_new(&path("file"), Access::Undecided).is_err(), "a name that is taken stays taken");
        assert_eq!(OsSystem.read_dir(directory.path()).unwrap().len(), 2, "the trial file is gone");
        OsSystem.create_private_dir_all(&path("a/b")).unwrap();
        assert_eq!((mode("a"), mode("a/b")), (0o700, 0o700));
    }
}
