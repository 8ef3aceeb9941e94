//! `stan init`: its arguments, and one line for each file that it checked or wrote.

use std::io;

use stan_engine::config::{self, Config, FoundConfig};
use stan_engine::init::{Action, ActionKind, AgentsBlock, Difference, InitOptions, InitPlan, apply, plan};
use stan_engine::{Engine, EngineError};

use crate::args::{AgentsAction, Cli, InitArgs};
use crate::exit::Failure;
use crate::messages::Messages;
use crate::terminal::{Output, Text, Untrusted, say, text};
use crate::workspace::Workspace;

/// Further lines are only counted.
const MAX_LINES: usize = 10;

pub(crate) fn run(cli: &Cli, engine: &Engine<'_>, args: &InitArgs) -> Result<(), Failure> {
    let workspace = Workspace::find(cli, engine)?;
    let found = config::find(engine.system(), &workspace.root, cli.global.config.as_deref()).map_err(|error| {
        EngineError::from(error).hint("fix the configuration first: it says where stan's folder is")
    })?;
    let stan_path = cli.global.stan_path.as_deref().unwrap_or(&found.config.stan_path);
    let options = InitOptions {
        force: args.force,
        agents: args.agents.map(|action| match action {
            AgentsAction::Add => AgentsBlock::Add,
            AgentsAction::Remove => AgentsBlock::Remove,
        }),
        mcp: args.mcp.iter().copied().map(Into::into).collect(),
        remove_mcp: args.remove_mcp.iter().copied().map(Into::into).collect(),
        config_file: found.file.as_deref().and_then(|file| file.rsplit('/').next()).map(str::to_owned),
    };
    let plan = plan(engine, &found.root, stan_path, &options)?;
    if !args.dry_run {
        apply(engine, &plan)?;
    }
    let mut out = Output::new(cli.global.color);
    print(&plan, args, &mut out)?;
    out.finish()?;
    show_hints(&Messages::new(cli), &found, &plan);
    Ok(())
}

fn print(plan: &InitPlan, args: &InitArgs, out: &mut Output) -> io::Result<()> {
    if args.json {
        return out.json(&plan.report(args.dry_run));
    }
    plan.actions.iter().try_for_each(|action| print_action(action, args.dry_run, out))?;
    let is_first = plan.actions.iter().any(|action| matches!(action.kind, ActionKind::Create));
    let is_plain = args.agents.is_none() && args.mcp.is_empty() && args.remove_mcp.is_empty();
    if is_first && is_plain && !args.dry_run {
        say!(out, "")?;
        say!(
            out,
            "next: `stan run --context --meta` opens a thread in a chat; `stan init --agents` or `--mcp CLIENT` sets up a coding agent"
        )?;
    }
    Ok(())
}

fn print_action(action: &Action, dry_run: bool, out: &mut Output) -> io::Result<()> {
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
    let (verb, width) = if dry_run { (planned, 13_usize) } else { (done, 8) };
    let padding = Text::spaces(width.saturating_sub(verb.len()));
    let note = action.note.as_ref().map_or(Text::default(), |note| text!(" ({})", Untrusted::new(note)));
    let start = text!("{}{} {}{}", verb, padding, Untrusted::new(&action.path), note);
    match &action.kind {
        ActionKind::Append { lines } => {
            say!(out, "{} (lines added: {})", start, lines.len())?;
            let shown = if lines.len() <= MAX_LINES { lines.as_slice() } else { &[] };
            shown.iter().try_for_each(|line| say!(out, "  +{}", Untrusted::new(line)))
        }
        ActionKind::Differs(difference) => {
            say!(out, "{} from the shipped text, and is left alone; --force replaces it", start)?;
            print_difference(difference, out)
        }
        ActionKind::Replace(difference) | ActionKind::Update(difference) => {
            say!(out, "{}", start)?;
            print_difference(difference, out)
        }
        _ => say!(out, "{}", start),
    }
}

fn print_difference(difference: &Difference, out: &mut Output) -> io::Result<()> {
    for line in &difference.diff {
        say!(out, "{}", Untrusted::new(format!("  {line}").trim_end()))?;
    }
    if difference.truncated {
        say!(out, "  … in all {} lines added, {} removed", difference.added, difference.removed)?;
    }
    Ok(())
}

fn show_hints(messages: &Messages, found: &FoundConfig, plan: &InitPlan) {
    found.hints.iter().for_each(|hint| messages.note(&text!("{}", Untrusted::new(hint))));
    let FoundConfig { config: Config { stan_path, .. }, file, .. } = found;
    if file.is_some() && *stan_path != plan.stan_path {
        messages.note(&text!(
            "the configuration says `stanPath: {}`; change it there too, or give `--stan-path {}` to every command",
            Untrusted::new(stan_path),
            Untrusted::new(&plan.stan_path)
        ));
    }
}
