//! `stan state`: the selection file, checked or rewritten.

use std::io::{self, Write};

use stan_engine::OsSystem;
use stan_engine::context::reports::StateReport;
use stan_engine::context::{StateSource, check_state, migrate_state};

use crate::args::{Cli, StateAction, StateArgs, StateFileArgs};
use crate::commands::input;
use crate::exit::Failure;
use crate::figures::counted;
use crate::messages::Messages;
use crate::style::Style;
use crate::workspace::Workspace;

pub(crate) fn run(cli: &Cli, args: &StateArgs) -> Result<(), Failure> {
    let workspace = Workspace::find(cli)?;
    match &args.action {
        StateAction::Validate(file) => {
            let source = source(&workspace, file)?;
            let report = check_state(&OsSystem, &workspace.context(), &source)?;
            show(cli, file, &report, "is valid")
        }
        StateAction::Migrate(file) => {
            let source = source(&workspace, file)?;
            let mut patience = Messages::new(cli).patience("stan state migrate");
            let (report, printed) = migrate_state(&OsSystem, &workspace.context(), &source, &mut patience)?;
            drop(patience);
            if let (Some(document), false) = (&printed, file.json) {
                let mut out = io::stdout().lock();
                out.write_all(document)?;
                return Ok(());
            }
            show(cli, file, &report, if report.rewritten { "is now version 2" } else { "was version 2 already" })
        }
    }
}

fn source(workspace: &Workspace, args: &StateFileArgs) -> Result<StateSource, Failure> {
    Ok(match args.file.as_deref() {
        None => StateSource::Workspace,
        Some("-") => StateSource::Bytes(input::read(workspace, "-")?),
        Some(file) => {
            let path =
                workspace.absolute(file).ok_or_else(|| Failure::input(format!("the path `{file}` is not UTF-8")))?;
            StateSource::File { shown: file.to_owned(), path }
        }
    })
}

fn show(cli: &Cli, args: &StateFileArgs, report: &StateReport, verdict: &str) -> Result<(), Failure> {
    let mut out = io::stdout().lock();
    if args.json {
        crate::json::print(report, &mut out)?;
    } else if report.valid {
        let entries = report.includes + report.excludes;
        writeln!(out, "{} {verdict}: {}", report.file, counted(entries, "entry"))?;
        Messages::new(cli).warnings(&report.warnings);
    } else {
        let style = Style::of_stdout(cli.color);
        for error in &report.errors {
            writeln!(out, "{} {error}", style.error("error:"))?;
        }
    }
    if report.valid { Ok(()) } else { Err(Failure::told(1)) }
}
