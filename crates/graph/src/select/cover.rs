//! Turns a set of nodes into a selection: few entries whose closures together are exactly the set. The caller chooses the set.
//!
//! Finding the minimum is the set cover problem, so this is greedy: it always takes the entry with the most new nodes per byte in
//! the document. Entries may reach too far if excluding the surplus under `x` is shorter.

use std::cmp::Ordering;
use std::collections::{BTreeSet, BinaryHeap};

use stan_model::NodeKind;
use stan_model::document::state::{ALL_KINDS, Entry, State};

use super::{SelectOptions, select};
use crate::map::Map;

/// The maximum number of edges traversed in search of entries. Nodes that are left then get an entry each.
const MAX_STEPS: usize = 3_000_000;
/// The maximum number of members of all candidates together.
const MAX_MEMBERS: usize = 1_000_000;
/// In practice, an entry with more surplus nodes than this does not shorten the selection.
const SURPLUS: usize = 8;
/// Deeper entries are not tried: a reader can hardly follow them.
const MAX_DEPTH: u32 = 64;
/// All kinds first, because entries without a mask are shorter.
const MASKS: [u8; 7] = [ALL_KINDS, 1, 3, 2, 5, 6, 4];

/// A selection of exactly the nodes `wanted`, which must be files of the map. The result is verified; if it were wrong, each node
/// would get its own entry instead.
pub fn cover(map: &Map, wanted: &[u32]) -> State {
    let wanted: BTreeSet<u32> = wanted.iter().copied().collect();
    let single = State { include: wanted.iter().map(|&node| Entry::node(map.id(node))).collect(), exclude: Vec::new() };
    let found = Search::new(map, &wanted).state();
    let is_shorter = found.encode().len() < single.encode().len();
    if is_shorter && is_exactly(map, &found, &wanted) { found } else { single }
}

fn is_exactly(map: &Map, state: &State, wanted: &BTreeSet<u32>) -> bool {
    select(map, state, &SelectOptions::default()).is_ok_and(|selection| selection.selected.iter().eq(wanted))
}

/// One possible entry.
struct Candidate {
    entry: Entry,
    /// Wanted nodes in its closure, sorted.
    members: Vec<u32>,
    /// Files in its closure that are not wanted.
    surplus: Vec<u32>,
    /// Bytes in the document, excludes included.
    cost: usize,
}

/// A candidate with its last computed gain.
#[derive(PartialEq, Eq)]
struct Offer {
    gain: usize,
    cost: usize,
    index: usize,
}

impl Ord for Offer {
    fn cmp(&self, other: &Self) -> Ordering {
        let (own, others) = (self.gain * other.cost, other.gain * self.cost);
        own.cmp(&others).then(self.gain.cmp(&other.gain)).then(other.index.cmp(&self.index))
    }
}

impl PartialOrd for Offer {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

struct Search<'m> {
    map: &'m Map,
    is_wanted: Vec<bool>,
    candidates: Vec<Candidate>,
    work: usize,
    members: usize,
    /// The number of the last search that visited each node, so that the table need not be cleared between searches.
    seen: Vec<u32>,
    round: u32,
}

impl<'m> Search<'m> {
    fn new(map: &'m Map, wanted: &BTreeSet<u32>) -> Self {
        let mut is_wanted = vec![false; map.node_count()];
        for &node in wanted {
            if let Some(flag) = is_wanted.get_mut(node as usize) {
                *flag = true;
            }
        }
        let seen = vec![0; map.node_count()];
        let mut search = Self { map, is_wanted, candidates: Vec::new(), work: 0, members: 0, seen, round: 0 };
        for &node in wanted {
            let entry = Entry::node(map.id(node));
            let cost = entry_length(&entry);
            search.candidates.push(Candidate { entry, members: vec![node], surplus: Vec::new(), cost });
        }
        for &node in wanted {
            for mask in MASKS {
                search.from(node, mask);
            }
        }
        search
    }

    /// Adds the entries of one node and one mask that are worth trying: one for each depth.
    fn from(&mut self, node: u32, mask: u8) {
        // If the mask lets all edges of the node pass, the search starts as with all kinds; only try it if it differs later.
        let edges = self.map.edges(node);
        if mask != ALL_KINDS && !edges.iter().any(|edge| edge.kinds & mask != 0) {
            return;
        }
        self.round += 1;
        let (mut members, mut surplus, mut frontier) = (Vec::new(), Vec::new(), vec![node]);
        self.visit(node, &mut members, &mut surplus);
        let mut best: Option<(u32, usize)> = None;
        for depth in 1..=MAX_DEPTH {
            let mut next = Vec::new();
            for &from in &frontier {
                self.work += self.map.edges(from).len();
                for edge in self.map.edges(from) {
                    if edge.kinds & mask != 0 && self.visit(edge.target, &mut members, &mut surplus) {
                        next.push(edge.target);
                    }
                }
            }
            if next.is_empty() || surplus.len() > SURPLUS || self.work > MAX_STEPS {
                break;
            }
            frontier = next;
            if surplus.is_empty() {
                best = Some((depth, members.len()));
            } else {
                self.offer(Entry::new(self.map.id(node), depth, mask), &members, &surplus);
            }
        }
        if let Some((depth, length)) = best {
            // Members are in the order of their depth.
            let entry = Entry::new(self.map.id(node), depth, mask);
            self.offer(entry, members.get(..length).unwrap_or_default(), &[]);
        }
    }

    /// Whether this search had not visited the node before.
    fn visit(&mut self, node: u32, members: &mut Vec<u32>, surplus: &mut Vec<u32>) -> bool {
        let Some(seen) = self.seen.get_mut(node as usize).filter(|seen| **seen != self.round) else { return false };
        *seen = self.round;
        if self.is_wanted.get(node as usize).is_some_and(|flag| *flag) {
            members.push(node);
        } else if matches!(self.map.kind(node), NodeKind::Source | NodeKind::External) {
            surplus.push(node);
        }
        true
    }

    /// Adds a candidate: an entry with the wanted nodes in its closure, and those that must be excluded.
    fn offer(&mut self, entry: Entry, members: &[u32], surplus: &[u32]) {
        if members.len() < 2 || self.members + members.len() > MAX_MEMBERS {
            return;
        }
        self.members += members.len();
        let excluded: usize = surplus.iter().map(|&node| entry_length(&Entry::node(self.map.id(node)))).sum();
        let cost = entry_length(&entry) + excluded + if surplus.is_empty() { 0 } else { ",\"x\":[]".len() };
        self.candidates.push(Candidate { entry, members: members.to_vec(), surplus: surplus.to_vec(), cost });
    }

    fn state(self) -> State {
        let chosen = self.without_idle(self.greedy());
        let mut include: Vec<Entry> = Vec::new();
        let mut exclude: BTreeSet<u32> = BTreeSet::new();
        for index in chosen {
            let Some(candidate) = self.candidates.get(index) else { continue };
            include.push(candidate.entry.clone());
            exclude.extend(&candidate.surplus);
        }
        include.sort_unstable();
        State { include, exclude: exclude.iter().map(|&node| Entry::node(self.map.id(node))).collect() }
    }

    /// Indices of candidates that cover everything wanted, in the order in which they were chosen.
    fn greedy(&self) -> Vec<usize> {
        let mut is_open = self.is_wanted.clone();
        let is_still_open = |is_open: &[bool], node: u32| is_open.get(node as usize).is_some_and(|flag| *flag);
        let offers = self.candidates.iter().enumerate();
        let mut heap: BinaryHeap<Offer> = offers
            .map(|(index, candidate)| Offer { gain: candidate.members.len(), cost: candidate.cost, index })
            .collect();
        let mut chosen = Vec::new();
        while let Some(offer) = heap.pop() {
            let Some(candidate) = self.candidates.get(offer.index) else { continue };
            let gain = candidate.members.iter().filter(|&&node| is_still_open(&is_open, node)).count();
            match gain {
                0 => {}
                // Gains only shrink, so if the best offer's gain is still current, it is the best of all (lazy greedy).
                _ if gain == offer.gain => {
                    chosen.push(offer.index);
                    for &node in &candidate.members {
                        if let Some(flag) = is_open.get_mut(node as usize) {
                            *flag = false;
                        }
                    }
                }
                _ => heap.push(Offer { gain, ..offer }),
            }
        }
        chosen
    }

    /// Removes entries that later ones made redundant, the earliest and longest first.
    fn without_idle(&self, chosen: Vec<usize>) -> Vec<usize> {
        let mut times = vec![0u32; self.map.node_count()];
        let members = |index: usize| self.candidates.get(index).map_or(&[][..], |candidate| &candidate.members);
        for &index in &chosen {
            for &node in members(index) {
                times[node as usize] += 1;
            }
        }
        let mut kept = Vec::new();
        for index in chosen {
            if members(index).iter().all(|&node| times[node as usize] > 1) {
                for &node in members(index) {
                    times[node as usize] -= 1;
                }
            } else {
                kept.push(index);
            }
        }
        kept
    }
}

/// The bytes of an entry in the document, including the comma before it.
fn entry_length(entry: &Entry) -> usize {
    let empty = State::default().encode().len();
    let one = State { include: vec![entry.clone()], exclude: Vec::new() };
    one.encode().len() - empty + 1
}

#[cfg(test)]
#[path = "cover_tests.rs"]
mod tests;
