//! The files of a run as the cache stores them: contents, facts, and the targets of requests, by record number.

use std::ops::Range;
use std::sync::Arc;

use stan_model::facts::{EXPORT_EQUALS, ExportSource};
use stan_model::{FileFacts, FileKey};
use xxhash_rust::xxh3::xxh3_64;

use super::analyse::Analysed;
use super::stages::AnalysedChunks;
use crate::cache::data::ANY_NAME;
use crate::cache::{NodeIndex, RecordId};

/// The analysed files of a run: the universe in its order, then everything else that was read. Files stay in the chunks of the
/// analysis; only the keys of targets are translated to record numbers, on demand.
pub(crate) struct Records {
    universe: AnalysedChunks,
    universe_len: u32,
    /// The files beyond the universe with their keys, ascending.
    beyond: Vec<(FileKey, Analysed)>,
    /// For each record its index in the graph; `NONE` for files that were only tunnelled through and are not nodes.
    nodes: Vec<NodeIndex>,
    paths: Arc<PathList>,
}

/// Absolute paths in one allocation.
#[derive(Clone, Default)]
pub(crate) struct PathList {
    pub(crate) text: String,
    pub(crate) ends: Vec<u32>,
}

impl PathList {
    /// An empty list with capacity for `count` paths of `length` bytes in total.
    pub(crate) fn with_capacity(length: usize, count: usize) -> Self {
        Self { text: String::with_capacity(length), ends: Vec::with_capacity(count) }
    }

    pub(crate) fn push(&mut self, parts: [&str; 2]) {
        parts.iter().for_each(|part| self.text.push_str(part));
        self.ends.push(u32::try_from(self.text.len()).unwrap_or(u32::MAX));
    }

    /// Empty for an index that is out of range, from a damaged cache.
    pub(crate) fn get(&self, index: usize) -> &str {
        let end = |index: usize| self.ends.get(index).map_or(0, |end| *end as usize);
        let start = if index == 0 { 0 } else { end(index - 1) };
        self.text.get(start..end(index)).unwrap_or("")
    }
}

impl Records {
    /// `nodes` and `paths` are those of the universe, then of the files beyond it, which are sorted by their keys.
    pub(super) fn new(
        universe: AnalysedChunks,
        beyond: Vec<(FileKey, Analysed)>,
        nodes: Vec<NodeIndex>,
        paths: PathList,
    ) -> Self {
        let universe_len = u32::try_from(nodes.len() - beyond.len()).unwrap_or(u32::MAX);
        Self { universe, universe_len, beyond, nodes, paths: Arc::new(paths) }
    }

    pub(crate) fn len(&self) -> usize {
        self.nodes.len()
    }

    pub(crate) fn get(&self, id: RecordId) -> Option<Record<'_>> {
        let file = match id.0.checked_sub(self.universe_len) {
            None => self.universe.get(FileKey(id.0))?,
            Some(beyond) => self.beyond.get(beyond as usize).map(|(_, file)| file)?,
        };
        Some(Record { records: self, id, file })
    }

    /// All records in order, in parts that can be encoded in parallel.
    pub(crate) fn parts(&self) -> Vec<RecordsPart<'_>> {
        let mut parts: Vec<RecordsPart<'_>> = Vec::new();
        let mut push = |count: usize, entries| {
            let start = parts.last().map_or(0, |part| part.ids.end);
            parts.push(RecordsPart { records: self, ids: start..start + count, entries });
        };
        self.universe.chunks().iter().for_each(|chunk| push(chunk.files.len(), &chunk.entries));
        push(self.beyond.len(), &[]);
        parts
    }

    pub(crate) fn paths(&self) -> Arc<PathList> {
        Arc::clone(&self.paths)
    }

    /// The record of a key; `UNKNOWN` for a file that was not analysed.
    fn record_of(&self, key: FileKey) -> RecordId {
        if key.0 < self.universe_len {
            return RecordId(key.0);
        }
        match self.beyond.binary_search_by_key(&key, |(known, _)| *known) {
            Ok(at) => RecordId::at(self.universe_len as usize + at),
            Err(_) => RecordId::UNKNOWN,
        }
    }
}

/// Consecutive records.
#[derive(Clone)]
pub(crate) struct RecordsPart<'r> {
    records: &'r Records,
    ids: Range<usize>,
    /// The concatenated entries of those that are already encoded, see [`Analysed::entry`].
    pub(crate) entries: &'r [u8],
}

impl<'r> RecordsPart<'r> {
    pub(crate) fn len(&self) -> usize {
        self.ids.len()
    }

    pub(crate) fn iter(&self) -> impl Iterator<Item = Record<'r>> + use<'r> {
        let records = self.records;
        self.ids.clone().filter_map(|id| records.get(RecordId::at(id)))
    }
}

/// A file whose contents are part of the answer.
#[derive(Clone, Copy)]
pub(crate) struct Record<'r> {
    records: &'r Records,
    id: RecordId,
    pub(crate) file: &'r Analysed,
}

impl<'r> Record<'r> {
    /// Absolute.
    pub(crate) fn path(&self) -> &'r str {
        self.records.paths.get(self.id.index())
    }

    /// Index in the graph; `None` for files that were only tunnelled through and are not nodes.
    pub(crate) fn node(&self) -> Option<NodeIndex> {
        self.records.nodes.get(self.id.index()).copied().filter(|node| *node != NodeIndex::NONE)
    }

    pub(crate) fn in_universe(&self) -> bool {
        self.id.0 < self.records.universe_len
    }

    pub(crate) fn facts(&self) -> Option<&'r FileFacts> {
        self.file.facts.as_deref()
    }

    /// For each request the record that it resolves to, or `NONE`, or `UNKNOWN` for a file that was not analysed.
    pub(crate) fn targets(&self) -> impl ExactSizeIterator<Item = RecordId> + use<'r> {
        let records = self.records;
        let targets = self.file.resolved.targets.iter();
        targets.map(move |target| target.map_or(RecordId::NONE, |key| records.record_of(key)))
    }

    /// Records whose exports this file re-exports, each with the hash of the name, or [`ANY_NAME`]. Overwrites `found`.
    pub(crate) fn passes_to(&self, found: &mut Vec<(RecordId, u32)>) {
        found.clear();
        let Some(facts) = self.facts() else { return };
        let named = facts.exports.iter().filter_map(|export| match &export.source {
            ExportSource::Local => None,
            ExportSource::Name { request, .. } if &*export.name == EXPORT_EQUALS => Some((*request, ANY_NAME)),
            ExportSource::Name { request, name } => Some((*request, name_hash(name))),
            ExportSource::Namespace { request } => (&*export.name == EXPORT_EQUALS).then_some((*request, ANY_NAME)),
        });
        let stars = facts.stars.iter().map(|request| (*request, ANY_NAME));
        self.by_target(named.chain(stars), found);
    }

    /// Records that this file imports names from, each with the hash of the name. Overwrites `found`.
    pub(crate) fn takes_from(&self, found: &mut Vec<(RecordId, u32)>) {
        found.clear();
        let imports = self.facts().into_iter().flat_map(|facts| &facts.imports);
        self.by_target(imports.map(|import| (import.request, name_hash(&import.name))), found);
    }

    /// Names with the records that their requests resolve to, sorted and without duplicates.
    fn by_target(&self, names: impl Iterator<Item = (u32, u32)>, found: &mut Vec<(RecordId, u32)>) {
        let targets = &self.file.resolved.targets;
        let record = |request: u32| Some(self.records.record_of((*targets.get(request as usize)?)?));
        let known = names.filter_map(|(request, name)| Some((record(request)?, name)));
        found.extend(known.filter(|(target, _)| target.is_record()));
        found.sort_unstable();
        found.dedup();
    }
}

/// A short hash of a name. A collision only makes more files be checked than necessary.
pub(crate) fn name_hash(name: &str) -> u32 {
    xxh3_64(name.as_bytes()) as u32
}
