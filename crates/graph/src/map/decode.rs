//! Parses `dependency.meta.json` into a [`Map`], strictly: everything unexpected is reported with its position, never skipped.

use std::borrow::Cow;

use stan_model::NodeKind;
use stan_model::document::read::{DocumentReader, Pointer, quoted};
use stan_model::document::{DocumentError, NodeIdError, check_node_id};
use stan_model::json::{JsonKind, NodeId};

use super::id_index::IdIndex;
use super::{Map, MapBuilder, MapEdge, Record, Texts, hash};

pub(super) fn decode(bytes: &[u8], file: &str) -> Result<Map, Vec<DocumentError>> {
    let mut decoder = Decoder {
        reader: DocumentReader::parse(bytes, file)?,
        builder: MapBuilder::default(),
        items: Vec::new(),
        targets: Targets::default(),
    };
    let ids = decoder.document();
    match ids {
        Some(ids) if !decoder.reader.has_errors() => Ok(decoder.builder.finish(ids)),
        _ => Err(decoder.reader.into_errors()),
    }
}

/// The keys and values of an object, sorted by key. Reports duplicate keys, and values that are not objects.
pub(super) fn sorted_fields<'a>(
    reader: &mut DocumentReader<'a>,
    object: NodeId,
    pointer: &Pointer<'_>,
) -> Vec<(Cow<'a, str>, NodeId)> {
    if reader.tree().kind(object) != JsonKind::Object {
        reader.expected(pointer, "an object", object, None);
        return Vec::new();
    }
    let tree = reader.tree();
    let mut fields: Vec<(Cow<'a, str>, NodeId)> =
        tree.fields(object).map(|(key, value)| (tree.string(key).unwrap_or_default(), value)).collect();
    // A stable sort, because that implementation detects sorted input: documents written by stan are sorted.
    fields.sort_by(|left, right| left.0.cmp(&right.0));
    if fields.len() >= u32::MAX as usize {
        reader.wrong(pointer, "more nodes than can be counted in 32 bits", None);
        return Vec::new();
    }
    for pair in fields.windows(2) {
        if let [(first, _), (second, _)] = pair
            && first == second
        {
            reader.wrong(&pointer.key(first), "this key is there twice", None);
        }
    }
    fields
}

/// An index over the keys of sorted fields.
pub(super) fn index_of(fields: &[(Cow<'_, str>, NodeId)]) -> IdIndex {
    let mut ids = Texts::default();
    fields.iter().for_each(|(id, _)| ids.push(id));
    IdIndex::of(ids)
}

struct Decoder<'a> {
    reader: DocumentReader<'a>,
    builder: MapBuilder,
    /// The edges of the current node; the buffer is reused between nodes.
    items: Vec<NodeId>,
    targets: Targets<'a>,
}

/// The target ids of one node's edges, and the index found for each.
#[derive(Default)]
struct Targets<'a> {
    ids: Vec<Cow<'a, str>>,
    scratch: Vec<(u64, u64)>,
    found: Vec<Option<u32>>,
}

impl<'a> Decoder<'a> {
    /// Reads all nodes and returns their ids.
    fn document(&mut self) -> Option<Texts> {
        let (top, root) = (Pointer::ROOT, self.reader.tree().root());
        let [version, nodes] = self.reader.fields(root, &top, ["v", "n"])?;
        match version {
            Some(version) if self.reader.whole_number(version) == Some(2) => {}
            Some(version) => self.reader.expected(&top.key("v"), "the version 2", version, None),
            None => {
                self.reader.wrong(&top, "the version is missing: `stan run --context --meta` writes a new map", None)
            }
        }
        let Some(nodes) = nodes else {
            self.reader.wrong(&top, "`n` is missing: `stan run --context --meta` writes a new map", None);
            return None;
        };
        let at_nodes = top.key("n");
        let fields = sorted_fields(&mut self.reader, nodes, &at_nodes);
        let indices = index_of(&fields);
        for (id, node) in &fields {
            self.node(id, *node, &at_nodes.key(id), &indices);
        }
        Some(indices.ids)
    }

    fn node(&mut self, id: &str, node: NodeId, pointer: &Pointer<'_>, indices: &IdIndex) {
        let Some([kind, size, hash, description, edges]) = self.reader.fields(node, pointer, ["k", "s", "h", "d", "e"])
        else {
            return;
        };
        let kind = self.kind(kind, node, pointer);
        self.check_id(id, kind, pointer);
        let size = size.and_then(|value| {
            let size = self.reader.exact_number(value);
            if size.is_none() {
                self.reader.expected(&pointer.key("s"), "a number of bytes", value, None);
            }
            size
        });
        let hash = hash.and_then(|value| {
            let hash = self.reader.tree().string(value).and_then(|text| hash::decode(&text));
            if hash.is_none() {
                self.reader.expected(&pointer.key("h"), "a hash of 22 base64url characters", value, None);
            }
            hash
        });
        let description = description.and_then(|value| self.reader.string(value, &pointer.key("d"), "a text", value));
        let record = Record { kind: kind.unwrap_or(NodeKind::Missing), size, hash };
        self.builder.node(record, description.as_deref().unwrap_or_default());
        if let Some(edges) = edges {
            self.edges(edges, &pointer.key("e"), indices);
        }
        if let Some(target) = self.builder.end_node() {
            let message = format!("the target {} is there twice", quoted(indices.ids.get(target as usize)));
            self.reader.wrong(&pointer.key("e"), message, None);
        }
    }

    fn kind(&mut self, value: Option<NodeId>, node: NodeId, pointer: &Pointer<'_>) -> Option<NodeKind> {
        let Some(value) = value else {
            self.reader.wrong(pointer, "`k` is missing", Some(node));
            return None;
        };
        let kind = match self.reader.whole_number(value) {
            Some(0) => Some(NodeKind::Source),
            Some(1) => Some(NodeKind::External),
            Some(2) => Some(NodeKind::Builtin),
            Some(3) => Some(NodeKind::Missing),
            _ => None,
        };
        if kind.is_none() {
            let what = "0 (source), 1 (external), 2 (builtin) or 3 (missing)";
            self.reader.expected(&pointer.key("k"), what, value, None);
        }
        kind
    }

    fn check_id(&mut self, id: &str, kind: Option<NodeKind>, pointer: &Pointer<'_>) {
        match check_node_id(id) {
            // The id of a missing node is its specifier, which may point outside the repository.
            Err(NodeIdError::Parent) if kind == Some(NodeKind::Missing) => {}
            // A file with such a name is a node, although no archive and no selection can contain it.
            Err(NodeIdError::Parent | NodeIdError::Absolute)
                if kind == Some(NodeKind::Source) && is_name_on_this_system(id) => {}
            Err(error) => {
                self.reader.wrong(pointer, format!("expected {error} as the key, found {}", quoted(id)), None)
            }
            Ok(()) => {}
        }
    }

    fn edges(&mut self, edges: NodeId, pointer: &Pointer<'_>, indices: &IdIndex) {
        if self.reader.tree().kind(edges) != JsonKind::Array {
            self.reader.expected(pointer, "a list of edges", edges, None);
            return;
        }
        let (mut items, mut targets) = (std::mem::take(&mut self.items), std::mem::take(&mut self.targets));
        items.clear();
        targets.ids.clear();
        for item in self.reader.tree().items(edges) {
            items.push(item);
            let target = self.reader.tree().first_item(item).and_then(|target| self.reader.tree().string(target));
            targets.ids.push(target.unwrap_or_default());
        }
        indices.find_all(&targets.ids, &mut targets.scratch, &mut targets.found);
        for (index, (item, target)) in items.iter().zip(&targets.found).enumerate() {
            if let Some(edge) = self.edge(*item, *target, &pointer.index(index)) {
                self.builder.edge(edge);
            }
        }
        (self.items, self.targets) = (items, targets);
    }

    fn edge(&mut self, edge: NodeId, found: Option<u32>, pointer: &Pointer<'_>) -> Option<MapEdge> {
        let mut parts = self.reader.tree().items(edge);
        let (Some(target), Some(kinds), resolutions, None) = (parts.next(), parts.next(), parts.next(), parts.next())
        else {
            self.reader.expected(pointer, "[target, kindMask] or [target, kindMask, resMask]", edge, None);
            return None;
        };
        if found.is_none() {
            self.reader.expected(&pointer.index(0), "the id of a node of this map", target, Some(edge));
        }
        let kinds = self.mask(kinds, 7, &pointer.index(1), edge)?;
        let resolutions = match resolutions {
            Some(value) => self.mask(value, 3, &pointer.index(2), edge)?,
            None => 1,
        };
        Some(MapEdge { target: found?, kinds, resolutions })
    }

    fn mask(&mut self, value: NodeId, most: u8, pointer: &Pointer<'_>, edge: NodeId) -> Option<u8> {
        let mask = self.reader.whole_number(value).and_then(|mask| u8::try_from(mask).ok());
        let mask = mask.filter(|mask| (1..=most).contains(mask));
        if mask.is_none() {
            self.reader.expected(pointer, &format!("a mask from 1 to {most}"), value, Some(edge));
        }
        mask
    }
}

/// Whether the name is an invalid path only on Windows: elsewhere, `..\x` and `C:/x` can be files below the root.
fn is_name_on_this_system(id: &str) -> bool {
    !cfg!(windows) && !id.starts_with('/') && id.split('/').all(|segment| segment != "..")
}
