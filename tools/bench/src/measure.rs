//! Measures one corpus. The rows take turns, so that a slow minute of the machine affects all of them.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::time::Duration;

use serde_json::Value;

use super::corpus::Corpus;
use super::edit::Edited;
use super::fetch::Store;
use super::process::{ProcessOutcome, ProcessRun};
use super::row::{Row, Runs};
use crate::Result;

/// Slower peers are stopped, and their ratio becomes a lower bound.
const PEER_LIMIT: Duration = Duration::from_secs(120);

/// Longer than the coarsest file timestamp, so that a refreshed cache is newer than the edit.
const SETTLE: Duration = Duration::from_millis(1100);

/// The programs to start.
pub(super) struct Programs {
    pub(super) stan: PathBuf,
    /// This program, to run the limits.
    pub(super) own: PathBuf,
    /// The folder with the peers' `node_modules`; `None` skips the peers.
    pub(super) peers: Option<PathBuf>,
    /// Whether to run peers that take minutes.
    pub(super) slow_peers: bool,
}

/// The size of the corpus, as counted by the limit.
#[derive(Clone, Copy, Default)]
pub(super) struct Size {
    pub(super) files: u64,
    pub(super) folders: u64,
    pub(super) bytes: u64,
    pub(super) parsed: u64,
    pub(super) parsed_bytes: u64,
    /// The size of `stan graph --json`.
    pub(super) json_bytes: u64,
}

pub(super) struct Measured {
    pub(super) name: &'static str,
    pub(super) size: Size,
    pub(super) rows: BTreeMap<Row, Runs>,
}

/// The state that all rounds of one corpus share.
struct Bench<'a> {
    corpus: &'a Corpus,
    programs: &'a Programs,
    folder: PathBuf,
    warm_cache: PathBuf,
    cold_cache: PathBuf,
    list: PathBuf,
    output: PathBuf,
    complaints: PathBuf,
    size: Size,
    /// Why the product is not measured: its graph does not match this corpus.
    wrong_graph: Option<String>,
}

pub(super) fn measure(store: &Store, programs: &Programs, corpus: &Corpus, rounds: usize) -> Result<Measured> {
    let mut bench = Bench {
        corpus,
        programs,
        folder: store.corpus(corpus)?,
        warm_cache: store.scratch("cache-warm"),
        cold_cache: store.scratch("cache-cold"),
        list: store.scratch("list"),
        output: store.scratch("output"),
        complaints: store.scratch("complaints"),
        size: Size::default(),
        wrong_graph: None,
    };
    eprintln!("measure {}", corpus.name);
    bench.warm_up()?;
    let mut rows: BTreeMap<Row, Runs> = BTreeMap::new();
    for round in 0..rounds {
        let mut order: Vec<Row> = Row::ALL.into_iter().filter(|row| !row.is_slow()).collect();
        if round % 2 == 1 {
            order.reverse();
        }
        for row in order {
            bench.run_row(row, round, &mut rows)?;
        }
    }
    for row in Row::ALL.into_iter().filter(|row| row.is_slow() && programs.slow_peers) {
        bench.run_row(row, rounds, &mut rows)?;
    }
    Ok(Measured { name: corpus.name, size: bench.size, rows })
}

impl Bench<'_> {
    /// Fills the page cache and the warm cache, and measures sizes.
    fn warm_up(&mut self) -> Result<()> {
        let list = self.list.to_string_lossy().into_owned();
        let limit = self.limit(&["cold", ".", "--list", &list]).output_to(&self.output);
        if let ProcessOutcome::Failed(why) = limit.measure(&self.complaints)? {
            return Err(format!("the limit failed on {}: {why}", self.corpus.name).into());
        }
        let facts: Value = serde_json::from_slice(&std::fs::read(&self.output)?)?;
        let count = |key: &str| facts.get(key).and_then(Value::as_u64).unwrap_or_default();
        self.size = Size {
            files: count("files"),
            folders: count("folders"),
            bytes: count("bytes"),
            parsed: count("parsed"),
            parsed_bytes: count("parsedBytes"),
            json_bytes: 0,
        };
        remove(&self.warm_cache);
        self.refresh_warm_cache()?;
        let json = self.stan(&["--json", "--no-cache"]).output_to(&self.output);
        if let ProcessOutcome::Done(_) = json.measure(&self.complaints)? {
            self.size.json_bytes = std::fs::metadata(&self.output)?.len();
            self.wrong_graph = self.find_fault()?;
        }
        Ok(())
    }

    /// Checks whether the output contains the graph of all files: an incomplete answer must not win.
    fn find_fault(&self) -> Result<Option<String>> {
        let (graph, answer) = (self.output.to_string_lossy(), self.list.with_extension("nodes"));
        let outcome = self.limit(&["nodes", &graph]).output_to(&answer).measure(&self.complaints)?;
        if let ProcessOutcome::Failed(why) = outcome {
            return Ok(Some(why));
        }
        let nodes: u64 = std::fs::read_to_string(&answer)?.trim().parse()?;
        Ok((nodes < self.size.files).then(|| format!("{nodes} nodes for {} files", self.size.files)))
    }

    fn refresh_warm_cache(&self) -> Result<ProcessOutcome> {
        std::thread::sleep(SETTLE);
        self.stan_with_cache("--stats", &self.warm_cache).measure(&self.complaints)
    }

    fn run_row(&self, row: Row, round: usize, rows: &mut BTreeMap<Row, Runs>) -> Result<()> {
        let Some(run) = self.command(row) else { return Ok(()) };
        let runs = rows.entry(row).or_default();
        // After a failure, a row is not run again.
        if matches!(runs.outcomes.last(), Some(ProcessOutcome::Failed(_) | ProcessOutcome::TimedOut(_))) {
            return Ok(());
        }
        if let (true, Some(why)) = (row.is_ours(), &self.wrong_graph) {
            runs.outcomes.push(ProcessOutcome::Failed(why.clone()));
            return Ok(());
        }
        if row == Row::ColdWritesCache {
            remove(&self.cold_cache);
        }
        let edited = match row.change() {
            Some(change) => Some(Edited::apply(&self.folder, &self.corpus.edit, change, round)?),
            None => None,
        };
        runs.outcomes.push(run.measure(&self.complaints)?);
        if edited.is_some() {
            drop(edited);
            self.refresh_warm_cache()?;
        }
        Ok(())
    }

    /// The command of a row; `None` if it cannot or should not be run.
    fn command(&self, row: Row) -> Option<ProcessRun> {
        let list = self.list.to_string_lossy();
        Some(match row {
            Row::LimitCold => self.limit(&["cold", "."]),
            Row::LimitWarm => self.limit(&["warm", ".", &list]),
            Row::LimitWrite if self.size.json_bytes == 0 => return None,
            Row::LimitWrite => self.limit(&["write", &self.size.json_bytes.to_string()]).output_to(&self.output),
            Row::Cold => self.stan(&["--stats", "--no-cache"]),
            Row::ColdJson => self.stan(&["--json", "--no-cache"]).output_to(&self.output),
            Row::ColdWritesCache => self.stan_with_cache("--stats", &self.cold_cache),
            Row::Warm | Row::EditImport | Row::EditComment => self.stan_with_cache("--stats", &self.warm_cache),
            Row::WarmJson => self.stan_with_cache("--json", &self.warm_cache).output_to(&self.output),
            Row::RevDep | Row::RevDepJson | Row::DependencyCruiser | Row::Madge => self.peer(row)?,
        })
    }

    fn limit(&self, arguments: &[&str]) -> ProcessRun {
        ProcessRun::new(&self.programs.own, &[&["limit"], arguments].concat(), &self.folder)
    }

    fn stan(&self, arguments: &[&str]) -> ProcessRun {
        ProcessRun::new(&self.programs.stan, &[&["graph"], arguments].concat(), &self.folder)
    }

    fn stan_with_cache(&self, format: &str, cache: &Path) -> ProcessRun {
        self.stan(&[format, "--cache-dir", &cache.to_string_lossy()])
    }

    /// The command line of each peer for the graph of a whole repository.
    fn peer(&self, row: Row) -> Option<ProcessRun> {
        let modules = self.programs.peers.as_ref()?.join("node_modules");
        let script = |path: &str| modules.join(path).to_string_lossy().into_owned();
        let node = |arguments: &[&str]| {
            ProcessRun::new(Path::new("node"), arguments, &self.folder).limited_to(PEER_LIMIT).output_to(&self.output)
        };
        // The native program, not the script that starts it: peers are measured at their best.
        let rev_dep = modules.join(format!("@rev-dep/{}/bin/rev-dep", node_platform()));
        Some(match row {
            Row::RevDep => ProcessRun::new(&rev_dep, &["entry-points", "--count"], &self.folder),
            Row::RevDepJson => {
                ProcessRun::new(&rev_dep, &["debug", "get-tree-for-cwd"], &self.folder).output_to(&self.output)
            }
            Row::DependencyCruiser => node(&[
                &script("dependency-cruiser/bin/dependency-cruise.mjs"),
                "--no-config",
                "--output-type=json",
                "--ts-pre-compilation-deps",
                "--do-not-follow=node_modules",
                "--exclude=(^|/)node_modules/|^[.]git/",
                ".",
            ]),
            Row::Madge => node(&[
                &script("madge/bin/cli.js"),
                "--json",
                "--no-spinner",
                "--no-color",
                "--extensions=ts,tsx,mts,cts,js,jsx,mjs,cjs",
                ".",
            ]),
            _ => return None,
        })
    }
}

/// The name of this platform in npm packages with native programs.
fn node_platform() -> String {
    let system = if cfg!(target_os = "macos") { "darwin" } else { std::env::consts::OS };
    let processor = match std::env::consts::ARCH {
        "x86_64" => "x64",
        "aarch64" => "arm64",
        other => other,
    };
    format!("{system}-{processor}")
}

fn remove(folder: &Path) {
    // It may not exist; any other error shows when the folder is used.
    let _ = std::fs::remove_dir_all(folder);
}

/// The cost of start-up: the program alone, and on a repository of ten files. Medians in this order.
pub(super) fn start_up(store: &Store, programs: &Programs, rounds: usize) -> Result<[Runs; 2]> {
    let folder = store.tiny()?;
    let complaints = store.scratch("complaints");
    let commands = [
        ProcessRun::new(&programs.stan, &["--version"], &folder),
        ProcessRun::new(&programs.stan, &["graph", "--stats", "--no-cache"], &folder),
    ];
    let mut runs = [Runs::default(), Runs::default()];
    for _ in 0..rounds {
        for (command, runs) in commands.iter().zip(&mut runs) {
            runs.outcomes.push(command.measure(&complaints)?);
        }
    }
    Ok(runs)
}
