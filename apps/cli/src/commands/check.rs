//! `stan check`: prints the findings about a reply, each with the offending text underlined and a remedy.

use std::io;

use stan_engine::Engine;
use stan_engine::reply::{CheckRequest, Finding, ReplyReport, Severity, check_reply};
use stan_engine::sarif::SarifLog;

use crate::args::{CheckArgs, Cli, FindingsFormat};
use crate::commands::input;
use crate::exit::Failure;
use crate::messages::Messages;
use crate::terminal::{Output, Text, Untrusted, counted, say};
use crate::workspace::Workspace;

pub(crate) fn run(cli: &Cli, engine: &Engine<'_>, args: &CheckArgs) -> Result<(), Failure> {
    let messages = Messages::new(cli);
    let workspace = Workspace::find(cli, engine)?;
    messages.hints(&workspace.hints);
    let archive = args.archive.as_deref().map(|typed| workspace.named_path(typed)).transpose()?;
    let request = CheckRequest {
        reply: input::read(&workspace, &args.reply)?,
        archive,
        seen: args.seen,
        strict: args.strict,
        budget: args.budget,
        tokenizer: args.tokens.into(),
    };
    let report = check_reply(engine, &workspace.repository(), &request)?;
    let mut out = Output::new(cli.global.color);
    match args.format {
        Some(FindingsFormat::Sarif) => out.json(&SarifLog::of_reply(&report))?,
        None if args.json => out.json(&report)?,
        None => print(&report, &mut out)?,
    }
    out.finish()?;
    if report.accepted { Ok(()) } else { Err(Failure::reported(1)) }
}

fn print(report: &ReplyReport, out: &mut Output) -> io::Result<()> {
    for finding in &report.findings {
        print_finding(&report.reply, finding, out)?;
    }
    for note in &report.notes {
        say!(out, "{} {}", out.style().strong("note:"), Untrusted::new(note))?;
    }
    let count = |severity| report.findings.iter().filter(|finding| finding.severity == severity).count() as u64;
    let (errors, warnings) = (counted(count(Severity::Error), "error"), counted(count(Severity::Warning), "warning"));
    let verdict = if report.accepted { "accepted" } else { "rejected" };
    say!(out, "{} {}: {}, {}", Untrusted::new(&report.reply), verdict, errors, warnings)
}

pub(crate) fn print_finding(reply: &str, finding: &Finding, out: &mut Output) -> io::Result<()> {
    let style = out.style();
    let label = match finding.severity {
        Severity::Error => style.error("error"),
        Severity::Warning => style.warning("warning"),
    };
    say!(out, "{}[{}]: {}", label, finding.code, Untrusted::new(&finding.message))?;
    let margin = Text::spaces(finding.line.to_string().len());
    say!(out, "{}--> {}:{}:{}", margin, Untrusted::new(reply), finding.line, finding.column)?;
    say!(out, "{} | {}", finding.line, Untrusted::new(&Untrusted::new(&finding.excerpt.text).in_columns()))?;
    let (start, end) = (finding.excerpt.start as usize, finding.excerpt.end as usize);
    say!(out, "{} | {}", margin, style.underline(start, end.saturating_sub(start).max(1)))?;
    say!(out, "{} = {} {}\n", margin, style.strong("help:"), Untrusted::new(&finding.remedy))
}
