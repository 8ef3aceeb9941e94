//! Assembles the contents of an archive without writing it. Shared by runs, plans and snapshots.

use std::collections::BTreeSet;
use std::path::Path;
use std::sync::Arc;

use stan_archive::ArchiveEntry;
use stan_graph::{JsonStyle, Map, MetaHashes, Selection};
use stan_model::NodeKind;
use stan_model::document::externals_lock::ExternalsLock;
use stan_model::document::state::{DecodedState, State};
use stan_repo::{PathGlobs, Universe, WritableSystem, is_tracked, scan_folders, with_contents};

use super::allow::{self, Allowlist, Documents, LeftOut, Origin, Rules};
use super::layout::{Artefact, WorkspaceLayout};
use super::map::{self, BuiltMap, Conflicts, LeftDocument, MapDocument};
use super::overview::MapSummary;
use super::packages::drop_unproved;
use super::progress::Progress;
use super::reports::ArchiveMode;
use super::workspace_files::read_if_there;
use super::{Repository, select, state};
use crate::cache::{Manifests, MapIdentity};
use crate::engine::Engine;
use crate::error::EngineError;
use crate::graph::{GraphRequest, IsEnough};
use crate::init::system_document;

/// The inputs that determine the contents of an archive.
pub(crate) struct ArchiveRequest<'a> {
    pub(crate) mode: ArchiveMode,
    pub(crate) frozen: bool,
    /// Archive the map even if it is too large for most models.
    pub(crate) full_map: bool,
    /// Uses the same system that the files are read from.
    pub(crate) engine: &'a Engine<'a>,
    pub(crate) work: &'a GraphRequest,
}

/// The contents of an archive.
pub(crate) struct Assembled {
    pub(crate) allowlist: Allowlist,
    /// Absent in plain runs.
    pub(crate) inputs: Option<ContextInputs>,
    pub(crate) warnings: Vec<String>,
    pub(crate) errors: Vec<String>,
    /// An earlier run already reported the errors.
    pub(crate) errors_are_known: bool,
    /// Files that the selection names although git ignores them.
    pub(crate) ignored: Vec<String>,
}

/// The map, its selection, and the bytes of their documents.
pub(crate) struct ContextInputs {
    pub(crate) map: Map,
    pub(crate) externals_lock: ExternalsLock,
    pub(crate) selection: Selection,
    pub(crate) meta_bytes: DocumentBytes,
    /// The document of the map was read from disk, not encoded.
    pub(crate) meta_is_in_place: bool,
    pub(crate) state_bytes: DocumentBytes,
    /// Which nodes of the map carry hashes.
    pub(crate) hashes: MetaHashes,
    /// Absent in a frozen run without an overview on disk.
    pub(crate) overview: Option<DocumentBytes>,
    /// The identity of the map in the cache, if it is stored there, and the manifests that its externals were named by.
    pub(crate) kept_as: Option<(MapIdentity, Manifests)>,
}

/// Assembles the contents of an archive.
pub(crate) fn assemble(
    system: &dyn WritableSystem,
    repository: &Repository<'_>,
    wanted: &ArchiveRequest<'_>,
    progress: &mut dyn Progress,
) -> Result<Assembled, EngineError> {
    let assembled = assemble_unless(system, repository, wanted, progress, None)?;
    assembled.ok_or_else(|| EngineError::internal("the run was skipped although no skip check was given"))
}

/// Like [`assemble`]; `None` if the graph is unchanged and `is_needless` returns that nothing else can differ either.
pub(crate) fn assemble_unless(
    system: &dyn WritableSystem,
    repository: &Repository<'_>,
    wanted: &ArchiveRequest<'_>,
    progress: &mut dyn Progress,
    is_needless: Option<&IsEnough<'_>>,
) -> Result<Option<Assembled>, EngineError> {
    let layout = repository.layout();
    let options = repository.config.graph_options(repository.root);
    let excludes = excludes(repository)?;
    let root_tokens = repository.config.context.root_tokens;
    let rules = Rules { system, layout: &layout, scan: &options.scan, excludes: &excludes, root_tokens };
    let altered = altered_instructions(system, &layout);
    if wanted.mode == ArchiveMode::Plain {
        progress.stage("listing the repository");
        return Ok(Some(whole_repository(&rules, altered)));
    }
    // Load first: a broken selection must be reported before the expensive work.
    let (decoded, state_bytes) = load_selection(system, &layout, wanted.mode)?;
    let prepared = if wanted.frozen {
        progress.stage("reading the map");
        Some(committed_map(system, repository, &rules, wanted)?)
    } else {
        progress.stage("building the map");
        build_map_unless(system, repository, &rules, wanted, is_needless)?
    };
    let Some(PreparedMap { built, document, top }) = prepared else { return Ok(None) };
    let (errors, errors_are_known) = (built.problems(), built.is_unchanged);
    let BuiltMap { map, externals_lock, conflicts, kept_as, manifests, .. } = built;
    let (meta_bytes, meta_is_in_place) = (Arc::new(document.bytes), document.is_in_place);
    progress.stage("selecting");
    let mut selection = select::selection(&map, &decoded.state)?;
    refuse_conflicts(&map, &selection, &conflicts)?;
    let unproved = wanted.engine.share(|| drop_unproved(system, repository, &map, &externals_lock, &mut selection));
    let summary = MapSummary::new(system, repository, wanted, kept_as);
    let chosen = Chosen { map: &map, selection: &selection, state: &decoded.state };
    let (mut allowlist, overview) = allowlist_of(&rules, wanted, summary, &meta_bytes, &chosen, top, progress)?;
    allowlist.leave_out_unproved(unproved);
    let mut warnings = std::mem::take(&mut allowlist.warnings);
    warnings.extend(altered);
    warnings.extend(decoded.warnings);
    warnings.extend(selection.warnings.iter().cloned());
    warnings.extend(select::duplicates(&map, &selection, &layout));
    let named = decoded.state.include.iter().map(|entry| entry.node.as_str());
    let ignored = ignored_by_git(&rules, named.filter(|node| allowlist.files.contains_key(*node)));
    let hashes = repository.config.context.meta_hashes;
    let inputs = ContextInputs {
        map,
        externals_lock,
        selection,
        meta_bytes,
        meta_is_in_place,
        state_bytes,
        hashes,
        overview,
        kept_as: kept_as.map(|kept_as| (kept_as, manifests)),
    };
    Ok(Some(Assembled { allowlist, inputs: Some(inputs), warnings, errors, errors_are_known, ignored }))
}

/// The map, and what the assistant chose from it.
struct Chosen<'a> {
    map: &'a Map,
    selection: &'a Selection,
    state: &'a State,
}

/// The bytes of a document, which go into the archive and into its file.
type DocumentBytes = Arc<Vec<u8>>;

/// What the archive may contain, and its overview.
fn allowlist_of(
    rules: &Rules<'_>,
    wanted: &ArchiveRequest<'_>,
    mut summary: MapSummary<'_>,
    meta_bytes: &DocumentBytes,
    chosen: &Chosen<'_>,
    top: Universe,
    progress: &mut dyn Progress,
) -> Result<(Allowlist, Option<DocumentBytes>), EngineError> {
    let meta_tokens = summary.tokens_if_too_large(meta_bytes);
    let meta = meta_tokens.is_none().then(|| Arc::clone(meta_bytes));
    // Archives contain the minified forms, even if the ones on disk are indented.
    let documents = Documents { meta, overview: None, state: Arc::new(chosen.state.encode()) };
    let mut allowlist = match wanted.mode {
        ArchiveMode::Meta => allow::thread_opener(rules, documents, top),
        _ => allow::selected(rules, documents, top, chosen.map, chosen.selection),
    };
    if !wanted.frozen {
        progress.stage("writing the overview");
    }
    // The overview starts with what the list leaves out, so it is made from the list and then added to it.
    let overview = summary.overview(&allowlist, meta_tokens)?;
    if let Some(overview) = &overview {
        allowlist.add_document(rules.layout.artefact(Artefact::Overview), Arc::clone(overview));
    }
    if let Some(tokens) = meta_tokens {
        allowlist.left_out.push(too_large_map(rules.layout, tokens));
        allowlist.left_out.sort_unstable();
    }
    Ok((allowlist, overview))
}

/// A plain run archives everything, without map and selection.
fn whole_repository(rules: &Rules<'_>, altered: Option<String>) -> Assembled {
    let mut allowlist = allow::whole_repository(rules);
    let mut warnings = std::mem::take(&mut allowlist.warnings);
    warnings.extend(altered);
    Assembled { allowlist, inputs: None, warnings, errors: Vec::new(), errors_are_known: false, ignored: Vec::new() }
}

/// The selection and the new bytes of its document: those on disk, unless they are in an old format.
fn load_selection(
    system: &dyn WritableSystem,
    layout: &WorkspaceLayout,
    mode: ArchiveMode,
) -> Result<(DecodedState, Arc<Vec<u8>>), EngineError> {
    // A new thread starts with an empty selection, regardless of the one on disk.
    let loaded = if mode == ArchiveMode::Meta { None } else { state::load(system, layout)? };
    let (decoded, kept) = match loaded {
        Some((decoded, bytes)) if !state::is_old_form(&decoded) => (decoded, Some(bytes)),
        Some((decoded, _)) => (decoded, None),
        None => (state::nothing(), None),
    };
    let bytes = kept.unwrap_or_else(|| decoded.state.encode());
    Ok((decoded, Arc::new(bytes)))
}

fn too_large_map(layout: &WorkspaceLayout, tokens: u64) -> LeftOut {
    let reason = format!("the map has {tokens} tokens; `--full-map` archives it, the overview is in the archive");
    LeftOut { path: layout.artefact(Artefact::Meta), reason, is_default: false }
}

/// The map with its document, and the entries of the root folder.
struct PreparedMap {
    built: BuiltMap,
    document: MapDocument,
    top: Universe,
}

/// The map that an earlier run left on disk.
fn committed_map(
    system: &dyn WritableSystem,
    repository: &Repository<'_>,
    rules: &Rules<'_>,
    wanted: &ArchiveRequest<'_>,
) -> Result<PreparedMap, EngineError> {
    let layout = rules.layout;
    let absent = |artefact| {
        EngineError::input(format!("`{}` is missing, and --frozen does not build it", layout.artefact(artefact)))
            .hint(map::REBUILD)
    };
    let (map, bytes) = map::load_map(system, layout)?.ok_or_else(|| absent(Artefact::Meta))?;
    let externals_lock =
        map::load_externals_lock(system, repository, Some(&map))?.ok_or_else(|| absent(Artefact::ExternalsLock))?;
    check_committed(system, repository, wanted, &bytes)?;
    let bytes = map::encoded(&map, JsonStyle::Minified)?;
    let built = BuiltMap {
        map,
        externals_lock,
        errors: Vec::new(),
        is_unchanged: false,
        conflicts: Conflicts::new(),
        document: map::Document::Unknown,
        kept_as: None,
        manifests: Manifests::default(),
    };
    Ok(PreparedMap { built, document: MapDocument { bytes, is_in_place: true }, top: allow::top_of(rules) })
}

/// Builds the map of the current repository; `None` if nothing can differ from the last run.
fn build_map_unless(
    system: &dyn WritableSystem,
    repository: &Repository<'_>,
    rules: &Rules<'_>,
    wanted: &ArchiveRequest<'_>,
    is_needless: Option<&IsEnough<'_>>,
) -> Result<Option<PreparedMap>, EngineError> {
    let side_job = || (allow::top_of(rules), LeftDocument::read(system, rules.layout));
    let built = map::build_map_with(wanted.engine, repository, wanted.work, side_job, is_needless)?;
    let Some((mut built, (top, left))) = built else { return Ok(None) };
    let document = map::document_of(&mut built, left)?;
    Ok(Some(PreparedMap { built, document, top }))
}

/// If git tracks the map, it came with the repository, and its edges and descriptions may be forged. Accept it only if building
/// the map gives the same bytes.
fn check_committed(
    system: &dyn WritableSystem,
    repository: &Repository<'_>,
    wanted: &ArchiveRequest<'_>,
    found: &[u8],
) -> Result<(), EngineError> {
    let path = repository.layout().artefact(Artefact::Meta);
    if !is_tracked(system, repository.root, &path) {
        return Ok(());
    }
    let built = map::build_map(wanted.engine, repository, wanted.work)?;
    if [JsonStyle::Minified, JsonStyle::Indented]
        .into_iter()
        .any(|style| map::encoded(&built.map, style).is_ok_and(|bytes| bytes == found))
    {
        return Ok(());
    }
    Err(EngineError::verification(format!("`{path}` is committed and is not the map of this repository"))
        .hint("rebuild the map: stan run --context; and take it out of git: git rm --cached"))
}

/// Refuses selected ids that denote several files: nothing proves which one is meant.
fn refuse_conflicts(map: &Map, selection: &Selection, conflicts: &Conflicts) -> Result<(), EngineError> {
    let selected = selection.selected.iter().filter_map(|index| conflicts.get(map.id(*index)));
    let details: Vec<String> = selected.cloned().collect();
    if details.is_empty() {
        return Ok(());
    }
    Err(EngineError::verification("the selection has node ids that denote different files")
        .details(details)
        .hint("reinstall the packages, or take the nodes out of the selection"))
}

/// The config's `excludes`, which were validated when the configuration was read.
pub(crate) fn excludes(repository: &Repository<'_>) -> Result<PathGlobs, EngineError> {
    PathGlobs::new(&with_contents(&repository.config.excludes)).map_err(|error| EngineError::input(error.to_string()))
}

/// A warning if the assistant's instructions are not the shipped ones: a repository may contain its own, and every archive passes
/// them on.
fn altered_instructions(system: &dyn WritableSystem, layout: &WorkspaceLayout) -> Option<String> {
    let path = layout.own("system/stan.system.md");
    let bytes = read_if_there(system, layout, &path).ok()??;
    // A checkout may have converted the line ends.
    let text: Vec<u8> = bytes.into_iter().filter(|byte| *byte != b'\r').collect();
    (text != system_document(layout.stan_path()).as_bytes()).then(|| {
        format!("`{path}` differs from the instructions that this version ships: read it before you hand on the archive, or replace it with `stan init --force`")
    })
}

impl ContextInputs {
    /// The selected nodes that staging must prove: all externals except those whose names no archive may contain.
    pub(crate) fn externals(&self) -> impl Iterator<Item = u32> {
        let is_staged = |index: &u32| {
            self.map.kind(*index) == NodeKind::External && stan_archive::windows_hazard(self.map.id(*index)).is_none()
        };
        self.selection.selected.iter().copied().filter(is_staged)
    }
}

impl ContextInputs {
    /// The externals that are in the map but not selected.
    pub(crate) fn unselected_externals(&self) -> impl Iterator<Item = u32> {
        let is_external = |&index: &u32| self.map.kind(index) == NodeKind::External;
        // Binary search: the selected nodes are sorted.
        let is_selected = |index: &u32| self.selection.selected.binary_search(index).is_ok();
        self.map.indices().filter(is_external).filter(move |index| !is_selected(index))
    }
}

/// Entries of all files that need no verification; staging adds the externals.
pub(crate) fn plain_entries(
    repository: &Repository<'_>,
    layout: &WorkspaceLayout,
    allowlist: &Allowlist,
) -> Vec<ArchiveEntry> {
    let mut entries = Vec::with_capacity(allowlist.files.len());
    let is_allowed = |path: &str| repository.config.allowed_secrets.contains(path);
    for (path, allowed) in &allowlist.files {
        let (entry, is_allowed) = match &allowed.origin {
            Origin::Bytes(bytes) => (ArchiveEntry::shared(path.clone(), Arc::clone(bytes)), false),
            Origin::File(real) => (ArchiveEntry::file(path.clone(), layout.absolute(real)), is_allowed(real)),
            Origin::Elsewhere(absolute) => (ArchiveEntry::file(path.clone(), absolute.clone()), false),
            Origin::Staged => continue,
        };
        entries.push(if is_allowed || repository.config.allowed_secrets.contains(path) {
            entry.allow_secrets()
        } else {
            entry
        });
    }
    entries
}

/// The entry of an external. Rules about secret files apply to its installed path as well as to its id.
pub(crate) fn external_entry(repository: &Repository<'_>, inputs: &ContextInputs, entry: ArchiveEntry) -> ArchiveEntry {
    if repository.config.allowed_secrets.contains(entry.name()) {
        return entry.allow_secrets();
    }
    match inputs.externals_lock.nodes.get(entry.name()) {
        Some(node) => entry.installed_at(&node.locator),
        None => entry,
    }
}

/// The files among `paths` that git ignores: those that a scan by git's rules does not list. Does not apply to stan's own
/// folders, which other rules list.
pub(crate) fn ignored_by_git<'p>(rules: &Rules<'_>, paths: impl Iterator<Item = &'p str>) -> Vec<String> {
    let paths: BTreeSet<&str> = paths.filter(|path| rules.layout.below_stan_path(path).is_none()).collect();
    if paths.is_empty() {
        return Vec::new();
    }
    let mut folders = BTreeSet::new();
    for path in &paths {
        folders.extend(path.match_indices('/').filter_map(|(end, _)| path.get(..end)).map(str::to_owned));
    }
    let shown = scan_folders(rules.system, Path::new(rules.layout.root()), rules.scan, &folders);
    let is_shown = |path: &str| {
        shown.files.binary_search_by(|file| (**file).cmp(path)).is_ok()
            || shown.aliases.binary_search_by(|(alias, _)| (**alias).cmp(path)).is_ok()
    };
    paths.into_iter().filter(|path| !is_shown(path)).map(str::to_owned).collect()
}
