//! `stan graph`.

use std::io;

use stan_engine::OsSystem;
use stan_engine::context::build_map;
use stan_engine::graph::{
    Cycle, Direction, Graph, GraphError, GraphOutcome, GraphRequest, Stats, Summary, Work, closure, cycles, graph,
    write_cycles_json, write_dot, write_json, write_mermaid, write_stats,
};
use stan_engine::sarif::SarifLog;

use crate::args::{Cli, Format, GraphArgs};
use crate::exit::Failure;
use crate::messages::Messages;
use crate::terminal::{Output, Text, Untrusted, say, text};
use crate::workspace::Workspace;

pub(crate) fn run(cli: &Cli, args: &GraphArgs) -> Result<(), Failure> {
    let workspace = Workspace::find(cli)?;
    Messages::new(cli).hints(&workspace.hints);
    if args.meta {
        return print_meta(cli, args, &workspace);
    }
    if args.format == Some(Format::Sarif) {
        return print_missing(cli, args, &workspace);
    }
    let options = workspace.config.graph_options(workspace.root.clone());
    let wants_graph = args.json || args.format.is_some() || args.cycles || !args.files.is_empty();
    let request = workspace.request_of(args.threads, args.no_cache, args.cache_dir.as_deref())?;
    let request = GraphRequest { stats_only: !wants_graph, ..request };
    let outcome = graph(&OsSystem, &options, &request).map_err(failure)?;
    let messages = Messages::new(cli);
    if cli.verbose {
        messages.explain(&explanation(&outcome));
    }
    let outcome = restrict(outcome, args, &workspace)?;
    let mut out = Output::new(cli.color);
    print(&outcome, args, &mut out)?;
    out.finish()?;
    // The figures and the JSON say it themselves; a diagram without edges does not say why.
    if args.format.is_some() || args.cycles {
        messages.not_analysed(&outcome.not_analysed());
    }
    if !args.json {
        messages.errors_beside_graph(&outcome.errors, outcome.work == Work::Unchanged);
    }
    Ok(())
}

/// The map as a context run would write it.
fn print_meta(cli: &Cli, args: &GraphArgs, workspace: &Workspace) -> Result<(), Failure> {
    let request = workspace.request_of(args.threads, args.no_cache, args.cache_dir.as_deref())?;
    let map = build_map(&OsSystem, &workspace.repository(), &request)?;
    let mut out = Output::new(cli.color);
    out.document(|out| map.write(out, args.pretty))?;
    out.finish()?;
    let messages = Messages::new(cli);
    messages.not_analysed(&map.not_analysed());
    messages.errors_beside_graph(&map.problems(), map.is_unchanged);
    Ok(())
}

/// Imports that lead nowhere, of the whole repository.
fn print_missing(cli: &Cli, args: &GraphArgs, workspace: &Workspace) -> Result<(), Failure> {
    if !args.files.is_empty() {
        return Err(Failure::usage("`--format sarif` is about the whole repository").hint("leave the files out"));
    }
    let request = workspace.request_of(args.threads, args.no_cache, args.cache_dir.as_deref())?;
    let log = SarifLog::of_missing_imports(&OsSystem, &workspace.repository(), &request)?;
    let mut out = Output::new(cli.color);
    out.json(&log)?;
    out.finish()?;
    Ok(())
}

fn failure(error: GraphError) -> Failure {
    Failure::internal(error.to_string()).hint("please report this, with the command that shows it")
}

/// Cuts the graph down to the named files and what they reach.
fn restrict(outcome: GraphOutcome, args: &GraphArgs, workspace: &Workspace) -> Result<GraphOutcome, Failure> {
    let (Some(graph), false) = (&outcome.graph, args.files.is_empty()) else { return Ok(outcome) };
    let mut seeds = Vec::with_capacity(args.files.len());
    for typed in &args.files {
        let id = workspace.node_id(typed);
        let found = id.as_deref().and_then(|id| graph.find(id)).or_else(|| graph.find(typed));
        seeds.push(found.ok_or_else(|| unknown_file(typed, graph))?);
    }
    let direction = if args.dependents { Direction::Backward } else { Direction::Forward };
    let part = closure(graph, &seeds, direction);
    Ok(GraphOutcome { summary: Summary::of(&part), graph: Some(part), ..outcome })
}

fn unknown_file(typed: &str, graph: &Graph) -> Failure {
    let name = typed.rsplit('/').next().unwrap_or(typed);
    let alike: Vec<&str> = graph
        .nodes()
        .iter()
        .map(|node| &*node.id)
        .filter(|id| id.rsplit('/').next().is_some_and(|candidate| candidate.contains(name)))
        .take(3)
        .collect();
    let failure = Failure::input(format!("`{typed}` is not in the graph"));
    if alike.is_empty() {
        failure.hint("`stan graph --json` lists every file; ignored files are in it only when something imports them")
    } else {
        failure.hint(format!("did you mean {}?", alike.join(", ")))
    }
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
        // Has been answered without the graph's own writers.
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
        say!(out, "{} files: {} -> {}", cycle.members.len(), names, first)?;
    }
    Ok(())
}

fn explanation(outcome: &GraphOutcome) -> Text {
    match outcome.work {
        Work::Unchanged => text!("cache: nothing changed"),
        Work::Edited(files) => text!("cache: {} files read again, the rest kept", files),
        Work::Compiled(files) => text!("analysed {} files", files),
    }
}
