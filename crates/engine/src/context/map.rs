//! Builds the map of a repository and its private map from the graph, or reads them from disk.

use std::collections::BTreeMap;
use std::io;
use std::path::Path;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, Ordering};

use stan_graph::{Canonical, ExternalFile, JsonStyle, Map, canonical_id};
use stan_lang::{Languages, PackageStores};
use stan_model::Ecosystem;
use stan_model::document::DocumentError;
use stan_model::document::integrity::{self, ExternalsLock, LockedExternal, PackageFile};
use stan_model::document::run_report::NotAnalysedFiles;
use stan_repo::{AbsPath, System, relative_path};

use super::Repository;
use super::consent::Consent;
use super::externals::locate_externals;
use super::layout::{Artefact, WorkspaceLayout};
use super::strict_system::StrictSystem;
use super::workspace_files::read_if_there;
use crate::cache::{Cache, DocumentFingerprint, Manifests, MapIdentity, MapKey, MapParts, StoredMap};
use crate::engine::Engine;
use crate::error::EngineError;
use crate::graph::{CacheUse, Graph, GraphRequest, IsEnough, graph_or_cached_map, open_cache};
use crate::not_analysed::not_analysed_of_map;

/// A map, and the private map with the proofs of external files.
#[derive(Debug)]
pub struct BuiltMap {
    pub map: Map,
    pub integrity: ExternalsLock,
    /// The problems of the graph; empty for a map read from disk.
    pub errors: Vec<String>,
    /// Nothing changed since an earlier run, which already reported the errors.
    pub is_unchanged: bool,
    /// Ids that denote different files, with a message for each.
    pub(crate) conflicts: Conflicts,
    pub(crate) document: Document,
    /// The identity of the map in the cache, if it is stored there.
    pub(crate) kept_as: Option<MapIdentity>,
    /// The manifests that externals were named by.
    pub(crate) manifests: Manifests,
}

/// Messages by node id.
pub(crate) type Conflicts = BTreeMap<String, String>;

/// A map's minified document, or its fingerprint, if known without encoding the map.
#[derive(Debug, Default)]
pub(crate) enum Document {
    #[default]
    Unknown,
    Fingerprint(DocumentFingerprint),
    /// Already encoded for the cache.
    Made(Vec<u8>),
}

impl BuiltMap {
    /// Files of the repository in languages that stan does not analyse.
    pub fn not_analysed(&self) -> Vec<NotAnalysedFiles> {
        not_analysed_of_map(&self.map)
    }

    /// The problems of the graph, and the nodes that cannot be selected.
    pub fn problems(&self) -> Vec<String> {
        self.conflicts.values().chain(&self.errors).cloned().collect()
    }

    /// Writes the document in the format of `dependency.meta.json`.
    pub fn write(&self, out: &mut dyn io::Write, style: JsonStyle) -> io::Result<()> {
        match &self.document {
            Document::Made(bytes) if style == JsonStyle::Minified => out.write_all(bytes),
            _ => self.map.write(out, style),
        }
    }
}

/// Builds the graph and names its externals by their archive addresses. Writes only the cache.
pub fn build_map(
    engine: &Engine<'_>,
    repository: &Repository<'_>,
    request: &GraphRequest,
) -> Result<BuiltMap, EngineError> {
    let strict = StrictSystem::new(engine.system(), request);
    let built = build_map_with(&engine.over(&strict), repository, request, || (), None)?;
    strict.ensure_no_transient_errors()?;
    built.map(|(built, ())| built).ok_or_else(|| EngineError::internal("the map is missing from its outcome"))
}

/// Like [`build_map`]. Runs `beside` on another thread while this one builds the map from the graph or reads it from the cache,
/// which is sequential. `None` if nothing changed and `is_needless` returns that the map is not needed either.
pub(crate) fn build_map_with<T: Send + Sync>(
    engine: &Engine<'_>,
    repository: &Repository<'_>,
    request: &GraphRequest,
    beside: impl Fn() -> T + Sync,
    is_needless: Option<&IsEnough<'_>>,
) -> Result<Option<(BuiltMap, T)>, EngineError> {
    let options = repository.config.graph_options(repository.root);
    let request = GraphRequest { stats_only: false, ..request.clone() };
    let key = MapKey { stan_path: repository.config.stan_path.clone(), hashes: repository.config.context.meta_hashes };
    let stored = OnceLock::new();
    let other = OnceLock::new();
    let skips = AtomicBool::new(false);
    let is_kept = |cache: &Cache<'_>, kept_as| {
        if is_needless.is_some_and(|is_needless| is_needless(cache, kept_as)) {
            skips.store(true, Ordering::Relaxed);
            return true;
        }
        let (map, _) = rayon::join(|| cache.load_map(kept_as, &key), || other.set(beside()));
        map.is_some_and(|map| stored.set(map).is_ok())
    };
    let system = engine.system();
    let (outcome, kept_as) = graph_or_cached_map(engine, &options, &request, &is_kept)?;
    if skips.into_inner() && outcome.graph.is_none() {
        return Ok(None);
    }
    // If the graph was built after all, it is newer than the cached map, which is then discarded.
    if let Some(stored) = stored.into_inner().filter(|_| outcome.graph.is_none()) {
        let StoredMap { map, integrity, document, conflicts, identity, manifests } = stored;
        let document = Document::Fingerprint(document);
        let is_unchanged = outcome.work == CacheUse::Unchanged;
        let errors = outcome.errors;
        let kept_as = Some(identity);
        let built = BuiltMap { map, integrity, errors, is_unchanged, conflicts, document, kept_as, manifests };
        return Ok(Some((built, other.into_inner().unwrap_or_else(beside))));
    }
    let Some(graph) = outcome.graph else { return Err(EngineError::internal("the graph is missing from its outcome")) };
    let (built, other) = std::thread::scope(|scope| {
        let made = other.into_inner();
        let beside = &beside;
        let thread = if made.is_some() { None } else { std::thread::Builder::new().spawn_scoped(scope, beside).ok() };
        let built = map_of(system, repository, &graph);
        // If no thread could be started, run it now.
        let other = match thread {
            Some(thread) => thread.join().map_err(|_| EngineError::internal("a thread was lost")),
            None => Ok(made.unwrap_or_else(beside)),
        };
        (built, other)
    });
    let NamedMap { map, integrity, conflicts, manifests } = built?;
    let other = other?;
    let document = kept_as.and_then(|kept_as| {
        let cache = open_cache(system, &options, &request)?;
        let mut bytes = Vec::new();
        map.write(&mut bytes, JsonStyle::Minified).ok()?;
        let fingerprint = DocumentFingerprint::of(&bytes);
        let kept_as = cache.store_map(
            kept_as,
            &key,
            &MapParts { map: &map, integrity: &integrity, conflicts: &conflicts },
            fingerprint,
            &manifests,
        );
        Some((Document::Made(bytes), kept_as))
    });
    let (document, kept_as) = document.unwrap_or_default();
    let is_unchanged = outcome.work == CacheUse::Unchanged;
    let errors = outcome.errors;
    Ok(Some((BuiltMap { map, integrity, errors, is_unchanged, conflicts, document, kept_as, manifests }, other)))
}

/// A map with its private map and other data that belong to it.
struct NamedMap {
    map: Map,
    integrity: ExternalsLock,
    conflicts: Conflicts,
    manifests: Manifests,
}

fn map_of(system: &dyn System, repository: &Repository<'_>, graph: &Graph) -> Result<NamedMap, EngineError> {
    let options = repository.config.graph_options(repository.root);
    let (externals, manifests) = locate_externals(system, &options, graph);
    let canonical = Canonical::of(graph, &repository.config.stan_path, &externals)
        .map_err(|error| EngineError::input(format!("the map cannot be made: {error}")))?;
    let conflicts = canonical.conflicts().iter().map(|one| (one.id.clone(), one.to_string())).collect();
    Ok(NamedMap {
        map: Map::from_graph(graph, &canonical, repository.config.context.meta_hashes),
        integrity: canonical.integrity(graph, &externals),
        conflicts,
        manifests,
    })
}

/// The map in the format of `dependency.meta.json`.
pub(crate) struct MapDocument {
    pub(crate) bytes: Vec<u8>,
    /// The bytes are already on disk, so nothing has to be written.
    pub(crate) is_in_place: bool,
}

/// The document that an earlier run left on disk.
pub(crate) struct LeftDocument {
    bytes: Vec<u8>,
    fingerprint: DocumentFingerprint,
}

impl LeftDocument {
    pub(crate) fn read(system: &dyn System, layout: &WorkspaceLayout) -> Option<Self> {
        let bytes = read_if_there(system, layout, &layout.artefact(Artefact::Meta)).ok()??;
        Some(Self { fingerprint: DocumentFingerprint::of(&bytes), bytes })
    }
}

/// The map's minified document. Not encoded again if it was encoded for the cache, or if the file on disk has the same
/// fingerprint.
pub(crate) fn document_of(built: &mut BuiltMap, left: Option<LeftDocument>) -> Result<MapDocument, EngineError> {
    match (std::mem::take(&mut built.document), left) {
        (Document::Made(bytes), _) => return Ok(MapDocument { bytes, is_in_place: false }),
        (Document::Fingerprint(known), Some(left)) if left.fingerprint == known => {
            return Ok(MapDocument { bytes: left.bytes, is_in_place: true });
        }
        _ => {}
    }
    Ok(MapDocument { bytes: encoded(&built.map, JsonStyle::Minified)?, is_in_place: false })
}

/// Encodes the document of a map.
pub(crate) fn encoded(map: &Map, style: JsonStyle) -> Result<Vec<u8>, EngineError> {
    let mut bytes = Vec::new();
    map.write(&mut bytes, style).map_err(|error| EngineError::internal(error.to_string()))?;
    Ok(bytes)
}

/// The map on disk, with its exact bytes; `None` if there is none.
pub(crate) fn load_map(system: &dyn System, layout: &WorkspaceLayout) -> Result<Option<(Map, Vec<u8>)>, EngineError> {
    let file = layout.artefact(Artefact::Meta);
    let Some(bytes) = read_if_there(system, layout, &file)? else { return Ok(None) };
    let map = Map::decode(&bytes, &file).map_err(|errors| decode_error("the map", &errors).hint(REBUILD))?;
    Ok(Some((map, bytes)))
}

/// The map that selections are counted on: the one on disk, otherwise a new one. Its private map may be missing.
pub(crate) fn map_for_selection(
    engine: &Engine<'_>,
    repository: &Repository<'_>,
    request: &GraphRequest,
) -> Result<(Map, ExternalsLock), EngineError> {
    let (system, layout) = (engine.system(), repository.layout());
    match load_map(system, &layout)? {
        Some((map, _)) => {
            let integrity = readable_integrity(system, repository, Some(&map))?;
            Ok((map, integrity.unwrap_or_default()))
        }
        None => build_map(engine, repository, request).map(|built| (built.map, built.integrity)),
    }
}

/// The private map on disk; `None` if there is none. Fails if it names files that may not be read. `map` is the map beside it.
pub(crate) fn load_integrity(
    system: &dyn System,
    repository: &Repository<'_>,
    map: Option<&Map>,
) -> Result<Option<ExternalsLock>, EngineError> {
    let Some(integrity) = decode_integrity(system, repository)? else { return Ok(None) };
    check_consent(repository.root, &integrity, &Consent::new(system, repository, map, &integrity))?;
    Ok(Some(integrity))
}

/// Like [`load_integrity`], but skips the files that may not be read instead of failing: for sizes, an estimate is enough, and a
/// checkout that was moved still has the private map of its old location.
pub(crate) fn readable_integrity(
    system: &dyn System,
    repository: &Repository<'_>,
    map: Option<&Map>,
) -> Result<Option<ExternalsLock>, EngineError> {
    let Some(mut integrity) = decode_integrity(system, repository)? else { return Ok(None) };
    let consent = Consent::new(system, repository, map, &integrity);
    integrity.nodes.retain(|_, node| consent.covers(&node.locator));
    Ok(Some(integrity))
}

fn decode_integrity(system: &dyn System, repository: &Repository<'_>) -> Result<Option<ExternalsLock>, EngineError> {
    let layout = repository.layout();
    let file = layout.artefact(Artefact::ExternalsLock);
    let Some(bytes) = read_if_there(system, &layout, &file)? else { return Ok(None) };
    let integrity =
        integrity::decode(&bytes, &file).map_err(|errors| decode_error("the private map", &errors).hint(REBUILD))?;
    check_places(&layout, &repository.config.stores, &integrity)?;
    Ok(Some(integrity))
}

/// Refuses a private map that names files outside the root which this run may not read.
fn check_consent(root: &str, integrity: &ExternalsLock, consent: &Consent<'_>) -> Result<(), EngineError> {
    let refused: Vec<String> = integrity
        .nodes
        .iter()
        .filter(|(_, node)| !consent.covers(&node.locator))
        .map(|(id, node)| format!("{id}: {}", relative_path(root, &node.locator)))
        .collect();
    if refused.is_empty() {
        return Ok(());
    }
    Err(EngineError::verification(
        "the private map points to files outside the root, which may not be read without consent",
    )
    .details(refused)
    .hint("allow their folder with --allow-outside DIR, or rebuild the map: stan run --context"))
}

/// Refuses a private map that names files to which no import could resolve: a repository may contain a forged map, which could
/// make the run read any file of this machine.
fn check_places(
    layout: &WorkspaceLayout,
    stores: &PackageStores,
    integrity: &ExternalsLock,
) -> Result<(), EngineError> {
    let misplaced: Vec<String> = integrity
        .nodes
        .iter()
        .filter(|(id, node)| !is_place_of(layout.root(), layout.stan_path(), stores, id, node))
        .map(|(id, node)| format!("{id}: expected the file that is archived under this id, found {}", node.locator))
        .collect();
    if misplaced.is_empty() {
        return Ok(());
    }
    Err(EngineError::verification("the private map points to files that the map does not name")
        .details(misplaced)
        .hint(REBUILD))
}

/// Whether the file at the node's path would get this id, and could be imported at all.
fn is_place_of(root: &str, stan_path: &str, stores: &PackageStores, id: &str, node: &LockedExternal) -> bool {
    let LockedExternal { locator, package, .. } = node;
    let is_installed = stan_model::is_installed(locator);
    let is_real = !locator.split('/').any(|part| matches!(part, "." | ".."));
    let could_be_imported = match package {
        Some(package) if matches!(package.ecosystem, Ecosystem::Go | Ecosystem::Crates) => {
            stores.file_at(locator).as_ref() == Some(package) || is_vendored(root, locator, package)
        }
        Some(package) => is_installed && locator.ends_with(&["/", &package.path].concat()),
        None => is_installed || Languages::all().claim(locator) || locator.ends_with(".json"),
    };
    let file = ExternalFile::new(root, locator.clone(), package.clone());
    is_real && could_be_imported && canonical_id(stan_path, &file) == *id
}

/// Whether a path may be that of a vendored crate's file. Its checksum is verified before it is staged.
fn is_vendored(root: &str, locator: &str, package: &PackageFile) -> bool {
    package.ecosystem == Ecosystem::Crates
        && AbsPath::new(root).below(locator).is_some()
        && locator.ends_with(&["/", &package.path].concat())
}

pub(crate) const REBUILD: &str = "rebuild the map: stan run --context";

/// The error for a document that does not decode.
pub(crate) fn decode_error(what: &str, errors: &[DocumentError]) -> EngineError {
    EngineError::input(format!("{what} cannot be read")).details(errors.iter().map(ToString::to_string))
}

/// Whether there is a file or a link.
pub(crate) fn exists(system: &dyn System, layout: &WorkspaceLayout, relative: &str) -> bool {
    system.lstat(Path::new(&layout.absolute(relative))).is_ok()
}

#[cfg(test)]
mod tests {
    use stan_model::Digest;
    use stan_model::document::integrity::PackageFile;

    use super::*;

    fn node(locator: &str, package: Option<(&str, &str)>) -> LockedExternal {
        let package = package.map(|(name, path)| PackageFile {
            ecosystem: stan_model::Ecosystem::Npm,
            name: name.to_owned(),
            version: "1.0.0".to_owned(),
            path: path.to_owned(),
        });
        LockedExternal { locator: locator.to_owned(), size: 1, sha256: Digest([0; 32]), package }
    }

    #[test]
    fn a_private_map_names_importable_files_alone() {
        let hashed =
            |path: &str, name: &str| format!(".stan/context/abs/{}/{name}", stan_repo::sha256(path.as_bytes()));
        let npm = ".stan/context/npm/a/1.0.0/x.js";
        for (id, node, expected) in [
            (npm.to_owned(), node("/r/node_modules/a/x.js", Some(("a", "x.js"))), true),
            (npm.to_owned(), node("/store/node_modules/a/x.js", Some(("a", "x.js"))), true),
            (npm.to_owned(), node("/homes/u/.ssh/x.js", Some(("a", "x.js"))), false),
            (npm.to_owned(), node("/r/node_modules/a/../../x.js", Some(("a", "x.js"))), false),
            (npm.to_owned(), node("/r/node_modules/b/x.js", Some(("b", "x.js"))), false),
            (npm.to_owned(), node("/r/node_modules/a/x.js", None), false),
            (hashed("/o/lib.ts", "lib.ts"), node("/o/lib.ts", None), true),
            (hashed("/o/data.json", "data.json"), node("/o/data.json", None), true),
            (hashed("/o/id_rsa", "id_rsa"), node("/o/id_rsa", None), false),
            (hashed("/o/lib.ts", "lib.ts"), node("/o/other.ts", None), false),
        ] {
            assert_eq!(
                is_place_of("/r", ".stan", &PackageStores::NONE, &id, &node),
                expected,
                "{id} at {}",
                node.locator
            );
        }
    }
}
