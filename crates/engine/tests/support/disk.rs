//! An editable disk: the real one in a temporary directory, or one in memory with a clock that the test controls.
//!
//! Impossible edits (a file below a file) are ignored: random sequences contain many of them.
#![expect(clippy::disallowed_methods, reason = "tests edit real directories")]

use std::fs;
use std::path::{Path, PathBuf};

use stan_repo::{
    EntryKind, MemorySystem, OsSystem, System, SystemExt as _, SystemLayer, WritableLayer, WritableSystem,
};
use stan_testkit::Git;

use super::edits::Corruption;

pub(crate) trait Disk {
    fn system(&self) -> &dyn WritableSystem;

    /// Absolute real path of the repository.
    fn root(&self) -> &str;

    /// Changes contents in place, so that the inode stays the same.
    fn write(&self, path: &str, bytes: &[u8]);

    fn remove(&self, path: &str);

    fn rename(&self, from: &str, to: &str);

    fn link(&self, path: &str, target: &str);

    /// Restores the `mtime` from before an edit.
    fn set_mtime(&self, path: &str, mtime: i64);

    fn set_readable(&self, path: &str, readable: bool);

    fn git(&self, arguments: &[&str]);

    /// Advances the clock by this much.
    fn wait(&self, nanoseconds: i64);

    /// The folder of the user's key, beside the repository.
    fn state_directory(&self) -> String {
        format!("{}-state", self.root())
    }

    fn absolute(&self, path: &str) -> PathBuf {
        Path::new(self.root()).join(path)
    }

    fn read(&self, path: &str) -> Option<Vec<u8>> {
        let mut bytes = Vec::new();
        self.system().read_into(&self.absolute(path), &mut bytes).ok()?;
        Some(bytes)
    }

    fn corrupt(&self, directory: &str, how: Corruption) {
        how.apply(self, directory);
    }
}

/// The real file system. Its clock is either real, or far ahead, so that no stat is too recent to be trusted.
pub(crate) struct RealDisk {
    root: String,
    directory: tempfile::TempDir,
    system: Box<dyn WritableSystem>,
    settled: bool,
}

impl RealDisk {
    pub(crate) fn new(settled: bool) -> Self {
        let directory = tempfile::tempdir().expect("temporary directories can be made");
        let root = directory.path().canonicalize().expect("it was just made").join("r");
        fs::create_dir(&root).expect("it is empty");
        let system: Box<dyn WritableSystem> = if settled { Box::new(Ahead) } else { Box::new(OsSystem) };
        Self { root: root.to_str().expect("temporary paths are UTF-8").to_owned(), directory, system, settled }
    }
}

impl Disk for RealDisk {
    fn system(&self) -> &dyn WritableSystem {
        &*self.system
    }

    fn root(&self) -> &str {
        &self.root
    }

    fn write(&self, path: &str, bytes: &[u8]) {
        let path = self.absolute(path);
        if let Some(parent) = path.parent()
            && fs::create_dir_all(parent).is_ok()
        {
            let _ = fs::write(path, bytes);
        }
    }

    fn remove(&self, path: &str) {
        let path = self.absolute(path);
        if fs::remove_file(&path).is_err() {
            let _ = fs::remove_dir_all(path);
        }
    }

    fn rename(&self, from: &str, to: &str) {
        let to = self.absolute(to);
        if let Some(parent) = to.parent() {
            let _ = fs::create_dir_all(parent);
        }
        let _ = fs::rename(self.absolute(from), to);
    }

    fn link(&self, path: &str, target: &str) {
        let path = self.absolute(path);
        if let Some(parent) = path.parent() {
            let _ = fs::create_dir_all(parent);
        }
        let _ = fs::remove_file(&path);
        #[cfg(unix)]
        let _ = std::os::unix::fs::symlink(target, path);
    }

    fn set_mtime(&self, path: &str, mtime: i64) {
        let time = std::time::UNIX_EPOCH + std::time::Duration::from_nanos(mtime.unsigned_abs());
        if let Ok(file) = fs::File::options().write(true).open(self.absolute(path)) {
            let _ = file.set_modified(time);
        }
    }

    fn set_readable(&self, path: &str, readable: bool) {
        #[cfg(unix)]
        {
            use std::os::unix::fs::PermissionsExt;
            let mode = if readable { 0o644 } else { 0 };
            if self.absolute(path).is_file() {
                let _ = fs::set_permissions(self.absolute(path), fs::Permissions::from_mode(mode));
            }
        }
    }

    fn git(&self, arguments: &[&str]) {
        let _ = Git::new(self.directory.path()).command(&self.root).args(arguments).output();
    }

    fn wait(&self, _: i64) {
        if self.settled {
            // Longer than the kernel's clock tick for file times.
            std::thread::sleep(std::time::Duration::from_millis(11));
        }
    }
}

/// The real file system with a clock that is an hour ahead. Everything except the clock is production code.
struct Ahead;

impl SystemLayer for Ahead {
    type Inner = OsSystem;

    fn inner(&self) -> &OsSystem {
        &OsSystem
    }

    fn now(&self) -> i64 {
        OsSystem.now() + 3_600_000_000_000
    }
}

impl WritableLayer for Ahead {}

/// An in-memory disk: fast, with the same permissions for every user, and with a clock that only the test advances.
pub(crate) struct MemoryDisk {
    system: MemorySystem,
}

impl MemoryDisk {
    pub(crate) fn new() -> Self {
        let system = MemorySystem::new();
        system.set_now(1_000_000_000_000).set_dir(super::ROOT);
        Self { system }
    }

    fn copy(&self, from: &Path, to: &Path) {
        let Ok(stat) = self.system.lstat(from) else { return };
        match stat.kind {
            EntryKind::Dir => {
                let _ = self.system.create_dir_all(to);
                for entry in self.system.read_dir(from).unwrap_or_default() {
                    self.copy(&from.join(&entry.name), &to.join(&entry.name));
                }
            }
            EntryKind::Link => {
                if let Ok(target) = self.system.read_link(from) {
                    self.system.set_link(to, target);
                }
            }
            EntryKind::File => {
                let mut bytes = Vec::new();
                if self.system.read_into(from, &mut bytes).is_ok() {
                    let _ = self.system.write_atomic(to, &bytes);
                }
            }
            EntryKind::Other => {}
        }
    }
}

impl Disk for MemoryDisk {
    fn system(&self) -> &dyn WritableSystem {
        &self.system
    }

    fn root(&self) -> &str {
        super::ROOT
    }

    fn write(&self, path: &str, bytes: &[u8]) {
        let path = self.absolute(path);
        let is_dir = self.system.lstat(&path).is_ok_and(|stat| stat.kind == EntryKind::Dir);
        if let Some(parent) = path.parent()
            && !is_dir
            && self.system.create_dir_all(parent).is_ok()
        {
            let _ = self.system.write_atomic(&path, bytes);
        }
    }

    fn remove(&self, path: &str) {
        let path = self.absolute(path);
        if self.system.lstat(&path).is_ok() {
            self.system.remove(path);
        }
    }

    fn rename(&self, from: &str, to: &str) {
        let (from, to) = (self.absolute(from), self.absolute(to));
        let parent_is_there = to.parent().is_some_and(|parent| self.system.create_dir_all(parent).is_ok());
        if !to.starts_with(&from)
            && parent_is_there
            && self.system.lstat(&from).is_ok()
            && self.system.lstat(&to).is_err()
        {
            self.copy(&from, &to);
            self.system.remove(&from);
        }
    }

    fn link(&self, path: &str, target: &str) {
        let path = self.absolute(path);
        let is_dir = self.system.lstat(&path).is_ok_and(|stat| stat.kind == EntryKind::Dir);
        if let Some(parent) = path.parent()
            && !is_dir
            && self.system.create_dir_all(parent).is_ok()
        {
            self.system.set_link(path, target);
        }
    }

    fn set_mtime(&self, path: &str, mtime: i64) {
        let path = self.absolute(path);
        if self.system.lstat(&path).is_ok() {
            self.system.set_times(path, mtime, self.system.now());
        }
    }

    fn set_readable(&self, path: &str, readable: bool) {
        let path = self.absolute(path);
        if self.system.lstat(&path).is_ok() {
            self.system.set_unreadable(path, !readable);
        }
    }

    /// There is no git in memory, but an empty repository can be created by hand.
    fn git(&self, arguments: &[&str]) {
        if arguments == ["init"] {
            self.write(".git/HEAD", b"ref: refs/heads/main\n");
            self.system.set_dir(self.absolute(".git/objects")).set_dir(self.absolute(".git/refs"));
        }
    }

    fn wait(&self, nanoseconds: i64) {
        self.system.set_now(self.system.now() + nanoseconds);
    }
}
