//! The modules in a folder, by name. One directory listing answers all lookups in the folder.

use std::sync::Arc;

use rustc_hash::FxHashMap;
use stan_repo::{EntryKind, Files};

use crate::memo::Memo;

/// The files and folders with one module name.
#[derive(Clone, Debug, Default)]
pub(super) struct Entry {
    pub(super) folder: bool,
    /// `name.py`.
    pub(super) source: bool,
    /// `name.pyi`.
    pub(super) stub: bool,
    /// The file name of an extension module: `name.cpython-311-x86_64-linux-gnu.so`, `name.pyd` or similar.
    pub(super) native: Option<Box<str>>,
}

/// The modules of one folder by name.
#[derive(Debug, Default)]
pub(super) struct Folder(FxHashMap<Box<str>, Entry>);

impl Folder {
    fn of(listing: Vec<(String, EntryKind)>) -> Self {
        let mut modules: FxHashMap<Box<str>, Entry> = FxHashMap::default();
        for (name, kind) in listing {
            if kind == EntryKind::Dir {
                modules.entry(name.into()).or_default().folder = true;
            } else if let Some(module) = name.strip_suffix(".py") {
                modules.entry(module.into()).or_default().source = true;
            } else if let Some(module) = name.strip_suffix(".pyi") {
                modules.entry(module.into()).or_default().stub = true;
            } else if name.ends_with(".so") || name.ends_with(".pyd") {
                let module = name.split('.').next().unwrap_or_default();
                // Listings are sorted, so that the choice among several builds does not depend on the file system.
                modules.entry(module.into()).or_default().native.get_or_insert(name.into());
            }
        }
        Self(modules)
    }

    pub(super) fn get(&self, module: &str) -> Option<&Entry> {
        self.0.get(module)
    }

    /// The `__init__` file: the one that Python runs, otherwise a stub.
    pub(super) fn package_file(&self) -> Option<&'static str> {
        let init = self.get("__init__")?;
        if init.source {
            Some("__init__.py")
        } else if init.stub {
            Some("__init__.pyi")
        } else {
            None
        }
    }

    /// Whether Python itself finds a package here, rather than only a type checker.
    pub(super) fn is_package(&self) -> bool {
        self.get("__init__").is_some_and(|init| init.source || init.native.is_some())
    }

    pub(super) fn has_stub_package(&self) -> bool {
        self.get("__init__").is_some_and(|init| init.stub)
    }
}

/// Cached listings by absolute path.
pub(super) struct Folders<'f> {
    files: &'f dyn Files,
    known: Memo<String, Arc<Folder>>,
}

impl<'f> Folders<'f> {
    pub(super) fn new(files: &'f dyn Files) -> Self {
        Self { files, known: Memo::new() }
    }

    pub(super) fn get(&self, path: &str) -> Arc<Folder> {
        self.known.get_or(path, || Arc::new(Folder::of(self.files.list(path))))
    }
}
