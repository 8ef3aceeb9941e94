//! Shared code of all developer tools: the error type, the workspace root, exit codes, and running cargo.
//!
//! Contains nothing of the product; only `xtask` and the tools depend on this crate.
#![expect(clippy::print_stderr, reason = "a developer tool talks to the terminal")]

pub mod cargo;

use std::path::{Path, PathBuf};
use std::process::ExitCode;

/// The result type of every tool; [`run`] prints the error once.
pub type Result<T> = std::result::Result<T, Box<dyn std::error::Error + Send + Sync>>;

/// Runs a tool on the workspace. Exit code 0: everything passed; 1: something did not; 2: the tool failed.
pub fn run(tool: impl FnOnce(&Path) -> Result<bool>) -> ExitCode {
    match tool(&workspace_root()) {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::FAILURE,
        Err(error) => {
            eprintln!("error: {error}");
            ExitCode::from(2)
        }
    }
}

/// The folder of the workspace manifest: this crate is two folders below it.
pub fn workspace_root() -> PathBuf {
    let manifest_dir = Path::new(env!("CARGO_MANIFEST_DIR"));
    manifest_dir.ancestors().nth(2).unwrap_or(manifest_dir).to_path_buf()
}

#[cfg(test)]
mod tests {
    #[test]
    fn the_root_is_the_folder_of_the_workspace_manifest() {
        assert!(super::workspace_root().join("Cargo.lock").is_file());
    }
}
