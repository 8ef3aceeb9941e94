//! Runs cargo, mostly to build the programs that tasks measure and test.

use std::path::{Path, PathBuf};
use std::process::Command;

use crate::Result;

/// The cargo that started this task, in a workspace.
pub fn command(root: &Path) -> Command {
    let mut command = Command::new(std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
    command.current_dir(root);
    command
}

/// The absolute path of the given program, or of our own program `name` after a release build.
pub fn release(root: &Path, name: &str, given: Option<&Path>) -> Result<PathBuf> {
    if let Some(path) = given {
        return Ok(std::path::absolute(path)?);
    }
    let build = command(root).args(["build", "--release", "--package", "stan-cli", "--bin", name]).status()?;
    if !build.success() {
        return Err(format!("{name} does not build").into());
    }
    // This tool was built into the same target folder, in any profile.
    let own = std::env::current_exe()?;
    let target = own.ancestors().nth(2).ok_or("this program has no target folder")?;
    Ok(target.join("release").join(format!("{name}{}", std::env::consts::EXE_SUFFIX)))
}
