//! A system that reports every error to an observer. The caller gets the same answers as without.

use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use stan_repo::{
    Access, DirEntry, DirectoryFiles, HeldLock, InputFile, OpenFile, OutputFile, Owner, Stat, System, WritableSystem,
};

/// Is told of what went wrong while something was read. Most of it is only that a file does not exist, so this must be
/// cheap.
pub(crate) trait ErrorObserver: Send + Sync + 'static {
    fn observe(&self, path: &Path, error: &io::Error);
}

/// Reads through `system`, and lets `notes` know what fails. What is written says itself when it fails.
pub(crate) struct ObservedSystem<'s, S: ?Sized, N> {
    system: &'s S,
    pub(crate) notes: Arc<N>,
}

impl<'s, S: System + ?Sized, N: ErrorObserver> ObservedSystem<'s, S, N> {
    pub(crate) fn with(system: &'s S, notes: N) -> Self {
        Self { system, notes: Arc::new(notes) }
    }

    fn watch<T>(&self, path: &Path, result: io::Result<T>) -> io::Result<T> {
        result.inspect_err(|error| self.notes.observe(path, error))
    }

    fn opened(&self, path: &Path, result: io::Result<OpenFile>) -> io::Result<OpenFile> {
        let file = self.watch(path, result)?;
        let notes = Arc::clone(&self.notes);
        Ok(OpenFile { reader: Box::new(ObservedFile { inner: file.reader, path: path.to_owned(), notes }), ..file })
    }
}

impl<S: System + ?Sized, N: ErrorObserver> System for ObservedSystem<'_, S, N> {
    fn read_dir(&self, path: &Path) -> io::Result<Vec<DirEntry>> {
        self.watch(path, self.system.read_dir(path))
    }

    fn read_real_dir(&self, path: &Path) -> io::Result<Vec<DirEntry>> {
        self.watch(path, self.system.read_real_dir(path))
    }

    fn lstat(&self, path: &Path) -> io::Result<Stat> {
        self.watch(path, self.system.lstat(path))
    }

    fn owner(&self, path: &Path) -> io::Result<Owner> {
        self.watch(path, self.system.owner(path))
    }

    fn read_into(&self, path: &Path, buffer: &mut Vec<u8>) -> io::Result<Stat> {
        self.watch(path, self.system.read_into(path, buffer))
    }

    fn read_at_most(&self, path: &Path, limit: u64, buffer: &mut Vec<u8>) -> io::Result<Stat> {
        self.watch(path, self.system.read_at_most(path, limit, buffer))
    }

    fn read_chunks(&self, path: &Path, take: &mut dyn FnMut(&[u8])) -> io::Result<Stat> {
        self.watch(path, self.system.read_chunks(path, take))
    }

    fn read_range(&self, path: &Path, offset: u64, buffer: &mut [u8]) -> io::Result<()> {
        self.watch(path, self.system.read_range(path, offset, buffer))
    }

    fn directory_files(&self, path: &Path) -> Option<Box<dyn DirectoryFiles>> {
        let files = self.system.directory_files(path)?;
        Some(Box::new(ObservedFiles { files, folder: path.to_owned(), notes: Arc::clone(&self.notes) }))
    }

    fn open(&self, path: &Path) -> io::Result<OpenFile> {
        self.opened(path, self.system.open(path))
    }

    fn open_real(&self, path: &Path) -> io::Result<OpenFile> {
        self.opened(path, self.system.open_real(path))
    }

    fn read_real(&self, path: &Path, limit: u64, buffer: &mut Vec<u8>) -> io::Result<Stat> {
        self.watch(path, self.system.read_real(path, limit, buffer))
    }

    fn read_link(&self, path: &Path) -> io::Result<PathBuf> {
        self.watch(path, self.system.read_link(path))
    }

    fn now(&self) -> i64 {
        self.system.now()
    }
}

impl<S: WritableSystem + ?Sized, N: ErrorObserver> WritableSystem for ObservedSystem<'_, S, N> {
    fn write_atomic(&self, path: &Path, bytes: &[u8]) -> io::Result<()> {
        self.system.write_atomic(path, bytes)
    }

    fn write_atomic_durable(&self, path: &Path, bytes: &[u8]) -> io::Result<()> {
        self.system.write_atomic_durable(path, bytes)
    }

    fn create_dir_all(&self, path: &Path) -> io::Result<()> {
        self.system.create_dir_all(path)
    }

    fn create_private_dir_all(&self, path: &Path) -> io::Result<()> {
        self.system.create_private_dir_all(path)
    }

    fn random(&self, bytes: &mut [u8]) -> io::Result<()> {
        self.system.random(bytes)
    }

    fn process_token(&self) -> io::Result<String> {
        self.system.process_token()
    }

    fn is_running(&self, token: &str) -> Option<bool> {
        self.system.is_running(token)
    }

    fn permissions(&self, path: &Path) -> io::Result<u32> {
        self.system.permissions(path)
    }

    fn set_permissions(&self, path: &Path, mode: u32) -> io::Result<()> {
        self.system.set_permissions(path, mode)
    }

    fn remove_file(&self, path: &Path) -> io::Result<()> {
        self.system.remove_file(path)
    }

    fn create_new(&self, path: &Path, access: Access) -> io::Result<Box<dyn OutputFile>> {
        self.system.create_new(path, access)
    }

    fn rename(&self, from: &Path, to: &Path) -> io::Result<()> {
        self.system.rename(from, to)
    }

    fn remove_dir(&self, path: &Path) -> io::Result<()> {
        self.system.remove_dir(path)
    }

    fn sync_dir(&self, path: &Path) -> io::Result<()> {
        self.system.sync_dir(path)
    }

    fn try_lock(&self, path: &Path) -> io::Result<Option<Box<dyn HeldLock>>> {
        self.system.try_lock(path)
    }
}

/// An open file whose failures are noticed as well.
struct ObservedFile<N> {
    inner: Box<dyn InputFile>,
    path: PathBuf,
    notes: Arc<N>,
}

impl<N: ErrorObserver> ObservedFile<N> {
    fn watch<T>(&self, result: io::Result<T>) -> io::Result<T> {
        result.inspect_err(|error| self.notes.observe(&self.path, error))
    }
}

impl<N: ErrorObserver> io::Read for ObservedFile<N> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let result = self.inner.read(buffer);
        self.watch(result)
    }
}

impl<N: ErrorObserver> io::Seek for ObservedFile<N> {
    fn seek(&mut self, position: io::SeekFrom) -> io::Result<u64> {
        let result = self.inner.seek(position);
        self.watch(result)
    }
}

impl<N: ErrorObserver> InputFile for ObservedFile<N> {
    fn stat(&self) -> io::Result<Stat> {
        self.watch(self.inner.stat())
    }
}

/// The files of a directory, watched likewise.
struct ObservedFiles<N> {
    files: Box<dyn DirectoryFiles>,
    folder: PathBuf,
    notes: Arc<N>,
}

impl<N: ErrorObserver> ObservedFiles<N> {
    fn watch<T>(&self, name: &str, outcome: io::Result<T>) -> io::Result<T> {
        outcome.inspect_err(|error| self.notes.observe(&self.folder.join(name), error))
    }
}

impl<N: ErrorObserver> DirectoryFiles for ObservedFiles<N> {
    fn read(&self, name: &str, limit: u64, wants_stat: bool, buffer: &mut Vec<u8>) -> io::Result<Option<Stat>> {
        self.watch(name, self.files.read(name, limit, wants_stat, buffer))
    }

    fn lstat(&self, name: &str) -> io::Result<Stat> {
        self.watch(name, self.files.lstat(name))
    }
}
