//! The `result` object of spec 10 §1 as minified JSON. Strings are escaped as RFC 8785 does; the order of keys is
//! the specification's, not RFC 8785's.

use std::io::{self, Write};

use stan_model::NodeKind;

use super::Sink;
use crate::cycles::Cycle;
use crate::graph::{Graph, Node};
use crate::query::Stats;

/// Writes `{"graph":…,"stats":…,"errors":…}` and a newline.
pub fn write_json(graph: &Graph, stats: &Stats, errors: &[String], out: &mut dyn Write) -> io::Result<()> {
    let mut sink = Sink::new(out);
    sink.text("{\"graph\":{\"nodes\":{");
    for (separator, node) in separators().zip(graph.nodes()) {
        sink.text(separator);
        write_node(&mut sink, node);
        sink.flush_if_full()?;
    }
    sink.text("},\"edges\":{");
    write_edges(&mut sink, graph)?;
    sink.text("}},\"stats\":{\"modules\":");
    sink.number(stats.modules);
    sink.text(",\"edges\":");
    sink.number(stats.edges);
    sink.text(",\"dirty\":");
    sink.number(stats.dirty);
    sink.text("},\"errors\":[");
    for (separator, error) in separators().zip(errors) {
        sink.text(separator);
        write_string(&mut sink, error);
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
                write_string(&mut sink, &graph.node(*node).id);
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

fn write_node(sink: &mut Sink<'_>, node: &Node) {
    write_string(sink, &node.id);
    sink.text(":{\"id\":");
    write_string(sink, &node.id);
    sink.text(",\"kind\":\"");
    sink.text(node.kind.as_str());
    sink.text("\",\"language\":\"");
    sink.text(node.language.as_str());
    sink.text("\"");
    if let Some(description) = &node.description {
        sink.text(",\"description\":");
        write_string(sink, description);
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

fn write_edges(sink: &mut Sink<'_>, graph: &Graph) -> io::Result<()> {
    // Targets are written many times each; whether one needs escapes is found out once.
    let plain: Vec<bool> = graph.nodes().iter().map(|node| !node.id.bytes().any(needs_escape)).collect();
    for (separator, index) in separators().zip(graph.indices()) {
        sink.text(separator);
        write_string(sink, &graph.node(index).id);
        sink.text(":[");
        for (separator, edge) in separators().zip(graph.edges(index)) {
            sink.text(separator);
            sink.text("{\"target\":");
            let target = &graph.node(edge.target).id;
            if plain[edge.target as usize] {
                sink.text("\"");
                sink.text(target);
                sink.text("\"");
            } else {
                write_string(sink, target);
            }
            sink.text(",\"kind\":\"");
            sink.text(edge.kind.as_str());
            sink.text("\",\"resolution\":\"");
            sink.text(edge.resolution.as_str());
            sink.text("\"}");
            sink.flush_if_full()?;
        }
        sink.text("]");
        sink.flush_if_full()?;
    }
    Ok(())
}

fn needs_escape(byte: u8) -> bool {
    byte < 0x20 || byte == b'"' || byte == b'\\'
}

pub(super) fn write_string(sink: &mut Sink<'_>, text: &str) {
    sink.text("\"");
    let bytes = text.as_bytes();
    let mut written = 0;
    for (place, byte) in bytes.iter().copied().enumerate() {
        if needs_escape(byte) {
            sink.buffer.extend_from_slice(&bytes[written..place]);
            write_escape(sink, byte);
            written = place + 1;
        }
    }
    sink.buffer.extend_from_slice(&bytes[written..]);
    sink.text("\"");
}

fn write_escape(sink: &mut Sink<'_>, byte: u8) {
    const HEX: &[u8; 16] = b"0123456789abcdef";
    match byte {
        b'"' => sink.text("\\\""),
        b'\\' => sink.text("\\\\"),
        b'\n' => sink.text("\\n"),
        b'\r' => sink.text("\\r"),
        b'\t' => sink.text("\\t"),
        0x08 => sink.text("\\b"),
        0x0c => sink.text("\\f"),
        _ => {
            sink.text("\\u00");
            sink.buffer.push(HEX[usize::from(byte >> 4)]);
            sink.buffer.push(HEX[usize::from(byte & 15)]);
        }
    }
}
