//! Strict reading of JSON documents: every finding is kept, with its JSON Pointer and the entry around it.
//!
//! What a document means is up to the module that reads it. Nothing is repaired here.

use std::borrow::Cow;

use super::error::{DocumentError, DocumentPlace};
use crate::jcs;
use crate::json::{JsonKind, JsonTree, NodeId};

/// A hostile document can hold millions of mistakes; no user reads more than this many.
const MAX_ERRORS: usize = 100;

/// How much of a value is shown in a finding, in bytes.
const MAX_SHOWN: usize = 160;

/// A document that is valid JSON, and the findings about it so far.
pub struct DocumentReader<'a> {
    tree: JsonTree<'a>,
    file: &'a str,
    errors: Vec<DocumentError>,
    left_out: usize,
}

/// The path to a value. It lives on the stack and is rendered only when there is something to report.
#[derive(Clone, Copy)]
pub struct Pointer<'p> {
    parent: Option<&'p Pointer<'p>>,
    token: Token<'p>,
}

#[derive(Clone, Copy)]
enum Token<'p> {
    Key(&'p str),
    Index(usize),
}

impl Pointer<'static> {
    pub const ROOT: Self = Self { parent: None, token: Token::Key("") };
}

impl<'p> Pointer<'p> {
    pub fn key(&'p self, key: &'p str) -> Pointer<'p> {
        Pointer { parent: Some(self), token: Token::Key(key) }
    }

    pub fn index(&'p self, index: usize) -> Pointer<'p> {
        Pointer { parent: Some(self), token: Token::Index(index) }
    }

    /// The pointer in RFC 6901 syntax.
    pub fn render(&self) -> String {
        let Some(parent) = self.parent else { return String::new() };
        // Documents nest four levels at most, so this recursion is as deep as the code that built the pointer.
        let mut text = parent.render();
        text.push('/');
        match self.token {
            Token::Key(key) => text.push_str(&jcs::escape_pointer_token(key)),
            Token::Index(index) => text.push_str(&index.to_string()),
        }
        text
    }
}

impl<'a> DocumentReader<'a> {
    /// Reads a text. A byte order mark is accepted, because some editors always write one.
    pub fn parse(bytes: &'a [u8], file: &'a str) -> Result<Self, Vec<DocumentError>> {
        let text = bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(bytes);
        let tree = JsonTree::parse(text).map_err(|error| {
            let place = DocumentPlace::Line { line: error.line, column: error.column };
            let message = format!("not JSON: {}", error.message);
            vec![DocumentError { file: file.to_owned(), place, message, shown: None }]
        })?;
        Ok(Self { tree, file, errors: Vec::new(), left_out: 0 })
    }

    pub fn tree(&self) -> &JsonTree<'a> {
        &self.tree
    }

    pub fn file(&self) -> &'a str {
        self.file
    }

    /// Reports a value that is not as expected. `around` is the entry to show.
    pub fn expected(&mut self, pointer: &Pointer<'_>, what: &str, found: NodeId, around: Option<NodeId>) {
        if self.has_room() {
            let message = format!("expected {what}, found {}", self.excerpt(found));
            let shown = around.filter(|around| *around != found).map(|around| self.excerpt(around));
            self.push(pointer, message, shown);
        }
    }

    /// Reports any other finding.
    pub fn wrong(&mut self, pointer: &Pointer<'_>, message: impl Into<String>, around: Option<NodeId>) {
        if self.has_room() {
            let shown = around.map(|around| self.excerpt(around));
            self.push(pointer, message.into(), shown);
        }
    }

    pub fn has_errors(&self) -> bool {
        !self.errors.is_empty()
    }

    /// All findings, in document order.
    pub fn into_errors(mut self) -> Vec<DocumentError> {
        if self.left_out > 0 {
            let message = format!("{} more problems are not shown; fix those above first", self.left_out);
            let file = self.file.to_owned();
            self.errors.push(DocumentError { file, place: DocumentPlace::Rest, message, shown: None });
        }
        self.errors
    }

    /// The values of the known keys of an object. Unknown and repeated keys, and values that are not objects, are
    /// reported.
    pub fn fields<const N: usize>(
        &mut self,
        id: NodeId,
        pointer: &Pointer<'_>,
        known: [&str; N],
    ) -> Option<[Option<NodeId>; N]> {
        if self.tree.kind(id) != JsonKind::Object {
            self.expected(pointer, "an object", id, None);
            return None;
        }
        let mut values = [None; N];
        let mut odd: Vec<(Cow<'a, str>, bool)> = Vec::new();
        for (key, value) in self.tree.fields(id) {
            let name = self.tree.string(key).unwrap_or_default();
            let slot = known.iter().zip(&mut values).find_map(|(known, slot)| (*known == name).then_some(slot));
            match slot {
                Some(slot) if slot.is_none() => *slot = Some(value),
                slot if odd.len() <= MAX_ERRORS => odd.push((name, slot.is_some())),
                _ => {}
            }
        }
        for (name, is_known) in odd {
            let message = if is_known {
                format!("the key {} is there twice", quoted(&name))
            } else {
                let known = known.map(quoted).join(", ");
                format!("unknown key {}; the known ones are {known}", quoted(&name))
            };
            self.wrong(&pointer.key(&name), message, None);
        }
        Some(values)
    }

    /// The contents of a string. Reports any other value.
    pub fn string(&mut self, id: NodeId, pointer: &Pointer<'_>, what: &str, around: NodeId) -> Option<Cow<'a, str>> {
        let text = self.tree.string(id);
        if text.is_none() {
            self.expected(pointer, what, id, Some(around));
        }
        text
    }

    /// A whole number of 0 or more; beyond `u64` it saturates. `None` otherwise, which the caller reports.
    pub fn whole_number(&self, id: NodeId) -> Option<u64> {
        let text = self.tree.text(id);
        match self.tree.kind(id) {
            JsonKind::Integer if text.starts_with('-') => None,
            JsonKind::Integer => Some(text.parse().unwrap_or(u64::MAX)),
            // Writers of some languages spell whole numbers as `2.0`. The cast saturates.
            JsonKind::Double => {
                text.parse::<f64>().ok().filter(|number| *number >= 0.0 && number.fract() == 0.0).map(|n| n as u64)
            }
            _ => None,
        }
    }

    /// A whole number of 0 or more that the text spells exactly. `None` otherwise, which the caller reports.
    pub fn exact_number(&self, id: NodeId) -> Option<u64> {
        match self.tree.kind(id) {
            JsonKind::Integer => self.tree.text(id).parse().ok(),
            JsonKind::Double => self.whole_number(id).filter(|number| *number <= jcs::MAX_SAFE_INTEGER),
            _ => None,
        }
    }

    /// A value as minified JSON, truncated if it is long.
    pub fn excerpt(&self, id: NodeId) -> String {
        // Do not even copy a value that is much longer than what will be shown.
        let source = self.tree.text(id);
        if source.len() > MAX_SHOWN * 8 {
            return cut(source[..source.floor_char_boundary(MAX_SHOWN + 4)].to_owned());
        }
        let mut out = Vec::new();
        self.tree.write_canonical(id, &mut out);
        cut(String::from_utf8(out).unwrap_or_default())
    }

    fn has_room(&mut self) -> bool {
        let has_room = self.errors.len() < MAX_ERRORS;
        self.left_out += usize::from(!has_room);
        has_room
    }

    fn push(&mut self, pointer: &Pointer<'_>, message: String, shown: Option<String>) {
        let place = DocumentPlace::Pointer(pointer.render());
        self.errors.push(DocumentError { file: self.file.to_owned(), place, message, shown });
    }
}

/// A text as a JSON string, truncated if it is long. Escapes control characters, so that a hostile document cannot send them to a
/// terminal.
pub fn quoted(text: &str) -> String {
    let mut out = Vec::new();
    let end = text.floor_char_boundary(MAX_SHOWN);
    jcs::write_string(&text[..end], &mut out);
    let mut quoted = String::from_utf8(out).unwrap_or_default();
    if end < text.len() {
        quoted.push('…');
    }
    quoted
}

fn cut(mut text: String) -> String {
    if text.len() > MAX_SHOWN {
        text.truncate(text.floor_char_boundary(MAX_SHOWN));
        text.push('…');
    }
    text
}
