//! Why a node is in a selection: the shortest path from an included node to it.
//!
//! Among equally short paths, the one with the smallest ids, compared from the seed on. Excluded nodes are not removed: they may
//! be on the path to a node that is not excluded.

use stan_model::document::state::State;

use crate::map::Map;

/// No step, or no path.
const NONE: u32 = u32::MAX;

/// The paths to all nodes that the entries of `include` reach.
pub struct Reasons {
    steps: Vec<PathStep>,
    /// The last step of the path to each node.
    last: Vec<u32>,
}

/// The end of a path: a node, and the previous step.
#[derive(Clone, Copy)]
struct PathStep {
    node: u32,
    before: u32,
    /// The number of nodes on the path.
    length: u32,
}

/// A path under construction. Entries with one mask and one depth share their searches.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct End {
    /// The rank of the path among all paths of this length; equal paths have equal ranks.
    rank: u32,
    node: u32,
    group: u32,
    /// Index of the step that this path ends in; until it has one, of the step that it continues from.
    step: u32,
}

struct DepthGroup {
    mask: u8,
    depth: u32,
    /// One bit per node: the first path to a node is its shortest and smallest.
    seen: Vec<u64>,
}

impl Reasons {
    pub fn of(map: &Map, state: &State) -> Self {
        let mut reasons = Self { steps: Vec::new(), last: vec![NONE; map.node_count()] };
        let (mut groups, mut ends) = seeds(map, state);
        let mut length = 0;
        while !ends.is_empty() {
            reasons.record_paths(&mut ends, &mut groups);
            ends = extend_paths(map, &groups, &ends, length);
            length += 1;
        }
        reasons
    }

    /// The nodes on the path, from the seed to the node itself; `None` if no entry reaches it.
    pub fn path(&self, node: u32) -> Option<Vec<u32>> {
        let mut path = Vec::new();
        let mut next = self.last.get(node as usize).copied()?;
        while let Some(step) = self.steps.get(next as usize) {
            path.push(step.node);
            next = step.before;
        }
        path.reverse();
        (!path.is_empty()).then_some(path)
    }

    /// The last nodes on the path to the node, at most `most` of them, and how many precede them. Full paths to all nodes of a
    /// long chain would take quadratic space.
    pub fn end_of_path(&self, node: u32, most: usize) -> Option<(Vec<u32>, u64)> {
        let mut next = self.last.get(node as usize).copied()?;
        let length = self.steps.get(next as usize)?.length;
        let mut path = Vec::with_capacity(most.min(length as usize));
        while let Some(step) = self.steps.get(next as usize).filter(|_| path.len() < most) {
            path.push(step.node);
            next = step.before;
        }
        path.reverse();
        let before = u64::from(length).saturating_sub(path.len() as u64);
        Some((path, before))
    }

    /// Sorts the paths of one length, drops those to nodes that their group has visited, and ranks the others.
    fn record_paths(&mut self, ends: &mut Vec<End>, groups: &mut [DepthGroup]) {
        ends.sort_unstable();
        ends.retain(|end| groups.get_mut(end.group as usize).is_some_and(|group| group.visit(end.node)));
        let mut rank = 0;
        let mut before: Option<(u32, u32)> = None;
        for end in ends.iter_mut() {
            let way = (end.rank, end.node);
            rank += u32::from(before.is_some_and(|before| before != way));
            before = Some(way);
            let step = self.steps.len() as u32;
            let length = self.steps.get(end.step as usize).map_or(1, |before| before.length + 1);
            self.steps.push(PathStep { node: end.node, before: end.step, length });
            if let Some(last) = self.last.get_mut(end.node as usize)
                && *last == NONE
            {
                *last = step;
            }
            (end.rank, end.step) = (rank, step);
        }
    }
}

impl DepthGroup {
    /// Whether this is the first visit.
    fn visit(&mut self, node: u32) -> bool {
        let Some(word) = self.seen.get_mut(node as usize / 64) else { return false };
        let bit = 1u64 << (node % 64);
        let is_first = *word & bit == 0;
        *word |= bit;
        is_first
    }
}

/// One group per mask and depth, and the paths that consist of a seed alone.
fn seeds(map: &Map, state: &State) -> (Vec<DepthGroup>, Vec<End>) {
    // No path is longer than the number of nodes, so larger depths are equal.
    let most = u32::try_from(map.node_count()).unwrap_or(u32::MAX);
    let mut entries: Vec<(u8, u32, u32)> = state
        .include
        .iter()
        .filter_map(|entry| {
            let depth = if entry.mask & 7 == 0 { 0 } else { entry.depth.min(most) };
            // Entries of depth 0 follow no edges, so their kinds do not matter: they are one group.
            let mask = if depth == 0 { 0 } else { entry.mask & 7 };
            Some((mask, depth, map.find(&entry.node)?))
        })
        .collect();
    entries.sort_unstable();
    let (mut groups, mut ends): (Vec<DepthGroup>, Vec<End>) = (Vec::new(), Vec::new());
    for (mask, depth, node) in entries {
        if groups.last().is_none_or(|group| (group.mask, group.depth) != (mask, depth)) {
            groups.push(DepthGroup { mask, depth, seen: vec![0; map.node_count().div_ceil(64)] });
        }
        ends.push(End { rank: 0, node, group: groups.len() as u32 - 1, step: NONE });
    }
    (groups, ends)
}

/// All paths with one more edge, unless their group has reached its depth.
fn extend_paths(map: &Map, groups: &[DepthGroup], ends: &[End], length: u32) -> Vec<End> {
    let mut extended = Vec::new();
    for end in ends {
        let Some(group) = groups.get(end.group as usize).filter(|group| length < group.depth) else { continue };
        for edge in map.edges(end.node) {
            let is_new =
                group.seen.get(edge.target as usize / 64).is_some_and(|word| word >> (edge.target % 64) & 1 == 0);
            if edge.kinds & group.mask != 0 && is_new {
                extended.push(End { node: edge.target, ..*end });
            }
        }
    }
    extended
}
