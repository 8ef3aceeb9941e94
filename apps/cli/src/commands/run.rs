//! `stan run`: the archive and the diff archive, as text or JSON.

use std::io;

use stan_engine::OsSystem;
use stan_engine::context::reports::{ArchiveReport, DiffReport, Mode, Part, RunReport};
use stan_engine::context::{RunRequest, run as run_engine};

use crate::args::{Cli, RunArgs};
use crate::exit::Failure;
use crate::messages::Messages;
use crate::terminal::{Output, Text, Untrusted, columns, counted, grouped, say, text};
use crate::workspace::Workspace;

pub(crate) fn run(cli: &Cli, args: &RunArgs) -> Result<(), Failure> {
    let messages = Messages::new(cli);
    let workspace = Workspace::find(cli)?;
    messages.hints(&workspace.hints);
    let mode = match (args.context, args.meta) {
        (false, _) => Mode::Plain,
        (true, true) => Mode::Meta,
        (true, false) => Mode::Context,
    };
    let request = RunRequest {
        mode,
        frozen: args.frozen,
        pretty: args.pretty,
        plan: args.plan,
        tokens: args.tokens.map(Into::into),
        epoch: crate::environment::source_date_epoch()?,
        work: workspace.graph_request(&args.work)?,
    };
    let mut patience = messages.patience("stan run", &args.wait);
    let report = run_engine(&OsSystem, &workspace.context(), &request, &mut patience)?;
    let mut out = Output::new(cli.color);
    if args.work.json {
        out.json(&report)?;
        out.finish()?;
    } else {
        print(&report, &mut out)?;
        out.finish()?;
        messages.warnings(&report.warnings);
        messages.errors_of_graph(&report.errors);
    }
    Ok(())
}

fn print(report: &RunReport, out: &mut Output) -> io::Result<()> {
    if report.plan {
        say!(out, "{}", out.style().strong("plan: nothing was written"))?;
    }
    let mut rows = vec![archive_row(&report.archive)];
    rows.extend(report.diff.as_ref().map(|diff| archive_row(&diff.archive)));
    for line in columns(&rows) {
        say!(out, "{}", line)?;
    }
    if let Some(diff) = &report.diff {
        print_diff(diff, out)?;
    }
    if report.mode != Mode::Plain {
        say!(out, "")?;
        // A thread opener has nothing but the base.
        let rows = [("base", report.base), ("closure", report.closure), ("overlap", report.overlap)];
        let shown = if report.mode == Mode::Meta { 1 } else { rows.len() };
        for line in columns(&rows.map(part_row)[..shown]) {
            say!(out, "{}", line)?;
        }
    }
    if let Some(map) = &report.map {
        let (nodes, edges) = (counted(map.nodes, "node"), counted(map.edges, "edge"));
        let (selected, staged) = (grouped(map.selected), counted(map.staged, "external"));
        say!(out, "map: {}, {} (one for each pair); {} selected, {} verified", nodes, edges, selected, staged)?;
    }
    out.not_analysed(&report.not_analysed)?;
    print_files(report, out)?;
    if report.mode == Mode::Meta && !report.plan {
        let archive = Untrusted::new(&report.archive.path);
        say!(out, "\nnext: give {} to the assistant; put its selection into dependency.state.json", archive)?;
        say!(out, "      beside the map, and run `stan run --context`")?;
    }
    Ok(())
}

/// Files that the report lists apart, grouped by reason.
fn print_files(report: &RunReport, out: &mut Output) -> io::Result<()> {
    section(out, "largest files", &report.largest.iter().map(sized).collect::<Vec<_>>())?;
    section(out, "left out: binary", &report.binaries.iter().map(sized).collect::<Vec<_>>())?;
    section(out, "large texts", &report.large_texts.iter().map(sized).collect::<Vec<_>>())?;
    let plain: Vec<_> =
        report.not_utf8.iter().map(|path| [text!("{}", Untrusted::new(path)), Text::default()]).collect();
    section(out, "not UTF-8", &plain)?;
    print_secrets(report, out)?;
    let ignored: Vec<_> =
        report.ignored.iter().map(|path| [text!("{}", Untrusted::new(path)), Text::default()]).collect();
    section(out, "ignored by git, archived because the selection asks", &ignored)?;
    if !report.left_out.is_empty() {
        say!(out, "\n{}", out.style().strong("left out"))?;
        for left_out in &report.left_out {
            say!(out, "  {}: {}", Untrusted::new(&left_out.path), Untrusted::new(&left_out.reason))?;
        }
    }
    Ok(())
}

/// Files that are held back: the place and the rule of each secret, never the secret.
fn print_secrets(report: &RunReport, out: &mut Output) -> io::Result<()> {
    if report.secrets.is_empty() {
        return Ok(());
    }
    say!(out, "\n{}", out.style().strong("left out: secrets"))?;
    for file in &report.secrets {
        for hit in &file.hits {
            let (path, rule) = (Untrusted::new(&file.path), Untrusted::new(&hit.rule));
            match hit.line {
                Some(line) => say!(out, "  {}:{}: {}", path, line, rule)?,
                None => say!(out, "  {}: {}", path, rule)?,
            }
        }
    }
    say!(out, "  --allow-secret PATH archives a file all the same")
}

fn print_diff(diff: &DiffReport, out: &mut Output) -> io::Result<()> {
    if !diff.has_baseline {
        return say!(out, "no snapshot yet: the diff is the full archive, and later ones are against this run");
    }
    let lists = [("added", &diff.added), ("changed", &diff.changed), ("removed", &diff.removed)];
    if lists.iter().all(|(_, paths)| paths.is_empty()) {
        return say!(out, "nothing changed since the snapshot");
    }
    for (what, paths) in lists.iter().filter(|(_, paths)| !paths.is_empty()) {
        let shown = Text::joined(paths.iter().take(SHOWN_PATHS).map(|path| Untrusted::new(path)), ", ");
        let more = paths.len().saturating_sub(SHOWN_PATHS);
        let rest = if more > 0 { text!(" and {} more", grouped(more as u64)) } else { Text::default() };
        say!(out, "{}: {}{}", what, shown, rest)?;
    }
    Ok(())
}

/// How many paths of a diff are named; `--json` names all.
const SHOWN_PATHS: usize = 10;

fn archive_row(archive: &ArchiveReport) -> [Text; 4] {
    [
        text!("{}", Untrusted::new(&archive.path)),
        counted(archive.files, "file"),
        text!("{} bytes", grouped(archive.bytes)),
        match &archive.exact_tokens {
            Some(exact) if exact.tokenizer != "bytes4" => {
                text!("{} {} tokens", grouped(exact.tokens), Untrusted::new(&exact.tokenizer))
            }
            _ => text!("~{} tokens", grouped(archive.tokens)),
        },
    ]
}

fn part_row((name, part): (&'static str, Part)) -> [Text; 4] {
    [
        text!("{}", name),
        counted(part.files, "file"),
        text!("{} bytes", grouped(part.bytes)),
        text!("~{} tokens", grouped(part.tokens)),
    ]
}

fn sized(file: &stan_engine::context::reports::SizedPath) -> [Text; 2] {
    [text!("{}", Untrusted::new(&file.path)), text!("{} bytes", grouped(file.bytes))]
}

fn section(out: &mut Output, title: &'static str, rows: &[[Text; 2]]) -> io::Result<()> {
    if rows.is_empty() {
        return Ok(());
    }
    say!(out, "\n{}", out.style().strong(title))?;
    for line in columns(rows) {
        say!(out, "  {}", line)?;
    }
    Ok(())
}
