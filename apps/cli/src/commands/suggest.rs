//! `stan suggest`: a selection that fits a budget, as text or JSON.

use std::io;

use stan_engine::OsSystem;
use stan_engine::suggest::{FocusFile, Since, SuggestReport, SuggestRequest, SuggestedNode, suggest};

use crate::args::{Cli, SuggestArgs};
use crate::commands::input;
use crate::commands::select::way_text;
use crate::exit::Failure;
use crate::messages::Messages;
use crate::terminal::{Output, Text, Untrusted, columns, counted, grouped, say, text};
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
    let mut patience = messages.patience("stan suggest", &args.wait);
    let report = suggest(&OsSystem, &workspace.context(), &request, &mut patience)?;
    drop(patience);
    let mut out = Output::new(cli.color);
    if args.work.json {
        out.json(&report)?;
        out.finish()?;
        return Ok(());
    }
    print(&report, args.explain, &mut out)?;
    out.finish()?;
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

fn print(report: &SuggestReport, explain: bool, out: &mut Output) -> io::Result<()> {
    let row = |node: &SuggestedNode| [text!("{}", Untrusted::new(&node.node_id)), grouped(node.tokens)];
    let rows: Vec<[Text; 2]> = report.nodes.iter().map(row).collect();
    for (line, node) in columns(&rows).iter().zip(&report.nodes) {
        say!(out, "{}  {}", line, out.style().faint(&reason(node, explain)))?;
    }
    let files = counted(report.nodes.len() as u64, "file");
    let (tokens, budget) = (grouped(report.tokens), grouped(report.budget));
    say!(out, "{}, {} of {} {} tokens", files, tokens, budget, Untrusted::new(&report.tokenizer))?;
    print_rest(report, explain, out)?;
    out.not_analysed(&report.not_analysed)?;
    out.json(&report.state)?;
    if let Some(path) = &report.written {
        say!(out, "written to {}", Untrusted::new(path))?;
    }
    Ok(())
}

/// What did not fit, and what the next step would take.
fn print_rest(report: &SuggestReport, explain: bool, out: &mut Output) -> io::Result<()> {
    let count = report.too_large.len();
    if count > 0 {
        let shown = if explain { count } else { SHOWN };
        let one = |node: &SuggestedNode| text!("{} ({})", Untrusted::new(&node.node_id), grouped(node.tokens));
        let names = Text::joined(report.too_large.iter().take(shown).map(one), ", ");
        let more = count.saturating_sub(shown);
        let rest = if more > 0 { text!(" and {} more", grouped(more as u64)) } else { Text::default() };
        say!(out, "did not fit: {}{}", names, rest)?;
    }
    if report.not_counted > 0 {
        say!(out, "not looked at: {} further away", counted(report.not_counted, "file"))?;
    }
    if let Some(next) = &report.next {
        say!(out, "next: {} with --budget {}", Untrusted::new(&next.node_id), next.budget)?;
    }
    Ok(())
}

fn reason(node: &SuggestedNode, explain: bool) -> Text {
    let relation = node.relation.name();
    if !explain {
        return text!("{}", relation);
    }
    let way = match node.path.as_slice() {
        [] | [_] => Text::default(),
        way => text!(", by {}", way_text(node.path_omitted, way)),
    };
    text!("{}, score {}, near {} of the focus{}", relation, node.score, node.reached_by, way)
}
