//! Cycles against small pictures and a plain definition.

use proptest::prelude::*;

use super::*;
use crate::query::tests::graph;

/// Expected: one item per cycle, `members|example`.
fn check(text: &str, expected: &[&str]) {
    let graph = graph(text);
    let names = |nodes: &[u32]| nodes.iter().map(|node| graph.node(*node).id.to_string()).collect::<Vec<_>>().join("");
    let actual: Vec<String> =
        cycles(&graph).iter().map(|cycle| format!("{}|{}", names(&cycle.members), names(&cycle.example))).collect();
    assert_eq!(actual, expected, "{text}");
}

#[test]
fn cycles_of_small_graphs() {
    check("", &[]);
    check("a>b b>c a>c", &[]);
    check("a>a", &["a|a"]);
    check("a>b b>a", &["ab|ab"]);
    check("b>c c>d d>b a>b d>e", &["bcd|bcd"]);
    check("c>d d>c a>b b>a b>c", &["ab|ab", "cd|cd"]);
    check("a>b b>a b>b", &["ab|b"]);
    check("a>b b>c c>d d>a c>d d>c", &["abcd|cd"]);
    check("a>c c>b b>a", &["abc|acb"]);
    check("a>b b>c c>a a>c", &["abc|ac"]);
}

#[test]
fn a_very_long_cycle_and_a_very_long_chain_need_no_stack() {
    use crate::builder::GraphBuilder;
    use crate::graph::Node;
    use stan_model::{EdgeKind, Language, NodeKind, Resolution};
    const LENGTH: u32 = 200_000;
    for closed in [true, false] {
        let mut builder = GraphBuilder::new();
        for key in 0..LENGTH {
            let (kind, language) = (NodeKind::Source, Language::Ts);
            let id = format!("{key:06}").into();
            builder.node(key, Node { id, kind, language, description: None, file: None, outside_root: false });
            if closed || key + 1 < LENGTH {
                builder.edge(key, (key + 1) % LENGTH, EdgeKind::Runtime, Resolution::Explicit);
            }
        }
        let found = cycles(&builder.finish().unwrap().graph);
        let lengths: Vec<_> = found.iter().map(|cycle| (cycle.members.len(), cycle.example.len())).collect();
        assert_eq!(lengths, if closed { vec![(200_000, 200_000)] } else { vec![] });
    }
}

/// The textbook definition: a and b are in one component when each reaches the other.
fn naive(edges: &[(u32, u32)], count: u32) -> Vec<Vec<u32>> {
    let size = count as usize;
    let mut reaches = vec![vec![false; size]; size];
    for (source, target) in edges {
        reaches[*source as usize][*target as usize] = true;
    }
    for middle in 0..size {
        for source in 0..size {
            for target in 0..size {
                reaches[source][target] |= reaches[source][middle] && reaches[middle][target];
            }
        }
    }
    let on_cycle = (0..size).filter(|node| reaches[*node][*node]);
    let mut components: Vec<Vec<u32>> = on_cycle
        .map(|node| {
            (0..size).filter(|other| reaches[node][*other] && reaches[*other][node]).map(|n| n as u32).collect()
        })
        .collect();
    components.dedup();
    components.sort();
    components.dedup();
    components
}

proptest! {
    #[test]
    fn components_are_those_of_the_definition(edges in prop::collection::vec((0..9u32, 0..9u32), 0..22)) {
        let text: Vec<String> = edges.iter().map(|(source, target)| format!("{source}>{target}")).collect();
        let graph = graph(&format!("0 1 2 3 4 5 6 7 8 {}", text.join(" ")));
        let found = cycles(&graph);
        let members: Vec<Vec<u32>> = found.iter().map(|cycle| cycle.members.clone()).collect();
        prop_assert_eq!(members, naive(&edges, 9));
        for cycle in &found {
            let next = cycle.example.iter().cycle().skip(1);
            for (node, next) in cycle.example.iter().zip(next) {
                prop_assert!(cycle.members.contains(node));
                prop_assert!(graph.edges(*node).iter().any(|edge| edge.target == *next));
            }
            prop_assert_eq!(Some(cycle.example.len()), shortest(&graph, &cycle.members));
        }
    }
}

/// Tries all ways round by length.
fn shortest(graph: &Graph, members: &[u32]) -> Option<usize> {
    let around = |start: u32, length: usize| {
        let mut ends = vec![start];
        for _ in 0..length {
            ends = ends.iter().flat_map(|node| graph.edges(*node).iter().map(|edge| edge.target)).collect();
            ends.sort_unstable();
            ends.dedup();
        }
        ends.contains(&start)
    };
    (1..=members.len()).find(|length| members.iter().any(|member| around(*member, *length)))
}
