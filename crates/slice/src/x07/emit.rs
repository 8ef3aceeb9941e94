//! Writes pieces as canonical JSON or computes their length: both use the same traversal, so that the counted length is the
//! written one.

use std::borrow::Cow;

use stan_model::jcs;
use stan_model::json::{JsonTree, NodeId};
use stan_model::module::{Declaration, Field, FieldRole, Piece};

/// A destination of canonical JSON.
pub(crate) trait Sink {
    fn raw(&mut self, bytes: &[u8]);
    fn string(&mut self, text: &str);
    fn node(&mut self, tree: &JsonTree<'_>, id: NodeId);
    /// A pointer into the current declaration, given without the declaration's own pointer.
    fn own_pointer(&mut self, rest: &str);
}

/// Counts bytes, without the digits of the declaration's own index, which may still change.
pub(crate) struct Counter {
    pub(crate) declarations_key: &'static str,
    pub(crate) bytes: usize,
    pub(crate) own_pointers: usize,
}

impl Sink for Counter {
    fn raw(&mut self, bytes: &[u8]) {
        self.bytes += bytes.len();
    }

    fn string(&mut self, text: &str) {
        self.bytes += jcs::string_len(text);
    }

    fn node(&mut self, tree: &JsonTree<'_>, id: NodeId) {
        self.bytes += tree.canonical_len(id);
    }

    fn own_pointer(&mut self, rest: &str) {
        self.bytes += "//".len() + self.declarations_key.len() + jcs::string_len(rest);
        self.own_pointers += 1;
    }
}

/// Writes bytes.
pub(crate) struct SliceWriter {
    pub(crate) declarations_key: &'static str,
    pub(crate) out: Vec<u8>,
    /// The index of the current declaration.
    pub(crate) position: usize,
}

impl Sink for SliceWriter {
    fn raw(&mut self, bytes: &[u8]) {
        self.out.extend_from_slice(bytes);
    }

    fn string(&mut self, text: &str) {
        jcs::write_string(text, &mut self.out);
    }

    fn node(&mut self, tree: &JsonTree<'_>, id: NodeId) {
        tree.write_canonical(id, &mut self.out);
    }

    fn own_pointer(&mut self, rest: &str) {
        let pointer = format!("/{}/{}{rest}", self.declarations_key, self.position);
        jcs::write_string(&pointer, &mut self.out);
    }
}

/// The parts that are stripped from every declaration.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Strip {
    #[default]
    Nothing,
    /// Types and all contracts: used if types are omitted.
    TypesAndContracts,
}

impl Strip {
    pub(crate) fn strips(self, field: &Field<'_>) -> bool {
        match self {
            Self::Nothing => false,
            Self::TypesAndContracts => field.role == FieldRole::Type || field.role.is_contract(),
        }
    }
}

/// Changes to a declaration before it is written.
#[derive(Default)]
pub(crate) struct Changes<'a> {
    pub(crate) strip: Strip,
    /// Removed fields.
    pub(crate) removed: Vec<&'static str>,
    /// Fields with another value.
    pub(crate) replaced: Vec<(&'static str, Piece<'a>)>,
}

impl<'a> Changes<'a> {
    /// The value to write for a field; `None` if it is removed.
    pub(crate) fn apply<'c>(&'c self, field: &'c Field<'a>) -> Option<&'c Piece<'a>> {
        if self.strip.strips(field) || self.removed.contains(&field.key) {
            return None;
        }
        let replaced = self.replaced.iter().rev().find(|(key, _)| *key == field.key);
        Some(replaced.map_or(&field.value, |(_, value)| value))
    }
}

/// The exported names of an export that stay, and their key.
#[derive(Clone, Copy)]
pub(crate) struct KeptNames<'n, 'a> {
    pub(crate) key: &'static str,
    pub(crate) names: &'n [&'n Cow<'a, str>],
}

/// Writes one declaration. `kept` is set for an export.
pub(crate) fn declaration<'a>(
    sink: &mut dyn Sink,
    tree: &JsonTree<'_>,
    declaration: &Declaration<'a>,
    changes: &Changes<'a>,
    kept: Option<KeptNames<'_, 'a>>,
) {
    sink.raw(b"{");
    let mut separator = Separator::default();
    let mut pending = kept;
    for field in &declaration.fields {
        // Fields are sorted by key, and so is the list of names among them.
        if pending.is_some_and(|kept| kept.key < field.key) {
            write_names(sink, &mut separator, pending.take());
        }
        let Some(value) = changes.apply(field) else { continue };
        separator.write(sink);
        key(sink, field.key);
        piece(sink, tree, value, changes.strip);
    }
    write_names(sink, &mut separator, pending);
    sink.raw(b"}");
}

/// Writes one piece.
pub(crate) fn piece(sink: &mut dyn Sink, tree: &JsonTree<'_>, value: &Piece<'_>, strip: Strip) {
    match value {
        Piece::Node(id) => sink.node(tree, *id),
        Piece::Text(text) => sink.string(text),
        Piece::Zero => sink.raw(b"0"),
        Piece::OwnPointer(rest) => sink.own_pointer(rest),
        Piece::List(items) | Piece::Call(items) => {
            sink.raw(b"[");
            let mut separator = Separator::default();
            for item in items {
                separator.write(sink);
                piece(sink, tree, item, strip);
            }
            sink.raw(b"]");
        }
        Piece::Record(fields) => {
            sink.raw(b"{");
            let mut separator = Separator::default();
            for field in fields.iter().filter(|field| !strip.strips(field)) {
                separator.write(sink);
                key(sink, field.key);
                piece(sink, tree, &field.value, strip);
            }
            sink.raw(b"}");
        }
    }
}

pub(crate) fn key(sink: &mut dyn Sink, key: &str) {
    sink.string(key);
    sink.raw(b":");
}

/// Writes a comma before every item but the first.
#[derive(Default)]
pub(crate) struct Separator {
    is_later: bool,
}

impl Separator {
    pub(crate) fn write(&mut self, sink: &mut dyn Sink) {
        if std::mem::replace(&mut self.is_later, true) {
            sink.raw(b",");
        }
    }
}

fn write_names(sink: &mut dyn Sink, separator: &mut Separator, kept: Option<KeptNames<'_, '_>>) {
    let Some(KeptNames { key: names_key, names }) = kept else { return };
    separator.write(sink);
    key(sink, names_key);
    sink.raw(b"[");
    let mut inner = Separator::default();
    for name in names {
        inner.write(sink);
        sink.string(name);
    }
    sink.raw(b"]");
}
