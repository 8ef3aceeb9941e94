//! Helpers of the engine's tests: run the real pipeline, and show its answer as text.

#![allow(dead_code, reason = "no test file uses everything in here")]

pub(crate) mod disk;
pub(crate) mod edits;
pub(crate) mod other_languages;

use stan_engine::Engine;
use stan_engine::graph::{Graph, GraphOptions, GraphOutcome, GraphRequest, Stats, graph, write_json};
use stan_repo::{MemorySystem, WritableSystem};

/// The root of repositories in fixtures; all other files are outside.
pub(crate) const ROOT: &str = "/r";

/// The answer without a cache.
pub(crate) fn cold(system: &dyn WritableSystem, options: &GraphOptions) -> GraphOutcome {
    run(system, options, &GraphRequest::default())
}

pub(crate) fn run(system: &dyn WritableSystem, options: &GraphOptions, request: &GraphRequest) -> GraphOutcome {
    run_on(2, system, options, request)
}

/// Like [`run`], on the given number of threads.
pub(crate) fn run_on(
    threads: usize,
    system: &dyn WritableSystem,
    options: &GraphOptions,
    request: &GraphRequest,
) -> GraphOutcome {
    let engine = Engine::new(system).with_threads(Some(threads));
    graph(&engine, options, request).expect("no input makes a run fail")
}

/// The cold answer for a repository written as one string.
pub(crate) fn fixture(text: &str) -> GraphOutcome {
    cold(&MemorySystem::from_fixture(text), &GraphOptions::new(ROOT))
}

/// The document that `stan graph --json` prints.
pub(crate) fn json(outcome: &GraphOutcome) -> String {
    let graph = outcome.graph.as_ref().expect("the whole graph was asked for");
    let mut bytes = Vec::new();
    write_json(graph, &Stats::of(graph, outcome.dirty as u64), &outcome.errors, &outcome.not_analysed(), &mut bytes)
        .expect("memory is writable");
    String::from_utf8(bytes).expect("JSON is UTF-8")
}

/// One line per edge, `~` before implicit ones, then one per error: `a.ts -> b.ts runtime`.
pub(crate) fn edges(outcome: &GraphOutcome) -> String {
    let graph = graph_of(outcome);
    let mut text = String::new();
    for source in graph.indices() {
        for edge in graph.edges(source) {
            let mark = if edge.resolution.as_str() == "implicit" { "~" } else { "" };
            let (from, to) = (&graph.node(source).id, &graph.node(edge.target).id);
            text.push_str(&format!("{from} -> {mark}{to} {}\n", edge.kind.as_str()));
        }
    }
    text + &errors(outcome)
}

/// One line per node: `source src/a.ts`.
pub(crate) fn nodes(outcome: &GraphOutcome) -> String {
    graph_of(outcome).nodes().iter().map(|node| format!("{} {}\n", node.kind.as_str(), node.id)).collect()
}

pub(crate) fn errors(outcome: &GraphOutcome) -> String {
    outcome.errors.iter().map(|error| format!("error: {error}\n")).collect()
}

/// Kind and id of all dependencies of the node with this id.
pub(crate) fn targets(outcome: &GraphOutcome, id: &str) -> Vec<String> {
    let graph = graph_of(outcome);
    let node = graph.find(id).unwrap_or_else(|| panic!("{id} is not a node:\n{}", nodes(outcome)));
    let target = |edge: &stan_graph::Edge| graph.node(edge.target).id.to_string();
    graph.edges(node).iter().map(target).collect()
}

pub(crate) fn graph_of(outcome: &GraphOutcome) -> &Graph {
    outcome.graph.as_ref().expect("the whole graph was asked for")
}
