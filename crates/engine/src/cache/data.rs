//! The large half of the cache: the graph and the facts of every file, in flat sections that are read in place. Written by
//! `encode.rs`.

use std::borrow::Cow;
use std::ops::RangeInclusive;
use std::sync::atomic::{AtomicBool, Ordering};

use rayon::prelude::*;
use stan_graph::{Edge, FileMeta, Graph, Node};
use stan_model::FileFacts;
use stan_model::{Digest, EdgeKind, Language, NodeKind, Problem, Resolution};
use xxhash_rust::xxh3::xxh3_64;

use super::bytes::{Blobs, SectionReader, U32s};
use super::ids::{NodeIndex, RecordId};

pub(super) const UNIVERSE: u8 = 1;
pub(super) const INCOMPLETE: u8 = 2;
pub(super) const HAS_FACTS: u8 = 4;
pub(super) const HAS_META: u8 = 8;
pub(super) const OUTSIDE: u8 = 16;

/// The parts of the data file, in file order. Each can be loaded without the others before and after it: an unchanged run needs
/// the graph alone, an incremental update everything but the contents.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum DataPart {
    /// Digests and sizes of the graph's nodes.
    Metas,
    /// The rest of the graph.
    Shape,
    Records,
    /// The entries of all files: digest, size and facts.
    Contents,
}

impl DataPart {
    pub(crate) const COUNT: usize = 4;
    pub(crate) const GRAPH: RangeInclusive<Self> = Self::Metas..=Self::Shape;
    pub(crate) const ALL: RangeInclusive<Self> = Self::Metas..=Self::Contents;

    /// Its position in the file.
    pub(super) const fn index(self) -> usize {
        self as usize
    }
}

/// Reads the graph from the two parts that hold nothing else.
pub(crate) fn decode_graph(metas: &[u8], shape: &[u8]) -> Option<Graph> {
    let mut reader = SectionReader::new(shape);
    let graph = StoredGraph::read(metas, &mut reader)?;
    if reader.is_empty() { graph.decode() } else { None }
}

/// The data of an earlier run.
pub(crate) struct Data<'b> {
    graph: StoredGraph<'b>,
    nodes: U32s<'b>,
    flags: &'b [u8],
    /// End offset and checksum of each file's contents.
    entry_ends: U32s<'b>,
    entry_checksums: U32s<'b>,
    contents: Contents<'b>,
    problems: Blobs<'b>,
    targets: Blobs<'b>,
    /// See `passed_names`.
    passes: Blobs<'b>,
    /// See `taken_names`.
    takes: Blobs<'b>,
    general: &'b [u8],
}

/// Digest, size and facts of every file: all in memory, or read on demand.
pub(crate) enum Contents<'b> {
    Whole(&'b [u8]),
    OnDemand(&'b (dyn ReadContents + 'b)),
}

/// Reads a piece of the contents. The caller verifies its checksum.
pub(crate) trait ReadContents: Sync {
    fn read(&self, offset: usize, length: usize) -> Option<Vec<u8>>;
}

/// Used instead of the hash of a name: any name that a module exports.
pub(crate) const ANY_NAME: u32 = u32::MAX;

struct StoredGraph<'b> {
    ids: Blobs<'b>,
    kinds: &'b [u8],
    flags: &'b [u8],
    descriptions: Blobs<'b>,
    metas: &'b [u8],
    ends: U32s<'b>,
    edge_targets: U32s<'b>,
    edge_kinds: &'b [u8],
}

impl<'b> Data<'b> {
    /// `metas` may be empty when the graph is not needed.
    pub(crate) fn decode(metas: &'b [u8], shape: &'b [u8], records: &'b [u8], contents: Contents<'b>) -> Option<Self> {
        let mut shape = SectionReader::new(shape);
        let graph = StoredGraph::read(metas, &mut shape)?;
        let mut reader = SectionReader::new(records);
        let data = Self {
            graph,
            contents,
            nodes: reader.u32s()?,
            flags: reader.blob()?,
            entry_ends: reader.u32s()?,
            entry_checksums: reader.u32s()?,
            problems: reader.blobs()?,
            targets: reader.blobs()?,
            passes: reader.blobs()?,
            takes: reader.blobs()?,
            general: reader.blob()?,
        };
        (shape.is_empty() && reader.is_empty()).then_some(data)
    }

    pub(crate) fn len(&self) -> usize {
        self.nodes.len()
    }

    pub(crate) fn is_in_universe(&self, file: RecordId) -> bool {
        self.flags.get(file.index()).is_some_and(|flags| flags & UNIVERSE != 0)
    }

    pub(crate) fn is_incomplete(&self, file: RecordId) -> bool {
        self.flags.get(file.index()).is_some_and(|flags| flags & INCOMPLETE != 0)
    }

    pub(crate) fn meta(&self, file: RecordId) -> Option<FileMeta> {
        if self.flags.get(file.index())? & HAS_META == 0 {
            return None;
        }
        file_meta(self.entry(file)?.get(..META_LENGTH)?)
    }

    /// The encoded digest, size and facts of a file.
    fn entry(&self, file: RecordId) -> Option<Cow<'b, [u8]>> {
        let file = file.index();
        let start = if file == 0 { 0 } else { self.entry_ends.get(file - 1)? } as usize;
        let length = (self.entry_ends.get(file)? as usize).checked_sub(start)?;
        match &self.contents {
            Contents::Whole(bytes) => bytes.get(start..)?.get(..length).map(Cow::Borrowed),
            Contents::OnDemand(source) => {
                let entry = source.read(start, length)?;
                (entry_checksum(&entry) == self.entry_checksums.get(file)?).then_some(Cow::Owned(entry))
            }
        }
    }

    pub(crate) fn has_facts(&self, file: RecordId) -> bool {
        self.flags.get(file.index()).is_some_and(|flags| flags & HAS_FACTS != 0)
    }

    pub(crate) fn facts(&self, file: RecordId) -> Option<FileFacts> {
        if !self.has_facts(file) {
            return None;
        }
        decode_facts(self.entry(file)?.get(META_LENGTH..)?)
    }

    /// The heading of a document; `None` when the cache is damaged.
    pub(crate) fn heading(&self, file: RecordId) -> Option<Option<Box<str>>> {
        if self.has_facts(file) {
            return Some(None);
        }
        let entry = self.entry(file)?;
        match entry.get(META_LENGTH..)? {
            [] => Some(None),
            heading => postcard::from_bytes(heading).ok().map(Some),
        }
    }

    /// Problems of the file's text, then those of its requests.
    pub(crate) fn problems(&self, file: RecordId) -> Option<(Vec<Problem>, Vec<Problem>)> {
        let bytes = self.problems.get(file.index())?;
        if bytes.is_empty() { Some(Default::default()) } else { postcard::from_bytes(bytes).ok() }
    }

    /// For each request the file that it resolves to, `NONE` or `UNKNOWN`.
    pub(crate) fn targets(&self, file: RecordId) -> Option<Vec<RecordId>> {
        Some(u32s(self.targets.get(file.index())?).map(RecordId).collect())
    }

    /// The files whose exports a file passes on, each with the hash of the name, or [`ANY_NAME`].
    pub(crate) fn passed_names(&self, file: RecordId) -> Option<impl Iterator<Item = (RecordId, u32)>> {
        Some(u32_pairs(self.passes.get(file.index())?))
    }

    /// The files that a file takes names from, each with the hash of the name.
    pub(crate) fn taken_names(&self, file: RecordId) -> Option<impl Iterator<Item = (RecordId, u32)>> {
        Some(u32_pairs(self.takes.get(file.index())?))
    }

    pub(crate) fn records(&self) -> impl Iterator<Item = RecordId> + use<> {
        (0..self.len()).map(RecordId::at)
    }

    /// The node of a file that is one.
    pub(crate) fn node_of(&self, file: RecordId) -> Option<NodeIndex> {
        self.nodes.get(file.index()).map(NodeIndex).filter(|node| *node != NodeIndex::NONE)
    }

    /// For each node the record of its file, or `NONE`.
    pub(crate) fn records_by_node(&self) -> Vec<RecordId> {
        let mut records = vec![RecordId::NONE; self.graph.ids.len()];
        for (node, record) in self.nodes.iter().zip(self.records()) {
            if let Some(place) = records.get_mut(node as usize) {
                *place = record;
            }
        }
        records
    }

    pub(crate) fn general_problems(&self) -> Option<Vec<Problem>> {
        postcard::from_bytes(self.general).ok()
    }

    pub(crate) fn node_kind(&self, node: NodeIndex) -> Option<NodeKind> {
        self.graph.kinds.get(node.index()).and_then(|kind| node_kind(*kind))
    }

    pub(crate) fn node_id(&self, node: NodeIndex) -> Option<&'b str> {
        self.graph.ids.text(node.index())
    }

    /// The node with this id.
    pub(crate) fn find_node(&self, id: &str) -> Option<NodeIndex> {
        let (mut low, mut high) = (0, self.graph.ids.len());
        while low < high {
            let middle = low + (high - low) / 2;
            match self.graph.ids.get(middle)?.cmp(id.as_bytes()) {
                std::cmp::Ordering::Less => low = middle + 1,
                std::cmp::Ordering::Greater => high = middle,
                std::cmp::Ordering::Equal => return u32::try_from(middle).ok().map(NodeIndex),
            }
        }
        None
    }

    /// The edges of one node.
    pub(crate) fn edges(&self, node: NodeIndex) -> Option<Vec<Edge>> {
        let node = node.index();
        let start = if node == 0 { 0 } else { self.graph.ends.get(node - 1)? };
        (start as usize..self.graph.ends.get(node)? as usize).map(|index| self.graph.edge(index)).collect()
    }

    /// The in-degree of a node.
    pub(crate) fn edges_to(&self, node: NodeIndex) -> usize {
        self.graph.edge_targets.iter().filter(|target| *target == node.0).count()
    }

    pub(crate) fn graph(&self) -> Option<Graph> {
        self.graph.decode()
    }
}

/// Numbers in a blob of [`Data`].
fn u32s(bytes: &[u8]) -> impl Iterator<Item = u32> + '_ {
    bytes.as_chunks::<4>().0.iter().map(|chunk| u32::from_le_bytes(*chunk))
}

/// Files with names, in a blob of [`Data`].
fn u32_pairs(bytes: &[u8]) -> impl Iterator<Item = (RecordId, u32)> + '_ {
    let numbers = |chunk: &[u8; 8]| {
        let [a, b, c, d, e, f, g, h] = *chunk;
        (RecordId(u32::from_le_bytes([a, b, c, d])), u32::from_le_bytes([e, f, g, h]))
    };
    bytes.as_chunks::<8>().0.iter().map(numbers)
}

/// Digest and size.
pub(super) const META_LENGTH: usize = 40;

pub(super) fn meta_bytes(meta: Option<FileMeta>) -> [u8; META_LENGTH] {
    let mut bytes = [0; META_LENGTH];
    if let Some(meta) = meta {
        bytes[..32].copy_from_slice(&meta.digest.0);
        bytes[32..].copy_from_slice(&meta.size.to_le_bytes());
    }
    bytes
}

pub(super) fn file_meta(bytes: &[u8]) -> Option<FileMeta> {
    let (digest, size) = bytes.split_first_chunk::<32>()?;
    Some(FileMeta { digest: Digest(*digest), size: u64::from_le_bytes(size.try_into().ok()?) })
}

pub(super) fn entry_checksum(entry: &[u8]) -> u32 {
    xxh3_64(entry) as u32
}

fn decode_facts(bytes: &[u8]) -> Option<FileFacts> {
    let ((requests, globs, imports, exports, stars, names), rest) = postcard::take_from_bytes(bytes).ok()?;
    let (package, declares, uses, scopes) = names;
    let description = postcard::from_bytes(rest).ok()?;
    Some(FileFacts { requests, globs, imports, exports, stars, description, package, declares, uses, scopes })
}

impl<'b> StoredGraph<'b> {
    fn read(metas: &'b [u8], reader: &mut SectionReader<'b>) -> Option<Self> {
        Some(Self {
            metas,
            ids: reader.blobs()?,
            kinds: reader.blob()?,
            flags: reader.blob()?,
            descriptions: reader.blobs()?,
            ends: reader.u32s()?,
            edge_targets: reader.u32s()?,
            edge_kinds: reader.blob()?,
        })
    }

    fn edge(&self, index: usize) -> Option<Edge> {
        let code = *self.edge_kinds.get(index)?;
        let kind = match code >> 1 {
            0 => EdgeKind::Dynamic,
            1 => EdgeKind::Runtime,
            2 => EdgeKind::Type,
            _ => return None,
        };
        let resolution = if code & 1 == 0 { Resolution::Explicit } else { Resolution::Implicit };
        Some(Edge { target: self.edge_targets.get(index)?, kind, resolution })
    }

    fn decode(&self) -> Option<Graph> {
        let count = self.ids.len();
        // Each value is written directly to its slot. Collecting `Option`s in parallel would concatenate vectors instead.
        let is_damaged = AtomicBool::new(false);
        let node = |index: usize| {
            self.node(index).unwrap_or_else(|| {
                is_damaged.store(true, Ordering::Relaxed);
                Node::bare("".into(), NodeKind::Missing)
            })
        };
        let nodes = || (0..count).into_par_iter().with_min_len(1024).map(node).collect::<Vec<Node>>();
        let edges = || {
            let edges: Option<Vec<Edge>> = (0..self.edge_targets.len()).map(|index| self.edge(index)).collect();
            (edges, self.ends.iter().map(|end| end as usize).collect())
        };
        let (nodes, (edges, ends)) = rayon::join(nodes, edges);
        if is_damaged.into_inner() { None } else { Graph::from_parts(nodes, ends, edges?) }
    }

    fn node(&self, index: usize) -> Option<Node> {
        let id = self.ids.text(index)?;
        let kind = node_kind(*self.kinds.get(index)?)?;
        let flags = *self.flags.get(index)?;
        let is_file = matches!(kind, NodeKind::Source | NodeKind::External);
        let description = self.descriptions.text(index)?;
        let file = file_meta(self.metas.get(index * META_LENGTH..)?.get(..META_LENGTH)?)?;
        Some(Node {
            id: id.into(),
            kind,
            language: if is_file { Language::of_path(id) } else { Language::Other },
            description: (!description.is_empty()).then(|| description.into()),
            file: (flags & HAS_META != 0).then_some(file),
            outside_root: flags & OUTSIDE != 0,
        })
    }
}

fn node_kind(code: u8) -> Option<NodeKind> {
    [NodeKind::Source, NodeKind::External, NodeKind::Builtin, NodeKind::Missing]
        .into_iter()
        .find(|kind| *kind as u8 == code)
}
