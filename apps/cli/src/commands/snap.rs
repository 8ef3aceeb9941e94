//! `stan snap`: from here on, diffs are against what is here now.

use std::io::{self, Write};

use stan_engine::OsSystem;
use stan_engine::context::{SnapRequest, snap};

use crate::args::{Cli, SnapArgs};
use crate::exit::Failure;
use crate::figures::counted;
use crate::messages::Messages;
use crate::workspace::Workspace;

pub(crate) fn run(cli: &Cli, args: &SnapArgs) -> Result<(), Failure> {
    let messages = Messages::new(cli);
    let workspace = Workspace::find(cli)?;
    messages.hints(&workspace.hints);
    let request =
        SnapRequest { plain: !args.context, context: !args.plain, work: workspace.graph_request(&args.work)? };
    let mut patience = messages.patience("stan snap");
    let report = snap(&OsSystem, &workspace.context(), &request, &mut patience)?;
    drop(patience);
    let mut out = io::stdout().lock();
    if args.work.json {
        return crate::json::print(&report, &mut out);
    }
    for snapshot in &report.snapshots {
        let verb = if snapshot.changed { "written" } else { "unchanged" };
        writeln!(out, "{}: {}, {verb}", snapshot.path, counted(snapshot.files, "file"))?;
    }
    messages.warnings(&report.warnings);
    Ok(())
}
