//! Developer tasks, run as `cargo xtask <task>`: `tidy` checks the house rules, `bench` measures, `fuzz`, `hostile`, `load` and
//! `growth` try to break the programs, `supply`, `sbom` and `reproducible` check what they are built from.
//!
//! Not part of the product: no other crate depends on this one, and it may print, read the environment and start other programs.
#![expect(clippy::disallowed_methods, reason = "a developer tool works on the real file system")]
#![expect(clippy::print_stdout, clippy::print_stderr, reason = "a developer tool talks to the terminal")]

mod fuzz;
mod suites;
mod supply;
mod tidy;
mod tools;

use std::process::ExitCode;

use clap::Parser;
use stan_tooling::{Result, cargo};
use tools::Profile;

#[derive(Parser)]
#[command(name = "cargo xtask", about = "Developer tasks of stan")]
enum Task {
    /// Check what the compiler does not: headers, dependency direction, documentation that is true.
    Tidy,
    /// Write the index of docs/decisions.
    Decisions,
    /// What a contributor runs before pushing: format, tidy, lints, tests.
    Ready,
    /// Every suite that takes too long for `.ci/run`, or those that are named.
    Long(suites::LongOptions),
    /// Check what we build on against deny.toml with cargo-deny: licences, sources, duplicates, forbidden crates.
    Supply,
    /// List what the programs are made of (CycloneDX 1.5).
    Sbom(supply::SbomOptions),
    /// Build the release programs twice in different places and compare the bytes.
    Reproducible(supply::reproducible::Options),
    /// Try to break the laws of every reader of untrusted input.
    Fuzz(fuzz::Fuzz),
    /// Measure the programs against the physical limit and their peers.
    Bench(tools::Arguments),
    /// Many files, large files, many processes, many runs: the same answers, and no growth.
    Load(tools::Arguments),
    /// Double inputs of many shapes: the work must not grow much faster.
    Growth(tools::Arguments),
    /// Build hostile repositories, or run every command on each of them and check the promises of SECURITY.md.
    Hostile(tools::Arguments),
}

fn main() -> ExitCode {
    match Task::parse() {
        Task::Tidy => stan_tooling::run(tidy::run),
        Task::Decisions => stan_tooling::run(tidy::decisions::write),
        Task::Ready => stan_tooling::run(suites::ready),
        Task::Long(options) => stan_tooling::run(|root| suites::long(root, &options)),
        Task::Supply => stan_tooling::run(supply::run),
        Task::Sbom(options) => stan_tooling::run(|root| supply::sbom(root, &options)),
        Task::Reproducible(options) => stan_tooling::run(|root| supply::reproducible::run(root, &options)),
        Task::Fuzz(fuzz) => stan_tooling::run(|root| fuzz::run(root, &fuzz)),
        Task::Bench(arguments) => tools::run("stan-bench", Profile::Release, &arguments),
        Task::Load(arguments) => tools::run("stan-load", Profile::Dev, &arguments),
        Task::Growth(arguments) => tools::run("stan-growth", Profile::Dev, &arguments),
        Task::Hostile(arguments) => tools::run("stan-hostile", Profile::Dev, &arguments),
    }
}
