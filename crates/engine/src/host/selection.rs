//! Expands a selection on a graph of the host, in the format and the words of stan-context 0.6. The traversal is that of every
//! other selection (`stan_graph::select`): each entry counts separately.

use std::collections::BTreeSet;

use serde::{Deserialize, Serialize};
use serde_json::Value;
use stan_graph::{SelectOptions, select};
use stan_model::NodeKind;
use stan_model::document::state::{ALL_KINDS, Entry, State, kind_bit};

use super::loose_graph::{HashSizeEnforcement, LooseGraph, LooseNode, size_missing};
use super::{HostError, read, written};

#[derive(Deserialize)]
struct SummaryOptions {
    graph: LooseGraph,
    include: Vec<Value>,
    exclude: Option<Vec<Value>>,
    #[serde(default)]
    options: Option<Choices>,
}

#[derive(Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
struct Choices {
    default_edge_kinds: Option<Vec<Value>>,
    drop_node_kinds: Option<Vec<String>>,
    max_top: Option<f64>,
    hash_size_enforcement: Option<HashSizeEnforcement>,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Summary {
    selected_node_ids: Vec<String>,
    selected_count: usize,
    total_bytes: u64,
    largest: Vec<Largest>,
    warnings: BTreeSet<String>,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Largest {
    node_id: String,
    bytes: u64,
}

const USUAL_TOP: usize = 10;

pub(super) fn run(options: &str) -> Result<String, HostError> {
    let SummaryOptions { graph, include, exclude, options } = read(options)?;
    let choices = options.unwrap_or_default();
    let mut warnings = BTreeSet::new();
    let usual = choices.default_edge_kinds.as_deref().map_or(ALL_KINDS, known_kinds);
    let mut entries = |values: &[Value]| -> Vec<Entry> {
        values.iter().enumerate().filter_map(|(at, value)| entry(value, at, usual, &mut warnings)).collect()
    };
    let state = State { include: entries(&include), exclude: entries(&exclude.unwrap_or_default()) };
    let ids = selected(&graph, &state, choices.drop_node_kinds.as_deref(), &mut warnings)?;
    check_sizes(&graph, &ids, choices.hash_size_enforcement.unwrap_or_default(), &mut warnings)?;
    let bytes = |id: &String| graph.nodes.get(id).and_then(LooseNode::size).unwrap_or_default();
    let mut largest: Vec<Largest> = ids.iter().map(|id| Largest { node_id: id.clone(), bytes: bytes(id) }).collect();
    let total_bytes = largest.iter().map(|one| one.bytes).fold(0, u64::saturating_add);
    largest.sort_by(|left, right| right.bytes.cmp(&left.bytes).then_with(|| left.node_id.cmp(&right.node_id)));
    largest.truncate(choices.max_top.map_or(USUAL_TOP, |top| top.max(0.0) as usize));
    written(&Summary { selected_count: ids.len(), selected_node_ids: ids, total_bytes, largest, warnings })
}

/// The selected ids, sorted. Ids that the graph does not contain are kept; builtins and missing nodes are removed.
fn selected(
    graph: &LooseGraph,
    state: &State,
    dropped: Option<&[String]>,
    warnings: &mut BTreeSet<String>,
) -> Result<Vec<String>, HostError> {
    let map = graph.to_map()?;
    let everything = SelectOptions { drop_kinds: Vec::new(), ..SelectOptions::default() };
    let selection = select(&map, state, &everything).map_err(|error| HostError::input(error.to_string()))?;
    let mut ids: Vec<String> = selection.selected.iter().map(|index| map.id(*index).to_owned()).collect();
    ids.extend(selection.unknown);
    ids.sort_unstable();
    ids.retain(|id| {
        let Some(node) = graph.nodes.get(id) else {
            warnings.insert(format!("Selected nodeId not present in graph.nodes: {id}"));
            return true;
        };
        let name = node.kind.as_str();
        let goes = matches!(node.kind, NodeKind::Builtin | NodeKind::Missing)
            && dropped.is_none_or(|dropped| dropped.iter().any(|kind| kind == name));
        if goes {
            warnings.insert(format!("Dropped {name} node from selection: {id}"));
        }
        !goes
    });
    Ok(ids)
}

/// Files without a size count as empty, with a warning or an error.
fn check_sizes(
    graph: &LooseGraph,
    ids: &[String],
    mode: HashSizeEnforcement,
    warnings: &mut BTreeSet<String>,
) -> Result<(), HostError> {
    let mut hashed = Vec::new();
    for (id, node) in ids.iter().filter_map(|id| Some((id.as_str(), graph.nodes.get(id)?))) {
        if node.has_hash_without_size() {
            hashed.push(id);
        } else if node.is_file() && node.size().is_none() {
            warnings.insert(format!("metadata.size missing for file node: {id}"));
        }
    }
    match mode {
        HashSizeEnforcement::Ignore => {}
        HashSizeEnforcement::Error if hashed.is_empty() => {}
        HashSizeEnforcement::Error => return Err(size_missing(&hashed)),
        HashSizeEnforcement::Warn => {
            warnings.extend(hashed.iter().map(|id| format!("metadata.size missing for hashed node: {id}")));
        }
    }
    Ok(())
}

/// Parses `id`, `[id, depth]` or `[id, depth, kinds]`; errors become warnings.
fn entry(value: &Value, at: usize, usual: u8, warnings: &mut BTreeSet<String>) -> Option<Entry> {
    if let Value::String(id) = value {
        return Some(Entry { node: id.clone(), depth: 0, mask: usual });
    }
    let label = format!("entry[{at}]");
    let parts = value.as_array().map_or(&[][..], Vec::as_slice);
    let mask = parts.get(2).map_or(usual, |kinds| mask(kinds, &label, warnings));
    let id = parts.first().and_then(Value::as_str).filter(|id| !id.trim().is_empty());
    let Some(id) = id else {
        warnings.insert(format!("Invalid nodeId for {label}: expected non-empty string."));
        return None;
    };
    let number = parts.get(1).and_then(Value::as_f64);
    let depth = number.unwrap_or(0.0).max(0.0).floor() as u32;
    if number.is_none_or(|number| number < 0.0 || number.fract() != 0.0) {
        warnings.insert(format!("Invalid depth for {label}: expected integer >= 0; using {depth}."));
    }
    Some(Entry { node: id.to_owned(), depth, mask })
}

/// Parses a mask of kinds (runtime 1, type 2, dynamic 4), given as a number or as names.
fn mask(kinds: &Value, label: &str, warnings: &mut BTreeSet<String>) -> u8 {
    let none = format!("No valid edgeKinds for {label}; no edges will be traversed.");
    if let Some(number) = kinds.as_f64() {
        let number = number.floor();
        if number < 0.0 {
            warnings.insert(format!("Invalid edgeKinds bitmask for {label}: expected integer >= 0; using none."));
            return 0;
        }
        let (known, unknown) = (number as u64 & u64::from(ALL_KINDS), number as u64 & !u64::from(ALL_KINDS));
        if unknown != 0 {
            warnings.insert(format!("Invalid edgeKinds bit(s) for {label}: {unknown}; ignoring."));
        }
        if number > 0.0 && known == 0 {
            warnings.insert(none);
        }
        return known as u8;
    }
    let Some(names) = kinds.as_array() else {
        warnings.insert(format!("Invalid edgeKinds for {label}: expected array; using none."));
        return 0;
    };
    for name in names.iter().filter_map(Value::as_str).filter(|name| kind_bit(name).is_none()) {
        warnings.insert(format!("Invalid edgeKind for {label}: {name}; ignoring."));
    }
    let known = known_kinds(names);
    if !names.is_empty() && known == 0 {
        warnings.insert(none);
    }
    known
}

fn known_kinds(names: &[Value]) -> u8 {
    names.iter().filter_map(Value::as_str).filter_map(kind_bit).fold(0, |mask, bit| mask | bit)
}
