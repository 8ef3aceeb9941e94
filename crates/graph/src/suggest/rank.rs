//! How close every file is to the files that somebody works on: a score for each, and the way that led there.
//!
//! Lower is closer. The weights were chosen with `cargo xtask bench suggest`; none of them knows a package by name.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet, BinaryHeap};

use stan_model::NodeKind;

use super::{Candidate, Focus, Relation};
use crate::map::Map;

/// A step to a file that is imported.
const TO_DEPENDENCY: i64 = 10;
/// A step to a file that imports: a little further, because it shows how a thing is used and not what it is.
const TO_DEPENDENT: i64 = 11;
/// What is only a type comes after what runs, and what is loaded later after both.
const TYPE_ONLY: i64 = 1;
const DYNAMIC_ONLY: i64 = 2;
/// Found by seeing through a barrel, not written down.
const IMPLICIT_ONLY: i64 = 1;
/// Installed packages are known to the reader better than the repository's own files are.
const TO_EXTERNAL: i64 = 10;
/// For each doubling of the edges that leave by the same door: one of five hundred importers says little.
const CROWD: i64 = 4;
/// For each folder between a file and the nearest focus file.
const FOLDER: i64 = 8;
/// For each doubling of the focus files that are near.
const COMPANY: i64 = 8;
/// How many steps are near.
const NEAR: usize = 3;

const NONE: u32 = u32::MAX;

/// Every file within reach of the focus, closest first, the focus itself before all.
pub(super) fn rank(map: &Map, focus: &[Focus]) -> Ranking {
    let importers = Importers::of(map);
    let mut ways = Ways::new(map, focus);
    ways.search(map, &importers);
    let near = near(map, &importers, focus);
    let folders = FolderDistances::of(map, focus);
    let mut candidates: Vec<Candidate> = Vec::new();
    for node in map.indices().filter(|&node| is_file(map, node)) {
        let Some(way) = ways.get(node) else { continue };
        let reached_by = near.get(node as usize).copied().unwrap_or(0);
        let score = if way.relation == Relation::Focus {
            0
        } else {
            way.cost + FOLDER * folders.to(map.id(node)) - COMPANY * i64::from((reached_by + 1).ilog2())
        };
        candidates.push(Candidate { node, score, steps: way.steps, relation: way.relation, reached_by });
    }
    candidates.sort_by_cached_key(|candidate| {
        let size = map.size(candidate.node).unwrap_or(0);
        (candidate.relation != Relation::Focus, candidate.score, Reverse(candidate.reached_by), size, candidate.node)
    });
    Ranking { candidates, before: ways.ways.iter().map(|way| way.map_or(NONE, |way| way.before)).collect() }
}

/// Files in the order in which they should be read.
#[derive(Clone, Debug, Default)]
pub struct Ranking {
    pub candidates: Vec<Candidate>,
    /// For each node the one before it on the way from the focus.
    before: Vec<u32>,
}

impl Ranking {
    /// The way from a focus file to the node, both included. Edges are walked in both directions.
    pub fn path(&self, node: u32) -> Vec<u32> {
        // Ways have no circles; the bound is for maps that lie about it.
        self.end_of_path(node, self.before.len() + 1)
    }

    /// The last nodes on that way, at most `most` of them.
    pub fn end_of_path(&self, node: u32, most: usize) -> Vec<u32> {
        let mut path = vec![node];
        let mut last = node;
        while let Some(&before) = self.before.get(last as usize).filter(|before| **before != NONE) {
            if path.len() >= most {
                break;
            }
            path.push(before);
            last = before;
        }
        path.reverse();
        path
    }
}

pub(super) fn is_file(map: &Map, node: u32) -> bool {
    matches!(map.kind(node), NodeKind::Source | NodeKind::External)
}

/// The cheapest way to a node.
#[derive(Clone, Copy)]
struct Way {
    cost: i64,
    steps: u32,
    before: u32,
    relation: Relation,
}

/// A way that is not yet taken: cost, steps, node, the node before, and how the two are related.
type PendingWay = (i64, u32, u32, u32, Relation);

struct Ways {
    ways: Vec<Option<Way>>,
    /// Cheapest first, then fewest steps, then the smallest ids: the same whatever the order of discovery.
    pending: BinaryHeap<Reverse<PendingWay>>,
}

impl Ways {
    /// Starts with the focus files and everything that they bring along by their depth.
    fn new(map: &Map, focus: &[Focus]) -> Self {
        let mut ways = Self { ways: vec![None; map.node_count()], pending: BinaryHeap::new() };
        let mut deepest: BTreeMap<u32, u32> = BTreeMap::new();
        for one in focus {
            let depth = deepest.entry(one.node).or_default();
            *depth = one.depth.max(*depth);
        }
        for (&node, &depth) in &deepest {
            let mut seen = BTreeSet::from([node]);
            let mut level = vec![(node, NONE)];
            for step in 0..=depth {
                let mut next = Vec::new();
                for (node, before) in level {
                    ways.pending.push(Reverse((0, step, node, before, Relation::Focus)));
                    let targets = map.edges(node).iter().map(|edge| edge.target);
                    next.extend(targets.filter(|&target| seen.insert(target)).map(|target| (target, node)));
                }
                level = next;
                if level.is_empty() {
                    break;
                }
            }
        }
        ways
    }

    fn get(&self, node: u32) -> Option<Way> {
        self.ways.get(node as usize).copied().flatten()
    }

    fn search(&mut self, map: &Map, importers: &Importers) {
        while let Some(Reverse((cost, steps, node, before, relation))) = self.pending.pop() {
            let Some(place) = self.ways.get_mut(node as usize).filter(|place| place.is_none()) else { continue };
            *place = Some(Way { cost, steps, before, relation });
            let onward = |step: Relation| if relation == Relation::Focus { step } else { relation };
            let edges = map.edges(node);
            let base = cost + TO_DEPENDENCY + crowd(edges.len());
            for edge in edges {
                let cost = base + edge_cost(edge.kinds, edge.resolutions) + external_cost(map, edge.target);
                self.offer(cost, steps + 1, edge.target, node, onward(Relation::Dependency));
            }
            let incoming = importers.of_node(node);
            let base = cost + TO_DEPENDENT + crowd(incoming.len());
            for importer in incoming {
                let cost = base + edge_cost(importer.kinds, importer.resolutions) + external_cost(map, importer.node);
                self.offer(cost, steps + 1, importer.node, node, onward(Relation::Dependent));
            }
        }
    }

    fn offer(&mut self, cost: i64, steps: u32, node: u32, before: u32, relation: Relation) {
        if self.get(node).is_none() {
            self.pending.push(Reverse((cost, steps, node, before, relation)));
        }
    }
}

fn crowd(edges: usize) -> i64 {
    CROWD * i64::from(edges.max(1).ilog2())
}

fn edge_cost(kinds: u8, resolutions: u8) -> i64 {
    let kind = match kinds {
        _ if kinds & 1 != 0 => 0,
        _ if kinds & 2 != 0 => TYPE_ONLY,
        _ => DYNAMIC_ONLY,
    };
    kind + if resolutions & 1 != 0 { 0 } else { IMPLICIT_ONLY }
}

fn external_cost(map: &Map, node: u32) -> i64 {
    if map.kind(node) == NodeKind::External { TO_EXTERNAL } else { 0 }
}

/// The edges of the map from their other end.
struct Importers {
    ends: Vec<usize>,
    edges: Vec<Importer>,
}

#[derive(Clone, Copy, Default)]
struct Importer {
    node: u32,
    kinds: u8,
    resolutions: u8,
}

impl Importers {
    fn of(map: &Map) -> Self {
        let mut ends = vec![0usize; map.node_count()];
        for edge in map.indices().flat_map(|node| map.edges(node)) {
            ends[edge.target as usize] += 1;
        }
        let mut total = 0;
        for end in &mut ends {
            // For now where they start; filling moves each to its end.
            (*end, total) = (total, total + *end);
        }
        let mut edges = vec![Importer::default(); total];
        for node in map.indices() {
            for edge in map.edges(node) {
                let place = &mut ends[edge.target as usize];
                edges[*place] = Importer { node, kinds: edge.kinds, resolutions: edge.resolutions };
                *place += 1;
            }
        }
        Self { ends, edges }
    }

    fn of_node(&self, node: u32) -> &[Importer] {
        let index = node as usize;
        let start = index.checked_sub(1).and_then(|before| self.ends.get(before)).copied().unwrap_or(0);
        let end = self.ends.get(index).copied().unwrap_or(start);
        self.edges.get(start..end).unwrap_or_default()
    }
}

/// For each node how many focus files are within a few steps of it, in either direction.
fn near(map: &Map, importers: &Importers, focus: &[Focus]) -> Vec<u32> {
    let seeds: Vec<u32> = focus.iter().map(|one| one.node).collect::<BTreeSet<_>>().into_iter().collect();
    let mut counts = vec![0u32; map.node_count()];
    // Sixty-four focus files at a time, one bit for each.
    for chunk in seeds.chunks(64) {
        let mut bits = vec![0u64; map.node_count()];
        for (index, &node) in chunk.iter().enumerate() {
            bits[node as usize] |= 1 << index;
        }
        let mut frontier: BTreeSet<u32> = chunk.iter().copied().collect();
        for _ in 0..NEAR {
            let before: Vec<(u32, u64)> = frontier.iter().map(|&node| (node, bits[node as usize])).collect();
            frontier.clear();
            for (node, carried) in before {
                let outgoing = map.edges(node).iter().map(|edge| edge.target);
                for next in outgoing.chain(importers.of_node(node).iter().map(|importer| importer.node)) {
                    let place = &mut bits[next as usize];
                    if *place | carried != *place {
                        *place |= carried;
                        frontier.insert(next);
                    }
                }
            }
        }
        for (count, bits) in counts.iter_mut().zip(bits) {
            *count += bits.count_ones();
        }
    }
    counts
}

/// How many folders are between a file and the nearest focus file.
struct FolderDistances<'m> {
    focus: BTreeSet<&'m str>,
}

impl<'m> FolderDistances<'m> {
    fn of(map: &'m Map, focus: &[Focus]) -> Self {
        Self { focus: focus.iter().map(|one| folder(map.id(one.node))).collect() }
    }

    fn to(&self, id: &str) -> i64 {
        let own = folder(id);
        if self.focus.contains(own) {
            return 0;
        }
        let nearest = self.focus.iter().map(|focus| between(own, focus)).min();
        i64::try_from(nearest.unwrap_or(0)).unwrap_or(i64::MAX / 64)
    }
}

fn folder(id: &str) -> &str {
    id.rsplit_once('/').map_or("", |(folder, _)| folder)
}

/// The steps from one folder to another, up and down.
fn between(left: &str, right: &str) -> usize {
    let parts = |path: &str| path.split('/').filter(|part| !part.is_empty()).count();
    let shared = left.split('/').zip(right.split('/')).take_while(|(a, b)| a == b && !a.is_empty()).count();
    parts(left) + parts(right) - 2 * shared
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn folders_are_counted_up_and_down() {
        let cases =
            [("", "", 0), ("a", "", 1), ("a/b", "a/b", 0), ("a/b", "a/c", 2), ("a/b/c", "a", 2), ("ab", "a", 2)];
        for (left, right, expected) in cases {
            assert_eq!((between(left, right), between(right, left)), (expected, expected), "{left} {right}");
        }
    }
}
