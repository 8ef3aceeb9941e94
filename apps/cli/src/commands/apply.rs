//! `stan apply`: prints what a reply changed, or what to tell the assistant if nothing was changed.

use std::io;

use stan_engine::Engine;
use stan_engine::reply::{
    AppliedFile, ApplyAction, ApplyReport, ApplyRequest, FileChange, Severity, apply_reply, undo_reply,
};

use crate::args::{ApplyArgs, Cli};
use crate::commands::{check, input};
use crate::exit::Failure;
use crate::messages::Messages;
use crate::terminal::{Output, Untrusted, counted, say, source_line};
use crate::workspace::Workspace;

/// The code of the rule that patched files must be in the archive.
const UNSEEN: &str = "STAN-REPLY-0008";

pub(crate) fn run(cli: &Cli, engine: &Engine<'_>, args: &ApplyArgs) -> Result<(), Failure> {
    let messages = Messages::new(cli);
    let workspace = Workspace::find(cli, engine)?;
    messages.hints(&workspace.hints);
    let mut progress = messages.progress("stan apply", &args.wait);
    let report = match &args.reply {
        None => undo_reply(engine, &workspace.repository(), &mut progress)?,
        Some(reply) => {
            let archive = args.archive.as_deref().map(|typed| workspace.named_path(typed)).transpose()?;
            let request = ApplyRequest {
                reply: input::read(&workspace, reply)?,
                archive,
                no_archive: args.no_archive,
                seen: args.seen,
                strict: args.strict,
                dry_run: args.dry_run,
            };
            apply_reply(engine, &workspace.repository(), &request, &mut progress)?
        }
    };
    drop(progress);
    let mut out = Output::new(cli.global.color);
    if args.json {
        out.json(&report)?;
    } else {
        print(&report, &mut out)?;
    }
    out.finish()?;
    let is_unseen = report.findings.iter().any(|finding| finding.code == UNSEEN);
    if is_unseen && !report.accepted && !args.no_archive {
        messages.hints(&[
            "for a reply that does not answer the archive, such as one to a pack, use --no-archive".to_owned()
        ]);
    }
    if report.accepted { Ok(()) } else { Err(Failure::reported(1)) }
}

fn print(report: &ApplyReport, out: &mut Output) -> io::Result<()> {
    let reply = report.reply.as_deref().unwrap_or_default();
    if let Some(feedback) = &report.feedback {
        // Print each line separately: a line of a file must not look like one of ours.
        for line in feedback.lines() {
            say!(out, "{}", source_line(line))?;
        }
        say!(out, "")?;
    } else {
        for finding in report.findings.iter().filter(|finding| finding.severity == Severity::Warning) {
            check::print_finding(reply, finding, out)?;
        }
    }
    for file in &report.files {
        print_file(file, out)?;
    }
    for folder in &report.made_folders {
        say!(out, "made     {}/", Untrusted::new(folder))?;
    }
    for folder in &report.removed_folders {
        say!(out, "removed  {}/", Untrusted::new(folder))?;
    }
    for note in &report.notes {
        say!(out, "{} {}", out.style().strong("note:"), Untrusted::new(note))?;
    }
    let files = counted(report.files.len() as u64, "file");
    match (report.accepted, report.action) {
        (false, _) => say!(out, "{} rejected: nothing was changed", Untrusted::new(reply)),
        (true, ApplyAction::Apply) => say!(out, "{} applied: {}", Untrusted::new(reply), files),
        (true, ApplyAction::DryRun) => say!(out, "{} would apply: {}", Untrusted::new(reply), files),
        (true, ApplyAction::Undo) => say!(out, "taken back: {}", files),
    }
}

fn print_file(file: &AppliedFile, out: &mut Output) -> io::Result<()> {
    let change = match file.change {
        FileChange::Created => "created ",
        FileChange::Changed => "changed ",
        FileChange::Removed => "removed ",
        FileChange::Restored => "restored",
    };
    say!(out, "{} {}", change, Untrusted::new(&file.path))?;
    for line in file.diff.iter().flatten() {
        say!(out, "  {}", source_line(line))?;
    }
    Ok(())
}
