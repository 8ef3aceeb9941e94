//! Laws: properties that must hold for any input: plain functions that take bytes and panic on a violation, one file per parser
//! of untrusted input.
//!
//! Called by the fuzzer with generated inputs, by the tests here with seeds and random changes to them, and by the programs with
//! files from the command line. Nothing here depends on the caller.

pub mod cache;
pub mod components;
pub mod config;
pub mod declare;
pub mod extract;
pub mod git_index;
pub mod globs;
pub mod go;
pub mod ignore;
pub mod integrity;
pub mod jsonc;
pub mod log;
pub mod mcp;
pub mod meta;
pub mod pack;
pub mod patch_record;
pub mod projects;
pub mod python;
pub mod reply;
pub mod resolve;
pub mod rust;
pub mod secrets;
pub mod snapshot;
pub mod state;
pub mod tar;
pub mod verify;
pub mod x07_read;
pub mod x07_slice;

pub mod diagnose;
mod documents;
mod room;
mod tree;
mod x07;

/// A fuzz target, as used by the replaying tests.
pub struct Target {
    /// Also the name of its program, seeds and dictionary.
    pub name: &'static str,
    pub law: fn(&[u8]),
    /// How many changed inputs the tests try; chosen to take about a second.
    pub changes: usize,
}

/// Every target, sorted by name.
pub const TARGETS: [Target; 29] = [
    Target { name: "cache", law: cache::law, changes: 600 },
    Target { name: "components", law: components::law, changes: 6_000 },
    Target { name: "config", law: config::law, changes: 10_000 },
    Target { name: "declare", law: declare::law, changes: 3_000 },
    Target { name: "diagnose", law: diagnose::law, changes: 20_000 },
    Target { name: "extract", law: extract::law, changes: 6_000 },
    Target { name: "git_index", law: git_index::law, changes: 40_000 },
    Target { name: "globs", law: globs::law, changes: 2_000 },
    Target { name: "go", law: go::law, changes: 6_000 },
    Target { name: "ignore", law: ignore::law, changes: 20_000 },
    Target { name: "integrity", law: integrity::law, changes: 40_000 },
    Target { name: "jsonc", law: jsonc::law, changes: 40_000 },
    Target { name: "log", law: log::law, changes: 20_000 },
    Target { name: "mcp", law: mcp::law, changes: 1_000 },
    Target { name: "meta", law: meta::law, changes: 20_000 },
    Target { name: "pack", law: pack::law, changes: 1_000 },
    Target { name: "patch_record", law: patch_record::law, changes: 6_000 },
    Target { name: "projects", law: projects::law, changes: 400 },
    Target { name: "python", law: python::law, changes: 3_000 },
    Target { name: "reply", law: reply::law, changes: 10_000 },
    Target { name: "resolve", law: resolve::law, changes: 600 },
    Target { name: "rust", law: rust::law, changes: 6_000 },
    Target { name: "secrets", law: secrets::law, changes: 20_000 },
    Target { name: "snapshot", law: snapshot::law, changes: 40_000 },
    Target { name: "state", law: state::law, changes: 40_000 },
    Target { name: "tar", law: tar::law, changes: 6_000 },
    Target { name: "verify", law: verify::law, changes: 2_000 },
    Target { name: "x07_read", law: x07_read::law, changes: 24_000 },
    Target { name: "x07_slice", law: x07_slice::law, changes: 40_000 },
];

/// The program of a target: the fuzzer's entry point, or without the fuzzer a main function that replays the given files.
#[macro_export]
macro_rules! program {
    ($law:path) => {
        #[cfg(fuzzing)]
        libfuzzer_sys::fuzz_target!(|bytes: &[u8]| $law(bytes));

        #[cfg(not(fuzzing))]
        fn main() {
            $crate::replay($law);
        }
    };
}

/// Runs a target on each file of the command line, to reproduce a finding without a fuzzer.
#[expect(
    clippy::disallowed_methods,
    clippy::print_stderr,
    reason = "a developer tool reads files and talks to the terminal"
)]
pub fn replay(law: fn(&[u8])) {
    for path in std::env::args_os().skip(1) {
        match std::fs::read(&path) {
            Ok(bytes) => law(&bytes),
            Err(error) => eprintln!("{}: {error}", path.display()),
        }
    }
}
