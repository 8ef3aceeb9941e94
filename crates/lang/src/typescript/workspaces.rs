//! The packages of a repository by name: the links that an install would make, from the manifests that request them.
//!
//! Sources are `workspaces` of any `package.json` (npm, yarn, bun), `pnpm-workspace.yaml`, `lerna.json`, and the local
//! dependencies (`file:`, `link:`, `portal:`, `workspace:`) of every manifest (`local_dependencies.rs`). Each package is a
//! virtual `node_modules/<name>` in the folder where an install would put it: a declaration applies to its own folder, and the
//! nearest one wins. Packages are searched among the files of the universe, never on disk. Nothing here resolves an import.

use std::collections::{BTreeMap, BTreeSet};

use rustc_hash::FxHashMap;
use saphyr_parser::{Event, Parser};
use stan_model::{Problem, Weight};
use stan_repo::Files;

use crate::jsonc::{self, Value};

use super::local_dependencies::{LocalDependency, local_dependencies};
use super::workspace_patterns::{MAX_UNINDEXED, Refused, WorkspacePatterns};

/// The links of one folder: package name to directory, relative to the repository's root.
type FolderLinks = BTreeMap<Box<str>, Box<str>>;

/// The virtual `node_modules` folders of a repository.
#[derive(Debug, Default)]
pub struct Workspaces {
    /// By the directory that would contain the folder, relative to the root (empty for the root).
    folders: FxHashMap<Box<str>, FolderLinks>,
    /// The directories of the packages that some declaration includes, sorted.
    members: Vec<Box<str>>,
}

/// The fields of a manifest that matter here.
#[derive(Default)]
struct Manifest {
    is_readable: bool,
    name: Option<Box<str>>,
    dependencies: Vec<LocalDependency>,
}

impl Workspaces {
    /// Finds the packages. `universe` has root-relative paths in any order; `root` is absolute.
    pub fn find<'p>(
        files: &dyn Files,
        root: &str,
        universe: impl IntoIterator<Item = &'p str>,
    ) -> (Self, Vec<Problem>) {
        let mut finder = Finder { files, root, problems: BTreeSet::new() };
        let mut manifests: BTreeMap<&str, Manifest> = BTreeMap::new();
        let mut declaring: BTreeSet<&str> = BTreeSet::new();
        // Checks the extension first: nearly all files have another one.
        for path in universe.into_iter().filter(|path| path.ends_with(".json") || path.ends_with(".yaml")) {
            let (directory, name) = path.rsplit_once('/').unwrap_or(("", path));
            match name {
                "package.json" => drop(manifests.insert(directory, Manifest::default())),
                "pnpm-workspace.yaml" | "lerna.json" => drop(declaring.insert(path)),
                _ => {}
            }
        }
        let mut declarations: Vec<Declaration> = Vec::new();
        for (directory, manifest) in &mut manifests {
            let Some(value) = finder.read(&at(directory, "package.json")) else { continue };
            let patterns = value.get("workspaces").map(workspace_patterns);
            declarations.extend(patterns.map(|patterns| finder.declaration(directory, "package.json", &patterns)));
            let name = value.get("name").and_then(Value::as_str).filter(|name| !name.is_empty());
            let dependencies = local_dependencies(&value, directory);
            *manifest = Manifest { is_readable: true, name: name.map(Into::into), dependencies };
        }
        for path in declaring {
            declarations.extend(finder.other_declaration(path));
        }
        let declarations = Declarations::new(declarations);
        let mut workspaces = Self::default();
        for (directory, manifest) in &manifests {
            finder.add_member(&mut workspaces, &declarations, directory, manifest);
        }
        workspaces.add_declaring(&declarations, &manifests);
        workspaces.add_dependencies(manifests);
        (workspaces, finder.problems.into_iter().collect())
    }

    /// The directory that a package name is linked to in the virtual `node_modules` of `folder`. Both are relative to the root.
    pub fn link(&self, folder: &str, name: &str) -> Option<&str> {
        self.folders.get(folder)?.get(name).map(|directory| &**directory)
    }

    /// Whether there are no links.
    pub fn is_empty(&self) -> bool {
        self.folders.is_empty()
    }

    /// The directories of all packages that some declaration includes, sorted.
    pub fn members(&self) -> &[Box<str>] {
        &self.members
    }

    /// The link of a name in the nearest folder, from `directory` upwards.
    fn nearest(&self, directory: &str, name: &str) -> Option<&str> {
        folders_above(directory).find_map(|folder| self.link(folder, name))
    }

    /// The root package of a workspace can be imported by name too, as yarn allows.
    fn add_declaring(&mut self, declarations: &Declarations, manifests: &BTreeMap<&str, Manifest>) {
        for directory in declarations.0.keys() {
            let own = manifests.get(directory.as_str()).and_then(|manifest| manifest.name.as_deref());
            if let Some(name) = own {
                let folder = self.folders.entry(directory.as_str().into()).or_default();
                folder.entry(name.into()).or_insert_with(|| directory.as_str().into());
            }
        }
    }

    /// Local dependencies are linked beside the manifest, unless a workspace member has the same name.
    fn add_dependencies(&mut self, manifests: BTreeMap<&str, Manifest>) {
        for (directory, manifest) in manifests {
            for dependency in manifest.dependencies {
                let (name, target) = match dependency {
                    LocalDependency::Folder { name, directory } => (name, Some(directory)),
                    LocalDependency::Alias { name, of } => (name, self.nearest(directory, &of).map(Into::into)),
                };
                if let Some(target) = target {
                    let folder = self.folders.entry(directory.into()).or_default();
                    folder.entry(name).or_insert(target);
                }
            }
        }
    }
}

/// A directory and its parents, nearest first, relative to the root. The last one is the root itself, the empty path.
pub(super) fn folders_above(directory: &str) -> impl Iterator<Item = &str> {
    std::iter::successors(Some(directory), |path| match path.rsplit_once('/') {
        Some((parent, _)) => Some(parent),
        None => (!path.is_empty()).then_some(""),
    })
}

fn at(directory: &str, name: &str) -> String {
    if directory.is_empty() { name.to_owned() } else { [directory, "/", name].concat() }
}

struct Finder<'a> {
    files: &'a dyn Files,
    root: &'a str,
    problems: BTreeSet<Problem>,
}

/// A list of patterns, and the directory that they are relative to.
struct Declaration {
    directory: String,
    patterns: WorkspacePatterns,
    /// In pnpm, the declaring package is a member itself, and negated patterns always win.
    is_pnpm: bool,
}

/// All declarations, by directory: nearly every package may have one.
struct Declarations(BTreeMap<String, Vec<Declaration>>);

impl Declarations {
    fn new(declarations: Vec<Declaration>) -> Self {
        let mut by_directory: BTreeMap<String, Vec<Declaration>> = BTreeMap::new();
        for declaration in declarations {
            by_directory.entry(declaration.directory.clone()).or_default().push(declaration);
        }
        Self(by_directory)
    }

    /// The directories, outermost first, whose declarations include a directory.
    fn governing<'d>(&'d self, directory: &'d str) -> impl Iterator<Item = &'d str> {
        let ends = directory.match_indices('/').map(|(at, _)| at).chain([directory.len()]);
        let above = std::iter::once(0).chain(ends.filter(|end| *end > 0));
        above.filter_map(|end| {
            let (base, inside) = directory.split_at(end);
            let declarations = self.0.get(base)?;
            let includes = |declaration: &Declaration| declaration.includes(inside.trim_start_matches('/'));
            declarations.iter().any(includes).then_some(base)
        })
    }
}

impl Declaration {
    /// `inside` is relative to the declaration's directory.
    fn includes(&self, inside: &str) -> bool {
        if inside.is_empty() {
            return self.is_pnpm;
        }
        if inside.split('/').any(|name| name == "node_modules" || name == "bower_components") {
            return false;
        }
        self.patterns.include(inside, self.is_pnpm)
    }
}

/// `workspaces` is a list, or an object with a list.
fn workspace_patterns(value: &Value) -> Vec<String> {
    strings(value.get("packages").unwrap_or(value))
}

fn strings(value: &Value) -> Vec<String> {
    value.as_array().unwrap_or_default().iter().filter_map(Value::as_str).map(str::to_owned).collect()
}

impl Finder<'_> {
    fn bytes(&self, path: &str) -> Option<std::sync::Arc<[u8]>> {
        self.files.read(&stan_repo::AbsPath::new(self.root).join(path))
    }

    /// A manifest, if it is a valid object. The problems of other manifests are reported by those who use them.
    fn read(&self, path: &str) -> Option<Value> {
        let document = jsonc::parse_bytes(&self.bytes(path)?);
        (document.error().is_none() && matches!(document.value, Value::Object(_))).then_some(document.value)
    }

    fn other_declaration(&mut self, path: &str) -> Option<Declaration> {
        let (directory, name) = path.rsplit_once('/').unwrap_or(("", path));
        let patterns = if name == "lerna.json" {
            self.read(path).and_then(|manifest| manifest.get("packages").map(strings))
        } else {
            let bytes = self.bytes(path);
            bytes.and_then(|bytes| match pnpm_packages(&jsonc::decode(&bytes)) {
                Ok(patterns) => Some(patterns),
                Err(line) => {
                    self.problems.insert(Problem::at(path, line, "not valid YAML; its packages are left out"));
                    None
                }
            })
        };
        patterns.map(|patterns| self.declaration(directory, name, &patterns))
    }

    fn declaration(&mut self, directory: &str, manifest: &str, patterns: &[String]) -> Declaration {
        let mut compiled = WorkspacePatterns::default();
        for pattern in patterns {
            let message = match compiled.add(pattern) {
                Ok(()) => continue,
                Err(Refused::NotAPattern) => {
                    format!("the workspace pattern {pattern:?} is not a pattern; it is ignored")
                }
                Err(Refused::TooMany) => {
                    format!(
                        "more than {MAX_UNINDEXED} workspace patterns have `**`, `?` or braces; the rest is ignored"
                    )
                }
            };
            self.problems.insert(Problem::new(at(directory, manifest), message));
        }
        let is_pnpm = manifest == "pnpm-workspace.yaml";
        Declaration { directory: directory.to_owned(), patterns: compiled.finish(), is_pnpm }
    }

    /// Links a package in the folders of the declarations that include it.
    fn add_member(
        &mut self,
        workspaces: &mut Workspaces,
        declarations: &Declarations,
        directory: &str,
        manifest: &Manifest,
    ) {
        let mut is_member = false;
        for folder in declarations.governing(directory) {
            if !manifest.is_readable {
                let message = "not a readable package.json; the package is left out";
                self.problems.insert(Problem::new(at(directory, "package.json"), message));
                return;
            }
            let Some(name) = &manifest.name else { return };
            is_member = true;
            let links = workspaces.folders.entry(folder.into()).or_default();
            let first = links.entry(name.clone()).or_insert_with(|| directory.into());
            if **first != *directory {
                let message = format!("the name {name:?} is taken by {first:?}; this package is left out");
                let weight = if folder.is_empty() { Weight::Note } else { Weight::Nested };
                self.problems.insert(Problem::new(at(directory, "package.json"), message).weighing(weight));
            }
        }
        if is_member {
            workspaces.members.push(directory.into());
        }
    }
}

/// The strings in the list `packages` of a `pnpm-workspace.yaml`, or the line of its first YAML error.
fn pnpm_packages(text: &str) -> Result<Vec<String>, u32> {
    let mut found = Vec::new();
    let mut depth = 0usize;
    // In the outer mapping, keys and values alternate.
    let mut is_name = true;
    let mut in_packages = false;
    for event in Parser::new_from_str(text) {
        let (event, _) = event.map_err(|error| u32::try_from(error.marker().line()).unwrap_or(u32::MAX))?;
        let is_node_of_outer = depth == 1;
        match event {
            Event::MappingStart(..) | Event::SequenceStart(..) => depth += 1,
            Event::MappingEnd | Event::SequenceEnd => {
                depth = depth.saturating_sub(1);
                if depth == 1 {
                    is_name = true;
                }
                continue;
            }
            Event::Scalar(text, ..) => {
                if is_node_of_outer {
                    in_packages = is_name && text == "packages";
                    is_name = !is_name;
                } else if depth == 2 && in_packages && !is_name {
                    found.push(text.into_owned());
                }
                continue;
            }
            Event::Alias(_) if is_node_of_outer => is_name = !is_name,
            Event::DocumentEnd => break,
            _ => {}
        }
    }
    Ok(found)
}

#[cfg(test)]
mod tests;
