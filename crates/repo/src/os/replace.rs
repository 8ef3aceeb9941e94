//! Replaces a file atomically on the real file system: writes a temporary file beside it and renames that.

use std::fs::{self, File, OpenOptions};
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};

use super::output;
use crate::advice::skip_unsupported_sync;
use crate::temporary::temporary_name;

/// How many names are tried for a temporary file.
const MAX_ATTEMPTS: usize = 100;

/// Readers see either the old or the new contents. `is_durable`: the new contents are on disk when this returns.
pub(super) fn replace(path: &Path, pieces: &[&[u8]], is_durable: bool) -> io::Result<()> {
    let (temporary, mut file) = create_beside(path)?;
    let written = fill(&mut file, path, pieces, is_durable).and_then(|()| {
        // Windows does not rename over an open file. Elsewhere, the lock is held until the end.
        let held = if cfg!(windows) { None } else { Some(file) };
        let renamed = fs::rename(&temporary, path);
        drop(held);
        renamed
    });
    if written.is_err() {
        // Report the first failure, not one of the cleanup.
        let _ = fs::remove_file(&temporary);
    } else if let Some(folder) = path.parent().filter(|_| is_durable) {
        // Not all file systems support this; the file is in place anyway.
        let _ = output::sync_dir(folder);
    }
    written
}

fn fill(file: &mut File, path: &Path, pieces: &[&[u8]], is_durable: bool) -> io::Result<()> {
    keep_permissions(file, path)?;
    pieces.iter().try_for_each(|piece| file.write_all(piece))?;
    if is_durable { skip_unsupported_sync(file.sync_all()) } else { Ok(()) }
}

/// Before anything is written, so that other users cannot read what the old file's permissions hid.
#[cfg(unix)]
fn keep_permissions(file: &File, path: &Path) -> io::Result<()> {
    use std::os::unix::fs::PermissionsExt;
    match fs::symlink_metadata(path) {
        // A symlink is replaced by a new file; its own permissions have no meaning.
        Ok(old) if old.is_file() => {
            let wanted = old.permissions().mode() & 0o7777;
            if file.metadata()?.permissions().mode() & 0o7777 == wanted {
                return Ok(());
            }
            file.set_permissions(fs::Permissions::from_mode(wanted))
        }
        _ => Ok(()),
    }
}

/// Elsewhere, the folder determines the permissions.
#[cfg(not(unix))]
fn keep_permissions(_: &File, _: &Path) -> io::Result<()> {
    Ok(())
}

/// A new file in the same directory, so that renaming it stays within one file system. `create_new` neither follows a symlink
/// that an attacker created nor takes over a file of another run.
fn create_beside(path: &Path) -> io::Result<(PathBuf, File)> {
    static COUNTER: AtomicU64 = AtomicU64::new(0);
    let name = path.file_name().ok_or(io::ErrorKind::InvalidInput)?;
    for _ in 0..MAX_ATTEMPTS {
        // All runs use this naming scheme, so that the next one recognises the temporary files of a killed one.
        let number = COUNTER.fetch_add(1, Ordering::Relaxed);
        let temporary = path.with_file_name(temporary_name(std::process::id(), number, name));
        match OpenOptions::new().write(true).create_new(true).open(&temporary) {
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
            Err(error) => return Err(error),
            // The lock shows processes that remove leftovers that this one is alive. If one of them removed the file before it
            // was locked, another file is created.
            Ok(file) => match file.try_lock() {
                Err(fs::TryLockError::WouldBlock) => {}
                _ if fs::symlink_metadata(&temporary).is_err() => {}
                // On a file system without locks, leftovers are not removed, so the file is safe.
                _ => return Ok((temporary, file)),
            },
        }
    }
    Err(io::ErrorKind::AlreadyExists.into())
}

#[cfg(test)]
mod tests {
    use crate::OsSystem;
    use crate::system::{System, WritableSystem};
    use crate::temporary::{remove_leftovers, temporary_name};

    #[cfg(unix)]
    #[test]
    fn a_replaced_file_keeps_its_permissions() {
        use std::os::unix::fs::PermissionsExt;
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("AGENTS.md");
        let mode = || std::fs::metadata(&path).unwrap().permissions().mode() & 0o7777;
        OsSystem.write_atomic(&path, b"new").unwrap();
        let usual = mode();
        for wanted in [0o600, 0o755, 0o640, usual] {
            std::fs::set_permissions(&path, std::fs::Permissions::from_mode(wanted)).unwrap();
            OsSystem.write_atomic(&path, b"one").unwrap();
            assert_eq!(mode(), wanted);
            OsSystem.write_atomic_durable(&path, b"two").unwrap();
            assert_eq!(mode(), wanted);
        }
        let link = directory.path().join("link");
        std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o600)).unwrap();
        std::os::unix::fs::symlink(&path, &link).unwrap();
        OsSystem.write_atomic(&link, b"a file of its own").unwrap();
        assert_eq!(std::fs::symlink_metadata(&link).unwrap().permissions().mode() & 0o7777, usual);
    }

    #[test]
    fn leftovers_are_removed_and_files_of_running_writers_are_kept() {
        let directory = tempfile::tempdir().unwrap();
        let left = directory.path().join(temporary_name(1, 0, "a"));
        let held = directory.path().join(temporary_name(2, 0, "a"));
        std::fs::write(&left, "half").unwrap();
        let writer = std::fs::File::create(&held).unwrap();
        writer.lock().unwrap();
        remove_leftovers(&OsSystem, directory.path(), &["a"]);
        assert!(OsSystem.lstat(&left).is_err() && OsSystem.lstat(&held).is_ok());
        drop(writer);
        remove_leftovers(&OsSystem, directory.path(), &["a"]);
        assert!(OsSystem.lstat(&held).is_err());
    }
}
