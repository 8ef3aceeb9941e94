//! Running commands, behind a separate trait: a caller without [`Processes`] cannot execute anything. Only `stan run -s` has one.

use std::io;
use std::path::Path;
use std::time::Duration;

/// A command of a script.
#[derive(Clone, Copy, Debug)]
pub struct ShellCommand<'a> {
    /// The argument of `sh -c`.
    pub text: &'a str,
    /// The working directory.
    pub directory: &'a Path,
    /// After this time, the command and all its descendants are killed.
    pub timeout: Duration,
    /// The maximum number of output bytes that are kept.
    pub most_output: usize,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ShellOutcome {
    pub end: ShellEnd,
    pub duration: Duration,
    /// Stdout and stderr, interleaved in order of arrival and truncated to `most_output` bytes.
    pub output: Vec<u8>,
    /// The number of output bytes that were dropped.
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

/// Runs commands.
pub trait Processes: Send + Sync {
    /// Runs a command to its end, without input and in its own process group. Kills what is left of that group.
    fn run(&self, command: &ShellCommand<'_>, is_cancelled: &dyn Fn() -> bool) -> io::Result<ShellOutcome>;
}
