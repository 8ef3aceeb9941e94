//! Writers: complete outputs for a small graph, and escaping checked with a JSON parser.

use expect_test::{Expect, expect};
use proptest::prelude::*;
use stan_model::{Digest, EdgeKind, Language, NodeKind, Resolution};

use super::*;
use crate::builder::GraphBuilder;
use crate::graph::{FileMeta, Graph, Node};
use crate::query::Stats;

fn sample() -> Graph {
    let node = |id: &str, kind| Node {
        id: id.into(),
        kind,
        language: Language::of_path(id),
        description: None,
        file: None,
        outside_root: false,
    };
    let file = Some(FileMeta { digest: Digest([0xab; 32]), size: 1_234_567_890_123 });
    let mut builder = GraphBuilder::new();
    builder.node(0, Node { description: Some("Says \"hi\".".into()), file, ..node("src/a.ts", NodeKind::Source) });
    builder.node(1, node("src/unreadable.js", NodeKind::Source));
    builder.node(2, Node { file, outside_root: true, ..node("abs/x/b.d.ts", NodeKind::External) });
    builder.node(3, Node { outside_root: true, ..node("abs/x/c.json", NodeKind::External) });
    builder.node(4, Node { language: Language::Other, ..node("node:fs", NodeKind::Builtin) });
    let odd = "\0virtual:[\"x\"]\n\\n<b>%%{é}";
    builder.node(5, Node { outside_root: true, language: Language::Other, ..node(odd, NodeKind::Missing) });
    let edges = [
        (0, 2, EdgeKind::Runtime, Resolution::Explicit),
        (0, 2, EdgeKind::Type, Resolution::Implicit),
        (0, 4, EdgeKind::Dynamic, Resolution::Explicit),
        (0, 5, EdgeKind::Type, Resolution::Explicit),
        (1, 0, EdgeKind::Runtime, Resolution::Implicit),
    ];
    for (source, target, kind, resolution) in edges {
        builder.edge(source, target, kind, resolution);
    }
    builder.finish().unwrap().graph
}

fn check(write: impl Fn(&Graph, &mut dyn Write) -> io::Result<()>, expected: Expect) {
    let mut out = Vec::new();
    write(&sample(), &mut out).unwrap();
    expected.assert_eq(&String::from_utf8(out).unwrap());
}

#[test]
fn json_escapes_ids_and_lists_edges_of_every_node() {
    let errors = ["src/a.ts:1: \"quote\"\t\u{2028}".to_owned(), "b".to_owned()];
    check(
        |graph, out| write_json(graph, &Stats::of(graph, 3), &errors, &[], out),
        expect![[r#"
        {"graph":{"nodes":{"\u0000virtual:[\"x\"]\n\\n<b>%%{é}":{"id":"\u0000virtual:[\"x\"]\n\\n<b>%%{é}","kind":"missing","language":"other"},"abs/x/b.d.ts":{"id":"abs/x/b.d.ts","kind":"external","language":"ts","metadata":{"hash":"abababababababababababababababababababababababababababababababab","isOutsideRoot":true,"size":1234567890123}},"abs/x/c.json":{"id":"abs/x/c.json","kind":"external","language":"json","metadata":{"isOutsideRoot":true}},"node:fs":{"id":"node:fs","kind":"builtin","language":"other"},"src/a.ts":{"id":"src/a.ts","kind":"source","language":"ts","description":"Says \"hi\".","metadata":{"hash":"abababababababababababababababababababababababababababababababab","size":1234567890123}},"src/unreadable.js":{"id":"src/unreadable.js","kind":"source","language":"js"}},"edges":{"\u0000virtual:[\"x\"]\n\\n<b>%%{é}":[],"abs/x/b.d.ts":[],"abs/x/c.json":[],"node:fs":[],"src/a.ts":[{"target":"\u0000virtual:[\"x\"]\n\\n<b>%%{é}","kind":"type","resolution":"explicit"},{"target":"abs/x/b.d.ts","kind":"runtime","resolution":"explicit"},{"target":"abs/x/b.d.ts","kind":"type","resolution":"implicit"},{"target":"node:fs","kind":"dynamic","resolution":"explicit"}],"src/unreadable.js":[{"target":"src/a.ts","kind":"runtime","resolution":"implicit"}]}},"stats":{"modules":6,"edges":5,"dirty":3},"errors":["src/a.ts:1: \"quote\"\t\u2028","b"]}
    "#]],
    );
}

#[test]
fn an_empty_graph_is_valid_json() {
    let mut out = Vec::new();
    write_json(&Graph::default(), &Stats::default(), &[], &[], &mut out).unwrap();
    expect![[r#"
        {"graph":{"nodes":{},"edges":{}},"stats":{"modules":0,"edges":0,"dirty":0},"errors":[]}
    "#]]
    .assert_eq(&String::from_utf8(out).unwrap());
}

#[test]
fn dot_escapes_ids_and_styles_kinds() {
    check(
        write_dot,
        expect![[r#"
        digraph stan {
          rankdir=LR;
          node [shape=box];
          "\x00virtual:[\"x\"]\n\\n<b>%%{é}" [style=dashed,color=red];
          "abs/x/b.d.ts" [style=rounded,color=gray50];
          "abs/x/c.json" [style=rounded,color=gray50];
          "node:fs" [shape=hexagon,color=gray50];
          "src/a.ts";
          "src/unreadable.js";
          "src/a.ts" -> "\x00virtual:[\"x\"]\n\\n<b>%%{é}" [style=dashed];
          "src/a.ts" -> "abs/x/b.d.ts";
          "src/a.ts" -> "abs/x/b.d.ts" [style=dashed,color=gray60];
          "src/a.ts" -> "node:fs" [style=dotted];
          "src/unreadable.js" -> "src/a.ts" [color=gray60];
        }
    "#]],
    );
}

#[test]
fn mermaid_escapes_ids_and_styles_kinds() {
    check(
        write_mermaid,
        expect![[r##"
        flowchart LR
          n0["#0;virtual:#91;#34;x#34;#93;#10;#92;n#60;b#62;#37;#37;#123;é#125;"]:::missing
          n1["abs/x/b.d.ts"]:::external
          n2["abs/x/c.json"]:::external
          n3["node:fs"]:::builtin
          n4["src/a.ts"]:::source
          n5["src/unreadable.js"]:::source
          n4 --> n0
          n4 --> n1
          n4 --> n1
          n4 --> n3
          n5 --> n4
          classDef source fill:#fff,stroke:#333
          classDef external fill:#eee,stroke:#888
          classDef builtin fill:#eef,stroke:#88a
          classDef missing fill:#fee,stroke:#c00,stroke-dasharray:4 4
          linkStyle 0,2 stroke-dasharray:6 4
          linkStyle 3 stroke-dasharray:2 3
          linkStyle 2,4 stroke:#aaa
    "##]],
    );
}

#[test]
fn stats_count_nodes_and_edges_by_kind() {
    check(
        |graph, out| write_stats(&crate::Summary::of(graph), 2, out),
        expect![[r#"
            modules                     6
              source                    2
              external                  2
              builtin                   1
              missing                   1
            edges                       5
              runtime explicit          1
              runtime implicit          1
              type explicit             1
              type implicit             1
              dynamic explicit          1
              dynamic implicit          0
            not read or parsed cleanly  2
        "#]],
    );
}

#[test]
fn hidden_characters_of_names_are_visible_in_every_form() {
    let mut builder = GraphBuilder::new();
    let id = "a\u{202e}\u{9b}\u{e0041}\u{7f}\u{1b}\u{e4}.ts";
    builder.node(0, Node::bare(id.into(), NodeKind::Missing));
    builder.edge(0, 0, EdgeKind::Type, Resolution::Explicit);
    let graph = builder.finish().unwrap().graph;
    type Writer<'w> = &'w dyn Fn(&mut Vec<u8>) -> io::Result<()>;
    let writers: [Writer<'_>; 4] = [
        &|out| write_json(&graph, &Stats::of(&graph, 0), &[id.to_owned()], &[], out),
        &|out| write_cycles_json(&graph, &crate::cycles(&graph), out),
        &|out| write_dot(&graph, out),
        &|out| write_mermaid(&graph, out),
    ];
    for write in writers {
        let mut out = Vec::new();
        write(&mut out).unwrap();
        let text = String::from_utf8(out).unwrap();
        let hidden = |character| character != '\n' && stan_model::untrusted::is_hidden(character);
        assert!(!text.contains(hidden) && text.contains("202e") && text.contains('\u{e4}'), "{text:?}");
    }
}

#[test]
fn diagrams_hold_no_path_of_the_machine() {
    let mut builder = GraphBuilder::new();
    let ids = ["/homes/alice/lib/a.ts", "/homes/bob/lib/a.ts", "/homes/alice/node_modules/p/x.d.ts", "src/a.ts"];
    for (key, id) in (0..).zip(ids) {
        builder.node(key, Node::bare(id.into(), NodeKind::External));
    }
    builder.edge(3, 0, EdgeKind::Type, Resolution::Explicit);
    let graph = builder.finish().unwrap().graph;
    for write in [write_dot, write_mermaid] {
        let mut out = Vec::new();
        write(&graph, &mut out).unwrap();
        let text = String::from_utf8(out).unwrap();
        assert!(!text.contains("alice") && !text.contains("bob") && text.contains("/node_modules/p/x.d.ts"), "{text}");
        let names: std::collections::BTreeSet<&str> =
            text.split('"').filter(|name| name.starts_with("outside/") && name.ends_with("/a.ts")).collect();
        assert_eq!(names.len(), 2, "{text}");
    }
}

#[test]
fn a_reader_of_the_json_sees_the_graph() {
    let graph = sample();
    let mut out = Vec::new();
    write_json(&graph, &Stats::of(&graph, 0), &[], &[], &mut out).unwrap();
    let value: serde_json::Value = serde_json::from_slice(&out).unwrap();
    for index in graph.indices() {
        let node = graph.node(index);
        assert_eq!(value["graph"]["nodes"][&*node.id]["id"], *node.id);
        let edges = value["graph"]["edges"][&*node.id].as_array().unwrap();
        let targets: Vec<&str> = edges.iter().map(|edge| edge["target"].as_str().unwrap()).collect();
        let expected: Vec<&str> = graph.edges(index).iter().map(|edge| &*graph.node(edge.target).id).collect();
        assert_eq!(targets, expected);
    }
}

/// A pipe: makes short writes, and fails on demand.
struct Pipe {
    taken: Vec<u8>,
    room: usize,
}

impl Write for Pipe {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let count = bytes.len().min(1000).min(self.room);
        if count == 0 {
            return Err(io::ErrorKind::BrokenPipe.into());
        }
        self.room -= count;
        self.taken.extend_from_slice(&bytes[..count]);
        Ok(count)
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

fn wide_graph() -> Graph {
    let mut builder = GraphBuilder::new();
    for key in 0..2000u32 {
        let (kind, language) = (NodeKind::Source, Language::Ts);
        let id = format!("src/some/folder/{key}.ts").into();
        builder.node(key, Node { id, kind, language, description: None, file: None, outside_root: false });
        for step in 1..5 {
            builder.edge(key, (key + step) % 2000, EdgeKind::Type, Resolution::Explicit);
        }
    }
    builder.finish().unwrap().graph
}

#[test]
fn large_output_is_written_in_parts_and_a_broken_pipe_is_an_error() {
    let graph = wide_graph();
    let mut whole = Vec::new();
    write_json(&graph, &Stats::of(&graph, 0), &[], &[], &mut whole).unwrap();
    assert!(whole.len() > 4 * FLUSH_AT);
    let mut pipe = Pipe { taken: Vec::new(), room: usize::MAX };
    write_json(&graph, &Stats::of(&graph, 0), &[], &[], &mut pipe).unwrap();
    assert!(pipe.taken == whole);

    for write in [write_dot, write_mermaid] {
        let mut pipe = Pipe { taken: Vec::new(), room: 100_000 };
        assert_eq!(write(&graph, &mut pipe).unwrap_err().kind(), io::ErrorKind::BrokenPipe);
    }
}

/// Large graphs are written by two threads: in order, and every block once.
#[test]
fn large_graphs_are_written_in_order() {
    let mut builder = GraphBuilder::new();
    let count = 20_000u32;
    for index in 0..count {
        builder.node(index, Node::bare(format!("n{index:05}").into(), NodeKind::Missing));
        let targets = if index == 7 { 6_000 } else { index % 3 };
        (0..targets).for_each(|target| builder.edge(index, target, EdgeKind::Type, Resolution::Explicit));
    }
    let graph = builder.finish().unwrap().graph;
    let mut out = Vec::new();
    write_json(&graph, &Stats::of(&graph, 0), &[], &[], &mut out).unwrap();
    let read: serde_json::Value = serde_json::from_slice(&out).unwrap();
    let text = String::from_utf8(out).unwrap();
    let ids = text.split("\"id\":\"").skip(1).map(|rest| &rest[..6]);
    assert!(ids.eq((0..count).map(|index| format!("n{index:05}"))));
    for index in 0..count {
        let edges = read["graph"]["edges"][format!("n{index:05}")].as_array().unwrap();
        let targets: Vec<&str> = edges.iter().map(|edge| edge["target"].as_str().unwrap()).collect();
        let expected: Vec<String> = graph.edges(index).iter().map(|edge| format!("n{:05}", edge.target)).collect();
        assert_eq!(targets, expected);
    }
    assert_eq!(read["graph"]["nodes"].as_object().unwrap().len(), count as usize);
}

proptest! {
    #[test]
    fn every_string_survives_json(text in any::<String>(), control in "[\u{0}-\u{3f}\u{7f}\\\\]{0,20}") {
        for text in [text, control] {
            let mut out = Vec::new();
            json::write_string(&mut out, &text);
            prop_assert_eq!(&serde_json::from_slice::<String>(&out).unwrap(), &text);
            prop_assert!(!str::from_utf8(&out).unwrap().contains(stan_model::untrusted::is_hidden));
            if !text.contains(stan_model::untrusted::is_hidden) {
                prop_assert_eq!(serde_json::to_vec(&text).unwrap(), out);
            }
        }
    }

    #[test]
    fn numbers_are_written_in_decimal(number in any::<u64>()) {
        let mut out = Vec::new();
        let mut sink = Sink::new(&mut out);
        sink.number(number);
        sink.finish().unwrap();
        prop_assert_eq!(String::from_utf8(out).unwrap(), number.to_string());
    }
}
