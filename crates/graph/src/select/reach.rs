//! Which nodes a set of entries reaches. The entries are independent; they are searched together only for speed.
//!
//! Entries with the same mask can share a search: a visit with more remaining depth reaches everything that a visit with less
//! would. Entries with different masks cannot, so the table has one bit per mask.

use crate::map::Map;

/// An entry whose node is known.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Seed {
    /// At most 7.
    pub(super) mask: u8,
    pub(super) depth: u32,
    pub(super) node: u32,
}

/// The nodes that were reached.
pub(super) struct Reach {
    /// For each node, the masks whose search has visited it; empty if there are no seeds.
    masks: Vec<u8>,
}

impl Reach {
    pub(super) fn of(map: &Map, mut seeds: Vec<Seed>) -> Self {
        if seeds.is_empty() {
            return Self { masks: Vec::new() };
        }
        // Deepest first within a mask, so that the first visit of a node has the most remaining depth.
        seeds.sort_unstable_by(|left, right| left.mask.cmp(&right.mask).then(right.depth.cmp(&left.depth)));
        let mut search = Search { map, masks: vec![0; map.node_count()], frontier: Vec::new(), next: Vec::new() };
        for group in seeds.chunk_by(|left, right| left.mask == right.mask) {
            search.run(group);
        }
        Self { masks: search.masks }
    }

    pub(super) fn contains(&self, node: u32) -> bool {
        self.masks.get(node as usize).is_some_and(|masks| *masks != 0)
    }
}

struct Search<'m> {
    map: &'m Map,
    masks: Vec<u8>,
    /// Nodes whose remaining depth equals the current level.
    frontier: Vec<u32>,
    next: Vec<u32>,
}

impl Search<'_> {
    /// Searches from seeds with one mask, deepest first. Expands every node at most once.
    fn run(&mut self, seeds: &[Seed]) {
        let Some(first) = seeds.first() else { return };
        let (mask, bit) = (first.mask, 1u8 << first.mask);
        let mut seeds = seeds.iter().peekable();
        let mut remaining = first.depth;
        self.frontier.clear();
        loop {
            while let Some(seed) = seeds.next_if(|seed| seed.depth >= remaining) {
                visit(&mut self.masks, &mut self.frontier, seed.node, bit);
            }
            if self.frontier.is_empty() || remaining == 0 {
                // Nothing is pending at this level: skip to the depth of the next seeds.
                self.frontier.clear();
                let Some(seed) = seeds.peek() else { return };
                remaining = seed.depth;
                continue;
            }
            for &node in &self.frontier {
                for edge in self.map.edges(node) {
                    if edge.kinds & mask != 0 {
                        visit(&mut self.masks, &mut self.next, edge.target, bit);
                    }
                }
            }
            std::mem::swap(&mut self.frontier, &mut self.next);
            self.next.clear();
            remaining -= 1;
        }
    }
}

fn visit(masks: &mut [u8], pending: &mut Vec<u32>, node: u32, bit: u8) {
    if let Some(seen) = masks.get_mut(node as usize)
        && *seen & bit == 0
    {
        *seen |= bit;
        pending.push(node);
    }
}
