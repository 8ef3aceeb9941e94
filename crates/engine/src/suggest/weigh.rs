//! What the nodes of a map weigh in tokens: read from where they are and counted, or estimated from their size where
//! they cannot be read. `stan select` and `stan suggest` share it, so that a budget means the same to both.

use std::path::Path;

use stan_graph::Map;
use stan_model::document::integrity::ExternalsLock;
use stan_model::document::reports::ExactTokens;
use stan_model::{NodeKind, RepoPath};
use stan_repo::{System, SystemExt as _};

use crate::context::WorkspaceLayout;
use crate::tokens::{MOST_COUNTED_BYTES, Tokenizer};

pub(crate) struct Weigher<'a> {
    pub(crate) system: &'a dyn System,
    pub(crate) layout: &'a WorkspaceLayout,
    pub(crate) map: &'a Map,
    pub(crate) integrity: &'a ExternalsLock,
    pub(crate) tokenizer: Tokenizer,
}

/// Weights of nodes, in their order.
#[derive(Debug, Default)]
pub(crate) struct Weights {
    pub(crate) weights: Vec<u64>,
    /// Nodes that could not be read and were estimated.
    pub(crate) estimated: Vec<u32>,
}

impl Weigher<'_> {
    /// The weight of each node. For the estimate that is its bytes, because only their sum is divided.
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

    /// The tokens of all nodes together, and a warning for each that was estimated.
    pub(crate) fn total(&self, nodes: &[u32]) -> (ExactTokens, Vec<String>) {
        let Weights { weights, estimated } = self.weigh(nodes);
        (self.tokenizer.total(weights.into_iter()), estimated.iter().map(|&node| self.warning(node)).collect())
    }

    /// The tokens of a file that the map does not know, by its real absolute path; none when it cannot be read.
    pub(crate) fn tokens_of_file(&self, absolute: &str) -> u64 {
        let mut bytes = Vec::new();
        match self.system.read_real(Path::new(absolute), MOST_COUNTED_BYTES, &mut bytes) {
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
            NodeKind::External => self.integrity.nodes.get(id)?.locator.clone(),
            // A map is untrusted: nothing is read outside the repository.
            NodeKind::Source => self.layout.absolute(RepoPath::new(id)?.as_str()),
            _ => return None,
        };
        let mut bytes = Vec::new();
        // Nodes are named by their real paths. A link on the path would let a forged map read outside the repository.
        self.system.read_real(Path::new(&path), MOST_COUNTED_BYTES, &mut bytes).ok()?;
        Some(bytes)
    }
}
