//! Finds the tsconfig or jsconfig that applies to a file, and its effect on resolution.
//!
//! The reference is TypeScript's own interpretation of the files, with `allowJs` and JSON modules on. Nothing here resolves an
//! import or lists a directory: membership is decided by matching the path.

mod extends;
mod inside;
mod layer;
mod membership;
#[cfg(test)]
pub(crate) mod memory;
mod options;
mod paths;
mod pattern_set;
mod patterns;
mod references;
#[cfg(test)]
mod tests;

use std::collections::BTreeSet;
use std::sync::{Arc, Mutex, OnceLock, PoisonError, RwLock};

use rustc_hash::FxHashMap;
use stan_model::Problem;
use stan_repo::{EntryKind, Files};

pub use crate::typescript::path_table::PathTable;
use crate::typescript::resolve::links::Links;
use inside::Inside;
use layer::{Layers, Merged, Specs};
use membership::FileSet;
use options::RawOptions;
use pattern_set::PatternSet;
use patterns::Usage;
use references::Reachable;

/// The module system that code is compiled to. It determines the mode of imports under the Node kinds.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum ModuleKind {
    None,
    CommonJs,
    Amd,
    Umd,
    System,
    Es2015,
    Es2020,
    Es2022,
    EsNext,
    Node16,
    Node18,
    Node20,
    NodeNext,
    Preserve,
}

/// The algorithm that resolves modules.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum ModuleResolution {
    Node10,
    Node16,
    NodeNext,
    Bundler,
}

/// The part of a configuration that resolution needs, with defaults filled in. All paths are absolute.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Config {
    /// The configuration file; `None` for the default configuration.
    pub file: Option<String>,
    /// The directory of the file, or the root: the default type roots start here.
    pub directory: String,
    pub module: ModuleKind,
    pub module_resolution: ModuleResolution,
    pub base_url: Option<String>,
    /// Targets are as written, relative to `paths_base`.
    pub paths: Arc<PathTable>,
    /// `base_url`, otherwise the directory of the file that sets `paths`.
    pub paths_base: String,
    pub root_dirs: Vec<String>,
    /// Empty if the option is not set; may contain an empty suffix.
    pub module_suffixes: Vec<String>,
    pub custom_conditions: Vec<String>,
    pub resolve_package_json_exports: Option<bool>,
    pub resolve_package_json_imports: Option<bool>,
    pub preserve_symlinks: bool,
    /// `None` means every `node_modules/@types` from `directory` upwards.
    pub type_roots: Option<Vec<String>>,
    pub out_dir: Option<String>,
    pub declaration_dir: Option<String>,
    pub root_dir: Option<String>,
    pub composite: bool,
}

/// The configurations of a repository, each read once, on demand. Shared by threads.
pub struct Configs<'f> {
    files: &'f dyn Files,
    root: String,
    layers: Layers<'f>,
    default: Arc<Config>,
    projects: Mutex<FxHashMap<String, Arc<Project>>>,
    /// The nearest configuration of each directory, cached.
    nearest: RwLock<FxHashMap<Box<str>, Option<Arc<Project>>>>,
    problems: Problems,
}

/// A configuration with the data that decides which files it owns.
struct Project {
    config: Arc<Config>,
    files: Arc<FileSet>,
    references: Vec<String>,
    /// The projects that the references resolve to, computed on first use.
    reachable: OnceLock<Reachable>,
}

impl<'f> Configs<'f> {
    /// `root` is the absolute path of the repository. Configurations above it are ignored.
    pub fn new(files: &'f dyn Files, root: &str) -> Self {
        let root = paths::normalize(root, "/");
        Self {
            files,
            layers: Layers::new(Inside::new(files, &root)),
            default: Arc::new(RawOptions::default().finish(None, &root)),
            projects: Mutex::default(),
            nearest: RwLock::default(),
            problems: Problems { root: root.clone(), found: Mutex::default() },
            root,
        }
    }

    /// Also resolves `extends` of packages of the repository that are not installed.
    pub(crate) fn with_links(mut self, links: Arc<Links<'f>>) -> Self {
        self.layers.set_links(links);
        self
    }

    /// The configuration of files without one: a bundler's.
    pub fn default_config(&self) -> Arc<Config> {
        Arc::clone(&self.default)
    }

    /// The configuration of a file: the nearest one. If that has references and does not include the file, the first referenced
    /// project that includes it, if any.
    pub fn for_file(&self, absolute_path: &str) -> Arc<Config> {
        let Some(project) = self.nearest(paths::directory(absolute_path)) else { return self.default_config() };
        if project.references.is_empty() || project.files.includes(self.files, absolute_path) {
            return Arc::clone(&project.config);
        }
        let reachable = project.reachable.get_or_init(|| self.reachable(&project));
        Arc::clone(reachable.owner(self.files, absolute_path).unwrap_or(&project.config))
    }

    /// The configuration of all files in a directory; `None` if they may differ.
    pub fn for_directory(&self, directory: &str) -> Option<Arc<Config>> {
        match self.nearest(directory) {
            None => Some(self.default_config()),
            Some(project) => project.references.is_empty().then(|| Arc::clone(&project.config)),
        }
    }

    /// The configuration in one file, whether or not it applies to any file.
    pub fn load(&self, config_path: &str) -> Arc<Config> {
        Arc::clone(&self.project(config_path).config)
    }

    /// The problems of the configurations read so far, sorted, without duplicates.
    pub fn problems(&self) -> Vec<Problem> {
        self.problems.all()
    }

    fn nearest(&self, directory: &str) -> Option<Arc<Project>> {
        if let Some(known) = self.nearest.read().unwrap_or_else(PoisonError::into_inner).get(directory) {
            return known.clone();
        }
        if !paths::contains(&self.root, directory) {
            return None;
        }
        let mut passed = Vec::new();
        let mut found = None;
        for ancestor in paths::ancestors(directory) {
            if let Some(known) = self.nearest.read().unwrap_or_else(PoisonError::into_inner).get(ancestor) {
                found = known.clone();
                break;
            }
            passed.push(ancestor);
            if let Some(path) = self.config_in(ancestor) {
                found = Some(self.project(&path));
                break;
            }
            if ancestor == self.root {
                break;
            }
        }
        let mut nearest = self.nearest.write().unwrap_or_else(PoisonError::into_inner);
        for directory in passed {
            nearest.insert(directory.into(), found.clone());
        }
        found
    }

    fn config_in(&self, directory: &str) -> Option<String> {
        for name in ["tsconfig.json", "jsconfig.json"] {
            let path = paths::join(directory, name);
            match self.files.kind(&path) {
                Some(EntryKind::File) => return Some(path),
                Some(EntryKind::Dir) => {
                    self.problems.report(&path, None, "is a directory, not a configuration; it is ignored");
                }
                _ => {}
            }
        }
        None
    }

    fn project(&self, path: &str) -> Arc<Project> {
        let projects = || self.projects.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(known) = projects().get(path) {
            return Arc::clone(known);
        }
        let merged = self.layers.load(path, &self.problems);
        let project = Arc::new(Project::new(path, merged, &self.problems));
        Arc::clone(projects().entry(path.to_owned()).or_insert(project))
    }
}

impl Project {
    fn new(path: &str, merged: Merged, problems: &Problems) -> Self {
        let directory = paths::directory(path);
        let config = merged.options.finish(Some(path), directory);
        let list = |specs: Option<Specs>| match specs {
            Some(Specs::List(list)) => Some(list),
            _ => None,
        };
        let excludes_by_default = merged.exclude.is_none();
        let (literal, include, exclude) = (list(merged.files), list(merged.include), list(merged.exclude));
        let exclude = if excludes_by_default {
            config.out_dir.iter().chain(&config.declaration_dir).cloned().collect()
        } else {
            exclude.unwrap_or_default()
        };
        let include = match include {
            Some(include) => include,
            None if literal.is_none() => vec!["**/*".to_owned()],
            None => Vec::new(),
        };
        let valid = |specs: Vec<String>, usage| -> Vec<String> {
            specs.into_iter().filter_map(|spec| valid_spec(spec, usage, path, directory, problems)).collect()
        };
        let include = valid(include, Usage::Include);
        let exclude = valid(exclude, Usage::Exclude);
        let place = |file: String| {
            options::replace_template(&file, directory).unwrap_or_else(|| paths::normalize(&file, directory))
        };
        let json: Vec<String> = include.iter().filter(|spec| spec.ends_with(".json")).cloned().collect();
        let files = FileSet {
            literal: literal.unwrap_or_default().into_iter().map(place).collect(),
            include: FileSet::patterns(&include, directory, Usage::Include),
            include_json: FileSet::patterns(&json, directory, Usage::Include),
            exclude: FileSet::patterns(&exclude, directory, Usage::Exclude),
            // Only the patterns of referenced projects are needed.
            specs: include,
            directory: directory.to_owned(),
        };
        report_refused(path, "include", &files.include, problems);
        report_refused(path, "exclude", &files.exclude, problems);
        Self {
            config: Arc::new(config),
            files: Arc::new(files),
            references: merged.references,
            reachable: OnceLock::new(),
        }
    }
}

fn report_refused(path: &str, list: &str, patterns: &PatternSet, problems: &Problems) {
    if !patterns.refused.is_empty() {
        let message = format!(
            "`{list}` has more than {} different names with several wildcards; {} patterns are ignored",
            pattern_set::MAX_MANIFOLD,
            patterns.refused.len()
        );
        problems.report(path, None, &message);
    }
}

fn valid_spec(spec: String, usage: Usage, path: &str, directory: &str, problems: &Problems) -> Option<String> {
    if let Some(reason) = patterns::refusal(&spec, usage) {
        problems.report(path, None, &format!("the pattern {spec:?} is ignored, because {reason}"));
        return None;
    }
    Some(options::replace_template(&spec, directory).unwrap_or(spec))
}

/// Problems from all threads; a set, so that their order does not depend on timing.
struct Problems {
    root: String,
    found: Mutex<BTreeSet<Problem>>,
}

impl Problems {
    fn add(&self, problem: Problem) {
        self.found.lock().unwrap_or_else(PoisonError::into_inner).insert(problem);
    }

    fn report(&self, path: &str, line: Option<u32>, message: &str) {
        self.add(Problem { line, ..Problem::new(self.relative(path), message) });
    }

    /// The path of a file in reports.
    fn relative(&self, path: &str) -> String {
        let inside = path.strip_prefix(&self.root).and_then(|rest| rest.strip_prefix('/').or(Some(rest)));
        inside.filter(|rest| !rest.is_empty() && paths::contains(&self.root, path)).unwrap_or(path).to_owned()
    }

    fn all(&self) -> Vec<Problem> {
        self.found.lock().unwrap_or_else(PoisonError::into_inner).iter().cloned().collect()
    }
}
