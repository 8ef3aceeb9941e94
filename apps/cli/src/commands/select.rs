//! `stan select`: prints what a selection contains, and why.

use std::io;

use stan_engine::Engine;
use stan_engine::context::reports::{SelectReport, SelectedNode};
use stan_engine::context::{SelectRequest, select};

use crate::args::{Cli, SelectArgs};
use crate::commands::input;
use crate::exit::Failure;
use crate::messages::Messages;
use crate::terminal::{Output, Text, Untrusted, columns, counted, grouped, say, text};
use crate::workspace::Workspace;

pub(crate) fn run(cli: &Cli, engine: &Engine<'_>, args: &SelectArgs) -> Result<(), Failure> {
    let messages = Messages::new(cli);
    let workspace = Workspace::find(cli, engine)?;
    messages.hints(&workspace.hints);
    let request = SelectRequest {
        state: args.state.as_deref().map(|file| input::read(&workspace, file)).transpose()?,
        meta: args.meta.as_deref().map(|file| input::read(&workspace, file)).transpose()?,
        tokens: Some(args.tokens.into()),
        work: workspace.graph_request(&args.work.graph)?,
    };
    let report = select(engine, &workspace.repository(), &request)?;
    let mut out = Output::new(cli.global.color);
    if args.work.json {
        out.json(&report)?;
        out.finish()?;
    } else {
        print(&report, &mut out)?;
        out.finish()?;
        messages.warnings(&report.warnings);
    }
    // A selection that only names files which do not exist is a mistake in the state, not an empty selection.
    if report.names_only_absent_files() { Err(Failure::reported(1)) } else { Ok(()) }
}

/// The steps of a path, and how many steps before them are omitted.
pub(crate) fn way_text(omitted: Option<u64>, steps: &[String]) -> Text {
    let steps = Text::joined(steps.iter().map(|step| Untrusted::new(step)), " > ");
    match omitted {
        None => steps,
        Some(count) => text!("… {} > {}", counted(count, "step"), steps),
    }
}

/// Each node with its size, followed by the path that selected it.
fn print(report: &SelectReport, out: &mut Output) -> io::Result<()> {
    let row =
        |node: &SelectedNode| [text!("{}", Untrusted::new(&node.node_id)), text!("{} bytes", grouped(node.bytes))];
    let rows: Vec<[Text; 2]> = report.nodes.iter().map(row).collect();
    for (line, node) in columns(&rows).iter().zip(&report.nodes) {
        match node.path.split_last() {
            Some((_, way)) if !way.is_empty() => {
                let way = way_text(node.path_omitted, way);
                say!(out, "{}  {}", line, out.style().faint(&text!("from {}", way)))?;
            }
            _ => say!(out, "{}", line)?,
        }
    }
    let exact = report.exact_tokens.as_ref().filter(|exact| exact.tokenizer != "bytes4");
    let tokens = match exact {
        Some(exact) => text!("{} {} tokens", grouped(exact.tokens), Untrusted::new(&exact.tokenizer)),
        None => text!("~{} tokens", grouped(report.tokens)),
    };
    let nodes = counted(report.selected_count, "node");
    say!(out, "{}, {} bytes, {}", nodes, grouped(report.total_bytes), tokens)?;
    if report.nodes.is_empty() && report.left_out.is_empty() {
        say!(out, "the selection is empty: `stan suggest --about \"…\"` proposes one")?;
    }
    if !report.left_out.is_empty() {
        say!(out, "\n{}", out.style().strong("left out, not counted"))?;
        for left_out in &report.left_out {
            say!(out, "  {}: {}", Untrusted::new(&left_out.path), Untrusted::new(&left_out.reason))?;
        }
    }
    out.not_analysed(&report.not_analysed)
}
