//! The packages of a monorepo by name, from the manifests that declare them.
//!
//! Read are `workspaces` of any `package.json` (npm, yarn, bun), `pnpm-workspace.yaml` and `lerna.json`. Packages are
//! sought among the files of the universe, never on the disk, and need no install. Nothing here resolves an import.

use std::collections::{BTreeMap, BTreeSet};

use rustc_hash::FxHashMap;
use saphyr_parser::{Event, Parser};
use stan_model::Problem;
use stan_repo::Files;

use crate::jsonc::{self, Value};

use super::workspace_patterns::{MAX_UNINDEXED, Refused, WorkspacePatterns};

/// A package of the repository that others may import by name.
#[derive(Clone, Debug, PartialEq)]
pub struct WorkspacePackage {
    pub name: Box<str>,
    /// Repository-relative; empty for the root.
    pub directory: String,
    /// Its `package.json`.
    pub manifest: Value,
}

/// The packages that some manifest of the repository declares.
#[derive(Debug, Default)]
pub struct Workspaces {
    /// Sorted by directory.
    packages: Vec<WorkspacePackage>,
    by_name: FxHashMap<Box<str>, usize>,
}

impl Workspaces {
    /// Finds the packages. `universe` are repository-relative paths in any order; `root` is absolute.
    pub fn find<'p>(
        files: &dyn Files,
        root: &str,
        universe: impl IntoIterator<Item = &'p str>,
    ) -> (Self, Vec<Problem>) {
        let mut finder = Finder { files, root, problems: BTreeSet::new() };
        let mut manifests: BTreeMap<&str, Option<Value>> = BTreeMap::new();
        let mut declaring: BTreeSet<&str> = BTreeSet::new();
        // Told by the end first: nearly all files are something else.
        for path in universe.into_iter().filter(|path| path.ends_with(".json") || path.ends_with(".yaml")) {
            let (directory, name) = path.rsplit_once('/').unwrap_or(("", path));
            match name {
                "package.json" => drop(manifests.insert(directory, None)),
                "pnpm-workspace.yaml" | "lerna.json" => drop(declaring.insert(path)),
                _ => {}
            }
        }
        let mut declarations: Vec<Declaration> = Vec::new();
        for (directory, manifest) in &mut manifests {
            *manifest = finder.read(&at(directory, "package.json"));
            let patterns = manifest.as_ref().and_then(|manifest| manifest.get("workspaces")).map(workspace_patterns);
            declarations.extend(patterns.map(|patterns| finder.declaration(directory, "package.json", &patterns)));
        }
        for path in declaring {
            declarations.extend(finder.other_declaration(path));
        }
        let declarations = Declarations::new(declarations);
        let mut packages = Vec::new();
        for (directory, manifest) in manifests {
            if !declarations.include(directory) {
                continue;
            }
            let Some(manifest) = manifest else {
                let message = "not a readable package.json; the package is left out";
                finder.problems.insert(Problem::new(at(directory, "package.json"), message));
                continue;
            };
            if let Some(name) = manifest.get("name").and_then(Value::as_str).filter(|name| !name.is_empty()) {
                packages.push(WorkspacePackage { name: name.into(), directory: directory.to_owned(), manifest });
            }
        }
        let workspaces = finder.by_name(packages);
        (workspaces, finder.problems.into_iter().collect())
    }

    /// The package with exactly this name.
    pub fn get(&self, name: &str) -> Option<&WorkspacePackage> {
        self.by_name.get(name).and_then(|index| self.packages.get(*index))
    }

    /// All packages, sorted by directory.
    pub fn packages(&self) -> &[WorkspacePackage] {
        &self.packages
    }
}

fn at(directory: &str, name: &str) -> String {
    if directory.is_empty() { name.to_owned() } else { [directory, "/", name].concat() }
}

struct Finder<'a> {
    files: &'a dyn Files,
    root: &'a str,
    problems: BTreeSet<Problem>,
}

/// One list of patterns, and the directory that they are relative to.
struct Declaration {
    directory: String,
    patterns: WorkspacePatterns,
    /// pnpm: the declaring package is a member itself, and what one pattern takes out no other brings back.
    is_pnpm: bool,
}

/// All declarations, by directory: nearly every package may have one.
struct Declarations(FxHashMap<String, Vec<Declaration>>);

impl Declarations {
    fn new(declarations: Vec<Declaration>) -> Self {
        let mut by_directory: FxHashMap<String, Vec<Declaration>> = FxHashMap::default();
        for declaration in declarations {
            by_directory.entry(declaration.directory.clone()).or_default().push(declaration);
        }
        Self(by_directory)
    }

    /// Whether a directory is a member of any declaration at or above it.
    fn include(&self, directory: &str) -> bool {
        let ends = directory.match_indices('/').map(|(at, _)| at).chain([directory.len()]);
        let mut above = std::iter::once(0).chain(ends.filter(|end| *end > 0));
        above.any(|end| {
            let (base, inside) = directory.split_at(end);
            let declarations = self.0.get(base).into_iter().flatten();
            declarations.into_iter().any(|declaration| declaration.includes(inside.trim_start_matches('/')))
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
        self.files.read(&[self.root.trim_end_matches('/'), "/", path].concat())
    }

    /// A manifest, if it is an object and sound. Others matter only to whom they belong, who reports them.
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

    fn by_name(&mut self, packages: Vec<WorkspacePackage>) -> Workspaces {
        let mut workspaces = Workspaces::default();
        for package in packages {
            match workspaces.get(&package.name) {
                Some(first) => {
                    let message = format!(
                        "the name {:?} is taken by {:?}; this package is left out",
                        package.name, first.directory
                    );
                    self.problems.insert(Problem::new(at(&package.directory, "package.json"), message));
                }
                None => {
                    workspaces.by_name.insert(package.name.clone(), workspaces.packages.len());
                    workspaces.packages.push(package);
                }
            }
        }
        workspaces
    }
}

/// The strings of the list `packages` of a `pnpm-workspace.yaml`, or the line where it stops being YAML.
fn pnpm_packages(text: &str) -> Result<Vec<String>, u32> {
    let mut found = Vec::new();
    let mut depth = 0usize;
    // In the outer mapping names and values take turns.
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
