//! A system for calls that can be cancelled: after cancellation, every read and write fails with a transient I/O error. A verb
//! that runs over it ends soon and caches nothing incomplete, as after any transient error. So no verb has to check for
//! cancellation.

use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use stan_repo::{
    Access, DirEntry, DirectoryFiles, Links, OpenFile, OutputFile, Owner, Stat, SystemLayer, WritableLayer,
    WritableSystem,
};

/// Cancels a call. Clones refer to the same call.
#[derive(Clone, Debug, Default)]
pub struct Cancellation(Arc<AtomicBool>);

impl Cancellation {
    pub fn cancel(&self) {
        self.0.store(true, Ordering::Relaxed);
    }

    pub fn is_cancelled(&self) -> bool {
        self.0.load(Ordering::Relaxed)
    }

    /// The error kind counts as transient, and no reader retries it.
    fn check(&self) -> io::Result<()> {
        if self.is_cancelled() {
            Err(io::Error::new(io::ErrorKind::TimedOut, "the call was cancelled"))
        } else {
            Ok(())
        }
    }
}

/// A layer that can be cancelled; see the module.
pub struct CancellableSystem<'s> {
    system: &'s dyn WritableSystem,
    cancellation: Cancellation,
}

impl<'s> CancellableSystem<'s> {
    pub fn new(system: &'s dyn WritableSystem, cancellation: Cancellation) -> Self {
        Self { system, cancellation }
    }
}

impl<'s> SystemLayer for CancellableSystem<'s> {
    type Inner = dyn WritableSystem + 's;

    fn inner(&self) -> &Self::Inner {
        self.system
    }

    fn list_dir(&self, path: &Path, links: Links) -> io::Result<Vec<DirEntry>> {
        self.cancellation.check()?;
        self.system.list_dir(path, links)
    }

    fn lstat(&self, path: &Path) -> io::Result<Stat> {
        self.cancellation.check()?;
        self.system.lstat(path)
    }

    fn owner(&self, path: &Path) -> io::Result<Owner> {
        self.cancellation.check()?;
        self.system.owner(path)
    }

    fn open_file(&self, path: &Path, links: Links) -> io::Result<OpenFile> {
        self.cancellation.check()?;
        self.system.open_file(path, links)
    }

    fn read_file(&self, path: &Path, links: Links, limit: u64, buffer: &mut Vec<u8>) -> io::Result<Stat> {
        self.cancellation.check()?;
        self.system.read_file(path, links, limit, buffer)
    }

    fn directory_files(&self, path: &Path) -> Option<Box<dyn DirectoryFiles>> {
        let files = self.system.directory_files(path)?;
        Some(Box::new(CancellableFiles { files, cancellation: self.cancellation.clone() }))
    }

    fn read_link(&self, path: &Path) -> io::Result<PathBuf> {
        self.cancellation.check()?;
        self.system.read_link(path)
    }
}

/// Removing and unlocking still work, because they clean up.
impl WritableLayer for CancellableSystem<'_> {
    fn write_atomic(&self, path: &Path, bytes: &[u8]) -> io::Result<()> {
        self.cancellation.check()?;
        self.system.write_atomic(path, bytes)
    }

    fn write_atomic_pieces(&self, path: &Path, pieces: &[&[u8]]) -> io::Result<()> {
        self.cancellation.check()?;
        self.system.write_atomic_pieces(path, pieces)
    }

    fn write_atomic_durable(&self, path: &Path, bytes: &[u8]) -> io::Result<()> {
        self.cancellation.check()?;
        self.system.write_atomic_durable(path, bytes)
    }

    fn create_new(&self, path: &Path, access: Access) -> io::Result<Box<dyn OutputFile>> {
        self.cancellation.check()?;
        self.system.create_new(path, access)
    }

    fn rename(&self, from: &Path, to: &Path) -> io::Result<()> {
        self.cancellation.check()?;
        self.system.rename(from, to)
    }

    fn rename_real(&self, from: &Path, to: &Path) -> io::Result<()> {
        self.cancellation.check()?;
        self.system.rename_real(from, to)
    }
}

struct CancellableFiles {
    files: Box<dyn DirectoryFiles>,
    cancellation: Cancellation,
}

impl DirectoryFiles for CancellableFiles {
    fn read(&self, name: &str, limit: u64, wants_stat: bool, buffer: &mut Vec<u8>) -> io::Result<Option<Stat>> {
        self.cancellation.check()?;
        self.files.read(name, limit, wants_stat, buffer)
    }

    fn lstat(&self, name: &str) -> io::Result<Stat> {
        self.cancellation.check()?;
        self.files.lstat(name)
    }
}

#[cfg(test)]
mod tests {
    use stan_repo::{MemorySystem, System as _, SystemExt as _};

    use super::*;

    #[test]
    fn nothing_is_read_or_written_after_the_call_was_cancelled() {
        let files = MemorySystem::from_fixture("//- /r/a.ts\nexport const a = 1;\n");
        let cancellation = Cancellation::default();
        let layer = CancellableSystem::new(&files, cancellation.clone());
        let system: &dyn WritableSystem = &layer;
        let read = |buffer: &mut Vec<u8>| system.read_real(Path::new("/r/a.ts"), 100, buffer).map(drop);
        assert!(read(&mut Vec::new()).is_ok() && system.lstat(Path::new("/r")).is_ok());
        cancellation.cancel();
        let error = read(&mut Vec::new()).unwrap_err();
        assert!(stan_repo::is_transient(&error), "{error}");
        assert!(system.lstat(Path::new("/r")).is_err() && system.list_dir(Path::new("/r"), Links::Follow).is_err());
        assert!(system.write_atomic(Path::new("/r/b"), b"").is_err());
        assert!(files.lstat(Path::new("/r/b")).is_err());
    }
}
