//! Runs the real git as a reference, isolated from the configuration of the user and the system.

use std::path::{Path, PathBuf};
use std::process::{Command, Output};

/// Runs git with `home` as the user's home directory.
#[derive(Clone, Debug)]
pub struct Git {
    home: PathBuf,
}

impl Git {
    /// Whether git is installed. If it is missing, tests fail, so that no comparison with git passes without running; with
    /// `STAN_TESTS_WITHOUT_GIT` set, they are skipped instead.
    ///
    /// # Panics
    ///
    /// If git is missing and the variable is not set.
    pub fn is_installed() -> bool {
        let is_installed = Command::new("git").arg("--version").output().is_ok();
        let may_skip = std::env::var_os("STAN_TESTS_WITHOUT_GIT").is_some();
        assert!(
            is_installed || may_skip,
            "git is not installed; STAN_TESTS_WITHOUT_GIT=1 skips the tests that need it"
        );
        is_installed
    }

    pub fn new(home: impl Into<PathBuf>) -> Self {
        Git { home: home.into() }
    }

    /// A git command in the folder `at`, without arguments.
    pub fn command(&self, at: impl AsRef<Path>) -> Command {
        let mut command = Command::new("git");
        command
            .current_dir(at)
            .args(["-c", "core.excludesFile=/dev/null", "-c", "init.defaultBranch=main"])
            .env_clear()
            .env("PATH", std::env::var_os("PATH").unwrap_or_default())
            .env("HOME", &self.home)
            .env("GIT_CONFIG_NOSYSTEM", "1");
        command
    }

    /// The output of git on stdout.
    ///
    /// # Panics
    ///
    /// If git fails; the message contains its stderr.
    pub fn run(&self, at: impl AsRef<Path>, arguments: &[&str]) -> Vec<u8> {
        match self.command(at).args(arguments).output() {
            Ok(output) => succeeded(arguments, output),
            Err(error) => panic!("git does not start: {error}"),
        }
    }
}

fn succeeded(arguments: &[&str], output: Output) -> Vec<u8> {
    assert!(output.status.success(), "git {arguments:?}: {}", String::from_utf8_lossy(&output.stderr));
    output.stdout
}
