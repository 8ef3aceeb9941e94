//! Running commands, behind a trait of its own: a caller without [`Processes`] executes nothing. Only `stan run -s` has one.

use std::io;
use std::path::Path;
use std::time::Duration;

/// One command of a script.
#[derive(Clone, Copy, Debug)]
pub struct ShellCommand<'a> {
    /// What `sh -c` is given.
    pub text: &'a str,
    /// The working directory.
    pub directory: &'a Path,
    /// After this time, the command and everything that it started is killed.
    pub timeout: Duration,
    /// How many bytes of output are kept.
    pub most_output: usize,
}

/// How a command ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ShellOutcome {
    pub end: ShellEnd,
    pub duration: Duration,
    /// Stdout and stderr in the order in which they arrived, cut behind `most_output` bytes.
    pub output: Vec<u8>,
    /// Bytes of output that were not kept.
    pub lost: u64,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ShellEnd {
    /// With this exit code.
    Exited(i32),
    /// By a signal.
    Signalled(i32),
    TimedOut,
    /// The user stopped it.
    Cancelled,
}

/// What runs commands.
pub trait Processes: Send + Sync {
    /// Runs a command to its end, with no input and in a process group of its own. Nothing of that group is left running.
    fn run(&self, command: &ShellCommand<'_>, is_cancelled: &dyn Fn() -> bool) -> io::Result<ShellOutcome>;
}
