//! `package.json` files, read once: contents, scopes, `typesVersions`.

use std::sync::Arc;

use stan_repo::Files;

use super::memo::Memo;
use super::{path, semver};
use crate::jsonc::{self, Value};

/// One manifest. A file that is not JSON counts as an empty manifest, as it does for TypeScript.
pub(crate) struct Package {
    /// Absolute path of the directory that holds the manifest.
    pub(crate) directory: String,
    pub(crate) manifest: Value,
}

impl Package {
    pub(crate) fn name(&self) -> Option<&str> {
        self.text("name")
    }

    pub(crate) fn is_esm(&self) -> bool {
        self.text("type") == Some("module")
    }

    /// The value of `exports` unless it is absent or falsy.
    pub(crate) fn exports(&self) -> Option<&Value> {
        self.manifest.get("exports").filter(|value| is_truthy(value))
    }

    pub(crate) fn imports(&self) -> Option<&Value> {
        self.manifest.get("imports").filter(|value| is_truthy(value))
    }

    pub(crate) fn text(&self, field: &str) -> Option<&str> {
        match self.manifest.get(field) {
            Some(Value::String(text)) => Some(text),
            _ => None,
        }
    }

    /// A field that names a file, as an absolute path.
    pub(crate) fn path_field(&self, field: &str) -> Option<String> {
        self.text(field).filter(|text| !text.is_empty()).map(|text| path::join(&self.directory, text))
    }

    /// The path mapping of the first `typesVersions` range that admits TypeScript's version.
    pub(crate) fn version_paths(&self) -> Option<&[(Box<str>, Value)]> {
        let Some(Value::Object(versions)) = self.manifest.get("typesVersions") else { return None };
        let (_, paths) = versions.iter().find(|(range, _)| semver::admits_typescript(range) == Some(true))?;
        match paths {
            Value::Object(entries) => Some(entries),
            _ => None,
        }
    }
}

fn is_truthy(value: &Value) -> bool {
    match value {
        Value::Null | Value::Bool(false) => false,
        Value::Number(number) => *number != 0.0 && !number.is_nan(),
        Value::String(text) => !text.is_empty(),
        _ => true,
    }
}

/// All manifests that were asked for.
pub(crate) struct Packages<'f> {
    files: &'f dyn Files,
    root: Box<str>,
    by_directory: Memo<String, Option<Arc<Package>>>,
    scopes: Memo<String, Option<Arc<Package>>>,
}

impl<'f> Packages<'f> {
    pub(crate) fn new(files: &'f dyn Files, root: &str) -> Self {
        Self { files, root: root.into(), by_directory: Memo::new(), scopes: Memo::new() }
    }

    /// The manifest in a directory. Manifests above the repository are not read.
    pub(crate) fn at(&self, directory: &str) -> Option<Arc<Package>> {
        self.by_directory.get_or(directory, || {
            if self.is_above_root(directory) {
                return None;
            }
            let file = path::join_plain(directory, "package.json");
            if !self.files.is_file(&file) {
                return None;
            }
            let document = self.files.read(&file).map(|bytes| jsonc::parse_bytes(&bytes));
            let manifest = match document {
                Some(document) if document.error().is_none() => document.value,
                _ => Value::Object(Vec::new()),
            };
            Some(Arc::new(Package { directory: directory.to_owned(), manifest }))
        })
    }

    /// The nearest manifest at or above a directory.
    pub(crate) fn scope(&self, directory: &str) -> Option<Arc<Package>> {
        self.scopes.get_or(directory, || {
            if self.is_above_root(directory) {
                return None;
            }
            self.at(directory).or_else(|| (directory != "/").then(|| self.scope(path::parent(directory))).flatten())
        })
    }

    fn is_above_root(&self, directory: &str) -> bool {
        directory.len() < self.root.len() && path::contains(directory, &self.root)
    }
}
