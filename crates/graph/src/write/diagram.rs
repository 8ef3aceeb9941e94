//! Diagrams: Graphviz dot and Mermaid. Every edge is drawn, an explicit and an implicit one between the same nodes
//! as two. Ids are repository input and may hold any character, so both writers escape all that a reader of the
//! format could take for syntax.

use std::io::{self, Write};

use stan_model::{EdgeKind, NodeKind, Resolution};

use super::Sink;
use crate::graph::{Edge, Graph};

/// Writes a Graphviz digraph whose node names are the ids.
pub fn write_dot(graph: &Graph, out: &mut dyn Write) -> io::Result<()> {
    let mut sink = Sink::new(out);
    sink.text("digraph stan {\n  rankdir=LR;\n  node [shape=box];\n");
    for node in graph.nodes() {
        sink.text("  ");
        write_dot_id(&mut sink, &node.id);
        sink.text(match node.kind {
            NodeKind::Source => ";\n",
            NodeKind::External => " [style=rounded,color=gray50];\n",
            NodeKind::Builtin => " [shape=hexagon,color=gray50];\n",
            NodeKind::Missing => " [style=dashed,color=red];\n",
        });
        sink.flush_if_full()?;
    }
    for index in graph.indices() {
        for edge in graph.edges(index) {
            sink.text("  ");
            write_dot_id(&mut sink, &graph.node(index).id);
            sink.text(" -> ");
            write_dot_id(&mut sink, &graph.node(edge.target).id);
            sink.text(dot_style(edge));
            sink.flush_if_full()?;
        }
    }
    sink.text("}\n");
    sink.finish()
}

fn dot_style(edge: &Edge) -> &'static str {
    match (edge.kind, edge.resolution) {
        (EdgeKind::Runtime, Resolution::Explicit) => ";\n",
        (EdgeKind::Type, Resolution::Explicit) => " [style=dashed];\n",
        (EdgeKind::Dynamic, Resolution::Explicit) => " [style=dotted];\n",
        (EdgeKind::Runtime, Resolution::Implicit) => " [color=gray60];\n",
        (EdgeKind::Type, Resolution::Implicit) => " [style=dashed,color=gray60];\n",
        (EdgeKind::Dynamic, Resolution::Implicit) => " [style=dotted,color=gray60];\n",
    }
}

/// Two different ids never get one spelling: every backslash of the id is doubled, so a single one is ours.
fn write_dot_id(sink: &mut Sink<'_>, id: &str) {
    const HEX: &[u8; 16] = b"0123456789abcdef";
    sink.text("\"");
    for byte in id.bytes() {
        match byte {
            b'"' => sink.text("\\\""),
            b'\\' => sink.text("\\\\"),
            b'\n' => sink.text("\\n"),
            0..0x20 | 0x7f => {
                sink.text("\\x");
                sink.buffer.push(HEX[usize::from(byte >> 4)]);
                sink.buffer.push(HEX[usize::from(byte & 15)]);
            }
            _ => sink.buffer.push(byte),
        }
    }
    sink.text("\"");
}

/// Writes a Mermaid flowchart. Nodes are called `n0`, `n1`, … in the order of their ids.
pub fn write_mermaid(graph: &Graph, out: &mut dyn Write) -> io::Result<()> {
    let mut sink = Sink::new(out);
    sink.text("flowchart LR\n");
    for index in graph.indices() {
        let node = graph.node(index);
        sink.text("  n");
        sink.number(u64::from(index));
        sink.text("[\"");
        write_mermaid_text(&mut sink, &node.id);
        sink.text("\"]:::");
        sink.text(node.kind.as_str());
        sink.text("\n");
        sink.flush_if_full()?;
    }
    for index in graph.indices() {
        for edge in graph.edges(index) {
            sink.text("  n");
            sink.number(u64::from(index));
            sink.text(" --> n");
            sink.number(u64::from(edge.target));
            sink.text("\n");
            sink.flush_if_full()?;
        }
    }
    sink.text("  classDef source fill:#fff,stroke:#333\n");
    sink.text("  classDef external fill:#eee,stroke:#888\n");
    sink.text("  classDef builtin fill:#eef,stroke:#88a\n");
    sink.text("  classDef missing fill:#fee,stroke:#c00,stroke-dasharray:4 4\n");
    write_link_style(&mut sink, graph, "stroke-dasharray:6 4", |edge| edge.kind == EdgeKind::Type)?;
    write_link_style(&mut sink, graph, "stroke-dasharray:2 3", |edge| edge.kind == EdgeKind::Dynamic)?;
    write_link_style(&mut sink, graph, "stroke:#aaa", |edge| edge.resolution == Resolution::Implicit)?;
    sink.finish()
}

/// Links have no names in Mermaid: a style lists the ranks of those it is for.
fn write_link_style(sink: &mut Sink<'_>, graph: &Graph, style: &str, applies: fn(&Edge) -> bool) -> io::Result<()> {
    let links = graph.indices().flat_map(|index| graph.edges(index));
    let mut separator = "  linkStyle ";
    for (rank, _) in (0u64..).zip(links).filter(|(_, edge)| applies(edge)) {
        sink.text(separator);
        sink.number(rank);
        sink.flush_if_full()?;
        separator = ",";
    }
    if separator == "," {
        sink.text(" ");
        sink.text(style);
        sink.text("\n");
    }
    Ok(())
}

/// Mermaid looks for markup, directives and entities inside quotes too, so only what is surely text stays as it is.
fn write_mermaid_text(sink: &mut Sink<'_>, text: &str) {
    for byte in text.bytes() {
        match byte {
            b'0'..=b'9' | b'A'..=b'Z' | b'a'..=b'z' | b'/' | b'.' | b'_' | b'-' | b'@' | b':' | b' ' | 0x80.. => {
                sink.buffer.push(byte);
            }
            _ => {
                sink.text("#");
                sink.number(u64::from(byte));
                sink.text(";");
            }
        }
    }
}
