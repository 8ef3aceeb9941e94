//! Checks which of the files that the private map names may be read. A repository can contain a forged private map, which could
//! otherwise make a run read any file of this machine. Applies the rules of resolution without building a graph.

use std::cell::OnceCell;
use std::collections::BTreeSet;

use stan_graph::Map;
use stan_lang::PackageVersion;
use stan_lang::packages::version_of;
use stan_model::NodeKind;
use stan_model::document::externals_lock::ExternalsLock;
use stan_repo::{EntryKind, Files, Reach, System, World, normal_path};

use super::Repository;
use super::packages::proofs;
use crate::graph::GraphOptions;

pub(crate) struct Consent<'c> {
    root: &'c str,
    reach: Reach,
    world: World<'c>,
    map: Option<&'c Map>,
    /// Real paths of the linked packages outside the root. Computed when the first file needs them.
    linked: OnceCell<BTreeSet<String>>,
    options: GraphOptions,
    /// The packages in stores that both the private map and a lock file of the repository name.
    locked: BTreeSet<PackageVersion>,
}

impl<'c> Consent<'c> {
    /// The paths in `map` show where importers and lock files are, and so where links may be and which packages may be read.
    pub(crate) fn new(
        system: &'c dyn System,
        repository: &Repository<'c>,
        map: Option<&'c Map>,
        externals_lock: &ExternalsLock,
    ) -> Self {
        let options = repository.config.graph_options(repository.root);
        let reach = options.reach(system);
        let world = options.probing_world(system, reach.clone());
        let stored = externals_lock.nodes.values().filter_map(|node| options.stores.file_at(&node.locator));
        let packages = stored.map(|file| version_of(&file)).collect();
        let locked = map.map(|map| proofs(&options, &world, map, packages)).unwrap_or_default().into_keys().collect();
        Self { root: repository.root, reach, world, map, linked: OnceCell::new(), options, locked }
    }

    /// Whether a file may be read. `path` is absolute and real.
    pub(crate) fn covers(&self, path: &str) -> bool {
        if let Some(file) = self.options.stores.file_at(path) {
            return self.locked.contains(&version_of(&file)) || self.reach.covers(path);
        }
        self.reach.covers(path) || {
            let linked = self.linked.get_or_init(|| self.linked_packages());
            above(path).any(|folder| linked.contains(folder))
        }
    }

    fn linked_packages(&self) -> BTreeSet<String> {
        let mut folders: BTreeSet<String> = above(self.root).map(str::to_owned).collect();
        folders.insert(self.root.to_owned());
        for index in self.map.iter().flat_map(|map| map.indices().map(move |index| (map, index))) {
            let (map, index) = index;
            if map.kind(index) == NodeKind::Source {
                let path = normal_path(self.root, map.id(index));
                // The set is closed under parents: stop at the first folder that it contains.
                let mut new = above(&path).filter(|folder| !folder.is_empty()).map(str::to_owned);
                while new.next().is_some_and(|folder| folders.insert(folder)) {}
            }
        }
        let mut linked = BTreeSet::new();
        for folder in folders {
            self.links_in(&[folder.trim_end_matches('/'), "/node_modules"].concat(), true, &mut linked);
        }
        linked
    }

    fn links_in(&self, modules: &str, has_scopes: bool, linked: &mut BTreeSet<String>) {
        for (name, kind) in self.world.list(modules) {
            let path = [modules, "/", &name].concat();
            if kind != EntryKind::Dir {
                continue;
            }
            if has_scopes && name.starts_with('@') {
                self.links_in(&path, false, linked);
            } else if self.world.is_in_linked_package(&path) {
                // Other links are not added: those that may be followed end inside the reach, or at a folder above the root,
                // which grants no access.
                linked.extend(self.world.real_path(&path));
            }
        }
    }
}

/// The parents of an absolute path, nearest first; the last one is empty and means `/`.
fn above(path: &str) -> impl Iterator<Item = &str> {
    std::iter::successors(path.rsplit_once('/').map(|(parent, _)| parent), |path| {
        path.rsplit_once('/').map(|(parent, _)| parent)
    })
}

#[cfg(test)]
mod tests {
    use stan_repo::{AllowedFolder, MemorySystem};

    use super::*;
    use crate::config::Config;

    #[test]
    fn files_are_covered_as_for_imports() {
        let system = MemorySystem::from_fixture(
            r#"
            //- /w/r/a.ts
            //- link /w/r/node_modules/linked -> /src/linked
            //- link /w/r/node_modules/@s/scoped -> /src/scoped
            //- link /w/r/node_modules/wrong -> /src/secret
            //- link /w/r/node_modules/up -> ../..
            //- link /w/r/node_modules/all -> /
            //- /w/beside.ts
            //- /src/linked/package.json
            {"name": "linked"}
            //- /src/scoped/package.json
            {"name": "@s/scoped"}
            //- /src/secret/package.json
            {"name": "other"}
            //- /opt/shared/x.ts
            "#,
        );
        let mut config = Config::default();
        let allowed = AllowedFolder { spelled: "/opt/shared".to_owned(), real: "/opt/shared".to_owned() };
        config.allowed_outside.push(allowed);
        let repository = Repository { root: "/w/r", config: &config };
        let consent = Consent::new(&system, &repository, None, &ExternalsLock::default());
        for (path, expected) in [
            ("/w/r/a.ts", true),
            ("/w/node_modules/p/x.js", true),
            ("/opt/shared/x.ts", true),
            ("/opt/other.ts", false),
            ("/src/linked/lib/x.ts", true),
            ("/src/scoped/x.ts", true),
            ("/src/secret/x.ts", false),
            ("/src/x.ts", false),
            ("/w/beside.ts", false),
            ("/homes/u/.docker/config.json", false),
        ] {
            assert_eq!(consent.covers(path), expected, "{path}");
        }
    }
}
