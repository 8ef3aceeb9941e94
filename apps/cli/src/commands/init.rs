//! `stan init`: its arguments, and one line for each file that it looked after.
#![expect(clippy::print_stderr, reason = "programs talk to the terminal")]

use std::io::{self, Write};

use stan_engine::OsSystem;
use stan_engine::config::{self, Config, Found};
use stan_engine::init::{Action, ActionKind, AgentsBlock, Difference, InitError, InitOptions, InitPlan, apply, plan};

use crate::args::{AgentsAction, Cli, InitArgs};
use crate::exit::Failure;
use crate::workspace::Workspace;

/// More lines than these are counted and not shown.
const SHOWN_LINES: usize = 10;

pub(crate) fn run(cli: &Cli, args: &InitArgs) -> Result<(), Failure> {
    let workspace = Workspace::find(cli)?;
    let found = config::find(&OsSystem, &workspace.root, cli.config.as_deref()).map_err(|error| {
        Failure::input(error.to_string()).hint("mend the configuration first: it says where stan's folder is")
    })?;
    let stan_path = cli.stan_path.as_deref().unwrap_or(&found.config.stan_path);
    let options = InitOptions {
        force: args.force,
        agents: args.agents.map(|action| match action {
            AgentsAction::Add => AgentsBlock::Add,
            AgentsAction::Remove => AgentsBlock::Remove,
        }),
        config_file: found.file.as_deref().and_then(|file| file.rsplit('/').next()).map(str::to_owned),
    };
    let plan = plan(&OsSystem, &found.root, stan_path, &options).map_err(failure)?;
    if !args.dry_run {
        apply(&OsSystem, &plan).map_err(failure)?;
    }
    print(&plan, args)?;
    if !cli.quiet {
        show_hints(&found, &plan);
    }
    Ok(())
}

fn failure(error: InitError) -> Failure {
    match &error {
        InitError::StanPath(_) => Failure::input(error.to_string()).hint("use a relative path such as .stan"),
        InitError::Refused(_) => Failure::input(error.to_string()).hint("nothing was written; run `stan init` again"),
        InitError::Failed { .. } => {
            Failure::input(error.to_string()).hint("see who may write there, then run `stan init` again")
        }
    }
}

fn print(plan: &InitPlan, args: &InitArgs) -> Result<(), Failure> {
    let mut out = io::stdout().lock();
    if args.json {
        serde_json::to_writer(&mut out, &plan.report(args.dry_run)).map_err(io::Error::from)?;
        writeln!(out)?;
    } else {
        for action in &plan.actions {
            print_action(action, args.dry_run, &mut out)?;
        }
    }
    out.flush()?;
    Ok(())
}

fn print_action(action: &Action, dry_run: bool, out: &mut dyn Write) -> io::Result<()> {
    let (done, planned) = match &action.kind {
        ActionKind::Create => ("created", "would create"),
        ActionKind::Keep => ("kept", "would keep"),
        ActionKind::Absent => ("absent", "absent"),
        ActionKind::Differs(_) => ("differs", "differs"),
        ActionKind::Replace(_) => ("replaced", "would replace"),
        ActionKind::Append { .. } => ("extended", "would extend"),
        ActionKind::Update(_) => ("updated", "would update"),
        ActionKind::RemoveBlock => ("block removed", "would remove the block"),
        ActionKind::Remove => ("removed", "would remove"),
    };
    let (verb, width) = if dry_run { (planned, 13) } else { (done, 8) };
    write!(out, "{verb:width$} {}", action.path)?;
    if let Some(note) = &action.note {
        write!(out, " ({note})")?;
    }
    match &action.kind {
        ActionKind::Append { lines } => {
            writeln!(out, " (lines added: {})", lines.len())?;
            let shown = if lines.len() <= SHOWN_LINES { lines.as_slice() } else { &[] };
            shown.iter().try_for_each(|line| writeln!(out, "  +{line}"))
        }
        ActionKind::Differs(difference) => {
            writeln!(out, " from the shipped text, and is left alone; --force replaces it")?;
            print_difference(difference, out)
        }
        ActionKind::Replace(difference) | ActionKind::Update(difference) => {
            writeln!(out)?;
            print_difference(difference, out)
        }
        _ => writeln!(out),
    }
}

fn print_difference(difference: &Difference, out: &mut dyn Write) -> io::Result<()> {
    difference.diff.iter().try_for_each(|line| writeln!(out, "{}", format!("  {line}").trim_end()))?;
    if difference.truncated {
        writeln!(out, "  … in all {} lines added, {} removed", difference.added, difference.removed)?;
    }
    Ok(())
}

fn show_hints(found: &Found, plan: &InitPlan) {
    for hint in &found.hints {
        eprintln!("note: {hint}");
    }
    let Found { config: Config { stan_path, .. }, file, .. } = found;
    if file.is_some() && *stan_path != plan.stan_path {
        eprintln!(
            "note: the configuration says `stanPath: {stan_path}`; change it there too, or give `--stan-path {}` to \
             every command",
            plan.stan_path
        );
    }
}
