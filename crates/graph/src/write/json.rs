//! The `result` object of spec 10 §1 as minified JSON. Strings are escaped as RFC 8785 does; the order of keys is
//! the specification's, not RFC 8785's.

use std::io::{self, Write};

use stan_model::{EdgeKind, NodeKind, Resolution};

use super::Sink;
use crate::cycles::Cycle;
use crate::graph::{Edge, Graph, Node};
use crate::query::Stats;

/// Writes `{"graph":…,"stats":…,"errors":…}` and a newline.
pub fn write_json(graph: &Graph, stats: &Stats, errors: &[String], out: &mut dyn Write) -> io::Result<()> {
    let ids = QuotedIds::of(graph);
    let mut sink = Sink::new(out);
    sink.text("{\"graph\":{\"nodes\":{");
    for (separator, index) in separators().zip(graph.indices()) {
        sink.text(separator);
        write_node(&mut sink, graph.node(index), ids.get(index));
        sink.flush_if_full()?;
    }
    sink.text("},\"edges\":{");
    write_edges(&mut sink, graph, &ids)?;
    sink.text("}},\"stats\":{\"modules\":");
    sink.number(stats.modules);
    sink.text(",\"edges\":");
    sink.number(stats.edges);
    sink.text(",\"dirty\":");
    sink.number(stats.dirty);
    sink.text("},\"errors\":[");
    for (separator, error) in separators().zip(errors) {
        sink.text(separator);
        write_string(&mut sink.buffer, error);
        sink.flush_if_full()?;
    }
    sink.text("]}\n");
    sink.finish()
}

/// Writes the cycles as an array of `{"members":[…],"example":[…]}` and a newline.
pub fn write_cycles_json(graph: &Graph, cycles: &[Cycle], out: &mut dyn Write) -> io::Result<()> {
    let mut sink = Sink::new(out);
    sink.text("[");
    for (separator, cycle) in separators().zip(cycles) {
        sink.text(separator);
        for (opening, list) in [("{\"members\":[", &cycle.members), ("],\"example\":[", &cycle.example)] {
            sink.text(opening);
            for (separator, node) in separators().zip(list) {
                sink.text(separator);
                write_string(&mut sink.buffer, &graph.node(*node).id);
                sink.flush_if_full()?;
            }
        }
        sink.text("]}");
    }
    sink.text("]\n");
    sink.finish()
}

fn separators() -> impl Iterator<Item = &'static str> {
    std::iter::once("").chain(std::iter::repeat(","))
}

fn write_node(sink: &mut Sink<'_>, node: &Node, quoted_id: &[u8]) {
    sink.buffer.extend_from_slice(quoted_id);
    sink.text(":{\"id\":");
    sink.buffer.extend_from_slice(quoted_id);
    sink.text(",\"kind\":\"");
    sink.text(node.kind.as_str());
    sink.text("\",\"language\":\"");
    sink.text(node.language.as_str());
    sink.text("\"");
    if let Some(description) = &node.description {
        sink.text(",\"description\":");
        write_string(&mut sink.buffer, description);
    }
    let is_file = matches!(node.kind, NodeKind::Source | NodeKind::External);
    if is_file && (node.file.is_some() || node.outside_root) {
        write_metadata(sink, node);
    }
    sink.text("}");
}

fn write_metadata(sink: &mut Sink<'_>, node: &Node) {
    sink.text(",\"metadata\":");
    let mut open = "{";
    if let Some(file) = &node.file {
        sink.text("{\"hash\":\"");
        sink.buffer.extend_from_slice(&file.digest.hex());
        sink.text("\"");
        open = ",";
    }
    if node.outside_root {
        sink.text(open);
        sink.text("\"isOutsideRoot\":true");
    }
    if let Some(file) = &node.file {
        sink.text(",\"size\":");
        sink.number(file.size);
    }
    sink.text("}");
}

/// Every id as a JSON string, one after the other: ids are written many times each, and mostly out of order.
struct QuotedIds {
    bytes: Vec<u8>,
    ends: Vec<usize>,
}

impl QuotedIds {
    fn of(graph: &Graph) -> Self {
        let length: usize = graph.nodes().iter().map(|node| node.id.len() + 2).sum();
        let mut bytes = Vec::with_capacity(length);
        let mut ends = Vec::with_capacity(graph.node_count());
        for node in graph.nodes() {
            write_string(&mut bytes, &node.id);
            ends.push(bytes.len());
        }
        Self { bytes, ends }
    }

    fn get(&self, index: u32) -> &[u8] {
        let index = index as usize;
        let start = if index == 0 { 0 } else { self.ends[index - 1] };
        &self.bytes[start..self.ends[index]]
    }
}

fn write_edges(sink: &mut Sink<'_>, graph: &Graph, ids: &QuotedIds) -> io::Result<()> {
    for (separator, index) in separators().zip(graph.indices()) {
        sink.text(separator);
        sink.buffer.extend_from_slice(ids.get(index));
        let mut before = ":[{\"target\":";
        for edge in graph.edges(index) {
            sink.text(before);
            sink.buffer.extend_from_slice(ids.get(edge.target));
            sink.text(after_target(edge));
            sink.flush_if_full()?;
            before = ",{\"target\":";
        }
        sink.text(if graph.edges(index).is_empty() { ":[]" } else { "]" });
        sink.flush_if_full()?;
    }
    Ok(())
}

/// The rest of an edge as one piece: there are six, and a million edges.
fn after_target(edge: &Edge) -> &'static str {
    match (edge.kind, edge.resolution) {
        (EdgeKind::Dynamic, Resolution::Explicit) => ",\"kind\":\"dynamic\",\"resolution\":\"explicit\"}",
        (EdgeKind::Dynamic, Resolution::Implicit) => ",\"kind\":\"dynamic\",\"resolution\":\"implicit\"}",
        (EdgeKind::Runtime, Resolution::Explicit) => ",\"kind\":\"runtime\",\"resolution\":\"explicit\"}",
        (EdgeKind::Runtime, Resolution::Implicit) => ",\"kind\":\"runtime\",\"resolution\":\"implicit\"}",
        (EdgeKind::Type, Resolution::Explicit) => ",\"kind\":\"type\",\"resolution\":\"explicit\"}",
        (EdgeKind::Type, Resolution::Implicit) => ",\"kind\":\"type\",\"resolution\":\"implicit\"}",
    }
}

fn needs_escape(byte: u8) -> bool {
    byte < 0x20 || byte == b'"' || byte == b'\\'
}

pub(super) fn write_string(out: &mut Vec<u8>, text: &str) {
    let bytes = text.as_bytes();
    out.push(b'"');
    // Without an early exit the compiler looks at many bytes at a time; escapes are rare.
    if bytes.iter().fold(false, |found, byte| found | needs_escape(*byte)) {
        for byte in bytes {
            if needs_escape(*byte) { write_escape(out, *byte) } else { out.push(*byte) }
        }
    } else {
        out.extend_from_slice(bytes);
    }
    out.push(b'"');
}

fn write_escape(out: &mut Vec<u8>, byte: u8) {
    const HEX: &[u8; 16] = b"0123456789abcdef";
    let short = match byte {
        b'"' | b'\\' => byte,
        b'\n' => b'n',
        b'\r' => b'r',
        b'\t' => b't',
        0x08 => b'b',
        0x0c => b'f',
        _ => {
            out.extend_from_slice(b"\\u00");
            out.extend_from_slice(&[HEX[usize::from(byte >> 4)], HEX[usize::from(byte & 15)]]);
            return;
        }
    };
    out.extend_from_slice(&[b'\\', short]);
}
