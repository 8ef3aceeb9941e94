//! A system that reports every error to an observer and otherwise behaves like the one it wraps.

use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use stan_repo::{
    DirEntry, DirectoryFiles, InputFile, Links, OpenFile, Owner, Stat, System, SystemLayer, WritableLayer,
    WritableSystem,
};

/// Called on every read error. Must be cheap: most errors are ENOENT.
pub(crate) trait ErrorObserver: Send + Sync + 'static {
    fn observe(&self, path: &Path, error: &io::Error);
}

/// Reports failed reads of `system` to `notes`. Write errors are returned to the caller and need no observer.
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
}

impl<S: System + ?Sized, N: ErrorObserver> SystemLayer for ObservedSystem<'_, S, N> {
    type Inner = S;

    fn inner(&self) -> &S {
        self.system
    }

    fn list_dir(&self, path: &Path, links: Links) -> io::Result<Vec<DirEntry>> {
        self.watch(path, self.system.list_dir(path, links))
    }

    fn lstat(&self, path: &Path) -> io::Result<Stat> {
        self.watch(path, self.system.lstat(path))
    }

    fn owner(&self, path: &Path) -> io::Result<Owner> {
        self.watch(path, self.system.owner(path))
    }

    fn open_file(&self, path: &Path, links: Links) -> io::Result<OpenFile> {
        let file = self.watch(path, self.system.open_file(path, links))?;
        let notes = Arc::clone(&self.notes);
        Ok(OpenFile { reader: Box::new(ObservedFile { inner: file.reader, path: path.to_owned(), notes }), ..file })
    }

    fn read_file(&self, path: &Path, links: Links, limit: u64, buffer: &mut Vec<u8>) -> io::Result<Stat> {
        self.watch(path, self.system.read_file(path, links, limit, buffer))
    }

    fn directory_files(&self, path: &Path) -> Option<Box<dyn DirectoryFiles>> {
        let files = self.system.directory_files(path)?;
        Some(Box::new(ObservedFiles { files, folder: path.to_owned(), notes: Arc::clone(&self.notes) }))
    }

    fn read_link(&self, path: &Path) -> io::Result<PathBuf> {
        self.watch(path, self.system.read_link(path))
    }
}

impl<S: WritableSystem + ?Sized, N: ErrorObserver> WritableLayer for ObservedSystem<'_, S, N> {}

/// An open file whose read errors are reported too.
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

/// An open directory whose read errors are reported too.
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
