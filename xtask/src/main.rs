//! Developer tasks, run as `cargo xtask <task>`: `tidy` keeps the house in order, `bench` measures it, `fuzz`, `hostile`,
//! `load` and `growth` try to break it, `supply`, `sbom` and `reproducible` tell what it is made of.
//!
//! Nothing here is part of the product: no other crate depends on this one, and it may print, read the environment and
//! start other programs.
#![expect(clippy::disallowed_methods, reason = "a developer tool works on the real file system")]
#![expect(clippy::print_stdout, clippy::print_stderr, reason = "a developer tool talks to the terminal")]

mod bench;
mod bench_context;
mod bench_slice;
mod cargo;
mod fuzz;
mod growth;
mod hostile;
mod limit;
mod load;
mod supply;
mod tidy;

use std::path::{Path, PathBuf};
use std::process::ExitCode;

use clap::Parser;

/// The error of every task: shown once, by `main`.
type Result<T> = std::result::Result<T, Box<dyn std::error::Error + Send + Sync>>;

#[derive(Parser)]
#[command(name = "cargo xtask", about = "Developer tasks of stan")]
enum Task {
    /// Check what the compiler does not: headers, dependency direction, documentation that is true.
    Tidy,
    /// Measure the programs against the physical limit and their peers.
    #[command(subcommand)]
    Bench(bench::Bench),
    /// Many files, large files, many processes, many runs: the same answers, and no growth.
    Load(load::Options),
    /// Double inputs of many shapes: the work must not grow much faster.
    Growth(growth::Options),
    /// Check what we build on against deny.toml: licences, sources, duplicates, forbidden crates, unsafe code.
    Supply,
    /// List what the programs are made of (CycloneDX 1.5).
    Sbom(supply::SbomOptions),
    /// Build the release programs twice in different places and compare the bytes.
    Reproducible(supply::reproducible::Options),
    /// Build hostile repositories, or run every command on each of them and check the promises of SECURITY.md.
    Hostile(hostile::Hostile),
    /// Try to break the laws of every reader of untrusted input.
    Fuzz(fuzz::Fuzz),
    /// One run of a physical limit, as `bench` starts it.
    #[command(subcommand, hide = true)]
    Limit(limit::Limit),
}

fn main() -> ExitCode {
    let outcome = match Task::parse() {
        Task::Tidy => tidy::run(&workspace_root()),
        Task::Bench(bench) => bench::run(&workspace_root(), &bench),
        Task::Load(options) => load::run(&workspace_root(), &options),
        Task::Growth(options) => growth::run(&workspace_root(), &options),
        Task::Supply => supply::run(&workspace_root()),
        Task::Sbom(options) => supply::sbom(&workspace_root(), &options),
        Task::Reproducible(options) => supply::reproducible::run(&workspace_root(), &options),
        Task::Hostile(hostile) => hostile::run(&workspace_root(), &hostile),
        Task::Fuzz(fuzz) => fuzz::run(&workspace_root(), &fuzz),
        Task::Limit(limit) => limit::run(&limit).map(|()| true),
    };
    match outcome {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::FAILURE,
        Err(error) => {
            eprintln!("error: {error}");
            ExitCode::from(2)
        }
    }
}

/// The folder of the workspace manifest: this crate lies directly below it.
fn workspace_root() -> PathBuf {
    let manifest_dir = Path::new(env!("CARGO_MANIFEST_DIR"));
    manifest_dir.parent().unwrap_or(manifest_dir).to_path_buf()
}
