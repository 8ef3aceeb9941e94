//! `stan graph`.
#![expect(clippy::print_stderr, reason = "programs talk to the terminal")]

use std::io::{self, Write};

use stan_engine::OsSystem;
use stan_engine::context::build_map;
use stan_engine::graph::{
    Cycle, Direction, Graph, GraphError, GraphOutcome, GraphRequest, Stats, Summary, Work, closure, cycles, graph,
    write_cycles_json, write_dot, write_json, write_mermaid, write_stats,
};

use crate::args::{Cli, Format, GraphArgs};
use crate::exit::Failure;
use crate::workspace::Workspace;

/// How many errors are shown on stderr when they are not part of the output.
const SHOWN_ERRORS: usize = 5;

pub(crate) fn run(cli: &Cli, args: &GraphArgs) -> Result<(), Failure> {
    let workspace = Workspace::find(cli)?;
    if args.meta {
        return print_meta(cli, args, &workspace);
    }
    let options = workspace.config.graph_options(workspace.root.clone());
    let wants_graph = args.json || args.format.is_some() || args.cycles || !args.files.is_empty();
    let request = GraphRequest {
        threads: args.threads.map(usize::from),
        cache_directory: workspace.cache_directory_of(args.no_cache, args.cache_dir.as_deref())?,
        figures_only: !wants_graph,
        leaves_memory: true,
    };
    let outcome = graph(&OsSystem, &options, &request).map_err(failure)?;
    if cli.verbose {
        explain(&outcome);
    }
    let outcome = restrict(outcome, args, &workspace)?;
    print(&outcome, args)?;
    if !(args.json || cli.quiet) {
        show_errors(&outcome.errors);
    }
    Ok(())
}

/// The map as a context run would write it.
fn print_meta(cli: &Cli, args: &GraphArgs, workspace: &Workspace) -> Result<(), Failure> {
    let request = GraphRequest {
        threads: args.threads.map(usize::from),
        cache_directory: workspace.cache_directory_of(args.no_cache, args.cache_dir.as_deref())?,
        figures_only: false,
        leaves_memory: true,
    };
    let map = build_map(&OsSystem, &workspace.context(), &request)?;
    let mut out = io::BufWriter::new(io::stdout().lock());
    map.write(&mut out, args.pretty)?;
    out.flush()?;
    if !cli.quiet {
        show_errors(&map.errors);
    }
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

fn print(outcome: &GraphOutcome, args: &GraphArgs) -> Result<(), Failure> {
    let mut out = io::stdout().lock();
    let Some(graph) = &outcome.graph else {
        write_stats(&outcome.summary, outcome.dirty as u64, &mut out)?;
        return Ok(());
    };
    match args.format {
        Some(Format::Dot) => write_dot(graph, &mut out)?,
        Some(Format::Mermaid) => write_mermaid(graph, &mut out)?,
        None if args.cycles => print_cycles(graph, &cycles(graph), args.json, &mut out)?,
        None if args.json => {
            let stats = Stats::of(graph, outcome.dirty as u64);
            write_json(graph, &stats, &outcome.errors, &mut out)?;
        }
        None => write_stats(&outcome.summary, outcome.dirty as u64, &mut out)?,
    }
    out.flush()?;
    Ok(())
}

fn print_cycles(graph: &Graph, cycles: &[Cycle], json: bool, out: &mut dyn Write) -> Result<(), Failure> {
    if json {
        write_cycles_json(graph, cycles, out)?;
        return Ok(());
    }
    if cycles.is_empty() {
        writeln!(out, "no cycles")?;
    }
    for cycle in cycles {
        let names: Vec<&str> = cycle.example.iter().map(|node| &*graph.node(*node).id).collect();
        let first = names.first().copied().unwrap_or_default();
        writeln!(out, "{} files: {} -> {first}", cycle.members.len(), names.join(" -> "))?;
    }
    Ok(())
}

fn explain(outcome: &GraphOutcome) {
    match outcome.work {
        Work::Unchanged => eprintln!("cache: nothing changed"),
        Work::Edited(files) => eprintln!("cache: {files} files read again, the rest kept"),
        Work::Compiled(files) => eprintln!("analysed {files} files"),
    }
}

fn show_errors(errors: &[String]) {
    for error in errors.iter().take(SHOWN_ERRORS) {
        eprintln!("warning: {error}");
    }
    if errors.len() > SHOWN_ERRORS {
        eprintln!("warning: {} more; `stan graph --json` lists them under `errors`", errors.len() - SHOWN_ERRORS);
    }
}
