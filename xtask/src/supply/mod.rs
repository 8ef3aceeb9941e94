//! The supply chain: `cargo xtask supply` checks it, `sbom` lists it, `reproducible` proves that a build has the same bytes
//! everywhere.
//!
//! The policy is in `deny.toml` and only cargo-deny checks it. Known vulnerabilities are not looked up here: their database is a
//! git repository, and CI may only have access to registries.

mod metadata;
pub(crate) mod reproducible;
mod sbom;

use std::path::{Path, PathBuf};
use std::process::Command;

use metadata::Workspace;

use crate::{Result, cargo};

/// The workspaces: the product, and the addon of Node.
const MANIFESTS: [&str; 2] = ["Cargo.toml", "packages/node/native/Cargo.toml"];

/// The version of cargo-deny that `deny.toml` is written for.
const DENY_VERSION: &str = "0.20.2";

/// Judges licences, sources, duplicates and forbidden crates. The answer is whether nothing breaks the policy.
pub(crate) fn run(root: &Path) -> Result<bool> {
    let deny = cargo_deny(root)?;
    let mut holds = true;
    for manifest in MANIFESTS.into_iter().filter(|manifest| root.join(manifest).is_file()) {
        let status = Command::new(&deny)
            .current_dir(root)
            // Also check packages that only a feature adds.
            .args(["--log-level", "error", "--locked", "--all-features", "--manifest-path", manifest])
            .args(["--config", "deny.toml"])
            .args(["check", "licenses", "bans", "sources"])
            .status()?;
        holds &= status.success();
    }
    Ok(holds)
}

/// The pinned cargo-deny, installed in cargo's own folder unless it is there, so that every clone shares it. Unoptimised: that
/// takes a minute to build on two cores, optimised five, and it runs for a second.
fn cargo_deny(root: &Path) -> Result<PathBuf> {
    let tools = reproducible::cargo_home().join("stan-tools");
    let program = tools.join("bin").join(format!("cargo-deny{}", std::env::consts::EXE_SUFFIX));
    let version = Command::new(&program).arg("--version").output();
    if version.is_ok_and(|output| output.stdout.trim_ascii() == format!("cargo-deny {DENY_VERSION}").as_bytes()) {
        return Ok(program);
    }
    let status = cargo::command(root)
        .env("CARGO_PROFILE_DEV_DEBUG", "0")
        .args(["install", "--quiet", "--locked", "--debug", "--version", DENY_VERSION, "--root"])
        .arg(&tools)
        .arg("cargo-deny")
        .status()?;
    if status.success() { Ok(program) } else { Err("cargo-deny cannot be installed".into()) }
}

fn target_folder(root: &Path) -> PathBuf {
    std::env::var_os("CARGO_TARGET_DIR").map_or_else(|| root.join("target"), |folder| root.join(folder))
}

#[derive(clap::Args)]
pub(crate) struct SbomOptions {
    /// Write target/stan.cdx.json instead of printing.
    #[arg(long)]
    write: bool,
}

/// Prints or writes the bill of materials.
pub(crate) fn sbom(root: &Path, options: &SbomOptions) -> Result<bool> {
    let text = sbom::document(&Workspace::load(&root.join("Cargo.toml"))?)?;
    if !options.write {
        print!("{text}");
        return Ok(true);
    }
    let folder = target_folder(root);
    let file = folder.join("stan.cdx.json");
    std::fs::create_dir_all(&folder)?;
    std::fs::write(&file, text)?;
    println!("wrote {}", file.display());
    Ok(true)
}
