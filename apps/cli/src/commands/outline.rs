//! `stan outline`: prints the declarations of files.

use std::io;

use stan_engine::Engine;
use stan_engine::outline::{AnswerSize, OutlineReport, OutlineRequest, OutlinedFile, outline};

use crate::args::{AnswerArgs, Cli, OutlineArgs};
use crate::exit::Failure;
use crate::messages::Messages;
use crate::terminal::{Output, Text, Untrusted, counted, say, text};
use crate::workspace::Workspace;

/// Deeper units get this indent: the indents of a hostile file would take quadratic space.
const MAX_INDENT: u32 = 64;

pub(crate) fn run(cli: &Cli, engine: &Engine<'_>, args: &OutlineArgs) -> Result<(), Failure> {
    let messages = Messages::new(cli);
    let workspace = Workspace::find(cli, engine)?;
    messages.hints(&workspace.hints);
    let files = args.files.iter().map(|typed| workspace.asked_file(engine, typed)).collect::<Result<_, _>>()?;
    let request = OutlineRequest { files, size: size(&args.answer) };
    let report = outline(engine, &workspace.repository(), &request)?;
    let mut out = Output::new(cli.global.color);
    if args.answer.json {
        out.json(&report)?;
        out.finish()?;
        return Ok(());
    }
    print(&report, &mut out)?;
    out.finish()?;
    messages.warnings(&report.warnings);
    Ok(())
}

pub(crate) fn size(args: &AnswerArgs) -> AnswerSize {
    AnswerSize { budget: args.budget, limit: args.limit }
}

fn print(report: &OutlineReport, out: &mut Output) -> io::Result<()> {
    for file in &report.files {
        print_file(file, out)?;
    }
    if report.cut > 0 {
        let cut = counted(report.cut, "declaration");
        say!(out, "{} left out; --budget 0 shows all", cut)?;
    }
    Ok(())
}

fn print_file(file: &OutlinedFile, out: &mut Output) -> io::Result<()> {
    let state = if file.incomplete { ", does not parse cleanly" } else { "" };
    let name = Untrusted::new(&file.file);
    say!(out, "{} ({}{})", name, counted(u64::from(file.lines), "line"), state)?;
    let rows: Vec<[Text; 2]> = file
        .declarations
        .iter()
        .map(|one| {
            let indent = Text::spaces(2 * one.depth.min(MAX_INDENT) as usize);
            let range = if one.start_line == one.end_line {
                text!("{}", one.start_line)
            } else {
                text!("{}-{}", one.start_line, one.end_line)
            };
            [range, text!("{}{}", indent, Untrusted::new(&one.signature))]
        })
        .collect();
    let width = rows.iter().map(|[range, _]| range.as_str().len()).max().unwrap_or_default();
    for [range, signature] in &rows {
        let pad = Text::spaces(width - range.as_str().len());
        say!(out, "  {}{}  {}", range, pad, signature)?;
    }
    Ok(())
}
