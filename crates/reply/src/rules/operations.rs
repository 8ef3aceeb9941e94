//! File operations on the working tree, for a reply that is to be applied: performed in memory, in order.
//!
//! | case | decision |
//! |---|---|
//! | `mv` or `cp` onto a file or folder that exists by then | 0011: nothing is ever replaced |
//! | `mv`, `cp` or `rm` of a folder | all files below it, in order; 0011 if something below it is not a file |
//! | `mv` of a folder into itself | 0011 |
//! | any of them if the source does not exist | 0011 |
//! | a file that is not archived while the mode is active | 0008 |
//! | `rmdir` of a folder that is not empty by then, or is none | 0011 |
//! | `mkdirp` where a file is | 0011; a folder that is there already is fine |

use super::bytes::{APPLY, Examiner, PatchedState, TooMuch};
use crate::diff::TOO_MUCH;
use crate::paths::{normalise, outside};
use crate::structure::{Operation, OperationKind};

/// The files of one operation.
type NamedFiles = Vec<(String, String)>;

impl Examiner<'_, '_, '_> {
    pub(super) fn operations_on_tree(&mut self) {
        for operation in &self.facts.structure.operations {
            let result = self.operate(operation);
            if let Err(message) = result {
                let remedy = "take paths from the repository as it is now, and name a destination that is free";
                self.findings.add(APPLY, operation.line, "", message, remedy);
            }
        }
    }

    fn operate(&mut self, operation: &Operation) -> Result<(), String> {
        let line = operation.line;
        match &operation.kind {
            OperationKind::Move { from, to } => {
                let (from, to) = (normalise(from), normalise(to));
                let files = self.transfer(line, &from, &to)?;
                for (file, _) in &files {
                    self.outcome.changed.insert(file.clone(), None);
                }
                self.remove_folder(&from, &files);
                Ok(())
            }
            OperationKind::Copy { from, to } => self.transfer(line, &normalise(from), &normalise(to)).map(drop),
            OperationKind::Remove { path } => {
                let path = normalise(path);
                let files = self.files_at(line, &path)?;
                for (file, _) in &files {
                    self.outcome.changed.insert(file.clone(), None);
                }
                self.remove_folder(&path, &files);
                Ok(())
            }
            OperationKind::RemoveFolder { path } => self.remove_empty(&normalise(path)),
            OperationKind::MakeFolder { path } => self.make_folder(&normalise(path)),
        }
    }

    /// Copies files and returns them.
    fn transfer(&mut self, line: u32, from: &str, to: &str) -> Result<NamedFiles, String> {
        // 0012 reports that.
        if outside(from).is_some() || outside(to).is_some() {
            return Ok(Vec::new());
        }
        if to == from || to.strip_prefix(from).is_some_and(|rest| rest.starts_with('/')) {
            return Err(format!("`{from}` cannot go to `{to}`, which is itself or below it"));
        }
        let files = self.files_at(line, from)?;
        if !self.is_free_in_tree(line, to) {
            return Ok(Vec::new());
        }
        for (file, rest) in &files {
            let destination = format!("{to}{rest}");
            let bytes = self.current(file).map_err(|TooMuch| TOO_MUCH.to_owned())?;
            let Some(bytes) = bytes else { continue };
            if destination == self.facts.layout.state {
                self.outcome.state = Some(PatchedState { bytes: bytes.to_vec(), lines: Vec::new() });
            }
            self.take_mode(file, &destination);
            self.outcome.changed.insert(destination, Some(bytes));
        }
        Ok(files)
    }

    /// The files at or below a path, each with the rest of its path.
    fn files_at(&mut self, line: u32, path: &str) -> Result<NamedFiles, String> {
        if outside(path).is_some() {
            return Ok(Vec::new());
        }
        if self.current(path).map_err(|TooMuch| TOO_MUCH.to_owned())?.is_some() {
            if self.is_unseen(path) {
                self.unseen(line, path);
                return Ok(Vec::new());
            }
            return Ok(vec![(path.to_owned(), String::new())]);
        }
        let prefix = format!("{path}/");
        let on_disk = self.facts.context.files_below(path);
        let mut files: Vec<String> = on_disk.clone().transpose()?.unwrap_or_default();
        files.retain(|file| !matches!(self.outcome.changed.get(file), Some(None)));
        let made = self.outcome.changed.range(prefix.clone()..).take_while(|(file, _)| file.starts_with(&prefix));
        files.extend(made.filter(|(_, bytes)| bytes.is_some()).map(|(file, _)| file.clone()));
        files.sort_unstable();
        files.dedup();
        if files.is_empty() && on_disk.is_none() {
            return Err(format!("there is no `{path}` to copy, move or remove"));
        }
        if let Some(unseen) = files.iter().find(|file| self.is_unseen(file)).cloned() {
            self.unseen(line, &unseen);
            return Ok(Vec::new());
        }
        let rest = |file: &String| file.get(path.len()..).unwrap_or_default().to_owned();
        Ok(files.iter().map(|file| (file.clone(), rest(file))).collect())
    }

    fn remove_folder(&mut self, path: &str, files: &NamedFiles) {
        let is_folder = outside(path).is_none() && files.iter().all(|(_, rest)| !rest.is_empty());
        if is_folder && self.facts.context.files_below(path).is_some() {
            self.outcome.removed_folders.insert(path.to_owned());
        }
    }

    fn remove_empty(&mut self, path: &str) -> Result<(), String> {
        if outside(path).is_some() {
            return Ok(());
        }
        let was_made = self.outcome.made_folders.contains(path);
        let files = match self.facts.context.files_below(path) {
            None if was_made => Vec::new(),
            None => return Err(format!("there is no folder `{path}` to remove")),
            Some(files) => files?,
        };
        let prefix = format!("{path}/");
        let is_left = |file: &String| !matches!(self.outcome.changed.get(file), Some(None));
        let mut made = self.outcome.changed.range(prefix.clone()..).take_while(|(file, _)| file.starts_with(&prefix));
        if files.iter().any(is_left) || made.any(|(_, bytes)| bytes.is_some()) {
            return Err(format!("`{path}` is not empty"));
        }
        self.outcome.made_folders.remove(path);
        if !was_made {
            self.outcome.removed_folders.insert(path.to_owned());
        }
        Ok(())
    }

    fn make_folder(&mut self, path: &str) -> Result<(), String> {
        if outside(path).is_some() {
            return Ok(());
        }
        let ends = path.match_indices('/').map(|(at, _)| at).chain([path.len()]);
        for part in ends.filter_map(|end| path.get(..end)) {
            if self.current(part).map_err(|TooMuch| TOO_MUCH.to_owned())?.is_some() {
                return Err(format!("`{part}` is a file, so it cannot be made a folder"));
            }
        }
        self.outcome.removed_folders.remove(path);
        self.outcome.made_folders.insert(path.to_owned());
        Ok(())
    }

    /// Whether a file or folder may be created at a path of the working tree. Reports if not.
    pub(super) fn is_free_in_tree(&mut self, line: u32, path: &str) -> bool {
        let found = self.current(path);
        let prefix = format!("{path}/");
        let mut below = self.outcome.changed.range(prefix.clone()..).take_while(|(file, _)| file.starts_with(&prefix));
        let is_folder = below.any(|(_, bytes)| bytes.is_some())
            || (self.facts.context.files_below(path).is_some() && !self.outcome.removed_folders.contains(path));
        let ends = path.match_indices('/').map(|(at, _)| at);
        let parents: Vec<String> = ends.filter_map(|end| path.get(..end)).map(str::to_owned).collect();
        let parent = parents.into_iter().find(|parent| matches!(self.current(parent), Ok(Some(_))));
        let message = match found {
            Err(TooMuch) => TOO_MUCH.to_owned(),
            Ok(Some(_)) if self.is_unseen(path) => {
                self.unseen(line, path);
                return false;
            }
            Ok(Some(_)) => format!("`{path}` exists already, so it cannot be a new file"),
            Ok(None) if is_folder => format!("`{path}` is a folder"),
            Ok(None) => match parent {
                Some(parent) => format!("`{parent}` is a file, so nothing can be below it"),
                None => return true,
            },
        };
        self.findings.add(APPLY, line, path, message, "edit the file that is there, or choose another path");
        false
    }
}
