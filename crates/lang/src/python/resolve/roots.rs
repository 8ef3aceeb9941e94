//! The source roots of a project: the folders that its build backend takes packages from, then `src`, the project folder and
//! `lib`. Manifests are parsed as data: `setup.py` is never run, and an unreadable manifest is ignored.

use std::sync::Arc;

use stan_repo::Files;
use toml::{Table, Value};

use super::folders::Folder;
use super::setup;
use crate::paths::join_plain;

/// Files that mark a folder as a project, besides `setup.py` and `manage.py`.
const MARKERS: [&str; 2] = ["pyproject.toml", "setup.cfg"];

/// Files that list what is installed for a folder, which may be a project or only its tests.
const WEAK_MARKERS: [&str; 2] = ["requirements.txt", "Pipfile"];

/// Whether a folder is a project, and its precedence.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Project {
    None,
    /// Searched after the projects that contain it.
    Weak,
    /// Searched before the projects that contain it.
    Own,
}

/// Real manifests are far smaller.
const MAX_MANIFEST_BYTES: usize = 1 << 20;

/// A bound: no real project has this many roots.
const MAX_ROOTS: usize = 32;

/// Whether a folder is a project. A `setup.py` inside a package is just a module.
pub(super) fn project_at(folder: &Folder, files: &dyn Files, path: &str) -> Project {
    let is_script = |name: &str| folder.get(name).is_some_and(|entry| entry.source);
    let has = |markers: &[&str]| markers.iter().any(|name| files.is_file(&join_plain(path, name)));
    if is_script("manage") || (is_script("setup") && folder.package_file().is_none()) || has(&MARKERS) {
        Project::Own
    } else if has(&WEAK_MARKERS) {
        Project::Weak
    } else {
        Project::None
    }
}

/// The source roots of a project in search order.
pub(super) fn source_roots(files: &dyn Files, project: &str) -> Vec<Arc<str>> {
    let read = |name: &str| {
        let bytes = files.read(&join_plain(project, name)).filter(|bytes| bytes.len() <= MAX_MANIFEST_BYTES)?;
        String::from_utf8(bytes.to_vec()).ok()
    };
    let mut declared = Vec::new();
    if let Some(table) = read("pyproject.toml").and_then(|text| text.parse::<Table>().ok()) {
        of_pyproject(&table, &mut declared);
    }
    if let Some(text) = read("setup.cfg") {
        setup::of_setup_cfg(&text, &mut declared);
    }
    if let Some(text) = read("setup.py") {
        setup::of_setup_py(&text, &mut declared);
    }
    let is_package = |path: &str| files.first_file(&join_plain(path, "__init__"), &[".py", ".pyi"]).is_some();
    let mut roots: Vec<Arc<str>> = Vec::new();
    let mut add = |path: String| {
        if roots.len() < MAX_ROOTS && files.is_dir(&path) && !roots.iter().any(|known| **known == *path) {
            roots.push(path.into());
        }
    };
    for folder in declared.iter().filter_map(|folder| inside(folder)) {
        add(join_plain(project, &folder));
    }
    let [source, library] = ["src", "lib"].map(|name| join_plain(project, name));
    if !is_package(&source) {
        add(source);
    }
    add(project.to_owned());
    if !is_package(&library) {
        add(library);
    }
    roots
}

/// A normalised folder below the project; `None` for one outside.
fn inside(folder: &str) -> Option<String> {
    let folder = folder.replace('\\', "/");
    let parts: Vec<&str> = folder.split('/').filter(|part| !matches!(*part, "" | ".")).collect();
    let is_inside = !folder.starts_with('/') && !folder.contains(['*', '\0']) && !parts.contains(&"..");
    is_inside.then(|| parts.join("/"))
}

/// Reads the tables of build backends and test runners.
fn of_pyproject(table: &Table, roots: &mut Vec<String>) {
    let find = |path: &[&str]| {
        let mut value = table.get(*path.first()?)?;
        for key in path.get(1..)? {
            value = value.get(key)?;
        }
        Some(value)
    };
    let mut add_all = |value: Option<&Value>| roots.extend(value.into_iter().flat_map(strings).map(str::to_owned));
    add_all(find(&["tool", "setuptools", "packages", "find", "where"]));
    add_all(find(&["tool", "hatch", "build", "sources"]));
    add_all(find(&["tool", "hatch", "build", "targets", "wheel", "sources"]));
    add_all(find(&["tool", "pdm", "build", "package-dir"]));
    add_all(find(&["tool", "pdm", "package-dir"]));
    add_all(find(&["tool", "uv", "build-backend", "module-root"]));
    add_all(find(&["tool", "maturin", "python-source"]));
    add_all(find(&["tool", "pytest", "ini_options", "pythonpath"]));
    if let Some(Value::Table(folders)) = find(&["tool", "setuptools", "package-dir"]) {
        for (package, folder) in folders.iter().filter_map(|(package, folder)| Some((package, folder.as_str()?))) {
            roots.extend(setup::root_of_package(package, folder));
        }
    }
    // Hatch and scikit-build-core list packages, so the roots are their parents.
    for path in [
        &["tool", "hatch", "build", "targets", "wheel", "packages"][..],
        &["tool", "hatch", "build", "packages"],
        &["tool", "scikit-build", "wheel", "packages"],
    ] {
        for package in find(path).into_iter().flat_map(strings) {
            roots.push(package.trim_end_matches('/').rsplit_once('/').map_or(".", |(parent, _)| parent).to_owned());
        }
    }
    if let Some(Value::Array(packages)) = find(&["tool", "poetry", "packages"]) {
        roots.extend(packages.iter().filter_map(|package| package.get("from")?.as_str()).map(str::to_owned));
    }
}

/// A string, or all strings of a list.
fn strings(value: &Value) -> impl Iterator<Item = &str> {
    let list = value.as_array().map(Vec::as_slice).unwrap_or_default();
    value.as_str().into_iter().chain(list.iter().filter_map(Value::as_str)).take(MAX_ROOTS)
}
