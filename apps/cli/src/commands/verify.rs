//! `stan verify`: does an archive still say the truth?

use std::io::{self, Write};

use stan_engine::OsSystem;
use stan_engine::context::reports::{Difference, VerifyReport};
use stan_engine::context::verify;

use crate::args::{Cli, VerifyArgs};
use crate::exit::Failure;
use crate::figures::counted;
use crate::messages::Messages;
use crate::style::Style;
use crate::workspace::Workspace;

pub(crate) fn run(cli: &Cli, args: &VerifyArgs) -> Result<(), Failure> {
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
    let report = verify(&OsSystem, &workspace.context(), archive)?;
    let mut out = io::stdout().lock();
    if args.json {
        crate::json::print(&report, &mut out)?;
    } else {
        print(&report, Style::of_stdout(cli.color), &mut out)?;
        messages.warnings(&report.warnings);
    }
    if report.matches { Ok(()) } else { Err(Failure::told(3)) }
}

fn print(report: &VerifyReport, style: Style, out: &mut dyn Write) -> io::Result<()> {
    for Difference { path, with, expected, actual } in &report.differ {
        let (expected, actual) = (shortened(expected), shortened(actual));
        writeln!(out, "{} {path}: {with} has {expected}, the archive {actual}", style.error("differs:"))?;
    }
    for path in &report.gone {
        writeln!(out, "{} {path}", style.error("gone:"))?;
    }
    for path in &report.new {
        writeln!(out, "{} {path}", style.error("new:"))?;
    }
    let entries = counted(report.entries, "entry");
    if report.matches {
        return writeln!(out, "{} matches: {entries}", report.archive);
    }
    writeln!(
        out,
        "{}: {entries}; {} different, {} gone, {} new",
        report.archive,
        report.differ.len(),
        report.gone.len(),
        report.new.len()
    )?;
    writeln!(out, "{} make a new archive with `stan run` or `stan run --context`", style.strong("help:"))
}

/// Hashes are cut to what people compare; `--json` has them whole.
fn shortened(text: &str) -> String {
    let short = |word: &str| {
        let is_hash = word.len() == 64 && word.bytes().all(|byte| byte.is_ascii_hexdigit());
        word.get(..12).filter(|_| is_hash).map_or_else(|| word.to_owned(), |start| format!("{start}…"))
    };
    text.split(' ').map(short).collect::<Vec<_>>().join(" ")
}
