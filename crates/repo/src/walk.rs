//! A walk over everything below a folder. Symlinks are returned and never followed. For stan's own folders and for folders that a
//! reply names; `scan` lists the files of the repository by git's rules.

use std::ffi::OsString;
use std::io;
use std::path::{Path, PathBuf};

use crate::system::{DirEntry, EntryKind, System};
use crate::system_ext::SystemExt as _;

/// A file, folder, symlink or other entry.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FoundEntry {
    pub folder: PathBuf,
    pub name: OsString,
    pub kind: EntryKind,
}

impl FoundEntry {
    pub fn path(&self) -> PathBuf {
        self.folder.join(&self.name)
    }

    /// `None` if the name is not UTF-8.
    pub fn name(&self) -> Option<&str> {
        self.name.to_str()
    }
}

/// A folder that could not be listed, and why.
#[derive(Debug)]
pub struct UnlistedFolder {
    pub folder: PathBuf,
    pub error: io::Error,
}

/// See [`entries_below`].
pub struct EntriesBelow<'s> {
    system: &'s dyn System,
    /// Folders that are not listed yet.
    pending: Vec<PathBuf>,
    folder: PathBuf,
    entries: std::vec::IntoIter<DirEntry>,
}

/// The entries of a folder and of all folders below it: a folder always before its contents, otherwise in no particular order.
/// `top` must be a path without symlinks. A folder that cannot be listed is an error, after which the walk continues.
pub fn entries_below<'s>(system: &'s dyn System, top: &Path) -> EntriesBelow<'s> {
    EntriesBelow { system, pending: vec![top.to_owned()], folder: PathBuf::new(), entries: Vec::new().into_iter() }
}

impl EntriesBelow<'_> {
    /// Does not enter the last returned folder.
    pub fn skip_folder(&mut self) {
        self.pending.pop();
    }
}

impl Iterator for EntriesBelow<'_> {
    type Item = Result<FoundEntry, UnlistedFolder>;

    fn next(&mut self) -> Option<Self::Item> {
        loop {
            if let Some(DirEntry { name, kind }) = self.entries.next() {
                let found = FoundEntry { folder: self.folder.clone(), name, kind };
                if kind == EntryKind::Dir {
                    self.pending.push(found.path());
                }
                return Some(Ok(found));
            }
            self.folder = self.pending.pop()?;
            match self.system.read_real_dir(&self.folder) {
                Ok(entries) => self.entries = entries.into_iter(),
                Err(error) => return Some(Err(UnlistedFolder { folder: self.folder.clone(), error })),
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::entries_below;
    use crate::MemorySystem;

    #[test]
    fn folders_precede_their_contents_and_symlinks_are_not_followed() {
        let system = MemorySystem::from_fixture(
            "
            //- /r/a/b/c.ts
            //- /r/a/d.ts
            //- link /r/a/out -> /elsewhere
            //- /elsewhere/e.ts
            ",
        );
        let all = |top: &str| -> Vec<String> {
            let shown = |found: Result<super::FoundEntry, super::UnlistedFolder>| match found {
                Ok(entry) => entry.path().display().to_string(),
                Err(unlisted) => format!("not listed: {}", unlisted.folder.display()),
            };
            entries_below(&system, Path::new(top)).map(shown).collect()
        };
        let found = all("/r/a");
        let place = |path: &str| found.iter().position(|found| found == path);
        assert_eq!(found.len(), 4, "{found:?}");
        assert!(place("/r/a/b") < place("/r/a/b/c.ts") && place("/r/a/out").is_some(), "{found:?}");
        assert_eq!(all("/gone"), ["not listed: /gone"]);
        let mut walk = entries_below(&system, Path::new("/r"));
        assert!(walk.next().is_some_and(|first| first.is_ok_and(|entry| entry.name() == Some("a"))));
        walk.skip_folder();
        assert!(walk.next().is_none());
    }
}
