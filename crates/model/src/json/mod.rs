//! Parses JSON into a flat tree that borrows from the text: 12 bytes per value, no allocation for strings.
//!
//! Parsing is strict, nesting is limited, and every value keeps its position. Not a general value type: it is immutable, which
//! keeps megabytes of syntax trees at a small multiple of the file size.

mod parse;
mod write;

use std::borrow::Cow;
use std::fmt;

pub use parse::MAX_DEPTH;
pub use write::indented_json;

/// The index of a value in its [`JsonTree`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct NodeId(u32);

/// The kind of a value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum JsonKind {
    Null,
    False,
    True,
    /// Without fraction and exponent, and not `-0`.
    Integer,
    /// Any other number; always finite.
    Double,
    /// A string whose text needs no decoding.
    PlainString,
    /// A string with escapes.
    EscapedString,
    Array,
    Object,
}

#[derive(Clone, Copy, Debug)]
struct Node {
    /// The byte offset in the source, quotes and brackets included.
    start: u32,
    /// The length of a scalar's text; for a container, the index after its last value.
    extent: u32,
    kind: JsonKind,
    /// A string of visible ASCII characters only, without escapes.
    is_word: bool,
}

impl Node {
    /// The index after the last value inside this one.
    fn next(self, index: u32) -> u32 {
        if matches!(self.kind, JsonKind::Array | JsonKind::Object) { self.extent } else { index + 1 }
    }
}

/// Why a text is not JSON, and where.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct JsonError {
    pub message: String,
    /// 1-based.
    pub line: usize,
    /// 1-based, in bytes.
    pub column: usize,
}

impl fmt::Display for JsonError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} at line {} column {}", self.message, self.line, self.column)
    }
}

impl std::error::Error for JsonError {}

/// A whole JSON text. The root is the first value.
pub struct JsonTree<'a> {
    source: &'a str,
    nodes: Vec<Node>,
}

impl<'a> JsonTree<'a> {
    /// Reads a text. Duplicate keys are kept; [`JsonTree::field`] finds the last one.
    pub fn parse(bytes: &'a [u8]) -> Result<Self, JsonError> {
        parse::parse(bytes)
    }

    pub fn root(&self) -> NodeId {
        NodeId(0)
    }

    pub fn kind(&self, id: NodeId) -> JsonKind {
        self.node(id).kind
    }

    /// The text of a scalar, exactly as written; for a container, the text up to its last value.
    pub fn text(&self, id: NodeId) -> &'a str {
        let node = self.node(id);
        let end = if matches!(node.kind, JsonKind::Array | JsonKind::Object) {
            let last = self.node(NodeId(node.extent.saturating_sub(1)));
            let is_empty = node.extent <= id.0 + 1 || matches!(last.kind, JsonKind::Array | JsonKind::Object);
            if is_empty { last.start + 1 } else { last.start + last.extent }
        } else {
            node.start + node.extent
        };
        self.source.get(node.start as usize..end as usize).unwrap_or_default()
    }

    /// The contents of a string, `None` for anything else.
    pub fn string(&self, id: NodeId) -> Option<Cow<'a, str>> {
        let text = self.text(id);
        let inner = text.get(1..text.len().saturating_sub(1)).unwrap_or_default();
        match self.kind(id) {
            JsonKind::PlainString => Some(Cow::Borrowed(inner)),
            JsonKind::EscapedString => Some(Cow::Owned(parse::decode(inner))),
            _ => None,
        }
    }

    pub fn is_string(&self, id: NodeId) -> bool {
        matches!(self.kind(id), JsonKind::PlainString | JsonKind::EscapedString)
    }

    /// Whether a value is a string of visible ASCII characters only, without escapes. O(1).
    pub fn is_plain_word(&self, id: NodeId) -> bool {
        self.node(id).is_word
    }

    /// The value of an integer that fits.
    pub fn integer(&self, id: NodeId) -> Option<i64> {
        (self.kind(id) == JsonKind::Integer).then(|| self.text(id).parse().ok()).flatten()
    }

    /// The values of an array; empty for other kinds.
    pub fn items(&self, id: NodeId) -> Children<'_> {
        self.children(id, JsonKind::Array)
    }

    /// The keys and values of an object, as written; empty for other kinds.
    pub fn fields(&self, id: NodeId) -> impl Iterator<Item = (NodeId, NodeId)> + '_ {
        let mut children = self.children(id, JsonKind::Object);
        std::iter::from_fn(move || Some((children.next()?, children.next()?)))
    }

    /// The value of a key in an object; of the last one when the key is repeated.
    pub fn field(&self, id: NodeId, key: &str) -> Option<NodeId> {
        self.fields(id).filter(|&(name, _)| self.key_is(name, key)).last().map(|(_, value)| value)
    }

    /// Resolves one unescaped token of a JSON Pointer.
    pub fn step(&self, id: NodeId, token: &str) -> Option<NodeId> {
        match self.kind(id) {
            JsonKind::Array => self.items(id).nth(array_index(token)?),
            JsonKind::Object => self.field(id, token),
            _ => None,
        }
    }

    /// This value and all values inside it, in text order. Keys count as values.
    pub fn descendants(&self, id: NodeId) -> impl Iterator<Item = NodeId> + use<> {
        (id.0..self.node(id).next(id.0)).map(NodeId)
    }

    /// The first value of an array.
    pub fn first_item(&self, id: NodeId) -> Option<NodeId> {
        self.items(id).next()
    }

    fn key_is(&self, name: NodeId, key: &str) -> bool {
        match self.kind(name) {
            JsonKind::PlainString => {
                let text = self.text(name).as_bytes();
                text.len() == key.len() + 2 && text.get(1..=key.len()) == Some(key.as_bytes())
            }
            _ => self.string(name).is_some_and(|text| text == key),
        }
    }

    fn children(&self, id: NodeId, kind: JsonKind) -> Children<'_> {
        let node = self.node(id);
        let end = if node.kind == kind { node.extent } else { 0 };
        Children { nodes: &self.nodes, next: id.0 + 1, end }
    }

    fn node(&self, id: NodeId) -> Node {
        // Ids come from this tree, so the fallback is unreachable, unless a caller mixes up two trees; that must not panic.
        self.nodes.get(id.0 as usize).copied().unwrap_or(Node {
            start: 0,
            extent: 0,
            kind: JsonKind::Null,
            is_word: false,
        })
    }
}

/// Walks over the values directly inside a container.
#[derive(Clone)]
pub struct Children<'t> {
    nodes: &'t [Node],
    next: u32,
    end: u32,
}

impl Iterator for Children<'_> {
    type Item = NodeId;

    fn next(&mut self) -> Option<NodeId> {
        if self.next >= self.end {
            return None;
        }
        let id = self.next;
        self.next = self.nodes.get(id as usize)?.next(id);
        Some(NodeId(id))
    }
}

/// An array index of RFC 6901: digits only, no sign, no leading zero.
pub fn array_index(token: &str) -> Option<usize> {
    let plain = token == "0" || (!token.starts_with('0') && !token.is_empty());
    (plain && token.bytes().all(|byte| byte.is_ascii_digit())).then(|| token.parse().ok()).flatten()
}

/// The tokens of a JSON Pointer, unescaped; `None` when it is neither empty nor starts with `/`.
pub fn pointer_tokens(pointer: &str) -> Option<Vec<String>> {
    if pointer.is_empty() {
        return Some(Vec::new());
    }
    let rest = pointer.strip_prefix('/')?;
    Some(rest.split('/').map(|token| token.replace("~1", "/").replace("~0", "~")).collect())
}

#[cfg(test)]
mod tests;
