//! All outputs of a run, committed together: prepared as temporary files beside their targets, and renamed by
//! [`Transaction::commit`] only after everything has succeeded. Not a database: nothing reads half-committed state.
//!
//! A run that is killed between two renames leaves every output complete, some old and some new. That is harmless because of the
//! order of the renames, which is the order of the calls: **staged externals, private map, meta, state, archives, and snapshots
//! last; removals after all renames**. A snapshot that is newer than its archives would make the next diff hide changes that were
//! never shown; an older one only shows them again. Staged files, map and meta that are newer than the archives are what the next
//! run would write anyway, and `--frozen` verifies them before it trusts them. Files that should have been removed (externals
//! that are no longer selected, a diff that a META run does not write) are left over at worst, and the next run removes them.
//!
//! The writes of a killed process survive in the page cache, so fsync only matters for a power cut. It costs about 10 ms per
//! file, more than the rest of a run without changes. Archives, maps and staged files can be rebuilt, and staged files are
//! verified in every run. So only what cannot be rebuilt, baselines and the selection, is synced
//! ([`Transaction::write_durable`]).

use std::collections::BTreeSet;
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};

use stan_repo::{
    Access, EntryKind, OutputFile, SystemExt as _, WritableSystem, entries_below, skip_unsupported_sync,
    target_of_temporary, temporary_name,
};

use crate::error::Error;
use crate::folders::Folders;
use crate::lock::Lock;
use crate::names::check_name;
use crate::output::Sink;

/// How many bytes of the target's name the temporary name keeps, so that it fits into 255 bytes.
const MAX_KEPT_NAME: usize = 200;

/// Large enough that the number of calls does not matter, and small enough to stay in the processor's cache.
const BUFFER: usize = 256 << 10;

/// Outputs that are prepared but not yet in place. Dropping it rolls everything back.
pub struct Transaction<'s> {
    system: &'s dyn WritableSystem,
    lock: &'s Lock<'s>,
    folders: Folders,
    targets: BTreeSet<String>,
    /// In the order of the calls; `None` for discarded ones.
    steps: Vec<Option<PendingWrite>>,
    removals: Vec<Removal>,
    /// Every temporary file that may still exist.
    temporaries: BTreeSet<PathBuf>,
    next_number: u64,
}

struct PendingWrite {
    target: String,
    temporary: PathBuf,
    is_durable: bool,
}

enum Removal {
    File(PathBuf),
    EmptyFolder(PathBuf),
}

/// A complete temporary file that waits for the commit, or a target that need not change.
#[derive(Debug)]
pub struct Prepared {
    step: usize,
    temporary: PathBuf,
}

impl Prepared {
    /// The path of the bytes until the commit.
    pub fn path(&self) -> &Path {
        &self.temporary
    }
}

/// A temporary file that is being written. Only [`Transaction::finish`] adds it to the transaction.
pub struct OutputStream {
    target: String,
    temporary: PathBuf,
    file: BufWriter<Sink>,
    access: Access,
}

/// Discards bytes that are only counted and hashed.
struct Nowhere;

impl Write for Nowhere {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl OutputFile for Nowhere {
    fn sync(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl OutputStream {
    /// A stream that discards its bytes, for plans, which only need sizes and hashes.
    pub fn discarding() -> Self {
        // Without a buffer: copying into one would be the only work.
        let file = BufWriter::with_capacity(0, Sink::new(Box::new(Nowhere)));
        Self { target: "nowhere".to_owned(), temporary: PathBuf::new(), file, access: Access::Shared }
    }

    /// Records that the bytes come from a file that other users may not read. Matters for [`Access::Undecided`].
    pub fn keep_private(&mut self) {
        if self.access == Access::Undecided {
            self.access = Access::Private;
        }
    }

    /// Writes the bytes; an error names the target.
    pub fn put(&mut self, bytes: &[u8]) -> Result<(), Error> {
        self.file.write_all(bytes).map_err(|reason| write_error(&self.target, reason))
    }
}

impl Write for OutputStream {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.file.write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.file.flush()
    }
}

impl<'s> Transaction<'s> {
    /// Starts a transaction, and removes the temporary files that killed runs left in `folders` and below. The folders are
    /// relative to `<stanPath>`; because of the lock, no other run uses these files.
    pub fn begin(
        system: &'s dyn WritableSystem,
        root: &Path,
        lock: &'s Lock<'s>,
        folders: &[&str],
    ) -> Result<Self, Error> {
        let mut transaction = Self {
            system,
            lock,
            folders: Folders::new(root),
            targets: BTreeSet::new(),
            steps: Vec::new(),
            removals: Vec::new(),
            temporaries: BTreeSet::new(),
            next_number: 0,
        };
        for folder in folders {
            transaction.clean(&[lock.stan_path(), "/", folder].concat())?;
        }
        Ok(transaction)
    }

    /// Prepares a file. `target` is relative to the root and must be below `<stanPath>`.
    pub fn write(&mut self, target: &str, bytes: &[u8], access: Access) -> Result<Prepared, Error> {
        let (temporary, mut file) = self.create(target, access)?;
        file.write_all(bytes).map_err(|reason| write_error(target, reason))?;
        drop(file);
        Ok(self.add_step(target.to_owned(), temporary, false))
    }

    /// As [`Transaction::write`], for files that cannot be rebuilt: they also survive a power cut.
    pub fn write_durable(&mut self, target: &str, bytes: &[u8], access: Access) -> Result<Prepared, Error> {
        let (temporary, mut file) = self.create(target, access)?;
        let synced = file.write_all(bytes).and_then(|()| skip_unsupported_sync(file.sync()));
        synced.map_err(|reason| write_error(target, reason))?;
        drop(file);
        Ok(self.add_step(target.to_owned(), temporary, true))
    }

    /// Prepares a file in pieces.
    pub fn stream(&mut self, target: &str, access: Access) -> Result<OutputStream, Error> {
        let (temporary, file) = self.create(target, access)?;
        let file = BufWriter::with_capacity(BUFFER, Sink::new(file));
        Ok(OutputStream { target: target.to_owned(), temporary, file, access })
    }

    /// As [`Transaction::stream`], for outputs that every run writes: a target with the same bytes stays as it is, because
    /// replacing a file costs more than comparing it.
    pub fn stream_unless_same(&mut self, target: &str, access: Access) -> Result<OutputStream, Error> {
        let (temporary, file) = self.create(target, access)?;
        let absolute = self.folders.absolute(target);
        let is_file = self.system.lstat(&absolute).is_ok_and(|stat| stat.kind == EntryKind::File);
        let old = if is_file { self.system.open(&absolute).ok() } else { None };
        let sink = match old {
            Some(old) => Sink::unless_same(file, old),
            None => Sink::new(file),
        };
        let file = BufWriter::with_capacity(BUFFER, sink);
        Ok(OutputStream { target: target.to_owned(), temporary, file, access })
    }

    /// Adds a complete stream. A stream that is dropped instead is removed with the transaction.
    pub fn finish(&mut self, stream: OutputStream) -> Result<Prepared, Error> {
        let OutputStream { target, temporary, file, access } = stream;
        let mut sink = file.into_inner().map_err(|error| write_error(&target, error.into_error()))?;
        if !sink.is_same(access == Access::Private).map_err(|reason| write_error(&target, reason))? {
            if access == Access::Undecided {
                sink.share().map_err(|reason| write_error(&target, reason))?;
            }
            return Ok(self.add_step(target, temporary, false));
        }
        drop(sink);
        self.temporaries.remove(&temporary);
        self.system.remove_file(&temporary).map_err(|error| Error::io("remove", &temporary, error))?;
        // A step without effect: the bytes are already in place.
        self.steps.push(None);
        Ok(Prepared { step: self.steps.len() - 1, temporary: self.folders.absolute(&target) })
    }

    /// Discards a prepared file: its target stays as it is.
    pub fn discard(&mut self, prepared: Prepared) -> Result<(), Error> {
        if let Some(PendingWrite { target, temporary, .. }) = self.steps.get_mut(prepared.step).and_then(Option::take) {
            self.targets.remove(&target);
            self.temporaries.remove(&temporary);
            self.system.remove_file(&temporary).map_err(|error| Error::io("remove", &temporary, error))?;
        }
        Ok(())
    }

    /// Removes a file or a symlink at the commit, after all renames. It may be missing.
    pub fn remove(&mut self, target: &str) -> Result<(), Error> {
        self.check_target(target)?;
        let folder = target.rsplit_once('/').map_or("", |(folder, _)| folder);
        if !self.folders.exists(self.system, folder)? {
            return Ok(());
        }
        let absolute = self.folders.absolute(target);
        if self.system.lstat(&absolute).is_ok_and(|stat| stat.kind == EntryKind::Dir) {
            return Err(Error::FolderInPlaceOfFile { path: target.to_owned() });
        }
        self.removals.push(Removal::File(absolute));
        Ok(())
    }

    /// As `remove`, for a path found by walking below `<stanPath>` without following symlinks. Its name may not be UTF-8.
    pub(crate) fn remove_found(&mut self, absolute: PathBuf) {
        self.removals.push(Removal::File(absolute));
    }

    /// Removes a folder at the commit if it is empty by then.
    pub(crate) fn remove_found_folder(&mut self, absolute: PathBuf) {
        self.removals.push(Removal::EmptyFolder(absolute));
    }

    /// The files that the commit puts in place, in order.
    pub fn writes(&self) -> impl Iterator<Item = &str> {
        self.steps.iter().flatten().map(|step| step.target.as_str())
    }

    /// The files that the commit removes, relative to the root. Names that are not UTF-8 are converted lossily.
    pub fn removals(&self) -> impl Iterator<Item = String> {
        let root = self.folders.absolute("");
        self.removals.iter().filter_map(move |removal| match removal {
            Removal::File(path) => Some(path.strip_prefix(&root).unwrap_or(path).to_string_lossy().into_owned()),
            Removal::EmptyFolder(_) => None,
        })
    }

    /// Puts everything in place, in the order of the calls. After an error, some outputs may be the new ones.
    pub fn commit(mut self) -> Result<(), Error> {
        let steps: Vec<PendingWrite> = std::mem::take(&mut self.steps).into_iter().flatten().collect();
        let total = steps.len();
        let mut done = Vec::with_capacity(total);
        for PendingWrite { target, temporary, is_durable } in steps {
            let absolute = self.folders.absolute(&target);
            if let Err(reason) = self.system.rename_real(&temporary, &absolute) {
                return Err(match done.is_empty() {
                    true => Error::io("put in place", &absolute, reason),
                    false => Error::HalfCommitted { path: target, done, total, reason },
                });
            }
            self.temporaries.remove(&temporary);
            if let Some(folder) = absolute.parent().filter(|_| is_durable) {
                // Not all file systems support this; the file is in place anyway.
                let _ = self.system.sync_dir(folder);
            }
            // After the first rename, the folders are in use.
            self.folders.keep();
            done.push(target);
        }
        for removal in std::mem::take(&mut self.removals) {
            let (path, removed) = match &removal {
                Removal::File(path) => (path, self.system.remove_real(path)),
                Removal::EmptyFolder(path) => (path, self.system.remove_dir(path)),
            };
            // A missing file and a folder that is in use again both count as removed.
            if let Err(reason) = removed
                && !matches!(reason.kind(), io::ErrorKind::NotFound | io::ErrorKind::DirectoryNotEmpty)
            {
                return Err(Error::HalfCommitted { path: path.display().to_string(), done, total, reason });
            }
        }
        Ok(())
    }

    pub(crate) fn system(&self) -> &'s dyn WritableSystem {
        self.system
    }

    pub(crate) fn lock(&self) -> &'s Lock<'s> {
        self.lock
    }

    pub(crate) fn absolute(&self, relative: &str) -> PathBuf {
        self.folders.absolute(relative)
    }

    /// Whether a folder exists; an error if something else is at its path.
    pub(crate) fn folder_exists(&mut self, folder: &str) -> Result<bool, Error> {
        self.folders.exists(self.system, folder)
    }

    fn check_target(&self, target: &str) -> Result<(), Error> {
        check_name(target)?;
        let stan_path = self.lock.stan_path();
        let is_below = target.strip_prefix(stan_path).is_some_and(|rest| rest.starts_with('/'));
        if is_below {
            return Ok(());
        }
        Err(Error::OutsideStanPath { path: target.to_owned(), stan_path: stan_path.to_owned() })
    }

    /// Creates a temporary file beside its target. The path to it contains no symlink.
    fn create(&mut self, target: &str, access: Access) -> Result<(PathBuf, Box<dyn OutputFile>), Error> {
        self.check_target(target)?;
        if !self.targets.insert(target.to_owned()) {
            return Err(Error::DuplicateName { name: target.to_owned() });
        }
        let (folder, name) = target.rsplit_once('/').unwrap_or(("", target));
        self.folders.ensure(self.system, folder, access)?;
        let absolute = self.folders.absolute(target);
        // Renaming over a folder fails; report that now, while nothing has been put in place.
        if self.system.lstat(&absolute).is_ok_and(|stat| stat.kind == EntryKind::Dir) {
            return Err(Error::FolderInPlaceOfFile { path: target.to_owned() });
        }
        let kept = &name[..name.floor_char_boundary(MAX_KEPT_NAME)];
        for _ in 0..100 {
            let number = self.next_number;
            self.next_number += 1;
            let temporary = absolute.with_file_name(temporary_name(self.lock.process(), number, kept));
            match self.system.create_new(&temporary, access) {
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
                Err(error) => return Err(write_error(target, error)),
                Ok(file) => {
                    self.temporaries.insert(temporary.clone());
                    return Ok((temporary, file));
                }
            }
        }
        Err(write_error(target, io::ErrorKind::AlreadyExists.into()))
    }

    fn add_step(&mut self, target: String, temporary: PathBuf, is_durable: bool) -> Prepared {
        self.steps.push(Some(PendingWrite { target, temporary: temporary.clone(), is_durable }));
        Prepared { step: self.steps.len() - 1, temporary }
    }

    /// Removes the temporary files of killed runs in a folder and below, never through a symlink.
    fn clean(&mut self, folder: &str) -> Result<(), Error> {
        if !self.folders.exists(self.system, folder)? {
            return Ok(());
        }
        for entry in entries_below(self.system, &self.folders.absolute(folder)) {
            let entry = entry.map_err(|unlisted| Error::io("list", &unlisted.folder, unlisted.error))?;
            if entry.kind == EntryKind::File && entry.name().is_some_and(is_temporary) {
                let path = entry.path();
                self.system.remove_file(&path).map_err(|error| Error::io("remove", &path, error))?;
            }
        }
        Ok(())
    }
}

impl Drop for Transaction<'_> {
    fn drop(&mut self) {
        for temporary in std::mem::take(&mut self.temporaries) {
            // If removal fails, the next run removes it.
            let _ = self.system.remove_file(&temporary);
        }
        self.folders.undo(self.system);
    }
}

/// Whether a name is one that [`Transaction`] gives to temporary files.
pub(crate) fn is_temporary(name: &str) -> bool {
    target_of_temporary(name).is_some()
}

fn write_error(target: &str, reason: io::Error) -> Error {
    Error::io("write", Path::new(target), reason)
}

#[cfg(test)]
mod tests;
