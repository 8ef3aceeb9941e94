//! `dependency.state.json`: the selection that an assistant writes (spec 20 §2). Read strictly, migrated from v1, written as v2.
//! How a selection is resolved is up to `stan_graph::select`.

use std::borrow::Cow;

use super::error::DocumentError;
use super::node_id::normalise_node_id;
use super::read::{DocumentReader, Pointer};
use crate::json::{JsonKind, NodeId};
use crate::untrusted::write_json_string;

/// Every edge kind: runtime 1, type 2, dynamic 4.
pub const ALL_KINDS: u8 = 7;

/// One node, and how far its dependencies are followed.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Entry {
    pub node: String,
    /// How many edges are followed. Numbers that do not fit saturate, which means the same: everything.
    pub depth: u32,
    /// Which edges are followed; 0 selects the node alone.
    pub mask: u8,
}

impl Entry {
    /// The node without dependencies, written as a bare string.
    pub fn node(id: impl Into<String>) -> Self {
        Self { node: id.into(), depth: 0, mask: ALL_KINDS }
    }

    pub fn new(id: impl Into<String>, depth: u32, mask: u8) -> Self {
        Self { node: id.into(), depth, mask }
    }
}

/// What is included, and what is excluded even if something else includes it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct State {
    pub include: Vec<Entry>,
    pub exclude: Vec<Entry>,
}

/// The schema version of a document.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StateVersion {
    /// `{include, exclude?}` with names of kinds; rewritten as v2 before it is archived.
    V1,
    V2,
}

/// A parsed selection, and remarks about its syntax.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DecodedState {
    pub state: State,
    pub version: StateVersion,
    /// A v2 document that uses `include` or `exclude` instead of `i` or `x`.
    pub uses_aliases: bool,
    /// Whole lines, in document order.
    pub warnings: Vec<String>,
}

/// Reads a selection and returns all findings. `file` is only the name for them.
pub fn decode(bytes: &[u8], file: &str) -> Result<DecodedState, Vec<DocumentError>> {
    let mut decoder = Decoder { reader: DocumentReader::parse(bytes, file)?, warnings: Vec::new() };
    let decoded = decoder.document();
    match decoded {
        Some(decoded) if !decoder.reader.has_errors() => Ok(decoded),
        _ => Err(decoder.reader.into_errors()),
    }
}

impl State {
    /// The document: v2, minified, a newline at the end, every entry in its shortest form.
    pub fn encode(&self) -> Vec<u8> {
        let mut out = b"{\"v\":2,\"i\":[".to_vec();
        write_entries(&self.include, &mut out);
        if !self.exclude.is_empty() {
            out.extend_from_slice(b"],\"x\":[");
            write_entries(&self.exclude, &mut out);
        }
        out.extend_from_slice(b"]}\n");
        out
    }
}

/// The bits of an edge kind's name in v1 documents.
pub fn kind_bit(name: &str) -> Option<u8> {
    match name {
        "runtime" => Some(1),
        "type" => Some(2),
        "dynamic" => Some(4),
        _ => None,
    }
}

struct Decoder<'a> {
    reader: DocumentReader<'a>,
    warnings: Vec<String>,
}

/// The name of a list in the document, and its entries.
struct List {
    key: &'static str,
    value: NodeId,
}

impl Decoder<'_> {
    fn document(&mut self) -> Option<DecodedState> {
        let root = self.reader.tree().root();
        let top = Pointer::ROOT;
        let [version, short_include, short_exclude, long_include, long_exclude] =
            self.reader.fields(root, &top, ["v", "i", "x", "include", "exclude"])?;
        let has_long = long_include.is_some() || long_exclude.is_some();
        let version = self.version(version, has_long);
        if version == Some(StateVersion::V1) {
            for (key, value, long) in [("i", short_include, "include"), ("x", short_exclude, "exclude")] {
                if value.is_some() {
                    let message = format!("`{key}` is a key of version 2: write \"v\":2, or `{long}` for version 1");
                    self.reader.wrong(&top.key(key), message, None);
                }
            }
        }
        let include = self.one_of([("i", short_include), ("include", long_include)]);
        let exclude = self.one_of([("x", short_exclude), ("exclude", long_exclude)]);
        if include.is_none() {
            self.reader.wrong(&top, "the list `i` is missing: {\"v\":2,\"i\":[]} selects nothing", None);
        }
        // Entries of an unknown version are read as v2, so that their mistakes are found in the same run.
        let reads_names = version == Some(StateVersion::V1);
        let include = include.map_or(Vec::new(), |list| self.entries(&list, reads_names));
        let exclude = exclude.map_or(Vec::new(), |list| self.entries(&list, reads_names));
        let version = version?;
        Some(DecodedState {
            state: State { include, exclude },
            version,
            uses_aliases: version == StateVersion::V2 && has_long,
            warnings: std::mem::take(&mut self.warnings),
        })
    }

    fn version(&mut self, value: Option<NodeId>, has_long: bool) -> Option<StateVersion> {
        let pointer = Pointer::ROOT.key("v");
        let Some(value) = value else {
            if !has_long {
                self.reader.wrong(&Pointer::ROOT, "the version is missing: write \"v\":2", None);
            }
            return has_long.then_some(StateVersion::V1);
        };
        match self.reader.whole_number(value) {
            Some(1) => Some(StateVersion::V1),
            Some(2) => Some(StateVersion::V2),
            _ => {
                self.reader.expected(&pointer, "the version 2", value, None);
                None
            }
        }
    }

    fn one_of(&mut self, [short, long]: [(&'static str, Option<NodeId>); 2]) -> Option<List> {
        if short.1.is_some() && long.1.is_some() {
            let message = format!("`{}` and `{}` mean the same: keep one of them", short.0, long.0);
            self.reader.wrong(&Pointer::ROOT.key(long.0), message, None);
        }
        [short, long].into_iter().find_map(|(key, value)| Some(List { key, value: value? }))
    }

    fn entries(&mut self, list: &List, reads_names: bool) -> Vec<Entry> {
        let pointer = Pointer::ROOT.key(list.key);
        if self.reader.tree().kind(list.value) != JsonKind::Array {
            self.reader.expected(&pointer, "a list of entries", list.value, None);
            return Vec::new();
        }
        let items: Vec<NodeId> = self.reader.tree().items(list.value).collect();
        let mut entries = Vec::with_capacity(items.len());
        for (index, item) in items.into_iter().enumerate() {
            entries.extend(self.entry(item, &pointer.index(index), reads_names));
        }
        entries
    }

    fn entry(&mut self, id: NodeId, pointer: &Pointer<'_>, reads_names: bool) -> Option<Entry> {
        if self.reader.tree().is_string(id) {
            return Some(Entry::node(self.node(id, pointer, id)?));
        }
        let parts: Vec<NodeId> = self.reader.tree().items(id).take(4).collect();
        let (node, depth, mask) = match *parts.as_slice() {
            [node] => (node, None, None),
            [node, depth] => (node, Some(depth), None),
            [node, depth, mask] => (node, Some(depth), Some(mask)),
            _ => {
                let third = if reads_names { "kinds" } else { "kindMask" };
                let what = format!("a node id or [nodeId, depth, {third}]");
                self.reader.expected(pointer, &what, id, None);
                return None;
            }
        };
        // Each part is checked before any error returns, so that one run shows every mistake.
        let node = self.node(node, &pointer.index(0), id);
        let depth = depth.map_or(Some(0), |depth| self.depth(depth, &pointer.index(1), id));
        let mask = mask.map_or(Some(ALL_KINDS), |mask| {
            let pointer = pointer.index(2);
            if reads_names { self.kind_names(mask, &pointer, id) } else { self.mask(mask, &pointer, id) }
        });
        Some(Entry { node: node?, depth: depth?, mask: mask? })
    }

    fn node(&mut self, id: NodeId, pointer: &Pointer<'_>, entry: NodeId) -> Option<String> {
        let text = self.reader.string(id, pointer, "a node id as a string", entry)?;
        match normalise_node_id(&text).map(Cow::into_owned) {
            Ok(node) => Some(node),
            Err(error) => {
                self.reader.expected(pointer, &error.to_string(), id, Some(entry));
                None
            }
        }
    }

    fn depth(&mut self, id: NodeId, pointer: &Pointer<'_>, entry: NodeId) -> Option<u32> {
        let Some(depth) = self.reader.whole_number(id) else {
            let is_fraction =
                self.reader.tree().kind(id) == JsonKind::Double && !self.reader.tree().text(id).starts_with('-');
            let what = if is_fraction { "a whole number as depth" } else { "a depth of 0 or more" };
            self.reader.expected(pointer, what, id, Some(entry));
            return None;
        };
        Some(u32::try_from(depth).unwrap_or(u32::MAX))
    }

    fn mask(&mut self, id: NodeId, pointer: &Pointer<'_>, entry: NodeId) -> Option<u8> {
        let Some(mask) = self.reader.whole_number(id) else {
            let what = if self.reader.tree().kind(id) == JsonKind::Array {
                "a mask (runtime 1, type 2, dynamic 4; kind names belong to version 1)"
            } else {
                "a mask of runtime 1, type 2, dynamic 4"
            };
            self.reader.expected(pointer, what, id, Some(entry));
            return None;
        };
        let known = (mask & u64::from(ALL_KINDS)) as u8;
        if mask != u64::from(known) {
            let (file, place) = (self.reader.file(), pointer.render());
            let number = self.reader.excerpt(id);
            self.warnings.push(format!("`{file}` at {place}: the bits above 7 of the mask {number} mean nothing"));
        }
        Some(known)
    }

    fn kind_names(&mut self, id: NodeId, pointer: &Pointer<'_>, entry: NodeId) -> Option<u8> {
        let names: Vec<NodeId> = self.reader.tree().items(id).collect();
        if names.is_empty() {
            let what = "a list of \"runtime\", \"type\" or \"dynamic\" (a mask needs \"v\":2)";
            self.reader.expected(pointer, what, id, Some(entry));
            return None;
        }
        let mut mask = Some(0);
        for (index, name) in names.into_iter().enumerate() {
            let bit = self.reader.tree().string(name).and_then(|name| kind_bit(&name));
            if bit.is_none() {
                let what = "\"runtime\", \"type\" or \"dynamic\"";
                self.reader.expected(&pointer.index(index), what, name, Some(entry));
            }
            mask = mask.zip(bit).map(|(mask, bit)| mask | bit);
        }
        mask
    }
}

fn write_entries(entries: &[Entry], out: &mut Vec<u8>) {
    for (index, entry) in entries.iter().enumerate() {
        if index > 0 {
            out.push(b',');
        }
        let Entry { node, depth, mask } = entry;
        if (*depth, *mask) == (0, ALL_KINDS) {
            write_json_string(node, out);
            continue;
        }
        out.push(b'[');
        write_json_string(node, out);
        out.extend_from_slice(format!(",{depth}").as_bytes());
        if *mask != ALL_KINDS {
            out.extend_from_slice(format!(",{mask}").as_bytes());
        }
        out.push(b']');
    }
}

#[cfg(test)]
mod tests;
