//! Writes the large half of the cache: the graph and the facts of every file (`data.rs` reads them).
//!
//! The first run of a user writes this, so it must be cheap. The entry of a file (its digest and facts) is encoded by the thread
//! that analysed the file, and written to disk from that buffer. What depends on the whole run is encoded in one parallel pass
//! over the records, into a few buffers that are copied once. Nothing is allocated per file.

use std::borrow::Cow;
use std::ops::Range;

use postcard::ser_flavors::Flavor;
use rayon::prelude::*;
use serde::Serialize;
use stan_graph::{Graph, Node};
use stan_model::{FileFacts, Problem};
use xxhash_rust::xxh3::xxh3_64;

use super::bytes::{BlobList, SectionWriter};
use super::data::{
    DataPart, HAS_FACTS, HAS_META, INCOMPLETE, META_LENGTH, OUTSIDE, UNIVERSE, entry_checksum, meta_bytes,
};
use super::ids::{NodeIndex, RecordId};
use crate::graph::analyse::Analysed;
use crate::graph::record::{Record, Records, RecordsPart};

/// Typical size of a record without its entry. Reserved for each record, so that the buffer rarely has to grow.
const USUAL_RECORD: usize = 96;

/// The data file, and the fingerprints of each record for the index.
pub(crate) struct Encoded<'r> {
    /// The graph, and everything about the records except their entries.
    pub(crate) head: Vec<u8>,
    /// The ranges in `head` of the parts that it holds.
    pub(crate) parts: [Range<usize>; DataPart::Contents.index()],
    /// The entries of all records, which follow `head` in the file.
    pub(crate) contents: Vec<Cow<'r, [u8]>>,
    /// In the order of the records.
    pub(crate) fingerprints: Vec<RecordFingerprints>,
}

/// The fingerprints of one record in the index.
#[derive(Clone, Copy, Debug)]
pub(crate) struct RecordFingerprints {
    pub(crate) facts: u64,
    pub(crate) stat: u64,
}

/// Length and checksum of a file's encoded entry, and the fingerprint of its facts.
#[derive(Clone, Copy, Debug)]
pub(crate) struct EntryFingerprint {
    pub(crate) length: u32,
    checksum: u32,
    /// See [`facts_fingerprint`]; 0 for a file without facts.
    facts: u64,
}

/// Appends the entry of a file. Returns `None` and appends nothing if it cannot be encoded.
pub(crate) fn append_entry(file: &Analysed, bytes: &mut Vec<u8>) -> Option<EntryFingerprint> {
    let start = bytes.len();
    let appended = try_append_entry(file, bytes);
    if appended.is_none() {
        bytes.truncate(start);
    }
    appended
}

fn try_append_entry(file: &Analysed, bytes: &mut Vec<u8>) -> Option<EntryFingerprint> {
    let start = bytes.len();
    bytes.extend_from_slice(&meta_bytes(file.meta));
    let mut facts_hash = 0;
    if let Some(facts) = &file.facts {
        append_links(facts, bytes)?;
        facts_hash = links_fingerprint(bytes.get(start + META_LENGTH..)?);
        append(&facts.description, bytes)?;
    } else if let Some(heading) = &file.heading {
        append(heading, bytes)?;
    }
    let entry = bytes.get(start..)?;
    Some(EntryFingerprint {
        length: u32::try_from(entry.len()).ok()?,
        checksum: entry_checksum(entry),
        facts: facts_hash,
    })
}

/// Writes the graph, the records, and the problems that belong to no single file. `fingerprints_of` gets each record with the
/// fingerprint of its facts ([`facts_fingerprint`]; 0 for a record without facts).
pub(crate) fn encode<'r>(
    graph: &Graph,
    records: &'r Records,
    problems: &[Problem],
    fingerprints_of: impl Fn(Record<'_>, u64) -> RecordFingerprints + Sync,
) -> Option<Encoded<'r>> {
    let piece = |part: RecordsPart<'r>| {
        let mut piece = Piece::of(&part);
        for record in part.iter() {
            piece.push(record, &fingerprints_of)?;
        }
        Some(piece)
    };
    let (head, pieces) = rayon::join(
        || write_graph(graph, records.len() * USUAL_RECORD),
        || records.parts().into_par_iter().map(piece).collect::<Option<Vec<Piece<'r>>>>(),
    );
    let EncodedGraph { mut writer, metas_end, shape_end } = head;
    let pieces = pieces?;
    write_records(&mut writer, &pieces, problems)?;
    let parts = [0..metas_end, metas_end..shape_end, shape_end..writer.len()];
    let fingerprints = pieces.iter().flat_map(|piece| piece.fingerprints.iter().copied()).collect();
    let contents = pieces.into_iter().map(|piece| piece.entries).collect();
    Some(Encoded { head: writer.into_bytes(), parts, contents, fingerprints })
}

/// The encoded fields of consecutive records.
#[derive(Default)]
struct Piece<'r> {
    nodes: Vec<u32>,
    flags: Vec<u8>,
    /// Borrowed where they are encoded already.
    entries: Cow<'r, [u8]>,
    entry_ends: Vec<u32>,
    checksums: Vec<u32>,
    problems: BlobList,
    targets: BlobList,
    passes: BlobList,
    takes: BlobList,
    fingerprints: Vec<RecordFingerprints>,
    pairs: Vec<(RecordId, u32)>,
}

impl<'r> Piece<'r> {
    /// An empty piece with capacity for these records.
    fn of(part: &RecordsPart<'r>) -> Self {
        let count = part.len();
        let list = || BlobList::with_capacity(count);
        Self {
            nodes: Vec::with_capacity(count),
            flags: Vec::with_capacity(count),
            entries: if part.entries.is_empty() { Cow::Owned(Vec::new()) } else { Cow::Borrowed(part.entries) },
            entry_ends: Vec::with_capacity(count),
            checksums: Vec::with_capacity(count),
            problems: list(),
            targets: list(),
            passes: list(),
            takes: list(),
            fingerprints: Vec::with_capacity(count),
            pairs: Vec::new(),
        }
    }

    fn push(
        &mut self,
        record: Record<'_>,
        fingerprints_of: &impl Fn(Record<'_>, u64) -> RecordFingerprints,
    ) -> Option<()> {
        let file = record.file;
        self.nodes.push(record.node().unwrap_or(NodeIndex::NONE).0);
        self.flags.push(flags(record));
        let entry = match &mut self.entries {
            Cow::Borrowed(_) => file.entry?,
            Cow::Owned(bytes) => append_entry(file, bytes)?,
        };
        self.entry_ends.push(self.entry_ends.last().copied().unwrap_or(0).checked_add(entry.length)?);
        self.checksums.push(entry.checksum);
        if !(file.problems.is_empty() && file.request_problems.is_empty()) {
            append(&(&file.problems, &file.request_problems), &mut self.problems.bytes)?;
        }
        self.problems.end();
        record.targets().for_each(|target| self.targets.u32(target.0));
        self.targets.end();
        record.passes_to(&mut self.pairs);
        push_pairs(&mut self.passes, &self.pairs);
        record.takes_from(&mut self.pairs);
        push_pairs(&mut self.takes, &self.pairs);
        self.fingerprints.push(fingerprints_of(record, entry.facts));
        Some(())
    }
}

fn push_pairs(list: &mut BlobList, pairs: &[(RecordId, u32)]) {
    for (file, name) in pairs {
        list.u32(file.0);
        list.u32(*name);
    }
    list.end();
}

fn flags(record: Record<'_>) -> u8 {
    (if record.in_universe() { UNIVERSE } else { 0 })
        | (if record.file.incomplete { INCOMPLETE } else { 0 })
        | (if record.file.facts.is_some() { HAS_FACTS } else { 0 })
        | (if record.file.meta.is_some() { HAS_META } else { 0 })
}

fn write_records(writer: &mut SectionWriter, pieces: &[Piece<'_>], problems: &[Problem]) -> Option<()> {
    let lists = |list: for<'p> fn(&'p Piece<'_>) -> &'p BlobList| pieces.iter().map(list).collect::<Vec<_>>();
    writer.u32_pieces(pieces.iter().map(|piece| piece.nodes.as_slice()));
    writer.blob_pieces(pieces.iter().map(|piece| piece.flags.as_slice()));
    writer.ends(&pieces.iter().map(|piece| piece.entry_ends.as_slice()).collect::<Vec<_>>())?;
    writer.u32_pieces(pieces.iter().map(|piece| piece.checksums.as_slice()));
    writer.blob_lists(&lists(|piece| &piece.problems))?;
    writer.blob_lists(&lists(|piece| &piece.targets))?;
    writer.blob_lists(&lists(|piece| &piece.passes))?;
    writer.blob_lists(&lists(|piece| &piece.takes))?;
    writer.blob(&postcard::to_stdvec(problems).ok()?);
    Some(())
}

/// The metas and the shape of a graph, with the end offset of each part.
struct EncodedGraph {
    writer: SectionWriter,
    metas_end: usize,
    shape_end: usize,
}

/// Writes the graph to a buffer with `room` for the records.
fn write_graph(graph: &Graph, room: usize) -> EncodedGraph {
    let nodes = graph.nodes();
    let mut writer = SectionWriter::with_capacity(nodes.len() * (META_LENGTH + 64) + room);
    nodes.iter().for_each(|node| writer.raw(&meta_bytes(node.file)));
    let metas_end = writer.len();
    writer.blobs(nodes.iter().map(|node| node.id.as_bytes()));
    writer.blob(&nodes.iter().map(|node| node.kind as u8).collect::<Vec<_>>());
    let flags =
        |node: &Node| (if node.file.is_some() { HAS_META } else { 0 }) | (if node.outside_root { OUTSIDE } else { 0 });
    writer.blob(&nodes.iter().map(flags).collect::<Vec<_>>());
    writer.blobs(nodes.iter().map(|node| node.description.as_deref().unwrap_or("").as_bytes()));
    let mut ends = Vec::with_capacity(nodes.len());
    let mut targets = Vec::new();
    let mut kinds = Vec::new();
    for index in graph.indices() {
        for edge in graph.edges(index) {
            targets.push(edge.target);
            kinds.push((edge.kind as u8) << 1 | edge.resolution as u8);
        }
        ends.push(u32::try_from(targets.len()).unwrap_or(u32::MAX));
    }
    writer.u32_pieces([ends.as_slice()].into_iter());
    writer.u32_pieces([targets.as_slice()].into_iter());
    writer.blob(&kinds);
    let shape_end = writer.len();
    EncodedGraph { writer, metas_end, shape_end }
}

/// Appends serialised bytes to a buffer. postcard's own flavour for this uses an iterator, which is slower.
struct Append<'b>(&'b mut Vec<u8>);

impl Flavor for Append<'_> {
    type Output = ();

    fn try_push(&mut self, byte: u8) -> postcard::Result<()> {
        self.0.push(byte);
        Ok(())
    }

    fn try_extend(&mut self, bytes: &[u8]) -> postcard::Result<()> {
        self.0.extend_from_slice(bytes);
        Ok(())
    }

    fn finalize(self) -> postcard::Result<()> {
        Ok(())
    }
}

fn append(value: &impl Serialize, bytes: &mut Vec<u8>) -> Option<()> {
    postcard::serialize_with_flavor(value, Append(bytes)).ok()
}

/// All fields of the facts except the description: only these can change edges, of this file or of others.
fn append_links(facts: &FileFacts, bytes: &mut Vec<u8>) -> Option<()> {
    let FileFacts { requests, globs, imports, exports, stars, description: _, package, declares, uses, scopes } = facts;
    append(&(requests, globs, imports, exports, stars, (package, declares, uses, scopes)), bytes)
}

fn links_fingerprint(bytes: &[u8]) -> u64 {
    xxh3_64(bytes).max(1)
}

/// Hash of everything in facts that other files and the graph's edges can depend on. Never 0.
pub(crate) fn facts_fingerprint(facts: &FileFacts) -> u64 {
    let mut bytes = Vec::new();
    append_links(facts, &mut bytes);
    links_fingerprint(&bytes)
}
