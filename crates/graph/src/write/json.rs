//! The `result` object of spec 10 §1 as minified JSON. Strings are escaped as in RFC 8785, and hidden characters too; the order
//! of keys is the specification's, not RFC 8785's.

use std::io::{self, Write};
use std::ops::Range;
use std::sync::mpsc;

use stan_model::document::run_report::NotAnalysedFiles;
use stan_model::untrusted::write_json_string;
use stan_model::{EdgeKind, NodeKind, Resolution};

use super::{Sink, write_number};
use crate::cycles::Cycle;
use crate::graph::{Edge, Graph, Node};
use crate::query::Stats;

/// Writes `{"graph":…,"stats":…,"errors":…}` and a newline, with `"notAnalysed":…` at the end if there are such files.
pub fn write_json(
    graph: &Graph,
    stats: &Stats,
    errors: &[String],
    not_analysed: &[NotAnalysedFiles],
    out: &mut dyn Write,
) -> io::Result<()> {
    let ids = QuotedIds::of(graph);
    out.write_all(b"{\"graph\":{\"nodes\":{")?;
    let of_node = |index, text: &mut Vec<u8>| write_node(text, graph.node(index), ids.get(index));
    in_blocks(graph, out, &of_node)?;
    out.write_all(b"},\"edges\":{")?;
    in_blocks(graph, out, &|index, text| write_edges(text, graph, &ids, index))?;
    let mut sink = Sink::new(out);
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
    sink.text("]");
    write_not_analysed(&mut sink, not_analysed);
    sink.text("}\n");
    sink.finish()
}

/// Writes nothing if there are no such files.
fn write_not_analysed(sink: &mut Sink<'_>, files: &[NotAnalysedFiles]) {
    for (index, one) in files.iter().enumerate() {
        sink.text(if index == 0 { ",\"notAnalysed\":[" } else { "," });
        sink.text("{\"extension\":");
        write_string(&mut sink.buffer, &one.extension);
        sink.text(",\"files\":");
        sink.number(one.files);
        sink.text("}");
    }
    sink.text(if files.is_empty() { "" } else { "]" });
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

/// The number of nodes and edges in one block.
const BLOCK: usize = 4096;

/// Writes a text for every node, separated by commas. For large graphs, two threads format alternate blocks. The order of the
/// output is always the same.
fn in_blocks(graph: &Graph, out: &mut dyn Write, text_of: &(dyn Fn(u32, &mut Vec<u8>) + Sync)) -> io::Result<()> {
    let make = |block: Range<u32>, mut text: Vec<u8>| {
        text.clear();
        for index in block {
            if index > 0 {
                text.push(b',');
            }
            text_of(index, &mut text);
        }
        text
    };
    let blocks = blocks(graph);
    let alone = |out: &mut dyn Write, blocks: Vec<Range<u32>>| {
        blocks.into_iter().try_for_each(|block| out.write_all(&make(block, Vec::new())))
    };
    if blocks.len() < 4 {
        return alone(out, blocks);
    }
    let others: Vec<Range<u32>> = blocks.iter().skip(1).step_by(2).cloned().collect();
    std::thread::scope(|scope| {
        let (give, take) = mpsc::sync_channel(1);
        let (give_back, take_back) = mpsc::sync_channel(2);
        let helper = std::thread::Builder::new().spawn_scoped(scope, move || {
            for block in others {
                // An error means that the receiver is gone, because writing failed.
                if give.send(make(block, take_back.try_recv().unwrap_or_default())).is_err() {
                    return;
                }
            }
        });
        if helper.is_err() {
            return alone(out, blocks);
        }
        let mut own = Vec::new();
        for pair in blocks.chunks(2) {
            own = make(pair[0].clone(), own);
            out.write_all(&own)?;
            if pair.len() > 1 {
                let other: Vec<u8> = take.recv().map_err(|_| io::Error::other("a thread was lost"))?;
                out.write_all(&other)?;
                // If the channel is full, the other thread has enough buffers.
                let _ = give_back.try_send(other);
            }
        }
        Ok(())
    })
}

/// Divides all nodes into blocks of about the same work.
fn blocks(graph: &Graph) -> Vec<Range<u32>> {
    let mut blocks = Vec::new();
    let (mut start, mut weight) = (0, 0);
    for index in graph.indices() {
        weight += 1 + graph.edges(index).len();
        if weight >= BLOCK {
            blocks.push(start..index + 1);
            (start, weight) = (index + 1, 0);
        }
    }
    if weight > 0 {
        blocks.push(start..start.max(graph.indices().next_back().map_or(0, |last| last + 1)));
    }
    blocks
}

fn write_node(out: &mut Vec<u8>, node: &Node, quoted_id: &[u8]) {
    out.extend_from_slice(quoted_id);
    out.extend_from_slice(b":{\"id\":");
    out.extend_from_slice(quoted_id);
    out.extend_from_slice(b",\"kind\":\"");
    out.extend_from_slice(node.kind.as_str().as_bytes());
    out.extend_from_slice(b"\",\"language\":\"");
    out.extend_from_slice(node.language.as_str().as_bytes());
    out.push(b'"');
    if let Some(description) = &node.description {
        out.extend_from_slice(b",\"description\":");
        write_string(out, description);
    }
    let is_file = matches!(node.kind, NodeKind::Source | NodeKind::External);
    if is_file && (node.file.is_some() || node.outside_root) {
        write_metadata(out, node);
    }
    out.push(b'}');
}

fn write_metadata(out: &mut Vec<u8>, node: &Node) {
    out.extend_from_slice(b",\"metadata\":");
    let mut open = b'{';
    if let Some(file) = &node.file {
        out.extend_from_slice(b"{\"hash\":\"");
        out.extend_from_slice(&file.digest.hex());
        out.push(b'"');
        open = b',';
    }
    if node.outside_root {
        out.push(open);
        out.extend_from_slice(b"\"isOutsideRoot\":true");
    }
    if let Some(file) = &node.file {
        out.extend_from_slice(b",\"size\":");
        write_number(out, file.size);
    }
    out.push(b'}');
}

/// All ids as JSON strings in one buffer: each id is written many times, mostly out of order.
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

fn write_edges(out: &mut Vec<u8>, graph: &Graph, ids: &QuotedIds, index: u32) {
    out.extend_from_slice(ids.get(index));
    let mut before: &[u8] = b":[{\"target\":";
    for edge in graph.edges(index) {
        out.extend_from_slice(before);
        out.extend_from_slice(ids.get(edge.target));
        out.extend_from_slice(after_target(edge).as_bytes());
        before = b",{\"target\":";
    }
    out.extend_from_slice(if graph.edges(index).is_empty() { b":[]" } else { b"]" });
}

/// The part of an edge after its target, as one text: there are only six, and a million edges.
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

fn is_plain(byte: u8) -> bool {
    matches!(byte, 0x20..=0x7e) && byte != b'"' && byte != b'\\'
}

/// Names come from outside, so their hidden characters are escaped, although RFC 8785 would not: the value is the same.
pub(super) fn write_string(out: &mut Vec<u8>, text: &str) {
    let bytes = text.as_bytes();
    // Without an early exit the compiler vectorises the loop; escapes are rare.
    if bytes.iter().fold(true, |plain, byte| plain & is_plain(*byte)) {
        out.push(b'"');
        out.extend_from_slice(bytes);
        out.push(b'"');
    } else {
        write_json_string(text, out);
    }
}
