//! Fault injection: a layer around any system in which the k-th call that a fault applies to fails, once or from then on. For
//! tests of everything that writes.
//!
//! Not a model of one file system: faults occur wherever some file system may have them. `write_atomic` is split into the steps
//! of the real one, so that each of them can fail.

mod files;
mod plan;

use std::ffi::OsStr;
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use self::files::Faulty;
pub use self::plan::{Effect, Fault};
use self::plan::{EffectResult, Plan};
use crate::advice::skip_unsupported_sync;
use crate::system::{
    Access, DirEntry, DirectoryFiles, EntryKind, HeldLock, Links, OpenFile, OutputFile, Owner, Stat, System,
    WritableSystem, append,
};
use crate::temporary::temporary_name;

/// A name in listings for which no file exists.
const GHOST: &str = "zz-ghost.ts";

/// How far the clock is set back, in nanoseconds: an hour.
const BACK: i64 = 3_600_000_000_000;

/// A system that injects one fault.
pub struct FaultySystem<'s> {
    inner: &'s dyn WritableSystem,
    plan: Arc<Plan>,
    next_temporary: AtomicU64,
}

impl<'s> FaultySystem<'s> {
    /// Injects `fault` into the `at`-th call that it applies to (0-based). `lasting`: into all later ones too, so that even the
    /// cleanup fails, as after a kill.
    pub fn new(inner: &'s dyn WritableSystem, fault: Fault, at: usize, lasting: bool) -> Self {
        Self { inner, plan: Arc::new(Plan::new(fault, at, lasting)), next_temporary: AtomicU64::new(0) }
    }

    /// The number of calls so far that the fault applies to.
    pub fn positions(&self) -> usize {
        self.plan.positions()
    }

    /// The calls with an injected fault, in order, each with its path.
    pub fn injected(&self) -> Vec<(Effect, PathBuf)> {
        self.plan.injected()
    }

    /// Fails if the fault is due.
    fn check(&self, effect: Effect, path: &Path) -> io::Result<()> {
        match self.plan.next(effect, path) {
            EffectResult::Fail(error) => Err(error),
            EffectResult::Fine | EffectResult::Odd => Ok(()),
        }
    }

    fn wrap<T>(&self, inner: T, path: &Path) -> Box<Faulty<T>> {
        Box::new(Faulty { inner, plan: Arc::clone(&self.plan), path: path.to_owned() })
    }

    /// Applies the fault's change to the bytes of a file, as if it had changed after its last stat.
    fn altered(&self, path: &Path, stat: Stat, buffer: &mut Vec<u8>, start: usize) -> io::Result<Stat> {
        let length = buffer.len().saturating_sub(start);
        match self.plan.length_of(path, length)? {
            same if same == length => Ok(stat),
            other => {
                buffer.resize(start + other, b'\n');
                Ok(Stat { size: other as u64, ..stat })
            }
        }
    }

    fn write_steps(&self, path: &Path, bytes: &[u8], is_durable: bool) -> io::Result<()> {
        let name = path.file_name().ok_or(io::ErrorKind::InvalidInput)?;
        let temporary = path.with_file_name(self.temporary_name(name));
        let mut file = self.create_new(&temporary, Access::Shared)?;
        let written =
            file.write_all(bytes).and_then(|()| if is_durable { skip_unsupported_sync(file.sync()) } else { Ok(()) });
        drop(file);
        let placed = written.and_then(|()| self.rename(&temporary, path));
        if placed.is_err() {
            // As in the real system, the first failure is reported.
            let _ = self.remove_file(&temporary);
        }
        placed
    }

    fn temporary_name(&self, target: &OsStr) -> std::ffi::OsString {
        temporary_name(0, self.next_temporary.fetch_add(1, Ordering::Relaxed), target)
    }
}

impl FaultySystem<'_> {
    fn opened(&self, path: &Path, file: OpenFile) -> io::Result<OpenFile> {
        let OpenFile { mut stat, executable, private, reader } = file;
        let length = usize::try_from(stat.size).unwrap_or(usize::MAX);
        stat.size = self.plan.length_of(path, length)? as u64;
        Ok(OpenFile { stat, executable, private, reader: self.wrap(reader, path) })
    }
}

impl System for FaultySystem<'_> {
    fn list_dir(&self, path: &Path, links: Links) -> io::Result<Vec<DirEntry>> {
        let outcome = self.plan.next(Effect::List, path);
        if let EffectResult::Fail(error) = outcome {
            return Err(error);
        }
        let mut entries = self.inner.list_dir(path, links)?;
        if matches!(outcome, EffectResult::Odd) {
            entries.push(DirEntry { name: GHOST.into(), kind: EntryKind::File });
        }
        Ok(entries)
    }

    fn lstat(&self, path: &Path) -> io::Result<Stat> {
        let outcome = self.plan.next(Effect::Stat, path);
        if let EffectResult::Fail(error) = outcome {
            return Err(error);
        }
        let mut stat = self.inner.lstat(path)?;
        if matches!(outcome, EffectResult::Odd) {
            stat.mtime -= BACK;
            stat.ctime -= BACK;
        }
        if stat.kind == EntryKind::File {
            let length = usize::try_from(stat.size).unwrap_or(usize::MAX);
            stat.size = self.plan.length_of(path, length)? as u64;
            self.plan.after_stat(path);
        }
        Ok(stat)
    }

    fn owner(&self, path: &Path) -> io::Result<Owner> {
        self.inner.owner(path)
    }

    fn open_file(&self, path: &Path, links: Links) -> io::Result<OpenFile> {
        self.check(Effect::Read, path)?;
        self.opened(path, self.inner.open_file(path, links)?)
    }

    /// A file behind symlinks is read in one call; others in pieces, so that a piece can be short or fail.
    fn read_file(&self, path: &Path, links: Links, limit: u64, buffer: &mut Vec<u8>) -> io::Result<Stat> {
        if links == Links::Refuse {
            return append(self.open_file(path, links)?, limit, buffer);
        }
        self.check(Effect::Read, path)?;
        let start = buffer.len();
        let stat = self.inner.read_file(path, links, limit, buffer)?;
        let stat = self.altered(path, stat, buffer, start)?;
        if stat.size > limit {
            buffer.truncate(start);
            return Err(io::ErrorKind::FileTooLarge.into());
        }
        Ok(stat)
    }

    /// No handle, so that all files are accessed by path and reach the plan.
    fn directory_files(&self, _path: &Path) -> Option<Box<dyn DirectoryFiles>> {
        None
    }

    fn read_link(&self, path: &Path) -> io::Result<PathBuf> {
        self.check(Effect::ReadLink, path)?;
        self.inner.read_link(path)
    }

    fn now(&self) -> i64 {
        match self.plan.next(Effect::Now, Path::new("")) {
            EffectResult::Odd => self.inner.now() - BACK,
            EffectResult::Fine | EffectResult::Fail(_) => self.inner.now(),
        }
    }
}

impl WritableSystem for FaultySystem<'_> {
    fn write_atomic(&self, path: &Path, bytes: &[u8]) -> io::Result<()> {
        self.write_steps(path, bytes, false)
    }

    fn write_atomic_pieces(&self, path: &Path, pieces: &[&[u8]]) -> io::Result<()> {
        self.write_steps(path, &pieces.concat(), false)
    }

    fn write_atomic_durable(&self, path: &Path, bytes: &[u8]) -> io::Result<()> {
        self.write_steps(path, bytes, true)?;
        // Not all file systems support this; the file is in place anyway.
        let _ = path.parent().map(|folder| self.sync_dir(folder));
        Ok(())
    }

    fn create_dir_all(&self, path: &Path) -> io::Result<()> {
        self.check(Effect::MakeFolder, path)?;
        self.inner.create_dir_all(path)
    }

    fn create_private_dir_all(&self, path: &Path) -> io::Result<()> {
        self.check(Effect::MakeFolder, path)?;
        self.inner.create_private_dir_all(path)
    }

    fn random(&self, bytes: &mut [u8]) -> io::Result<()> {
        self.inner.random(bytes)
    }

    fn process_token(&self) -> io::Result<String> {
        self.inner.process_token()
    }

    fn is_running(&self, token: &str) -> Option<bool> {
        self.inner.is_running(token)
    }

    fn permissions(&self, path: &Path) -> io::Result<u32> {
        self.check(Effect::Stat, path)?;
        self.inner.permissions(path)
    }

    fn set_permissions(&self, path: &Path, mode: u32) -> io::Result<()> {
        self.check(Effect::Create, path)?;
        self.inner.set_permissions(path, mode)
    }

    fn remove_file(&self, path: &Path) -> io::Result<()> {
        self.check(Effect::Remove, path)?;
        let is_there = self.plan.length_of(path, 0).map(drop);
        // A file that vanished is gone.
        self.plan.replaced(path);
        self.inner.remove_file(path).and(is_there)
    }

    fn remove_real(&self, path: &Path) -> io::Result<()> {
        self.check(Effect::Remove, path)?;
        let is_there = self.plan.length_of(path, 0).map(drop);
        self.plan.replaced(path);
        self.inner.remove_real(path).and(is_there)
    }

    fn create_new(&self, path: &Path, access: Access) -> io::Result<Box<dyn OutputFile>> {
        self.check(Effect::Create, path)?;
        let file = self.inner.create_new(path, access)?;
        Ok(self.wrap(file, path))
    }

    fn rename(&self, from: &Path, to: &Path) -> io::Result<()> {
        self.check(Effect::Rename, to)?;
        self.inner.rename(from, to)?;
        self.plan.replaced(to);
        Ok(())
    }

    fn rename_real(&self, from: &Path, to: &Path) -> io::Result<()> {
        self.check(Effect::Rename, to)?;
        self.inner.rename_real(from, to)?;
        self.plan.replaced(to);
        Ok(())
    }

    fn remove_dir(&self, path: &Path) -> io::Result<()> {
        self.check(Effect::RemoveFolder, path)?;
        self.inner.remove_dir(path)
    }

    fn sync_dir(&self, path: &Path) -> io::Result<()> {
        self.check(Effect::SyncFolder, path)?;
        self.inner.sync_dir(path)
    }

    fn try_lock(&self, path: &Path) -> io::Result<Option<Box<dyn HeldLock>>> {
        match self.plan.next(Effect::Lock, path) {
            EffectResult::Fail(error) => return Err(error),
            EffectResult::Odd => return Ok(None),
            EffectResult::Fine => {}
        }
        Ok(self.inner.try_lock(path)?.map(|held| self.wrap(held, path) as Box<dyn HeldLock>))
    }
}

#[cfg(test)]
mod tests;
