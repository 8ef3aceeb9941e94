//! Virtual environments inside the repository: the folders of their installed packages, and the repository folders that they
//! refer to (`.pth` files of editable installs). Paths outside the repository are ignored.

use std::cmp::Reverse;
use std::sync::Arc;

use stan_repo::{EntryKind, Files};

use super::setup;
use crate::paths::{contains, join_plain};
use crate::project::Project;

/// Usual folder names of environments, which are checked in every folder.
const USUAL: [&str; 2] = [".venv", "venv"];

/// Folders that are not environments and may be large.
const NEVER: [&str; 6] = [".git", "node_modules", "__pycache__", ".mypy_cache", ".ruff_cache", ".pytest_cache"];

/// Real `.pth` files have one line.
const MAX_PATH_FILE_BYTES: usize = 64 << 10;

/// A bound: no real environment refers to this many folders.
const MAX_EDITABLE: usize = 64;

/// The site-packages of environments directly in a folder. In a project folder, an environment may have any name.
pub(super) fn site_folders(project: &Project<'_>, folder: &str, is_project: bool) -> Vec<Arc<str>> {
    let files = project.files;
    let mut names: Vec<String> = USUAL.iter().map(|name| (*name).to_owned()).collect();
    if is_project {
        let others = files.list(folder).into_iter().filter(|(_, kind)| *kind == EntryKind::Dir).map(|(name, _)| name);
        names.extend(others.filter(|name| !USUAL.contains(&&**name) && !NEVER.contains(&&**name)));
    }
    let environments = names.iter().map(|name| join_plain(folder, name));
    let environments = environments.filter(|path| files.is_dir(path) && files.is_file(&join_plain(path, "pyvenv.cfg")));
    let sites: Vec<Arc<str>> = environments.flat_map(|environment| packages_of(files, &environment)).collect();
    let editable: Vec<Arc<str>> = sites.iter().flat_map(|site| editable_folders(project, site)).collect();
    sites.into_iter().chain(editable).collect()
}

/// The site-packages folders of an environment, the newest Python version first.
fn packages_of(files: &dyn Files, environment: &str) -> Vec<Arc<str>> {
    let mut versions: Vec<(Reverse<u32>, String)> = Vec::new();
    let library = join_plain(environment, "lib");
    for (name, kind) in files.list(&library) {
        if let Some(version) = name.strip_prefix("python").filter(|_| kind == EntryKind::Dir) {
            // `python3.13t` is the free-threaded build of 3.13.
            let minor = version.split_once('.').and_then(|(_, minor)| minor.trim_end_matches('t').parse().ok());
            versions.push((Reverse(minor.unwrap_or(0)), format!("{library}/{name}/site-packages")));
        }
    }
    versions.sort();
    let mut folders: Vec<String> = versions.into_iter().map(|(_, path)| path).collect();
    folders.push(join_plain(environment, "Lib/site-packages"));
    folders.retain(|path| files.is_dir(path));
    folders.into_iter().map(Arc::from).collect()
}

/// Folders of the repository that an environment imports from: lines of `.pth` files, and the tables in the import hooks that
/// setuptools writes. Nothing is executed.
fn editable_folders(project: &Project<'_>, site: &str) -> Vec<Arc<str>> {
    let files = project.files;
    let mut found = Vec::new();
    for (name, kind) in files.list(site) {
        let is_table = name.starts_with("__editable__") && name.ends_with("_finder.py");
        if kind != EntryKind::File || !(is_table || name.ends_with(".pth")) || found.len() >= MAX_EDITABLE {
            continue;
        }
        let Some(bytes) = files.read(&join_plain(site, &name)).filter(|bytes| bytes.len() <= MAX_PATH_FILE_BYTES)
        else {
            continue;
        };
        let text = String::from_utf8_lossy(&bytes);
        if is_table {
            found.extend(setup::of_editable_table(&text));
        } else {
            // Lines that start with `import` are code, which Python would execute.
            let is_path = |line: &&str| !line.is_empty() && !line.starts_with('#') && !line.starts_with("import");
            found.extend(text.lines().map(str::trim).filter(is_path).take(MAX_EDITABLE).map(str::to_owned));
        }
    }
    let folders = found.into_iter().map(|path| join_plain(site, &path));
    let folders =
        folders.filter(|path| contains(project.root, path) && !stan_model::is_installed(path) && files.is_dir(path));
    folders.map(Arc::from).collect()
}
