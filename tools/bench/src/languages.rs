//! `cargo xtask bench languages`: cold `stan graph` on Python, Go and Rust repositories, compared with the physical limit (read,
//! hash and parse with the same parser) and, for Python, with the graph of ruff.
//!
//! For Go and Rust, a stricter limit is printed too: only the tokens (for Go with the top level), which no parser can reach. The
//! target is not based on it. ruff is installed with pip into the benchmark's own folder, unless `--ruff` is given.
//!
//! The repositories are not part of this one: `--dir` names folders without installed packages, such as unpacked source
//! distributions. Rows take turns; the minimum of each counts, because other programs can only add time.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use serde_json::Value;

use crate::Result;
use crate::fetch::Store;
use crate::process::{ProcessOutcome, ProcessRun};

/// The target: cold cost in multiples of the limit.
const TARGET: f64 = 1.35;

/// The rows that the target is for.
const COLD: &str = "stan, cold";
const WITH_CACHE: &str = "stan, cold, writes its cache";

/// The row that they are compared with.
const LIMIT: &str = "limit";
/// Printed so that the limit is not misleading.
const STRICT: &str = "limit, tokens alone";

/// Only for repositories that are mostly Python.
const RUFF_ROW: &str = "ruff analyze graph";

/// The package that pip installs.
const RUFF: &str = "ruff==0.17.5";

#[derive(clap::Args)]
pub(crate) struct LanguagesOptions {
    /// A repository to measure (repeatable). Its folder's name is the name of the row.
    #[arg(long, value_name = "DIR", required = true)]
    dir: Vec<PathBuf>,
    /// Use this ruff for the comparison, instead of the one that pip installs.
    #[arg(long, value_name = "PATH")]
    ruff: Option<PathBuf>,
    /// Rounds per repository.
    #[arg(long, value_name = "N", default_value_t = 9)]
    rounds: usize,
    /// Measure this program instead of building it.
    #[arg(long, value_name = "PATH")]
    pub(super) stan: Option<PathBuf>,
    /// Rewrite docs/benchmarks-languages.md.
    #[arg(long)]
    write: bool,
    /// Fail if the target is missed.
    #[arg(long)]
    check: bool,
}

/// The minimum times of one repository: wall and processor time.
struct Measured {
    name: String,
    files: u64,
    bytes: u64,
    rows: Vec<(&'static str, Option<(Duration, Duration)>)>,
}

pub(super) fn run(root: &Path, stan: &Path, options: &LanguagesOptions) -> Result<bool> {
    let store = Store::open(root)?;
    let ruff = match &options.ruff {
        Some(ruff) => Some(std::fs::canonicalize(ruff)?),
        None => installed_ruff(&store),
    };
    let mut all = Vec::new();
    for folder in &options.dir {
        let folder = std::fs::canonicalize(folder)?;
        eprintln!("measure {}", folder.display());
        all.push(measure(&store, &folder, stan, ruff.as_deref(), options.rounds)?);
    }
    let page = page(&all, options.rounds);
    print!("{page}");
    if options.write {
        std::fs::write(root.join("docs/benchmarks-languages.md"), &page)?;
    }
    let is_met =
        |one: &Measured| [COLD, WITH_CACHE].iter().all(|row| ratio(one, row).is_some_and(|ratio| ratio <= TARGET));
    Ok(!options.check || all.iter().all(is_met))
}

/// The program that pip installs into a folder that is kept between runs; `None` without pip, or if it has no ruff.
fn installed_ruff(store: &Store) -> Option<PathBuf> {
    let folder = store.folder("ruff");
    let program = folder.join("bin/ruff");
    if !program.is_file() {
        let arguments = ["-m", "pip", "install", "--quiet", "--disable-pip-version-check", "--no-deps", "--target"];
        let installed = Command::new("python3").args(arguments).arg(&folder).arg(RUFF).status();
        if !installed.is_ok_and(|status| status.success()) {
            eprintln!("pip installs no {RUFF}: its rows are left out");
        }
    }
    program.is_file().then_some(program)
}

fn measure(store: &Store, folder: &Path, stan: &Path, ruff: Option<&Path>, rounds: usize) -> Result<Measured> {
    let (output, complaints) = (store.scratch("output"), store.scratch("complaints"));
    let (own, cache) = (std::env::current_exe()?, store.scratch("languages-cache"));
    let cache_folder = cache.to_string_lossy();
    let mut rows = vec![
        (LIMIT, ProcessRun::new(&own, &["limit", "cold", "."], folder).output_to(&output)),
        (STRICT, ProcessRun::new(&own, &["limit", "cold", ".", "--tokens-only"], folder)),
        (COLD, ProcessRun::new(stan, &["graph", "--stats", "--no-cache"], folder)),
        (WITH_CACHE, ProcessRun::new(stan, &["graph", "--stats", "--cache-dir", &cache_folder], folder)),
    ];
    if let Some(ruff) = ruff {
        let arguments = ["analyze", "graph", "--quiet", "."];
        rows.push((RUFF_ROW, ProcessRun::new(ruff, &arguments, folder)));
    }
    let mut times: Vec<Vec<(Duration, Duration)>> = vec![Vec::new(); rows.len()];
    // The first round fills the page cache and is not counted.
    for round in 0..=rounds.max(1) {
        for ((_, row), times) in rows.iter().zip(&mut times) {
            // It may not exist; any other error shows when the folder is used.
            let _ = std::fs::remove_dir_all(&cache);
            if let ProcessOutcome::Done(usage) = row.measure(&complaints)?
                && round > 0
            {
                times.push((usage.wall, usage.cpu));
            }
        }
    }
    let facts: Value = serde_json::from_slice(&std::fs::read(&output)?)?;
    let count = |key: &str| facts.get(key).and_then(Value::as_u64).unwrap_or_default();
    let name = folder.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
    // ruff only knows Python: with files of other languages, the comparison is meaningless.
    let is_python = count("python") * 2 > count("parsed");
    let rows = rows.iter().zip(times).map(|((name, _), times)| (*name, least(&times)));
    let rows = rows.filter(|(name, _)| is_python || *name != RUFF_ROW).collect();
    Ok(Measured { name, files: count("parsed"), bytes: count("parsedBytes"), rows })
}

/// The minimum wall time and the minimum processor time, independently.
fn least(times: &[(Duration, Duration)]) -> Option<(Duration, Duration)> {
    Some((times.iter().map(|(wall, _)| *wall).min()?, times.iter().map(|(_, cpu)| *cpu).min()?))
}

/// Processor time in multiples of the limit's: on a busy machine, wall time measures other programs.
fn ratio(measured: &Measured, row: &str) -> Option<f64> {
    let cpu = |wanted: &str| {
        let (_, found) = measured.rows.iter().find(|(name, _)| *name == wanted)?;
        found.map(|(_, cpu)| cpu.as_secs_f64())
    };
    Some(cpu(row)? / cpu(LIMIT)?)
}

fn page(all: &[Measured], rounds: usize) -> String {
    let mut text = format!(
        "# Benchmarks: Python, Go and Rust\n\nWritten by `cargo xtask bench languages --dir DIR --write`; the least of {rounds} rounds. The limit \
         reads and hashes\nevery file and parses those of the language with the parser that `stan` uses, as a whole and without collecting facts. The target \
         is {TARGET} × the limit, in\nprocessor time. `{STRICT}` reads of Rust the tokens, of Go the tokens and the top level, and nothing of their bodies. ruff \
         is `{RUFF}`, which knows Python\nalone.\n\n| repository | parsed | | wall | processor | × limit |\n|---|---|---|---|---|---|\n"
    );
    for one in all {
        for (row, times) in &one.rows {
            let Some((wall, cpu)) = times else { continue };
            let shown = ratio(one, row).map_or_else(|| "-".to_owned(), |ratio| format!("{ratio:.2}"));
            let size = format!("{} files, {:.1} MB", one.files, one.bytes as f64 / 1e6);
            let (wall, cpu) = (wall.as_secs_f64() * 1e3, cpu.as_secs_f64() * 1e3);
            let _ = writeln!(text, "| {} | {size} | {row} | {wall:.0} ms | {cpu:.0} ms | {shown} |", one.name);
        }
    }
    text
}
