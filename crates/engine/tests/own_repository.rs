//! This repository, mapped by `stan` itself, has the dependency direction that ARCHITECTURE.md draws.

mod support;

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use stan_engine::graph::GraphOptions;
use stan_repo::OsSystem;
use support::{cold, graph_of};

/// The arrows of the drawing: each line continues the crate above the place where it starts.
fn drawn(text: &str) -> BTreeMap<String, BTreeSet<String>> {
    let drawing = text.split("## Dependency direction").nth(1).and_then(|rest| rest.split("```").nth(1)).unwrap();
    let mut arrows: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
    // Crates with the column that they start at.
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

/// The crate whose product code a file is.
fn crate_of(path: &str) -> Option<&str> {
    let (folder, rest) = path.strip_prefix("crates/").or_else(|| path.strip_prefix("apps/"))?.split_once('/')?;
    let is_test = path.contains("/tests/") || path.contains("/tests.rs") || rest.starts_with("benches/");
    (rest.starts_with("src/") && !is_test).then_some(folder)
}

#[test]
fn the_graph_of_this_repository_is_what_its_architecture_says() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let root = stan_repo::real_path(&OsSystem, &root).unwrap();
    let arrows = drawn(include_str!("../../../ARCHITECTURE.md"));
    assert!(arrows["cli"].contains("engine") && arrows["engine"].contains("graph"), "{arrows:?}");
    let outcome = cold(&OsSystem, &GraphOptions::new(&*root));
    let graph = graph_of(&outcome);
    let mut found: BTreeSet<(&str, &str)> = BTreeSet::new();
    for (source, node) in (0..).zip(graph.nodes()) {
        for edge in graph.edges(source) {
            let target = &graph.node(edge.target).id;
            if let (Some(from), Some(to)) = (crate_of(&node.id), crate_of(target))
                // Shared by tests, which stand in product files as well.
                && from != to && to != "testkit"
            {
                found.insert((from, to));
            }
        }
    }
    // What is reached by arrows may be used; so may `model`.
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
    for (from, to) in &found {
        assert!(reaches(from, to), "{from} uses {to}: ARCHITECTURE.md has no such arrow");
    }
    for (from, targets) in arrows.iter().filter(|(from, _)| *from != "node") {
        for to in targets {
            assert!(
                found.contains(&(from.as_str(), to.as_str())),
                "the arrow from {from} to {to} has no edge: {found:?}"
            );
        }
    }
}
