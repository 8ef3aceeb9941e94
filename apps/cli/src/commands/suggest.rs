//! `stan suggest`: a selection that fits a budget, as text or JSON.

use std::io::{self, Write};

use stan_engine::OsSystem;
use stan_engine::suggest::{FocusFile, Since, SuggestReport, SuggestRequest, SuggestedNode, suggest};

use crate::args::{Cli, SuggestArgs};
use crate::commands::input;
use crate::exit::Failure;
use crate::figures::{columns, counted, grouped};
use crate::messages::Messages;
use crate::style::Style;
use crate::workspace::Workspace;

/// How many files that did not fit are named; `--json` names all.
const SHOWN: usize = 5;

pub(crate) fn run(cli: &Cli, args: &SuggestArgs) -> Result<(), Failure> {
    let messages = Messages::new(cli);
    let workspace = Workspace::find(cli)?;
    messages.hints(&workspace.hints);
    let focus = args.focus.iter().map(|typed| focus_file(&workspace, typed)).collect::<Result<_, _>>()?;
    let request = SuggestRequest {
        focus,
        changed: args.changed.clone().map(|revision| revision.map_or(Since::Index, Since::Revision)),
        log: args.log.as_deref().map(|file| input::read(&workspace, file)).transpose()?,
        budget: args.budget,
        tokenizer: args.tokens.into(),
        write: args.write,
        work: workspace.graph_request(&args.work)?,
    };
    let mut patience = messages.patience("stan suggest");
    let report = suggest(&OsSystem, &workspace.context(), &request, &mut patience)?;
    drop(patience);
    let mut out = io::BufWriter::new(io::stdout().lock());
    if args.work.json {
        return crate::json::print(&report, &mut out);
    }
    print(&report, args.explain, Style::of_stdout(cli.color), &mut out)?;
    messages.warnings(&report.warnings);
    Ok(())
}

/// `FILE` or `FILE:DEPTH`; a file whose own name ends like that is meant when it is there.
fn focus_file(workspace: &Workspace, typed: &str) -> Result<FocusFile, Failure> {
    let (file, depth) = match typed.rsplit_once(':') {
        Some((file, depth))
            if !file.is_empty() && !depth.is_empty() && depth.bytes().all(|byte| byte.is_ascii_digit()) =>
        {
            // Larger numbers than this can hold mean the same: everything.
            (file, depth.parse().unwrap_or(u32::MAX))
        }
        _ => (typed, 0),
    };
    let node_id = workspace.node_id(file).ok_or_else(|| Failure::input(format!("the path `{file}` is not UTF-8")))?;
    Ok(FocusFile { shown: file.to_owned(), node_id, depth })
}

fn print(report: &SuggestReport, explain: bool, style: Style, out: &mut dyn Write) -> io::Result<()> {
    let rows: Vec<[String; 2]> = report.nodes.iter().map(|node| [node.node_id.clone(), grouped(node.tokens)]).collect();
    for (line, node) in columns(&rows).iter().zip(&report.nodes) {
        writeln!(out, "{line}  {}", style.faint(&reason(node, explain)))?;
    }
    let files = counted(report.nodes.len() as u64, "file");
    let (tokens, budget) = (grouped(report.tokens), grouped(report.budget));
    writeln!(out, "{files}, {tokens} of {budget} {} tokens", report.tokenizer)?;
    print_rest(report, explain, out)?;
    writeln!(out, "{}", serde_json::to_string(&report.state).map_err(io::Error::from)?)?;
    if let Some(path) = &report.written {
        writeln!(out, "written to {path}")?;
    }
    out.flush()
}

/// What did not fit, and what the next step would take.
fn print_rest(report: &SuggestReport, explain: bool, out: &mut dyn Write) -> io::Result<()> {
    let count = report.too_large.len();
    if count > 0 {
        let shown = if explain { count } else { SHOWN };
        let one = |node: &SuggestedNode| format!("{} ({})", node.node_id, grouped(node.tokens));
        let names: Vec<String> = report.too_large.iter().take(shown).map(one).collect();
        let more = count.saturating_sub(shown);
        let rest = if more > 0 { format!(" and {} more", grouped(more as u64)) } else { String::new() };
        writeln!(out, "did not fit: {}{rest}", names.join(", "))?;
    }
    if report.not_counted > 0 {
        writeln!(out, "not looked at: {} further away", counted(report.not_counted, "file"))?;
    }
    if let Some(next) = &report.next {
        writeln!(out, "next: {} with --budget {}", next.node_id, next.budget)?;
    }
    Ok(())
}

fn reason(node: &SuggestedNode, explain: bool) -> String {
    if !explain {
        return node.relation.name().to_owned();
    }
    let way = if node.path.len() > 1 { format!(", by {}", node.path.join(" > ")) } else { String::new() };
    format!("{}, score {}, near {} of the focus{way}", node.relation.name(), node.score, node.reached_by)
}
