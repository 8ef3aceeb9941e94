//! The scripts of `stan run -s`: which ones to run, and Ctrl-C while they run.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use stan_engine::OsSystem;
use stan_engine::context::Progress;
use stan_engine::scripts::{ScriptOutput, ScriptsRequest, run_scripts, unknown_scripts};

use crate::args::RunArgs;
use crate::exit::Failure;
use crate::messages::Messages;
use crate::workspace::Workspace;

/// Runs the scripts named on the command line, and no others.
pub(crate) fn run(
    workspace: &Workspace<'_>,
    args: &RunArgs,
    messages: &Messages,
    progress: &mut dyn Progress,
) -> Result<Vec<ScriptOutput>, Failure> {
    let repository = workspace.repository();
    let known: Vec<&str> = workspace.config.scripts.keys().map(String::as_str).collect();
    if args.scripts.is_empty() {
        if !known.is_empty() {
            let names = known.join(", ");
            messages.hints(&[format!("the configuration has scripts ({names}); none runs without -s NAME")]);
        }
        return Ok(Vec::new());
    }
    if let Some((name, near)) = unknown_scripts(&repository, &args.scripts).into_iter().next() {
        let hint = match near {
            Some(near) => format!("did you mean `{near}`?"),
            None if known.is_empty() => "write scripts under `stan-cli.scripts` in the configuration".to_owned(),
            None => format!("there are {}", known.join(", ")),
        };
        return Err(Failure::usage(format!("the configuration has no script `{name}`; nothing was run")).hint(hint));
    }
    let is_stopped = Arc::new(AtomicBool::new(false));
    for signal in [signal_hook::consts::SIGINT, signal_hook::consts::SIGTERM] {
        // Scripts run in other process groups than the terminal's, so that Ctrl-C reaches only this program, which stops them.
        signal_hook::flag::register(signal, Arc::clone(&is_stopped))
            .map_err(|error| Failure::internal(format!("cannot listen for Ctrl-C: {error}")))?;
    }
    let request = ScriptsRequest {
        names: args.scripts.clone(),
        timeout: Duration::from_secs(args.timeout.into()),
        strict: args.strict_scripts,
    };
    let is_cancelled = || is_stopped.load(Ordering::Relaxed);
    let outputs = run_scripts(&OsSystem, &repository, &request, &is_cancelled, progress)?;
    for signal in [signal_hook::consts::SIGINT, signal_hook::consts::SIGTERM] {
        // From now on, Ctrl-C ends the program as usual.
        let _ = signal_hook::flag::register_conditional_default(signal, Arc::new(AtomicBool::new(true)));
    }
    Ok(outputs)
}
