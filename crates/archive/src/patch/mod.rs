//! Applied replies: changes of files anywhere in the repository, all together or not at all, with undo.
//!
//! Everything is staged in a folder below `<stanPath>/patch/`: the new files with their permissions, and the old bytes. Then a
//! journal (`pending.json`) marks the change as started, and each new file is renamed to its path, so that every file is old or
//! new at any moment. If the next run finds `pending.json`, it completes the change, or rolls it back if that is impossible. Old
//! bytes stay for [`undo_patches`]: those of the last ten replies, and at most 50 MB.
//!
//! A record is trusted only if it was written here: it contains the inode and the time of a file beside it, which no clone or
//! copy of a repository can reproduce. Which files a reply changes is decided elsewhere.

mod commit;
mod record;
mod stage;

use std::path::Path;
use std::rc::Rc;

use stan_model::Digest;
use stan_repo::{EntryKind, SystemExt as _, WritableSystem};

pub use self::record::PatchKind;

use self::commit::Commit;
use self::record::{Pending, Record};
use crate::error::Error;
use crate::lock::Lock;

/// The maximum size of all old bytes.
pub const MAX_KEPT_BYTES: u64 = 50 << 20;

/// The number of replies whose old bytes are kept.
const MAX_KEPT: usize = 10;

/// The numbers of folders have eight digits.
const MAX_NUMBER: u64 = 99_999_999;

/// Below `<stanPath>`.
const FOLDER: &str = "patch";

/// The changes of one reply. Paths are relative to the root.
#[derive(Clone, Debug, Default)]
pub struct PatchSet {
    pub files: Vec<PatchFile>,
    /// Folders to create.
    pub made_folders: Vec<String>,
    /// Folders to remove if nothing is left in them, with the folders below them.
    pub removed_folders: Vec<String>,
}

/// The change of one file.
#[derive(Clone, Debug)]
pub struct PatchFile {
    pub path: String,
    /// The digest of the file when the reply was checked; `None` if it did not exist.
    pub old: Option<Digest>,
    /// `None` if the file is removed.
    pub new: Option<NewFile>,
}

#[derive(Clone, Debug)]
pub struct NewFile {
    pub bytes: Rc<Vec<u8>>,
    pub mode: NewMode,
}

/// The permissions of a new file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NewMode {
    /// The defaults of the user, by umask.
    Usual { executable: bool },
    /// Exactly these mode bits.
    Bits(u32),
}

/// The recovery of a change that a killed process left unfinished.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Recovered {
    pub kind: PatchKind,
    /// Whether all files are the new ones; otherwise all are the old ones.
    pub is_finished: bool,
    pub files: usize,
    /// Files that were changed in the meantime and were left alone.
    pub left: Vec<String>,
}

/// Whether a change was not finished. Costs one stat.
pub fn has_pending_patch(system: &dyn WritableSystem, root: &Path, stan_path: &str) -> bool {
    let path = root.join(stan_path).join(FOLDER).join(record::PENDING);
    system.lstat(&path).is_ok_and(|stat| stat.kind == EntryKind::File)
}

/// Changes all files or none.
pub fn apply_patches(system: &dyn WritableSystem, root: &Path, lock: &Lock<'_>, set: &PatchSet) -> Result<(), Error> {
    let place = PatchFolder::new(system, root, lock)?;
    place.sweep(None)?;
    let folder = place.next_folder()?;
    let staged = match stage::stage(&place, &folder, set) {
        Ok(staged) => staged,
        Err(error) => {
            place.remove_folder(&folder);
            return Err(error);
        }
    };
    let pending = Pending { folder: folder.clone(), kind: PatchKind::Apply };
    if let Err(error) = pending.write(&place) {
        place.remove_folder(&folder);
        return Err(error);
    }
    Commit::new(&place, &pending, &staged).perform()?;
    place.prune();
    Ok(())
}

/// Undoes the last applied reply, all or nothing. Returns the changed files.
pub fn undo_patches(system: &dyn WritableSystem, root: &Path, lock: &Lock<'_>) -> Result<Vec<String>, Error> {
    let place = PatchFolder::new(system, root, lock)?;
    place.sweep(None)?;
    let folder = place.applied()?.pop().ok_or(Error::NothingToUndo)?;
    let record = Record::read(&place, &folder)?;
    let staged = stage::stage_undo(&place, &folder, &record)?;
    let pending = Pending { folder: folder.clone(), kind: PatchKind::Undo };
    pending.write(&place)?;
    let paths = record.files.iter().map(|file| file.path.clone()).collect();
    Commit::new(&place, &pending, &staged).perform()?;
    Ok(paths)
}

/// Completes or rolls back the change of a process that ended. The caller holds the lock.
pub fn recover_patches(system: &dyn WritableSystem, root: &Path, lock: &Lock<'_>) -> Result<Option<Recovered>, Error> {
    if !has_pending_patch(system, root, lock.stan_path()) {
        return Ok(None);
    }
    let place = PatchFolder::new(system, root, lock)?;
    let pending = Pending::read(&place)?;
    if !place.has_folder(&pending.folder)? {
        // The change was complete; only its journal is left.
        pending.remove(&place)?;
        return Ok(None);
    }
    let record = Record::read(&place, &pending.folder)?;
    Commit::new(&place, &pending, &record).recover().map(Some)
}

/// `<stanPath>/patch` of one workspace.
struct PatchFolder<'s> {
    system: &'s dyn WritableSystem,
    root: &'s Path,
    lock: &'s Lock<'s>,
    /// Relative to the root.
    folder: String,
}

impl<'s> PatchFolder<'s> {
    fn new(system: &'s dyn WritableSystem, root: &'s Path, lock: &'s Lock<'s>) -> Result<Self, Error> {
        let folder = [lock.stan_path(), "/", FOLDER].concat();
        let place = Self { system, root, lock, folder };
        // A symlink at this path is an error; a missing folder is not.
        crate::folders::Folders::new(root).exists(system, &place.folder)?;
        Ok(place)
    }

    /// The absolute path of an entry.
    fn path(&self, below: &str) -> std::path::PathBuf {
        self.root.join(&self.folder).join(below)
    }

    fn has_folder(&self, name: &str) -> Result<bool, Error> {
        crate::folders::Folders::new(self.root).exists(self.system, &[&self.folder, "/", name].concat())
    }

    /// The names of its entries, sorted.
    fn names(&self) -> Result<Vec<String>, Error> {
        let path = self.path("");
        let entries = match self.system.read_real_dir(&path) {
            Ok(entries) => entries,
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(Vec::new()),
            Err(error) => return Err(Error::io("list", &path, error)),
        };
        let folders = entries.into_iter().filter(|entry| entry.kind == EntryKind::Dir);
        let mut names: Vec<String> = folders.filter_map(|entry| entry.name.into_string().ok()).collect();
        names.sort_unstable();
        Ok(names)
    }

    /// The folders of applied replies, oldest first.
    fn applied(&self) -> Result<Vec<String>, Error> {
        let names = self.names()?;
        Ok(names.into_iter().filter(|name| name.len() == 8 && name.bytes().all(|byte| byte.is_ascii_digit())).collect())
    }

    /// The name of the next folder while it is staged.
    fn next_folder(&self) -> Result<String, Error> {
        let last = self.applied()?.pop().unwrap_or_default();
        let number = last.parse::<u64>().unwrap_or_default() + 1;
        // Neither undo nor recovery finds a folder with a longer number. Only a folder that came with the repository can have
        // such a number.
        if number > MAX_NUMBER {
            let file = [&self.folder, "/", &last].concat();
            return Err(Error::BadPatchRecord { file, reason: "no number is left after it".to_owned() });
        }
        Ok(format!("{}{number:08}", record::STAGED))
    }

    /// Removes folders that an ended process staged without committing.
    fn sweep(&self, but: Option<&str>) -> Result<(), Error> {
        stan_repo::remove_leftovers(self.system, &self.path(""), &[record::PENDING]);
        for name in self.names()? {
            let is_ours = name.starts_with(record::STAGED) || name.starts_with(record::UNDONE);
            if is_ours && but != Some(name.as_str()) {
                self.remove_folder(&name);
            }
        }
        Ok(())
    }

    /// Removes old bytes beyond the limits, oldest first. If that fails, the next run tries again.
    fn prune(&self) {
        let mut left = MAX_KEPT_BYTES;
        for (index, name) in self.applied().unwrap_or_default().iter().rev().enumerate() {
            let size = self.size_of(name);
            left = left.saturating_sub(size);
            if index >= MAX_KEPT || (left == 0 && index > 0) {
                left = 0;
                self.remove_folder(name);
            }
        }
    }

    fn size_of(&self, name: &str) -> u64 {
        let path = self.path(name);
        let entries = self.system.read_real_dir(&path).unwrap_or_default();
        entries.iter().filter_map(|entry| self.system.lstat(&path.join(&entry.name)).ok()).map(|stat| stat.size).sum()
    }

    /// Best effort: the next run removes the rest.
    fn remove_folder(&self, name: &str) {
        let path = self.path(name);
        for entry in self.system.read_real_dir(&path).unwrap_or_default() {
            if entry.kind != EntryKind::Dir {
                let _ = self.system.remove_file(&path.join(&entry.name));
            }
        }
        let _ = self.system.remove_dir(&path);
    }
}

#[cfg(test)]
mod tests;
