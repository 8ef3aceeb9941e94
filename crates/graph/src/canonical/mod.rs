//! Archive addresses of nodes (spec 20 §4): externals get ids that reveal nothing about this machine, and raw nodes of the same
//! file are merged. Pure: the caller passes in where an external is, and which package it belongs to.

mod rule;

use std::collections::BTreeMap;

use stan_model::NodeKind;
use stan_model::document::externals_lock::{ExternalsLock, LockedExternal};

use crate::graph::{FileMeta, Graph};
use crate::map::Texts;

pub use rule::{ExternalFile, PackageFile, canonical_id, is_safe_package};

/// The location of each external node of a graph, by the node's index.
pub type Externals = BTreeMap<u32, ExternalFile>;

/// The caller passed no location for an external node.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("nothing is known about where the external file `{id}` is")]
pub struct Unlocated {
    pub id: String,
}

/// Two different files with the same address: two copies of one version of a package that differ. The node stays in the map but
/// cannot be verified, so it cannot be selected.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "`{first}` and `{second}` are both `{id}`, but their contents differ ({} and {} bytes, SHA-256 {} and {}); this node \
     cannot be selected",
    first_file.size, second_file.size, first_file.digest, second_file.digest
)]
pub struct Conflict {
    pub id: String,
    /// The smaller raw id.
    pub first: String,
    pub first_file: FileMeta,
    pub second: String,
    pub second_file: FileMeta,
}

/// The canonical id of every node of a graph, and which raw nodes share one.
#[derive(Clone, Debug)]
pub struct Canonical {
    /// Sorted, without duplicates.
    ids: Texts,
    /// The rank of each raw node's id in `ids`.
    ranks: Vec<u32>,
    groups: Vec<Merge>,
    /// Raw indices, grouped by rank.
    raws: Vec<u32>,
    /// Sorted by id.
    conflicts: Vec<Conflict>,
    /// Descriptions of externals, by raw index.
    descriptions: BTreeMap<u32, Box<str>>,
}

/// The raw nodes with one id.
#[derive(Clone, Copy, Debug)]
struct Merge {
    end: usize,
    record: u32,
    description: u32,
    is_proved: bool,
}

/// One canonical node.
pub(crate) struct CanonicalNode<'c> {
    pub(crate) rank: u32,
    pub(crate) id: &'c str,
    /// The raw node that provides size, hash and kind.
    pub(crate) record: u32,
    /// The raw node that provides the description.
    pub(crate) description: u32,
    /// Whether all raw nodes have the same bytes.
    pub(crate) is_proved: bool,
    pub(crate) raws: &'c [u32],
}

impl Canonical {
    /// Renames and merges. `stan_path` is the configured one, relative to the root, such as `.stan`.
    pub fn of(graph: &Graph, stan_path: &str, externals: &Externals) -> Result<Self, Unlocated> {
        let named = name_nodes(graph, stan_path, externals)?;
        let mut canonical = Self {
            ids: Texts::default(),
            ranks: vec![0; graph.node_count()],
            groups: Vec::with_capacity(named.len()),
            raws: Vec::with_capacity(named.len()),
            conflicts: Vec::new(),
            descriptions: externals
                .iter()
                .filter_map(|(raw, file)| Some((*raw, file.description.as_deref()?.into())))
                .collect(),
        };
        for same in named.chunk_by(|left, right| left.0 == right.0) {
            let Some((id, _)) = same.first() else { continue };
            let rank = canonical.groups.len() as u32;
            let start = canonical.raws.len();
            canonical.raws.extend(same.iter().map(|(_, raw)| *raw));
            canonical.ids.push(id);
            let raws = canonical.raws.get(start..).unwrap_or_default();
            for &raw in raws {
                if let Some(place) = canonical.ranks.get_mut(raw as usize) {
                    *place = rank;
                }
            }
            let length = |raw: u32| description(&canonical.descriptions, graph, raw).map_or(0, str::len);
            let MergedNodes { record, description, conflict } = merge(graph, id, raws, length);
            let is_proved = conflict.is_none();
            canonical.conflicts.extend(conflict);
            canonical.groups.push(Merge { end: canonical.raws.len(), record, description, is_proved });
        }
        Ok(canonical)
    }

    /// The canonical id of a raw node. Panics if the index is out of range.
    pub fn id(&self, raw: u32) -> &str {
        self.ids.get(self.rank(raw) as usize)
    }

    /// The host-private map of the external files. Leaves out files that could not be read: they cannot be verified.
    pub fn externals_lock(&self, graph: &Graph, externals: &Externals) -> ExternalsLock {
        let node = |group: CanonicalNode<'_>| {
            let node = Some(graph.node(group.record)).filter(|_| group.is_proved)?;
            let FileMeta { size, digest: sha256 } = node.file.filter(|_| node.kind == NodeKind::External)?;
            let file = externals.get(&group.record)?;
            let package = file.package.clone().filter(is_safe_package);
            let locator = file.absolute.clone();
            Some((group.id.to_owned(), LockedExternal { locator, size, sha256, package }))
        };
        ExternalsLock { nodes: self.groups().filter_map(node).collect() }
    }

    /// The description of a group.
    pub(crate) fn description<'c>(&'c self, graph: &'c Graph, group: &CanonicalNode<'_>) -> Option<&'c str> {
        description(&self.descriptions, graph, group.description)
    }

    /// The ids that different files share.
    pub fn conflicts(&self) -> &[Conflict] {
        &self.conflicts
    }

    /// All canonical ids, sorted.
    pub(crate) fn ids(&self) -> &Texts {
        &self.ids
    }

    pub(crate) fn rank(&self, raw: u32) -> u32 {
        self.ranks[raw as usize]
    }

    pub(crate) fn groups(&self) -> impl Iterator<Item = CanonicalNode<'_>> {
        let mut start = 0;
        self.groups.iter().zip(0u32..).map(move |(merge, rank)| CanonicalNode {
            rank,
            id: self.ids.get(rank as usize),
            record: merge.record,
            description: merge.description,
            is_proved: merge.is_proved,
            raws: &self.raws[std::mem::replace(&mut start, merge.end)..merge.end],
        })
    }
}

fn description<'d>(of_externals: &'d BTreeMap<u32, Box<str>>, graph: &'d Graph, raw: u32) -> Option<&'d str> {
    graph.node(raw).description.as_deref().or_else(|| of_externals.get(&raw).map(|text| &**text))
}

type Named<'g> = (std::borrow::Cow<'g, str>, u32);

/// Canonical ids with raw indices, sorted by id and then by raw index, which is the order of raw ids.
fn name_nodes<'g>(graph: &'g Graph, stan_path: &str, externals: &Externals) -> Result<Vec<Named<'g>>, Unlocated> {
    let (mut named, mut renamed): (Vec<Named<'g>>, Vec<Named<'g>>) =
        (Vec::with_capacity(graph.node_count()), Vec::new());
    for index in graph.indices() {
        let node = graph.node(index);
        match node.kind {
            NodeKind::External => {
                let Some(file) = externals.get(&index) else {
                    return Err(Unlocated { id: node.id.to_string() });
                };
                renamed.push((canonical_id(stan_path, file).into(), index));
            }
            NodeKind::Missing => match rule::private_specifier(&node.id) {
                Some(id) => renamed.push((id.into(), index)),
                None => named.push(((&*node.id).into(), index)),
            },
            NodeKind::Source | NodeKind::Builtin => named.push(((&*node.id).into(), index)),
        }
    }
    renamed.sort_unstable();
    named.append(&mut renamed);
    // A stable sort, because that implementation detects sorted runs and merges them: there are two.
    named.sort();
    Ok(named)
}

/// The merged data of the raw nodes with one id.
struct MergedNodes {
    /// The raw node that provides kind, size and hash.
    record: u32,
    /// The raw node that provides the description.
    description: u32,
    /// Two different files with the same id.
    conflict: Option<Conflict>,
}

/// `length` returns the length of a raw node's description.
fn merge(graph: &Graph, id: &str, raws: &[u32], length: impl Fn(u32) -> usize) -> MergedNodes {
    let first = raws.first().copied().unwrap_or_default();
    if raws.len() == 1 {
        return MergedNodes { record: first, description: first, conflict: None };
    }
    // A repository file at the address of an external is a copy that an earlier run staged there, so the external decides.
    let has_external = raws.iter().any(|raw| graph.node(*raw).kind == NodeKind::External);
    let counts = |raw: &u32| !has_external || graph.node(*raw).kind == NodeKind::External;
    let mut kept: Option<(u32, FileMeta)> = None;
    let mut conflict = None;
    for raw in raws.iter().copied().filter(counts) {
        let Some(file) = graph.node(raw).file else { continue };
        match kept {
            None => kept = Some((raw, file)),
            Some((_, other)) if other == file => {}
            Some((other, first)) => {
                let path = |raw: u32| graph.node(raw).id.to_string();
                conflict = Some(Conflict {
                    id: id.to_owned(),
                    first: path(other),
                    first_file: first,
                    second: path(raw),
                    second_file: file,
                });
                break;
            }
        }
    }
    let unread = || raws.iter().copied().filter(counts).min_by_key(|raw| graph.node(*raw).kind).unwrap_or(first);
    let record = kept.map_or_else(unread, |(raw, _)| raw);
    // On a tie, the node with the smallest raw id.
    let description =
        raws.iter().copied().filter(counts).reduce(|best, raw| if length(raw) > length(best) { raw } else { best });
    MergedNodes { record, description: description.unwrap_or(record), conflict }
}

#[cfg(test)]
mod tests;
