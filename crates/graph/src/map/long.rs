//! Parses a long-form graph (`nodes` and `edges` as objects, seed 002) into a [`Map`], so that one traversal serves both formats.
//!
//! Ids are not validated as paths: they may be raw paths of files outside the repository, but such a map is never written.

use std::borrow::Cow;

use stan_model::document::DocumentError;
use stan_model::document::read::{DocumentReader, Pointer, quoted};
use stan_model::document::state::kind_bit;
use stan_model::json::{JsonKind, NodeId};
use stan_model::{Digest, NodeKind};

use super::decode::{index_of, sorted_fields};
use super::id_index::IdIndex;
use super::{HashPrefix, Map, MapBuilder, MapEdge, Record};

pub(super) fn decode(bytes: &[u8], file: &str) -> Result<Map, Vec<DocumentError>> {
    let mut reader = DocumentReader::parse(bytes, file)?;
    let map = document(&mut reader);
    match map {
        Some(map) if !reader.has_errors() => Ok(map),
        _ => Err(reader.into_errors()),
    }
}

fn document(reader: &mut DocumentReader<'_>) -> Option<Map> {
    let (top, root) = (Pointer::ROOT, reader.tree().root());
    if reader.tree().field(root, "graph").is_none() {
        return graph(reader, root, &top);
    }
    let [inner, _, _] = reader.fields(root, &top, ["graph", "stats", "errors"])?;
    graph(reader, inner?, &top.key("graph"))
}

fn graph(reader: &mut DocumentReader<'_>, id: NodeId, pointer: &Pointer<'_>) -> Option<Map> {
    let [nodes, edges] = reader.fields(id, pointer, ["nodes", "edges"])?;
    let (Some(nodes), Some(edges)) = (nodes, edges) else {
        reader.wrong(pointer, "a graph has the keys `nodes` and `edges`", None);
        return None;
    };
    let (at_nodes, at_edges) = (pointer.key("nodes"), pointer.key("edges"));
    let nodes = sorted_fields(reader, nodes, &at_nodes);
    let edges = sorted_fields(reader, edges, &at_edges);
    let indices = index_of(&nodes);
    for (id, _) in edges.iter().filter(|(id, _)| indices.find(id).is_none()) {
        reader.wrong(&at_edges.key(id), format!("{} is not a node of this graph", quoted(id)), None);
    }
    let mut builder = MapBuilder::default();
    // Both lists are sorted by id, so one pass assigns the edges to the nodes.
    let mut edges = edges.iter().peekable();
    for (id, node) in &nodes {
        let pointer = at_nodes.key(id);
        if id.is_empty() || id.contains('\0') {
            reader.wrong(&pointer, "a node id is not empty and has no NUL character", None);
        }
        let (record, description) = read_node(reader, *node, &pointer)?;
        builder.node(record, &description);
        while edges.next_if(|(source, _)| source < id).is_some() {}
        if let Some((_, list)) = edges.next_if(|(source, _)| source == id) {
            read_edges(reader, *list, &at_edges.key(id), &indices, &mut builder);
        }
        builder.end_node();
    }
    // A duplicate node was reported above; a map cannot contain one.
    (!reader.has_errors()).then(|| builder.finish(indices.ids))
}

fn read_node(reader: &mut DocumentReader<'_>, node: NodeId, pointer: &Pointer<'_>) -> Option<(Record, String)> {
    let [kind, metadata, description, _, _] =
        reader.fields(node, pointer, ["kind", "metadata", "description", "id", "language"])?;
    let name = kind.and_then(|kind| reader.tree().string(kind));
    let found = match name.as_deref() {
        Some("source") => Some(NodeKind::Source),
        Some("external") => Some(NodeKind::External),
        Some("builtin") => Some(NodeKind::Builtin),
        Some("missing") => Some(NodeKind::Missing),
        _ => None,
    };
    if found.is_none() {
        let what = "\"source\", \"external\", \"builtin\" or \"missing\" as `kind`";
        reader.expected(&pointer.key("kind"), what, kind.unwrap_or(node), Some(node));
    }
    let description = description
        .and_then(|value| reader.string(value, &pointer.key("description"), "a text", value))
        .map_or_else(String::new, Cow::into_owned);
    let (size, hash) = metadata.map_or((None, None), |value| read_metadata(reader, value, &pointer.key("metadata")));
    Some((Record { kind: found.unwrap_or(NodeKind::Missing), size, hash }, description))
}

fn read_metadata(
    reader: &mut DocumentReader<'_>,
    metadata: NodeId,
    pointer: &Pointer<'_>,
) -> (Option<u64>, Option<HashPrefix>) {
    let Some([hash, size, _]) = reader.fields(metadata, pointer, ["hash", "size", "isOutsideRoot"]) else {
        return (None, None);
    };
    let size = size.and_then(|value| {
        let size = reader.exact_number(value);
        if size.is_none() {
            reader.expected(&pointer.key("size"), "a number of bytes", value, None);
        }
        size
    });
    let hash = hash.and_then(|value| {
        let digest = reader.tree().string(value).and_then(|text| Digest::from_hex(&text));
        if digest.is_none() {
            reader.expected(&pointer.key("hash"), "a SHA-256 of 64 lower-case hex digits", value, None);
        }
        digest.map(|digest| digest.prefix())
    });
    (size, hash)
}

fn read_edges(
    reader: &mut DocumentReader<'_>,
    list: NodeId,
    pointer: &Pointer<'_>,
    indices: &IdIndex,
    builder: &mut MapBuilder,
) {
    if reader.tree().kind(list) != JsonKind::Array {
        reader.expected(pointer, "a list of edges", list, None);
        return;
    }
    let items: Vec<NodeId> = reader.tree().items(list).collect();
    for (index, item) in items.into_iter().enumerate() {
        if let Some(edge) = read_edge(reader, item, &pointer.index(index), indices) {
            builder.edge(edge);
        }
    }
}

fn read_edge(
    reader: &mut DocumentReader<'_>,
    edge: NodeId,
    pointer: &Pointer<'_>,
    indices: &IdIndex,
) -> Option<MapEdge> {
    let [target, kind, resolution] = reader.fields(edge, pointer, ["target", "kind", "resolution"])?;
    let target_index = text_of(reader, target).and_then(|id| indices.find(&id));
    if target_index.is_none() {
        let what = "the id of a node of this graph as `target`";
        reader.expected(&pointer.key("target"), what, target.unwrap_or(edge), Some(edge));
    }
    let kinds = text_of(reader, kind).and_then(|name| kind_bit(&name));
    if kinds.is_none() {
        let what = "\"runtime\", \"type\" or \"dynamic\" as `kind`";
        reader.expected(&pointer.key("kind"), what, kind.unwrap_or(edge), Some(edge));
    }
    let resolutions = match (resolution, text_of(reader, resolution).as_deref()) {
        // Optional: no traversal reads it.
        (None, _) | (_, Some("explicit")) => Some(1),
        (_, Some("implicit")) => Some(2),
        (Some(value), _) => {
            let what = "\"explicit\" or \"implicit\" as `resolution`";
            reader.expected(&pointer.key("resolution"), what, value, Some(edge));
            None
        }
    };
    Some(MapEdge { target: target_index?, kinds: kinds?, resolutions: resolutions? })
}

fn text_of<'a>(reader: &DocumentReader<'a>, value: Option<NodeId>) -> Option<Cow<'a, str>> {
    reader.tree().string(value?)
}
