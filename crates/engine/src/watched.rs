//! A system that remembers whether anything failed in a way that says nothing about the files: a tired disk, too many
//! open files. What such a run saw must not be kept. Not a retry: the run goes on with the failure as its answer.

use std::io;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use stan_repo::{DirEntry, DirectoryFiles, InputFile, OpenFile, Stat, System, advice, is_passing};

pub(crate) struct Watched<'s> {
    system: &'s dyn System,
    failures: Arc<Failures>,
}

#[derive(Default)]
struct Failures {
    failed: AtomicBool,
    /// The first one that may be gone a moment later: its path, and what to do about it.
    passing: Mutex<Option<(PathBuf, String)>>,
}

/// Is told of what went wrong with a file.
pub(crate) trait Notice: Send + Sync {
    fn notice(&self, path: &Path, error: &io::Error);
}

/// An open file whose failures are noticed as well.
pub(crate) struct NoticedFile<N> {
    pub(crate) inner: Box<dyn InputFile>,
    pub(crate) path: PathBuf,
    pub(crate) failures: Arc<N>,
}

impl<N: Notice> NoticedFile<N> {
    fn watch<T>(&self, result: io::Result<T>) -> io::Result<T> {
        result.inspect_err(|error| self.failures.notice(&self.path, error))
    }
}

impl<N: Notice> io::Read for NoticedFile<N> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let result = self.inner.read(buffer);
        self.watch(result)
    }
}

impl<N: Notice> io::Seek for NoticedFile<N> {
    fn seek(&mut self, position: io::SeekFrom) -> io::Result<u64> {
        let result = self.inner.seek(position);
        self.watch(result)
    }
}

impl<N: Notice> InputFile for NoticedFile<N> {
    fn stat(&self) -> io::Result<Stat> {
        self.watch(self.inner.stat())
    }
}

impl Notice for Failures {
    fn notice(&self, path: &Path, error: &io::Error) {
        if !is_an_answer(error.kind()) {
            self.failed.store(true, Ordering::Relaxed);
        }
        if is_passing(error) {
            let mut first = self.passing.lock().unwrap_or_else(PoisonError::into_inner);
            first.get_or_insert_with(|| (path.to_owned(), advice(error)));
        }
    }
}

impl Failures {
    fn watch<T>(&self, path: impl FnOnce() -> PathBuf, result: io::Result<T>) -> io::Result<T> {
        result.inspect_err(|error| self.notice(&path(), error))
    }
}

impl<'s> Watched<'s> {
    pub(crate) fn new(system: &'s dyn System) -> Self {
        Self { system, failures: Arc::default() }
    }

    /// Whether another run may see something else although no file changed.
    pub(crate) fn failed(&self) -> bool {
        self.failures.failed.load(Ordering::Relaxed)
    }

    /// What a moment's failure hid: its path, and what to do about it.
    pub(crate) fn hidden(&self) -> Option<(PathBuf, String)> {
        self.failures.passing.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    fn noticed(&self, path: &Path, file: OpenFile) -> OpenFile {
        let failures = Arc::clone(&self.failures);
        OpenFile { reader: Box::new(NoticedFile { inner: file.reader, path: path.to_owned(), failures }), ..file }
    }

    fn watch<T>(&self, path: &Path, result: io::Result<T>) -> io::Result<T> {
        self.failures.watch(|| path.to_owned(), result)
    }
}

/// The files of a directory, watched likewise.
struct WatchedFiles {
    files: Box<dyn DirectoryFiles>,
    folder: PathBuf,
    failures: Arc<Failures>,
}

impl DirectoryFiles for WatchedFiles {
    fn read(
        &self,
        name: &str,
        limit: u64,
        wants_stat: bool,
        buffer: &mut Vec<u8>,
    ) -> io::Result<(usize, Option<Stat>)> {
        self.failures.watch(|| self.folder.join(name), self.files.read(name, limit, wants_stat, buffer))
    }
}

/// Whether the failure tells something that stays as it is until somebody changes it. A denial does not: the same file,
/// its stat as it was, may be open to the next user.
fn is_an_answer(kind: io::ErrorKind) -> bool {
    matches!(
        kind,
        io::ErrorKind::NotFound
            | io::ErrorKind::NotADirectory
            | io::ErrorKind::IsADirectory
            | io::ErrorKind::InvalidInput
            | io::ErrorKind::InvalidFilename
            | io::ErrorKind::FileTooLarge
    )
}

impl System for Watched<'_> {
    fn read_dir(&self, path: &Path) -> io::Result<Vec<DirEntry>> {
        self.watch(path, self.system.read_dir(path))
    }

    fn lstat(&self, path: &Path) -> io::Result<Stat> {
        self.watch(path, self.system.lstat(path))
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
        Some(Box::new(WatchedFiles { files, folder: path.to_owned(), failures: Arc::clone(&self.failures) }))
    }

    fn open(&self, path: &Path) -> io::Result<OpenFile> {
        self.watch(path, self.system.open(path)).map(|file| self.noticed(path, file))
    }

    fn open_real(&self, path: &Path) -> io::Result<OpenFile> {
        self.watch(path, self.system.open_real(path)).map(|file| self.noticed(path, file))
    }

    fn read_link(&self, path: &Path) -> io::Result<PathBuf> {
        self.watch(path, self.system.read_link(path))
    }

    fn now(&self) -> i64 {
        self.system.now()
    }
}
