//! Putting a file in place all at once on the real file system: a temporary file beside it, renamed over it.

use std::fs::{self, File, OpenOptions};
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};

use super::output;
use crate::advice::skip_unsupported_sync;
use crate::temporary::temporary_name;

/// How often another name is tried when one is taken.
const ATTEMPTS: usize = 100;

/// Readers see the old contents or the new. `is_durable`: the new ones are on the disk when this returns.
pub(super) fn replace(path: &Path, pieces: &[&[u8]], is_durable: bool) -> io::Result<()> {
    let (temporary, mut file) = create_beside(path)?;
    let written = fill(&mut file, path, pieces, is_durable).and_then(|()| {
        // Windows does not rename over a file that is open. Elsewhere the lock is held to the end.
        let held = if cfg!(windows) { None } else { Some(file) };
        let renamed = fs::rename(&temporary, path);
        drop(held);
        renamed
    });
    if written.is_err() {
        // The first failure is the one to report.
        let _ = fs::remove_file(&temporary);
    } else if let Some(folder) = path.parent().filter(|_| is_durable) {
        // Some file systems cannot; the name is in place all the same.
        let _ = output::sync_dir(folder);
    }
    written
}

fn fill(file: &mut File, path: &Path, pieces: &[&[u8]], is_durable: bool) -> io::Result<()> {
    keep_permissions(file, path)?;
    pieces.iter().try_for_each(|piece| file.write_all(piece))?;
    if is_durable { skip_unsupported_sync(file.sync_all()) } else { Ok(()) }
}

/// Before anything is written, so that no other user reads what the old file hid.
#[cfg(unix)]
fn keep_permissions(file: &File, path: &Path) -> io::Result<()> {
    use std::os::unix::fs::PermissionsExt;
    match fs::symlink_metadata(path) {
        // A link is replaced by a new file, and its own permissions mean nothing.
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

/// There, permissions are those of the folder.
#[cfg(not(unix))]
fn keep_permissions(_: &File, _: &Path) -> io::Result<()> {
    Ok(())
}

/// A new file in the same directory, so that renaming it cannot cross file systems. `create_new` neither follows a
/// link that an attacker put there nor takes over a file of another run.
fn create_beside(path: &Path) -> io::Result<(PathBuf, File)> {
    static COUNTER: AtomicU64 = AtomicU64::new(0);
    let name = path.file_name().ok_or(io::ErrorKind::InvalidInput)?;
    for _ in 0..ATTEMPTS {
        // The name that runs give to all their temporary files, so that the next one knows what a killed one left.
        let number = COUNTER.fetch_add(1, Ordering::Relaxed);
        let temporary = path.with_file_name(temporary_name(std::process::id(), number, name));
        match OpenOptions::new().write(true).create_new(true).open(&temporary) {
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
            Err(error) => return Err(error),
            // The lock shows a process that removes leftovers that this one is alive. One that came before the lock
            // removes the file: then another is made.
            Ok(file) => match file.try_lock() {
                Err(fs::TryLockError::WouldBlock) => {}
                _ if fs::symlink_metadata(&temporary).is_err() => {}
                // A file system without locks has no leftovers removed either.
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
    fn leftovers_go_and_writers_stay() {
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
