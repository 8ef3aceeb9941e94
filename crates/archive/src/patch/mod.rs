//! Applied replies: files anywhere in the repository, changed all together or not at all, with the way back.
//!
//! Everything is staged in a folder of its own below `<stanPath>/patch/`: the new files with their permissions, and the old
//! bytes. Then a journal (`pending.json`) marks the change as under way, and each new file is renamed to its place, so
//! that every file is old or new at any moment. The next run that finds `pending.json` completes the change, or rolls
//! it back when that cannot be done. Old bytes stay for [`undo_patches`]: those of the last ten replies, and at most 50
//! MB.
//!
//! A record is trusted only if it was made here: it names the inode and the time of a file beside it, which no clone or
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

/// How many old bytes are kept at most.
pub const MAX_KEPT_BYTES: u64 = 50 << 20;

/// For how many replies old bytes are kept.
const MAX_KEPT: usize = 10;

/// Folders have numbers of eight digits.
const LAST_NUMBER: u64 = 99_999_999;

/// Below `<stanPath>`.
const FOLDER: &str = "patch";

/// All that one reply changes. Paths are relative to the root.
#[derive(Clone, Debug, Default)]
pub struct PatchSet {
    pub files: Vec<PatchFile>,
    /// Folders that are there afterwards.
    pub made_folders: Vec<String>,
    /// Folders that go when nothing is left in them, with the folders below them.
    pub removed_folders: Vec<String>,
}

/// One file.
#[derive(Clone, Debug)]
pub struct PatchFile {
    pub path: String,
    /// Digest of the file when the reply was checked; `None`: it did not exist.
    pub old: Option<Digest>,
    /// `None`: it is removed.
    pub new: Option<NewFile>,
}

#[derive(Clone, Debug)]
pub struct NewFile {
    pub bytes: Rc<Vec<u8>>,
    pub mode: NewMode,
}

/// The permissions of a file that is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NewMode {
    /// The user's habits.
    Usual { executable: bool },
    /// These bits.
    Bits(u32),
}

/// A change that a killed process left unfinished.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Recovered {
    pub kind: PatchKind,
    /// All files are the new ones; otherwise all are the old ones.
    pub is_finished: bool,
    pub files: usize,
    /// Files that were changed since, and were left alone.
    pub left: Vec<String>,
}

/// Whether a change was not finished. Costs one look.
pub fn has_pending_patch(system: &dyn WritableSystem, root: &Path, stan_path: &str) -> bool {
    let path = root.join(stan_path).join(FOLDER).join(record::PENDING);
    system.lstat(&path).is_ok_and(|stat| stat.kind == EntryKind::File)
}

/// Changes the files, all or none.
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

/// Takes the last applied reply back, all or nothing. Tells the files.
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

/// Finishes or takes back what an ended process left half done. The caller holds the lock.
pub fn recover_patches(system: &dyn WritableSystem, root: &Path, lock: &Lock<'_>) -> Result<Option<Recovered>, Error> {
    if !has_pending_patch(system, root, lock.stan_path()) {
        return Ok(None);
    }
    let place = PatchFolder::new(system, root, lock)?;
    let pending = Pending::read(&place)?;
    if !place.has_folder(&pending.folder)? {
        // It was finished; only the note is left.
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
        // A link in its place is an error; that it is missing is not.
        crate::folders::Folders::new(root).exists(system, &place.folder)?;
        Ok(place)
    }

    /// The absolute path of something in it.
    fn path(&self, below: &str) -> std::path::PathBuf {
        self.root.join(&self.folder).join(below)
    }

    fn has_folder(&self, name: &str) -> Result<bool, Error> {
        crate::folders::Folders::new(self.root).exists(self.system, &[&self.folder, "/", name].concat())
    }

    /// The names in it, sorted.
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

    /// A name for the next one while it is staged.
    fn next_folder(&self) -> Result<String, Error> {
        let last = self.applied()?.pop().unwrap_or_default();
        let number = last.parse::<u64>().unwrap_or_default() + 1;
        // A folder with a longer number would neither be found by an undo nor by what finishes a killed apply. Only a folder that came
        // with the repository has such a number.
        if number > LAST_NUMBER {
            let file = [&self.folder, "/", &last].concat();
            return Err(Error::BadPatchRecord { file, reason: "no number is left after it".to_owned() });
        }
        Ok(format!("{}{number:08}", record::STAGED))
    }

    /// Removes what an ended process staged without beginning.
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

    /// Old bytes beyond what is kept go, the oldest first. What cannot be removed now goes the next time.
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

    /// Best effort: what stays is swept the next time.
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
