//! `stan snap`: from here on, diffs are against what is here now.

use stan_engine::OsSystem;
use stan_engine::context::{SnapRequest, snap};

use crate::args::{Cli, SnapArgs};
use crate::exit::Failure;
use crate::messages::Messages;
use crate::terminal::{Output, Untrusted, counted, say};
use crate::workspace::Workspace;

pub(crate) fn run(cli: &Cli, args: &SnapArgs) -> Result<(), Failure> {
    let messages = Messages::new(cli);
    let workspace = Workspace::find(cli)?;
    messages.hints(&workspace.hints);
    let request =
        SnapRequest { plain: !args.context, context: !args.plain, work: workspace.graph_request(&args.work)? };
    let mut patience = messages.patience("stan snap", &args.wait);
    let report = snap(&OsSystem, &workspace.context(), &request, &mut patience)?;
    drop(patience);
    let mut out = Output::new(cli.color);
    if args.work.json {
        out.json(&report)?;
        out.finish()?;
        return Ok(());
    }
    for snapshot in &report.snapshots {
        let verb = if snapshot.changed { "written" } else { "unchanged" };
        say!(out, "{}: {}, {}", Untrusted::new(&snapshot.path), counted(snapshot.files, "file"), verb)?;
    }
    out.finish()?;
    messages.warnings(&report.warnings);
    Ok(())
}
