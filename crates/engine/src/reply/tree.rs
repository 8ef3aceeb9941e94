//! The working tree that a reply is applied to: reads files without following symlinks, lists folders, and records the digests of
//! files, so that the writer can verify that they are unchanged.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::path::Path;

use stan_model::{Digest, is_git_folder};
use stan_repo::{EntryKind, System, SystemExt as _, entries_below, read_failure, sha256};
use unicode_normalization::UnicodeNormalization as _;

use crate::context::WorkspaceLayout;

/// Larger files cannot be changed by a reply.
const MAX_BYTES: u64 = 64 << 20;

/// Folders with more files cannot be moved, copied or removed as a whole.
const MAX_LISTED: usize = 20_000;

pub(super) struct WorkingTree<'a> {
    system: &'a dyn System,
    layout: &'a WorkspaceLayout,
    /// The digest of each file when it was read; `None` if there was none.
    read: RefCell<BTreeMap<String, Option<Digest>>>,
    /// The kinds of path prefixes.
    kinds: RefCell<BTreeMap<String, Option<EntryKind>>>,
}

impl<'a> WorkingTree<'a> {
    pub(super) fn new(system: &'a dyn System, layout: &'a WorkspaceLayout) -> Self {
        Self { system, layout, read: RefCell::default(), kinds: RefCell::default() }
    }

    /// The bytes of a regular file whose path contains no symlink.
    pub(super) fn read(&self, path: &str) -> Option<Vec<u8>> {
        let is_file = self.kind(path) == Some(EntryKind::File) && self.obstacle(path).is_none();
        let mut bytes = Vec::new();
        let absolute = self.layout.absolute(path);
        let is_read = is_file && self.system.read_real(Path::new(&absolute), MAX_BYTES, &mut bytes).is_ok();
        let bytes = is_read.then_some(bytes);
        self.read.borrow_mut().entry(path.to_owned()).or_insert_with(|| bytes.as_deref().map(sha256));
        bytes
    }

    /// The digest of a file when it was first read; reads it if it was not.
    pub(super) fn digest(&self, path: &str) -> Option<Digest> {
        if let Some(known) = self.read.borrow().get(path) {
            return *known;
        }
        self.read(path).as_deref().map(sha256)
    }

    /// Why nothing may be written at a path, as the second half of a sentence.
    pub(super) fn obstacle(&self, path: &str) -> Option<String> {
        let ends = path.match_indices('/').map(|(at, _)| at);
        for folder in ends.filter_map(|end| path.get(..end)) {
            if self.kind(folder) == Some(EntryKind::Link) {
                return Some(format!("is behind the link `{folder}`, and nothing is written through links"));
            }
        }
        match self.kind(path) {
            Some(EntryKind::Link) => Some("is a link, and nothing is written through links".to_owned()),
            Some(EntryKind::Other) => Some("is a pipe, a socket or a device".to_owned()),
            Some(EntryKind::File) if self.is_too_large(path) => Some("is too large to be patched".to_owned()),
            None => self
                .existing_spelling(path)
                .map(|spelling| format!("differs from `{spelling}` only in how its letters are composed")),
            _ => None,
        }
    }

    /// An existing name with the same NFC form as the first missing component of a path: some file systems treat both as the same
    /// file, and to readers they look the same.
    fn existing_spelling(&self, path: &str) -> Option<String> {
        let ends = path.match_indices('/').map(|(at, _)| at).chain([path.len()]);
        let missing = ends.filter_map(|end| path.get(..end)).find(|part| self.kind(part).is_none())?;
        let (folder, name) = missing.rsplit_once('/').unwrap_or(("", missing));
        if name.is_ascii() {
            return None;
        }
        let entries = self.system.read_real_dir(Path::new(&self.layout.absolute(folder))).ok()?;
        let composed: String = name.nfc().collect();
        let names = entries.into_iter().filter_map(|entry| entry.name.into_string().ok());
        let mut spellings = names.filter(|other| !other.is_ascii() && other.nfc().eq(composed.chars()));
        let spelling = spellings.next()?;
        Some(if folder.is_empty() { spelling } else { [folder, "/", &spelling].concat() })
    }

    fn is_too_large(&self, path: &str) -> bool {
        let stat = self.system.lstat(Path::new(&self.layout.absolute(path)));
        stat.is_ok_and(|stat| stat.size > MAX_BYTES)
    }

    fn kind(&self, path: &str) -> Option<EntryKind> {
        if let Some(known) = self.kinds.borrow().get(path) {
            return *known;
        }
        let kind = self.system.lstat(Path::new(&self.layout.absolute(path))).ok().map(|stat| stat.kind);
        self.kinds.borrow_mut().insert(path.to_owned(), kind);
        kind
    }

    /// The files below a folder, sorted; an error names an entry that is not a file.
    pub(super) fn files_below(&self, folder: &str) -> Option<Result<Vec<String>, String>> {
        if self.kind(folder) != Some(EntryKind::Dir) || self.obstacle(folder).is_some() {
            return None;
        }
        Some(self.list(folder))
    }

    fn list(&self, folder: &str) -> Result<Vec<String>, String> {
        let mut files = Vec::new();
        let shown = |path: &Path| {
            let path = path.to_string_lossy();
            self.layout.relative(&path).map_or_else(|| path.to_string(), str::to_owned)
        };
        for entry in entries_below(self.system, Path::new(&self.layout.absolute(folder))) {
            let entry = entry.map_err(|unlisted| {
                format!("`{}` cannot be listed: {}", shown(&unlisted.folder), read_failure(&unlisted.error))
            })?;
            let Some(name) = entry.name() else {
                return Err(format!("`{}` holds a name that is not UTF-8", shown(&entry.folder)));
            };
            match entry.kind {
                _ if is_git_folder(name) => {
                    return Err(format!("`{}` holds a repository of git's", shown(&entry.folder)));
                }
                EntryKind::Dir => {}
                EntryKind::File => files.push(shown(&entry.path())),
                EntryKind::Link | EntryKind::Other => {
                    return Err(format!("`{}` is not a file", shown(&entry.path())));
                }
            }
            if files.len() > MAX_LISTED {
                return Err(format!("`{folder}` holds more than {MAX_LISTED} files"));
            }
        }
        files.sort_unstable();
        Ok(files)
    }
}
