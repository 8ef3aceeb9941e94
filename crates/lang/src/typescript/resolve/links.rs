//! Packages of the repository as an install would link them: a virtual `node_modules/<name>` beside the manifest that depends on
//! the package. So imports resolve the same before and after an install.
//!
//! Installed packages always win: links are used only if TypeScript finds nothing.

use std::sync::OnceLock;

use stan_model::Problem;

use super::{Resolver, path};
use crate::project::Project;
use crate::typescript::workspaces::{Workspaces, folders_above};

/// The links of a repository and the problems of its manifests, read when the first specifier needs them.
pub(crate) struct Links<'f> {
    project: &'f Project<'f>,
    found: OnceLock<(Workspaces, Vec<Problem>)>,
}

impl<'f> Links<'f> {
    pub(crate) fn new(project: &'f Project<'f>) -> Self {
        Self { project, found: OnceLock::new() }
    }

    /// The packages of the repository and the problems of their manifests.
    pub(crate) fn read(&self) -> &(Workspaces, Vec<Problem>) {
        let Project { root, files, universe, .. } = *self.project;
        self.found.get_or_init(|| Workspaces::find(files, root, universe.iter()))
    }

    pub(crate) fn workspaces(&self) -> &Workspaces {
        &self.read().0
    }

    /// The directories that a package name is linked to for files of `directory`, nearest link first, as absolute paths.
    pub(crate) fn packages(&self, directory: &str, name: &str) -> Vec<String> {
        let root = self.project.root;
        let workspaces = self.workspaces();
        if workspaces.is_empty() || !path::contains(root, directory) {
            return Vec::new();
        }
        let inside = directory[root.trim_end_matches('/').len()..].trim_matches('/');
        let linked = folders_above(inside).filter_map(|folder| workspaces.link(folder, name));
        linked.map(|linked| path::join_plain(root, linked)).filter(|linked| self.project.files.is_dir(linked)).collect()
    }
}

impl Resolver<'_> {
    pub(super) fn linked_packages(&self, directory: &str, name: &str) -> Vec<String> {
        self.links.packages(directory, name)
    }

    /// The directories of the repository's own packages with this name, for files of `directory`, whether or not an install
    /// linked them.
    pub(super) fn own_packages(&self, directory: &str, name: &str) -> Vec<String> {
        let is_own =
            |real: &String| path::contains(&self.root, real) && !path::in_node_modules(&real[self.root.len()..]);
        let folders = self.node_modules(directory);
        let installed = folders.iter().filter_map(|folder| self.files.real_path(&path::join_plain(folder, name)));
        let mut found: Vec<String> = installed.filter(is_own).collect();
        for linked in self.linked_packages(directory, name) {
            if !found.contains(&linked) {
                found.push(linked);
            }
        }
        found
    }
}
