//! Verifies packages whose files are selected, before any file of them is staged: against the checksums in lock files of the
//! repository, and vendored crates against their own list of checksums. A file that cannot be verified is left out, and the
//! report says why.
//!
//! Each package is verified as a whole, once per run, however many of its files are selected.

mod archive;
mod folder;
mod vendored;

use std::collections::{BTreeMap, BTreeSet};

use rayon::prelude::*;
use stan_graph::{Map, Selection};
use stan_lang::packages::version_of;
use stan_lang::{PackageProof, PackageVersion, ProjectResolvers};
use stan_model::document::externals_lock::{ExternalsLock, LockedExternal};
use stan_model::{Digest, Ecosystem, NodeKind};
use stan_repo::{AbsPath, Files, System};

use super::Repository;
use crate::graph::GraphOptions;

/// Packages with more files, or more bytes, are not read. Go itself rejects modules over 500 MiB.
const MAX_FILES: usize = 200_000;
const MAX_BYTES: u64 = 512 << 20;

/// The digests of the requested files, by their paths in the package. The error is the second half of a sentence.
type Proved = Result<BTreeMap<String, Digest>, String>;

/// The selected files of a package, by their paths in it.
type WantedFiles<'w> = BTreeMap<&'w str, (&'w str, &'w LockedExternal)>;

/// The checksums of packages in the lock files of the repository, which are found through its map. Packages that no lock file
/// names are absent.
pub(crate) fn proofs(
    options: &GraphOptions,
    files: &dyn Files,
    map: &Map,
    packages: BTreeSet<PackageVersion>,
) -> BTreeMap<PackageVersion, PackageProof> {
    if packages.is_empty() {
        return BTreeMap::new();
    }
    let sources = map.indices().filter(|index| map.kind(*index) == NodeKind::Source);
    let universe: Vec<Box<str>> = sources.map(|index| map.id(index).into()).collect();
    let project = options.project(files, &universe);
    let resolvers = ProjectResolvers::open(options.languages, &project);
    packages.into_iter().filter_map(|package| Some((package.clone(), resolvers.proof_of(&package)?))).collect()
}

/// Removes unverifiable files from a selection and returns them with the reasons.
pub(crate) fn drop_unproved(
    system: &dyn System,
    repository: &Repository<'_>,
    map: &Map,
    externals_lock: &ExternalsLock,
    selection: &mut Selection,
) -> BTreeMap<String, String> {
    let unproved = unproved(system, repository, map, externals_lock, &selection.selected);
    if !unproved.is_empty() {
        let is_kept = |index: &u32| !unproved.contains_key(map.id(*index));
        selection.selected.retain(is_kept);
        selection.total_bytes = selection.selected.iter().filter_map(|index| map.size(*index)).sum();
    }
    unproved
}

fn unproved(
    system: &dyn System,
    repository: &Repository<'_>,
    map: &Map,
    externals_lock: &ExternalsLock,
    selected: &[u32],
) -> BTreeMap<String, String> {
    let mut by_package: BTreeMap<PackageVersion, WantedFiles<'_>> = BTreeMap::new();
    for index in selected.iter().copied().filter(|index| map.kind(*index) == NodeKind::External) {
        let id = map.id(index);
        let Some((node, file)) = externals_lock.nodes.get(id).and_then(|node| Some((node, node.package.as_ref()?)))
        else {
            continue;
        };
        if matches!(file.ecosystem, Ecosystem::Go | Ecosystem::Crates) {
            by_package.entry(version_of(file)).or_default().insert(&file.path, (id, node));
        }
    }
    if by_package.is_empty() {
        return BTreeMap::new();
    }
    let options = repository.config.graph_options(repository.root);
    let world = options.probing_world(system, options.reach(system));
    let proofs = proofs(&options, &world, map, by_package.keys().cloned().collect());
    let checked = by_package.par_iter().flat_map_iter(|(package, wanted)| {
        let proved = prove(system, repository.root, package, proofs.get(package), wanted);
        wanted.iter().filter_map(move |(path, (id, node))| {
            let reason = match &proved {
                Ok(digests) if digests.get(*path) == Some(&node.sha256) => return None,
                Ok(_) => "it is not the file that the package has under this name".to_owned(),
                Err(reason) => reason.clone(),
            };
            Some(((*id).to_owned(), reason))
        })
    });
    checked.collect()
}

fn prove(
    system: &dyn System,
    root: &str,
    package: &PackageVersion,
    proof: Option<&PackageProof>,
    wanted: &WantedFiles<'_>,
) -> Proved {
    let PackageVersion { name, version, .. } = package;
    let Some((path, (_, node))) = wanted.first_key_value() else { return Ok(BTreeMap::new()) };
    let folder = node.locator.strip_suffix(path).map(|folder| folder.trim_end_matches('/'));
    let Some(folder) = folder else { return Err("it does not lie where its package does".to_owned()) };
    if package.ecosystem == Ecosystem::Crates && AbsPath::new(root).below(folder).is_some() {
        return vendored::prove(system, folder, proof, wanted);
    }
    let Some(proof) = proof else {
        return Err(format!("no lock file of the repository has a hash of {name} {version}"));
    };
    match proof {
        PackageProof::Folder(hashes) => folder::prove(system, folder, &format!("{name}@{version}"), hashes, wanted),
        PackageProof::Archive(hashes) => archive::prove(system, folder, hashes, wanted),
    }
}

#[cfg(test)]
mod tests;
