//! Writes a value of a [`JsonTree`] as canonical JSON (RFC 8785), or computes the length of that.

use std::borrow::Cow;

use crate::jcs::{self, JcsError, MAX_SAFE_INTEGER};

use super::{JsonKind, JsonTree, NodeId};

impl JsonTree<'_> {
    /// Appends the canonical form of a value. Integers must have passed [`JsonTree::check_integers`].
    pub fn write_canonical(&self, id: NodeId, out: &mut Vec<u8>) {
        match self.kind(id) {
            JsonKind::EscapedString => jcs::write_string(&self.string(id).unwrap_or_default(), out),
            JsonKind::Double => jcs::write_double(self.text(id).parse().unwrap_or(0.0), out),
            JsonKind::Array => {
                out.push(b'[');
                for (index, item) in self.items(id).enumerate() {
                    if index > 0 {
                        out.push(b',');
                    }
                    self.write_canonical(item, out);
                }
                out.push(b']');
            }
            JsonKind::Object => self.write_object(id, out),
            // Integers, words and plain strings have only one canonical spelling: their own.
            _ => out.extend_from_slice(self.text(id).as_bytes()),
        }
    }

    /// How many bytes [`JsonTree::write_canonical`] would append.
    pub fn canonical_len(&self, id: NodeId) -> usize {
        match self.kind(id) {
            JsonKind::Object | JsonKind::Double => {
                let mut out = Vec::new();
                self.write_canonical(id, &mut out);
                out.len()
            }
            JsonKind::EscapedString => jcs::string_len(&self.string(id).unwrap_or_default()),
            JsonKind::Array => self.flat_len(id).unwrap_or_else(|| {
                let mut items = 0_usize;
                let lengths = self.items(id).inspect(|_| items += 1).map(|item| self.canonical_len(item));
                let inside: usize = lengths.sum();
                inside + 2 + items.saturating_sub(1)
            }),
            _ => self.text(id).len(),
        }
    }

    /// Finds integers inside a value that canonical JSON cannot hold. `pointer` is the value's JSON Pointer.
    pub fn check_integers(&self, id: NodeId, pointer: &str) -> Result<(), JcsError> {
        match self.kind(id) {
            JsonKind::Integer => {
                let literal = self.text(id);
                let magnitude = literal.strip_prefix('-').unwrap_or(literal).parse::<u64>();
                if magnitude.is_ok_and(|magnitude| magnitude <= MAX_SAFE_INTEGER) {
                    return Ok(());
                }
                Err(JcsError::IntegerTooLarge { literal: literal.to_owned(), pointer: pointer.to_owned() })
            }
            JsonKind::Array => self
                .items(id)
                .enumerate()
                .try_for_each(|(index, item)| self.check_inside(item, pointer, &index.to_string())),
            JsonKind::Object => self.fields(id).try_for_each(|(key, value)| {
                let key = self.string(key).unwrap_or_default();
                self.check_inside(value, pointer, &jcs::escape_pointer_token(&key))
            }),
            _ => Ok(()),
        }
    }

    /// The length of a tree of arrays and simple scalars (as expressions are), in one pass without recursion.
    fn flat_len(&self, id: NodeId) -> Option<usize> {
        let range = id.0 as usize..self.node(id).next(id.0) as usize;
        let (mut length, mut separators) = (0, range.len() - 1);
        for (node, index) in self.nodes.get(range)?.iter().zip(id.0..) {
            match node.kind {
                JsonKind::Array => {
                    length += 2;
                    // No comma before the first value of a list.
                    separators -= usize::from(node.extent > index + 1);
                }
                JsonKind::EscapedString => length += jcs::string_len(&self.string(NodeId(index))?),
                JsonKind::Object | JsonKind::Double => return None,
                _ => length += node.extent as usize,
            }
        }
        Some(length + separators)
    }

    fn check_inside(&self, id: NodeId, pointer: &str, token: &str) -> Result<(), JcsError> {
        // Build pointers only for containers and invalid numbers: most values are neither.
        match self.kind(id) {
            JsonKind::Integer | JsonKind::Array | JsonKind::Object => {
                self.check_integers(id, &format!("{pointer}/{token}"))
            }
            _ => Ok(()),
        }
    }

    fn write_object(&self, id: NodeId, out: &mut Vec<u8>) {
        let mut fields: Vec<(Cow<'_, str>, NodeId)> =
            self.fields(id).map(|(key, value)| (self.string(key).unwrap_or_default(), value)).collect();
        // The sort is stable, so the last of equal keys wins.
        fields.sort_by(|left, right| jcs::compare_keys(&left.0, &right.0));
        out.push(b'{');
        let mut is_first = true;
        for (index, (key, value)) in fields.iter().enumerate() {
            if fields.get(index + 1).is_some_and(|(next, _)| next == key) {
                continue;
            }
            if !std::mem::take(&mut is_first) {
                out.push(b',');
            }
            jcs::write_string(key, out);
            out.push(b':');
            self.write_canonical(*value, out);
        }
        out.push(b'}');
    }
}

/// Indents minified JSON by two spaces and changes nothing else. Ends with a newline.
pub fn indented_json(minified: &[u8]) -> Vec<u8> {
    let text = minified.trim_ascii();
    let mut out = Vec::with_capacity(text.len() * 2);
    let (mut depth, mut in_string, mut is_escaped) = (0_usize, false, false);
    let line = |out: &mut Vec<u8>, depth: usize| {
        out.push(b'\n');
        out.extend(std::iter::repeat_n(b' ', 2 * depth));
    };
    for (at, &byte) in text.iter().enumerate() {
        if in_string {
            out.push(byte);
            (in_string, is_escaped) = (is_escaped || byte != b'"', byte == b'\\' && !is_escaped);
            continue;
        }
        let is_empty = |close: u8| text.get(at + 1) == Some(&close);
        match byte {
            b'"' => {
                in_string = true;
                out.push(byte);
            }
            b'{' | b'[' => {
                out.push(byte);
                depth += 1;
                if !is_empty(if byte == b'{' { b'}' } else { b']' }) {
                    line(&mut out, depth);
                }
            }
            b'}' | b']' => {
                depth = depth.saturating_sub(1);
                if !matches!(out.last(), Some(b'{' | b'[')) {
                    line(&mut out, depth);
                }
                out.push(byte);
            }
            b',' => {
                out.push(byte);
                line(&mut out, depth);
            }
            b':' => out.extend_from_slice(b": "),
            // Drop existing white space: this function writes its own.
            b' ' | b'\n' | b'\r' | b'\t' => {}
            other => out.push(other),
        }
    }
    out.push(b'\n');
    out
}

#[cfg(test)]
mod tests {
    use super::indented_json;

    #[test]
    fn indenting_adds_white_space_alone() {
        let minified = br#"{"v":2,"i":["a\"{,b",["c",1]],"x":[],"y":{}}"#;
        let expected = "{\n  \"v\": 2,\n  \"i\": [\n    \"a\\\"{,b\",\n    [\n      \"c\",\n      1\n    ]\n  ],\n  \"x\": [],\n  \"y\": {}\n}\n";
        let indented = indented_json(minified);
        assert_eq!(String::from_utf8_lossy(&indented), expected);
        assert_eq!(indented_json(&indented), indented);
    }
}
