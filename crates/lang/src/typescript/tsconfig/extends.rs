//! Resolves the text of an `extends` to a file.
//!
//! A path is tried as written and with `.json`. Anything else is resolved like a package in Node, with TypeScript's exceptions
//! for configurations: the `tsconfig` field of a package, and `tsconfig.json` as the index file.

use std::sync::Arc;

use stan_repo::Files;

use crate::jsonc::{self, Value};
use crate::memo::Memo;
use crate::typescript::package_map::PackageMap;
use crate::typescript::resolve::links::Links;

use super::inside::Inside;
use super::paths;

/// The conditions of `exports` for configurations, besides `default`.
const CONDITIONS: [&str; 3] = ["require", "types", "node"];

/// Extensions that are removed from a name before `.json` is tried.
const REPLACED_BY_JSON: [&str; 4] = [".d.ts", ".ts", ".js", ".json"];

/// Extensions that TypeScript knows but never replaces by `.json`.
const NEVER_REPLACED: [&str; 8] = [".d.mts", ".d.cts", ".mjs", ".mts", ".cjs", ".cts", ".tsx", ".jsx"];

/// Whether an `extends` names a file by its path.
pub(super) fn is_path(name: &str) -> bool {
    paths::is_rooted(name) || name.starts_with("./") || name.starts_with("../")
}

/// The file that `name` refers to in a configuration in `directory`; `None` if it does not exist.
pub(super) fn resolve(place: &ExtendsScope<'_>, name: &str, directory: &str) -> Option<String> {
    let files = &place.files;
    let name = name.replace('\\', "/");
    if is_path(&name) {
        let path = paths::normalize(&name, directory);
        if files.is_file(&path) {
            return Some(path);
        }
        let with_json = format!("{path}.json");
        return (!path.ends_with(".json") && files.is_file(&with_json)).then_some(with_json);
    }
    if name == "." || name == ".." {
        let candidate = paths::normalize(&name, directory);
        let package = place.package_at(&candidate);
        return from_directory(files, &candidate, package.as_deref());
    }
    if name.is_empty() {
        return None;
    }
    if name.starts_with('#')
        && let Some(path) = from_own_imports(place, &name, directory)
    {
        return Some(path);
    }
    from_own_name(place, &name, directory).or_else(|| from_node_modules(place, &name, directory))
}

/// The file system, and the manifests read so far: many configurations may extend files of one package.
pub(super) struct ExtendsScope<'f> {
    pub(super) files: Inside<'f>,
    /// Packages of the repository, which need no install.
    links: Option<Arc<Links<'f>>>,
    packages: Memo<String, Option<Arc<Package>>>,
}

impl<'f> ExtendsScope<'f> {
    pub(super) fn new(files: Inside<'f>) -> Self {
        Self { files, links: None, packages: Memo::new() }
    }

    pub(super) fn set_links(&mut self, links: Arc<Links<'f>>) {
        self.links = Some(links);
    }

    fn package_at(&self, directory: &str) -> Option<Arc<Package>> {
        self.packages.get_or(directory, || Package::at(&self.files, directory).map(Arc::new))
    }

    fn package_around(&self, directory: &str) -> Option<Arc<Package>> {
        paths::ancestors(directory).find_map(|directory| self.package_at(directory))
    }
}

/// The fields that are used.
const FIELDS: [&str; 4] = ["name", "exports", "imports", "tsconfig"];

/// A `package.json` and its directory.
struct Package {
    directory: String,
    manifest: Value,
    exports: PackageMap,
    imports: PackageMap,
}

impl Package {
    fn at(files: &dyn Files, directory: &str) -> Option<Self> {
        let path = paths::join(directory, "package.json");
        if !files.is_file(&path) {
            return None;
        }
        // As in TypeScript, an unreadable manifest is an empty one.
        let document = jsonc::parse_bytes(&files.read(&path).unwrap_or_default());
        let manifest = match document.value {
            Value::Object(mut fields) if document.syntax_error.is_none() && document.not_json.is_none() => {
                fields.retain(|(name, _)| FIELDS.contains(&&**name));
                Value::Object(fields)
            }
            _ => Value::Null,
        };
        let index = |field| manifest.get(field).map(PackageMap::new).unwrap_or_default();
        let (exports, imports) = (index("exports"), index("imports"));
        Some(Self { directory: directory.to_owned(), manifest, exports, imports })
    }

    fn exports(&self) -> Option<&Value> {
        self.manifest.get("exports").filter(|exports| exports.is_truthy())
    }
}

fn from_own_imports(place: &ExtendsScope<'_>, name: &str, directory: &str) -> Option<String> {
    if name == "#" || name.starts_with("#/") {
        return None;
    }
    let package = place.package_around(directory)?;
    let table = package.manifest.get("imports")?;
    from_table(&place.files, &package, name, table, &package.imports)
}

fn from_own_name(place: &ExtendsScope<'_>, name: &str, directory: &str) -> Option<String> {
    let package = place.package_around(directory)?;
    let exports = package.exports()?;
    let own_name = package.manifest.get("name")?.as_str()?;
    let rest = name.strip_prefix(own_name)?;
    let subpath = if rest.is_empty() { ".".to_owned() } else { format!("./{}", rest.strip_prefix('/')?) };
    from_exports(&place.files, &package, &subpath, exports)
}

fn from_node_modules(place: &ExtendsScope<'_>, name: &str, directory: &str) -> Option<String> {
    if name.contains(':') {
        return None;
    }
    let (package, rest) = split_package_name(name);
    let installed = paths::ancestors(directory)
        .filter(|directory| paths::base_name(directory) != "node_modules")
        .find_map(|directory| {
            let folder = paths::join(directory, "node_modules");
            if place.files.is_dir(&folder) { from_package(place, &paths::join(&folder, package), rest) } else { None }
        });
    let found = installed.or_else(|| {
        let linked = place.links.as_ref()?.packages(directory, package);
        linked.iter().find_map(|directory| from_package(place, directory, rest))
    })?;
    let real = place.files.real_path(&found).unwrap_or(found);
    Some(place.files.alias(&real).into_owned())
}

/// The configuration `rest` (empty for the main one) of the package in `directory`.
fn from_package(place: &ExtendsScope<'_>, directory: &str, rest: &str) -> Option<String> {
    let files = &place.files;
    let candidate = if rest.is_empty() { directory.to_owned() } else { paths::normalize(rest, directory) };
    let root = place.package_at(directory);
    if let Some(package) = &root
        && let Some(exports) = package.exports()
    {
        let subpath = if rest.is_empty() { ".".to_owned() } else { format!("./{rest}") };
        return from_exports(files, package, &subpath, exports);
    }
    let nested = if rest.is_empty() { root } else { place.package_at(&candidate) };
    from_file(files, &candidate).or_else(|| from_directory(files, &candidate, nested.as_deref()))
}

fn split_package_name(name: &str) -> (&str, &str) {
    let scope = if name.starts_with('@') { name.find('/').map_or(name.len(), |slash| slash + 1) } else { 0 };
    match name.get(scope..).and_then(|rest| rest.find('/')) {
        Some(slash) => (name.get(..scope + slash).unwrap_or(name), name.get(scope + slash + 1..).unwrap_or_default()),
        None => (name, ""),
    }
}

fn from_exports(files: &dyn Files, package: &Package, subpath: &str, exports: &Value) -> Option<String> {
    let index = &package.exports;
    if subpath == "." {
        let main = if index.has_dots { index.get(exports, ".")? } else { exports };
        return from_target(files, package, main, "", false);
    }
    if matches!(exports, Value::Object(_)) && index.all_dots {
        return from_table(files, package, subpath, exports, index);
    }
    None
}

fn from_table(files: &dyn Files, package: &Package, name: &str, table: &Value, index: &PackageMap) -> Option<String> {
    let found = index.by_typescript(table, name)?;
    from_target(files, package, found.target, found.rest, found.is_pattern)
}

fn from_target(files: &dyn Files, package: &Package, target: &Value, rest: &str, star: bool) -> Option<String> {
    match target {
        Value::String(target) => {
            let inside = target.strip_prefix("./")?;
            let refused = |part: &str| matches!(part, "." | ".." | "node_modules");
            if inside.split('/').any(refused) || rest.split('/').any(refused) {
                return None;
            }
            if !star && !rest.is_empty() && !target.ends_with('/') {
                return None;
            }
            let inside = if star { inside.replace('*', rest) } else { [inside, rest].concat() };
            let path = paths::normalize(&inside, &package.directory);
            if path.ends_with(".json") { files.is_file(&path).then_some(path) } else { replace_extension(files, &path) }
        }
        Value::Object(conditions) => conditions
            .iter()
            .filter(|(condition, _)| &**condition == "default" || CONDITIONS.contains(&&**condition))
            .find_map(|(_, target)| from_target(files, package, target, rest, star)),
        Value::Array(targets) => targets.iter().find_map(|target| from_target(files, package, target, rest, star)),
        _ => None,
    }
}

/// Tries a name as a file: with its extension replaced, or with `.json` appended.
fn from_file(files: &dyn Files, candidate: &str) -> Option<String> {
    replace_extension(files, candidate).or_else(|| {
        let with_json = format!("{candidate}.json");
        files.is_file(&with_json).then_some(with_json)
    })
}

fn replace_extension(files: &dyn Files, candidate: &str) -> Option<String> {
    if NEVER_REPLACED.iter().any(|extension| candidate.ends_with(extension)) {
        return None;
    }
    let stem = REPLACED_BY_JSON.iter().find_map(|extension| candidate.strip_suffix(extension))?;
    let replaced = format!("{stem}.json");
    files.is_file(&replaced).then_some(replaced)
}

/// Tries a directory: the value of its manifest's `tsconfig` field, otherwise its `tsconfig.json`.
fn from_directory(files: &dyn Files, directory: &str, package: Option<&Package>) -> Option<String> {
    let field = package
        .and_then(|package| package.manifest.get("tsconfig"))
        .and_then(Value::as_str)
        .filter(|field| !field.is_empty());
    if let Some(field) = field {
        let path = paths::normalize(field, directory);
        if path.ends_with(".json") && files.is_file(&path) {
            return Some(path);
        }
        let found = from_file(files, &path).or_else(|| from_directory(files, &path, None));
        if found.is_some() {
            return found;
        }
    }
    let index = paths::join(directory, "tsconfig.json");
    files.is_file(&index).then_some(index)
}
