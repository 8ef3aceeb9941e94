//! The search path for absolute imports of a file, in order: the source roots of the projects that contain it (nearest first, the
//! repository last), its base folder, and the site-packages of virtual environments in its parent folders.
//!
//! The base folder is the nearest parent without `__init__.py`: the one that scripts, pytest and mypy add to `sys.path`.

use std::sync::Arc;

use super::Resolver;
use super::environments;
use super::roots::{self, Project};
use crate::paths::{contains, parent};

/// The search path of one importing folder.
#[derive(Debug)]
pub(super) struct SearchPath {
    pub(super) folders: Vec<Arc<str>>,
}

impl Resolver<'_> {
    /// The search path of the files in a folder.
    pub(super) fn search_path(&self, folder: &str) -> Arc<SearchPath> {
        self.search_paths.get_or(folder, || {
            let mut folders: Vec<Arc<str>> = Vec::new();
            let mut add = |path: &str| {
                if !folders.iter().any(|known| **known == *path) {
                    folders.push(path.into());
                }
            };
            let surroundings = self.surroundings(folder);
            surroundings.roots.iter().for_each(|root| add(root));
            add(self.base_folder(folder));
            surroundings.site.iter().for_each(|site| add(site));
            Arc::new(SearchPath { folders })
        })
    }

    /// The source roots and site-packages of a folder, including those of its parents.
    fn surroundings(&self, folder: &str) -> Arc<Surroundings> {
        self.surroundings.get_or(folder, || {
            let is_root = *folder == *self.root;
            let mut own = Surroundings::default();
            let mut project = Project::Own;
            if contains(&self.root, folder) {
                if !is_root {
                    project = roots::project_at(&self.folders.get(folder), self.files, folder);
                }
                if project != Project::None {
                    own.roots = roots::source_roots(self.files, folder);
                }
                own.site = environments::site_folders(self.project, folder, project != Project::None);
            }
            if !is_root && contains(&self.root, folder) {
                let above = self.surroundings(parent(folder));
                if own.roots.is_empty() && own.site.is_empty() {
                    return above;
                }
                match project {
                    Project::Weak => own.roots = above.roots.iter().cloned().chain(own.roots).collect(),
                    _ => own.roots.extend(above.roots.iter().cloned()),
                }
                own.site.extend(above.site.iter().cloned());
            }
            Arc::new(own)
        })
    }

    /// The nearest folder, from this one upwards, that is not a package.
    fn base_folder<'a>(&self, folder: &'a str) -> &'a str {
        let mut current = folder;
        while *current != *self.root && self.folders.get(current).package_file().is_some() {
            current = parent(current);
        }
        current
    }
}

/// The folders that projects and environments of the parent folders provide.
#[derive(Debug, Default)]
pub(super) struct Surroundings {
    pub(super) roots: Vec<Arc<str>>,
    pub(super) site: Vec<Arc<str>>,
}
