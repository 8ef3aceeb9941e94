//! Runs the real program in a temporary directory with an empty environment, and captures its output.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

use stan_testkit::Git;
use tempfile::TempDir;

pub(crate) struct Repository {
    directory: TempDir,
    root: PathBuf,
}

impl Repository {
    pub(crate) fn new(files: &[(&str, &str)]) -> Self {
        let directory = tempfile::tempdir().expect("temporary directories can be made");
        let root = directory.path().canonicalize().expect("it was just made").join("r");
        fs::create_dir(&root).expect("it is empty");
        let repository = Self { directory, root };
        files.iter().for_each(|(path, text)| repository.write(path, text));
        repository
    }

    pub(crate) fn root(&self) -> &Path {
        &self.root
    }

    pub(crate) fn write(&self, path: &str, text: &str) {
        let path = self.root.join(path);
        fs::create_dir_all(path.parent().expect("it is below the root")).expect("folders can be made");
        fs::write(path, text).expect("files can be written");
    }

    /// Exit code, stdout and stderr of `stan`, with this machine's paths replaced.
    pub(crate) fn stan(&self, arguments: &[&str]) -> String {
        let output = self.output(arguments, &[]);
        let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).replace(&self.root.display().to_string(), "<root>");
        let (stdout, stderr) = (text(&output.stdout), text(&output.stderr));
        format!("exit {}\n--- stdout\n{stdout}--- stderr\n{stderr}", output.status.code().unwrap_or(-1))
    }

    pub(crate) fn output(&self, arguments: &[&str], environment: &[(&str, &str)]) -> Output {
        self.command(arguments).envs(environment.iter().copied()).output().expect("stan can be started")
    }

    pub(crate) fn command(&self, arguments: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_stan"));
        command.current_dir(&self.root).args(arguments).env_clear().stdin(Stdio::null());
        // Share the token tables between tests, so that they are built once.
        command.env("XDG_STATE_HOME", self.state_home()).env("XDG_CACHE_HOME", env!("CARGO_TARGET_TMPDIR"));
        command
    }

    /// The user's state folder, outside of the repository.
    pub(crate) fn state_home(&self) -> PathBuf {
        self.directory.path().join("state")
    }

    /// The output of git; `None` if git is missing and tests may skip that ([`Git::is_installed`]).
    pub(crate) fn git(&self, arguments: &[&str]) -> Option<String> {
        if !Git::is_installed() {
            return None;
        }
        let output = Git::new(self.directory.path()).command(&self.root).args(arguments).output().ok()?;
        assert!(output.status.success(), "git {arguments:?}: {}", String::from_utf8_lossy(&output.stderr));
        Some(String::from_utf8_lossy(&output.stdout).into_owned())
    }
}
