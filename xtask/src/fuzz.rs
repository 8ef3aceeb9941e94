//! Fuzzes every reader of untrusted input: builds the programs in `fuzz/` with coverage, runs them in parallel, and
//! reports what they did. The laws themselves are in `fuzz/src`.
//!
//! A stable compiler is enough: libFuzzer needs LLVM's coverage pass, and no sanitizer. The flags are those of `cargo fuzz run -s
//! none`, which works in the same folder.

use std::collections::VecDeque;
use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::process::{Command, ExitStatus};
use std::sync::{Mutex, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use crate::{Result, cargo};

/// What the coverage of libFuzzer needs, and checks that a release leaves out.
const FLAGS: &str = "-Cpasses=sancov-module -Cllvm-args=-sanitizer-coverage-level=4 \
                     -Cllvm-args=-sanitizer-coverage-inline-8bit-counters -Cllvm-args=-sanitizer-coverage-pc-table \
                     -Cllvm-args=-sanitizer-coverage-trace-compares --cfg fuzzing -Ccodegen-units=1 -Cdebug-assertions \
                     -Coverflow-checks";

/// Inputs grow up to twice the largest seed, and at least to this.
const MIN_INPUT_LIMIT: u64 = 4096;

/// How many seconds one input may take.
const TIMEOUT: u64 = 20;

/// How often a run goes on after a timeout that did not repeat.
const MAX_RESTARTS: usize = 5;

/// Which targets are fuzzed, and for how long.
#[derive(clap::Args)]
pub(crate) struct Fuzz {
    /// How long all targets together may take
    #[arg(long, conflicts_with = "runs")]
    minutes: Option<u64>,
    /// How many inputs each target tries, the same ones every time [default: 20000]
    #[arg(long)]
    runs: Option<u64>,
    /// Only this target; may be given more than once
    #[arg(long = "target", value_name = "TARGET")]
    targets: Vec<String>,
    /// How many targets run at the same time
    #[arg(long, default_value_t = 2, value_parser = clap::value_parser!(u8).range(1..=2))]
    jobs: u8,
}

/// How long one target runs.
#[derive(Clone, Copy)]
enum Budget {
    Runs(u64),
    Time(Duration),
}

/// What became of one target.
struct FuzzResult {
    target: String,
    executions: u64,
    seconds: f64,
    coverage: u64,
    features: u64,
    /// Inputs that broke a law.
    crashes: Vec<PathBuf>,
    /// Why it ended when it should not have, and no input is to blame.
    failure: Option<String>,
}

/// Builds, runs and reports. `false` when a law was broken.
pub(crate) fn run(root: &Path, fuzz: &Fuzz) -> Result<bool> {
    let targets = chosen(root, &fuzz.targets)?;
    let programs = build(root)?;
    let jobs = usize::from(fuzz.jobs);
    let budget = match (fuzz.minutes, fuzz.runs) {
        (Some(minutes), _) => {
            let turns = targets.len().div_ceil(jobs).max(1);
            Budget::Time(Duration::from_secs((minutes * 60).div_ceil(turns as u64)))
        }
        (None, runs) => Budget::Runs(runs.unwrap_or(20_000)),
    };
    let queue = Mutex::new(VecDeque::from(targets));
    let outcomes = Mutex::new(Vec::new());
    thread::scope(|scope| {
        for _ in 0..jobs {
            scope.spawn(|| {
                while let Some(target) = locked(&queue).pop_front() {
                    let outcome = fuzz_one(root, &programs, &target, budget);
                    locked(&outcomes).push(outcome);
                }
            });
        }
    });
    let mut outcomes =
        outcomes.into_inner().unwrap_or_else(PoisonError::into_inner).into_iter().collect::<Result<Vec<_>>>()?;
    outcomes.sort_by(|left, right| left.target.cmp(&right.target));
    report(root, &outcomes);
    Ok(outcomes.iter().all(|outcome| outcome.crashes.is_empty() && outcome.failure.is_none()))
}

fn locked<T>(mutex: &Mutex<T>) -> std::sync::MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// The targets that were asked for; all of them when none was.
fn chosen(root: &Path, wanted: &[String]) -> Result<Vec<String>> {
    let programs = sorted_files(&root.join("fuzz/fuzz_targets"))?;
    let known: Vec<String> = programs.iter().filter_map(|path| Some(path.file_stem()?.to_str()?.to_owned())).collect();
    if let Some(unknown) = wanted.iter().find(|name| !known.contains(name)) {
        return Err(format!("there is no target `{unknown}`; known are {}", known.join(", ")).into());
    }
    Ok(if wanted.is_empty() { known } else { wanted.to_vec() })
}

/// Builds all programs with coverage, in a folder of their own, and returns where they are.
fn build(root: &Path) -> Result<PathBuf> {
    let started = Instant::now();
    let host = host()?;
    let target_directory =
        std::env::var_os("CARGO_TARGET_DIR").map_or_else(|| root.join("target"), PathBuf::from).join("fuzz");
    // Naming the target keeps the flags away from build scripts and procedural macros.
    let status = cargo::command(root)
        .args(["build", "--quiet", "--locked", "--profile", "fuzz", "--package", "stan-fuzz", "--features", "programs"])
        .args(["--bins", "--target"])
        .arg(&host)
        .arg("--target-dir")
        .arg(&target_directory)
        .env_remove("CARGO_ENCODED_RUSTFLAGS")
        .env("RUSTFLAGS", FLAGS)
        .status()?;
    if !status.success() {
        return Err("the fuzz targets could not be built with coverage; libFuzzer needs a C++ compiler".into());
    }
    println!("built with coverage in {:.0} s", started.elapsed().as_secs_f64());
    Ok(target_directory.join(host).join("fuzz"))
}

/// The triple of this machine.
fn host() -> Result<String> {
    let output = Command::new("rustc").arg("-vV").output()?;
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    let host = text.lines().find_map(|line| line.strip_prefix("host: "));
    Ok(host.ok_or("`rustc -vV` names no host")?.to_owned())
}

/// The folders of one target below `.bench/fuzz`.
struct Places {
    corpus: PathBuf,
    crashes: PathBuf,
    log: PathBuf,
    dictionary: PathBuf,
    longest: u64,
}

impl Places {
    /// Seeds are copied, because the fuzzer writes what it finds into its corpus.
    fn prepare(root: &Path, target: &str, keeps_corpus: bool) -> Result<Self> {
        let home = root.join(".bench/fuzz");
        let corpus = home.join("corpus").join(target);
        if !keeps_corpus && corpus.exists() {
            fs::remove_dir_all(&corpus)?;
        }
        let crashes = home.join("crashes").join(target);
        for folder in [&corpus, &crashes, &home.join("logs")] {
            fs::create_dir_all(folder)?;
        }
        let mut longest = MIN_INPUT_LIMIT;
        for seed in sorted_files(&root.join("fuzz/seeds").join(target))? {
            let name = seed.file_name().ok_or("a seed has a name")?;
            longest = longest.max(2 * fs::copy(&seed, corpus.join(name))?);
        }
        Ok(Self {
            corpus,
            crashes,
            log: home.join("logs").join(format!("{target}.log")),
            dictionary: root.join("fuzz/dictionaries").join(format!("{target}.dict")),
            longest,
        })
    }
}

fn sorted_files(folder: &Path) -> Result<Vec<PathBuf>> {
    let entries = fs::read_dir(folder).map_err(|error| format!("{} cannot be listed: {error}", folder.display()))?;
    let mut paths = entries.map(|entry| Ok(entry?.path())).collect::<Result<Vec<_>>>()?;
    paths.sort();
    Ok(paths)
}

/// Runs one target until its budget is used or a law is broken.
fn fuzz_one(root: &Path, programs: &Path, target: &str, budget: Budget) -> Result<FuzzResult> {
    let places = Places::prepare(root, target, matches!(budget, Budget::Time(_)))?;
    let program = programs.join(target);
    let started = Instant::now();
    let mut outcome = FuzzResult {
        target: target.to_owned(),
        executions: 0,
        seconds: 0.0,
        coverage: 0,
        features: 0,
        crashes: Vec::new(),
        failure: None,
    };
    for _ in 0..=MAX_RESTARTS {
        let Some(left) = left_of(budget, outcome.executions, started.elapsed()) else { break };
        let before = sorted_files(&places.crashes)?;
        let status = start(&program, &places, left)?;
        outcome.count(&fs::read(&places.log)?);
        if status.success() {
            break;
        }
        let new: Vec<PathBuf> =
            sorted_files(&places.crashes)?.into_iter().filter(|path| !before.contains(path)).collect();
        let (idle, real): (Vec<_>, Vec<_>) =
            new.into_iter().partition(|path| is_timeout(path) && passes(&program, path));
        // On a busy machine, or if a process was suspended for a while, a normal input looks like one that takes too long.
        for path in &idle {
            fs::remove_file(path)?;
        }
        if !real.is_empty() {
            outcome.crashes = real;
            break;
        }
        if idle.is_empty() {
            outcome.failure = Some(format!("it ended with {status}; see {}", places.log.display()));
            break;
        }
    }
    outcome.seconds = started.elapsed().as_secs_f64();
    println!("{target}: {} executions in {:.0} s", outcome.executions, outcome.seconds);
    Ok(outcome)
}

fn left_of(budget: Budget, executions: u64, elapsed: Duration) -> Option<Budget> {
    match budget {
        Budget::Runs(runs) => runs.checked_sub(executions).filter(|left| *left > 0).map(Budget::Runs),
        Budget::Time(time) => time.checked_sub(elapsed).filter(|left| left.as_secs() > 0).map(Budget::Time),
    }
}

fn start(program: &Path, places: &Places, budget: Budget) -> Result<ExitStatus> {
    let log = File::create(&places.log)?;
    let mut command = Command::new(program);
    // Symbolising a backtrace takes longer than an input may.
    command.env("RUST_BACKTRACE", "0");
    command.arg(&places.corpus).args([
        format!("-dict={}", places.dictionary.display()),
        format!("-artifact_prefix={}/", places.crashes.display()),
        format!("-max_len={}", places.longest),
        format!("-timeout={TIMEOUT}"),
        "-rss_limit_mb=2048".to_owned(),
        "-print_final_stats=1".to_owned(),
    ]);
    match budget {
        Budget::Runs(runs) => command.args([format!("-runs={runs}"), "-seed=1".to_owned()]),
        Budget::Time(time) => command.arg(format!("-max_total_time={}", time.as_secs())),
    };
    command.stdout(log.try_clone()?).stderr(log);
    command.status().map_err(|error| format!("{} cannot be started: {error}", program.display()).into())
}

fn is_timeout(path: &Path) -> bool {
    path.file_name().and_then(|name| name.to_str()).is_some_and(|name| name.starts_with("timeout-"))
}

fn passes(program: &Path, input: &Path) -> bool {
    Command::new(program)
        .arg(input)
        .arg(format!("-timeout={TIMEOUT}"))
        .output()
        .is_ok_and(|output| output.status.success())
}

impl FuzzResult {
    /// Adds what the fuzzer said: `#1024 NEW cov: 310 ft: 902 …` and `stat::number_of_executed_units: 2048`.
    fn count(&mut self, log: &[u8]) {
        let text = String::from_utf8_lossy(log);
        let mut executed = None;
        let mut numbered = 0;
        for line in text.lines() {
            if let Some(count) = line.strip_prefix("stat::number_of_executed_units:") {
                executed = count.trim().parse().ok();
            }
            let Some((number, rest)) = line.strip_prefix('#').and_then(|line| line.split_once(['\t', ' '])) else {
                continue;
            };
            numbered = number.parse().unwrap_or(numbered);
            self.coverage = self.coverage.max(number_after(rest, "cov: ").unwrap_or(0));
            self.features = self.features.max(number_after(rest, "ft: ").unwrap_or(0));
        }
        self.executions += executed.unwrap_or(numbered);
    }
}

fn number_after(text: &str, key: &str) -> Option<u64> {
    text.split_once(key)?.1.split_whitespace().next()?.parse().ok()
}

fn report(root: &Path, outcomes: &[FuzzResult]) {
    println!("\n| target | executions | per second | coverage | features | crashes |");
    println!("|---|---:|---:|---:|---:|---:|");
    for outcome in outcomes {
        let FuzzResult { target, executions, seconds, coverage, features, crashes, .. } = outcome;
        let rate = *executions as f64 / seconds.max(0.001);
        println!("| {target} | {executions} | {rate:.0} | {coverage} | {features} | {} |", crashes.len());
    }
    let total: u64 = outcomes.iter().map(|outcome| outcome.executions).sum();
    println!("\n{total} executions");
    for outcome in outcomes {
        if let Some(failure) = &outcome.failure {
            println!("\n{}: {failure}", outcome.target);
        }
        for path in &outcome.crashes {
            let shown = path.strip_prefix(root).unwrap_or(path).display();
            println!("\n{} breaks a law with {shown}; to see it again:", outcome.target);
            println!("  cargo run --package stan-fuzz --features programs --bin {} -- {shown}", outcome.target);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_output_of_the_fuzzer_is_counted() {
        let mut outcome = FuzzResult {
            target: "x".to_owned(),
            executions: 5,
            seconds: 0.0,
            coverage: 0,
            features: 0,
            crashes: Vec::new(),
            failure: None,
        };
        outcome.count(b"INFO: x\n#2\tINITED cov: 10 ft: 11 corp: 1/1b\n#9\tNEW    cov: 12 ft: 30 corp: 2/3b\n");
        assert_eq!((outcome.executions, outcome.coverage, outcome.features), (14, 12, 30));
        outcome.count(b"#4\tpulse  cov: 9 ft: 9\nstat::number_of_executed_units: 100\n");
        assert_eq!((outcome.executions, outcome.coverage, outcome.features), (114, 12, 30));
    }

    #[test]
    fn a_budget_of_runs_or_time_ends() {
        assert!(left_of(Budget::Runs(5), 5, Duration::ZERO).is_none());
        assert!(matches!(left_of(Budget::Runs(5), 3, Duration::ZERO), Some(Budget::Runs(2))));
        assert!(left_of(Budget::Time(Duration::from_secs(5)), 0, Duration::from_secs(6)).is_none());
    }
}
