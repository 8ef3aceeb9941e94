//! Locates the external nodes of a graph, and finds the installed package of each (spec 20 §4).
//!
//! The answers contain absolute paths; `stan_graph` decides which parts may be shown. Manifests are untrusted: one that is
//! unreadable, too large or broken is treated like one without a name.

use std::collections::BTreeMap;
use std::path::Path;
use std::rc::Rc;

use rustc_hash::FxHashMap;
use stan_graph::{ExternalFile, Externals, Graph, PackageFile};
use stan_lang::documents;
use stan_lang::language::SourceFile;
use stan_lang::packages::file_of_id;
use stan_lang::packages::vendored::{VendoredCrates, name_and_version};
use stan_model::json::JsonTree;
use stan_model::untrusted::cleaned_prose;
use stan_model::{CRATE_CHECKSUMS, CRATE_MANIFEST, Ecosystem, NodeKind, PACKAGE_FOLDER};
use stan_repo::{Files, System, SystemExt as _, World};

use crate::cache::Manifests;
use crate::graph::GraphOptions;

mod pypi;

/// Real manifests are far smaller; a larger one is not read.
const MAX_MANIFEST_BYTES: u64 = 4 << 20;

/// Larger files are not searched for a description.
const MAX_DESCRIBED_BYTES: u64 = 256 << 10;

/// Finds the archive address, the package and the description of every external node, and returns the manifests that decided
/// them.
pub(crate) fn locate_externals(system: &dyn System, options: &GraphOptions, graph: &Graph) -> (Externals, Manifests) {
    let root = &*options.root;
    let reach = options.reach(system);
    let mut packages = Packages {
        system,
        world: options.probing_world(system, reach),
        observed_at: system.now(),
        buffer: Vec::new(),
        by_directory: FxHashMap::default(),
        manifests: Manifests::default(),
    };
    let is_external = |index: &u32| graph.node(*index).kind == NodeKind::External;
    let mut distributions = pypi::Distributions::default();
    for index in graph.indices().filter(is_external) {
        distributions.want(&options.locate(&packages.world, &graph.node(index).id));
    }
    distributions.read(system, &packages.world, packages.observed_at, &mut packages.manifests);
    let located = graph.indices().filter(is_external).map(|index| {
        let node = graph.node(index);
        let absolute = options.locate(&packages.world, &node.id);
        let package = match (file_of_id(&node.id), pypi::split_site(&absolute), &node.file) {
            (Some(stored), _, _) => Some(stored),
            (None, Some(_), Some(file)) => distributions.file(&absolute, file.size, &file.digest),
            (None, Some(_), None) => None,
            (None, None, _) => packages.file(&absolute).or_else(|| packages.vendored_file(root, &absolute)),
        };
        let description = packages.description(options, &absolute);
        (index, ExternalFile { description, ..ExternalFile::new(root, absolute, package) })
    });
    let mut located: Externals = located.collect();
    packages.describe_entries(&mut located, options.extract.description_limit);
    (located, packages.manifests)
}

/// A cache of manifests. Each is read once, however many files need it.
struct Packages<'s> {
    system: &'s dyn System,
    /// Resolves manifests that are links.
    world: World<'s>,
    observed_at: i64,
    buffer: Vec<u8>,
    /// By package folder.
    by_directory: FxHashMap<Box<str>, Option<Rc<Package>>>,
    manifests: Manifests,
}

struct Package {
    name: String,
    version: String,
    description: Option<String>,
}

impl Packages<'_> {
    fn file(&mut self, absolute: &str) -> Option<PackageFile> {
        let root = package_root(absolute)?;
        let directory = absolute.get(..root)?;
        let package = match self.by_directory.get(directory) {
            Some(known) => known.clone(),
            None => {
                let found = self.manifest(directory).map(Rc::new);
                self.by_directory.insert(directory.into(), found.clone());
                found
            }
        }?;
        let path = absolute.get(root + 1..)?.to_owned();
        Some(PackageFile {
            ecosystem: Ecosystem::Npm,
            name: package.name.clone(),
            version: package.version.clone(),
            path,
        })
    }

    /// The crate that `cargo vendor` copied, and the file's path in it.
    fn vendored_file(&mut self, root: &str, absolute: &str) -> Option<PackageFile> {
        let folder = VendoredCrates::new(&self.world, root).folder_of(absolute)?;
        let path = absolute.strip_prefix(&*folder)?.strip_prefix('/')?.to_owned();
        let package = match self.by_directory.get(&*folder) {
            Some(known) => known.clone(),
            None => {
                let found = self.crate_manifest(&folder).map(Rc::new);
                self.by_directory.insert((*folder).into(), found.clone());
                found
            }
        }?;
        Some(PackageFile {
            ecosystem: Ecosystem::Crates,
            name: package.name.clone(),
            version: package.version.clone(),
            path,
        })
    }

    fn crate_manifest(&mut self, directory: &str) -> Option<Package> {
        self.buffer.clear();
        let path = format!("{directory}/{CRATE_MANIFEST}");
        self.manifests.note(self.system, &format!("{directory}/{CRATE_CHECKSUMS}"), self.observed_at);
        self.manifests.note(self.system, &path, self.observed_at);
        if let Err(error) = self.system.read_real(Path::new(&path), MAX_MANIFEST_BYTES, &mut self.buffer) {
            self.manifests.note_unreadable(&error);
            return None;
        }
        let (name, version) = name_and_version(&self.buffer)?;
        Some(Package { name, version, description: None })
    }

    /// The description at the start of an external file.
    fn description(&mut self, options: &GraphOptions, absolute: &str) -> Option<String> {
        let is_document = documents::is_document(absolute);
        if !is_document && !options.languages.claim(absolute) {
            return None;
        }
        self.buffer.clear();
        self.system.read_real(Path::new(absolute), MAX_DESCRIBED_BYTES, &mut self.buffer).ok()?;
        let file = SourceFile { name: absolute, bytes: &self.buffer };
        let described = match is_document {
            true => documents::describe(file, &options.extract),
            false => options.languages.describe(file, &options.extract),
        };
        described.map(String::from)
    }

    /// Assigns the description of a package to the file nearest to its root, if that file has none.
    fn describe_entries(&self, located: &mut Externals, limit: usize) {
        let mut entries: BTreeMap<String, (usize, String, u32)> = BTreeMap::new();
        for (index, file) in located.iter() {
            let (Some(root), Some(package)) = (package_root(&file.absolute), &file.package) else { continue };
            let Some(directory) = file.absolute.get(..root) else { continue };
            let rank = (package.path.matches('/').count(), package.path.clone(), *index);
            let entry = entries.entry(directory.to_owned()).or_insert_with(|| rank.clone());
            if rank < *entry {
                *entry = rank;
            }
        }
        for (directory, (_, _, index)) in entries {
            let package = self.by_directory.get(directory.as_str()).and_then(Option::as_ref);
            let text = package.and_then(|package| package.description.as_deref());
            if let (Some(text), Some(file)) = (text, located.get_mut(&index))
                && file.description.is_none()
            {
                file.description = one_line(text, limit);
            }
        }
    }

    fn manifest(&mut self, directory: &str) -> Option<Package> {
        self.buffer.clear();
        let path = format!("{directory}/package.json");
        self.manifests.note(self.system, &path, self.observed_at);
        if let Err(error) = self.system.read_real(Path::new(&path), MAX_MANIFEST_BYTES, &mut self.buffer) {
            self.manifests.note_unreadable(&error);
            // Follow a link only to the manifest of another installed package; any other target could be a secret of the user.
            let real = self.world.real_path(&path).filter(|real| *real != path)?;
            end_of_modules(&real)?;
            self.system.read_real(Path::new(&real), MAX_MANIFEST_BYTES, &mut self.buffer).ok()?;
        }
        let text = self.buffer.strip_prefix(b"\xef\xbb\xbf").unwrap_or(&self.buffer);
        let tree = JsonTree::parse(text).ok()?;
        let string = |key: &str| tree.string(tree.field(tree.root(), key)?).map(std::borrow::Cow::into_owned);
        Some(Package { name: string("name")?, version: string("version")?, description: string("description") })
    }
}

/// Collapses white space, removes hidden characters, and cuts after `limit` characters.
fn one_line(text: &str, limit: usize) -> Option<String> {
    let start: String = text.chars().take(limit.saturating_mul(4).saturating_add(64)).collect();
    let words: Vec<_> = start.split_whitespace().map(cleaned_prose).filter(|word| !word.is_empty()).collect();
    let line = words.join(" ");
    let cut = line.char_indices().nth(limit).map(|(at, _)| at);
    match cut {
        Some(at) => Some(format!("{}...", line.get(..at).unwrap_or_default().trim_end())),
        None => Some(line).filter(|line| !line.is_empty()),
    }
}

/// The length of the package folder's path in the path of one of its files: the folder directly below the last `node_modules`, or
/// below a scope there. Manifests further down describe parts of the package.
fn package_root(absolute: &str) -> Option<usize> {
    let (directory, _) = absolute.rsplit_once('/')?;
    let modules = end_of_modules(directory)?;
    let below = directory.get(modules + 1..)?;
    let names = if below.starts_with('@') { 2 } else { 1 };
    let mut ends = below.match_indices('/').map(|(at, _)| at).chain([below.len()]);
    Some(modules + 1 + ends.nth(names - 1)?)
}

/// The end offset of the last `node_modules` component of a directory's path.
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
