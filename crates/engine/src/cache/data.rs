//! The large half of the cache: the graph and the facts of every file, in flat sections that are read in place.

use rayon::prelude::*;
use stan_graph::{Edge, FileMeta, Graph, Node};
use stan_lang::FileFacts;
use stan_model::{Digest, EdgeKind, Language, NodeKind, Problem, Resolution};

use super::bytes::{Blobs, Reader, U32s, Writer};
use crate::graph::record::Record;

/// No node, or no file.
pub(crate) const NONE: u32 = u32::MAX;
/// A file that the earlier run did not look into.
pub(crate) const UNKNOWN: u32 = u32::MAX - 1;

const UNIVERSE: u8 = 1;
const INCOMPLETE: u8 = 2;
const HAS_FACTS: u8 = 4;
const HAS_META: u8 = 8;
const OUTSIDE: u8 = 16;

/// Writes the graph; and the records with the problems that belong to no single file.
pub(crate) fn encode(graph: &Graph, records: &[Record], problems: &[Problem]) -> Option<(Vec<u8>, Vec<u8>)> {
    let mut graph_part = Writer::default();
    write_graph(&mut graph_part, graph);
    let mut record_part = Writer::default();
    write_records(&mut record_part, records)?;
    record_part.blob(&postcard::to_stdvec(problems).ok()?);
    Some((graph_part.into_bytes(), record_part.into_bytes()))
}

/// Reads the graph from the part that holds nothing else.
pub(crate) fn decode_graph(bytes: &[u8]) -> Option<Graph> {
    let mut reader = Reader::new(bytes);
    let graph = StoredGraph::read(&mut reader)?;
    if reader.is_empty() { graph.decode() } else { None }
}

/// The data of an earlier run.
pub(crate) struct Data<'b> {
    graph: StoredGraph<'b>,
    pub(crate) nodes: U32s<'b>,
    flags: &'b [u8],
    digests: &'b [u8],
    sizes: Blobs<'b>,
    facts: Blobs<'b>,
    problems: Blobs<'b>,
    targets: Blobs<'b>,
    /// For each file the files whose exports it passes on.
    pub(crate) passes: Blobs<'b>,
    /// For each file the files that it takes names from, each followed by what stands for the name.
    pub(crate) takes: Blobs<'b>,
    general: &'b [u8],
}

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
    pub(crate) fn decode(bytes: &'b [u8]) -> Option<Self> {
        let mut reader = Reader::new(bytes);
        let graph = StoredGraph::read(&mut reader)?;
        let data = Self {
            graph,
            nodes: reader.u32s()?,
            flags: reader.blob()?,
            digests: reader.blob()?,
            sizes: reader.blobs()?,
            facts: reader.blobs()?,
            problems: reader.blobs()?,
            targets: reader.blobs()?,
            passes: reader.blobs()?,
            takes: reader.blobs()?,
            general: reader.blob()?,
        };
        reader.is_empty().then_some(data)
    }

    pub(crate) fn len(&self) -> usize {
        self.nodes.len()
    }

    pub(crate) fn is_in_universe(&self, file: usize) -> bool {
        self.flags.get(file).is_some_and(|flags| flags & UNIVERSE != 0)
    }

    pub(crate) fn is_incomplete(&self, file: usize) -> bool {
        self.flags.get(file).is_some_and(|flags| flags & INCOMPLETE != 0)
    }

    pub(crate) fn meta(&self, file: usize) -> Option<FileMeta> {
        let digest = self.digests.get(file * 32..file * 32 + 32)?.try_into().ok()?;
        let size = u64::from_le_bytes(self.sizes.get(file)?.try_into().ok()?);
        (self.flags.get(file)? & HAS_META != 0).then_some(FileMeta { digest: Digest(digest), size })
    }

    pub(crate) fn has_facts(&self, file: usize) -> bool {
        self.flags.get(file).is_some_and(|flags| flags & HAS_FACTS != 0)
    }

    pub(crate) fn facts(&self, file: usize) -> Option<FileFacts> {
        self.has_facts(file).then(|| postcard::from_bytes(self.facts.get(file)?).ok()).flatten()
    }

    /// Problems of the file's text, then those of its requests.
    pub(crate) fn problems(&self, file: usize) -> Option<(Vec<Problem>, Vec<Problem>)> {
        let bytes = self.problems.get(file)?;
        if bytes.is_empty() { Some(Default::default()) } else { postcard::from_bytes(bytes).ok() }
    }

    /// For each request the file that it leads to, [`NONE`] or [`UNKNOWN`].
    pub(crate) fn targets(&self, file: usize) -> Option<Vec<u32>> {
        Some(u32s(self.targets.get(file)?).collect())
    }

    pub(crate) fn general_problems(&self) -> Option<Vec<Problem>> {
        postcard::from_bytes(self.general).ok()
    }

    pub(crate) fn node_count(&self) -> usize {
        self.graph.ids.len()
    }

    pub(crate) fn node_kind(&self, node: u32) -> Option<NodeKind> {
        self.graph.kinds.get(node as usize).and_then(|kind| node_kind(*kind))
    }

    pub(crate) fn node_id(&self, node: u32) -> Option<&'b str> {
        self.graph.ids.text(node as usize)
    }

    /// The node with this id.
    pub(crate) fn find_node(&self, id: &str) -> Option<u32> {
        let (mut low, mut high) = (0, self.graph.ids.len());
        while low < high {
            let middle = low + (high - low) / 2;
            match self.graph.ids.get(middle)?.cmp(id.as_bytes()) {
                std::cmp::Ordering::Less => low = middle + 1,
                std::cmp::Ordering::Greater => high = middle,
                std::cmp::Ordering::Equal => return u32::try_from(middle).ok(),
            }
        }
        None
    }

    /// The edges of one node.
    pub(crate) fn edges(&self, node: u32) -> Option<Vec<Edge>> {
        let node = node as usize;
        let start = if node == 0 { 0 } else { self.graph.ends.get(node - 1)? };
        (start as usize..self.graph.ends.get(node)? as usize).map(|index| self.graph.edge(index)).collect()
    }

    /// How many edges lead to a node.
    pub(crate) fn edges_to(&self, node: u32) -> usize {
        self.graph.edge_targets.iter().filter(|target| *target == node).count()
    }

    pub(crate) fn graph(&self) -> Option<Graph> {
        self.graph.decode()
    }
}

/// Numbers in a blob of [`Data`].
pub(crate) fn u32s(bytes: &[u8]) -> impl Iterator<Item = u32> + '_ {
    bytes.as_chunks::<4>().0.iter().map(|chunk| u32::from_le_bytes(*chunk))
}

/// Pairs of numbers in a blob of [`Data`].
pub(crate) fn u32_pairs(bytes: &[u8]) -> impl Iterator<Item = (u32, u32)> + '_ {
    let numbers = |chunk: &[u8; 8]| {
        let [a, b, c, d, e, f, g, h] = *chunk;
        (u32::from_le_bytes([a, b, c, d]), u32::from_le_bytes([e, f, g, h]))
    };
    bytes.as_chunks::<8>().0.iter().map(numbers)
}

fn u32_bytes(values: impl Iterator<Item = u32>) -> Vec<u8> {
    values.flat_map(u32::to_le_bytes).collect()
}

fn write_records(writer: &mut Writer, records: &[Record]) -> Option<()> {
    let flags = |record: &Record| {
        (if record.in_universe { UNIVERSE } else { 0 })
            | (if record.incomplete { INCOMPLETE } else { 0 })
            | (if record.facts.is_some() { HAS_FACTS } else { 0 })
            | (if record.meta.is_some() { HAS_META } else { 0 })
    };
    writer.u32s(records.iter().map(|record| record.node.unwrap_or(NONE)));
    writer.blob(&records.iter().map(flags).collect::<Vec<_>>());
    let digests: Vec<u8> =
        records.iter().flat_map(|record| record.meta.map_or([0; 32], |meta| meta.digest.0)).collect();
    writer.blob(&digests);
    let sizes: Vec<[u8; 8]> =
        records.iter().map(|record| record.meta.map_or(0, |meta| meta.size).to_le_bytes()).collect();
    writer.blobs(sizes.iter().map(|size| size.as_slice()));
    let facts = records
        .par_iter()
        .map(|record| record.facts.as_deref().map_or(Some(Vec::new()), |facts| postcard::to_stdvec(facts).ok()))
        .collect::<Option<Vec<_>>>()?;
    writer.blobs(facts.iter().map(Vec::as_slice));
    let problems = records
        .iter()
        .map(|record| match (record.problems.is_empty(), record.request_problems.is_empty()) {
            (true, true) => Some(Vec::new()),
            _ => postcard::to_stdvec(&(&record.problems, &record.request_problems)).ok(),
        })
        .collect::<Option<Vec<_>>>()?;
    writer.blobs(problems.iter().map(Vec::as_slice));
    let taken = |record: &Record| record.takes_from().into_iter().flat_map(|(file, name)| [file, name]).collect();
    for list in [|record: &Record| record.targets.clone(), Record::passes_to, taken] {
        let lists: Vec<Vec<u8>> = records.par_iter().map(|record| u32_bytes(list(record).into_iter())).collect();
        writer.blobs(lists.iter().map(Vec::as_slice));
    }
    Some(())
}

fn write_graph(writer: &mut Writer, graph: &Graph) {
    writer.blobs(graph.nodes().iter().map(|node| node.id.as_bytes()));
    writer.blob(&graph.nodes().iter().map(|node| node.kind as u8).collect::<Vec<_>>());
    let flags =
        |node: &Node| (if node.file.is_some() { HAS_META } else { 0 }) | (if node.outside_root { OUTSIDE } else { 0 });
    writer.blob(&graph.nodes().iter().map(flags).collect::<Vec<_>>());
    writer.blobs(graph.nodes().iter().map(|node| node.description.as_deref().unwrap_or("").as_bytes()));
    let mut metas = Vec::with_capacity(graph.node_count() * 40);
    for node in graph.nodes() {
        metas.extend(node.file.map_or([0; 32], |meta| meta.digest.0));
        metas.extend(node.file.map_or(0, |meta| meta.size).to_le_bytes());
    }
    writer.blob(&metas);
    let lists = || graph.indices().map(|index| graph.edges(index));
    let ends: Vec<u32> = lists()
        .scan(0u32, |end, edges| {
            *end = end.saturating_add(u32::try_from(edges.len()).unwrap_or(u32::MAX));
            Some(*end)
        })
        .collect();
    writer.u32s(ends.into_iter());
    writer.u32s(lists().flatten().map(|edge| edge.target).collect::<Vec<_>>().into_iter());
    writer.blob(&lists().flatten().map(|edge| (edge.kind as u8) << 1 | edge.resolution as u8).collect::<Vec<_>>());
}

impl<'b> StoredGraph<'b> {
    fn read(reader: &mut Reader<'b>) -> Option<Self> {
        Some(Self {
            ids: reader.blobs()?,
            kinds: reader.blob()?,
            flags: reader.blob()?,
            descriptions: reader.blobs()?,
            metas: reader.blob()?,
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
        let nodes = || (0..count).into_par_iter().with_min_len(1024).map(|index| self.node(index)).collect();
        let edges = || (0..self.edge_targets.len()).map(|index| self.edge(index)).collect();
        let (nodes, edges): (Option<Vec<Node>>, Option<Vec<Edge>>) = rayon::join(nodes, edges);
        let (nodes, edges) = (nodes?, edges?);
        let ends: Vec<usize> = self.ends.iter().map(|end| end as usize).collect();
        Graph::from_parts(nodes, ends, edges)
    }

    fn node(&self, index: usize) -> Option<Node> {
        let id = self.ids.text(index)?;
        let kind = node_kind(*self.kinds.get(index)?)?;
        let flags = *self.flags.get(index)?;
        let is_file = matches!(kind, NodeKind::Source | NodeKind::External);
        let description = self.descriptions.text(index)?;
        let meta = self.metas.get(index * 40..index * 40 + 40)?;
        let file = FileMeta {
            digest: Digest(meta[..32].try_into().ok()?),
            size: u64::from_le_bytes(meta[32..].try_into().ok()?),
        };
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
