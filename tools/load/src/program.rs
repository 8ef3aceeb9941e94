//! One run of the program under load: its answer, its messages, its resources.
//!
//! Answers are written to files and compared by digest, because a child starts with the peak memory of its parent: this program
//! must stay small.

use std::fs::File;
use std::io::Read as _;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use sha2::{Digest as _, Sha256};
use wait4::Wait4 as _;

use crate::Result;

/// The program, its repository, and the folder for its answers.
#[derive(Clone, Copy)]
pub(super) struct Stan<'a> {
    pub(super) program: &'a Path,
    pub(super) root: &'a Path,
    pub(super) scratch: &'a Path,
}

/// A run that has been started.
pub(super) struct Running {
    command: String,
    child: Child,
    started: Instant,
    answer: PathBuf,
    complaints: PathBuf,
}

/// A run that has ended.
#[derive(Clone, Debug)]
pub(super) struct Ran {
    pub(super) command: String,
    /// `None` if a signal ended it.
    pub(super) code: Option<i32>,
    pub(super) usage: Usage,
    /// The file with its standard output.
    pub(super) answer: PathBuf,
    /// Its standard error, truncated at an absurd length.
    pub(super) said: String,
}

#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct Usage {
    pub(super) wall: Duration,
    pub(super) cpu: Duration,
    pub(super) peak_bytes: u64,
}

impl Stan<'_> {
    /// Starts it; `slot` separates its files from those of parallel runs.
    pub(super) fn start(&self, arguments: &[&str], slot: &str) -> Result<Running> {
        let mut command = Command::new(self.program);
        command.args(arguments).current_dir(self.root);
        start(command, arguments.join(" "), &self.scratch.join(slot))
    }

    /// Runs it to its end, successful or not.
    pub(super) fn run(&self, arguments: &[&str]) -> Result<Ran> {
        self.start(arguments, "alone")?.finish()
    }

    /// Runs it; a failure is an error with the reason.
    pub(super) fn succeed(&self, arguments: &[&str]) -> Result<Ran> {
        let ran = self.run(arguments)?;
        if ran.code == Some(0) { Ok(ran) } else { Err(ran.failure().into()) }
    }
}

/// Starts any program with its output in `<slot>.out` and `<slot>.err`.
pub(super) fn start(mut command: Command, name: String, slot: &Path) -> Result<Running> {
    let (answer, complaints) = (slot.with_extension("out"), slot.with_extension("err"));
    command.stdin(Stdio::null()).stdout(File::create(&answer)?).stderr(File::create(&complaints)?);
    let started = Instant::now();
    let child = command.spawn().map_err(|error| format!("{name}: {error}"))?;
    Ok(Running { command: name, child, started, answer, complaints })
}

impl Running {
    pub(super) fn finish(self) -> Result<Ran> {
        let used = self.child.wait4()?;
        let usage = Usage {
            wall: self.started.elapsed(),
            cpu: used.rusage.utime + used.rusage.stime,
            peak_bytes: used.rusage.maxrss,
        };
        let mut said = Vec::new();
        File::open(&self.complaints)?.take(64 << 10).read_to_end(&mut said)?;
        let said = String::from_utf8_lossy(&said).into_owned();
        Ok(Ran { command: self.command, code: used.status.code(), usage, answer: self.answer, said })
    }
}

impl Ran {
    pub(super) fn answer_digest(&self) -> Result<String> {
        digest(&self.answer)
    }

    pub(super) fn failure(&self) -> String {
        let code = self.code.map_or_else(|| "a signal".to_owned(), |code| format!("exit code {code}"));
        format!("stan {}: {code}: {}", self.command, self.said.trim())
    }
}

/// The SHA-256 of a file, read in pieces.
pub(super) fn digest(path: &Path) -> Result<String> {
    let mut file = File::open(path).map_err(|error| format!("{}: {error}", path.display()))?;
    digest_of(&mut file)
}

pub(super) fn digest_of(file: &mut File) -> Result<String> {
    let (mut hasher, mut buffer) = (Sha256::new(), vec![0; 1 << 18]);
    loop {
        let count = file.read(&mut buffer)?;
        if count == 0 {
            return Ok(hasher.finalize().iter().map(|byte| format!("{byte:02x}")).collect());
        }
        hasher.update(buffer.get(..count).unwrap_or_default());
    }
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::Stan;

    #[test]
    fn output_errors_and_exit_codes_are_captured() {
        let folder = tempfile::tempdir().expect("a scratch folder");
        let stan = Stan { program: Path::new("/bin/sh"), root: folder.path(), scratch: folder.path() };
        let ran = stan.run(&["-c", "printf abc; echo why >&2; exit 3"]).expect("the shell starts");
        assert_eq!((ran.code, ran.said.as_str()), (Some(3), "why\n"));
        let abc = "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad";
        assert_eq!(ran.answer_digest().expect("the answer is there"), abc);
        assert!(ran.failure().ends_with("exit code 3: why"), "{}", ran.failure());
        assert!(stan.succeed(&["-c", "exit 1"]).is_err());
    }
}
