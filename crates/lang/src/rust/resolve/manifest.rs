//! Parses `Cargo.toml`: packages with their crates and dependencies, and workspaces.

use rustc_hash::FxHashMap;
use stan_repo::{EntryKind, Files};
use toml::{Table, Value};

use crate::paths::{join_plain, parent};

/// Real manifests are far smaller.
const MAX_MANIFEST_BYTES: usize = 1 << 20;

/// A parsed manifest.
#[derive(Debug, Default)]
pub(super) struct Manifest {
    pub(super) folder: Box<str>,
    pub(super) package: Option<PackageFacts>,
    pub(super) workspace: Option<WorkspaceFacts>,
}

/// The `[package]` table and the tables next to it.
#[derive(Debug, Default)]
pub(super) struct PackageFacts {
    pub(super) name: Box<str>,
    pub(super) version: Option<Box<str>>,
    /// The name and root file of the library.
    pub(super) library: Option<(Box<str>, Box<str>)>,
    /// The root files of all other crates: programs, tests, examples, benchmarks, the build script.
    pub(super) programs: Vec<Box<str>>,
    pub(super) is_2015: bool,
    /// By the name in code, as far as the manifest determines it.
    pub(super) dependencies: FxHashMap<Box<str>, Dependency>,
    /// The folder of the workspace, if the package specifies it.
    pub(super) workspace: Option<Box<str>>,
}

#[derive(Clone, Debug, Default)]
pub(super) struct Dependency {
    /// The package's name.
    pub(super) package: Box<str>,
    /// The folder of a path dependency.
    pub(super) folder: Option<Box<str>>,
    /// `workspace = true`: the workspace specifies the source.
    pub(super) inherited: bool,
    /// The manifest renames the package, so the library's own name is not used.
    pub(super) renamed: bool,
}

#[derive(Debug, Default)]
pub(super) struct WorkspaceFacts {
    pub(super) dependencies: FxHashMap<Box<str>, Dependency>,
    /// Local packages that replace others (`[patch]`), by name.
    pub(super) patches: FxHashMap<Box<str>, Box<str>>,
    pub(super) is_2015: Option<bool>,
}

/// Reads the manifest of a folder.
pub(super) fn read(files: &dyn Files, folder: &str) -> Option<Manifest> {
    let bytes = files.read(&join_plain(folder, "Cargo.toml")).filter(|bytes| bytes.len() <= MAX_MANIFEST_BYTES)?;
    let table: Table = std::str::from_utf8(&bytes).ok()?.parse().ok()?;
    let workspace =
        table.get("workspace").and_then(Value::as_table).map(|workspace| workspace_facts(&table, workspace, folder));
    let package = table.get("package").or_else(|| table.get("project")).and_then(Value::as_table);
    let package = package.and_then(|package| package_facts(files, &table, package, folder));
    Some(Manifest { folder: folder.into(), package, workspace })
}

/// Only the name and root file of the library, for a package that is only a dependency.
pub(super) fn read_library(files: &dyn Files, folder: &str) -> Option<(Box<str>, Box<str>)> {
    let bytes = files.read(&join_plain(folder, "Cargo.toml")).filter(|bytes| bytes.len() <= MAX_MANIFEST_BYTES)?;
    let table: Table = std::str::from_utf8(&bytes).ok()?.parse().ok()?;
    let name = table.get("package")?.get("name")?.as_str()?;
    library(files, &table, name, folder)
}

fn workspace_facts(table: &Table, workspace: &Table, folder: &str) -> WorkspaceFacts {
    let mut facts = WorkspaceFacts { patches: patches(table, folder), ..WorkspaceFacts::default() };
    add_dependencies(workspace.get("dependencies"), folder, &mut facts.dependencies);
    let edition = workspace.get("package").and_then(|package| package.get("edition")).and_then(Value::as_str);
    facts.is_2015 = edition.map(|edition| edition == "2015");
    facts
}

fn patches(table: &Table, folder: &str) -> FxHashMap<Box<str>, Box<str>> {
    let mut patches = FxHashMap::default();
    for source in table.get("patch").and_then(Value::as_table).into_iter().flat_map(Table::values) {
        for (key, value) in source.as_table().into_iter().flatten() {
            let name = value.get("package").and_then(Value::as_str).unwrap_or(key);
            if let Some(path) = value.get("path").and_then(Value::as_str) {
                patches.insert(name.into(), join_plain(folder, path).into());
            }
        }
    }
    patches
}

fn package_facts(files: &dyn Files, table: &Table, package: &Table, folder: &str) -> Option<PackageFacts> {
    let name = package.get("name").and_then(Value::as_str)?;
    let mut facts = PackageFacts { name: name.into(), ..PackageFacts::default() };
    facts.version = package.get("version").and_then(Value::as_str).map(Into::into);
    // The default edition is 2015; an inherited edition is a table.
    facts.is_2015 = package.get("edition").is_none_or(|edition| edition.as_str() == Some("2015"));
    facts.workspace = package.get("workspace").and_then(Value::as_str).map(|path| join_plain(folder, path).into());
    facts.library = library(files, table, name, folder);
    facts.programs = programs(files, table, package, folder);
    let library = facts.library.as_ref().map(|(_, file)| file.clone());
    facts.programs.retain(|file| Some(file) != library.as_ref());
    for section in ["dependencies", "dev-dependencies", "build-dependencies", "dev_dependencies", "build_dependencies"]
    {
        add_dependencies(table.get(section), folder, &mut facts.dependencies);
        for target in table.get("target").and_then(Value::as_table).into_iter().flat_map(Table::values) {
            add_dependencies(target.get(section), folder, &mut facts.dependencies);
        }
    }
    Some(facts)
}

fn library(files: &dyn Files, table: &Table, package: &str, folder: &str) -> Option<(Box<str>, Box<str>)> {
    let section = table.get("lib");
    let field = |name: &str| section.and_then(|section| section.get(name)).and_then(Value::as_str);
    let name = field("name").unwrap_or(package).replace('-', "_");
    let file = join_plain(folder, field("path").unwrap_or("src/lib.rs"));
    (files.is_file(&file)).then(|| (name.into(), file.into()))
}

/// The crate roots that Cargo finds by convention, and those that the manifest lists.
fn programs(files: &dyn Files, table: &Table, package: &Table, folder: &str) -> Vec<Box<str>> {
    let mut found: Vec<Box<str>> = Vec::new();
    let mut add = |path: String| {
        if files.is_file(&path) && !found.iter().any(|known| **known == *path) {
            found.push(path.into());
        }
    };
    add(join_plain(folder, "src/main.rs"));
    for (section, place) in [("bin", "src/bin"), ("test", "tests"), ("example", "examples"), ("bench", "benches")] {
        let named = table.get(section).and_then(Value::as_array).into_iter().flatten();
        for target in named {
            let field = |name: &str| target.get(name).and_then(Value::as_str);
            if let Some(path) = field("path") {
                add(join_plain(folder, path));
            }
        }
        let place = join_plain(folder, place);
        for (name, kind) in files.list(&place) {
            match kind {
                EntryKind::File if name.ends_with(".rs") => add(join_plain(&place, &name)),
                EntryKind::Dir => add(join_plain(&place, &[&name, "/main.rs"].concat())),
                _ => {}
            }
        }
    }
    match package.get("build") {
        Some(Value::String(path)) => add(join_plain(folder, path)),
        Some(Value::Boolean(false)) => {}
        _ => add(join_plain(folder, "build.rs")),
    }
    found
}

fn add_dependencies(section: Option<&Value>, folder: &str, found: &mut FxHashMap<Box<str>, Dependency>) {
    for (key, value) in section.and_then(Value::as_table).into_iter().flatten() {
        let field = |name: &str| value.get(name).and_then(Value::as_str);
        let package = field("package");
        let dependency = Dependency {
            package: package.unwrap_or(key).into(),
            folder: field("path").map(|path| join_plain(folder, path).into()),
            inherited: value.get("workspace").and_then(Value::as_bool) == Some(true),
            renamed: package.is_some(),
        };
        found.entry(key.replace('-', "_").into()).or_insert(dependency);
    }
}

/// The folders from `folder` up to `root`, in which to look for a manifest.
pub(super) fn folders_up<'a>(root: &'a str, folder: &'a str) -> impl Iterator<Item = &'a str> {
    let mut next = Some(folder).filter(|folder| crate::paths::contains(root, folder));
    std::iter::from_fn(move || {
        let current = next?;
        next = (current != root).then(|| parent(current));
        Some(current)
    })
}
