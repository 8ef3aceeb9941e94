//! Runs scripts of the configuration whose output is evidence for the assistant. The only verb that executes anything, and only
//! the scripts that the command line names.

mod escapes;

use std::path::Path;
use std::time::Duration;

use stan_model::document::run_report::{ScriptEnd, ScriptReport};
use stan_repo::{Processes, ShellCommand, ShellEnd};

use self::escapes::without_escapes;
use crate::config::nearest;
use crate::context::{EngineError, Progress, Repository, ScriptEvent, script_line};

/// Longer output is truncated; its last line states by how much.
const MAX_OUTPUT: usize = 16 << 20;

/// Which scripts, and for how long.
#[derive(Clone, Debug)]
pub struct ScriptsRequest {
    /// In the order in which they run.
    pub names: Vec<String>,
    pub timeout: Duration,
    /// Fail if a script fails.
    pub strict: bool,
}

/// A script that ran.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ScriptOutput {
    pub report: ScriptReport,
    /// The content of `<stanPath>/output/<name>.txt`.
    pub text: Vec<u8>,
}

/// Names that are not configured, each with the most similar configured name, if there is one.
pub fn unknown_scripts(repository: &Repository<'_>, names: &[String]) -> Vec<(String, Option<String>)> {
    let known: Vec<&str> = repository.config.scripts.keys().map(String::as_str).collect();
    let unknown = names.iter().filter(|name| !known.contains(&name.as_str()));
    unknown.map(|name| (name.clone(), nearest(name, &known).map(str::to_owned))).collect()
}

/// Runs scripts one after the other. Writes nothing. On an error, no archive should be written either.
pub fn run_scripts(
    processes: &dyn Processes,
    repository: &Repository<'_>,
    request: &ScriptsRequest,
    is_cancelled: &dyn Fn() -> bool,
    progress: &mut dyn Progress,
) -> Result<Vec<ScriptOutput>, EngineError> {
    let mut outputs: Vec<ScriptOutput> = Vec::new();
    let mut names: Vec<String> = Vec::new();
    for name in &request.names {
        if !names.contains(name) {
            names.push(name.clone());
        }
    }
    progress.script(ScriptEvent::Planned(&names));
    for name in &names {
        let Some(command) = repository.config.scripts.get(name) else {
            return Err(EngineError::input(format!("the configuration has no script `{name}`")));
        };
        progress.stage("running scripts");
        progress.script(ScriptEvent::Started(name));
        let output = run_script(processes, repository, request, name, command, is_cancelled)?;
        progress.script(ScriptEvent::Ended(&output.report));
        outputs.push(output);
    }
    let failed: Vec<String> =
        outputs.iter().filter(|output| !output.report.is_success()).map(|one| script_line(&one.report)).collect();
    if request.strict && !failed.is_empty() {
        return Err(
            EngineError::input("a script failed, and --strict-scripts is given; nothing was written").details(failed)
        );
    }
    Ok(outputs)
}

fn run_script(
    processes: &dyn Processes,
    repository: &Repository<'_>,
    request: &ScriptsRequest,
    name: &str,
    command: &str,
    is_cancelled: &dyn Fn() -> bool,
) -> Result<ScriptOutput, EngineError> {
    let shell = ShellCommand {
        text: command,
        directory: Path::new(repository.root),
        timeout: request.timeout,
        most_output: MAX_OUTPUT,
    };
    let outcome = processes.run(&shell, is_cancelled).map_err(|error| {
        EngineError::input(format!("the script `{name}` cannot be started: {error}")).hint("it is run with `sh -c`")
    })?;
    let mut text = without_escapes(&outcome.output);
    if outcome.lost > 0 {
        text.extend_from_slice(format!("\n({} more bytes of output were not kept)\n", outcome.lost).as_bytes());
    }
    let (end, exit_code) = match outcome.end {
        ShellEnd::Exited(code) => (ScriptEnd::Exited, Some(code)),
        ShellEnd::Signalled(_) => (ScriptEnd::Killed, None),
        ShellEnd::TimedOut => (ScriptEnd::TimedOut, None),
        ShellEnd::Cancelled => {
            return Err(EngineError::input("interrupted: the scripts were ended, and nothing was written"));
        }
    };
    let report = ScriptReport {
        name: name.to_owned(),
        path: repository.layout().own(&format!("output/{name}.txt")),
        end,
        exit_code,
        milliseconds: u64::try_from(outcome.duration.as_millis()).unwrap_or(u64::MAX),
        bytes: text.len() as u64,
    };
    Ok(ScriptOutput { report, text })
}
