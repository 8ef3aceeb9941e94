//! `stan verify`: checks whether an archive or pack still matches the files.

use std::io;

use stan_engine::Engine;
use stan_engine::context::reports::{Difference, VerifyReport};
use stan_engine::context::verify;
use stan_engine::pack::verify_pack;

use crate::args::{Cli, VerifyArgs};
use crate::commands::input;
use crate::exit::Failure;
use crate::messages::Messages;
use crate::terminal::{Output, Untrusted, counted, say};
use crate::workspace::Workspace;

pub(crate) fn run(cli: &Cli, engine: &Engine<'_>, args: &VerifyArgs) -> Result<(), Failure> {
    let messages = Messages::new(cli);
    let workspace = Workspace::find(cli, engine)?;
    messages.hints(&workspace.hints);
    // Read anything that is not a pack as an archive: that reports better what is wrong with it.
    if let Some(typed) = args.archive.as_ref().filter(|typed| !typed.ends_with(".tar"))
        && let Ok(named) = input::read(&workspace, typed)
        && let Some(report) = verify_pack(engine, &workspace.repository(), &named)
    {
        return finish(cli, args, &messages, &report);
    }
    let archive = args.archive.as_deref().map(|typed| workspace.named_path(typed)).transpose()?;
    let report = verify(engine, &workspace.repository(), archive)?;
    finish(cli, args, &messages, &report)
}

fn finish(cli: &Cli, args: &VerifyArgs, messages: &Messages, report: &VerifyReport) -> Result<(), Failure> {
    let mut out = Output::new(cli.global.color);
    if args.json {
        out.json(report)?;
        out.finish()?;
    } else {
        print(report, &mut out)?;
        out.finish()?;
        messages.warnings(&report.warnings);
    }
    if report.matches { Ok(()) } else { Err(Failure::reported(3)) }
}

fn print(report: &VerifyReport, out: &mut Output) -> io::Result<()> {
    let style = out.style();
    let what = if report.archive.ends_with(".tar") { "the archive" } else { "the pack" };
    for Difference { path, with, expected, actual } in &report.differ {
        let (expected, actual) = (shortened(expected), shortened(actual));
        let [path, with, expected, actual] = [path, with, &expected, &actual].map(|text| Untrusted::new(text));
        let label = style.error("differs:");
        say!(out, "{} {}: {} has {}, {} {}", label, path, with, expected, what, actual)?;
    }
    for (label, paths) in [("gone:", &report.gone), ("new:", &report.new)] {
        for path in paths {
            say!(out, "{} {}", style.error(label), Untrusted::new(path))?;
        }
    }
    let (archive, entries) = (Untrusted::new(&report.archive), counted(report.entries, "entry"));
    if report.matches {
        return say!(out, "{} matches: {}", archive, entries);
    }
    let (differ, gone, new) = (report.differ.len(), report.gone.len(), report.new.len());
    say!(out, "{}: {}; {} different, {} gone, {} new", archive, entries, differ, gone, new)?;
    if report.archive.ends_with(".tar") {
        return say!(out, "{} make a new archive with `stan run` or `stan run --context`", style.strong("help:"));
    }
    say!(out, "{} make a new pack with `stan pack`", style.strong("help:"))
}

/// Shortens hashes to the length that people compare; `--json` has them in full.
fn shortened(text: &str) -> String {
    let short = |word: &str| {
        let is_hash = word.len() == 64 && word.bytes().all(|byte| byte.is_ascii_hexdigit());
        word.get(..12).filter(|_| is_hash).map_or_else(|| word.to_owned(), |start| format!("{start}…"))
    };
    text.split(' ').map(short).collect::<Vec<_>>().join(" ")
}
