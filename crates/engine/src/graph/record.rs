//! One file as the cache remembers it: contents, facts, and where its requests lead, by record number.

use stan_graph::FileMeta;
use stan_lang::FileFacts;
use stan_model::Problem;
use stan_repo::Stat;

use crate::cache::data::{NONE, UNKNOWN};

/// A file whose contents are part of the answer. Records of the universe come first, in its order.
pub(crate) struct Record {
    /// Absolute path.
    pub(crate) path: Box<str>,
    /// Index in the graph; `None` for files that were looked through and are no nodes.
    pub(crate) node: Option<u32>,
    pub(crate) in_universe: bool,
    pub(crate) stat: Option<Stat>,
    pub(crate) meta: Option<FileMeta>,
    pub(crate) facts: Option<Box<FileFacts>>,
    pub(crate) problems: Vec<Problem>,
    pub(crate) request_problems: Vec<Problem>,
    pub(crate) incomplete: bool,
    /// For each request the record that it leads to, `NONE`, or `UNKNOWN` for a file that was not looked into.
    pub(crate) targets: Vec<u32>,
}

impl Record {
    /// Records whose exports this file passes on.
    pub(crate) fn passes_to(&self) -> Vec<u32> {
        self.targets_of(self.facts.iter().flat_map(|facts| facts.reexported_requests()))
    }

    /// Records that this file takes names from.
    pub(crate) fn takes_from(&self) -> Vec<u32> {
        self.targets_of(self.facts.iter().flat_map(|facts| facts.imports.iter().map(|import| import.request)))
    }

    fn targets_of(&self, requests: impl Iterator<Item = u32>) -> Vec<u32> {
        let mut targets: Vec<u32> = requests
            .filter_map(|request| self.targets.get(request as usize).copied())
            .filter(|target| !matches!(*target, NONE | UNKNOWN))
            .collect();
        targets.sort_unstable();
        targets.dedup();
        targets
    }
}
