//! The file system for configurations: `extends`, `references` and symlinks that resolve outside the repository and outside every
//! `node_modules` are not followed, even if imports may be.

use std::borrow::Cow;
use std::sync::Arc;

use stan_repo::{EntryKind, Files};

use super::paths;

pub(super) struct Inside<'f> {
    files: &'f dyn Files,
    root: String,
}

impl<'f> Inside<'f> {
    /// `root` is the absolute path of the repository.
    pub(super) fn new(files: &'f dyn Files, root: &str) -> Self {
        Self { files, root: root.to_owned() }
    }

    /// Whether the path resolves to a place that may not be read, or contains a symlink that may not be followed.
    pub(super) fn leads_outside(&self, path: &str) -> bool {
        let is_outside = |real: String| !paths::contains(&self.root, &real) && !real.contains("/node_modules/");
        let refusals = self.files.refusals();
        self.files.real_path(path).map_or_else(|| self.files.refusals() != refusals, is_outside)
    }
}

impl Files for Inside<'_> {
    fn kind(&self, path: &str) -> Option<EntryKind> {
        self.files.kind(path)
    }

    fn read(&self, path: &str) -> Option<Arc<[u8]>> {
        if self.leads_outside(path) { None } else { self.files.read(path) }
    }

    fn real_path(&self, path: &str) -> Option<String> {
        self.files.real_path(path)
    }

    fn list(&self, path: &str) -> Vec<(String, EntryKind)> {
        self.files.list(path)
    }

    fn refusals(&self) -> u64 {
        self.files.refusals()
    }

    fn alias<'p>(&self, path: &'p str) -> Cow<'p, str> {
        self.files.alias(path)
    }

    fn is_in_linked_package(&self, path: &str) -> bool {
        self.files.is_in_linked_package(path)
    }
}
