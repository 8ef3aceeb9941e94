//! One run of a program on one input: processor time and peak memory.

use std::fs::File;
use std::path::{Path, PathBuf};
use std::process::{Command as Process, Stdio};
use std::time::{Duration, Instant};

use wait4::Wait4 as _;

use super::shape::{Command, Shape};
use crate::Result;

/// Longer runs are stopped and count as growing too fast.
const LIMIT: Duration = Duration::from_secs(60);

pub(super) struct Programs {
    pub(super) stan: PathBuf,
    pub(super) x07: PathBuf,
    pub(super) scratch: PathBuf,
}

#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Usage {
    pub(super) cpu: Duration,
    pub(super) peak_bytes: u64,
    /// Not stopped by us or by a signal. Any exit code is fine: refusing an input is an answer.
    pub(super) ended: bool,
}

impl Programs {
    pub(super) fn run(&self, shape: &Shape, folder: &Path) -> Result<Usage> {
        let (program, arguments) = match shape.command {
            Command::Stan(arguments) => (&self.stan, arguments),
            Command::X07(arguments) => (&self.x07, arguments),
        };
        let mut process = Process::new(program);
        process.args(arguments).current_dir(folder).stdin(Stdio::null());
        process.stdout(File::create(self.scratch.join("out"))?).stderr(File::create(self.scratch.join("err"))?);
        let start = Instant::now();
        let mut child = process.spawn().map_err(|error| format!("{}: {error}", program.display()))?;
        let (used, in_time) = loop {
            if let Some(used) = child.try_wait4()? {
                break (used, true);
            }
            if start.elapsed() > LIMIT {
                child.kill()?;
                break (child.wait4()?, false);
            }
            std::thread::sleep(Duration::from_millis(2));
        };
        let code = used.status.code();
        if code == Some(4) {
            let said = std::fs::read_to_string(self.scratch.join("err")).unwrap_or_default();
            return Err(format!("{}: an internal error: {}", shape.name, said.trim()).into());
        }
        let cpu = used.rusage.utime + used.rusage.stime;
        Ok(Usage { cpu, peak_bytes: used.rusage.maxrss, ended: in_time && code.is_some() })
    }
}
