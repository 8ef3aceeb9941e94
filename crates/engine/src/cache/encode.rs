//! Writes the large half of the cache: the graph and the facts of every file (`data.rs` reads them).
//!
//! The first run that a user meets writes this, so it has to be cheap: records are written in one pass, a range of them on each
//! thread, into few buffers that are copied once; nothing is allocated for single files.

use std::ops::Range;

use postcard::ser_flavors::Flavor;
use rayon::prelude::*;
use serde::Serialize;
use stan_graph::{Graph, Node};
use stan_model::{FileFacts, Problem};
use xxhash_rust::xxh3::xxh3_64;

use super::bytes::{BlobList, SectionWriter};
use super::data::{HAS_FACTS, HAS_META, INCOMPLETE, META_LENGTH, OUTSIDE, PARTS, UNIVERSE, entry_print, meta_bytes};
use super::ids::{NodeIndex, RecordId};
use crate::graph::record::{Record, Records};

/// How many records a thread writes at once.
const RANGE: usize = 512;

/// The usual size of a record in bytes, so that the buffer of all need not grow.
const USUAL_ENTRY: usize = 256;

/// The data file, and what the index says about each record.
pub(crate) struct Encoded {
    pub(crate) data: Vec<u8>,
    pub(crate) parts: [Range<usize>; PARTS],
    /// For each record what `look` made of it.
    pub(crate) prints: Vec<(u64, u64)>,
}

/// Writes the graph, the records, and the problems that belong to no single file. `look` gets each record with the fingerprint
/// of its facts, see [`facts_fingerprint`]; 0 for one without.
pub(crate) fn encode(
    graph: &Graph,
    records: &Records,
    problems: &[Problem],
    look: impl Fn(Record<'_>, u64) -> (u64, u64) + Sync,
) -> Option<Encoded> {
    let starts: Vec<usize> = (0..records.len()).step_by(RANGE).collect();
    let piece = |start: usize| {
        let mut piece = Piece::default();
        for record in records.range(start..(start + RANGE).min(records.len())) {
            piece.push(record, &look)?;
        }
        Some(piece)
    };
    let (head, pieces) = rayon::join(
        || write_graph(graph, records.len() * USUAL_ENTRY),
        || starts.into_par_iter().map(piece).collect::<Option<Vec<Piece>>>(),
    );
    let (mut writer, metas, shape) = head;
    let pieces = pieces?;
    write_records(&mut writer, &pieces, problems)?;
    let records_end = writer.len();
    pieces.iter().for_each(|piece| writer.raw(&piece.contents.bytes));
    let parts = [0..metas, metas..shape, shape..records_end, records_end..writer.len()];
    let prints = pieces.iter().flat_map(|piece| piece.prints.iter().copied()).collect();
    Some(Encoded { data: writer.into_bytes(), parts, prints })
}

/// What is written of some records.
#[derive(Default)]
struct Piece {
    nodes: Vec<u32>,
    flags: Vec<u8>,
    contents: BlobList,
    checksums: Vec<u32>,
    problems: BlobList,
    targets: BlobList,
    passes: BlobList,
    takes: BlobList,
    prints: Vec<(u64, u64)>,
    pairs: Vec<(RecordId, u32)>,
}

impl Piece {
    fn push(&mut self, record: Record<'_>, look: &impl Fn(Record<'_>, u64) -> (u64, u64)) -> Option<()> {
        let file = record.file;
        self.nodes.push(record.node().unwrap_or(NodeIndex::NONE).0);
        self.flags.push(flags(record));
        let start = self.contents.bytes.len();
        self.contents.bytes.extend_from_slice(&meta_bytes(file.meta));
        let mut print = 0;
        if let Some(facts) = record.facts() {
            append_links(facts, &mut self.contents.bytes)?;
            print = print_of_links(self.contents.bytes.get(start + META_LENGTH..)?);
            append(&facts.description, &mut self.contents.bytes)?;
        } else if let Some(heading) = &file.heading {
            append(heading, &mut self.contents.bytes)?;
        }
        self.checksums.push(entry_print(self.contents.bytes.get(start..)?));
        self.contents.end();
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
        self.prints.push(look(record, print));
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

fn write_records(writer: &mut SectionWriter, pieces: &[Piece], problems: &[Problem]) -> Option<()> {
    let lists = |list: fn(&Piece) -> &BlobList| pieces.iter().map(list).collect::<Vec<_>>();
    writer.u32_pieces(pieces.iter().map(|piece| piece.nodes.as_slice()));
    writer.blob_pieces(pieces.iter().map(|piece| piece.flags.as_slice()));
    writer.ends(&lists(|piece| &piece.contents))?;
    writer.u32_pieces(pieces.iter().map(|piece| piece.checksums.as_slice()));
    writer.blob_lists(&lists(|piece| &piece.problems))?;
    writer.blob_lists(&lists(|piece| &piece.targets))?;
    writer.blob_lists(&lists(|piece| &piece.passes))?;
    writer.blob_lists(&lists(|piece| &piece.takes))?;
    writer.blob(&postcard::to_stdvec(problems).ok()?);
    Some(())
}

/// The metas and the shape of the graph, in a buffer with room for what follows, and where each ends.
fn write_graph(graph: &Graph, room: usize) -> (SectionWriter, usize, usize) {
    let nodes = graph.nodes();
    let mut writer = SectionWriter::with_capacity(nodes.len() * (META_LENGTH + 64) + room);
    nodes.iter().for_each(|node| writer.raw(&meta_bytes(node.file)));
    let metas = writer.len();
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
    let shape = writer.len();
    (writer, metas, shape)
}

/// Appends to bytes that are there, without going through an iterator for each piece.
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

/// Everything in facts that other files and the graph's edges can depend on: all but the description.
fn append_links(facts: &FileFacts, bytes: &mut Vec<u8>) -> Option<()> {
    let FileFacts { requests, globs, imports, exports, stars, description: _, package, declares, uses, scopes } = facts;
    append(&(requests, globs, imports, exports, stars, (package, declares, uses, scopes)), bytes)
}

fn print_of_links(bytes: &[u8]) -> u64 {
    xxh3_64(bytes).max(1)
}

/// Hash of everything in facts that other files and the graph's edges can depend on. Never 0.
pub(crate) fn facts_fingerprint(facts: &FileFacts) -> u64 {
    let mut bytes = Vec::new();
    append_links(facts, &mut bytes);
    print_of_links(&bytes)
}
