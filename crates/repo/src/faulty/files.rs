//! Open files and locks of the system with injected faults.

use std::io::{self, Read, Seek, SeekFrom, Write};
use std::path::PathBuf;
use std::sync::Arc;

use super::plan::{Effect, EffectResult, Fault, Plan};
use crate::system::{HeldLock, InputFile, OutputFile, Stat};

/// An open file or lock, and the plan that decides which of its effects fail.
pub(super) struct Faulty<T> {
    pub(super) inner: T,
    pub(super) plan: Arc<Plan>,
    pub(super) path: PathBuf,
}

impl<T> Faulty<T> {
    fn next(&self, effect: Effect) -> EffectResult {
        self.plan.next(effect, &self.path)
    }

    fn check(&self, effect: Effect) -> io::Result<()> {
        match self.next(effect) {
            EffectResult::Fail(error) => Err(error),
            EffectResult::Fine | EffectResult::Odd => Ok(()),
        }
    }
}

impl Read for Faulty<Box<dyn InputFile>> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let mut length = buffer.len();
        match self.next(Effect::ReadPiece) {
            EffectResult::Fail(error) => return Err(error),
            EffectResult::Odd => length = length.div_ceil(2),
            EffectResult::Fine => {}
        }
        // A file that changed ends at another position than the inner one.
        let position = self.inner.stream_position()?;
        let underneath = usize::try_from(self.inner.stat()?.size).unwrap_or(usize::MAX);
        let end = self.plan.length_of(&self.path, underneath)? as u64;
        let left = usize::try_from(end.saturating_sub(position)).unwrap_or(usize::MAX);
        let part = buffer.get_mut(..length.min(left)).unwrap_or_default();
        let count = self.inner.read(part)?;
        if count > 0 || part.is_empty() || (end as usize) <= underneath {
            return Ok(count);
        }
        part.fill(b'\n');
        let grown = part.len();
        self.inner.seek(SeekFrom::Current(i64::try_from(grown).unwrap_or_default()))?;
        Ok(grown)
    }
}

impl Seek for Faulty<Box<dyn InputFile>> {
    fn seek(&mut self, to: SeekFrom) -> io::Result<u64> {
        self.inner.seek(to)
    }
}

impl InputFile for Faulty<Box<dyn InputFile>> {
    fn stat(&self) -> io::Result<Stat> {
        // A stat cannot be interrupted or short.
        if !matches!(self.plan.fault(), Fault::Interrupted | Fault::Short) {
            self.check(Effect::ReadPiece)?;
        }
        let stat = self.inner.stat()?;
        let length = usize::try_from(stat.size).unwrap_or(usize::MAX);
        // An open file stays accessible after its name is removed.
        let size = self.plan.length_of(&self.path, length).unwrap_or(length) as u64;
        Ok(Stat { size, ..stat })
    }
}

impl Write for Faulty<Box<dyn OutputFile>> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        match self.next(Effect::Write) {
            EffectResult::Fine => self.inner.write(bytes),
            EffectResult::Odd if self.plan.fault() == Fault::NothingWritten => Ok(0),
            EffectResult::Odd => self.inner.write(bytes.get(..bytes.len().div_ceil(2)).unwrap_or_default()),
            EffectResult::Fail(error) => {
                // A full disk takes a part of the bytes before it returns ENOSPC; other errors may too.
                if error.kind() != io::ErrorKind::Interrupted {
                    self.inner.write_all(bytes.get(..bytes.len() / 2).unwrap_or_default())?;
                }
                Err(error)
            }
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        self.inner.flush()
    }
}

impl OutputFile for Faulty<Box<dyn OutputFile>> {
    fn sync(&mut self) -> io::Result<()> {
        self.check(Effect::Sync)?;
        self.inner.sync()
    }

    fn share(&mut self) -> io::Result<()> {
        self.inner.share()
    }
}

impl HeldLock for Faulty<Box<dyn HeldLock>> {
    fn describe(&mut self, holder: &str) -> io::Result<()> {
        self.check(Effect::DescribeLock)?;
        self.inner.describe(holder)
    }
}
