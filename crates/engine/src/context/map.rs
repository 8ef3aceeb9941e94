//! Builds the map of a repository and its private map from the graph, or reads them from disk.

use std::collections::BTreeMap;
use std::io;
use std::path::Path;
use std::sync::OnceLock;

use stan_graph::{Canonical, ExternalFile, JsonStyle, Map, canonical_id};
use stan_lang::{Languages, PackageStores};
use stan_model::Ecosystem;
use stan_model::document::DocumentError;
use stan_model::document::externals_lock::{self, ExternalsLock, LockedExternal, PackageFile};
use stan_model::document::run_report::NotAnalysedFiles;
use stan_repo::{AbsPath, System, relative_path};

use super::Repository;
use super::consent::Consent;
use super::externals::locate_externals;
use super::layout::{Artefact, WorkspaceLayout};
use super::strict_system::StrictSystem;
use super::workspace_files::read_if_there;
use crate::cache::{Cache, DocumentFingerprint, Identity, Manifests, MapIdentity, MapKey, MapParts, StoredMap};
use crate::engine::Engine;
use crate::error::EngineError;
use crate::graph::{CacheUse, Graph, GraphRequest, IsEnough, graph_or_cached_map, open_cache};
use crate::not_analysed::not_analysed_of_map;

/// A map, and the private map with the proofs of external files.
#[derive(Debug)]
pub struct BuiltMap {
    pub map: Map,
    pub externals_lock: ExternalsLock,
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

/// What the cache has for a graph that has not changed.
enum CachedMap {
    /// The caller needs no map.
    Needless,
    Map(Box<StoredMap>),
}

/// Like [`build_map`]. Runs `side_job` on another thread while this one builds the map from the graph or reads it from the cache,
/// which is sequential. `None` if nothing changed and `is_needless` returns that the map is not needed either.
pub(crate) fn build_map_with<T: Send + Sync>(
    engine: &Engine<'_>,
    repository: &Repository<'_>,
    request: &GraphRequest,
    side_job: impl Fn() -> T + Sync,
    is_needless: Option<&IsEnough<'_>>,
) -> Result<Option<(BuiltMap, T)>, EngineError> {
    let options = repository.config.graph_options(repository.root);
    let request = GraphRequest { stats_only: false, ..request.clone() };
    let key = MapKey { stan_path: repository.config.stan_path.clone(), hashes: repository.config.context.meta_hashes };
    let cached = OnceLock::new();
    let side = OnceLock::new();
    // The graph's code calls this once it knows that nothing has changed, to learn whether it must load the graph. The cache is
    // open only then, so what was found in it is handed out through `cached`.
    let is_enough = |cache: &Cache<'_>, graph| {
        if is_needless.is_some_and(|is_needless| is_needless(cache, graph)) {
            return cached.set(CachedMap::Needless).is_ok();
        }
        let (map, _) = rayon::join(|| cache.load_map(graph, &key), || side.set(side_job()));
        map.is_some_and(|map| cached.set(CachedMap::Map(Box::new(map))).is_ok())
    };
    let system = engine.system();
    let (outcome, identity) = graph_or_cached_map(engine, &options, &request, &is_enough)?;
    let is_unchanged = outcome.work == CacheUse::Unchanged;
    let (graph, errors) = (outcome.graph, outcome.errors);
    let side = side.into_inner();
    // If the graph was built after all, it is newer than the cached map.
    let Some(graph) = graph else {
        return match cached.into_inner() {
            Some(CachedMap::Needless) => Ok(None),
            Some(CachedMap::Map(stored)) => {
                let built = BuiltMap::from_cache(*stored, errors, is_unchanged);
                Ok(Some((built, side.unwrap_or_else(side_job))))
            }
            None => Err(EngineError::internal("the graph is missing from its outcome")),
        };
    };
    let (named, side) = alongside(|| map_of(system, repository, &graph), side, &side_job);
    let (named, side) = (named?, side?);
    let stored =
        identity.and_then(|identity| store_map(&open_cache(system, &options, &request)?, identity, &key, &named));
    let (document, kept_as) = stored.unwrap_or_default();
    let NamedMap { map, externals_lock, conflicts, manifests } = named;
    Ok(Some((BuiltMap { map, externals_lock, errors, is_unchanged, conflicts, document, kept_as, manifests }, side)))
}

impl BuiltMap {
    fn from_cache(stored: StoredMap, errors: Vec<String>, is_unchanged: bool) -> Self {
        let StoredMap { map, externals_lock, document, conflicts, identity, manifests } = stored;
        let (document, kept_as) = (Document::Fingerprint(document), Some(identity));
        Self { map, externals_lock, errors, is_unchanged, conflicts, document, kept_as, manifests }
    }
}

/// Runs `work` here and `side_job` on a thread of its own, unless its result is already known.
fn alongside<W, T: Send>(
    work: impl FnOnce() -> W,
    known: Option<T>,
    side_job: &(impl Fn() -> T + Sync),
) -> (W, Result<T, EngineError>) {
    std::thread::scope(|scope| {
        let thread =
            if known.is_some() { None } else { std::thread::Builder::new().spawn_scoped(scope, side_job).ok() };
        let done = work();
        // If no thread could be started, run it now.
        let side = match thread {
            Some(thread) => thread.join().map_err(|_| EngineError::internal("a thread was lost")),
            None => Ok(known.unwrap_or_else(side_job)),
        };
        (done, side)
    })
}

/// Stores a new map beside its graph, and returns its document, because the cache records what the document looks like.
fn store_map(
    cache: &Cache<'_>,
    graph: Identity,
    key: &MapKey,
    named: &NamedMap,
) -> Option<(Document, Option<MapIdentity>)> {
    let mut bytes = Vec::new();
    named.map.write(&mut bytes, JsonStyle::Minified).ok()?;
    let fingerprint = DocumentFingerprint::of(&bytes);
    let parts = MapParts { map: &named.map, externals_lock: &named.externals_lock, conflicts: &named.conflicts };
    let kept_as = cache.store_map(graph, key, &parts, fingerprint, &named.manifests);
    Some((Document::Made(bytes), kept_as))
}

/// A map with its private map and other data that belong to it.
struct NamedMap {
    map: Map,
    externals_lock: ExternalsLock,
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
        externals_lock: canonical.externals_lock(graph, &externals),
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
            let externals_lock = readable_externals_lock(system, repository, Some(&map))?;
            Ok((map, externals_lock.unwrap_or_default()))
        }
        None => build_map(engine, repository, request).map(|built| (built.map, built.externals_lock)),
    }
}

/// The private map on disk; `None` if there is none. Fails if it names files that may not be read. `map` is the map beside it.
pub(crate) fn load_externals_lock(
    system: &dyn System,
    repository: &Repository<'_>,
    map: Option<&Map>,
) -> Result<Option<ExternalsLock>, EngineError> {
    let Some(externals_lock) = decode_externals_lock(system, repository)? else { return Ok(None) };
    check_consent(repository.root, &externals_lock, &Consent::new(system, repository, map, &externals_lock))?;
    Ok(Some(externals_lock))
}

/// Like [`load_externals_lock`], but skips the files that may not be read instead of failing: for sizes, an estimate is enough,
/// and a checkout that was moved still has the private map of its old location.
pub(crate) fn readable_externals_lock(
    system: &dyn System,
    repository: &Repository<'_>,
    map: Option<&Map>,
) -> Result<Option<ExternalsLock>, EngineError> {
    let Some(mut externals_lock) = decode_externals_lock(system, repository)? else { return Ok(None) };
    let consent = Consent::new(system, repository, map, &externals_lock);
    externals_lock.nodes.retain(|_, node| consent.covers(&node.locator));
    Ok(Some(externals_lock))
}

fn decode_externals_lock(
    system: &dyn System,
    repository: &Repository<'_>,
) -> Result<Option<ExternalsLock>, EngineError> {
    let layout = repository.layout();
    let file = layout.artefact(Artefact::ExternalsLock);
    let Some(bytes) = read_if_there(system, &layout, &file)? else { return Ok(None) };
    let externals_lock = externals_lock::decode(&bytes, &file)
        .map_err(|errors| decode_error("the private map", &errors).hint(REBUILD))?;
    check_places(&layout, &repository.config.stores, &externals_lock)?;
    Ok(Some(externals_lock))
}

/// Refuses a private map that names files outside the root which this run may not read.
fn check_consent(root: &str, externals_lock: &ExternalsLock, consent: &Consent<'_>) -> Result<(), EngineError> {
    let refused: Vec<String> = externals_lock
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
    externals_lock: &ExternalsLock,
) -> Result<(), EngineError> {
    let misplaced: Vec<String> = externals_lock
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
    use stan_model::document::externals_lock::PackageFile;

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
