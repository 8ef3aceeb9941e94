//! What a run leaves for the next one: an index (what to look at, and the figures) and the data (graph and facts).
//!
//! A cache is only ever a shortcut. Whatever is wrong with it (corrupt, foreign, older, half of a pair) means that
//! it is ignored; failing to write it is not an error either.

mod bytes;
pub(crate) mod data;
mod index;

use std::path::Path;

use rayon::prelude::*;
use stan_graph::Graph;
use stan_lang::typescript::extract::is_analysed;
use stan_model::NodeKind;
use stan_repo::{EntryKind, System, WritableSystem};
use xxhash_rust::xxh3::xxh3_64;

use self::data::Data;
use self::index::{FactsTable, FileTable, UNPROVED, fingerprint, proved_fingerprint};
use crate::graph::analyse::Analysed;
use crate::graph::compile::{Kept, Known};
use crate::graph::record::Record;

pub(crate) use self::index::{Answer, Index};

/// Changes whenever the layout of the files does.
const FORMAT: u32 = 2;
const MAGIC: &[u8; 8] = b"stangrph";
/// Far beyond what the largest repositories leave. Larger ones are somebody's attempt to fill the memory.
const LARGEST_INDEX: u64 = 512 << 20;
const LARGEST_DATA: u64 = 2 << 30;

/// The cache of one repository.
pub(crate) struct Cache<'s> {
    system: &'s dyn WritableSystem,
    directory: String,
    /// Stands for format, tool version and options.
    key: u64,
}

impl<'s> Cache<'s> {
    /// Makes the folder, so that its making is not seen as a change by the next run. `None`: there can be no cache.
    ///
    /// `root` and `stan_path` are absolute. A folder of ours behind a link is somebody else's: nothing is written there.
    pub(crate) fn open(
        system: &'s dyn WritableSystem,
        directory: &str,
        (root, stan_path): (&str, &str),
        key: &[u8],
    ) -> Option<Self> {
        let inside = directory.strip_prefix(stan_path).is_some_and(|rest| rest.is_empty() || rest.starts_with('/'));
        if inside && leads_elsewhere(system, root, directory) {
            return None;
        }
        system.create_dir_all(Path::new(directory)).ok()?;
        // Only a folder of ours may hide itself from git.
        let ignore = format!("{directory}/.gitignore");
        if inside && system.lstat(Path::new(&ignore)).is_err() {
            system.write_atomic(Path::new(&ignore), b"*\n").ok()?;
        }
        Some(Self { system, directory: directory.to_owned(), key: xxh3_64(key) ^ u64::from(FORMAT) })
    }

    fn path(&self, name: &str) -> String {
        format!("{}/{name}", self.directory)
    }

    pub(crate) fn load_index(&self) -> Option<Index> {
        let path = self.path("graph.index");
        let path = Path::new(&path);
        let stat = self.system.lstat(path).ok()?;
        if stat.kind != EntryKind::File || stat.size > LARGEST_INDEX {
            return None;
        }
        // A file that is none of ours is not worth reading to its end.
        let mut start = [0; 16];
        self.system.read_range(path, 0, &mut start).ok()?;
        if start.strip_prefix(MAGIC)? != self.key.to_le_bytes() {
            return None;
        }
        let mut bytes = Vec::new();
        self.system.read_at_most(path, LARGEST_INDEX, &mut bytes).ok()?;
        let body = bytes.strip_prefix(MAGIC)?;
        let (key, body) = body.split_first_chunk::<8>()?;
        let (checksum, body) = body.split_first_chunk::<8>()?;
        if u64::from_le_bytes(*key) != self.key || u64::from_le_bytes(*checksum) != xxh3_64(body) {
            return None;
        }
        Index::decode(body)
    }

    /// The bytes of the data that belong to an index.
    pub(crate) fn load_data(&self, index: &Index) -> Option<Vec<u8>> {
        let path = self.path("graph.data");
        let length = usize::try_from(index.data_length).ok()?;
        // An index that was made up must not make us ask for all the memory there is.
        let stat = self.system.lstat(Path::new(&path)).ok()?;
        if stat.kind != EntryKind::File || stat.size != index.data_length || stat.size > LARGEST_DATA {
            return None;
        }
        let mut bytes = vec![0; length];
        let (first, second) = bytes.split_at_mut(length / 2);
        let read = |offset: usize, part: &mut [u8]| {
            self.system.read_range(Path::new(&path), offset as u64, part).ok().map(|()| xxh3_64(part))
        };
        let (first, second) = rayon::join(|| read(0, first), || read(length / 2, second));
        (halves(first?, second?) == index.data_checksum).then_some(bytes)
    }

    /// Stores the outcome of a run that began at `observed_at`.
    pub(crate) fn store(&self, graph: &Graph, kept: Kept, answer: Answer, observed_at: i64) -> Option<()> {
        let Kept { records, general_problems, observations } = kept;
        let data = data::encode(graph, &records, &general_problems)?;
        let mut files = FileTable::default();
        let mut facts = FactsTable::default();
        records
            .par_iter()
            .map(|record| figures_print(graph, record))
            .collect::<Vec<_>>()
            .into_iter()
            .for_each(|print| facts.push(print));
        for record in &records {
            let print = record.stat.as_ref().map_or(UNPROVED, |stat| proved_fingerprint(stat, observed_at));
            files.push(&record.path, print);
        }
        // Hundreds of thousands of small pieces, and the process is about to end.
        std::thread::spawn(move || drop(records));
        let (first, second) = data.split_at(data.len() / 2);
        let (first, second) = rayon::join(|| xxh3_64(first), || xxh3_64(second));
        let (data_checksum, data_length) = (halves(first, second), data.len() as u64);
        let index = Index { observed_at, data_checksum, data_length, answer, observations, files, facts }.encode()?;
        let mut bytes = Vec::with_capacity(index.len() + 24);
        bytes.extend_from_slice(MAGIC);
        bytes.extend_from_slice(&self.key.to_le_bytes());
        bytes.extend_from_slice(&xxh3_64(&index).to_le_bytes());
        bytes.extend_from_slice(&index);
        self.system.write_atomic(Path::new(&self.path("graph.data")), &data).ok()?;
        self.system.write_atomic(Path::new(&self.path("graph.index")), &bytes).ok()
    }
}

/// Whether anything but a folder stands on the way from the root to a folder below it.
fn leads_elsewhere(system: &dyn WritableSystem, root: &str, folder: &str) -> bool {
    let root = root.trim_end_matches('/');
    let Some(below) = folder.strip_prefix(root).and_then(|rest| rest.strip_prefix('/')) else { return true };
    let ends = below.match_indices('/').map(|(at, _)| at).chain([below.len()]);
    ends.filter_map(|end| folder.get(..root.len() + 1 + end))
        .map_while(|part| system.lstat(Path::new(part)).ok())
        .any(|stat| stat.kind != EntryKind::Dir)
}

/// The data is read and checked in two halves at once: one checksum of both.
fn halves(first: u64, second: u64) -> u64 {
    first.rotate_left(1) ^ second
}

/// What an edit of this file must leave as it is for every figure to stay as it is.
fn figures_print(graph: &Graph, record: &Record) -> u64 {
    let is_own = record.in_universe || record.node.is_some_and(|node| graph.node(node).kind == NodeKind::Source);
    let is_clean = record.problems.is_empty() && record.request_problems.is_empty() && !record.incomplete;
    let has_facts = record.facts.is_some() || !is_analysed(&record.path);
    if is_own && is_clean && has_facts && record.meta.is_some() { record.facts_print() } else { FactsTable::OPAQUE }
}

/// Facts of an earlier run, for files that are as they were.
pub(crate) struct Earlier<'c> {
    index: &'c Index,
    data: Option<Data<'c>>,
    by_path: rustc_hash::FxHashMap<&'c str, usize>,
}

impl<'c> Earlier<'c> {
    pub(crate) fn new(index: &'c Index, data: &'c [u8]) -> Self {
        let data = Data::decode(data).filter(|data| data.len() == index.files.len());
        let by_path = (0..index.files.len()).map(|file| (index.files.path(file), file)).collect();
        Self { index, data, by_path }
    }
}

impl Known for Earlier<'_> {
    fn analysed(&self, system: &dyn System, path: &str, with_facts: bool) -> Option<Analysed> {
        let data = self.data.as_ref()?;
        let file = *self.by_path.get(path)?;
        let print = self.index.files.fingerprint(file);
        let stat = system.lstat(Path::new(path)).ok()?;
        if print == UNPROVED || fingerprint(&stat) != print {
            return None;
        }
        if with_facts && !data.has_facts(file) && is_analysed(path) {
            return None;
        }
        let facts = if data.has_facts(file) { Some(Box::new(data.facts(file)?)) } else { None };
        Some(Analysed {
            stat: Some(stat),
            meta: Some(data.meta(file)?),
            facts,
            problems: data.problems(file)?.0,
            incomplete: data.is_incomplete(file),
            ..Analysed::default()
        })
    }
}
