//! What a run leaves for the next one: an index (what to look at, and the figures), the data (graph and facts), and the
//! map that was made of that graph.
//!
//! A cache is only ever a shortcut. Whatever is wrong with it (corrupt, foreign, older, half of a pair) means that
//! it is ignored; failing to write it is not an error either.

mod bytes;
pub(crate) mod data;
mod index;
mod map;

use std::path::Path;

use rayon::prelude::*;
use stan_graph::Graph;
use stan_lang::typescript::extract::is_analysed;
use stan_model::NodeKind;
use stan_repo::{System, WritableSystem};
use xxhash_rust::xxh3::xxh3_64;

use self::data::Data;
use self::index::{FactsTable, FileTable, Section, UNPROVED, fingerprint, proved_fingerprint};
use crate::graph::analyse::Analysed;
use crate::graph::compile::{Kept, Known};
use crate::graph::record::Record;

pub(crate) use self::index::{Answer, Identity, Index};
pub(crate) use self::map::{DocumentPrint, Manifests, MapKey, StoredMap};

/// Changes whenever the layout of the files does.
const FORMAT: u32 = 3;
const MAGIC: &[u8; 8] = b"stangrph";

/// The cache of one repository.
pub(crate) struct Cache<'s> {
    system: &'s dyn WritableSystem,
    directory: String,
    /// Stands for format, tool version and options.
    key: u64,
}

impl<'s> Cache<'s> {
    /// Makes the folder, so that its making is not seen as a change by the next run. `None`: there can be no cache.
    pub(crate) fn open(system: &'s dyn WritableSystem, directory: &str, stan_path: &str, key: &[u8]) -> Option<Self> {
        let inside = directory.strip_prefix(stan_path).is_some_and(|rest| rest.is_empty() || rest.starts_with('/'));
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
        let mut bytes = Vec::new();
        self.system.read_into(Path::new(&self.path("graph.index")), &mut bytes).ok()?;
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
        self.load_parts(index, true)
    }

    /// The graph alone: where nothing changed, nobody asks for more.
    pub(crate) fn load_graph(&self, index: &Index) -> Option<Graph> {
        data::decode_graph(&self.load_parts(index, false)?)
    }

    fn load_parts(&self, index: &Index, with_records: bool) -> Option<Vec<u8>> {
        let path = self.path("graph.data");
        let (graph, records) = (index.graph_part, index.record_part);
        // An index that was made up must not make us ask for all the memory there is.
        if self.system.lstat(Path::new(&path)).ok()?.size != graph.length.checked_add(records.length)? {
            return None;
        }
        let middle = usize::try_from(graph.length).ok()?;
        let length = if with_records { middle.checked_add(usize::try_from(records.length).ok()?)? } else { middle };
        let mut bytes = vec![0; length];
        let (first, second) = bytes.split_at_mut(middle);
        let check = |offset: u64, part: &mut [u8], section: Section| -> Option<()> {
            let half = part.len() / 2;
            let (start, end) = part.split_at_mut(half);
            let read = |offset: u64, part: &mut [u8]| {
                self.system.read_range(Path::new(&path), offset, part).ok().map(|()| xxh3_64(part))
            };
            let (start, end) = rayon::join(|| read(offset, start), || read(offset + half as u64, end));
            (halves(start?, end?) == section.checksum).then_some(())
        };
        check(0, first, graph)?;
        if with_records {
            check(graph.length, second, records)?;
        }
        Some(bytes)
    }

    /// Stores the outcome of a run that began at `observed_at`.
    pub(crate) fn store(&self, graph: &Graph, kept: Kept, answer: Answer, observed_at: i64) -> Option<Identity> {
        let Kept { records, general_problems, observations } = kept;
        let (mut data, record_data) = data::encode(graph, &records, &general_problems)?;
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
        let (graph_part, record_part) = rayon::join(|| section(&data), || section(&record_data));
        data.extend_from_slice(&record_data);
        let index = Index { observed_at, graph_part, record_part, answer, observations, files, facts };
        let identity = index.identity();
        let index = index.encode()?;
        let mut bytes = Vec::with_capacity(index.len() + 24);
        bytes.extend_from_slice(MAGIC);
        bytes.extend_from_slice(&self.key.to_le_bytes());
        bytes.extend_from_slice(&xxh3_64(&index).to_le_bytes());
        bytes.extend_from_slice(&index);
        self.system.write_atomic(Path::new(&self.path("graph.data")), &data).ok()?;
        self.system.write_atomic(Path::new(&self.path("graph.index")), &bytes).ok()?;
        Some(identity)
    }
}

fn section(bytes: &[u8]) -> Section {
    let (first, second) = bytes.split_at(bytes.len() / 2);
    Section { length: bytes.len() as u64, checksum: halves(xxh3_64(first), xxh3_64(second)) }
}

/// A section is read and checked in two halves at once: one checksum of both.
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
