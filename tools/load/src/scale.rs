//! One large repository: the cost of each command without a cache, and again without changes.
//!
//! `cold` means without stan's cache; the files may be in the page cache, as they are for the plain reading that everything is
//! compared with.

use std::process::Command;

use serde_json::Value;

use super::generate::Repository;
use super::program::{Ran, Stan, Usage, digest, start};
use super::report::Report;
use crate::Result;

/// Memory independent of the number of files: the program itself, its threads and their buffers.
const BASE_MEMORY: u64 = 192 << 20;

/// Memory per file: names, edges, hashes, and the documents made from them.
const MEMORY_PER_FILE: u64 = 3 << 10;

pub(super) fn run(stan: Stan<'_>, repository: &Repository, report: &mut Report) -> Result<()> {
    let files = repository.everything().count() as u64 + super::layout::ROOT_FILES;
    let reading = read(stan)?;
    report.row(format!("reading {files} files"), reading, None);
    let mut peak = 0;
    let mut measured = |report: &mut Report, name: &str, arguments: &[&str]| -> Result<Ran> {
        let ran = stan.succeed(arguments)?;
        peak = peak.max(ran.usage.peak_bytes);
        report.row(name, ran.usage, Some(reading));
        Ok(ran)
    };
    measured(report, "graph, cold", &["graph", "--stats"])?;
    measured(report, "graph, warm", &["graph", "--stats"])?;
    let warm = measured(report, "graph --json, warm", &["graph", "--json"])?.answer_digest()?;
    let cold = measured(report, "graph --json --no-cache", &["graph", "--json", "--no-cache"])?.answer_digest()?;
    report.law("the warm graph is the cold one", warm == cold, cold);

    measured(report, "run, first", &["run", "--json"])?;
    let ran = measured(report, "run, unchanged", &["run", "--json"])?;
    everything_is_archived(&ran, files, report)?;
    measured(report, "verify, everything", &["verify", "--json"])?;

    repository.select(repository.modules().take(1000))?;
    measured(report, "run --context, 1,000 nodes, first", &["run", "--context", "--json"])?;
    let before = digest(&stan.root.join(".stan/output/archive.tar"))?;
    measured(report, "run --context, 1,000 nodes, unchanged", &["run", "--context", "--json"])?;
    let after = digest(&stan.root.join(".stan/output/archive.tar"))?;
    report.law("the same selection is the same archive", before == after, after);
    measured(report, "select, 1,000 nodes", &["select", "--json", "--tokens", "bytes4"])?;

    repository.select(repository.everything())?;
    measured(report, "run --context, everything, first", &["run", "--context", "--json"])?;
    let ran = measured(report, "run --context, everything, unchanged", &["run", "--context", "--json"])?;
    // Four files besides the repository: overview, selection, the shipped instructions, and the map, which is reported as left
    // out because it has too many tokens.
    everything_is_archived(&ran, files + 4, report)?;
    measured(report, "verify, everything in context", &["verify", "--json"])?;
    let allowed = BASE_MEMORY + files * MEMORY_PER_FILE;
    report.law(
        "memory is explained by the number of files",
        peak <= allowed,
        format!("peak {} MB, allowed {} MB", peak / 1_000_000, allowed / 1_000_000),
    );
    Ok(())
}

/// Reads everything that the commands read, in a child process, twice; the second time counts.
fn read(stan: Stan<'_>) -> Result<Usage> {
    let once = || {
        let mut command = Command::new(std::env::current_exe()?);
        command.args(["--read"]).arg(stan.root);
        start(command, "reading".to_owned(), &stan.scratch.join("reading"))?.finish()
    };
    once()?;
    let ran = once()?;
    if ran.code == Some(0) { Ok(ran.usage) } else { Err(ran.failure().into()) }
}

/// Checks that every file is in the archive, or reported as binary or as left out by default.
fn everything_is_archived(ran: &Ran, expected: u64, report: &mut Report) -> Result<()> {
    let said: Value = serde_json::from_slice(&std::fs::read(&ran.answer)?)?;
    let archived = said.pointer("/archive/files").and_then(Value::as_u64).unwrap_or(0);
    let binaries = said.get("binaries").and_then(Value::as_array).map_or(0, |binaries| binaries.len() as u64);
    let left_out = said.get("leftOut").and_then(Value::as_array).map_or(0, |files| files.len() as u64);
    report.law(
        "every file is archived, or named as a binary or as left out",
        archived + binaries + left_out == expected,
        format!(
            "stan {}: {archived} archived, {binaries} binaries, {left_out} left out, {expected} expected",
            ran.command
        ),
    );
    Ok(())
}
