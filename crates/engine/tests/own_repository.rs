//! The graph that `stan` computes of this repository has the dependency direction drawn in ARCHITECTURE.md.

mod support;

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use stan_engine::graph::{Graph, GraphOptions};
use stan_repo::OsSystem;
use support::{cold, graph_of};

/// The arrows of the drawing: each line continues the crate above its start column.
fn drawn(text: &str) -> BTreeMap<String, BTreeSet<String>> {
    let drawing = text.split("## Dependency direction").nth(1).and_then(|rest| rest.split("```").nth(1)).unwrap();
    let mut arrows: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
    // Crates with their start columns.
    let mut above: Vec<(usize, String)> = Vec::new();
    for line in drawing.lines().filter(|line| line.contains('►')) {
        let branch = line.chars().position(|character| matches!(character, '├' | '└'));
        let mut from: Vec<String> = branch
            .and_then(|column| {
                above.iter().rev().find(|(start, name)| (*start..=start + name.len() + 4).contains(&column))
            })
            .map(|(_, name)| name.clone())
            .into_iter()
            .collect();
        let mut column = 0;
        for part in line.split("──►") {
            let words = part.trim_matches(|character: char| !character.is_ascii_alphanumeric());
            let names: Vec<String> = words.split(", ").filter(|name| !name.is_empty()).map(str::to_owned).collect();
            for (source, target) in from.iter().flat_map(|source| names.iter().map(move |target| (source, target))) {
                arrows.entry(source.clone()).or_default().insert(target.clone());
            }
            if branch.is_none() {
                let start = column + part.chars().take_while(|character| *character == ' ').count();
                above.extend(names.iter().map(|name| (start, name.clone())));
            }
            column += part.chars().count() + 3;
            if !names.is_empty() {
                from = names;
            }
        }
    }
    arrows
}

/// The crate of a product file.
fn crate_of(path: &str) -> Option<&str> {
    let (folder, rest) = path.strip_prefix("crates/").or_else(|| path.strip_prefix("apps/"))?.split_once('/')?;
    let is_test = path.contains("/tests/") || path.contains("/tests.rs") || rest.starts_with("benches/");
    (rest.starts_with("src/") && !is_test).then_some(folder)
}

/// The crates that each crate uses, according to the graph's files.
fn used(graph: &Graph) -> BTreeSet<(String, String)> {
    let mut found = BTreeSet::new();
    for (source, node) in (0..).zip(graph.nodes()) {
        for edge in graph.edges(source) {
            let target = &graph.node(edge.target).id;
            if let (Some(from), Some(to)) = (crate_of(&node.id), crate_of(target))
                // Helpers for tests, which are also used inside product files.
                && from != to && to != "testkit"
            {
                found.insert((from.to_owned(), to.to_owned()));
            }
        }
    }
    found
}

/// Differences between the drawing and the code. A crate may use `model`, and all crates reachable through arrows.
fn disagreements(arrows: &BTreeMap<String, BTreeSet<String>>, found: &BTreeSet<(String, String)>) -> Vec<String> {
    let reaches = |from: &str, to: &str| {
        let mut pending = vec![from.to_owned()];
        let mut seen = BTreeSet::new();
        while let Some(name) = pending.pop() {
            if seen.insert(name.clone()) {
                pending.extend(arrows.get(&name).into_iter().flatten().cloned());
            }
        }
        to == "model" || seen.contains(to)
    };
    let undrawn = found.iter().filter(|(from, to)| !reaches(from, to));
    let mut lines: Vec<String> = undrawn.map(|(from, to)| format!("{from} uses {to} without an arrow")).collect();
    for (from, targets) in arrows.iter().filter(|(from, _)| *from != "node") {
        let unused = targets.iter().filter(|to| !found.contains(&(from.clone(), (*to).clone())));
        lines.extend(unused.map(|to| format!("the arrow from {from} to {to} has no edge")));
    }
    lines
}

#[test]
fn the_graph_of_this_repository_matches_its_architecture() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let root = stan_repo::real_path(&OsSystem, &root).unwrap();
    let text = include_str!("../../../ARCHITECTURE.md");
    let arrows = drawn(text);
    assert!(arrows["cli"].contains("engine") && arrows["engine"].contains("graph"), "{arrows:?}");
    let outcome = cold(&OsSystem, &GraphOptions::new(&*root));
    let found = used(graph_of(&outcome));
    assert_eq!(disagreements(&arrows, &found), Vec::<String>::new());

    // The test must fail for another drawing and for other code.
    let mut more = found.clone();
    more.insert(("model".to_owned(), "engine".to_owned()));
    assert_eq!(disagreements(&arrows, &more), ["model uses engine without an arrow"]);
    let fewer: BTreeSet<_> = found.iter().filter(|(from, _)| from != "cli").cloned().collect();
    assert!(disagreements(&arrows, &fewer).contains(&"the arrow from cli to engine has no edge".to_owned()));
    let other = drawn(&text.replacen("──► engine", "──► graph", 1));
    assert_ne!(other, arrows);
    assert_ne!(disagreements(&other, &found), Vec::<String>::new());
}
