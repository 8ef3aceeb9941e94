//! One file as the cache remembers it: contents, facts, and where its requests lead, by record number.

use stan_graph::FileMeta;
use stan_model::facts::ExportSource;
use stan_model::{FileFacts, Problem};
use stan_repo::Stat;
use xxhash_rust::xxh3::xxh3_64;

use super::changed_names::WHOLE;
use crate::cache::data::ANY_NAME;
use crate::cache::{NodeIndex, RecordId};

/// A file whose contents are part of the answer. Records of the universe come first, in its order.
pub(crate) struct Record {
    /// Absolute path.
    pub(crate) path: Box<str>,
    /// Index in the graph; `None` for files that were looked through and are no nodes.
    pub(crate) node: Option<NodeIndex>,
    pub(crate) in_universe: bool,
    pub(crate) stat: Option<Stat>,
    pub(crate) meta: Option<FileMeta>,
    pub(crate) facts: Option<Box<FileFacts>>,
    pub(crate) problems: Vec<Problem>,
    pub(crate) request_problems: Vec<Problem>,
    pub(crate) incomplete: bool,
    /// For each request the record that it leads to, or `NONE`, or `UNKNOWN` for a file that was not looked into.
    pub(crate) targets: Vec<RecordId>,
}

impl Record {
    /// Records whose exports this file passes on, each with the hash of the name, or [`ANY_NAME`].
    pub(crate) fn passes_to(&self) -> Vec<(RecordId, u32)> {
        let Some(facts) = self.facts.as_deref() else { return Vec::new() };
        let named = facts.exports.iter().filter_map(|export| match &export.source {
            ExportSource::Local => None,
            ExportSource::Name { request, .. } if &*export.name == WHOLE => Some((*request, ANY_NAME)),
            ExportSource::Name { request, name } => Some((*request, name_hash(name))),
            ExportSource::Namespace { request } => (&*export.name == WHOLE).then_some((*request, ANY_NAME)),
        });
        let stars = facts.stars.iter().map(|request| (*request, ANY_NAME));
        self.by_target(named.chain(stars))
    }

    /// Records that this file takes names from, each with the hash of the name.
    pub(crate) fn takes_from(&self) -> Vec<(RecordId, u32)> {
        let imports = self.facts.iter().flat_map(|facts| &facts.imports);
        self.by_target(imports.map(|import| (import.request, name_hash(&import.name))))
    }

    /// Names with the records that their requests lead to, in order and once each.
    fn by_target(&self, names: impl Iterator<Item = (u32, u32)>) -> Vec<(RecordId, u32)> {
        let mut found: Vec<(RecordId, u32)> = names
            .filter_map(|(request, name)| Some((*self.targets.get(request as usize)?, name)))
            .filter(|(target, _)| target.is_record())
            .collect();
        found.sort_unstable();
        found.dedup();
        found
    }
}

/// A short hash of a name. Two names may share one: then more is looked at than necessary.
pub(crate) fn name_hash(name: &str) -> u32 {
    xxh3_64(name.as_bytes()) as u32
}
