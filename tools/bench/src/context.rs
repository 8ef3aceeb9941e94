//! `cargo xtask bench context`: the cost of context mode, as ratios that are comparable between machines.
//!
//! The measured repository has a copy of the corpus `icons` (43,000 files) in a folder: files directly in the root are in every
//! archive, so the plain corpus would only measure how fast 21,000 files are archived. The program is built first, unless a path
//! is given. Writing archives and selecting are measured by benchmarks in their crates, which are started from here, so that one
//! run prints every ratio.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use crate::cargo;

#[derive(clap::Args)]
pub(crate) struct Options {
    /// Measure this program instead of building it.
    #[arg(long, value_name = "PATH")]
    stan: Option<PathBuf>,
    /// Number of rounds; the fastest counts.
    #[arg(long, value_name = "N", default_value_t = 9)]
    rounds: usize,
    /// Skip the measurements inside the crates, for which these must be built.
    #[arg(long)]
    commands_only: bool,
}

/// A ratio and its limit.
struct Check {
    name: &'static str,
    value: f64,
    limit: f64,
}

/// Runs the benchmark in the root of the workspace on the corpus at `corpus`. Fails if a ratio exceeds its limit.
pub(crate) fn run(root: &Path, corpus: &Path, options: &Options) -> Result<(), String> {
    let program = cargo::release(root, "stan", options.stan.as_deref()).map_err(|error| error.to_string())?;
    let scratch = root.join(".bench/scratch/context");
    copy_of(corpus, &scratch)?;
    let mut checks = commands(&program, &scratch, options.rounds)?;
    if !options.commands_only {
        checks.push(archive_check(root, corpus)?);
        checks.push(select_check(root)?);
    }
    let mut failed = Vec::new();
    for Check { name, value, limit } in checks {
        println!("{name:52} {value:6.2}  (limit {limit})");
        if value > limit {
            failed.push(name);
        }
    }
    if failed.is_empty() { Ok(()) } else { Err(format!("above the limit: {}", failed.join("; "))) }
}

/// A copy, because runs write into the repository and other benchmarks need the published state.
fn copy_of(corpus: &Path, scratch: &Path) -> Result<(), String> {
    let write = |file: &str, text: &str| {
        let path = scratch.join(file);
        std::fs::create_dir_all(path.parent().unwrap_or(scratch)).map_err(|error| error.to_string())?;
        std::fs::write(path, text).map_err(|error| format!("{file}: {error}"))
    };
    if !scratch.join(".git/index").exists() {
        write("package.json", "{\"name\":\"nested\",\"version\":\"1.0.0\"}\n")?;
        write(".gitignore", "/.stan/\n")?;
        let icons = scratch.join("packages/icons");
        std::fs::create_dir_all(&icons).map_err(|error| error.to_string())?;
        succeed(Command::new("cp").arg("-a").arg(corpus.join(".")).arg(&icons))?;
        std::fs::remove_dir_all(icons.join(".git")).map_err(|error| error.to_string())?;
        succeed(Command::new("git").args(["init", "--quiet"]).current_dir(scratch))?;
        succeed(Command::new("git").args(["add", "--all"]).current_dir(scratch))?;
    }
    // A typical selection of a thread: a module and its dependencies.
    let selection = "{\"v\":2,\"i\":[[\"packages/icons/index.js\",0],[\"packages/icons/Abc.js\",2]]}\n";
    write(".stan/context/dependency.state.json", selection)
}

fn succeed(command: &mut Command) -> Result<(), String> {
    if command.status().is_ok_and(|status| status.success()) { Ok(()) } else { Err(format!("{command:?} failed")) }
}

/// Measures whole commands. The machine may be busy: they take turns, and the fastest turn counts.
fn commands(program: &Path, folder: &Path, rounds: usize) -> Result<Vec<Check>, String> {
    let timed = |arguments: &[&str]| {
        let mut command = Command::new(program);
        command.args(arguments).current_dir(folder).stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::piped());
        let started = Instant::now();
        match command.output() {
            Ok(output) if output.status.success() => Ok(started.elapsed()),
            Ok(output) => Err(format!("stan {}: {}", arguments.join(" "), String::from_utf8_lossy(&output.stderr))),
            Err(error) => Err(error.to_string()),
        }
    };
    let measured = [
        &["graph"][..],
        &["graph", "--json"],
        &["graph", "--meta"],
        &["run", "--context"],
        &["run", "--context", "--frozen"],
    ];
    // The first round only fills the cache; its times are discarded.
    let mut best = [Duration::MAX; 5];
    for round in 0..=rounds {
        for (arguments, best) in measured.iter().zip(&mut best) {
            let time = timed(arguments)?;
            if round > 0 {
                *best = time.min(*best);
            }
        }
    }
    for (arguments, best) in measured.iter().zip(best) {
        println!("stan {:47} {best:.1?}", arguments.join(" "));
    }
    let [graph, json, meta, context, frozen] = best.map(|time| time.as_secs_f64());
    let check = |name, value, limit| Check { name, value, limit };
    Ok(vec![
        check("run --context, unchanged / warm graph", context / graph, 1.5),
        check("run --context, unchanged / warm graph --json", context / json, f64::INFINITY),
        check("run --context, unchanged / warm graph --meta", context / meta, f64::INFINITY),
        check("run --context --frozen / warm graph", frozen / graph, f64::INFINITY),
    ])
}

/// Compares the archive of a list of files with `tar cf` of it, using the measurement of `stan-archive`.
fn archive_check(root: &Path, corpus: &Path) -> Result<Check, String> {
    let arguments = ["test", "--release", "-p", "stan-archive", "--test", "measure", "--", "--ignored", "--nocapture"];
    let output = cargo::command(root).args(arguments).env("STAN_MEASURE_TREE", corpus).output();
    let said = text_of(output)?;
    let value = number_after(&said, "ratio ").ok_or_else(|| format!("no ratio in: {said}"))?;
    Ok(Check { name: "writing an archive / tar cf", value, limit: 1.3 })
}

/// Compares selecting from 100,000 nodes and 1,000,000 edges with parsing them, using the example of `stan-graph`.
fn select_check(root: &Path) -> Result<Check, String> {
    let output =
        cargo::command(root).args(["run", "--release", "-p", "stan-graph", "--example", "select_time"]).output();
    let said = text_of(output)?;
    let values = said.lines().filter(|line| line.starts_with("select ")).filter_map(|line| number_after(line, " = "));
    let value = values.fold(f64::NAN, f64::max);
    if value.is_nan() {
        return Err(format!("no ratio in: {said}"));
    }
    Ok(Check { name: "the costliest selection / parsing the map", value, limit: 1.5 })
}

fn text_of(output: std::io::Result<std::process::Output>) -> Result<String, String> {
    let output = output.map_err(|error| error.to_string())?;
    let said = [output.stdout, output.stderr].map(|bytes| String::from_utf8_lossy(&bytes).into_owned()).concat();
    if output.status.success() { Ok(said) } else { Err(said) }
}

fn number_after(text: &str, marker: &str) -> Option<f64> {
    let (_, rest) = text.split_once(marker)?;
    let end = rest.find(|character: char| !character.is_ascii_digit() && character != '.').unwrap_or(rest.len());
    rest.get(..end)?.parse().ok()
}
