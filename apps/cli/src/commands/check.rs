//! `stan check`: the findings about a reply, each with the offending line underlined and what to do.

use std::io::{self, Write};

use stan_engine::OsSystem;
use stan_engine::reply::{CheckRequest, Finding, ReplyReport, Severity, check_reply};

use crate::args::{CheckArgs, Cli};
use crate::commands::input;
use crate::exit::Failure;
use crate::figures::counted;
use crate::messages::Messages;
use crate::style::{Style, printable};
use crate::workspace::Workspace;

pub(crate) fn run(cli: &Cli, args: &CheckArgs) -> Result<(), Failure> {
    let messages = Messages::new(cli);
    let workspace = Workspace::find(cli)?;
    messages.hints(&workspace.hints);
    let archive = match &args.archive {
        None => None,
        Some(typed) => {
            let path =
                workspace.absolute(typed).ok_or_else(|| Failure::input(format!("the path `{typed}` is not UTF-8")))?;
            Some((typed.clone(), path))
        }
    };
    let request = CheckRequest {
        reply: input::read(&workspace, &args.reply)?,
        archive,
        seen: args.seen,
        budget: args.budget,
        tokenizer: args.tokens.into(),
    };
    let report = check_reply(&OsSystem, &workspace.context(), &request)?;
    let mut out = io::BufWriter::new(io::stdout().lock());
    if args.json {
        crate::json::print(&report, &mut out)?;
    } else {
        print(&report, Style::of_stdout(cli.color), &mut out)?;
    }
    if report.accepted { Ok(()) } else { Err(Failure::told(1)) }
}

fn print(report: &ReplyReport, style: Style, out: &mut dyn Write) -> io::Result<()> {
    for finding in &report.findings {
        print_finding(&report.reply, finding, style, out)?;
    }
    for note in &report.notes {
        writeln!(out, "{} {}", style.strong("note:"), printable(note))?;
    }
    let count = |severity| report.findings.iter().filter(|finding| finding.severity == severity).count() as u64;
    let (errors, warnings) = (count(Severity::Error), count(Severity::Warning));
    let verdict = if report.accepted { "may be acted upon" } else { "must not be acted upon" };
    writeln!(out, "{} {verdict}: {}, {}", report.reply, counted(errors, "error"), counted(warnings, "warning"))?;
    out.flush()
}

fn print_finding(reply: &str, finding: &Finding, style: Style, out: &mut dyn Write) -> io::Result<()> {
    let label = match finding.severity {
        Severity::Error => style.error("error"),
        Severity::Warning => style.warning("warning"),
    };
    writeln!(out, "{label}[{}]: {}", finding.code, printable(&finding.message))?;
    let number = finding.line.to_string();
    let margin = " ".repeat(number.len());
    writeln!(out, "{margin}--> {reply}:{}:{}", finding.line, finding.column)?;
    let shown: String = finding.excerpt.text.chars().map(|c| if c.is_control() { ' ' } else { c }).collect();
    writeln!(out, "{number} | {shown}")?;
    let (start, end) = (finding.excerpt.start as usize, finding.excerpt.end as usize);
    let underline = format!("{}{}", " ".repeat(start), "^".repeat(end.saturating_sub(start).max(1)));
    writeln!(out, "{margin} | {}", style.error(&underline))?;
    writeln!(out, "{margin} = {} {}\n", style.strong("help:"), printable(&finding.remedy))
}
