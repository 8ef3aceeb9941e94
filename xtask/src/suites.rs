//! `cargo xtask ready`, which contributors run before pushing, and `cargo xtask long`, all suites that are too slow for
//! `.ci/run`. Both only run commands, one after the other, in the root of the workspace.

use std::path::Path;
use std::process::Command;
use std::time::Instant;

use crate::Result;

/// A suite and the command that runs it.
struct Suite {
    name: &'static str,
    about: &'static str,
    command: &'static str,
}

/// In the order of what fails soonest.
const READY: &[Suite] = &[
    Suite { name: "format", about: "rustfmt", command: "cargo fmt --all --check" },
    Suite { name: "tidy", about: "what the compiler does not check", command: "cargo xtask tidy" },
    Suite { name: "lints", about: "clippy", command: "cargo clippy --locked --workspace --all-targets -- -D warnings" },
    Suite { name: "tests", about: "all tests", command: "cargo test --locked --workspace --lib --bins --tests" },
];

/// New suites go here: a name, what it proves, and its command.
const LONG: &[Suite] = &[
    Suite { name: "conformance", about: "all conformance data beside the clone", command: "bash .ci/run conformance" },
    Suite { name: "fuzz", about: "every fuzz target with coverage, an hour", command: "cargo xtask fuzz --minutes 60" },
    Suite { name: "hostile", about: "hostile repositories in full size", command: "cargo xtask hostile --run --long" },
    Suite {
        name: "faults",
        about: "every fault at every position of every write path",
        command: "cargo test --locked --workspace --test faults -- --ignored --nocapture",
    },
    Suite {
        name: "killed",
        about: "commands killed hundreds of times, and many at once",
        command: "cargo test --locked --workspace --test stan -- --ignored --nocapture killed two_hundred every_other at_once",
    },
    Suite {
        name: "mcp",
        about: "ten thousand calls with edits, branch switches and worktrees meanwhile",
        command: "cargo test --locked --workspace --test stan -- --ignored --nocapture ten_thousand_calls",
    },
    Suite { name: "load", about: "200,000 files, gigabytes, fifty processes", command: "cargo xtask load" },
    Suite {
        name: "soak",
        about: "ten thousand runs and edits in a row: no growth",
        command: "cargo xtask load --only consecutive --runs 10000",
    },
    Suite { name: "growth", about: "doubled inputs of all shapes", command: "cargo xtask growth" },
    Suite { name: "reply", about: "replies of five megabytes", command: "cargo xtask bench reply" },
    Suite {
        name: "shared",
        about: "a thousand faults of the server of a shared cache",
        command: "cargo test --locked -p stan-cli --test stan -- --ignored --nocapture a_thousand_faults",
    },
    Suite {
        name: "fleet",
        about: "a dataset of a hundred packages, read by DuckDB and Spark; a bucket as the shared cache",
        command: "bash fixtures/fleet/run.sh --long",
    },
    Suite {
        name: "bench-fleet",
        about: "a shared cache for 20 repositories, a million files",
        command: "cargo xtask bench fleet --large --check",
    },
    Suite { name: "reproducible", about: "two release builds, the same bytes", command: "cargo xtask reproducible" },
];

#[derive(clap::Args)]
pub(crate) struct LongOptions {
    /// Only these suites [default: all].
    #[arg(value_name = "SUITE")]
    names: Vec<String>,
    /// Print the suites and their commands instead of running them.
    #[arg(long)]
    list: bool,
}

/// Stops at the first failure.
pub(crate) fn ready(root: &Path) -> Result<bool> {
    for suite in READY {
        if !run(root, suite)? {
            println!("{} failed: {}", suite.name, suite.command);
            return Ok(false);
        }
    }
    println!("ready");
    Ok(true)
}

/// Runs every suite even if one fails, and then says which failed.
pub(crate) fn long(root: &Path, options: &LongOptions) -> Result<bool> {
    let chosen = chosen(&options.names)?;
    if options.list {
        chosen.iter().for_each(|suite| println!("{:14} {} ({})", suite.name, suite.about, suite.command));
        return Ok(true);
    }
    let mut lines = Vec::new();
    let mut holds = true;
    for suite in chosen {
        let started = Instant::now();
        let passed = run(root, suite)?;
        holds &= passed;
        let verdict = if passed { "passed" } else { "FAILED" };
        lines.push(format!("{:14} {verdict} in {} s", suite.name, started.elapsed().as_secs()));
    }
    println!("\n{}", lines.join("\n"));
    Ok(holds)
}

fn chosen(names: &[String]) -> Result<Vec<&'static Suite>> {
    if let Some(unknown) = names.iter().find(|name| !LONG.iter().any(|suite| suite.name == **name)) {
        let known: Vec<&str> = LONG.iter().map(|suite| suite.name).collect();
        return Err(format!("there is no suite `{unknown}`; known are {}", known.join(", ")).into());
    }
    Ok(LONG.iter().filter(|suite| names.is_empty() || names.iter().any(|name| name == suite.name)).collect())
}

fn run(root: &Path, suite: &Suite) -> Result<bool> {
    println!("\n=== {}: {}", suite.name, suite.about);
    let mut words = suite.command.split_whitespace();
    let program = words.next().ok_or("an empty command")?;
    Ok(Command::new(program).args(words).current_dir(root).status()?.success())
}

#[cfg(test)]
mod tests {
    use super::{LONG, READY, chosen};

    #[test]
    fn suites_have_names_of_their_own_and_are_found_by_them() {
        for suites in [LONG, READY] {
            let mut names: Vec<&str> = suites.iter().map(|suite| suite.name).collect();
            names.sort_unstable();
            names.dedup();
            assert_eq!(names.len(), suites.len());
        }
        assert_eq!(chosen(&[]).expect("all").len(), LONG.len());
        assert_eq!(chosen(&["load".to_owned()]).expect("it is there")[0].command, "cargo xtask load");
        assert!(chosen(&["lod".to_owned()]).is_err());
    }
}
