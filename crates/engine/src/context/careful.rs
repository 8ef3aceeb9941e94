//! A system that remembers whether something could not be read for a reason that passes: a tired disk, too many open
//! files. Much of what a verb looks at is data, and a folder that cannot be listed is left out with a warning; but what a
//! moment's failure hides must be missing neither from an archive nor from a baseline. So a verb that writes asks here
//! before it puts anything in place. Not a retry: the user runs again.

use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use stan_repo::{
    Access, DirEntry, DirectoryFiles, HeldLock, OpenFile, OutputFile, Stat, System, WritableSystem, advice, is_passing,
};

use super::refusal::Refusal;
use crate::watched::{Notice, NoticedFile};

pub(crate) struct Careful<'s> {
    system: &'s dyn WritableSystem,
    /// What cannot be read in here is made again, and nobody need know.
    cache: Option<PathBuf>,
    failures: Arc<Failures>,
}

/// The first failure: its path, and what to do about it.
#[derive(Default)]
struct Failures(Mutex<Option<(PathBuf, String)>>);

impl Notice for Failures {
    fn notice(&self, path: &Path, error: &io::Error) {
        if is_passing(error) {
            let mut first = self.0.lock().unwrap_or_else(PoisonError::into_inner);
            first.get_or_insert_with(|| (path.to_owned(), advice(error)));
        }
    }
}

impl<'s> Careful<'s> {
    pub(crate) fn new(system: &'s dyn WritableSystem, cache: Option<&str>) -> Self {
        Self { system, cache: cache.map(PathBuf::from), failures: Arc::default() }
    }

    /// Refuses to go on when something was not seen.
    pub(crate) fn has_seen_everything(&self) -> Result<(), Refusal> {
        match &*self.failures.0.lock().unwrap_or_else(PoisonError::into_inner) {
            None => Ok(()),
            Some((path, advice)) => Err(Refusal::input(format!("`{}` could not be read: {advice}", path.display()))
                .hint("nothing was changed, because it might be missing from what is written")),
        }
    }

    fn watch<T>(&self, path: &Path, result: io::Result<T>) -> io::Result<T> {
        // Comparing paths takes longer than most looks do: only for what failed.
        result.inspect_err(|error| {
            if !self.is_cache(path) {
                self.failures.notice(path, error);
            }
        })
    }

    fn is_cache(&self, path: &Path) -> bool {
        self.cache.as_ref().is_some_and(|cache| path.starts_with(cache))
    }

    fn noticed(&self, path: &Path, file: OpenFile) -> OpenFile {
        if self.is_cache(path) {
            return file;
        }
        let failures = Arc::clone(&self.failures);
        OpenFile { reader: Box::new(NoticedFile { inner: file.reader, path: path.to_owned(), failures }), ..file }
    }
}

impl System for Careful<'_> {
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

    fn open(&self, path: &Path) -> io::Result<OpenFile> {
        self.watch(path, self.system.open(path)).map(|file| self.noticed(path, file))
    }

    fn open_real(&self, path: &Path) -> io::Result<OpenFile> {
        self.watch(path, self.system.open_real(path)).map(|file| self.noticed(path, file))
    }

    fn read_range(&self, path: &Path, offset: u64, buffer: &mut [u8]) -> io::Result<()> {
        self.watch(path, self.system.read_range(path, offset, buffer))
    }

    fn directory_files(&self, path: &Path) -> Option<Box<dyn DirectoryFiles>> {
        let files = self.system.directory_files(path)?;
        Some(Box::new(CarefulFiles { files, folder: path.to_owned(), failures: Arc::clone(&self.failures) }))
    }

    fn read_link(&self, path: &Path) -> io::Result<PathBuf> {
        self.watch(path, self.system.read_link(path))
    }

    fn now(&self) -> i64 {
        self.system.now()
    }
}

/// The files of a directory, watched likewise.
struct CarefulFiles {
    files: Box<dyn DirectoryFiles>,
    folder: PathBuf,
    failures: Arc<Failures>,
}

impl DirectoryFiles for CarefulFiles {
    fn read(
        &self,
        name: &str,
        limit: u64,
        wants_stat: bool,
        buffer: &mut Vec<u8>,
    ) -> io::Result<(usize, Option<Stat>)> {
        let read = self.files.read(name, limit, wants_stat, buffer);
        read.inspect_err(|error| self.failures.notice(&self.folder.join(name), error))
    }
}

/// What writes says itself when it fails.
impl WritableSystem for Careful<'_> {
    fn write_atomic(&self, path: &Path, bytes: &[u8]) -> io::Result<()> {
        self.system.write_atomic(path, bytes)
    }

    fn write_atomic_durable(&self, path: &Path, bytes: &[u8]) -> io::Result<()> {
        self.system.write_atomic_durable(path, bytes)
    }

    fn create_dir_all(&self, path: &Path) -> io::Result<()> {
        self.system.create_dir_all(path)
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
