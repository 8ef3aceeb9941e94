//! `stan run`: the archive and the diff archive, as text or JSON.

use std::io::{self, Write};

use stan_engine::OsSystem;
use stan_engine::context::reports::{ArchiveReport, DiffReport, Mode, Part, RunReport};
use stan_engine::context::{RunRequest, run as run_engine};

use crate::args::{Cli, RunArgs};
use crate::exit::Failure;
use crate::figures::{columns, counted, grouped};
use crate::messages::Messages;
use crate::style::Style;
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
    let mut patience = messages.patience("stan run");
    let report = run_engine(&OsSystem, &workspace.context(), &request, &mut patience)?;
    let mut out = io::stdout().lock();
    if args.work.json {
        crate::json::print(&report, &mut out)?;
    } else {
        print(&report, Style::of_stdout(cli.color), &mut out)?;
        messages.warnings(&report.warnings);
        messages.errors_of_graph(&report.errors);
    }
    Ok(())
}

fn print(report: &RunReport, style: Style, out: &mut dyn Write) -> io::Result<()> {
    if report.plan {
        writeln!(out, "{}", style.strong("plan: nothing was written"))?;
    }
    let mut rows = vec![archive_row(&report.archive)];
    rows.extend(report.diff.as_ref().map(|diff| archive_row(&diff.archive)));
    for line in columns(&rows) {
        writeln!(out, "{line}")?;
    }
    if let Some(diff) = &report.diff {
        print_diff(diff, out)?;
    }
    if report.mode != Mode::Plain {
        writeln!(out)?;
        // A thread opener has nothing but the base.
        let rows = [("base", report.base), ("closure", report.closure), ("overlap", report.overlap)];
        let shown = if report.mode == Mode::Meta { 1 } else { rows.len() };
        for line in columns(&rows.map(part_row)[..shown]) {
            writeln!(out, "{line}")?;
        }
    }
    if let Some(map) = &report.map {
        writeln!(
            out,
            "map: {}, {} (one for each pair); {} selected, {} verified",
            counted(map.nodes, "node"),
            counted(map.edges, "edge"),
            grouped(map.selected),
            counted(map.staged, "external")
        )?;
    }
    section(out, style, "largest files", &report.largest.iter().map(sized).collect::<Vec<_>>())?;
    section(out, style, "left out: binary", &report.binaries.iter().map(sized).collect::<Vec<_>>())?;
    section(out, style, "large texts", &report.large_texts.iter().map(sized).collect::<Vec<_>>())?;
    let plain: Vec<_> = report.not_utf8.iter().map(|path| [path.clone(), String::new()]).collect();
    section(out, style, "not UTF-8", &plain)?;
    if !report.left_out.is_empty() {
        writeln!(out, "\n{}", style.strong("left out"))?;
        for left_out in &report.left_out {
            writeln!(out, "  {}: {}", left_out.path, left_out.reason)?;
        }
    }
    if report.mode == Mode::Meta && !report.plan {
        let archive = &report.archive.path;
        writeln!(out, "\nnext: give {archive} to the assistant; put its selection into dependency.state.json")?;
        writeln!(out, "      beside the map, and run `stan run --context`")?;
    }
    out.flush()
}

fn print_diff(diff: &DiffReport, out: &mut dyn Write) -> io::Result<()> {
    if !diff.has_baseline {
        return writeln!(out, "no snapshot yet: the diff is the full archive, and later ones are against this run");
    }
    let lists = [("added", &diff.added), ("changed", &diff.changed), ("removed", &diff.removed)];
    if lists.iter().all(|(_, paths)| paths.is_empty()) {
        return writeln!(out, "nothing changed since the snapshot");
    }
    for (what, paths) in lists.iter().filter(|(_, paths)| !paths.is_empty()) {
        let shown: Vec<&str> = paths.iter().take(SHOWN_PATHS).map(String::as_str).collect();
        let more = paths.len().saturating_sub(SHOWN_PATHS);
        let rest = if more > 0 { format!(" and {} more", grouped(more as u64)) } else { String::new() };
        writeln!(out, "{what}: {}{rest}", shown.join(", "))?;
    }
    Ok(())
}

/// How many paths of a diff are named; `--json` names all.
const SHOWN_PATHS: usize = 10;

fn archive_row(archive: &ArchiveReport) -> [String; 4] {
    [
        archive.path.clone(),
        counted(archive.files, "file"),
        format!("{} bytes", grouped(archive.bytes)),
        match &archive.exact_tokens {
            Some(exact) if exact.tokenizer != "bytes4" => {
                format!("{} {} tokens", grouped(exact.tokens), exact.tokenizer)
            }
            _ => format!("~{} tokens", grouped(archive.tokens)),
        },
    ]
}

fn part_row((name, part): (&str, Part)) -> [String; 4] {
    [
        name.to_owned(),
        counted(part.files, "file"),
        format!("{} bytes", grouped(part.bytes)),
        format!("~{} tokens", grouped(part.tokens)),
    ]
}

fn sized(file: &stan_engine::context::reports::SizedPath) -> [String; 2] {
    [file.path.clone(), format!("{} bytes", grouped(file.bytes))]
}

fn section(out: &mut dyn Write, style: Style, title: &str, rows: &[[String; 2]]) -> io::Result<()> {
    if rows.is_empty() {
        return Ok(());
    }
    writeln!(out, "\n{}", style.strong(title))?;
    for line in columns(rows) {
        writeln!(out, "  {line}")?;
    }
    Ok(())
}
