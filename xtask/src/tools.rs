//! The tools under `tools/`, run as `cargo xtask NAME …`. Each is a crate of its own, so that `cargo xtask tidy` does not compile
//! them.

use std::ffi::OsString;
use std::path::Path;
use std::process::ExitCode;

use stan_tooling::{cargo, workspace_root};

/// What is passed on to the tool as it is, `--help` included.
#[derive(clap::Args)]
#[command(disable_help_flag = true)]
pub(crate) struct Arguments {
    #[arg(trailing_var_arg = true, allow_hyphen_values = true, value_name = "ARGUMENTS")]
    arguments: Vec<OsString>,
}

/// How a tool is built.
#[derive(Clone, Copy)]
pub(crate) enum Profile {
    /// As the tests are, whose dependencies it shares: for tools that only start the programs and check their
    /// behaviour.
    Dev,
    /// For what is itself measured.
    Release,
}

/// Builds and runs a tool; the exit code is the tool's.
pub(crate) fn run(package: &str, profile: Profile, arguments: &Arguments) -> ExitCode {
    let profile = match profile {
        Profile::Dev => "dev",
        Profile::Release => "release",
    };
    // In the user's working directory and not in the root: arguments may be relative paths.
    let status = cargo::command(Path::new("."))
        .args(["run", "--quiet", "--profile", profile, "--package", package, "--manifest-path"])
        .arg(workspace_root().join("Cargo.toml"))
        .arg("--")
        .args(&arguments.arguments)
        .status();
    match status {
        // No exit code means that a signal ended it.
        Ok(status) => ExitCode::from(status.code().and_then(|code| u8::try_from(code).ok()).unwrap_or(2)),
        Err(error) => {
            eprintln!("error: cargo does not start: {error}");
            ExitCode::from(2)
        }
    }
}
