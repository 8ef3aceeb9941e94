//! One measured run of a program: wall time, processor time and peak memory, from the kernel's accounting.
//!
//! A child starts with the peak memory of its parent, so this program must stay small while it measures: it never holds the
//! output of a child in memory.

use std::fs::File;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use wait4::{ResUse, Wait4 as _};

use crate::Result;

/// A command, and where its output goes.
#[derive(Clone)]
pub(super) struct ProcessRun {
    pub(super) program: PathBuf,
    pub(super) arguments: Vec<String>,
    pub(super) folder: PathBuf,
    /// `None` discards standard output.
    pub(super) output: Option<PathBuf>,
    /// Set in addition to this process's environment.
    pub(super) environment: Vec<(String, String)>,
    /// Longer runs are stopped. Waiting with a limit requires polling, so only slow programs have one.
    pub(super) limit: Option<Duration>,
}

/// The cost of one run.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Usage {
    pub(super) wall: Duration,
    pub(super) cpu: Duration,
    pub(super) peak_bytes: u64,
}

#[derive(Clone, Debug, PartialEq)]
pub(super) enum ProcessOutcome {
    Done(Usage),
    /// Stopped by us; its usage so far.
    TimedOut(Usage),
    /// The last line of its stderr.
    Failed(String),
}

impl ProcessRun {
    pub(super) fn new(program: &Path, arguments: &[&str], folder: &Path) -> Self {
        ProcessRun {
            program: program.to_path_buf(),
            arguments: arguments.iter().map(|&argument| argument.to_owned()).collect(),
            folder: folder.to_path_buf(),
            output: None,
            environment: Vec::new(),
            limit: None,
        }
    }

    pub(super) fn output_to(mut self, file: &Path) -> Self {
        self.output = Some(file.to_path_buf());
        self
    }

    pub(super) fn with(mut self, environment: Vec<(String, String)>) -> Self {
        self.environment = environment;
        self
    }

    pub(super) fn limited_to(mut self, limit: Duration) -> Self {
        self.limit = Some(limit);
        self
    }

    /// Runs it once. `complaints` is a scratch file for its stderr.
    pub(super) fn measure(&self, complaints: &Path) -> Result<ProcessOutcome> {
        let stdout = match &self.output {
            Some(file) => Stdio::from(File::create(file)?),
            None => Stdio::null(),
        };
        let mut command = Command::new(&self.program);
        command.args(&self.arguments).envs(self.environment.iter().cloned()).current_dir(&self.folder);
        command.stdin(Stdio::null()).stdout(stdout).stderr(File::create(complaints)?);
        let start = Instant::now();
        let child = match command.spawn() {
            Ok(child) => child,
            Err(error) => return Ok(ProcessOutcome::Failed(format!("{}: {error}", self.program.display()))),
        };
        let (used, timed_out) = match self.limit {
            None => (child.wait4()?, false),
            Some(limit) => wait_limited(child, start, limit)?,
        };
        let usage =
            Usage { wall: start.elapsed(), cpu: used.rusage.utime + used.rusage.stime, peak_bytes: used.rusage.maxrss };
        Ok(if timed_out {
            ProcessOutcome::TimedOut(usage)
        } else if used.status.success() {
            ProcessOutcome::Done(usage)
        } else {
            ProcessOutcome::Failed(last_line(complaints, &used.status.to_string()))
        })
    }
}

fn wait_limited(mut child: std::process::Child, start: Instant, limit: Duration) -> Result<(ResUse, bool)> {
    loop {
        if let Some(used) = child.try_wait4()? {
            return Ok((used, false));
        }
        if start.elapsed() > limit {
            child.kill()?;
            return Ok((child.wait4()?, true));
        }
        std::thread::sleep(Duration::from_millis(2));
    }
}

fn last_line(complaints: &Path, fallback: &str) -> String {
    let text = std::fs::read(complaints).map(|bytes| String::from_utf8_lossy(&bytes).into_owned()).unwrap_or_default();
    let line = text.lines().rev().find(|line| !line.trim().is_empty()).unwrap_or(fallback);
    line.trim().chars().take(120).collect()
}

#[cfg(test)]
mod tests {
    use std::path::Path;
    use std::time::Duration;

    use super::{ProcessOutcome, ProcessRun};

    fn outcome(script: &str, limit: Option<Duration>) -> ProcessOutcome {
        let folder = tempfile::tempdir().expect("a scratch folder");
        let mut run = ProcessRun::new(Path::new("/bin/sh"), &["-c", script], folder.path());
        run.limit = limit;
        run.measure(&folder.path().join("complaints")).expect("the shell starts")
    }

    #[test]
    fn a_run_has_one_of_three_outcomes() {
        let ProcessOutcome::Done(usage) = outcome("exit 0", None) else { panic!("must succeed") };
        assert!(usage.peak_bytes > 0 && usage.wall > Duration::ZERO);
        assert_eq!(
            outcome("echo first >&2; echo second >&2; exit 3", None),
            ProcessOutcome::Failed("second".to_owned())
        );
        assert_eq!(outcome("exit 3", None), ProcessOutcome::Failed("exit status: 3".to_owned()));
        let limit = Some(Duration::from_millis(20));
        assert!(matches!(outcome("exec sleep 10", limit), ProcessOutcome::TimedOut(_)));
        assert!(matches!(outcome("exit 0", Some(Duration::from_secs(10))), ProcessOutcome::Done(_)));
    }
}
