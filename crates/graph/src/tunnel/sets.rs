//! Sets of files that share their parts: a set is a number, equal sets have equal numbers, and the cost of a union depends on the
//! parts that the two sets do not share.
//!
//! They are Patricia tries over 64-bit leaves. Every node is stored once, so that thousands of states with the same definers take
//! the memory of one set, and a state that adds one definer to a large set adds a few nodes.

use rustc_hash::FxHashMap;

use super::FileKey;

/// A set of files in a [`Sets`].
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub(super) struct SetId(u32);

pub(super) const EMPTY: SetId = SetId(0);

#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
enum Node {
    Empty,
    /// The files `block * 64 + i` for each bit `i`.
    Leaf {
        block: u32,
        bits: u64,
    },
    /// Blocks that agree above `bit` and differ in it: those without it are on the left.
    Branch {
        block: u32,
        bit: u32,
        left: SetId,
        right: SetId,
    },
}

#[derive(Debug)]
pub(super) struct Sets {
    nodes: Vec<Node>,
    sizes: Vec<u32>,
    known: FxHashMap<Node, SetId>,
    unions: FxHashMap<(SetId, SetId), SetId>,
}

impl Default for Sets {
    fn default() -> Self {
        Self { nodes: vec![Node::Empty], sizes: vec![0], known: FxHashMap::default(), unions: FxHashMap::default() }
    }
}

impl Sets {
    pub(super) fn with(&mut self, set: SetId, file: FileKey) -> SetId {
        let one = self.intern(Node::Leaf { block: file.0 >> 6, bits: 1 << (file.0 & 63) });
        self.union(set, one)
    }

    /// How many files are in the set.
    pub(super) fn len(&self, set: SetId) -> usize {
        self.sizes.get(set.0 as usize).map_or(0, |size| *size as usize)
    }

    /// The files, sorted.
    pub(super) fn files(&self, set: SetId) -> Vec<FileKey> {
        let mut files = Vec::with_capacity(self.len(set));
        let mut pending = vec![set];
        while let Some(set) = pending.pop() {
            match self.node(set) {
                Node::Empty => {}
                Node::Leaf { block, bits } => {
                    files.extend((0..64).filter(|bit| bits >> bit & 1 == 1).map(|bit| FileKey((block << 6) | bit)));
                }
                Node::Branch { left, right, .. } => pending.extend([right, left]),
            }
        }
        files
    }

    /// The recursion is as deep as a block number has bits.
    pub(super) fn union(&mut self, a: SetId, b: SetId) -> SetId {
        let (a, b) = (a.min(b), a.max(b));
        if a == b || a == EMPTY {
            return b;
        }
        let is_small = |node| matches!(node, Node::Leaf { .. });
        let (first, second) = (self.node(a), self.node(b));
        // Two leaves are merged faster than they are looked up.
        if is_small(first) && is_small(second) {
            return self.join(a, first, b, second);
        }
        if let Some(known) = self.unions.get(&(a, b)) {
            return *known;
        }
        let union = self.join(a, first, b, second);
        self.unions.insert((a, b), union);
        union
    }

    fn join(&mut self, a: SetId, first: Node, b: SetId, second: Node) -> SetId {
        match (first, second) {
            (Node::Empty, _) => b,
            (_, Node::Empty) => a,
            (Node::Leaf { block, bits }, Node::Leaf { block: other, bits: more }) if block == other => {
                self.intern(Node::Leaf { block, bits: bits | more })
            }
            (Node::Branch { block, bit, left, right }, Node::Branch { block: other, bit: same, left: l, right: r })
                if bit == same && block == other =>
            {
                let (left, right) = (self.union(left, l), self.union(right, r));
                self.intern(Node::Branch { block, bit, left, right })
            }
            _ => self.join_apart(a, first, b, second),
        }
    }

    /// Merges two sets of which one is in one half of the other, or which share no block.
    fn join_apart(&mut self, a: SetId, first: Node, b: SetId, second: Node) -> SetId {
        for (outer, inner, inner_node) in [(first, b, second), (second, a, first)] {
            let Node::Branch { block, bit, left, right } = outer else { continue };
            let (inside, inner_bit) = inner_node.place();
            if inner_bit >= bit || (inside ^ block) & !((bit << 1) - 1) != 0 {
                continue;
            }
            let (left, right) =
                if inside & bit == 0 { (self.union(left, inner), right) } else { (left, self.union(right, inner)) };
            return self.intern(Node::Branch { block, bit, left, right });
        }
        let ((first, _), (second, _)) = (first.place(), second.place());
        let bit = 1 << (31 - (first ^ second).leading_zeros());
        let block = first & !((bit << 1) - 1);
        let (left, right) = if first & bit == 0 { (a, b) } else { (b, a) };
        self.intern(Node::Branch { block, bit, left, right })
    }

    fn node(&self, set: SetId) -> Node {
        self.nodes.get(set.0 as usize).copied().unwrap_or(Node::Empty)
    }

    fn intern(&mut self, node: Node) -> SetId {
        if let Some(known) = self.known.get(&node) {
            return *known;
        }
        let size = match node {
            Node::Empty => 0,
            Node::Leaf { bits, .. } => bits.count_ones(),
            Node::Branch { left, right, .. } => (self.len(left) + self.len(right)) as u32,
        };
        let set = SetId(u32::try_from(self.nodes.len()).unwrap_or(u32::MAX));
        self.nodes.push(node);
        self.sizes.push(size);
        self.known.insert(node, set);
        set
    }
}

impl Node {
    /// The lowest block that may be in the node, and the bit in which its blocks differ (0 for a single block).
    fn place(self) -> (u32, u32) {
        match self {
            Self::Empty => (0, 0),
            Self::Leaf { block, .. } => (block, 0),
            Self::Branch { block, bit, .. } => (block, bit),
        }
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use proptest::prelude::*;

    use super::*;

    fn set_of(sets: &mut Sets, files: &BTreeSet<u32>) -> SetId {
        files.iter().fold(EMPTY, |set, file| sets.with(set, FileKey(*file)))
    }

    proptest! {
        #[test]
        fn a_union_is_the_union_and_equal_sets_are_one(
            a in prop::collection::btree_set(prop_oneof![0u32..300, any::<u32>()], 0..40),
            b in prop::collection::btree_set(prop_oneof![0u32..300, any::<u32>()], 0..40),
        ) {
            let mut sets = Sets::default();
            let (first, second) = (set_of(&mut sets, &a), set_of(&mut sets, &b));
            let union = sets.union(first, second);
            let expected: BTreeSet<u32> = a.union(&b).copied().collect();
            prop_assert_eq!(sets.files(union).iter().map(|file| file.0).collect::<Vec<_>>(), expected.iter().copied().collect::<Vec<_>>());
            prop_assert_eq!(sets.len(union), expected.len());
            prop_assert_eq!(set_of(&mut sets, &expected), union);
            let reversed = expected.iter().rev().fold(EMPTY, |set, file| sets.with(set, FileKey(*file)));
            prop_assert_eq!(reversed, union);
        }
    }
}
