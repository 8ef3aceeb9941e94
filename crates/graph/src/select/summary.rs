//! The summary of a selection for users and other programs, and entries in the library's format.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use serde::{Deserialize, Deserializer, Serialize};
use stan_model::document::normalise_node_id;
use stan_model::document::state::{ALL_KINDS, Entry, State, kind_bit};

use super::{SelectError, SelectOptions, select};
use crate::map::Map;

/// One entry of a selection in either form: the third element is a mask, a list of kind names, or absent.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SelectionEntry {
    pub node: String,
    pub depth: u32,
    /// `None` means the default kinds of the options.
    pub kinds: Option<EntryKinds>,
}

/// The third element of an entry.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(untagged)]
pub enum EntryKinds {
    /// runtime 1, type 2, dynamic 4; other bits are ignored with a warning.
    Mask(u64),
    /// `runtime`, `type`, `dynamic`; other names are ignored with a warning.
    Names(Vec<String>),
}

/// One of the largest nodes.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Largest {
    pub node_id: String,
    pub bytes: u64,
}

/// The selected ids with their totals and warnings.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct SelectionSummary {
    /// Sorted; includes ids that are not in the map.
    pub selected_node_ids: Vec<String>,
    pub selected_count: usize,
    pub total_bytes: u64,
    pub largest: Vec<Largest>,
    pub warnings: Vec<String>,
}

/// Resolves and counts a selection. Entries may have both forms.
pub fn summarize(
    map: &Map,
    include: &[SelectionEntry],
    exclude: &[SelectionEntry],
    options: &SelectOptions,
) -> Result<SelectionSummary, SelectError> {
    let mut warnings = Vec::new();
    let mut entries = |entries: &[SelectionEntry]| {
        entries.iter().map(|entry| entry.resolve(options.default_kinds, &mut warnings)).collect()
    };
    let state = State { include: entries(include), exclude: entries(exclude) };
    let mut summary = SelectionSummary::of(map, &state, options)?;
    summary.warnings.append(&mut warnings);
    summary.warnings.sort_unstable();
    summary.warnings.dedup();
    Ok(summary)
}

impl SelectionSummary {
    /// The summary of a parsed selection.
    pub fn of(map: &Map, state: &State, options: &SelectOptions) -> Result<Self, SelectError> {
        let selection = select(map, state, options)?;
        let mut ids: Vec<String> = selection.selected.iter().map(|index| map.id(*index).to_owned()).collect();
        ids.extend(selection.unknown);
        ids.sort_unstable();
        Ok(Self {
            selected_count: ids.len(),
            selected_node_ids: ids,
            total_bytes: selection.total_bytes,
            largest: selection.largest,
            warnings: selection.warnings,
        })
    }
}

impl SelectionEntry {
    pub fn node(id: impl Into<String>) -> Self {
        Self { node: id.into(), depth: 0, kinds: None }
    }

    fn resolve(&self, default_kinds: u8, warnings: &mut Vec<String>) -> Entry {
        let node = &self.node;
        let mask = match &self.kinds {
            None => default_kinds & ALL_KINDS,
            Some(EntryKinds::Mask(mask)) => {
                let known = mask & u64::from(ALL_KINDS);
                if known != *mask {
                    warnings.push(format!("`{node}`: the bits above 7 of the mask {mask} mean nothing"));
                }
                known as u8
            }
            Some(EntryKinds::Names(names)) => names.iter().fold(0, |mask, name| {
                let bit = kind_bit(name);
                if bit.is_none() {
                    warnings.push(format!("`{node}`: {name:?} is not an edge kind; use runtime, type or dynamic"));
                }
                mask | bit.unwrap_or(0)
            }),
        };
        // Ids of a long-form graph may be absolute paths, which no document may contain: these are not normalised.
        let id = normalise_node_id(node).map_or_else(|_| node.clone(), std::borrow::Cow::into_owned);
        Entry { node: id, depth: self.depth, mask }
    }
}

impl<'de> Deserialize<'de> for SelectionEntry {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        #[derive(Deserialize)]
        #[serde(untagged, expecting = "expected a node id or [nodeId, depth, kindMask or kind names]")]
        enum Form {
            Node(String),
            Alone((String,)),
            Deep(String, u64),
            Full(String, u64, EntryKinds),
        }
        let (node, depth, kinds) = match Form::deserialize(deserializer)? {
            Form::Node(node) | Form::Alone((node,)) => (node, 0, None),
            Form::Deep(node, depth) => (node, depth, None),
            Form::Full(node, depth, kinds) => (node, depth, Some(kinds)),
        };
        Ok(Self { node, depth: u32::try_from(depth).unwrap_or(u32::MAX), kinds })
    }
}

/// The `count` largest nodes: by descending bytes, then by id.
pub(super) fn largest(map: &Map, selected: &[u32], unknown: &[String], count: usize) -> Vec<Largest> {
    let known = selected.iter().map(|index| (map.size(*index).unwrap_or(0), map.id(*index)));
    let unknown = unknown.iter().map(|id| (0, id.as_str()));
    // A heap of the best so far with the worst of them on top: most nodes need only one comparison.
    let mut best: BinaryHeap<(Reverse<u64>, &str)> = BinaryHeap::new();
    for (bytes, id) in known.chain(unknown) {
        if best.len() < count {
            best.push((Reverse(bytes), id));
        } else if let Some(mut worst) = best.peek_mut()
            && (Reverse(bytes), id) < *worst
        {
            *worst = (Reverse(bytes), id);
        }
    }
    let sorted = best.into_sorted_vec().into_iter();
    sorted.map(|(Reverse(bytes), id)| Largest { node_id: id.to_owned(), bytes }).collect()
}
