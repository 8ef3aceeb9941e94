//! A system that reads and pretends to write: plans run the same code as runs, and change nothing.

use std::io;
use std::path::{Path, PathBuf};

use stan_repo::{DirEntry, DirectoryFiles, OpenFile, Owner, Stat, System, WritableSystem};

pub(crate) struct ReadOnly<'s>(pub(crate) &'s dyn WritableSystem);

impl System for ReadOnly<'_> {
    fn read_dir(&self, path: &Path) -> io::Result<Vec<DirEntry>> {
        self.0.read_dir(path)
    }

    fn read_real_dir(&self, path: &Path) -> io::Result<Vec<DirEntry>> {
        self.0.read_real_dir(path)
    }

    fn lstat(&self, path: &Path) -> io::Result<Stat> {
        self.0.lstat(path)
    }

    fn owner(&self, path: &Path) -> io::Result<Owner> {
        self.0.owner(path)
    }

    fn read_into(&self, path: &Path, buffer: &mut Vec<u8>) -> io::Result<Stat> {
        self.0.read_into(path, buffer)
    }

    fn read_at_most(&self, path: &Path, limit: u64, buffer: &mut Vec<u8>) -> io::Result<Stat> {
        self.0.read_at_most(path, limit, buffer)
    }

    fn read_chunks(&self, path: &Path, take: &mut dyn FnMut(&[u8])) -> io::Result<Stat> {
        self.0.read_chunks(path, take)
    }

    fn open(&self, path: &Path) -> io::Result<OpenFile> {
        self.0.open(path)
    }

    fn open_real(&self, path: &Path) -> io::Result<OpenFile> {
        self.0.open_real(path)
    }

    fn read_real(&self, path: &Path, limit: u64, buffer: &mut Vec<u8>) -> io::Result<Stat> {
        self.0.read_real(path, limit, buffer)
    }

    fn read_range(&self, path: &Path, offset: u64, buffer: &mut [u8]) -> io::Result<()> {
        self.0.read_range(path, offset, buffer)
    }

    fn directory_files(&self, path: &Path) -> Option<Box<dyn DirectoryFiles>> {
        self.0.directory_files(path)
    }

    fn read_link(&self, path: &Path) -> io::Result<PathBuf> {
        self.0.read_link(path)
    }

    fn now(&self) -> i64 {
        self.0.now()
    }
}

/// The cache is the only thing that is written through this; that it stays as it was does no harm.
impl WritableSystem for ReadOnly<'_> {
    fn write_atomic(&self, _path: &Path, _bytes: &[u8]) -> io::Result<()> {
        Ok(())
    }

    fn create_dir_all(&self, _path: &Path) -> io::Result<()> {
        Ok(())
    }

    fn remove_file(&self, _path: &Path) -> io::Result<()> {
        Ok(())
    }
}
