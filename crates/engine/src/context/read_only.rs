//! A system that reads and pretends to write: plans run the same code as runs, and change nothing.

use std::io;
use std::path::Path;

use stan_repo::{Access, HeldLock, OutputFile, SystemLayer, WritableSystem};

pub(crate) struct ReadOnly<'s>(pub(crate) &'s dyn WritableSystem);

impl<'s> SystemLayer for ReadOnly<'s> {
    type Inner = dyn WritableSystem + 's;

    fn inner(&self) -> &Self::Inner {
        self.0
    }
}

/// The cache is the only thing that is written through this; that it stays as it was does no harm. This is not a
/// `WritableLayer`, which would forward what is forgotten here to the disk.
impl WritableSystem for ReadOnly<'_> {
    fn write_atomic(&self, _path: &Path, _bytes: &[u8]) -> io::Result<()> {
        Ok(())
    }

    fn write_atomic_durable(&self, _path: &Path, _bytes: &[u8]) -> io::Result<()> {
        Ok(())
    }

    fn create_dir_all(&self, _path: &Path) -> io::Result<()> {
        Ok(())
    }

    fn create_private_dir_all(&self, _path: &Path) -> io::Result<()> {
        Ok(())
    }

    fn remove_file(&self, _path: &Path) -> io::Result<()> {
        Ok(())
    }

    fn is_running(&self, _token: &str) -> Option<bool> {
        None
    }

    fn random(&self, _bytes: &mut [u8]) -> io::Result<()> {
        Err(io::ErrorKind::Unsupported.into())
    }

    fn process_token(&self) -> io::Result<String> {
        Err(io::ErrorKind::Unsupported.into())
    }

    fn permissions(&self, _path: &Path) -> io::Result<u32> {
        Err(io::ErrorKind::Unsupported.into())
    }

    fn set_permissions(&self, _path: &Path, _mode: u32) -> io::Result<()> {
        Err(io::ErrorKind::Unsupported.into())
    }

    fn create_new(&self, _path: &Path, _access: Access) -> io::Result<Box<dyn OutputFile>> {
        Err(io::ErrorKind::Unsupported.into())
    }

    fn rename(&self, _from: &Path, _to: &Path) -> io::Result<()> {
        Err(io::ErrorKind::Unsupported.into())
    }

    fn remove_dir(&self, _path: &Path) -> io::Result<()> {
        Err(io::ErrorKind::Unsupported.into())
    }

    fn sync_dir(&self, _path: &Path) -> io::Result<()> {
        Err(io::ErrorKind::Unsupported.into())
    }

    fn try_lock(&self, _path: &Path) -> io::Result<Option<Box<dyn HeldLock>>> {
        Err(io::ErrorKind::Unsupported.into())
    }
}
