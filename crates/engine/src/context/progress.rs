//! How a verb waits for another run in the same workspace, and reports its progress. The program supplies the clock
//! and the terminal; libraries have neither.

use stan_model::document::run_report::{ScriptEnd, ScriptReport};

/// What happens to the scripts of a run.
#[derive(Clone, Copy, Debug)]
pub enum ScriptEvent<'a> {
    /// These will run, one after the other.
    Planned(&'a [String]),
    Started(&'a str),
    Ended(&'a ScriptReport),
}

/// The program's side of waiting and progress.
pub trait Progress {
    /// The process and the command, as shown to users who wait for this run.
    fn holder(&self) -> (u32, String);

    /// Another run holds the lock; `holder` is its own description of itself.
    fn waits_for(&mut self, holder: &str);

    /// Sleeps for a short time; returns false to give up.
    fn pause(&mut self) -> bool;

    /// The run has entered a stage.
    fn stage(&mut self, stage: &'static str);

    /// Something that the user must know before anything is written.
    fn notice(&mut self, _line: &str) {}

    /// A script has begun or ended.
    fn script(&mut self, event: ScriptEvent<'_>) {
        if let ScriptEvent::Ended(report) = event {
            self.notice(&script_line(report));
        }
    }
}

/// How a script ended, as a line.
pub fn script_line(report: &ScriptReport) -> String {
    format!("script {}: {}", report.name, script_end(report))
}

/// How a script ended, and after how long.
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
