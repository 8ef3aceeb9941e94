//! The section of docs/benchmarks.md about fleets.

use std::fmt::Write as _;
use std::time::Duration;

use super::large::{Large, MAX_BYTES, MAX_GROWTH};
use super::{Measured, TARGET};

/// Of the estimate.
const FLEET: f64 = 10_000.0;

pub(super) fn section(all: &[Measured], large: Option<&Large>, rounds: usize) -> String {
    let mut text = String::from("## Fleets\n\nWritten by `cargo xtask bench fleet --large --write`.\n");
    if !all.is_empty() {
        repositories(&mut text, all, rounds);
        estimate(&mut text, all);
    }
    if let Some(large) = large {
        sizes(&mut text, large);
    }
    text
}

fn repositories(text: &mut String, all: &[Measured], rounds: usize) {
    let _ = write!(
        text,
        "\nCold runs of `stan graph --json --no-cache` on packages as npm and PyPI publish them: alone, with an empty and with a filled shared cache \
         (`--cache-url`; moto from PyPI, which\nspeaks S3, on loopback). Processor time of our process in ms, user and system, the least of {rounds} \
         interleaved runs; the server's is not counted. All answers have the same bytes.\nBytes are those of the bundles: what the first machine \
         sends and every other one fetches. The target is {TARGET} × for repositories that are mostly code.\n\n\
         | repository | alone | empty cache | filled cache | alone / filled | files | bundles | KB | KB per bundle |\n\
         |---|--:|--:|--:|--:|--:|--:|--:|--:|\n"
    );
    let ms = |time: Duration| time.as_secs_f64() * 1e3;
    for one in all {
        let (bundles, kb) = (one.traffic.bundles_stored, one.traffic.bytes_stored as f64 / 1e3);
        let _ = writeln!(
            text,
            "| {} | {:.0} | {:.0} | {:.0} | {:.2} | {} | {bundles} | {kb:.0} | {:.0} |",
            one.name,
            ms(one.none),
            ms(one.empty),
            ms(one.filled),
            one.ratio(),
            one.traffic.files_read,
            kb / bundles.max(1) as f64
        );
    }
}

fn estimate(text: &mut String, all: &[Measured]) {
    let sum = |of: fn(&Measured) -> f64| all.iter().map(of).sum::<f64>();
    let none = sum(|one| one.none.as_secs_f64());
    let empty = sum(|one| one.empty.as_secs_f64());
    let filled = sum(|one| one.filled.as_secs_f64()).max(1e-9);
    let bytes = sum(|one| one.traffic.bytes_stored as f64);
    let scale = FLEET / all.len() as f64;
    let _ = write!(
        text,
        "\nAll {}: {none:.2} s alone, {empty:.2} s with an empty cache ({:.2} ×), {filled:.2} s with a filled one ({:.2} × cheaper); {:.1} MB in \
         {:.0} bundles.\n\nOn paper, {FLEET:.0} such repositories: {:.0} s of processor time to read all of them alone, {:.0} s with a filled cache, \
         {:.0} s to fill it once; {:.1} GB are stored, and\n{:.1} GB are moved each time that every repository is read cold.\n",
        all.len(),
        empty / none.max(1e-9),
        none / filled,
        bytes / 1e6,
        sum(|one| one.traffic.bundles_stored as f64),
        none * scale,
        filled * scale,
        empty * scale,
        bytes * scale / 1e9,
        bytes * scale / 1e9,
    );
}

fn sizes(text: &mut String, large: &Large) {
    text.push_str(
        "\nA generated repository (packages of a hundred TypeScript files that import each other), `stan graph --stats --no-cache`:\n\n\
         | files | wall s | processor s | µs per file | peak MB | bytes per file | time, twice the files | memory, twice the files |\n\
         |--:|--:|--:|--:|--:|--:|--:|--:|\n",
    );
    let growth = std::iter::once(None).chain(large.growth().map(Some));
    for ((files, usage), growth) in large.0.iter().zip(growth) {
        let (wall, cpu, count) = (usage.wall.as_secs_f64(), usage.cpu.as_secs_f64(), (*files).max(1) as f64);
        let growth = growth.map_or_else(|| "| |".to_owned(), |(time, memory)| format!("{time:.2} × | {memory:.2} × |"));
        let _ = writeln!(
            text,
            "| {files} | {wall:.1} | {cpu:.1} | {:.1} | {} | {:.0} | {growth}",
            cpu / count * 1e6,
            usage.peak_bytes / 1_000_000,
            usage.peak_bytes as f64 / count
        );
    }
    let verdict = if large.holds() { "Met" } else { "**Not met**" };
    let _ = writeln!(
        text,
        "\n{verdict}: the target is {:.1} GB for a million files, and linear growth (at most {MAX_GROWTH} × for twice the files).",
        MAX_BYTES as f64 / 1e9
    );
}
