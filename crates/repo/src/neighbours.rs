//! Files that are asked for one after the other mostly lie in one directory: it is then kept open, which makes the way to
//! each of them shorter.

use std::path::Path;

use crate::system::{DirectoryFiles, System};

/// The directory of the last files that were asked for.
pub struct Neighbours<'a> {
    system: &'a dyn System,
    /// How many files of a directory come before it is worth opening.
    worth: usize,
    directory: Option<&'a str>,
    /// How many of the directory's files were asked for.
    count: usize,
    /// `None` while it is not worth it, and when it cannot be opened without following a link.
    files: Option<Box<dyn DirectoryFiles>>,
}

impl<'a> Neighbours<'a> {
    /// For files that are read: opening a directory costs about as much as the way to one file.
    pub fn to_read(system: &'a dyn System) -> Self {
        Self { system, worth: 1, directory: None, count: 0, files: None }
    }

    /// For files that are only looked at, which saves less.
    pub fn to_look_at(system: &'a dyn System) -> Self {
        Self { worth: 8, ..Self::to_read(system) }
    }

    /// Tells of one more file, by its directory, which may be given by any name of the caller's, and by `whole`, the
    /// absolute path of it. Returns the open directory, if there is one; the file has to be asked for by its path if not.
    pub fn beside(&mut self, directory: &'a str, whole: &str) -> Option<&dyn DirectoryFiles> {
        if self.directory != Some(directory) {
            (self.directory, self.count, self.files) = (Some(directory), 0, None);
        }
        if self.count == self.worth {
            let whole = if whole.is_empty() { "/" } else { whole };
            self.files = self.system.directory_files(Path::new(whole));
        }
        self.count += 1;
        self.files.as_deref()
    }
}
