//! `stan find`: searches names, paths and lines for words.

use std::io;

use stan_engine::Engine;
use stan_engine::outline::{FindReport, FindRequest, find};

use crate::args::{Cli, FindArgs, GraphWorkArgs};
use crate::commands::outline::size;
use crate::exit::Failure;
use crate::messages::Messages;
use crate::terminal::{Output, Untrusted, say};
use crate::workspace::Workspace;

pub(crate) fn run(cli: &Cli, engine: &Engine<'_>, args: &FindArgs) -> Result<(), Failure> {
    let messages = Messages::new(cli);
    let workspace = Workspace::find(cli, engine)?;
    messages.hints(&workspace.hints);
    let work = workspace.graph_request(&GraphWorkArgs::default())?;
    let request = FindRequest { words: args.words.clone(), size: size(&args.answer), work };
    let report = find(engine, &workspace.repository(), &request)?;
    let mut out = Output::new(cli.global.color);
    if args.answer.json {
        out.json(&report)?;
    } else {
        print(&report, &mut out)?;
    }
    out.finish()?;
    messages.warnings(&report.warnings);
    Ok(())
}

fn print(report: &FindReport, out: &mut Output) -> io::Result<()> {
    for one in &report.symbols {
        let (file, signature) = (Untrusted::new(&one.file), Untrusted::new(&one.signature));
        say!(out, "{}:{}-{}  {}", file, one.start_line, one.end_line, signature)?;
    }
    for path in &report.paths {
        say!(out, "{}", Untrusted::new(path))?;
    }
    for one in &report.lines {
        say!(out, "{}:{}: {}", Untrusted::new(&one.file), one.line, Untrusted::new(&one.text))?;
    }
    if report.partial {
        say!(out, "nothing has all of the words; these have some")?;
    }
    if report.cut > 0 {
        say!(out, "{} left out; --budget 0 shows all", report.cut)?;
    }
    Ok(())
}
