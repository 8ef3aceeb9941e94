//! Everything that an archive is made of, put together and not yet written: the same for a run, its plan and a snapshot.

use std::sync::Arc;

use stan_archive::ArchiveEntry;
use stan_graph::{Map, Selection};
use stan_model::NodeKind;
use stan_model::document::integrity::Integrity;
use stan_repo::{PathGlobs, Universe, WritableSystem};

use super::allow::{self, Allowlist, Documents, Origin, Rules};
use super::map::{self, BuiltMap, LeftDocument, MapDocument};
use super::patience::Patience;
use super::place::{Artefact, Place};
use super::refusal::Refusal;
use super::reports::Mode;
use super::{Context, select, state};
use crate::graph::GraphRequest;

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
    if wanted.mode == Mode::Plain {
        patience.stage("listing the repository");
        let mut allowlist = allow::whole_repository(&rules);
        let warnings = std::mem::take(&mut allowlist.warnings);
        return Ok(Assembled { allowlist, thread: None, warnings, errors: Vec::new() });
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
    warnings.extend(decoded.warnings);
    warnings.extend(selection.warnings.iter().cloned());
    let thread = Thread { map, integrity, selection, meta_bytes, meta_is_in_place, state_bytes };
    Ok(Assembled { allowlist, thread: Some(thread), warnings, errors })
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
    PathGlobs::new(&context.config.excludes).map_err(|error| Refusal::input(error.to_string()))
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
pub(crate) fn plain_entries(place: &Place, allowlist: &Allowlist) -> Vec<ArchiveEntry> {
    let mut entries = Vec::with_capacity(allowlist.files.len());
    for (path, allowed) in &allowlist.files {
        match &allowed.origin {
            Origin::Bytes(bytes) => entries.push(ArchiveEntry::shared(path.clone(), Arc::clone(bytes))),
            Origin::File(real) => entries.push(ArchiveEntry::file(path.clone(), place.absolute(real))),
            Origin::Elsewhere(absolute) => entries.push(ArchiveEntry::file(path.clone(), absolute.clone())),
            Origin::Staged => {}
        }
    }
    entries
}
