//! Closures: what is reached is kept with all edges inside, in both directions.

use proptest::prelude::*;
use stan_model::{EdgeKind, Language, NodeKind, Resolution};

use super::*;
use crate::builder::GraphBuilder;
use crate::graph::Node;

/// `a>b a>c` is two edges; `d` alone a node.
pub(crate) fn graph(text: &str) -> Graph {
    let mut builder = GraphBuilder::new();
    let mut ids: Vec<&str> = Vec::new();
    let mut key = |id: &'static str, builder: &mut GraphBuilder| key_of(id, &mut ids, builder);
    // Tests are few and short: leaking their text keeps this helper small.
    let text: &'static str = Box::leak(text.to_owned().into_boxed_str());
    for item in text.split_whitespace() {
        let (source, target) = item.split_once('>').map_or((item, None), |(source, target)| (source, Some(target)));
        let source = key(source, &mut builder);
        if let Some(target) = target {
            let target = key(target, &mut builder);
            builder.edge(source, target, EdgeKind::Runtime, Resolution::Explicit);
        }
    }
    builder.finish().unwrap().graph
}

fn key_of<'a>(id: &'a str, ids: &mut Vec<&'a str>, builder: &mut GraphBuilder) -> u32 {
    if let Some(known) = ids.iter().position(|other| *other == id) {
        return known as u32;
    }
    ids.push(id);
    let key = ids.len() as u32 - 1;
    let (kind, language) = (NodeKind::Source, Language::Ts);
    builder.node(key, Node { id: id.into(), kind, language, description: None, file: None, outside_root: false });
    key
}

fn render(graph: &Graph) -> String {
    let mut items: Vec<String> = Vec::new();
    for index in graph.indices() {
        items.push(graph.node(index).id.to_string());
        let edges = graph.edges(index).iter();
        items.extend(edges.map(|edge| format!("{}>{}", graph.node(index).id, graph.node(edge.target).id)));
    }
    items.join(" ")
}

fn check(text: &str, seeds: &str, direction: Direction, expected: &str) {
    let graph = graph(text);
    let seeds: Vec<u32> = seeds.split_whitespace().map(|id| graph.find(id).unwrap()).collect();
    assert_eq!(render(&closure(&graph, &seeds, direction)), expected, "{seeds:?} of {text}");
}

#[test]
fn forward_keeps_the_dependencies() {
    check("a>b b>c d>b e", "a", Direction::Forward, "a a>b b b>c c");
    check("a>b b>c d>b e", "c", Direction::Forward, "c");
    check("a>b b>c d>b e", "e d", Direction::Forward, "b b>c c d d>b e");
    check("a>b", "", Direction::Forward, "");
}

#[test]
fn backward_keeps_the_dependents_and_leaves_their_edges_as_they_are() {
    check("a>b b>c d>b e b>x", "b", Direction::Backward, "a a>b b d d>b");
    check("a>b b>c d>b e", "c", Direction::Backward, "a a>b b b>c c d d>b");
    check("a>b b>c a>c", "b", Direction::Backward, "a a>b b");
}

#[test]
fn edges_between_reached_nodes_are_kept_even_off_the_path() {
    check("a>b b>a a>a c>a", "a", Direction::Backward, "a a>a a>b b b>a c c>a");
    check("a>b b>c c>a x>a", "b", Direction::Forward, "a a>b b b>c c c>a");
}

#[test]
fn a_seed_that_is_not_in_the_graph_reaches_no_node() {
    let graph = graph("a>b");
    assert_eq!(closure(&graph, &[7, u32::MAX], Direction::Forward).node_count(), 0);
    assert_eq!(closure(&Graph::default(), &[0], Direction::Backward).node_count(), 0);
}

#[test]
fn stats_count_nodes_and_edges() {
    assert_eq!(Stats::of(&graph("a>b b>a c"), 2), Stats { modules: 3, edges: 2, dirty: 2 });
}

fn random_graph() -> impl Strategy<Value = Graph> {
    prop::collection::vec((0..9u8, 0..9u8), 0..25).prop_map(|edges| {
        let edges: Vec<String> = edges.iter().map(|(source, target)| format!("{source}>{target}")).collect();
        graph(&format!("0 1 2 3 4 5 6 7 8 {}", edges.join(" ")))
    })
}

proptest! {
    #[test]
    fn a_closure_is_a_part_and_closing_it_again_changes_nothing(graph in random_graph(), seed in 0..9u32) {
        for direction in [Direction::Forward, Direction::Backward] {
            let part = closure(&graph, &[seed], direction);
            let again = part.find(&graph.node(seed).id).unwrap();
            prop_assert_eq!(&closure(&part, &[again], direction), &part);
            for index in part.indices() {
                let original = graph.find(&part.node(index).id).unwrap();
                for edge in part.edges(index) {
                    let target = graph.find(&part.node(edge.target).id).unwrap();
                    prop_assert!(graph.edges(original).iter().any(|other| other.target == target));
                }
            }
        }
    }

    #[test]
    fn a_is_in_the_forward_closure_of_b_iff_b_is_in_the_backward_closure_of_a(graph in random_graph()) {
        for a in graph.indices() {
            let backward = closure(&graph, &[a], Direction::Backward);
            for b in graph.indices() {
                let forward = closure(&graph, &[b], Direction::Forward);
                let (a_id, b_id) = (&graph.node(a).id, &graph.node(b).id);
                prop_assert_eq!(forward.find(a_id).is_some(), backward.find(b_id).is_some());
            }
        }
    }
}
