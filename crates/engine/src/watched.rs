//! A system that remembers whether anything failed in a way that says nothing about the files: a tired disk, too many
//! open files. What such a run saw must not be kept. Not a retry: the run goes on with the failure as its answer.

use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use stan_repo::{DirEntry, DirectoryFiles, OpenFile, Stat, System};

pub(crate) struct Watched<'s> {
    system: &'s dyn System,
    failed: Arc<AtomicBool>,
}

impl<'s> Watched<'s> {
    pub(crate) fn new(system: &'s dyn System) -> Self {
        Self { system, failed: Arc::default() }
    }

    /// Whether another run may see something else although no file changed.
    pub(crate) fn failed(&self) -> bool {
        self.failed.load(Ordering::Relaxed)
    }

    fn watch<T>(&self, result: io::Result<T>) -> io::Result<T> {
        watch(&self.failed, result)
    }
}

fn watch<T>(failed: &AtomicBool, result: io::Result<T>) -> io::Result<T> {
    if let Err(error) = &result
        && !is_an_answer(error.kind())
    {
        failed.store(true, Ordering::Relaxed);
    }
    result
}

/// The files of a directory, watched likewise.
struct WatchedFiles {
    files: Box<dyn DirectoryFiles>,
    failed: Arc<AtomicBool>,
}

impl DirectoryFiles for WatchedFiles {
    fn read(
        &self,
        name: &str,
        limit: u64,
        wants_stat: bool,
        buffer: &mut Vec<u8>,
    ) -> io::Result<(usize, Option<Stat>)> {
        watch(&self.failed, self.files.read(name, limit, wants_stat, buffer))
    }
}

/// Whether the failure tells something that stays as it is until somebody changes it.
fn is_an_answer(kind: io::ErrorKind) -> bool {
    matches!(
        kind,
        io::ErrorKind::NotFound
            | io::ErrorKind::NotADirectory
            | io::ErrorKind::IsADirectory
            | io::ErrorKind::PermissionDenied
            | io::ErrorKind::InvalidInput
            | io::ErrorKind::InvalidFilename
            | io::ErrorKind::FileTooLarge
    )
}

impl System for Watched<'_> {
    fn read_dir(&self, path: &Path) -> io::Result<Vec<DirEntry>> {
        self.watch(self.system.read_dir(path))
    }

    fn lstat(&self, path: &Path) -> io::Result<Stat> {
        self.watch(self.system.lstat(path))
    }

    fn read_into(&self, path: &Path, buffer: &mut Vec<u8>) -> io::Result<Stat> {
        self.watch(self.system.read_into(path, buffer))
    }

    fn read_at_most(&self, path: &Path, limit: u64, buffer: &mut Vec<u8>) -> io::Result<Stat> {
        self.watch(self.system.read_at_most(path, limit, buffer))
    }

    fn read_chunks(&self, path: &Path, take: &mut dyn FnMut(&[u8])) -> io::Result<Stat> {
        self.watch(self.system.read_chunks(path, take))
    }

    fn read_range(&self, path: &Path, offset: u64, buffer: &mut [u8]) -> io::Result<()> {
        self.watch(self.system.read_range(path, offset, buffer))
    }

    fn directory_files(&self, path: &Path) -> Option<Box<dyn DirectoryFiles>> {
        let files = self.system.directory_files(path)?;
        Some(Box::new(WatchedFiles { files, failed: self.failed.clone() }))
    }

    fn open(&self, path: &Path) -> io::Result<OpenFile> {
        self.watch(self.system.open(path))
    }

    fn open_real(&self, path: &Path) -> io::Result<OpenFile> {
        self.watch(self.system.open_real(path))
    }

    fn read_link(&self, path: &Path) -> io::Result<PathBuf> {
        self.watch(self.system.read_link(path))
    }

    fn now(&self) -> i64 {
        self.system.now()
    }
}
