//! Resolves a selection (spec 20 §3): map and entries to nodes. Pure, and independent of the order of the entries. Parsing the
//! document of a selection is `stan_model::document::state`'s job.

mod cover;
mod reach;
mod reasons;
mod summary;

use std::collections::BTreeSet;

use stan_model::NodeKind;
use stan_model::document::state::{Entry, State};

use crate::map::Map;
use reach::Reach;

pub use cover::cover;
pub use reasons::Reasons;
pub use summary::{EntryKinds, Largest, SelectionEntry, SelectionSummary, summarize};

/// What to do with a node that has a hash but no size, so that its bytes cannot be counted.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum HashWithoutSize {
    #[default]
    Warn,
    Error,
    Ignore,
}

/// How a selection is counted and cleaned up.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SelectOptions {
    /// Nodes of these kinds are removed with a warning each, after the excluded nodes.
    pub drop_kinds: Vec<NodeKind>,
    /// The edge kinds of entries without any: runtime 1, type 2, dynamic 4.
    pub default_kinds: u8,
    /// How many of the largest nodes to list.
    pub largest: usize,
    pub hash_without_size: HashWithoutSize,
}

impl Default for SelectOptions {
    fn default() -> Self {
        Self {
            drop_kinds: vec![NodeKind::Builtin, NodeKind::Missing],
            default_kinds: stan_model::document::state::ALL_KINDS,
            largest: 10,
            hash_without_size: HashWithoutSize::Warn,
        }
    }
}

/// The nodes that a selection resolves to.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Selection {
    /// Indices of the map, sorted.
    pub selected: Vec<u32>,
    /// Included ids that are not in the map, sorted: they may be files that the map leaves out.
    pub unknown: Vec<String>,
    pub total_bytes: u64,
    /// The largest nodes: by descending bytes, then by id. Unknown nodes count as empty.
    pub largest: Vec<Largest>,
    /// Sorted, without duplicates.
    pub warnings: Vec<String>,
}

/// A selection that the options forbid.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum SelectError {
    /// With the policy to fail for hashes without sizes.
    #[error("the map has a hash but no size for {}: write a new map with `stan run --context --meta`", listed(ids))]
    HashWithoutSize { ids: Vec<String> },
    /// A limit, because each costs several strings until it is reported.
    #[error("{count} entries are not in the map, the first is `{first}`: at most {MAX_UNKNOWN} are looked for")]
    TooManyUnknown { count: usize, first: String },
}

/// Entries that are not in the map may be files that it leaves out, but not this many: that is a mistake or an attack.
const MAX_UNKNOWN: usize = 100_000;

/// The warning about an included id that is not in the map.
pub fn unknown_warning(id: &str) -> String {
    format!("`{id}` is not in the map")
}

/// The nodes reached by entries of `include`, without those reached by entries of `exclude`.
pub fn select(map: &Map, state: &State, options: &SelectOptions) -> Result<Selection, SelectError> {
    let mut warnings = BTreeSet::new();
    let (included, mut unknown) = reach_entries(map, &state.include);
    let (excluded, unknown_excludes) = reach_entries(map, &state.exclude);
    for set in [&unknown, &unknown_excludes] {
        if let Some(first) = set.first().filter(|_| set.len() > MAX_UNKNOWN) {
            return Err(SelectError::TooManyUnknown { count: set.len(), first: (*first).to_owned() });
        }
    }
    // An id in both lists is excluded, whether the map has it or not.
    unknown.retain(|id| !unknown_excludes.contains(id));
    warnings.extend(unknown.iter().map(|id| unknown_warning(id)));
    warnings
        .extend(unknown_excludes.iter().map(|id| format!("`{id}` is not in the map: nothing else is excluded by it")));

    let mut selected: Vec<u32> =
        map.indices().filter(|index| included.contains(*index) && !excluded.contains(*index)).collect();
    selected.retain(|index| {
        let kind = map.kind(*index);
        let is_dropped = options.drop_kinds.contains(&kind);
        if is_dropped {
            warnings.insert(format!("`{}` is {} and was left out", map.id(*index), with_article(kind)));
        }
        !is_dropped
    });
    let without_size = selected.iter().filter(|index| map.hash(**index).is_some() && map.size(**index).is_none());
    match options.hash_without_size {
        HashWithoutSize::Ignore => {}
        HashWithoutSize::Warn => {
            let warning = |index: &u32| format!("`{}` has a hash but no size: counted as 0 bytes", map.id(*index));
            warnings.extend(without_size.map(warning));
        }
        HashWithoutSize::Error => {
            let ids: Vec<String> = without_size.map(|index| map.id(*index).to_owned()).collect();
            if !ids.is_empty() {
                return Err(SelectError::HashWithoutSize { ids });
            }
        }
    }
    let sizes = selected.iter().filter_map(|index| map.size(*index));
    // Saturates: the sizes come from a document that may have been edited.
    let total_bytes = sizes.fold(0u64, u64::saturating_add);
    let unknown: Vec<String> = unknown.into_iter().map(str::to_owned).collect();
    let largest = summary::largest(map, &selected, &unknown, options.largest);
    Ok(Selection { selected, unknown, total_bytes, largest, warnings: warnings.into_iter().collect() })
}

/// The shortest path from an included node to `node`, both included; `None` if no entry reaches it.
///
/// For many nodes of one selection, build [`Reasons`] once.
pub fn why(map: &Map, state: &State, node: u32) -> Option<Vec<u32>> {
    Reasons::of(map, state).path(node)
}

fn reach_entries<'s>(map: &Map, entries: &'s [Entry]) -> (Reach, BTreeSet<&'s str>) {
    let mut unknown = BTreeSet::new();
    let mut seeds = Vec::with_capacity(entries.len());
    for entry in entries {
        match map.find(&entry.node) {
            Some(node) => seeds.push(reach::Seed { mask: entry.mask & 7, depth: entry.depth, node }),
            None => {
                unknown.insert(entry.node.as_str());
            }
        }
    }
    (Reach::of(map, seeds), unknown)
}

fn with_article(kind: NodeKind) -> &'static str {
    match kind {
        NodeKind::Source => "a source",
        NodeKind::External => "an external",
        NodeKind::Builtin => "a builtin",
        NodeKind::Missing => "missing",
    }
}

/// A few ids, and the number of the others.
fn listed(ids: &[String]) -> String {
    const MAX_SHOWN: usize = 5;
    let mut text = ids.iter().take(MAX_SHOWN).map(|id| format!("`{id}`")).collect::<Vec<_>>().join(", ");
    if ids.len() > MAX_SHOWN {
        text.push_str(&format!(" and {} more", ids.len() - MAX_SHOWN));
    }
    text
}

#[cfg(test)]
mod tests;
