//! How a verb waits for another run in the same workspace, and reports progress. The program provides the clock and the terminal,
//! which libraries must not access.

use stan_model::document::run_report::{ScriptEnd, ScriptReport};

/// Progress of the scripts of a run.
#[derive(Clone, Copy, Debug)]
pub enum ScriptEvent<'a> {
    /// These will run, one after the other.
    Planned(&'a [String]),
    Started(&'a str),
    Ended(&'a ScriptReport),
}

/// The program's part in waiting and progress.
pub trait Progress {
    /// The process id and command of this run, as other runs that wait for it show them.
    fn holder(&self) -> (u32, String);

    /// Another run holds the lock; `holder` is its description of itself.
    fn waits_for(&mut self, holder: &str);

    /// Sleeps for a short time; false means to give up.
    fn pause(&mut self) -> bool;

    /// The run has entered a stage.
    fn stage(&mut self, stage: &'static str);

    /// A message that the user must see before anything is written.
    fn notice(&mut self, _line: &str) {}

    /// A script started or ended.
    fn script(&mut self, event: ScriptEvent<'_>) {
        if let ScriptEvent::Ended(report) = event {
            self.notice(&script_line(report));
        }
    }
}

/// A line about the result of a script.
pub fn script_line(report: &ScriptReport) -> String {
    format!("script {}: {}", report.name, script_end(report))
}

/// The result of a script, and its duration.
pub fn script_end(report: &ScriptReport) -> String {
    let seconds = format!("{}.{} s", report.milliseconds / 1000, report.milliseconds % 1000 / 100);
    let end = match (report.end, report.exit_code) {
        (ScriptEnd::Exited, Some(code)) => format!("exit code {code}"),
        (ScriptEnd::Exited | ScriptEnd::Killed, _) => "ended by a signal".to_owned(),
        (ScriptEnd::TimedOut, _) => "killed at its time limit".to_owned(),
    };
    format!("{end}, {seconds}")
}

/// Does not wait and reports nothing: for tests and for callers that run alone.
#[derive(Clone, Copy, Debug, Default)]
pub struct NoProgress;

impl Progress for NoProgress {
    fn holder(&self) -> (u32, String) {
        (0, "a library call".to_owned())
    }

    fn waits_for(&mut self, _holder: &str) {}

    fn pause(&mut self) -> bool {
        false
    }

    fn stage(&mut self, _stage: &'static str) {}
}
