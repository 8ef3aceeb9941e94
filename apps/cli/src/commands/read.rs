//! `stan read`: prints files or declarations.

use std::io;

use stan_engine::Engine;
use stan_engine::outline::{AnswerSize, ReadLevel, ReadReport, ReadRequest, read};

use crate::args::{Cli, LevelChoice, ReadArgs};
use crate::exit::Failure;
use crate::messages::Messages;
use crate::terminal::{Output, Untrusted, say, source_line};
use crate::workspace::Workspace;

pub(crate) fn run(cli: &Cli, engine: &Engine<'_>, args: &ReadArgs) -> Result<(), Failure> {
    let messages = Messages::new(cli);
    let workspace = Workspace::find(cli, engine)?;
    messages.hints(&workspace.hints);
    let request = ReadRequest {
        asked: args.files.iter().map(|typed| workspace.asked_text(engine, typed)).collect::<Result<_, _>>()?,
        level: match args.level {
            LevelChoice::Full => ReadLevel::Full,
            LevelChoice::Signature => ReadLevel::Signature,
            LevelChoice::Line => ReadLevel::Line,
        },
        size: AnswerSize { budget: args.budget, limit: None },
    };
    let report = read(engine, &workspace.repository(), &request)?;
    let mut out = Output::new(cli.global.color);
    if args.json {
        out.json(&report)?;
        out.finish()?;
        return Ok(());
    }
    print(&report, &mut out)?;
    let asked = match args.level {
        LevelChoice::Full => "full",
        LevelChoice::Signature => "signature",
        LevelChoice::Line => "line",
    };
    if report.items.iter().any(|item| item.level != asked) {
        let parts = "FILE#Name shows one declaration, FILE:FROM-TO some lines";
        say!(out, "shortened to fit the budget: {}, --budget 0 shows all", Untrusted::new(parts))?;
    }
    out.finish()?;
    messages.warnings(&report.warnings);
    Ok(())
}

fn print(report: &ReadReport, out: &mut Output) -> io::Result<()> {
    for item in &report.items {
        if item.level == "line" {
            say!(out, "{}", Untrusted::new(&item.text))?;
            continue;
        }
        let file = Untrusted::new(&item.file);
        let lower = if item.level == "signature" { " (signatures)" } else { "" };
        say!(out, "{}:{}-{}{}", file, item.start_line, item.end_line, lower)?;
        for line in item.text.lines() {
            say!(out, "{}", source_line(line))?;
        }
    }
    for cut in &report.cut {
        say!(
            out,
            "left out, wholly or in part: {}; FILE:FROM-TO shows some lines, --budget 0 all",
            Untrusted::new(cut)
        )?;
    }
    Ok(())
}
