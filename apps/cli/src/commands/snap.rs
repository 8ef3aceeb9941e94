//! `stan snap`: sets the baseline of later diffs to the current files, or to an earlier baseline.

use std::io;

use stan_engine::Engine;
use stan_engine::context::reports::BaselineReport;
use stan_engine::context::{SnapKinds, SnapRequest, SnapStep, snap, snap_history};

use crate::args::{Cli, SnapAction, SnapArgs};
use crate::exit::Failure;
use crate::messages::Messages;
use crate::terminal::{Output, Untrusted, columns, counted, grouped, say, text};
use crate::workspace::Workspace;

pub(crate) fn run(cli: &Cli, engine: &Engine<'_>, args: &SnapArgs) -> Result<(), Failure> {
    let messages = Messages::new(cli);
    let workspace = Workspace::find(cli, engine)?;
    messages.hints(&workspace.hints);
    let kinds = SnapKinds { plain: !args.context, context: !args.plain };
    let request = SnapRequest { kinds, work: workspace.graph_request(&args.work.graph)? };
    let mut progress = messages.progress("stan snap", &args.wait);
    let step = match (args.action, args.number) {
        (None, _) => None,
        (Some(SnapAction::List), None) => Some(SnapStep::List),
        (Some(SnapAction::Undo), None) => Some(SnapStep::Undo),
        (Some(SnapAction::Redo), None) => Some(SnapStep::Redo),
        (Some(SnapAction::Set), Some(number)) => Some(SnapStep::Set(number)),
        _ => return Err(Failure::usage("only `set` takes a number, and it needs one").hint("`stan snap set 1`")),
    };
    let report = match step {
        None => snap(engine, &workspace.repository(), &request, &mut progress)?,
        Some(step) => snap_history(engine, &workspace.repository(), kinds, step, &mut progress)?,
    };
    drop(progress);
    let mut out = Output::new(cli.global.color);
    if args.work.json {
        out.json(&report)?;
        out.finish()?;
        return Ok(());
    }
    print_baselines(&report.baselines, &mut out)?;
    if step == Some(SnapStep::List) && report.baselines.is_empty() {
        say!(out, "there is no baseline yet: the first run makes one")?;
    }
    for snapshot in report.snapshots.iter().filter(|_| step.is_none()) {
        let verb = if snapshot.changed { "written" } else { "unchanged" };
        say!(out, "{}: {}, {}", Untrusted::new(&snapshot.path), counted(snapshot.files, "file"), verb)?;
    }
    out.finish()?;
    messages.warnings(&report.warnings);
    Ok(())
}

fn print_baselines(baselines: &[BaselineReport], out: &mut Output) -> io::Result<()> {
    let row = |one: &BaselineReport| {
        let mark = if one.current { "*" } else { " " };
        let differences = text!("+{} ~{} -{}", grouped(one.added), grouped(one.changed), grouped(one.removed));
        let name = text!("{} {} {}", mark, Untrusted::new(&one.kind), one.number);
        [name, counted(one.files, "file"), differences]
    };
    for line in columns(&baselines.iter().map(row).collect::<Vec<_>>()) {
        say!(out, "{}", line)?;
    }
    Ok(())
}
