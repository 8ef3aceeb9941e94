//! One run of a program on a hostile tree: with or without tracer, as this or another user, and with a time limit.
//!
//! Only starts, waits and measures; `judge` checks what the run did.

use std::ffi::OsStr;
use std::fs::{self, File};
use std::os::unix::fs::MetadataExt as _;
use std::os::unix::process::{CommandExt as _, ExitStatusExt as _};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use wait4::{ResUse, Wait4 as _};

use super::trace;
use crate::Result;

/// A user who owns no files.
pub(super) const NOBODY: u32 = 65534;

/// How to start the programs on this machine.
pub(super) struct Machine {
    pub(super) stan: PathBuf,
    pub(super) x07: PathBuf,
    pub(super) has_strace: bool,
    pub(super) is_root: bool,
    /// A longer run counts as hanging. Generous, because other programs may slow a busy machine down.
    pub(super) longest: Duration,
}

/// The command, and its working directory.
pub(super) struct TracedRun<'a> {
    pub(super) program: &'a Path,
    pub(super) arguments: &'a [String],
    /// The folder of the tree; the run starts in its `repo`.
    pub(super) folder: &'a Path,
    /// The folder for standard output, standard error and the trace.
    pub(super) outputs: &'a Path,
    pub(super) as_nobody: bool,
    pub(super) traced: bool,
}

/// The result of a run.
#[derive(Debug)]
pub(super) struct Ran {
    pub(super) code: Option<i32>,
    pub(super) signal: Option<i32>,
    pub(super) timed_out: bool,
    pub(super) wall: Duration,
    /// User and system time of the program, including the tracer's.
    pub(super) processor: Duration,
    pub(super) peak_bytes: u64,
    pub(super) stdout: Vec<u8>,
    pub(super) stderr: Vec<u8>,
    pub(super) trace: Option<trace::Traced>,
}

impl Machine {
    pub(super) fn new(stan: PathBuf, x07: PathBuf) -> Result<Self> {
        let has_strace = Command::new("strace").arg("-V").stdout(Stdio::null()).stderr(Stdio::null()).status();
        Ok(Self {
            stan,
            x07,
            has_strace: has_strace.is_ok_and(|status| status.success()),
            is_root: fs::metadata("/proc/self")?.uid() == 0,
            longest: Duration::from_secs(240),
        })
    }
}

impl TracedRun<'_> {
    pub(super) fn perform(&self, machine: &Machine) -> Result<Ran> {
        fs::create_dir_all(self.outputs)?;
        let at = |name: &str| self.outputs.join(name);
        let (stdout, stderr, trace) = (at("stdout"), at("stderr"), at("trace"));
        let _ = fs::remove_file(&trace);
        let traced = self.traced && machine.has_strace;
        let mut command = self.command(machine, traced.then_some(trace.as_path()));
        // The only command that reads messages from standard input.
        let is_server = self.arguments.first().is_some_and(|word| word == "mcp");
        let asked = is_server.then(|| File::open(self.folder.join("given/mcp.jsonl")).ok()).flatten();
        command
            .stdin(asked.map_or_else(Stdio::null, Stdio::from))
            .stdout(File::create(&stdout)?)
            .stderr(File::create(&stderr)?);
        // Reset the peak memory, which a child inherits from its parent.
        let _ = fs::write("/proc/self/clear_refs", "5");
        let start = Instant::now();
        let (used, timed_out) = wait(command.process_group(0).spawn()?, start, machine.longest)?;
        Ok(Ran {
            code: used.status.code(),
            signal: used.status.signal(),
            timed_out,
            wall: start.elapsed(),
            processor: used.rusage.utime + used.rusage.stime,
            peak_bytes: used.rusage.maxrss,
            stdout: fs::read(&stdout)?,
            stderr: fs::read(&stderr)?,
            trace: if traced { Some(trace::read(&trace)?) } else { None },
        })
    }

    fn command(&self, machine: &Machine, trace: Option<&Path>) -> Command {
        let mut words: Vec<&OsStr> = Vec::new();
        let nobody = NOBODY.to_string();
        if self.as_nobody && machine.is_root {
            words.extend(["setpriv", "--reuid", &nobody, "--regid", &nobody, "--clear-groups"].map(OsStr::new));
        }
        if let Some(trace) = trace {
            let options = ["strace", "-f", "-y", "--seccomp-bpf", "-e", "signal=none", "-s", "0", "-e"].map(OsStr::new);
            words.extend(options);
            words.push(OsStr::new(trace::CALLS));
            words.extend([OsStr::new("-o"), trace.as_os_str()]);
        }
        words.push(self.program.as_os_str());
        words.extend(self.arguments.iter().map(OsStr::new));
        let mut command = Command::new(words[0]);
        let home = |name: &str| self.folder.join(name);
        command.args(&words[1..]).current_dir(home("repo")).env_clear();
        command.env("PATH", "/usr/bin:/bin:/usr/sbin:/sbin").env("HOME", home("home"));
        command.env("XDG_CONFIG_HOME", home("home/.config")).env("TMPDIR", home("tmp"));
        command.env("XDG_STATE_HOME", home("state")).env("XDG_CACHE_HOME", home("cache"));
        command.env("NODE_PATH", home("nodepath")).env("GIT_DIR", home("sibling/.git")).env("LC_ALL", "C");
        command
    }
}

fn wait(mut child: Child, start: Instant, limit: Duration) -> Result<(ResUse, bool)> {
    let mut pause = Duration::from_millis(1);
    loop {
        if let Some(used) = child.try_wait4()? {
            return Ok((used, false));
        }
        if start.elapsed() > limit {
            // Kill the whole process group: killing only the tracer would leave the program running.
            Command::new("kill").args(["-9", "--", &format!("-{}", child.id())]).status()?;
            return Ok((child.wait4()?, true));
        }
        std::thread::sleep(pause);
        pause = (pause * 2).min(Duration::from_millis(20));
    }
}
