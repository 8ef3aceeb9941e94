//! The verb `select`: what a selection holds, how large it is, and why each node is in.

use stan_graph::{Map, Reasons, SelectOptions, Selection};
use stan_model::document::integrity::Integrity;
use stan_model::document::run_report::tokens;
use stan_model::document::state::{self, DecodedState, State};
use stan_repo::WritableSystem;

use super::map::{broken, map_for_selection};
use super::refusal::Refusal;
use super::reports::{SHOWN_STEPS, SelectReport, SelectedNode, SizedNode};
use super::{Context, NamedBytes};
use crate::graph::GraphRequest;
use crate::not_analysed::not_analysed_of_map;
use crate::suggest::Weigher;
use crate::tokens::Tokenizer;

/// What to select from what.
#[derive(Clone, Debug, Default)]
pub struct SelectRequest {
    /// Instead of the workspace's selection.
    pub state: Option<NamedBytes>,
    /// Instead of the workspace's map.
    pub meta: Option<NamedBytes>,
    /// Count the selected files with this, beside the estimate.
    pub tokens: Option<Tokenizer>,
    pub work: GraphRequest,
}

/// Expands a selection on the given map, else on the one on the disk, else on one that is built. Writes nothing but the
/// cache.
pub fn select(
    system: &dyn WritableSystem,
    context: &Context<'_>,
    request: &SelectRequest,
) -> Result<SelectReport, Refusal> {
    let place = context.place();
    let decoded = match &request.state {
        Some(named) => decode_state(named)?,
        None => super::state::load(system, &place)?.map_or_else(super::state::nothing, |(decoded, _)| decoded),
    };
    let (map, integrity) = match &request.meta {
        Some(named) => (decode_map(named)?, Integrity::default()),
        None => map_for_selection(system, context, &request.work)?,
    };
    let selection = selection(&map, &decoded.state)?;
    let mut report = report(&map, &decoded, &selection);
    if let Some(tokenizer) = request.tokens {
        let weigher = Weigher { system, place: &place, map: &map, integrity: &integrity, tokenizer };
        let (tokens, warnings) = weigher.total(&selection.selected);
        report.exact_tokens = Some(tokens);
        report.warnings.extend(warnings);
        report.warnings.sort_unstable();
    }
    Ok(report)
}

/// The selection with the defaults of spec 20 §3.
pub(crate) fn selection(map: &Map, state: &State) -> Result<Selection, Refusal> {
    stan_graph::select(map, state, &SelectOptions::default()).map_err(|error| Refusal::input(error.to_string()))
}

fn report(map: &Map, decoded: &DecodedState, selection: &Selection) -> SelectReport {
    let reasons = Reasons::of(map, &decoded.state);
    let mut nodes: Vec<SelectedNode> = selection
        .selected
        .iter()
        .map(|&index| {
            let (path, path_omitted) = reasons.end_of_path(index, SHOWN_STEPS).unwrap_or_default();
            SelectedNode {
                node_id: map.id(index).to_owned(),
                bytes: map.size(index).unwrap_or(0),
                path: path.iter().map(|&step| map.id(step).to_owned()).collect(),
                path_omitted: Some(path_omitted).filter(|count| *count > 0),
            }
        })
        .collect();
    let unknown = selection.unknown.iter();
    nodes.extend(unknown.map(|id| SelectedNode {
        node_id: id.clone(),
        bytes: 0,
        path: vec![id.clone()],
        path_omitted: None,
    }));
    nodes.sort_unstable_by(|a, b| a.node_id.cmp(&b.node_id));
    let mut warnings = [decoded.warnings.as_slice(), &selection.warnings].concat();
    warnings.sort_unstable();
    warnings.dedup();
    let largest = selection.largest.iter().map(|one| SizedNode { node_id: one.node_id.clone(), bytes: one.bytes });
    SelectReport {
        selected_node_ids: nodes.iter().map(|node| node.node_id.clone()).collect(),
        selected_count: nodes.len() as u64,
        total_bytes: selection.total_bytes,
        tokens: tokens(selection.total_bytes),
        exact_tokens: None,
        largest: largest.collect(),
        warnings,
        not_analysed: not_analysed_of_map(map),
        nodes,
    }
}

fn decode_state(named: &NamedBytes) -> Result<DecodedState, Refusal> {
    state::decode(&named.bytes, &named.name).map_err(|errors| broken("the selection", &errors).hint(super::state::MEND))
}

const NAME_A_MAP: &str = "name a dependency.meta.json, or leave --meta out to use the workspace's own";

/// A map in either of its forms.
fn decode_map(named: &NamedBytes) -> Result<Map, Refusal> {
    Map::decode(&named.bytes, &named.name).or_else(|errors| {
        // A long-form graph is told by its keys; anything else is judged as the map that it should be.
        Map::decode_long(&named.bytes, &named.name).map_err(|_| broken("the map", &errors).hint(NAME_A_MAP))
    })
}
