//! The project manifest `x07.json`: only the fields that a context pack needs, with the checks of the toolchain. Nothing is
//! resolved.

use std::borrow::Cow;

use stan_model::json::{JsonKind, JsonTree, NodeId};

use super::names::check_symbol;
use super::source_position::{SourcePosition, X07Error};

const VERSIONS: [&str; 4] = ["x07.project@0.2.0", "x07.project@0.3.0", "x07.project@0.4.0", "x07.project@0.5.0"];
const WORLDS: [&str; 7] =
    ["solve-pure", "solve-fs", "solve-rr", "solve-kv", "solve-full", "run-os", "run-os-sandboxed"];
const KNOWN_FIELDS: [&str; 11] = [
    "schema_version",
    "compat",
    "world",
    "entry",
    "operational_entry_symbol",
    "certification_entry_symbol",
    "module_roots",
    "link",
    "dependencies",
    "patch",
    "lockfile",
];

/// The contents of a manifest.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ProjectManifest {
    pub world: String,
    /// Relative path of the entry module, as written.
    pub entry: String,
}

pub fn read_project(bytes: &[u8]) -> Result<ProjectManifest, X07Error> {
    let tree = JsonTree::parse(bytes).map_err(|error| SourcePosition::ROOT.error(error.to_string()))?;
    let root = tree.root();
    if tree.kind(root) != JsonKind::Object {
        return Err(SourcePosition::ROOT.error("project manifest must be an object"));
    }
    refuse_repeated_fields(&tree)?;
    let manifest = Manifest { tree: &tree };
    let schema_version = manifest.required("schema_version")?;
    let world = manifest.required("world")?;
    let entry = manifest.required("entry")?;
    let module_roots = manifest.required_list("module_roots")?;
    let Some(version) = VERSIONS.iter().position(|&known| known == schema_version) else {
        return Err(SourcePosition::ROOT.key("schema_version").error(format!(
            "project schema_version mismatch: expected one of {} got {schema_version:?}",
            VERSIONS.join(", ")
        )));
    };
    manifest.fields_of_later_versions(version)?;
    if !WORLDS.contains(&&*world) {
        let message = format!("unknown project world {world:?} (expected one of {})", WORLDS.join(", "));
        return Err(SourcePosition::ROOT.key("world").error(message));
    }
    check_path(&entry, &SourcePosition::ROOT.key("entry"))?;
    if !entry.ends_with(".x07.json") {
        return Err(SourcePosition::ROOT
            .key("entry")
            .error(format!("project entry must be a *.x07.json file, got {entry:?}")));
    }
    if module_roots.is_empty() {
        return Err(SourcePosition::ROOT.key("module_roots").error("project module_roots must not be empty"));
    }
    let place = SourcePosition::ROOT.key("module_roots");
    for (index, path) in module_roots.iter().enumerate() {
        check_path(path, &place.index(index))?;
    }
    manifest.link()?;
    manifest.dependencies()?;
    manifest.patch()?;
    if let Some(lockfile) = manifest.optional("lockfile")? {
        check_path(&lockfile, &SourcePosition::ROOT.key("lockfile"))?;
    }
    Ok(ProjectManifest { world: world.into_owned(), entry: entry.into_owned() })
}

/// A repeated field is an error: one of the two values would be ignored.
fn refuse_repeated_fields(tree: &JsonTree<'_>) -> Result<(), X07Error> {
    let mut seen = [false; KNOWN_FIELDS.len()];
    for (key, _) in tree.fields(tree.root()) {
        let key = tree.string(key).unwrap_or_default();
        let Some(index) = KNOWN_FIELDS.iter().position(|&known| known == key) else { continue };
        if std::mem::replace(&mut seen[index], true) {
            return Err(SourcePosition::ROOT.key(&key).error(format!("duplicate field {key:?}")));
        }
    }
    Ok(())
}

/// Checks that a path stays inside the project: relative and without `..`.
fn check_path(path: &str, place: &SourcePosition<'_>) -> Result<(), X07Error> {
    if path.is_empty() {
        return Err(place.error("path must not be empty"));
    }
    if path.starts_with('/') {
        return Err(place.error(format!("path must be relative, got {path:?}")));
    }
    if path.split('/').any(|segment| segment == "..") {
        return Err(place.error(format!("path must not contain '..' segments: {path:?}")));
    }
    Ok(())
}

struct Manifest<'t, 'a> {
    tree: &'t JsonTree<'a>,
}

impl<'a> Manifest<'_, 'a> {
    fn required(&self, key: &str) -> Result<Cow<'a, str>, X07Error> {
        let value = self.value(key).ok_or_else(|| SourcePosition::ROOT.error(format!("missing field {key:?}")))?;
        self.text(value, &SourcePosition::ROOT.key(key))
    }

    /// An optional string; null and blank strings count as absent.
    fn optional(&self, key: &str) -> Result<Option<Cow<'a, str>>, X07Error> {
        match self.value(key) {
            Some(value) if self.tree.kind(value) != JsonKind::Null => {
                self.text(value, &SourcePosition::ROOT.key(key)).map(|text| Some(text).filter(|text| !text.is_empty()))
            }
            _ => Ok(None),
        }
    }

    fn required_list(&self, key: &str) -> Result<Vec<Cow<'a, str>>, X07Error> {
        let value = self.value(key).ok_or_else(|| SourcePosition::ROOT.error(format!("missing field {key:?}")))?;
        self.texts(value, &SourcePosition::ROOT.key(key))
    }

    fn value(&self, key: &str) -> Option<NodeId> {
        self.tree.field(self.tree.root(), key)
    }

    /// A trimmed string.
    fn text(&self, id: NodeId, place: &SourcePosition<'_>) -> Result<Cow<'a, str>, X07Error> {
        let text = self.tree.string(id).ok_or_else(|| place.error("expected a string"))?;
        Ok(match text {
            Cow::Borrowed(text) => Cow::Borrowed(text.trim()),
            Cow::Owned(text) => Cow::Owned(text.trim().to_owned()),
        })
    }

    fn texts(&self, id: NodeId, place: &SourcePosition<'_>) -> Result<Vec<Cow<'a, str>>, X07Error> {
        self.expect(id, JsonKind::Array, place)?;
        self.tree.items(id).enumerate().map(|(index, item)| self.text(item, &place.index(index))).collect()
    }

    fn expect(&self, id: NodeId, kind: JsonKind, place: &SourcePosition<'_>) -> Result<(), X07Error> {
        let what = if kind == JsonKind::Array { "an array" } else { "an object" };
        if self.tree.kind(id) == kind { Ok(()) } else { Err(place.error(format!("expected {what}"))) }
    }

    /// 0.2.0 has no `patch`; entry symbols were added in 0.4.0, `compat` in 0.5.0.
    fn fields_of_later_versions(&self, version: usize) -> Result<(), X07Error> {
        for key in ["operational_entry_symbol", "certification_entry_symbol"] {
            if let Some(symbol) = self.optional(key)? {
                if version < 2 {
                    return Err(SourcePosition::ROOT
                        .key(key)
                        .error(format!("{key} requires project schema_version 0.4.0")));
                }
                check_symbol(&symbol).map_err(|message| SourcePosition::ROOT.key(key).error(message))?;
            }
        }
        if self.optional("compat")?.is_some() && version < 3 {
            return Err(SourcePosition::ROOT.key("compat").error("compat requires project schema_version 0.5.0"));
        }
        let has_patch = self.value("patch").is_some_and(|patch| self.tree.fields(patch).next().is_some());
        if has_patch && version == 0 {
            return Err(SourcePosition::ROOT.key("patch").error("patch requires project schema_version 0.3.0"));
        }
        Ok(())
    }

    fn link(&self) -> Result<(), X07Error> {
        let Some(link) = self.value("link") else { return Ok(()) };
        let place = SourcePosition::ROOT.key("link");
        self.expect(link, JsonKind::Object, &place)?;
        for key in ["libs", "search_paths", "frameworks"] {
            let Some(list) = self.tree.field(link, key) else { continue };
            let inside = place.key(key);
            for (index, text) in self.texts(list, &inside)?.iter().enumerate() {
                let item = inside.index(index);
                if key == "search_paths" {
                    check_path(text, &item)?;
                } else if text.is_empty()
                    || text.starts_with('-')
                    || text.contains(['/', '\\', '\0', ' ', '\t', '\n', '\r'])
                {
                    return Err(item.error(format!("not a name to link with: {text:?}")));
                }
            }
        }
        Ok(())
    }

    fn dependencies(&self) -> Result<(), X07Error> {
        let Some(list) = self.value("dependencies") else { return Ok(()) };
        let place = SourcePosition::ROOT.key("dependencies");
        self.expect(list, JsonKind::Array, &place)?;
        for (index, dependency) in self.tree.items(list).enumerate() {
            let inside = place.index(index);
            self.expect(dependency, JsonKind::Object, &inside)?;
            for key in ["name", "version", "path"] {
                let value = self.tree.field(dependency, key);
                let value = value.ok_or_else(|| inside.error(format!("missing field {key:?}")))?;
                let text = self.text(value, &inside.key(key))?;
                if key == "path" {
                    check_path(&text, &inside.key(key))?;
                }
            }
        }
        Ok(())
    }

    fn patch(&self) -> Result<(), X07Error> {
        let Some(patch) = self.value("patch") else { return Ok(()) };
        let place = SourcePosition::ROOT.key("patch");
        self.expect(patch, JsonKind::Object, &place)?;
        for (key, spec) in self.tree.fields(patch) {
            let key = self.tree.string(key).unwrap_or_default();
            let inside = place.key(&key);
            let name = key.trim();
            let is_name = name.starts_with(|c: char| c.is_ascii_lowercase())
                && name.chars().all(|c| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '_' || c == '-');
            if !is_name {
                return Err(inside.error(format!("patch key must match ^[a-z][a-z0-9_-]*$, got {name:?}")));
            }
            self.expect(spec, JsonKind::Object, &inside)?;
            let version = self.tree.field(spec, "version").ok_or_else(|| inside.error("missing field \"version\""))?;
            if self.text(version, &inside.key("version"))?.is_empty() {
                return Err(inside.key("version").error("version must not be empty"));
            }
            if let Some(path) = self.tree.field(spec, "path").filter(|&path| self.tree.kind(path) != JsonKind::Null) {
                let path = self.text(path, &inside.key("path"))?;
                if !path.is_empty() {
                    check_path(&path, &inside.key("path"))?;
                }
            }
        }
        Ok(())
    }
}
