//! Where the external nodes of a graph are, and to which installed package each belongs (spec 20 §4).
//!
//! The answers name places of this machine; what may be shown of them is decided in `stan_graph`. Manifests are other
//! people's: one that cannot be read, is huge or broken is passed over like one without a name.

use std::path::Path;
use std::rc::Rc;

use rustc_hash::FxHashMap;
use stan_graph::{ExternalFile, Externals, Graph, PackageFile};
use stan_model::json::JsonTree;
use stan_model::{NodeKind, PACKAGE_FOLDER};
use stan_repo::{Files, Reach, System, World, normal_path};

use crate::cache::Manifests;

/// Real manifests are far smaller; a larger one is not read.
const LARGEST_MANIFEST: u64 = 4 << 20;

/// Finds the place and the package of every external node, and tells which manifests decided that. `root` is the absolute
/// real path of the repository.
pub(super) fn locate_externals(system: &dyn System, root: &str, graph: &Graph, reach: Reach) -> (Externals, Manifests) {
    let mut packages = Packages {
        system,
        world: World::new(system, root, None).probing_first().within(reach),
        observed_at: system.now(),
        buffer: Vec::new(),
        by_directory: FxHashMap::default(),
        manifests: Manifests::default(),
    };
    let externals = graph.indices().filter(|index| graph.node(*index).kind == NodeKind::External);
    let located = externals
        .map(|index| {
            let absolute = normal_path(root, &graph.node(index).id);
            let package = packages.file(&absolute);
            (index, ExternalFile { absolute, package })
        })
        .collect();
    (located, packages.manifests)
}

/// The manifests met so far. Each is read once, however many files ask for it.
struct Packages<'s> {
    system: &'s dyn System,
    /// For manifests that are links.
    world: World<'s>,
    observed_at: i64,
    buffer: Vec<u8>,
    /// The package that the files directly in a directory belong to.
    by_directory: FxHashMap<Box<str>, Option<Rc<Package>>>,
    manifests: Manifests,
}

struct Package {
    /// The length of the path of its directory.
    root: usize,
    name: String,
    version: String,
}

impl Packages<'_> {
    fn file(&mut self, absolute: &str) -> Option<PackageFile> {
        let (directory, _) = absolute.rsplit_once('/')?;
        let package = self.nearest(directory, end_of_modules(directory)?)?;
        let path = absolute.get(package.root + 1..)?.to_owned();
        Some(PackageFile { name: package.name.clone(), version: package.version.clone(), path })
    }

    /// The nearest package at or above a directory, but not above the first `floor` bytes of its path.
    fn nearest(&mut self, directory: &str, floor: usize) -> Option<Rc<Package>> {
        let mut length = directory.len();
        let found = loop {
            let Some(current) = directory.get(..length).filter(|_| length >= floor) else { break None };
            if let Some(known) = self.by_directory.get(current) {
                break known.clone();
            }
            if let Some(package) = self.manifest(current) {
                break Some(Rc::new(package));
            }
            match current.rfind('/') {
                Some(parent) => length = parent,
                None => break None,
            }
        };
        // Every directory that was passed on the way has the same answer.
        let mut current = directory;
        while current.len() >= floor.max(length) && !self.by_directory.contains_key(current) {
            self.by_directory.insert(current.into(), found.clone());
            let Some((parent, _)) = current.rsplit_once('/') else { break };
            current = parent;
        }
        found
    }

    fn manifest(&mut self, directory: &str) -> Option<Package> {
        self.buffer.clear();
        let path = format!("{directory}/package.json");
        self.manifests.note(self.system, &path, self.observed_at);
        if let Err(error) = self.system.read_real(Path::new(&path), LARGEST_MANIFEST, &mut self.buffer) {
            self.manifests.doubt(&error);
            // A link to a manifest of an installed package is as good as that; any other leads to somebody's secrets.
            let real = self.world.real_path(&path).filter(|real| *real != path)?;
            end_of_modules(&real)?;
            self.system.read_real(Path::new(&real), LARGEST_MANIFEST, &mut self.buffer).ok()?;
        }
        let text = self.buffer.strip_prefix(b"\xef\xbb\xbf").unwrap_or(&self.buffer);
        let tree = JsonTree::parse(text).ok()?;
        let string = |key: &str| tree.string(tree.field(tree.root(), key)?).map(std::borrow::Cow::into_owned);
        Some(Package { root: directory.len(), name: string("name")?, version: string("version")? })
    }
}

/// Where the last `node_modules` segment of a directory's path ends.
fn end_of_modules(directory: &str) -> Option<usize> {
    let mut end = directory.len();
    loop {
        let start = directory.get(..end)?.rfind(PACKAGE_FOLDER)?;
        let after = start + PACKAGE_FOLDER.len();
        let is_segment = directory.get(..start).is_some_and(|before| before.ends_with('/'))
            && directory.get(after..).is_some_and(|rest| rest.is_empty() || rest.starts_with('/'));
        if is_segment {
            return Some(after);
        }
        end = start;
    }
}

#[cfg(test)]
mod tests;
