//! `stan select`: what a selection holds, and why.

use std::io::{self, Write};

use stan_engine::OsSystem;
use stan_engine::context::reports::SelectReport;
use stan_engine::context::{SelectRequest, select};

use crate::args::{Cli, SelectArgs};
use crate::commands::input;
use crate::exit::Failure;
use crate::figures::{columns, counted, grouped};
use crate::messages::Messages;
use crate::style::Style;
use crate::workspace::Workspace;

pub(crate) fn run(cli: &Cli, args: &SelectArgs) -> Result<(), Failure> {
    let messages = Messages::new(cli);
    let workspace = Workspace::find(cli)?;
    messages.hints(&workspace.hints);
    let request = SelectRequest {
        state: args.state.as_deref().map(|file| input::read(&workspace, file)).transpose()?,
        meta: args.meta.as_deref().map(|file| input::read(&workspace, file)).transpose()?,
        tokens: Some(args.tokens.into()),
        work: workspace.graph_request(&args.work)?,
    };
    let report = select(&OsSystem, &workspace.context(), &request)?;
    let mut out = io::BufWriter::new(io::stdout().lock());
    if args.work.json {
        return crate::json::print(&report, &mut out);
    }
    print(&report, Style::of_stdout(cli.color), &mut out)?;
    messages.warnings(&report.warnings);
    Ok(())
}

/// Each node with its size, and behind it the way that brought it in.
fn print(report: &SelectReport, style: Style, out: &mut dyn Write) -> io::Result<()> {
    let rows: Vec<[String; 2]> =
        report.nodes.iter().map(|node| [node.node_id.clone(), format!("{} bytes", grouped(node.bytes))]).collect();
    for (line, node) in columns(&rows).iter().zip(&report.nodes) {
        match node.path.split_last() {
            Some((_, way)) if !way.is_empty() => {
                writeln!(out, "{line}  {}", style.faint(&format!("from {}", way.join(" > "))))?;
            }
            _ => writeln!(out, "{line}")?,
        }
    }
    let exact = report.exact_tokens.as_ref().filter(|exact| exact.tokenizer != "bytes4");
    let tokens = match exact {
        Some(exact) => format!("{} {} tokens", grouped(exact.tokens), exact.tokenizer),
        None => format!("~{} tokens", grouped(report.tokens)),
    };
    let nodes = counted(report.selected_count, "node");
    writeln!(out, "{nodes}, {} bytes, {tokens}", grouped(report.total_bytes))?;
    out.flush()
}
