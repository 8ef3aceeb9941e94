//! Diagrams: Graphviz dot and Mermaid. Every edge is drawn; an explicit and an implicit edge between the same nodes are two. Ids
//! are repository input and may contain any character, so both writers escape everything that the format could parse as syntax.

use std::borrow::Cow;
use std::io::{self, Write};

use sha2::{Digest as _, Sha256};
use stan_model::document::is_absolute;
use stan_model::untrusted::is_hidden;
use stan_model::{Digest, EdgeKind, NodeKind, Resolution};

use super::Sink;
use crate::graph::{Edge, Graph};

/// The names of all nodes, in node order.
fn names(graph: &Graph) -> Vec<Cow<'_, str>> {
    graph.nodes().iter().map(|node| name_of(&node.id)).collect()
}

/// The id, unless it is an absolute path of this machine: diagrams are shared, and such a path reveals a user's name and folders.
/// The rest of the path still distinguishes files and package files.
fn name_of(id: &str) -> Cow<'_, str> {
    if !is_absolute(id) {
        return Cow::Borrowed(id);
    }
    let hash = Digest(Sha256::digest(id.as_bytes()).into()).hex();
    let hash = str::from_utf8(&hash[..12]).unwrap_or_default();
    let in_package = id.rfind("/node_modules/").map(|at| at + 1);
    let tail = id.get(in_package.or_else(|| id.rfind('/').map(|at| at + 1)).unwrap_or(0)..).unwrap_or_default();
    Cow::Owned(format!("outside/{hash}/{tail}"))
}

/// Writes a Graphviz digraph whose node names are the ids, except for files outside the repository.
pub fn write_dot(graph: &Graph, out: &mut dyn Write) -> io::Result<()> {
    let mut sink = Sink::new(out);
    sink.text("digraph stan {\n  rankdir=LR;\n  node [shape=box];\n");
    let names = names(graph);
    for (node, name) in graph.nodes().iter().zip(&names) {
        sink.text("  ");
        write_dot_id(&mut sink, name);
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
            write_dot_id(&mut sink, &names[index as usize]);
            sink.text(" -> ");
            write_dot_id(&mut sink, &names[edge.target as usize]);
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

/// Different ids never have the same spelling: every backslash of the id is doubled, so a single one is an escape.
fn write_dot_id(sink: &mut Sink<'_>, id: &str) {
    const HEX: &[u8; 16] = b"0123456789abcdef";
    sink.text("\"");
    for (at, character) in id.char_indices() {
        match character {
            '"' => sink.text("\\\""),
            '\\' => sink.text("\\\\"),
            '\n' => sink.text("\\n"),
            '\0'..' ' | '\x7f' => {
                let byte = character as usize;
                sink.text("\\x");
                sink.buffer.extend_from_slice(&[HEX[byte >> 4], HEX[byte & 15]]);
            }
            hidden if is_hidden(hidden) => sink.text(&hidden.escape_unicode().to_string()),
            other => sink.text(id.get(at..at + other.len_utf8()).unwrap_or_default()),
        }
    }
    sink.text("\"");
}

/// Writes a Mermaid flowchart. Nodes are named `n0`, `n1`, … in the order of their ids.
pub fn write_mermaid(graph: &Graph, out: &mut dyn Write) -> io::Result<()> {
    let mut sink = Sink::new(out);
    sink.text("flowchart LR\n");
    for index in graph.indices() {
        let node = graph.node(index);
        sink.text("  n");
        sink.number(u64::from(index));
        sink.text("[\"");
        write_mermaid_text(&mut sink, &name_of(&node.id));
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

/// Links have no names in Mermaid: a style lists the indices of its links.
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

/// Mermaid parses markup, directives and entities inside quotes too, so only safe characters are written as is.
fn write_mermaid_text(sink: &mut Sink<'_>, text: &str) {
    let entity = |sink: &mut Sink<'_>, character: char| {
        sink.text("#");
        sink.number(u64::from(u32::from(character)));
        sink.text(";");
    };
    for (at, character) in text.char_indices() {
        match character {
            // An entity would render as the hidden character itself.
            hidden if hidden > '\x7f' && is_hidden(hidden) => {
                for shown in hidden.escape_unicode() {
                    if shown.is_ascii_alphanumeric() { sink.buffer.push(shown as u8) } else { entity(sink, shown) }
                }
            }
            '0'..='9' | 'A'..='Z' | 'a'..='z' | '/' | '.' | '_' | '-' | '@' | ':' | ' ' | '\u{80}'.. => {
                sink.text(text.get(at..at + character.len_utf8()).unwrap_or_default());
            }
            other => entity(sink, other),
        }
    }
}
