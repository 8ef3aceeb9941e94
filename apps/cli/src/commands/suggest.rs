//! `stan suggest`: prints a selection that fits a budget, as text or JSON.

use std::io;

use stan_engine::Engine;
use stan_engine::suggest::{SuggestReport, SuggestRequest, SuggestedNode, SuggestedTerm, suggest};

use crate::args::{Cli, SuggestArgs};
use crate::commands::task;
use crate::exit::Failure;
use crate::messages::Messages;
use crate::terminal::{Output, Text, Untrusted, columns, counted, grouped, say, text};
use crate::workspace::Workspace;

/// How many files that did not fit are named; `--json` names more.
const MAX_SHOWN: usize = 5;

pub(crate) fn run(cli: &Cli, engine: &Engine<'_>, args: &SuggestArgs) -> Result<(), Failure> {
    let messages = Messages::new(cli);
    let workspace = Workspace::find(cli, engine)?;
    messages.hints(&workspace.hints);
    let request = SuggestRequest {
        query: task::query(&workspace, &messages, &args.task)?,
        budget: args.budget,
        tokenizer: args.tokens.into(),
        compact: args.compact,
        write: args.write,
        work: workspace.graph_request(&args.work.graph)?,
    };
    let mut progress = messages.progress("stan suggest", &args.wait);
    let report = suggest(engine, &workspace.repository(), &request, &mut progress)?;
    drop(progress);
    let mut out = Output::new(cli.global.color);
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

fn print(report: &SuggestReport, explain: bool, out: &mut Output) -> io::Result<()> {
    let row = |node: &SuggestedNode| [text!("{}", Untrusted::new(&node.node_id)), grouped(node.tokens)];
    let rows: Vec<[Text; 2]> = report.nodes.iter().map(row).collect();
    for (line, node) in columns(&rows).iter().zip(&report.nodes) {
        say!(out, "{}  {}", line, out.style().faint(&reason(node, explain)))?;
    }
    let files = counted(report.nodes.len() as u64, "file");
    let tokens = grouped(report.tokens);
    let tokenizer = Untrusted::new(&report.tokenizer);
    match report.budget {
        0 => say!(out, "{}, {} {} tokens", files, tokens, tokenizer)?,
        budget => {
            let unused = grouped(report.unused);
            say!(out, "{}, {} of {} {} tokens, {} unused", files, tokens, grouped(budget), tokenizer, unused)?;
        }
    }
    print_rest(report, out)?;
    for missing in &report.unavailable {
        say!(out, "not available: {}", Untrusted::new(missing))?;
    }
    out.not_analysed(&report.not_analysed)?;
    out.json(&report.state)?;
    if let Some(path) = &report.written {
        say!(out, "written to {}", Untrusted::new(path))?;
    }
    Ok(())
}

/// Prints what did not fit, and what the next step would cost.
fn print_rest(report: &SuggestReport, out: &mut Output) -> io::Result<()> {
    let count = report.too_large.len();
    if count > 0 {
        let one = |node: &SuggestedNode| text!("{} ({})", Untrusted::new(&node.node_id), grouped(node.tokens));
        let names = Text::joined(report.too_large.iter().take(MAX_SHOWN).map(one), ", ");
        let more = count.saturating_sub(MAX_SHOWN);
        let rest = if more > 0 { text!(" and {} more", grouped(more as u64)) } else { Text::default() };
        say!(out, "did not fit, but `stan pack` can show their signatures: {}{}", names, rest)?;
    }
    if report.not_counted > 0 {
        say!(out, "not listed: {} of lower rank", counted(report.not_counted, "file"))?;
    }
    if report.negligible > 0 {
        say!(out, "left out: {} with less than a twentieth of the best score", counted(report.negligible, "file"))?;
    }
    if let Some(next) = &report.next {
        say!(out, "next: {} with --budget {}", Untrusted::new(&next.node_id), next.budget)?;
    }
    Ok(())
}

fn reason(node: &SuggestedNode, explain: bool) -> Text {
    let relation = match &node.reason {
        Some(reason) => text!("{}", Untrusted::new(reason)),
        None => text!("{}", node.relation.name()),
    };
    if !explain || node.terms.is_empty() {
        return relation;
    }
    let term = |term: &SuggestedTerm| text!("{} {}", Untrusted::new(&term.signal), thousandths(term.value));
    let terms = Text::joined(node.terms.iter().map(term), ", ");
    text!("{}, score {} ({})", relation, thousandths(node.score), terms)
}

/// A number in thousandths, such as `1.25`.
fn thousandths(value: i64) -> Text {
    let hundredths = (value + 5) / 10;
    let digits = hundredths.rem_euclid(100);
    text!("{}.{}{}", hundredths.div_euclid(100), digits / 10, digits % 10)
}
