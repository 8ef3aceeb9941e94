//! Writes a [`Map`] as `dependency.meta.json`, in the map's own order. Hidden characters of ids and descriptions are escaped, so
//! that an assistant sees them in the text; the parsed ids are unchanged.

use std::io::{self, Write};

use stan_model::NodeKind;
use stan_model::untrusted::write_json_string;

use super::{JsonStyle, Map, hash};

const FLUSH_AT: usize = 64 * 1024;

pub(super) fn write(map: &Map, out: &mut dyn Write, style: JsonStyle) -> io::Result<()> {
    let ids = QuotedIds::of(map);
    let mut text = Layout { buffer: Vec::with_capacity(FLUSH_AT + 4096), style, depth: 0, is_first: true };
    text.open(b'{');
    text.key("v");
    text.raw(b"2");
    text.key("n");
    text.open(b'{');
    for index in map.indices() {
        text.item();
        text.raw(ids.get(index));
        text.colon();
        write_node(&mut text, map, &ids, index);
        if text.buffer.len() >= FLUSH_AT {
            out.write_all(&text.buffer)?;
            text.buffer.clear();
        }
    }
    text.close(b'}');
    text.close(b'}');
    text.raw(b"\n");
    out.write_all(&text.buffer)?;
    out.flush()
}

fn write_node(text: &mut Layout, map: &Map, ids: &QuotedIds, index: u32) {
    text.open(b'{');
    text.key("k");
    text.number(match map.kind(index) {
        NodeKind::Source => 0,
        NodeKind::External => 1,
        NodeKind::Builtin => 2,
        NodeKind::Missing => 3,
    });
    if let Some(size) = map.size(index) {
        text.key("s");
        text.number(size);
    }
    if let Some(prefix) = map.hash(index) {
        text.key("h");
        text.raw(b"\"");
        text.raw(&hash::encode(prefix));
        text.raw(b"\"");
    }
    if let Some(description) = map.description(index) {
        text.key("d");
        write_json_string(description, &mut text.buffer);
    }
    let edges = map.edges(index);
    if !edges.is_empty() {
        text.key("e");
        text.open(b'[');
        for edge in edges {
            text.item();
            text.open(b'[');
            text.item();
            text.raw(ids.get(edge.target));
            text.item();
            text.number(u64::from(edge.kinds));
            if edge.resolutions != 1 {
                text.item();
                text.number(u64::from(edge.resolutions));
            }
            text.close(b']');
        }
        text.close(b']');
    }
    text.close(b'}');
}

/// Writes JSON with or without white space; there is no other difference.
struct Layout {
    buffer: Vec<u8>,
    style: JsonStyle,
    depth: usize,
    is_first: bool,
}

impl Layout {
    fn open(&mut self, bracket: u8) {
        self.buffer.push(bracket);
        self.depth += 1;
        self.is_first = true;
    }

    fn close(&mut self, bracket: u8) {
        self.depth -= 1;
        // No line break in an empty container: `{}`.
        if !std::mem::take(&mut self.is_first) {
            self.line();
        }
        self.buffer.push(bracket);
    }

    /// Called before each value of an array and each key of an object.
    fn item(&mut self) {
        if !std::mem::take(&mut self.is_first) {
            self.buffer.push(b',');
        }
        self.line();
    }

    fn key(&mut self, key: &str) {
        self.item();
        self.buffer.push(b'"');
        self.buffer.extend_from_slice(key.as_bytes());
        self.buffer.push(b'"');
        self.colon();
    }

    fn colon(&mut self) {
        self.buffer.push(b':');
        if self.style == JsonStyle::Indented {
            self.buffer.push(b' ');
        }
    }

    fn line(&mut self) {
        if self.style == JsonStyle::Indented {
            self.buffer.push(b'\n');
            self.buffer.resize(self.buffer.len() + 2 * self.depth, b' ');
        }
    }

    fn raw(&mut self, bytes: &[u8]) {
        self.buffer.extend_from_slice(bytes);
    }

    fn number(&mut self, number: u64) {
        if number < 10 {
            self.buffer.push(b'0' + number as u8);
        } else {
            self.buffer.extend_from_slice(number.to_string().as_bytes());
        }
    }
}

/// Every id as a JSON string, quoted once: each is written many times, mostly out of order.
struct QuotedIds {
    bytes: Vec<u8>,
    ends: Vec<usize>,
}

impl QuotedIds {
    fn of(map: &Map) -> Self {
        let mut quoted = Self { bytes: Vec::new(), ends: Vec::with_capacity(map.node_count()) };
        for index in map.indices() {
            write_json_string(map.id(index), &mut quoted.bytes);
            quoted.ends.push(quoted.bytes.len());
        }
        quoted
    }

    fn get(&self, index: u32) -> &[u8] {
        let index = index as usize;
        let start = if index == 0 { 0 } else { self.ends[index - 1] };
        &self.bytes[start..self.ends[index]]
    }
}
