//! `stan graph`: prints the graph, its counts, its cycles or its missing imports.

use std::io;

use stan_engine::Engine;
use stan_engine::context::{JsonStyle, build_map};
use stan_engine::graph::{
    CacheUse, Cycle, Direction, Graph, GraphOutcome, GraphRequest, GroupBy, Stats, cycles, graph, grouped, restrict,
    write_cycles_json, write_dot, write_json, write_mermaid, write_stats,
};
use stan_engine::sarif::SarifLog;

use crate::args::answers::LevelChoice;
use crate::args::{Cli, Format, GraphArgs};
use crate::exit::Failure;
use crate::messages::Messages;
use crate::terminal::{Output, Text, Untrusted, counted, say, stderr_is_terminal, text};
use crate::workspace::Workspace;

pub(crate) fn run(cli: &Cli, engine: &Engine<'_>, args: &GraphArgs) -> Result<(), Failure> {
    let workspace = Workspace::find(cli, engine)?;
    Messages::new(cli).hints(&workspace.hints);
    if args.meta {
        return print_meta(cli, args, &workspace);
    }
    if args.format == Some(Format::Sarif) {
        return print_missing(cli, engine, args, &workspace);
    }
    let options = workspace.config.graph_options(workspace.root.clone());
    let wants_graph = args.json || args.format.is_some() || args.cycles || !args.files.is_empty();
    let request = workspace.graph_request(&args.graph)?;
    let request = GraphRequest { stats_only: !wants_graph, ..request };
    let outcome = graph(engine, &options, &request)?;
    let messages = Messages::new(cli);
    if cli.global.verbose {
        messages.explain(&explanation(&outcome));
    }
    let direction = if args.dependents { Direction::Backward } else { Direction::Forward };
    let files = args.files.iter().map(|typed| workspace.asked_file(engine, typed)).collect::<Result<Vec<_>, _>>()?;
    // For folders, `--depth` is the depth at which folders are cut, not a number of edges.
    let hops = args.depth.filter(|_| args.level != LevelChoice::Folder);
    let outcome = restrict(outcome, &files, direction, hops.map_or(usize::MAX, usize::from))?;
    let outcome = diagram_level(outcome, args);
    guard_mermaid(&outcome, args)?;
    let mut out = Output::new(cli.global.color);
    print(&outcome, args, &mut out)?;
    out.finish()?;
    // Counts and JSON report unanalysed files themselves; a diagram without edges does not explain why it has none.
    if args.format.is_some() || args.cycles {
        messages.not_analysed(&outcome.not_analysed());
    }
    // Counts do not answer a question about the code, so suggest other commands, unless `--stats` asked for them. A program that
    // reads the counts needs no hint.
    if !wants_graph && !args.stats && stderr_is_terminal() {
        let next = "`stan map` shows what the repository holds, `stan deps FILE` and `stan dependents FILE` the imports of a file";
        messages.hints(&[next.to_owned()]);
    }
    if !args.json {
        messages.errors_beside_graph(&outcome.errors, outcome.work == CacheUse::Unchanged);
    }
    Ok(())
}

/// Prints the map as a context run would write it.
fn print_meta(cli: &Cli, args: &GraphArgs, workspace: &Workspace<'_>) -> Result<(), Failure> {
    let request = workspace.graph_request(&args.graph)?;
    let map = build_map(workspace.engine, &workspace.repository(), &request)?;
    let mut out = Output::new(cli.global.color);
    let style = if args.pretty { JsonStyle::Indented } else { JsonStyle::Minified };
    out.document(|out| map.write(out, style))?;
    out.finish()?;
    let messages = Messages::new(cli);
    messages.not_analysed(&map.not_analysed());
    messages.errors_beside_graph(&map.problems(), map.is_unchanged);
    Ok(())
}

/// Merges files into their folders or packages.
fn diagram_level(outcome: GraphOutcome, args: &GraphArgs) -> GraphOutcome {
    let by = match args.level {
        LevelChoice::File => return outcome,
        LevelChoice::Folder => GroupBy::Folder { depth: args.depth.map(usize::from) },
        LevelChoice::Package => GroupBy::Package,
    };
    let graph = outcome.graph.as_ref().map(|graph| grouped(graph, by));
    GraphOutcome { graph, ..outcome }
}

/// Refuses diagrams with too many edges: Mermaid would draw an error message instead.
fn guard_mermaid(outcome: &GraphOutcome, args: &GraphArgs) -> Result<(), Failure> {
    let edges = outcome.graph.as_ref().map_or(0, Graph::edge_count);
    if args.format != Some(Format::Mermaid) || args.max_edges == 0 || edges <= args.max_edges {
        return Ok(());
    }
    Err(Failure::input(format!("the diagram has {edges} edges; Mermaid draws at most {}", args.max_edges)).hint(
        "`--level folder --depth 2` or `--level package` draws less, `stan graph FILE --depth 1` a part; \
         `--max-edges 0` writes it all the same; `stan view` shows everything",
    ))
}

/// Prints all imports of the repository without a target.
fn print_missing(cli: &Cli, engine: &Engine<'_>, args: &GraphArgs, workspace: &Workspace) -> Result<(), Failure> {
    if !args.files.is_empty() {
        return Err(Failure::usage("`--format sarif` is about the whole repository").hint("leave the files out"));
    }
    let request = workspace.graph_request(&args.graph)?;
    let log = SarifLog::of_missing_imports(engine, &workspace.repository(), &request)?;
    let mut out = Output::new(cli.global.color);
    out.json(&log)?;
    out.finish()?;
    Ok(())
}

fn print(outcome: &GraphOutcome, args: &GraphArgs, out: &mut Output) -> io::Result<()> {
    let print_stats = |out: &mut Output| {
        out.document(|out| write_stats(&outcome.summary, outcome.dirty as u64, out))?;
        out.not_analysed(&outcome.not_analysed())
    };
    let Some(graph) = &outcome.graph else { return print_stats(out) };
    match args.format {
        Some(Format::Dot) => out.document(|out| write_dot(graph, out)),
        Some(Format::Mermaid) => out.document(|out| write_mermaid(graph, out)),
        // Printed earlier, without the graph's own writers.
        Some(Format::Sarif) => Ok(()),
        None if args.cycles && args.json => out.document(|out| write_cycles_json(graph, &cycles(graph), out)),
        None if args.cycles => print_cycles(graph, &cycles(graph), out),
        None if args.json => {
            let stats = Stats::of(graph, outcome.dirty as u64);
            out.document(|out| write_json(graph, &stats, &outcome.errors, &outcome.not_analysed(), out))
        }
        None => print_stats(out),
    }
}

fn print_cycles(graph: &Graph, cycles: &[Cycle], out: &mut Output) -> io::Result<()> {
    if cycles.is_empty() {
        say!(out, "no cycles")?;
    }
    for cycle in cycles {
        let name = |node: &u32| Untrusted::new(&graph.node(*node).id);
        let first = cycle.example.first().map_or(Untrusted::new(""), name);
        let names = Text::joined(cycle.example.iter().map(name), " -> ");
        say!(out, "{}: {} -> {}", counted(cycle.members.len() as u64, "file"), names, first)?;
    }
    Ok(())
}

fn explanation(outcome: &GraphOutcome) -> Text {
    match outcome.work {
        CacheUse::Unchanged => text!("cache: nothing changed"),
        CacheUse::Edited(files) => text!("cache: {} files read again, the rest kept", files),
        CacheUse::Compiled(files) => text!("analysed {} files", files),
    }
}
