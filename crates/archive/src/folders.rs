//! Folders below the repository's root that may be written to: each component gets one lstat, and none is a symlink. The path to
//! the root may contain symlinks; that is the user's choice.

use std::collections::BTreeSet;
use std::io;
use std::path::{Path, PathBuf};

use stan_repo::{Access, EntryKind, WritableSystem};

use crate::error::Error;
use crate::names::check_name;

pub(crate) struct Folders {
    root: PathBuf,
    /// Relative paths that are known to be folders.
    known: BTreeSet<String>,
    /// Folders created by this run, outermost first, so that a failed run can remove them.
    made: Vec<String>,
}

impl Folders {
    pub(crate) fn new(root: &Path) -> Self {
        Self { root: root.to_owned(), known: BTreeSet::new(), made: Vec::new() }
    }

    pub(crate) fn absolute(&self, relative: &str) -> PathBuf {
        self.root.join(relative)
    }

    /// Creates a folder if it is missing. A folder that is created for a private file is private too.
    pub(crate) fn ensure(&mut self, system: &dyn WritableSystem, folder: &str, access: Access) -> Result<(), Error> {
        self.walk(system, folder, Some(access)).map(drop)
    }

    /// Whether a folder exists. A symlink or a file at its path is an error.
    pub(crate) fn exists(&mut self, system: &dyn WritableSystem, folder: &str) -> Result<bool, Error> {
        self.walk(system, folder, None)
    }

    /// Removes the created folders that are still empty.
    pub(crate) fn undo(&mut self, system: &dyn WritableSystem) {
        while let Some(folder) = self.made.pop() {
            // Fails if another process has put something there meanwhile; then the folder stays.
            let _ = system.remove_dir(&self.root.join(&folder));
            self.known.remove(&folder);
        }
    }

    /// Keeps the created folders, even if the run fails later.
    pub(crate) fn keep(&mut self) {
        self.made.clear();
    }

    fn walk(&mut self, system: &dyn WritableSystem, folder: &str, make_for: Option<Access>) -> Result<bool, Error> {
        if self.known.contains(folder) {
            return Ok(true);
        }
        check_name(folder)?;
        let ends = folder.match_indices('/').map(|(at, _)| at).chain([folder.len()]);
        for prefix in ends.filter_map(|end| folder.get(..end)) {
            if self.known.contains(prefix) {
                continue;
            }
            let absolute = self.root.join(prefix);
            match system.lstat(&absolute).map(|stat| stat.kind) {
                Ok(EntryKind::Dir) => {}
                Ok(EntryKind::Link) => return Err(Error::LinkInPlaceOfFolder { path: prefix.to_owned() }),
                Ok(_) => return Err(Error::NotAFolder { path: prefix.to_owned() }),
                Err(error) if error.kind() == io::ErrorKind::NotFound => {
                    let made = match make_for {
                        None => return Ok(false),
                        Some(Access::Private) => system.create_private_dir_all(&absolute),
                        Some(_) => system.create_dir_all(&absolute),
                    };
                    made.map_err(|error| Error::io("make the folder", &absolute, error))?;
                    self.made.push(prefix.to_owned());
                }
                Err(error) => return Err(Error::io("stat", &absolute, error)),
            }
            self.known.insert(prefix.to_owned());
        }
        Ok(true)
    }
}

#[cfg(test)]
mod tests {
    use stan_repo::{MemorySystem, System};

    use super::*;

    fn check(folder: &str, expected: Result<bool, &str>) {
        let system = MemorySystem::from_fixture("//- /r/a/f\n//- link /r/l -> a\n//- link /r/a/gone -> nowhere\n");
        let mut folders = Folders::new(Path::new("/r"));
        let found = folders.exists(&system, folder).map_err(|error| error.to_string());
        match expected {
            Ok(there) => {
                assert_eq!(found, Ok(there), "{folder}");
                folders.ensure(&system, folder, Access::Shared).unwrap();
                assert!(folders.exists(&system, folder).unwrap());
                folders.undo(&system);
                assert_eq!(system.lstat(&folders.absolute(folder)).is_ok(), there, "what was made is taken away");
            }
            Err(words) => assert!(found.as_ref().is_err_and(|error| error.contains(words)), "{folder}: {found:?}"),
        }
    }

    #[test]
    fn links_and_files_in_place_of_folders_are_refused() {
        check("a", Ok(true));
        check("a/b/c", Ok(false));
        check("n", Ok(false));
        check("l", Err("`l` is a link in place of a folder"));
        check("l/x", Err("`l` is a link in place of a folder"));
        check("a/gone/x", Err("`a/gone` is a link in place of a folder"));
        check("a/f/x", Err("`a/f` is in the way"));
        check("../x", Err("cannot be the name"));
    }

    #[test]
    fn undo_keeps_folders_that_are_not_empty() {
        let system = MemorySystem::new();
        system.set_dir("/r");
        let mut folders = Folders::new(Path::new("/r"));
        folders.ensure(&system, "a/b", Access::Shared).unwrap();
        system.set_file("/r/a/theirs", "");
        folders.undo(&system);
        assert!(system.lstat(Path::new("/r/a/theirs")).is_ok() && system.lstat(Path::new("/r/a/b")).is_err());
    }
}
