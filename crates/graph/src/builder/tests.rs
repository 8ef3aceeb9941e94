//! The builder: what is pushed counts, the order of pushes does not.

use proptest::prelude::*;
use stan_model::{Digest, EdgeKind, Language, NodeKind, Resolution};

use super::*;
use crate::graph::FileMeta;

fn node(id: &str, kind: NodeKind) -> Node {
    Node { id: id.into(), kind, language: Language::Other, description: None, file: None, outside_root: false }
}

fn source(id: &str) -> Node {
    node(id, NodeKind::Source)
}

/// One line per node: `id: target/kind/resolution …`.
fn render(graph: &Graph) -> String {
    let mut text = String::new();
    for index in graph.indices() {
        text.push_str(&format!("{}:", graph.node(index).id));
        for edge in graph.edges(index) {
            let target = &graph.node(edge.target).id;
            text.push_str(&format!(" {target}/{}/{}", edge.kind.as_str(), edge.resolution.as_str()));
        }
        text.push('\n');
    }
    text
}

const RUNTIME: (EdgeKind, Resolution) = (EdgeKind::Runtime, Resolution::Explicit);
const TYPE: (EdgeKind, Resolution) = (EdgeKind::Type, Resolution::Explicit);
const IMPLICIT: (EdgeKind, Resolution) = (EdgeKind::Runtime, Resolution::Implicit);

fn check(nodes: &[(u32, &str)], edges: &[(u32, u32, (EdgeKind, Resolution))], expected: &str) {
    let mut builder = GraphBuilder::new();
    for (source, target, (kind, resolution)) in edges {
        builder.edge(*source, *target, *kind, *resolution);
    }
    for (key, id) in nodes {
        builder.node(*key, source(id));
    }
    let built = builder.finish().unwrap();
    assert_eq!(render(&built.graph), expected);
    assert_eq!(built.merged, []);
}

#[test]
fn no_nodes_and_edges_make_an_empty_graph() {
    check(&[], &[], "");
}

#[test]
fn nodes_are_sorted_by_bytes_and_every_node_has_a_list() {
    check(&[(7, "b"), (1, "é"), (3, "B"), (2, "a/b"), (9, "a-b")], &[], "B:\na-b:\na/b:\nb:\né:\n");
}

#[test]
fn edges_are_sorted_by_target_kind_and_resolution() {
    check(
        &[(5, "a"), (4, "b"), (3, "c")],
        &[(5, 3, RUNTIME), (5, 4, TYPE), (5, 4, IMPLICIT), (5, 4, RUNTIME), (3, 3, RUNTIME)],
        "a: b/runtime/explicit b/runtime/implicit b/type/explicit c/runtime/explicit\nb:\nc: c/runtime/explicit\n",
    );
}

#[test]
fn nodes_and_edges_pushed_twice_occur_once() {
    check(
        &[(0, "a"), (0, "a"), (1, "b"), (1, "b")],
        &[(0, 1, RUNTIME), (1, 0, TYPE), (0, 1, RUNTIME), (1, 0, TYPE)],
        "a: b/runtime/explicit\nb: a/type/explicit\n",
    );
}

#[test]
fn two_keys_for_one_id_are_one_node() {
    check(
        &[(0, "a"), (1, "b"), (2, "b")],
        &[(0, 1, RUNTIME), (0, 2, RUNTIME), (2, 0, TYPE), (1, 0, RUNTIME)],
        "a: b/runtime/explicit\nb: a/runtime/explicit a/type/explicit\n",
    );
}

#[test]
fn a_file_wins_over_a_missing_specifier_of_the_same_spelling_and_the_merge_is_reported() {
    let meta = FileMeta { digest: Digest([1; 32]), size: 3 };
    let file = Node { file: Some(meta), ..source("src/a") };
    for missing_first in [true, false] {
        let mut builder = GraphBuilder::new();
        let mut nodes = [(0, file.clone()), (1, node("src/a", NodeKind::Missing)), (2, source("src/a"))];
        if missing_first {
            nodes.reverse();
        }
        for (key, node) in nodes {
            builder.node(key, node);
        }
        builder.edge(1, 0, EdgeKind::Type, Resolution::Explicit);
        let built = builder.finish().unwrap();
        assert_eq!(built.graph.nodes(), std::slice::from_ref(&file));
        assert_eq!(render(&built.graph), "src/a: src/a/type/explicit\n");
        let lost: Vec<NodeKind> = built.merged.iter().map(|merged| merged.lost).collect();
        assert_eq!(lost, [NodeKind::Source, NodeKind::Missing]);
    }
}

#[test]
fn mistakes_of_the_caller_are_errors() {
    let mut builder = GraphBuilder::new();
    builder.node(0, source("a"));
    builder.edge(0, 9, EdgeKind::Type, Resolution::Explicit);
    builder.edge(8, 0, EdgeKind::Type, Resolution::Explicit);
    assert_eq!(builder.finish().unwrap_err(), BuildError::UnknownKey { key: 8 });

    let mut builder = GraphBuilder::new();
    builder.node(4, source("b"));
    builder.node(4, source("a"));
    let reused = BuildError::KeyReused { key: 4, first: "a".into(), second: "b".into() };
    assert_eq!(builder.finish().unwrap_err(), reused);
}

#[test]
fn find_knows_every_id_and_no_other() {
    let mut builder = GraphBuilder::new();
    for (key, id) in ["b", "a/c", "a", ""].into_iter().enumerate() {
        builder.node(key as u32, source(id));
    }
    let graph = builder.finish().unwrap().graph;
    for index in graph.indices() {
        assert_eq!(graph.find(&graph.node(index).id), Some(index));
    }
    assert_eq!(graph.find("a/"), None);
    assert_eq!((graph.node_count(), graph.edge_count()), (4, 0));
}

#[test]
fn a_hundred_thousand_nodes_and_a_million_edges() {
    let mut builder = GraphBuilder::with_capacity(100_000, 1_000_000);
    for key in 0..100_000u32 {
        builder.node(key, source(&format!("packages/p{}/src/file{key}.ts", key % 97)));
    }
    for edge in 0..1_000_000u64 {
        let (from, to) = (edge * 7919 % 100_000, edge * edge % 99_991);
        builder.edge(from as u32, to as u32, EdgeKind::Runtime, Resolution::Explicit);
    }
    let graph = builder.finish().unwrap().graph;
    assert_eq!(graph.node_count(), 100_000);
    assert!(graph.indices().all(|index| graph.edges(index).is_sorted_by(|a, b| a < b)));
}

type Parts = (Vec<(u32, Node)>, Vec<(u32, u32, bool, bool)>);

/// Keys 0..8 with few ids, so that duplicates are common, and edges between them, shuffled in a second copy.
fn parts_and_a_shuffle() -> impl Strategy<Value = (Parts, Parts)> {
    let kinds = [NodeKind::Source, NodeKind::External, NodeKind::Builtin, NodeKind::Missing];
    let nodes = prop::collection::vec((0..6u8, 0..4usize, any::<bool>(), any::<bool>()), 8).prop_map(move |seeds| {
        let node = |(id, kind, described, outside): (u8, usize, bool, bool)| Node {
            description: described.then(|| "about".into()),
            outside_root: outside,
            ..node(&format!("id{id}"), kinds[kind])
        };
        (0u32..).zip(seeds.into_iter().map(node)).collect::<Vec<_>>()
    });
    let edges = prop::collection::vec((0..8u32, 0..8u32, any::<bool>(), any::<bool>()), 0..40);
    (nodes, edges).prop_flat_map(|(nodes, edges)| {
        let shuffled = (Just(nodes.clone()).prop_shuffle(), Just(edges.clone()).prop_shuffle());
        (Just((nodes, edges)), shuffled)
    })
}

fn build((nodes, edges): Parts) -> Built {
    let mut builder = GraphBuilder::new();
    for (key, node) in nodes {
        builder.node(key, node);
    }
    for (source, target, is_type, implicit) in edges {
        let kind = if is_type { EdgeKind::Type } else { EdgeKind::Runtime };
        builder.edge(source, target, kind, if implicit { Resolution::Implicit } else { Resolution::Explicit });
    }
    builder.finish().unwrap()
}

proptest! {
    #[test]
    fn the_graph_does_not_depend_on_the_order_of_pushes((parts, shuffled) in parts_and_a_shuffle()) {
        prop_assert_eq!(build(parts), build(shuffled));
    }

    #[test]
    fn no_edge_is_lost_or_invented((parts, _) in parts_and_a_shuffle()) {
        let built = build(parts.clone());
        let ids: std::collections::BTreeMap<u32, Box<str>> =
            parts.0.iter().map(|(key, node)| (*key, node.id.clone())).collect();
        let mut expected: Vec<String> = parts.1.iter().map(|(source, target, is_type, implicit)| {
            let kind = if *is_type { "type" } else { "runtime" };
            let resolution = if *implicit { "implicit" } else { "explicit" };
            format!("{} {} {kind} {resolution}", ids[source], ids[target])
        }).collect();
        expected.sort();
        expected.dedup();
        let graph = &built.graph;
        let actual: Vec<String> = graph.indices().flat_map(|index| graph.edges(index).iter().map(move |edge| {
            let (source, target) = (&graph.node(index).id, &graph.node(edge.target).id);
            format!("{source} {target} {} {}", edge.kind.as_str(), edge.resolution.as_str())
        })).collect();
        prop_assert_eq!(actual, expected);
    }
}
