//! Commits a staged change file by file, each with one rename, or rolls it back.

use std::io;

use stan_repo::{Access, SystemExt as _, temporary_name};

use super::record::{Pending, Record, Side, UNDONE, read};
use super::stage::{backup_name, parent, side_of, staged_name};
use super::{NewFile, NewMode, PatchFolder, PatchKind, Recovered};
use crate::error::Error;
use crate::folders::Folders;

pub(super) struct Commit<'a> {
    place: &'a PatchFolder<'a>,
    pending: &'a Pending,
    steps: Vec<SideChange<'a>>,
    made_folders: &'a [String],
    removed_folders: &'a [String],
}

struct SideChange<'a> {
    index: usize,
    path: &'a str,
    from: Option<&'a Side>,
    to: Option<&'a Side>,
}

/// The current state of a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Condition {
    Before,
    After,
    Neither,
}

impl<'a> Commit<'a> {
    pub(super) fn new(place: &'a PatchFolder<'a>, pending: &'a Pending, record: &'a Record) -> Self {
        let is_undo = pending.kind == PatchKind::Undo;
        let step = |(index, file): (usize, &'a super::record::RecordedFile)| {
            let (old, new) = (file.old.as_ref(), file.new.as_ref());
            let (from, to) = if is_undo { (new, old) } else { (old, new) };
            SideChange { index, path: &file.path, from, to }
        };
        let (made_folders, removed_folders) = match pending.kind {
            PatchKind::Apply => (&record.made_folders, &record.removed_folders),
            PatchKind::Undo => (&record.removed_folders, &record.made_folders),
        };
        let steps = record.files.iter().enumerate().map(step).filter(|step| step.from != step.to).collect();
        Self { place, pending, steps, made_folders, removed_folders }
    }

    /// Commits all or nothing, unless the rollback fails too.
    pub(super) fn perform(&self) -> Result<(), Error> {
        let mut left = Vec::new();
        let (path, reason) = match self.forward(&mut left) {
            Err(failure) => failure,
            Ok(()) => match left.pop() {
                None => {
                    // All files are the new ones. If recording that fails now, the next command records it.
                    let _ = self.finish();
                    return Ok(());
                }
                Some(path) => (path, io::Error::other("it was changed meanwhile")),
            },
        };
        match self.backward() {
            Ok(()) => {
                self.pending.remove(self.place)?;
                self.drop_staged();
                Err(Error::io("put in place", &self.place.root.join(path), reason))
            }
            Err(_) => Err(Error::HalfApplied { path, reason }),
        }
    }

    /// Completes the change of a process that ended.
    pub(super) fn recover(&self) -> Result<Recovered, Error> {
        let (kind, files) = (self.pending.kind, self.steps.len());
        let mut left = Vec::new();
        match self.forward(&mut left) {
            Ok(()) => {
                self.finish()?;
                Ok(Recovered { kind, is_finished: true, files, left })
            }
            Err((path, reason)) => {
                self.backward().map_err(|_| Error::HalfApplied { path, reason })?;
                self.pending.remove(self.place)?;
                self.drop_staged();
                Ok(Recovered { kind, is_finished: false, files, left })
            }
        }
    }

    /// Puts the new files in place. Files that were changed meanwhile are added to `left`.
    fn forward(&self, left: &mut Vec<String>) -> Result<(), (String, io::Error)> {
        let mut folders = Folders::new(self.place.root);
        for folder in self.made_folders {
            let made = folders.ensure(self.place.system, folder, Access::Shared);
            made.map_err(|error| (folder.clone(), io::Error::other(error.to_string())))?;
        }
        // Writes come first: others may still read a removed file until its replacement exists.
        let removals = self.steps.iter().filter(|step| step.to.is_none());
        let writes = self.steps.iter().filter(|step| step.to.is_some());
        for step in writes.chain(removals) {
            let fail = |error: io::Error| (step.path.to_owned(), error);
            match self.condition(step).map_err(|error| fail(io::Error::other(error.to_string())))? {
                Condition::After => {}
                Condition::Neither => left.push(step.path.to_owned()),
                Condition::Before if step.to.is_none() => {
                    self.place.system.remove_real(&self.place.root.join(step.path)).map_err(fail)?;
                }
                Condition::Before => self.put(step).map_err(fail)?,
            }
        }
        for folder in self.removed_folders.iter().rev() {
            // A folder that is in use by now stays. Any other failure rolls everything back: an empty folder that stays means an
            // incomplete change.
            match self.place.system.remove_dir(&self.place.root.join(folder)) {
                Err(error) if !is_in_use_or_gone(&error) => return Err((folder.to_owned(), error)),
                _ => {}
            }
        }
        Ok(())
    }

    /// Renames the staged file to its path; copies it if that is on another file system.
    fn put(&self, step: &SideChange<'_>) -> io::Result<()> {
        let is_undo = self.pending.kind == PatchKind::Undo;
        let staged = self.place.path(&self.pending.folder).join(staged_name(is_undo, step.index));
        let target = self.place.root.join(step.path);
        let mut folders = Folders::new(self.place.root);
        if !parent(step.path).is_empty() {
            let made = folders.ensure(self.place.system, parent(step.path), Access::Shared);
            made.map_err(|error| io::Error::other(error.to_string()))?;
        }
        match self.place.system.rename_real(&staged, &target) {
            Err(error) if error.kind() == io::ErrorKind::CrossesDevices => self.copy(step, &staged),
            other => other,
        }
    }

    fn copy(&self, step: &SideChange<'_>, staged: &std::path::Path) -> io::Result<()> {
        use std::io::Write as _;
        let target = self.place.root.join(step.path);
        let name = step.path.rsplit('/').next().unwrap_or(step.path);
        let kept = &name[..name.floor_char_boundary(200)];
        let temporary = target.with_file_name(temporary_name(self.place.lock.process(), step.index as u64, kept));
        let mut bytes = Vec::new();
        self.place.system.read_real(staged, u64::MAX, &mut bytes)?;
        let system = self.place.system;
        let written = system.create_new(&temporary, Access::Private).and_then(|mut file| {
            file.write_all(&bytes)?;
            file.sync()
        });
        let moded = written.and_then(|()| match step.to.and_then(|side| side.mode) {
            Some(mode) => system.set_permissions(&temporary, mode),
            None => Ok(()),
        });
        let placed = moded.and_then(|()| system.rename_real(&temporary, &target));
        if placed.is_err() {
            let _ = system.remove_file(&temporary);
        }
        placed
    }

    fn backward(&self) -> Result<(), Error> {
        for folder in self.removed_folders {
            Folders::new(self.place.root).ensure(self.place.system, folder, Access::Shared)?;
        }
        for step in &self.steps {
            if self.condition(step)? == Condition::After {
                self.restore(step)?;
            }
        }
        for folder in self.made_folders.iter().rev() {
            let _ = self.place.system.remove_dir(&self.place.root.join(folder));
        }
        Ok(())
    }

    fn restore(&self, step: &SideChange<'_>) -> Result<(), Error> {
        let target = self.place.root.join(step.path);
        let Some(from) = step.from else {
            return self.place.system.remove_real(&target).map_err(|error| Error::io("remove", &target, error));
        };
        let is_undo = self.pending.kind == PatchKind::Undo;
        let folder = &self.pending.folder;
        let bytes = read(self.place, &self.place.path(folder).join(backup_name(is_undo, step.index)))?;
        let name = format!("{folder}/restored-{}", step.index);
        let mode = from.mode.map_or(NewMode::Usual { executable: false }, NewMode::Bits);
        let _ = self.place.system.remove_file(&self.place.path(&name));
        super::stage::write_staged(self.place, &name, &NewFile { bytes: std::rc::Rc::new(bytes), mode })?;
        let restored = self.place.path(&name);
        let placed = match self.place.system.rename_real(&restored, &target) {
            Err(error) if error.kind() == io::ErrorKind::CrossesDevices => {
                let back = SideChange { index: step.index, path: step.path, from: step.to, to: step.from };
                self.copy(&back, &restored)
            }
            other => other,
        };
        placed.map_err(|error| Error::io("put back", &target, error))
    }

    /// Renames the folder as done, and removes the journal.
    fn finish(&self) -> Result<(), Error> {
        let folder = &self.pending.folder;
        let number = folder.strip_prefix(super::record::STAGED).unwrap_or(folder);
        let done = match self.pending.kind {
            PatchKind::Apply => number.to_owned(),
            PatchKind::Undo => [UNDONE, number].concat(),
        };
        let (from, to) = (self.place.path(folder), self.place.path(&done));
        if from != to {
            self.place.system.rename_real(&from, &to).map_err(|error| Error::io("put in place", &to, error))?;
        }
        self.pending.remove(self.place)?;
        match self.pending.kind {
            PatchKind::Undo => self.place.remove_folder(&done),
            PatchKind::Apply => self.drop_copies(&done),
        }
        Ok(())
    }

    /// Removes copies that were not needed. The rest is removed with the folder.
    fn drop_copies(&self, folder: &str) {
        for (index, _) in self.steps.iter().enumerate() {
            let _ = self.place.system.remove_file(&self.place.path(folder).join(staged_name(false, index)));
        }
    }

    fn drop_staged(&self) {
        if self.pending.kind == PatchKind::Apply {
            self.place.remove_folder(&self.pending.folder);
        }
    }

    fn condition(&self, step: &SideChange<'_>) -> Result<Condition, Error> {
        let folder = parent(step.path);
        let is_there = folder.is_empty() || Folders::new(self.place.root).exists(self.place.system, folder)?;
        let found = if is_there {
            match side_of(self.place, step.path) {
                Ok(found) => found.map(|(side, _)| side),
                Err(Error::FolderInPlaceOfFile { .. } | Error::LinkInPlaceOfFolder { .. }) => {
                    return Ok(Condition::Neither);
                }
                Err(error) => return Err(error),
            }
        } else {
            None
        };
        Ok(match found.as_ref() {
            found if found == step.from => Condition::Before,
            found if found == step.to => Condition::After,
            _ => Condition::Neither,
        })
    }
}
fn is_in_use_or_gone(error: &io::Error) -> bool {
    matches!(error.kind(), io::ErrorKind::DirectoryNotEmpty | io::ErrorKind::NotFound)
}
