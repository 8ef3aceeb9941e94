//! Everything that an archive is made of, put together and not yet written: the same for a run, its plan and a snapshot.

use std::collections::BTreeSet;
use std::path::Path;
use std::sync::Arc;

use stan_archive::ArchiveEntry;
use stan_graph::{Map, Selection};
use stan_model::NodeKind;
use stan_model::document::integrity::Integrity;
use stan_repo::{PathGlobs, Universe, WritableSystem, scan_folders, with_contents};

use super::allow::{self, Allowlist, Documents, Origin, Rules};
use super::map::{self, BuiltMap, LeftDocument, MapDocument};
use super::patience::Patience;
use super::place::{Artefact, Place};
use super::refusal::Refusal;
use super::reports::Mode;
use super::workspace_files::read_if_there;
use super::{Context, select, state};
use crate::graph::GraphRequest;
use crate::init::system_document;

/// What decides the contents of an archive.
pub(crate) struct Wanted<'a> {
    pub(crate) mode: Mode,
    pub(crate) frozen: bool,
    pub(crate) pretty: bool,
    pub(crate) work: &'a GraphRequest,
}

/// The contents of an archive.
pub(crate) struct Assembled {
    pub(crate) allowlist: Allowlist,
    /// Absent in plain runs.
    pub(crate) thread: Option<Thread>,
    pub(crate) warnings: Vec<String>,
    pub(crate) errors: Vec<String>,
    /// Files that the selection names and git ignores.
    pub(crate) ignored: Vec<String>,
}

/// The map, the selection on it, and the bytes of their documents.
pub(crate) struct Thread {
    pub(crate) map: Map,
    pub(crate) integrity: Integrity,
    pub(crate) selection: Selection,
    pub(crate) meta_bytes: Arc<Vec<u8>>,
    /// The map's document was read from its place, not made.
    pub(crate) meta_is_in_place: bool,
    pub(crate) state_bytes: Arc<Vec<u8>>,
}

pub(crate) fn assemble(
    system: &dyn WritableSystem,
    context: &Context<'_>,
    wanted: &Wanted<'_>,
    patience: &mut dyn Patience,
) -> Result<Assembled, Refusal> {
    let place = context.place();
    let options = context.config.graph_options(context.root);
    let excludes = excludes(context)?;
    let rules = Rules { system, place: &place, scan: &options.scan, excludes: &excludes };
    let altered = altered_instructions(system, &place);
    if wanted.mode == Mode::Plain {
        patience.stage("listing the repository");
        let mut allowlist = allow::whole_repository(&rules);
        let mut warnings = std::mem::take(&mut allowlist.warnings);
        warnings.extend(altered);
        return Ok(Assembled { allowlist, thread: None, warnings, errors: Vec::new(), ignored: Vec::new() });
    }
    // A broken selection is told before the work, not after.
    let loaded = if wanted.mode == Mode::Meta { None } else { state::load(system, &place)? };
    let (decoded, kept) = match loaded {
        Some((decoded, bytes)) if !state::is_old_form(&decoded) => (decoded, Some(bytes)),
        Some((decoded, _)) => (decoded, None),
        None => (state::nothing(), None),
    };
    let state_bytes = Arc::new(kept.unwrap_or_else(|| decoded.state.encode()));
    let (built, document, top) = the_map(system, context, &rules, wanted, patience)?;
    let BuiltMap { map, integrity, errors, .. } = built;
    let (meta_bytes, meta_is_in_place) = (Arc::new(document.bytes), document.is_in_place);
    patience.stage("selecting");
    let selection = select::selection(&map, &decoded.state)?;
    let documents = Documents { meta: Arc::clone(&meta_bytes), state: Arc::clone(&state_bytes) };
    let mut allowlist = match wanted.mode {
        Mode::Meta => allow::thread_opener(&rules, documents, top),
        _ => allow::selected(&rules, documents, top, &map, &selection),
    };
    let mut warnings = std::mem::take(&mut allowlist.warnings);
    warnings.extend(altered);
    warnings.extend(decoded.warnings);
    warnings.extend(selection.warnings.iter().cloned());
    let named = decoded.state.include.iter().map(|entry| entry.node.as_str());
    let ignored = ignored_by_git(&rules, named.filter(|node| allowlist.files.contains_key(*node)));
    let thread = Thread { map, integrity, selection, meta_bytes, meta_is_in_place, state_bytes };
    Ok(Assembled { allowlist, thread: Some(thread), warnings, errors, ignored })
}

/// The map, rebuilt or as an earlier run left it, its document, and what lies in the root.
fn the_map(
    system: &dyn WritableSystem,
    context: &Context<'_>,
    rules: &Rules<'_>,
    wanted: &Wanted<'_>,
    patience: &mut dyn Patience,
) -> Result<(BuiltMap, MapDocument, Universe), Refusal> {
    let place = rules.place;
    if wanted.frozen {
        patience.stage("reading the map");
        let absent = |artefact| {
            Refusal::input(format!("`{}` is missing, and --frozen does not build it", place.artefact(artefact)))
                .hint(map::REBUILD)
        };
        let (map, bytes) = map::load_map(system, place)?.ok_or_else(|| absent(Artefact::Meta))?;
        let integrity = map::load_integrity(system, context, Some(&map))?.ok_or_else(|| absent(Artefact::Integrity))?;
        return Ok((
            BuiltMap { map, integrity, errors: Vec::new(), document: map::Document::Unknown },
            MapDocument { bytes, is_in_place: true },
            allow::top_of(rules),
        ));
    }
    patience.stage("building the map");
    let beside = || (allow::top_of(rules), LeftDocument::read(system, place));
    let (mut built, (top, left)) = map::build_map_beside(system, context, wanted.work, beside)?;
    let document = map::document_of(&mut built, left, wanted.pretty)?;
    Ok((built, document, top))
}

/// The config's `excludes`, which were checked when it was read.
pub(crate) fn excludes(context: &Context<'_>) -> Result<PathGlobs, Refusal> {
    PathGlobs::new(&with_contents(&context.config.excludes)).map_err(|error| Refusal::input(error.to_string()))
}

/// A warning when the assistant's instructions are not the shipped ones: a repository may bring its own, and every archive
/// hands them on.
fn altered_instructions(system: &dyn WritableSystem, place: &Place) -> Option<String> {
    let path = place.own("system/stan.system.md");
    let bytes = read_if_there(system, place, &path).ok()??;
    // Checkouts may have changed the line ends.
    let text: Vec<u8> = bytes.into_iter().filter(|byte| *byte != b'\r').collect();
    (text != system_document(place.stan_path()).as_bytes()).then(|| {
        format!("`{path}` differs from the instructions that this version ships: read it before you hand on the archive, or replace it with `stan init --force`")
    })
}

impl Thread {
    /// The selected nodes that staging must prove: all externals but those whose names no archive may hold.
    pub(crate) fn externals(&self) -> impl Iterator<Item = u32> {
        let is_staged = |index: &u32| {
            self.map.kind(*index) == NodeKind::External && stan_archive::windows_hazard(self.map.id(*index)).is_none()
        };
        self.selection.selected.iter().copied().filter(is_staged)
    }
}

impl Thread {
    /// The externals that are in the map alone.
    pub(crate) fn unselected_externals(&self) -> impl Iterator<Item = u32> {
        let is_external = |&index: &u32| self.map.kind(index) == NodeKind::External;
        // Selected nodes are sorted, because everything about a selection is.
        let is_selected = |index: &u32| self.selection.selected.binary_search(index).is_ok();
        self.map.indices().filter(is_external).filter(move |index| !is_selected(index))
    }
}

/// An entry for everything that needs no proof; externals come from staging.
pub(crate) fn plain_entries(context: &Context<'_>, place: &Place, allowlist: &Allowlist) -> Vec<ArchiveEntry> {
    let mut entries = Vec::with_capacity(allowlist.files.len());
    let is_allowed = |path: &str| context.config.allowed_secrets.contains(path);
    for (path, allowed) in &allowlist.files {
        let (entry, is_allowed) = match &allowed.origin {
            Origin::Bytes(bytes) => (ArchiveEntry::shared(path.clone(), Arc::clone(bytes)), false),
            Origin::File(real) => (ArchiveEntry::file(path.clone(), place.absolute(real)), is_allowed(real)),
            Origin::Elsewhere(absolute) => (ArchiveEntry::file(path.clone(), absolute.clone()), false),
            Origin::Staged => continue,
        };
        entries.push(if is_allowed || context.config.allowed_secrets.contains(path) {
            entry.allow_secrets()
        } else {
            entry
        });
    }
    entries
}

/// An external, judged by where it comes from as well as by its id.
pub(crate) fn external_entry(context: &Context<'_>, thread: &Thread, entry: ArchiveEntry) -> ArchiveEntry {
    if context.config.allowed_secrets.contains(entry.name()) {
        return entry.allow_secrets();
    }
    match thread.integrity.nodes.get(entry.name()) {
        Some(node) => entry.installed_at(&node.locator),
        None => entry,
    }
}

/// The files among `paths` that git ignores: a scan by git's rules does not list them. Those of stan's own folders are
/// listed by other rules.
pub(crate) fn ignored_by_git<'p>(rules: &Rules<'_>, paths: impl Iterator<Item = &'p str>) -> Vec<String> {
    let paths: BTreeSet<&str> = paths.filter(|path| rules.place.below_stan_path(path).is_none()).collect();
    if paths.is_empty() {
        return Vec::new();
    }
    let mut folders = BTreeSet::new();
    for path in &paths {
        folders.extend(path.match_indices('/').filter_map(|(end, _)| path.get(..end)).map(str::to_owned));
    }
    let shown = scan_folders(rules.system, Path::new(rules.place.root()), rules.scan, &folders);
    let is_shown = |path: &str| {
        shown.files.binary_search_by(|file| (**file).cmp(path)).is_ok()
            || shown.aliases.binary_search_by(|(alias, _)| (**alias).cmp(path)).is_ok()
    };
    paths.into_iter().filter(|path| !is_shown(path)).map(str::to_owned).collect()
}
