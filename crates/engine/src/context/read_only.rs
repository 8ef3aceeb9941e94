//! A system that ignores writes, so that a plan runs the same code as a run and changes nothing. If the staged imports are out of
//! date, it shows the workspace as it would be after staging.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::io;
use std::path::{Path, PathBuf};

use stan_repo::{
    Access, DirEntry, DirectoryFiles, EntryKind, HeldLock, Links, OpenFile, OutputFile, Owner, Stat, System,
    SystemLayer, WritableSystem,
};

pub(crate) struct ReadOnly<'s> {
    pub(crate) system: &'s dyn WritableSystem,
    pub(crate) imports: StagedImports,
}

/// A file that an import would stage.
pub(crate) struct StagedImport {
    /// Its absolute path in the workspace.
    pub(crate) target: String,
    /// The absolute path of the file with its bytes.
    pub(crate) source: String,
}

/// The imports that staging would change. Empty by default: then the workspace is shown as it is on disk.
#[derive(Default)]
pub(crate) struct StagedImports {
    /// Folders whose contents are exactly the staged files.
    labels: Vec<PathBuf>,
    /// Source path by staged path.
    files: BTreeMap<PathBuf, PathBuf>,
    /// Entries by folder that the staged files add to it.
    folders: BTreeMap<PathBuf, BTreeMap<OsString, EntryKind>>,
    /// An existing folder, whose stat is used for folders that do not exist yet.
    root: PathBuf,
}

impl StagedImports {
    /// `labels` are absolute folders below `root`; `files` are the files in them.
    pub(crate) fn new(root: &str, labels: Vec<String>, files: Vec<StagedImport>) -> Self {
        let mut staged = Self {
            labels: labels.into_iter().map(PathBuf::from).collect(),
            root: PathBuf::from(root),
            ..Self::default()
        };
        for StagedImport { target, source } in files {
            let target = PathBuf::from(target);
            let mut entry = (target.clone(), EntryKind::File);
            while let Some((folder, name)) = entry.0.parent().zip(entry.0.file_name()) {
                if !folder.starts_with(&staged.root) {
                    break;
                }
                let is_known = staged.folders.contains_key(folder);
                let entries = staged.folders.entry(folder.to_owned()).or_default();
                entries.insert(name.to_owned(), entry.1);
                if is_known {
                    break;
                }
                entry = (folder.to_owned(), EntryKind::Dir);
            }
            staged.files.insert(target, PathBuf::from(source));
        }
        staged
    }

    pub(crate) fn is_nothing(&self) -> bool {
        self.labels.is_empty()
    }

    fn is_replaced(&self, path: &Path) -> bool {
        self.labels.iter().any(|label| path.starts_with(label))
    }

    /// The path to read the bytes of `path` from.
    fn source<'p>(&'p self, path: &'p Path) -> io::Result<&'p Path> {
        match self.files.get(path) {
            Some(source) => Ok(source),
            None if self.is_replaced(path) && !self.folders.contains_key(path) => Err(io::ErrorKind::NotFound.into()),
            None => Ok(path),
        }
    }

    /// A listing with the files that would be staged, and without those that would be removed.
    fn listing(&self, path: &Path, found: io::Result<Vec<DirEntry>>) -> io::Result<Vec<DirEntry>> {
        let is_gone = |name: &OsString| {
            let inside = path.join(name);
            self.is_replaced(&inside) && !self.folders.contains_key(&inside) && !self.files.contains_key(&inside)
        };
        let staged = self.folders.get(path);
        let mut entries = match found {
            Ok(entries) => entries,
            Err(error) if error.kind() == io::ErrorKind::NotFound && staged.is_some() => Vec::new(),
            Err(error) => return Err(error),
        };
        if self.labels.is_empty() {
            return Ok(entries);
        }
        entries.retain(|entry| !is_gone(&entry.name));
        for (name, kind) in staged.into_iter().flatten() {
            match entries.iter_mut().find(|entry| entry.name == *name) {
                Some(entry) if self.is_replaced(path) => entry.kind = *kind,
                Some(_) => {}
                None => entries.push(DirEntry { name: name.clone(), kind: *kind }),
            }
        }
        Ok(entries)
    }

    /// The stat of a folder that does not exist yet.
    fn stat_of_new_folder(&self, system: &dyn System, path: &Path, found: io::Result<Stat>) -> io::Result<Stat> {
        match found {
            Err(error) if error.kind() == io::ErrorKind::NotFound && self.folders.contains_key(path) => {
                system.lstat(&self.root)
            }
            found => found,
        }
    }
}

impl<'s> SystemLayer for ReadOnly<'s> {
    type Inner = dyn WritableSystem + 's;

    fn inner(&self) -> &Self::Inner {
        self.system
    }

    fn list_dir(&self, path: &Path, links: Links) -> io::Result<Vec<DirEntry>> {
        self.imports.listing(path, self.system.list_dir(path, links))
    }

    fn lstat(&self, path: &Path) -> io::Result<Stat> {
        let found = self.imports.source(path).and_then(|source| self.system.lstat(source));
        self.imports.stat_of_new_folder(self.system, path, found)
    }

    fn owner(&self, path: &Path) -> io::Result<Owner> {
        self.system.owner(self.imports.source(path)?)
    }

    fn open_file(&self, path: &Path, links: Links) -> io::Result<OpenFile> {
        self.system.open_file(self.imports.source(path)?, links)
    }

    fn read_file(&self, path: &Path, links: Links, limit: u64, buffer: &mut Vec<u8>) -> io::Result<Stat> {
        self.system.read_file(self.imports.source(path)?, links, limit, buffer)
    }

    fn directory_files(&self, path: &Path) -> Option<Box<dyn DirectoryFiles>> {
        // A directory handle would read the files on disk and bypass the staged imports.
        let is_changed = self.imports.is_replaced(path) || self.imports.folders.contains_key(path);
        if is_changed { None } else { self.system.directory_files(path) }
    }

    fn read_link(&self, path: &Path) -> io::Result<PathBuf> {
        self.system.read_link(self.imports.source(path)?)
    }
}

/// Only the cache is written through this system, and ignoring that is harmless. Not a `WritableLayer`, because one forwards
/// every method that is not overridden here to the disk.
impl WritableSystem for ReadOnly<'_> {
    fn write_atomic(&self, _path: &Path, _bytes: &[u8]) -> io::Result<()> {
        Ok(())
    }

    fn write_atomic_pieces(&self, _path: &Path, _pieces: &[&[u8]]) -> io::Result<()> {
        Ok(())
    }

    fn write_atomic_durable(&self, _path: &Path, _bytes: &[u8]) -> io::Result<()> {
        Ok(())
    }

    fn create_dir_all(&self, _path: &Path) -> io::Result<()> {
        Ok(())
    }

    fn create_private_dir_all(&self, _path: &Path) -> io::Result<()> {
        Ok(())
    }

    fn remove_file(&self, _path: &Path) -> io::Result<()> {
        Ok(())
    }

    fn remove_real(&self, _path: &Path) -> io::Result<()> {
        Ok(())
    }

    fn is_running(&self, _token: &str) -> Option<bool> {
        None
    }

    fn random(&self, _bytes: &mut [u8]) -> io::Result<()> {
        Err(io::ErrorKind::Unsupported.into())
    }

    fn process_token(&self) -> io::Result<String> {
        Err(io::ErrorKind::Unsupported.into())
    }

    fn permissions(&self, _path: &Path) -> io::Result<u32> {
        Err(io::ErrorKind::Unsupported.into())
    }

    fn set_permissions(&self, _path: &Path, _mode: u32) -> io::Result<()> {
        Err(io::ErrorKind::Unsupported.into())
    }

    fn create_new(&self, _path: &Path, _access: Access) -> io::Result<Box<dyn OutputFile>> {
        Err(io::ErrorKind::Unsupported.into())
    }

    fn rename(&self, _from: &Path, _to: &Path) -> io::Result<()> {
        Err(io::ErrorKind::Unsupported.into())
    }

    fn rename_real(&self, _from: &Path, _to: &Path) -> io::Result<()> {
        Err(io::ErrorKind::Unsupported.into())
    }

    fn remove_dir(&self, _path: &Path) -> io::Result<()> {
        Err(io::ErrorKind::Unsupported.into())
    }

    fn sync_dir(&self, _path: &Path) -> io::Result<()> {
        Err(io::ErrorKind::Unsupported.into())
    }

    fn try_lock(&self, _path: &Path) -> io::Result<Option<Box<dyn HeldLock>>> {
        Err(io::ErrorKind::Unsupported.into())
    }
}

#[cfg(test)]
mod tests {
    use stan_repo::{MemorySystem, SystemExt as _};

    use super::*;

    fn names(system: &dyn System, path: &str) -> Vec<String> {
        let entries = system.read_real_dir(Path::new(path)).unwrap_or_default();
        let mut names: Vec<String> =
            entries.into_iter().map(|entry| entry.name.to_string_lossy().into_owned()).collect();
        names.sort();
        names
    }

    #[test]
    fn the_workspace_is_shown_with_the_imports_staged() {
        let system = MemorySystem::new();
        system.set_file("/r/lib/a.md", "new");
        system.set_file("/r/.stan/imports/old/gone.md", "gone");
        system.set_file("/r/.stan/imports/one/stale.md", "stale");
        system.set_file("/r/.stan/imports/by-hand/kept.md", "kept");
        let labels = ["one", "old"].map(|label| format!("/r/.stan/imports/{label}")).to_vec();
        let files =
            vec![StagedImport { target: "/r/.stan/imports/one/sub/a.md".to_owned(), source: "/r/lib/a.md".to_owned() }];
        let shown = ReadOnly { system: &system, imports: StagedImports::new("/r", labels, files) };
        let shown: &dyn System = &shown;
        assert_eq!(names(shown, "/r/.stan/imports"), ["by-hand", "one"]);
        assert_eq!(names(shown, "/r/.stan/imports/one"), ["sub"]);
        assert_eq!(names(shown, "/r/.stan/imports/one/sub"), ["a.md"]);
        assert_eq!(shown.lstat(Path::new("/r/.stan/imports/one/sub")).map(|stat| stat.kind).ok(), Some(EntryKind::Dir));
        let mut bytes = Vec::new();
        shown.read_real(Path::new("/r/.stan/imports/one/sub/a.md"), 9, &mut bytes).unwrap();
        assert_eq!(bytes, b"new");
        for gone in ["/r/.stan/imports/one/stale.md", "/r/.stan/imports/old/gone.md", "/r/.stan/imports/old"] {
            assert!(shown.lstat(Path::new(gone)).is_err(), "{gone}");
        }
        assert_eq!(names(shown, "/r/.stan/imports/by-hand"), ["kept.md"]);
    }

    #[test]
    fn nothing_staged_changes_nothing() {
        let system = MemorySystem::new();
        system.set_file("/r/.stan/imports/one/a.md", "a");
        let shown = ReadOnly { system: &system, imports: StagedImports::default() };
        let shown: &dyn System = &shown;
        assert_eq!(names(shown, "/r/.stan/imports/one"), ["a.md"]);
        assert!(shown.lstat(Path::new("/r/none")).is_err());
    }
}
