//! `cargo xtask bench slice`: the cost of a slice, as ratios that are comparable between machines.
//!
//! Generates files under `.bench/` and measures `target/release/x07`, which is built first.

use std::fmt::Write;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use stan_model::json::JsonTree;

use crate::cargo;

const PROGRAM: &str = "target/release/x07";
const ROUNDS: usize = 7;

/// Runs the benchmark in the root of the workspace. Fails if a ratio exceeds its limit.
pub(crate) fn run(root: &Path) -> Result<(), String> {
    std::env::set_current_dir(root).map_err(|error| error.to_string())?;
    cargo::release(root, "x07", None).map_err(|error| error.to_string())?;
    std::fs::create_dir_all(".bench").map_err(|error| error.to_string())?;
    let (full, half, small) = (made(20_000)?, made(10_000)?, made(100)?);
    let bound = ["--max-bytes", "20000"];
    // The machine may be busy: measurements take turns, and the fastest of each counts.
    let [mut parse, mut tree, mut slice, mut slice_half, mut whole, mut start, mut short] = [Duration::MAX; 7];
    for _ in 0..ROUNDS {
        parse = parse.min(timed_reading(&full, |bytes| serde_json::from_slice::<serde_json::Value>(bytes).is_ok()));
        tree = tree.min(timed_reading(&full, |bytes| JsonTree::parse(bytes).is_ok()));
        slice = slice.min(slice_file(&full, "", &bound));
        slice_half = slice_half.min(slice_file(&half, "", &bound));
        whole = whole.min(slice_file(&full, "", &[]));
        for _ in 0..ROUNDS {
            start = start.min(timed(&["--version"]));
            short = short.min(slice_file(&small, "/decls/5/body/1", &["--closure", "types"]));
        }
    }
    let peak = peak_memory(&full, &bound);
    let size = std::fs::metadata(&full).map_err(|error| error.to_string())?.len();
    println!("file: {:.1} MB, 20,000 declarations", size as f64 / 1e6);
    let ratio = |left: Duration, right: Duration| left.as_secs_f64() / right.as_secs_f64();
    let checks = [
        ("slice to 20,000 bytes / reading and parsing", ratio(slice, parse), 3.0),
        ("the same / our own reader alone", ratio(slice, tree), f64::INFINITY),
        ("slice of everything / reading and parsing", ratio(whole, parse), f64::INFINITY),
        ("twice the file / once", ratio(slice, slice_half), 3.0),
        ("peak memory / file", peak as f64 / size as f64, 12.0),
        ("slice of a 100 kB file / --version", ratio(short, start), 2.0),
    ];
    let mut failed = Vec::new();
    for (name, value, limit) in checks {
        println!("{name:46} {value:6.2}  (limit {limit})");
        if value > limit {
            failed.push(name);
        }
    }
    if failed.is_empty() { Ok(()) } else { Err(format!("above the limit: {}", failed.join("; "))) }
}

/// A module with `count` declarations of about one kilobyte, each calling others.
fn made(count: usize) -> Result<String, String> {
    let path = format!(".bench/slice-{count}.x07.json");
    if Path::new(&path).exists() {
        return Ok(path);
    }
    let mut text = String::from(
        "{\"schema_version\":\"x07.x07ast@0.8.0\",\"kind\":\"module\",\"module_id\":\"big\",\"imports\":[\"std.vec\"],\"decls\":[",
    );
    for index in 0..count {
        let comma = if index > 0 { "," } else { "" };
        let _ = write!(
            text,
            "{comma}\n{{\"kind\":\"defn\",\"name\":\"big.f{index:05}\",\"params\":[{{\"name\":\"x\",\"ty\":\"i32\"}}],\"result\":\"i32\",\"body\":[\"begin\""
        );
        for step in 0..14 {
            let callee = (index * 7 + step + 1) % count;
            let _ = write!(
                text,
                ",[\"let\",\"v{step}\",[\"+\",[\"std.vec.len\",\"x\"],[\"big.f{callee:05}\",{step},\"x\"]]]"
            );
        }
        text.push_str(",\"x\"]}");
    }
    text.push_str("]}\n");
    std::fs::write(&path, text).map_err(|error| format!("{path}: {error}"))?;
    Ok(path)
}

/// The time to read and parse a file within this process.
fn timed_reading(path: &str, parse: impl Fn(&[u8]) -> bool) -> Duration {
    let started = Instant::now();
    let bytes = std::fs::read(path).unwrap_or_default();
    assert!(parse(&bytes), "the made-up file is JSON");
    started.elapsed()
}

fn slice_file(path: &str, pointer: &str, more: &[&str]) -> Duration {
    timed(&slice_arguments(path, pointer, more))
}

fn slice_arguments<'a>(path: &'a str, pointer: &'a str, more: &[&'a str]) -> Vec<&'a str> {
    let enclosure = if pointer.is_empty() { "module" } else { "decl" };
    [&["ast", "slice", "--in", path, "--ptr", pointer, "--enclosure", enclosure], more].concat()
}

fn command(arguments: &[&str]) -> Command {
    let mut command = Command::new(PROGRAM);
    command.args(arguments).stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    command
}

fn timed(arguments: &[&str]) -> Duration {
    let started = Instant::now();
    let status = command(arguments).status();
    if status.is_ok() { started.elapsed() } else { Duration::MAX }
}

/// The peak memory of a run. Sampling slows the run down, so it is not timed.
fn peak_memory(path: &str, more: &[&str]) -> u64 {
    let Ok(mut child) = command(&slice_arguments(path, "", more)).spawn() else { return u64::MAX };
    let status = format!("/proc/{}/status", child.id());
    let mut peak = 0;
    while matches!(child.try_wait(), Ok(None)) {
        peak = peak.max(std::fs::read_to_string(&status).ok().and_then(|text| high_water(&text)).unwrap_or(0));
        std::thread::sleep(Duration::from_micros(200));
    }
    peak
}

fn high_water(status: &str) -> Option<u64> {
    let line = status.lines().find(|line| line.starts_with("VmHWM:"))?;
    line.split_whitespace().nth(1)?.parse::<u64>().ok().map(|kilobytes| kilobytes * 1024)
}
