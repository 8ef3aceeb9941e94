//! `stan run`: writes the archive and the diff archive, and prints a report as text or JSON.

use std::io;

use stan_engine::Engine;
use stan_engine::context::reports::{
    ArchiveMode, ArchiveReport, DiffReport, LeftOutReport, Part, RunReport, SizedPath, WeighedPath,
};
use stan_engine::context::{ArchiveFormat, RunRequest, run as run_engine};

use crate::args::{Cli, FormatChoice, RunArgs};
use crate::clipboard;
use crate::commands::{input, scripts};
use crate::exit::Failure;
use crate::messages::Messages;
use crate::terminal::{Output, Text, Untrusted, columns, counted, grouped, say, text};
use crate::workspace::Workspace;

pub(crate) fn run(cli: &Cli, engine: &Engine<'_>, args: &RunArgs) -> Result<(), Failure> {
    let messages = Messages::new(cli);
    let workspace = Workspace::find(cli, engine)?;
    messages.hints(&workspace.hints);
    if args.copy && !matches!(args.format, FormatChoice::Md | FormatChoice::Xml) {
        return Err(Failure::usage("only a text can be copied").hint("add --format md or --format xml"));
    }
    let mode = match (args.context, args.meta) {
        (false, _) => ArchiveMode::Plain,
        (true, true) => ArchiveMode::Meta,
        (true, false) => ArchiveMode::Context,
    };
    let mut progress = messages.progress("stan run", &args.wait);
    let scripts = scripts::run(&workspace, args, &messages, &mut progress)?;
    let request = RunRequest {
        mode,
        scripts,
        frozen: args.frozen,
        pretty: args.pretty,
        plan: args.plan,
        full_map: args.full_map,
        format: match args.format {
            FormatChoice::Tar => ArchiveFormat::Tar,
            FormatChoice::Zip => ArchiveFormat::Zip,
            FormatChoice::Md => ArchiveFormat::Markdown,
            FormatChoice::Xml => ArchiveFormat::Xml,
        },
        split: args.split.unwrap_or(0),
        tokens: Some(args.tokens.into()),
        epoch: crate::environment::source_date_epoch()?,
        work: workspace.graph_request(&args.work.graph)?,
    };
    let report = run_engine(engine, &workspace.repository(), &request, &mut progress)?;
    let mut out = Output::new(cli.global.color);
    if args.work.json {
        out.json(&report)?;
        out.finish()?;
    } else {
        print(&report, cli.global.verbose, &mut out)?;
        out.finish()?;
        messages.warnings(&report.warnings);
        messages.errors_of_graph(&report.errors, report.errors_are_known);
    }
    if args.copy {
        copy(&report, &workspace, &messages)?;
    }
    Ok(())
}

/// Copies the archive to the clipboard; if it has several parts, the first.
fn copy(report: &RunReport, workspace: &Workspace, messages: &Messages) -> Result<(), Failure> {
    let texts: Vec<_> = report.formats.iter().filter(|file| !file.path.contains("/archive.diff.")).collect();
    let Some(first) = texts.first() else { return Ok(()) };
    let path = format!("{}/{}", workspace.repository().root, first.path);
    let copied = input::read(workspace, &path)?;
    clipboard::copy_and_tell(&copied.bytes, messages);
    if texts.len() > 1 {
        let count = texts.len() as u64;
        messages.note(&text!(
            "copied {}; paste the other {} parts after it",
            Untrusted::new(&first.path),
            grouped(count - 1)
        ));
    }
    Ok(())
}

fn print(report: &RunReport, verbose: bool, out: &mut Output) -> io::Result<()> {
    if report.plan {
        say!(out, "{}", out.style().strong("plan: nothing was written"))?;
    }
    let mut rows = vec![archive_row(&report.archive)];
    rows.extend(report.diff.as_ref().map(|diff| archive_row(&diff.archive)));
    for line in columns(&rows) {
        say!(out, "{}", line)?;
    }
    for file in &report.formats {
        let (path, bytes) = (Untrusted::new(&file.path), grouped(file.bytes));
        match file.tokens {
            0 => say!(out, "{}  {} bytes", path, bytes)?,
            tokens => say!(out, "{}  {} bytes  {} tokens", path, bytes, grouped(tokens))?,
        }
    }
    if let Some(diff) = &report.diff {
        print_diff(diff, out)?;
    }
    if report.mode != ArchiveMode::Plain {
        say!(out, "")?;
        // Without a selection, there is nothing but the base.
        let rows = [("base", report.base), ("closure", report.closure), ("overlap", report.overlap)];
        let shown = if report.mode == ArchiveMode::Meta { 1 } else { rows.len() };
        for line in columns(&rows.map(|(name, part)| part_row(name, part))[..shown]) {
            say!(out, "{}", line)?;
        }
    }
    if let Some(map) = &report.map {
        let (nodes, edges) = (counted(map.nodes, "node"), counted(map.edges, "edge"));
        let (selected, staged) = (grouped(map.selected), counted(map.staged, "external"));
        say!(out, "map: {}, {} (one for each pair); {} selected, {} verified", nodes, edges, selected, staged)?;
    }
    out.not_analysed(&report.not_analysed)?;
    print_files(report, verbose, out)?;
    if report.mode == ArchiveMode::Meta && !report.plan {
        let archive = Untrusted::new(&report.archive.path);
        say!(out, "\nnext: give {} to the assistant; put its selection into dependency.state.json", archive)?;
        say!(out, "      beside the map, and run `stan run --context`")?;
    }
    Ok(())
}

/// Prints the files that the report lists separately, grouped by reason; `-v` lists each.
fn print_files(report: &RunReport, verbose: bool, out: &mut Output) -> io::Result<()> {
    let largest: Vec<_> = report.largest.iter().map(weighed).collect();
    section(out, "largest files", &largest)?;
    let paths = |paths: &[String]| -> Vec<[Text; 2]> {
        paths.iter().map(|path| [text!("{}", Untrusted::new(path)), Text::default()]).collect()
    };
    let files = |files: &[SizedPath]| -> Vec<[Text; 2]> { files.iter().map(sized).collect() };
    group(out, verbose, "left out: binary", &files(&report.binaries))?;
    group(out, verbose, "large texts", &files(&report.large_texts))?;
    group(out, verbose, "not UTF-8", &paths(&report.not_utf8))?;
    print_secrets(report, out)?;
    section(out, "ignored by git, archived because the selection asks", &paths(&report.ignored))?;
    print_left_out(report, verbose, out)
}

/// Prints what was left out, by reason. The reason is the text outside of backticks.
fn print_left_out(report: &RunReport, verbose: bool, out: &mut Output) -> io::Result<()> {
    if report.left_out.is_empty() {
        return Ok(());
    }
    say!(out, "\n{}", out.style().strong("left out"))?;
    let key = |reason: &str| reason.split('`').step_by(2).collect::<Vec<_>>().join("…");
    let mut groups: Vec<(String, Vec<&LeftOutReport>)> = Vec::new();
    for file in &report.left_out {
        let key = key(&file.reason);
        match groups.iter_mut().find(|(known, _)| *known == key) {
            Some((_, files)) => files.push(file),
            None => groups.push((key, vec![file])),
        }
    }
    for (reason, files) in &groups {
        if verbose || files.len() <= MAX_NAMED {
            for file in files {
                say!(out, "  {}: {}", Untrusted::new(&file.path), Untrusted::new(&file.reason))?;
            }
            continue;
        }
        let named = Text::joined(files.iter().take(MAX_NAMED).map(|file| Untrusted::new(&file.path)), ", ");
        let more = grouped((files.len() - MAX_NAMED) as u64);
        say!(out, "  {} and {} more: {}", named, more, Untrusted::new(reason))?;
    }
    Ok(())
}

/// Longer lists are only counted, unless `-v` is given.
const MAX_NAMED: usize = 3;

fn group(out: &mut Output, verbose: bool, title: &'static str, rows: &[[Text; 2]]) -> io::Result<()> {
    if verbose || rows.len() <= MAX_NAMED {
        return section(out, title, rows);
    }
    let named = Text::joined(rows.iter().take(MAX_NAMED).map(|[path, _]| path), ", ");
    let (count, more) = (counted(rows.len() as u64, "file"), grouped((rows.len() - MAX_NAMED) as u64));
    say!(out, "\n{}", out.style().strong(title))?;
    say!(out, "  {}: {} and {} more; -v lists them", count, named, more)
}

/// Prints the files that are held back: position and rule of each secret, never the secret.
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
        let shown = Text::joined(paths.iter().take(MAX_PATHS).map(|path| Untrusted::new(path)), ", ");
        let more = paths.len().saturating_sub(MAX_PATHS);
        let rest = if more > 0 { text!(" and {} more", grouped(more as u64)) } else { Text::default() };
        say!(out, "{}: {}{}", what, shown, rest)?;
    }
    Ok(())
}

/// How many paths of a diff are named; `--json` names all.
const MAX_PATHS: usize = 10;

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

fn part_row(name: &'static str, part: Part) -> [Text; 4] {
    [
        text!("{}", name),
        counted(part.files, "file"),
        text!("{} bytes", grouped(part.bytes)),
        text!("{} tokens", grouped(part.tokens)),
    ]
}

fn weighed(file: &WeighedPath) -> [Text; 3] {
    let path = text!("{}", Untrusted::new(&file.path));
    [path, text!("{} bytes", grouped(file.bytes)), text!("{} tokens", grouped(file.tokens))]
}

fn sized(file: &SizedPath) -> [Text; 2] {
    [text!("{}", Untrusted::new(&file.path)), text!("{} bytes", grouped(file.bytes))]
}

fn section<const N: usize>(out: &mut Output, title: &'static str, rows: &[[Text; N]]) -> io::Result<()> {
    if rows.is_empty() {
        return Ok(());
    }
    say!(out, "\n{}", out.style().strong(title))?;
    for line in columns(rows) {
        say!(out, "  {}", line)?;
    }
    Ok(())
}
