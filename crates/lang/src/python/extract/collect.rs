//! Collects extraction results on their way to `FileFacts`: requests are unique and in source order, names sorted.
//!
//! All text is stored in one buffer until the syntax tree is dropped. Facts live until the end of the run: if they were allocated
//! among the nodes of the tree, they would fragment the memory that the next tree could reuse.

use std::hash::BuildHasher as _;
use std::ops::Range;

use rustc_hash::{FxBuildHasher, FxHashMap};
use stan_model::facts::{Export, ExportSource, ImportedName, Request};
use stan_model::{EdgeKind, FileFacts};

use crate::line_counter::LineCounter;
use crate::python::form::Form;

/// With fewer requests, a linear search is faster than a hash table.
const MIN_HASHED_REQUESTS: usize = 16;

#[derive(Default)]
pub(super) struct Collector {
    buffer: String,
    requests: Vec<Raw>,
    /// Requests by the hash of their key. Linear probing: on a collision, the next free hash is used.
    by_hash: FxHashMap<u64, u32>,
    imports: Vec<RawImport>,
    exports: Vec<(Piece, RawSource)>,
    stars: Vec<u32>,
}

/// A range of the buffer.
#[derive(Clone, Copy)]
struct Piece {
    start: usize,
    end: usize,
}

impl Piece {
    fn of(self, buffer: &str) -> &str {
        buffer.get(Range { start: self.start, end: self.end }).unwrap_or_default()
    }
}

struct Raw {
    specifier: Piece,
    kind: EdgeKind,
    form: Form,
    position: u32,
}

/// See [`ImportedName`].
struct RawImport {
    request: u32,
    name: Piece,
    kind: EdgeKind,
}

/// The origin of an exported name, see [`ExportSource`].
#[derive(Clone, Copy)]
pub(super) enum Offered<'n> {
    Local,
    Name { request: u32, name: &'n str },
    Namespace { request: u32 },
}

#[derive(Clone, Copy)]
enum RawSource {
    Local,
    Name { request: u32, name: Piece },
    Namespace { request: u32 },
}

impl RawSource {
    fn of(self, buffer: &str) -> Offered<'_> {
        match self {
            Self::Local => Offered::Local,
            Self::Name { request, name } => Offered::Name { request, name: name.of(buffer) },
            Self::Namespace { request } => Offered::Namespace { request },
        }
    }
}

impl<'n> Offered<'n> {
    /// The same order as that of [`ExportSource`].
    fn rank(self) -> (u8, u32, &'n str) {
        match self {
            Self::Local => (0, 0, ""),
            Self::Name { request, name } => (1, request, name),
            Self::Namespace { request } => (2, request, ""),
        }
    }

    fn owned(self) -> ExportSource {
        match self {
            Self::Local => ExportSource::Local,
            Self::Name { request, name } => ExportSource::Name { request, name: name.into() },
            Self::Namespace { request } => ExportSource::Namespace { request },
        }
    }
}

impl Collector {
    /// Records a request, whose specifier is given in parts. Returns its number and whether it is new.
    pub(super) fn request(&mut self, position: u32, specifier: &[&str], kind: EdgeKind, form: Form) -> (u32, bool) {
        let start = self.buffer.len();
        specifier.iter().for_each(|part| self.buffer.push_str(part));
        let specifier = Piece { start, end: self.buffer.len() };
        let next = self.requests.len() as u32;
        if let Some(known) = self.known(specifier, kind, form) {
            // The text was only needed for the comparison.
            self.buffer.truncate(start);
            return (known, false);
        }
        self.requests.push(Raw { specifier, kind, form, position });
        (next, true)
    }

    /// The number of an equal request. If there is none, adds the next number to the table.
    fn known(&mut self, specifier: Piece, kind: EdgeKind, form: Form) -> Option<u32> {
        let Self { buffer, requests, by_hash, .. } = self;
        let is_same =
            |raw: &Raw| raw.kind == kind && raw.form == form && raw.specifier.of(buffer) == specifier.of(buffer);
        if requests.len() < MIN_HASHED_REQUESTS {
            return requests.iter().position(is_same).map(|at| at as u32);
        }
        let hash_of = |specifier: Piece, kind: EdgeKind, form: Form| {
            FxBuildHasher.hash_one((specifier.of(buffer), kind, form as u8))
        };
        // Filled on first use: most files have too few requests to need it.
        if by_hash.is_empty() {
            for (raw, number) in requests.iter().zip(0..) {
                let mut hash = hash_of(raw.specifier, raw.kind, raw.form);
                while by_hash.contains_key(&hash) {
                    hash = hash.wrapping_add(1);
                }
                by_hash.insert(hash, number);
            }
        }
        let mut hash = hash_of(specifier, kind, form);
        while let Some(number) = by_hash.get(&hash) {
            if requests.get(*number as usize).is_some_and(is_same) {
                return Some(*number);
            }
            hash = hash.wrapping_add(1);
        }
        by_hash.insert(hash, requests.len() as u32);
        None
    }

    fn piece(&mut self, text: &str) -> Piece {
        let start = self.buffer.len();
        self.buffer.push_str(text);
        Piece { start, end: self.buffer.len() }
    }

    /// Records an imported name of a new request. Tunnelling follows it to its definition.
    pub(super) fn take(&mut self, request: u32, name: &str, kind: EdgeKind) {
        let name = self.piece(name);
        self.imports.push(RawImport { request, name, kind });
    }

    pub(super) fn offer(&mut self, name: &str, source: Offered<'_>) {
        let name = self.piece(name);
        let source = match source {
            Offered::Local => RawSource::Local,
            Offered::Name { request, name } => RawSource::Name { request, name: self.piece(name) },
            Offered::Namespace { request } => RawSource::Namespace { request },
        };
        self.exports.push((name, source));
    }

    pub(super) fn star(&mut self, request: u32) {
        self.stars.push(request);
    }

    /// Must be called after the tree is dropped.
    pub(super) fn finish(mut self, text: &str) -> FileFacts {
        self.stars.sort_unstable();
        self.stars.dedup();
        let buffer = &*self.buffer;
        let key = |(name, source): &(Piece, RawSource)| (name.of(buffer), source.of(buffer).rank());
        self.exports.sort_unstable_by(|one, other| key(one).cmp(&key(other)));
        self.exports.dedup_by(|one, other| key(one) == key(other));
        let export = |(name, source): &(Piece, RawSource)| Export {
            name: name.of(buffer).into(),
            source: source.of(buffer).owned(),
        };
        let import = |import: &RawImport| ImportedName {
            request: import.request,
            name: import.name.of(buffer).into(),
            kind: import.kind,
        };
        FileFacts {
            requests: with_lines(&self.requests, buffer, text),
            imports: self.imports.iter().map(import).collect(),
            exports: self.exports.iter().map(export).collect(),
            stars: self.stars.as_slice().into(),
            ..FileFacts::default()
        }
    }
}

/// Requests are in source order, so that lines are counted in one pass.
fn with_lines(raw: &[Raw], buffer: &str, text: &str) -> Vec<Request> {
    let mut lines = LineCounter::new(text);
    let request = |raw: &Raw| Request {
        specifier: raw.specifier.of(buffer).into(),
        kind: raw.kind,
        form: raw.form.code(),
        line: lines.line_at(raw.position),
    };
    raw.iter().map(request).collect()
}
