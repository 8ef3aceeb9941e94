//! The verb `select`: the files of a selection, their size, and why each is included.

use std::collections::BTreeMap;
use std::path::Path;

use rayon::prelude::*;
use rustc_hash::FxHashMap;
use stan_graph::{Map, Reasons, SelectOptions, Selection};
use stan_model::document::externals_lock::ExternalsLock;
use stan_model::document::run_report::tokens;
use stan_model::document::state::{self, DecodedState, State};
use stan_repo::WritableSystem;

use super::allow::{self, Allowed, LeftOut, Origin, Rules};
use super::assemble::excludes;
use super::layout::WorkspaceLayout;
use super::map::{build_map, decode_error, map_for_selection};
use super::packages::drop_unproved;
use super::read_only::ReadOnly;
use super::reports::{LeftOutReport, SHOWN_STEPS, SelectReport, SelectedNode, SizedNode};
use super::{NamedBytes, Repository, import};
use crate::engine::Engine;
use crate::error::EngineError;
use crate::graph::GraphRequest;
use crate::not_analysed::not_analysed_of_map;
use crate::outline::near_files;
use crate::secrets::{Judged, secrets_on_disk};
use crate::suggest::Weigher;
use crate::tokens::Tokenizer;

#[derive(Clone, Debug, Default)]
pub struct SelectRequest {
    /// Overrides the workspace's selection.
    pub state: Option<NamedBytes>,
    /// Overrides the workspace's map.
    pub meta: Option<NamedBytes>,
    /// Count the selected files with this tokenizer, besides the estimate.
    pub tokens: Option<Tokenizer>,
    pub work: GraphRequest,
}

/// Expands a selection on the given map, otherwise on the one on disk, otherwise on a new one. Writes only the cache.
pub fn select(
    engine: &Engine<'_>,
    repository: &Repository<'_>,
    request: &SelectRequest,
) -> Result<SelectReport, EngineError> {
    let (system, layout) = (engine.system(), repository.layout());
    let decoded = match &request.state {
        Some(named) => decode_state(named)?,
        None => super::state::load(system, &layout)?.map_or_else(super::state::nothing, |(decoded, _)| decoded),
    };
    let imports = import::to_be_staged(system, repository, &layout)?;
    // If imports are not staged yet, a run would stage them first: then neither the map on disk nor the cache is up to date.
    let view = (!imports.is_nothing()).then_some(ReadOnly { system, imports });
    let (map, externals_lock) = match (&request.meta, &view) {
        (Some(named), _) => (decode_map(named)?, ExternalsLock::default()),
        (None, Some(view)) => {
            build_map(&engine.over(view), repository, &request.work).map(|built| (built.map, built.externals_lock))?
        }
        (None, None) => map_for_selection(engine, repository, &request.work)?,
    };
    let system = view.as_ref().map_or(system, |view| view as &dyn WritableSystem);
    let mut selection = selection(&map, &decoded.state)?;
    let unproved = engine.share(|| drop_unproved(system, repository, &map, &externals_lock, &mut selection));
    // A map given by the user may be of another repository, so its files are not checked.
    let mut contents = match &request.meta {
        None => Contents::of(system, repository, &map, &externals_lock, &selection)?,
        Some(_) => Contents::default(),
    };
    contents.left_out.extend(unproved);
    let mut report = report(&map, &decoded, &selection, &contents);
    report.warnings.extend(duplicates(&map, &selection, &layout));
    report.warnings.sort_unstable();
    if let Some(tokenizer) = request.tokens {
        let weigher = Weigher { system, layout: &layout, map: &map, externals_lock: &externals_lock, tokenizer };
        let counted: Vec<u32> =
            selection.selected.iter().copied().filter(|&index| !contents.is_left_out(map.id(index))).collect();
        let (mut tokens, warnings) = weigher.total(&counted);
        tokens.tokens += contents.unmapped.values().map(|(_, path)| weigher.tokens_of_file(path)).sum::<u64>();
        report.exact_tokens = Some(tokens);
        report.warnings.extend(warnings);
        report.warnings.sort_unstable();
    }
    Ok(report)
}

/// How a run would treat the selected files.
#[derive(Default)]
struct Contents {
    /// The reason, by path.
    left_out: BTreeMap<String, String>,
    /// Files that the map does not contain: size and absolute path.
    unmapped: BTreeMap<String, (u64, String)>,
    /// Files whose size differs from the map: a run archives them as they are.
    resized: BTreeMap<String, u64>,
}

impl Contents {
    fn of(
        system: &dyn WritableSystem,
        repository: &Repository<'_>,
        map: &Map,
        externals_lock: &ExternalsLock,
        selection: &Selection,
    ) -> Result<Self, EngineError> {
        let layout = repository.layout();
        let (options, excludes) = (repository.config.graph_options(repository.root), excludes(repository)?);
        let root_tokens = repository.config.context.root_tokens;
        let rules = Rules { system, layout: &layout, scan: &options.scan, excludes: &excludes, root_tokens };
        let allowlist = allow::closure(&rules, map, selection);
        let mut contents = Self::default();
        for LeftOut { path, reason, .. } in allowlist.left_out {
            contents.left_out.insert(path, reason);
        }
        let judge = |(path, allowed): (&String, &Allowed)| {
            let (names, absolute) = match &allowed.origin {
                Origin::File(real) => (vec![path.as_str(), real], layout.absolute(real)),
                Origin::Staged => (vec![path.as_str()], externals_lock.nodes.get(path)?.locator.clone()),
                Origin::Elsewhere(_) | Origin::Bytes(_) => return None,
            };
            match secrets_on_disk(system, repository.config, &names, &absolute).ok()? {
                Judged::Free => None,
                Judged::Binary => Some((path.clone(), "it is binary".to_owned())),
                Judged::Held(file) => Some((path.clone(), file.reason())),
            }
        };
        for (path, allowed) in &allowlist.files {
            if let (Some(index), Origin::File(real)) = (map.find(path), &allowed.origin)
                && let Ok(stat) = system.lstat(Path::new(&layout.absolute(real)))
                && map.size(index) != Some(stat.size)
            {
                contents.resized.insert(path.clone(), stat.size);
            }
        }
        let judged: Vec<_> = allowlist.files.par_iter().filter_map(judge).collect();
        contents.left_out.extend(judged);
        for path in selection.unknown.iter().filter(|path| !contents.left_out.contains_key(*path)) {
            if let Some(Allowed { origin: Origin::File(real), .. }) = allowlist.files.get(path) {
                let absolute = layout.absolute(real);
                let size = system.lstat(Path::new(&absolute)).map_or(0, |stat| stat.size);
                contents.unmapped.insert(path.clone(), (size, absolute));
            }
        }
        Ok(contents)
    }

    fn is_left_out(&self, path: &str) -> bool {
        self.left_out.contains_key(path)
    }
}

/// Imported files whose bytes the selection includes again under another path. Every context archive already contains the
/// imports.
pub(crate) fn duplicates(map: &Map, selection: &Selection, layout: &WorkspaceLayout) -> Vec<String> {
    let folder = layout.own("imports/");
    let print = |index: u32| Some((map.size(index).filter(|size| *size > 0)?, map.hash(index).copied()?));
    let is_import = |index: &u32| map.id(*index).starts_with(&folder);
    let imports = map.indices().filter(is_import).filter_map(|index| Some((print(index)?, index)));
    let imports: FxHashMap<_, u32> = imports.collect();
    if imports.is_empty() {
        return Vec::new();
    }
    let selected = selection.selected.iter().copied().filter(|index| !is_import(index));
    let pairs = selected.filter_map(|index| Some((index, *imports.get(&print(index)?)?)));
    let line = |(selected, import): (u32, u32)| {
        format!("`{}` and `{}` have the same bytes; the archive holds them twice", map.id(selected), map.id(import))
    };
    pairs.map(line).collect()
}

/// Expands a selection with the defaults of spec 20 §3.
pub(crate) fn selection(map: &Map, state: &State) -> Result<Selection, EngineError> {
    stan_graph::select(map, state, &SelectOptions::default()).map_err(|error| EngineError::input(error.to_string()))
}

fn report(map: &Map, decoded: &DecodedState, selection: &Selection, contents: &Contents) -> SelectReport {
    let reasons = Reasons::of(map, &decoded.state);
    let mut nodes: Vec<SelectedNode> = selection
        .selected
        .iter()
        .filter(|&&index| !contents.is_left_out(map.id(index)))
        .map(|&index| {
            let (path, path_omitted) = reasons.end_of_path(index, SHOWN_STEPS).unwrap_or_default();
            SelectedNode {
                node_id: map.id(index).to_owned(),
                bytes: contents.resized.get(map.id(index)).copied().or(map.size(index)).unwrap_or(0),
                path: path.iter().map(|&step| map.id(step).to_owned()).collect(),
                path_omitted: Some(path_omitted).filter(|count| *count > 0),
            }
        })
        .collect();
    let unknown = selection.unknown.iter().filter(|id| !contents.is_left_out(id));
    nodes.extend(unknown.map(|id| {
        let bytes = contents.unmapped.get(id).map_or(0, |(size, _)| *size);
        SelectedNode { node_id: id.clone(), bytes, path: vec![id.clone()], path_omitted: None }
    }));
    nodes.sort_unstable_by(|a, b| a.node_id.cmp(&b.node_id));
    let mut warnings = [decoded.warnings.as_slice(), &selection.warnings].concat();
    name_near_files(map, &selection.unknown, &mut warnings);
    warnings.sort_unstable();
    warnings.dedup();
    let total_bytes = nodes.iter().fold(0u64, |sum, node| sum.saturating_add(node.bytes));
    let mut by_size: Vec<&SelectedNode> = nodes.iter().collect();
    by_size.sort_by(|a, b| b.bytes.cmp(&a.bytes).then_with(|| a.node_id.cmp(&b.node_id)));
    let largest = by_size.iter().take(selection.largest.len());
    let largest = largest.map(|one| SizedNode { node_id: one.node_id.clone(), bytes: one.bytes }).collect();
    let left_out = contents.left_out.iter();
    let left_out = left_out.map(|(path, reason)| LeftOutReport { path: path.clone(), reason: reason.clone() });
    SelectReport {
        selected_node_ids: nodes.iter().map(|node| node.node_id.clone()).collect(),
        selected_count: nodes.len() as u64,
        total_bytes,
        tokens: tokens(total_bytes),
        exact_tokens: None,
        largest,
        left_out: left_out.collect(),
        warnings,
        not_analysed: not_analysed_of_map(map),
        nodes,
    }
}

/// Adds similar file names to each warning about an unknown file.
fn name_near_files(map: &Map, unknown: &[String], warnings: &mut [String]) {
    if unknown.is_empty() {
        return;
    }
    let ids: Vec<Box<str>> = map.indices().map(|index| map.id(index).into()).collect();
    // A selection may name very many files, and each search compares against all names.
    for id in unknown.iter().take(MAX_NEAR) {
        let warning = stan_graph::unknown_warning(id);
        let near: Vec<String> = near_files(&ids, id).iter().map(|id| format!("`{id}`")).collect();
        if let Some(found) = warnings.iter_mut().find(|known| **known == warning).filter(|_| !near.is_empty()) {
            found.push_str(&format!("; did you mean {}?", near.join(", ")));
        }
    }
}

/// For how many unknown files similar names are searched.
const MAX_NEAR: usize = 10;

fn decode_state(named: &NamedBytes) -> Result<DecodedState, EngineError> {
    state::decode(&named.bytes, &named.name)
        .map_err(|errors| decode_error("the selection", &errors).hint(super::state::FIX_STATE))
}

const NAME_A_MAP: &str = "name a dependency.meta.json, or leave --meta out to use the workspace's own";

/// Decodes a map in either form.
fn decode_map(named: &NamedBytes) -> Result<Map, EngineError> {
    Map::decode(&named.bytes, &named.name).or_else(|errors| {
        // The long form is recognised by its keys; for anything else, report the errors of the map form.
        Map::decode_long(&named.bytes, &named.name).map_err(|_| decode_error("the map", &errors).hint(NAME_A_MAP))
    })
}
