//! `stan state`: checks or rewrites the selection file.

use stan_engine::Engine;
use stan_engine::context::reports::StateReport;
use stan_engine::context::{StateSource, check_state, migrate_state};

use crate::args::{Cli, MigrateArgs, StateAction, StateArgs, StateFileArgs};
use crate::commands::input;
use crate::exit::Failure;
use crate::messages::Messages;
use crate::terminal::{Output, Untrusted, counted, say};
use crate::workspace::Workspace;

pub(crate) fn run(cli: &Cli, engine: &Engine<'_>, args: &StateArgs) -> Result<(), Failure> {
    let workspace = Workspace::find(cli, engine)?;
    match &args.action {
        StateAction::Validate(file) => {
            let source = source(&workspace, file)?;
            let report = check_state(engine, &workspace.repository(), &source)?;
            show(cli, file, &report, "is valid")
        }
        StateAction::Migrate(MigrateArgs { file, wait }) => {
            let source = source(&workspace, file)?;
            let mut progress = Messages::new(cli).progress("stan state migrate", wait);
            let (report, printed) = migrate_state(engine, &workspace.repository(), &source, &mut progress)?;
            drop(progress);
            if let (Some(document), false) = (&printed, file.json) {
                let mut out = Output::new(cli.global.color);
                out.document(|out| out.write_all(document))?;
                out.finish()?;
                return Ok(());
            }
            show(cli, file, &report, if report.rewritten { "is now version 2" } else { "was version 2 already" })
        }
    }
}

fn source(workspace: &Workspace<'_>, args: &StateFileArgs) -> Result<StateSource, Failure> {
    Ok(match args.file.as_deref() {
        None => StateSource::Workspace,
        Some("-") => StateSource::Bytes(input::read(workspace, "-")?),
        Some(file) => {
            let path = workspace.path_of(file)?;
            StateSource::File { shown: file.to_owned(), path }
        }
    })
}

fn show(cli: &Cli, args: &StateFileArgs, report: &StateReport, verdict: &'static str) -> Result<(), Failure> {
    let mut out = Output::new(cli.global.color);
    if args.json {
        out.json(report)?;
    } else if report.valid {
        let entries = counted(report.includes + report.excludes, "entry");
        say!(out, "{} {}: {}", Untrusted::new(&report.file), verdict, entries)?;
    } else {
        let label = out.style().error("error:");
        for error in &report.errors {
            say!(out, "{} {}", label, Untrusted::new(error))?;
        }
    }
    out.finish()?;
    if report.valid && !args.json {
        Messages::new(cli).warnings(&report.warnings);
    }
    if report.valid { Ok(()) } else { Err(Failure::reported(1)) }
}
