//! Token counts of map nodes: exact for readable files, otherwise estimated from their size. Shared by `stan select` and
//! `stan suggest`, so that a budget has the same meaning in both.

use std::path::Path;

use stan_graph::Map;
use stan_model::document::externals_lock::ExternalsLock;
use stan_model::document::reports::ExactTokens;
use stan_model::{NodeKind, RepoPath};
use stan_repo::{System, SystemExt as _};

use crate::context::WorkspaceLayout;
use crate::tokens::{MAX_COUNTED_BYTES, Tokenizer};

pub(crate) struct Weigher<'a> {
    pub(crate) system: &'a dyn System,
    pub(crate) layout: &'a WorkspaceLayout,
    pub(crate) map: &'a Map,
    pub(crate) externals_lock: &'a ExternalsLock,
    pub(crate) tokenizer: Tokenizer,
}

/// Weights, in the order of the nodes.
#[derive(Debug, Default)]
pub(crate) struct Weights {
    pub(crate) weights: Vec<u64>,
    /// Nodes that were estimated because they could not be read.
    pub(crate) estimated: Vec<u32>,
}

impl Weigher<'_> {
    /// The weight of each node. For `bytes4` that is its size, because only the sum is divided by four.
    pub(crate) fn weigh(&self, nodes: &[u32]) -> Weights {
        let estimate = |node: u32| self.tokenizer.weight_of_size(self.map.size(node).unwrap_or(0));
        if self.tokenizer == Tokenizer::Bytes4 {
            return Weights { weights: nodes.iter().map(|&node| estimate(node)).collect(), estimated: Vec::new() };
        }
        let counts = self.tokenizer.count_each(nodes, |&node| self.read(node));
        let mut weights = Weights::default();
        for (&node, count) in nodes.iter().zip(counts) {
            weights.weights.push(count.unwrap_or_else(|| {
                weights.estimated.push(node);
                estimate(node)
            }));
        }
        weights
    }

    /// The token count of all nodes, and a warning for each that was estimated.
    pub(crate) fn total(&self, nodes: &[u32]) -> (ExactTokens, Vec<String>) {
        let Weights { weights, estimated } = self.weigh(nodes);
        (self.tokenizer.total(weights.into_iter()), estimated.iter().map(|&node| self.warning(node)).collect())
    }

    /// The token count of a file that is not in the map, by its real absolute path; 0 if it cannot be read.
    pub(crate) fn tokens_of_file(&self, absolute: &str) -> u64 {
        let mut bytes = Vec::new();
        match self.system.read_real(Path::new(absolute), MAX_COUNTED_BYTES, &mut bytes) {
            Ok(_) => self.tokenizer.count(&bytes),
            Err(_) => 0,
        }
    }

    pub(crate) fn warning(&self, node: u32) -> String {
        format!(
            "`{}` is too large or cannot be read: its tokens are estimated from its size in the map",
            self.map.id(node)
        )
    }

    fn read(&self, node: u32) -> Option<Vec<u8>> {
        let id = self.map.id(node);
        let path = match self.map.kind(node) {
            NodeKind::External => self.externals_lock.nodes.get(id)?.locator.clone(),
            // A map is untrusted: nothing is read outside the repository.
            NodeKind::Source => self.layout.absolute(RepoPath::new(id)?.as_str()),
            _ => return None,
        };
        let mut bytes = Vec::new();
        // Node ids are real paths, so a link here is suspicious: it would let a forged map read outside the repository.
        self.system.read_real(Path::new(&path), MAX_COUNTED_BYTES, &mut bytes).ok()?;
        Some(bytes)
    }
}
