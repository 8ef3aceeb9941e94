//! An in-memory file system for the tests of this folder: files, directories, symlinks to directories.

use std::collections::BTreeMap;
use std::sync::Arc;

use stan_repo::{EntryKind, Files};

/// Files by absolute path. The text `-> /path` makes a symlink to that path.
#[derive(Default)]
pub(crate) struct Memory {
    files: BTreeMap<String, Arc<[u8]>>,
    links: BTreeMap<String, String>,
}

impl Memory {
    /// `files` are relative to `root`, or absolute.
    pub(crate) fn new(root: &str, files: &[(&str, &str)]) -> Self {
        let mut memory = Self::default();
        for (path, text) in files {
            let path = if path.starts_with('/') { (*path).to_owned() } else { format!("{root}/{path}") };
            match text.strip_prefix("-> ") {
                Some(target) => drop(memory.links.insert(path, target.to_owned())),
                None => drop(memory.files.insert(path, text.as_bytes().into())),
            }
        }
        memory
    }

    fn real(&self, path: &str) -> String {
        for (link, target) in &self.links {
            if let Some(rest) = path.strip_prefix(link.as_str())
                && (rest.is_empty() || rest.starts_with('/'))
            {
                return format!("{target}{rest}");
            }
        }
        path.to_owned()
    }
}

impl Files for Memory {
    fn kind(&self, path: &str) -> Option<EntryKind> {
        let path = self.real(path);
        if self.files.contains_key(&path) {
            return Some(EntryKind::File);
        }
        let below = format!("{path}/");
        self.files.keys().any(|file| file.starts_with(&below)).then_some(EntryKind::Dir)
    }

    fn read(&self, path: &str) -> Option<Arc<[u8]>> {
        self.files.get(&self.real(path)).cloned()
    }

    fn real_path(&self, path: &str) -> Option<String> {
        self.kind(path).map(|_| self.real(path))
    }

    fn list(&self, _path: &str) -> Vec<(String, EntryKind)> {
        Vec::new()
    }
}
