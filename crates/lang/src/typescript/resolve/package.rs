//! `package.json` files, each read once: contents, scopes, `typesVersions`.

use std::sync::{Arc, OnceLock};

use stan_repo::Files;

use super::{path, semver};
use crate::jsonc::{self, Value};
use crate::memo::Memo;
use crate::typescript::package_map::PackageMap;
use crate::typescript::path_table::PathTable;

/// The fields that resolution uses. Others are dropped, so that a manifest with thousands of fields does not slow down every
/// lookup.
const FIELDS: [&str; 15] = [
    "name",
    "type",
    "exports",
    "imports",
    "typesVersions",
    "types",
    "typings",
    "main",
    "module",
    "source",
    "browser",
    "style",
    "sass",
    "less",
    "svelte",
];

/// A manifest. A file that is not JSON counts as an empty manifest, as in TypeScript.
pub(crate) struct Package {
    /// Absolute path of the manifest's directory.
    pub(crate) directory: String,
    pub(crate) manifest: Value,
    exports: OnceLock<PackageMap>,
    imports: OnceLock<PackageMap>,
    version_paths: OnceLock<Option<PathTable>>,
}

/// A map of a package with its index.
#[derive(Clone, Copy)]
pub(crate) struct Mapping<'p> {
    pub(crate) value: &'p Value,
    pub(crate) index: &'p PackageMap,
}

impl Package {
    fn new(directory: &str, manifest: Value) -> Self {
        let manifest = match manifest {
            Value::Object(mut fields) => {
                fields.retain(|(name, _)| FIELDS.contains(&&**name));
                Value::Object(fields)
            }
            other => other,
        };
        Self {
            directory: directory.to_owned(),
            manifest,
            exports: OnceLock::new(),
            imports: OnceLock::new(),
            version_paths: OnceLock::new(),
        }
    }

    pub(crate) fn name(&self) -> Option<&str> {
        self.text("name")
    }

    pub(crate) fn is_esm(&self) -> bool {
        self.text("type") == Some("module")
    }

    /// The value of `exports`, unless it is missing or falsy.
    pub(crate) fn exports(&self) -> Option<Mapping<'_>> {
        let value = self.manifest.get("exports").filter(|value| is_truthy(value))?;
        Some(Mapping { value, index: self.exports.get_or_init(|| PackageMap::new(value)) })
    }

    pub(crate) fn imports(&self) -> Option<Mapping<'_>> {
        let value = self.manifest.get("imports").filter(|value| is_truthy(value))?;
        Some(Mapping { value, index: self.imports.get_or_init(|| PackageMap::new(value)) })
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

    /// The path mapping of the first `typesVersions` range that includes TypeScript's version.
    pub(crate) fn version_paths(&self) -> Option<&PathTable> {
        let table = self.version_paths.get_or_init(|| {
            let versions = self.manifest.get("typesVersions")?.entries();
            let (_, paths) = versions.iter().find(|(range, _)| semver::admits_typescript(range) == Some(true))?;
            let Value::Object(entries) = paths else { return None };
            let targets = |value: &Value| {
                value.as_array().unwrap_or_default().iter().filter_map(Value::as_str).map(Into::into).collect()
            };
            Some(PathTable::new(entries.iter().map(|(pattern, value)| (pattern.clone(), targets(value))).collect()))
        });
        table.as_ref()
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

/// All manifests that were looked up.
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
            Some(Arc::new(Package::new(directory, manifest)))
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
