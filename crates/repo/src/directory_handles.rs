//! Keeps the directory of recently accessed files open. Consecutive accesses are mostly to the same directory, and opening a file
//! by name in an open directory is faster than by path.

use std::path::Path;

use crate::system::{DirectoryFiles, System};

/// The open directory of the last accessed files.
pub struct DirectoryHandleCache<'a> {
    system: &'a dyn System,
    /// The number of files of a directory that are accessed by path before it is opened.
    open_after: usize,
    directory: Option<&'a str>,
    /// The number of consecutive accesses to the directory.
    count: usize,
    /// `None` before it is opened, and if it cannot be opened without following a symlink.
    files: Option<Box<dyn DirectoryFiles>>,
}

impl<'a> DirectoryHandleCache<'a> {
    /// For reading: opening a directory costs about as much as one path lookup.
    pub fn to_read(system: &'a dyn System) -> Self {
        Self { system, open_after: 1, directory: None, count: 0, files: None }
    }

    /// For stats only, where a handle saves less.
    pub fn for_stat(system: &'a dyn System) -> Self {
        Self { open_after: 8, ..Self::to_read(system) }
    }

    /// Records an access to a file in `directory` (any stable key); `absolute` is its absolute path. Returns the open directory
    /// after `open_after` consecutive accesses; before that, the caller uses the file's path.
    pub fn handle_for(&mut self, directory: &'a str, absolute: &str) -> Option<&dyn DirectoryFiles> {
        if self.directory != Some(directory) {
            (self.directory, self.count, self.files) = (Some(directory), 0, None);
        }
        if self.count == self.open_after {
            let absolute = if absolute.is_empty() { "/" } else { absolute };
            self.files = self.system.directory_files(Path::new(absolute));
        }
        self.count += 1;
        self.files.as_deref()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{OsSystem, real_path};

    #[test]
    fn a_directory_is_opened_after_enough_consecutive_accesses() {
        let folder = tempfile::tempdir().unwrap();
        let real = real_path(&OsSystem, folder.path()).unwrap();
        std::fs::create_dir(folder.path().join("below")).unwrap();
        let below = format!("{real}/below");
        let mut neighbours = DirectoryHandleCache::for_stat(&OsSystem);
        let mut is_open =
            |directory: &'static str, absolute: &str| neighbours.handle_for(directory, absolute).is_some();
        for round in 0..2 {
            let opened: Vec<bool> = (0..10).map(|_| is_open("a", &real)).collect();
            assert_eq!(opened.iter().filter(|is_open| **is_open).count(), 2, "{round}: the last two");
            assert!(!is_open("b", &below), "{round}: another one starts over");
        }
        let mut neighbours = DirectoryHandleCache::to_read(&OsSystem);
        assert!(neighbours.handle_for("a", &real).is_none() && neighbours.handle_for("a", &real).is_some());
        assert!(
            neighbours.handle_for("", "").is_none() && neighbours.handle_for("", "").is_some(),
            "the root directory"
        );
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn a_link_is_not_opened() {
        let folder = tempfile::tempdir().unwrap();
        let real = real_path(&OsSystem, folder.path()).unwrap();
        std::os::unix::fs::symlink(".", folder.path().join("link")).unwrap();
        let link = format!("{real}/link");
        let mut neighbours = DirectoryHandleCache::to_read(&OsSystem);
        assert!((0..3).all(|_| neighbours.handle_for("link", &link).is_none()));
    }
}
