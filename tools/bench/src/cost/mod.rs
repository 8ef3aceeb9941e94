//! `cargo xtask bench cost`: the maximum cost of commands, as ratios of processor time that are comparable between machines.
//!
//! Every corpus is copied, because runs write into it. The commands of a corpus take turns, and the minimum over all rounds
//! counts: other programs on the machine can only add time. A row that does not apply to a corpus (no history) is omitted from
//! its table.

mod generate;
mod page;

use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use super::corpus::CORPORA;
use super::fetch::Store;
use super::process::{ProcessOutcome, ProcessRun};
use crate::Result;
use crate::section::Section;

#[derive(clap::Args)]
pub(crate) struct CostOptions {
    /// Measure this program instead of building it.
    #[arg(long, value_name = "PATH")]
    pub(super) stan: Option<PathBuf>,
    /// Number of rounds; the minimum counts.
    #[arg(long, value_name = "N", default_value_t = 9)]
    rounds: usize,
    /// Also a real repository, with its history (repeatable).
    #[arg(long, value_name = "DIR")]
    repository: Vec<PathBuf>,
    /// Corpora from npm.
    #[arg(long, value_name = "NAME", num_args = 0.., default_values = ["date-fns", "icons"])]
    corpus: Vec<String>,
    /// Number of files in the generated repository; 0 for none.
    #[arg(long, value_name = "N", default_value_t = 40_000)]
    files: usize,
    /// Rewrite its part of docs/benchmarks.md.
    #[arg(long)]
    write: bool,
    /// Fail if a ratio exceeds its limit.
    #[arg(long)]
    check: bool,
}

/// A stat within two seconds of a run proves nothing, so the output of a run must be older before the next one is fast.
const SETTLE: Duration = Duration::from_millis(2100);

/// The minimum number of files of a large repository.
const LARGE: usize = 20_000;

/// A command, and the files to remove before each run of it.
struct Row {
    name: &'static str,
    arguments: Vec<String>,
    /// Below the folder of the corpus.
    without: &'static [&'static str],
    /// Whether it is the limit, which this program measures itself.
    is_limit: bool,
    /// Runs before the first round, until a run finds nothing to change.
    warm_up: usize,
    /// Whether it removes or writes files that other rows need unchanged: all its rounds come before theirs.
    is_alone: bool,
}

/// A ratio and its limit.
pub(super) struct Ratio {
    name: &'static str,
    of: &'static str,
    to: &'static str,
    bar: f64,
}

/// In the order of the report, with the limits of the specification.
const RATIOS: [Ratio; 10] = [
    Ratio { name: "cold graph / limit", of: "cold", to: "limit", bar: 1.35 },
    Ratio { name: "cold graph that writes its cache / limit", of: "cold-cache", to: "limit", bar: 1.35 },
    Ratio { name: "`run --context`, unchanged / warm graph", of: "context", to: "warm", bar: 1.3 },
    Ratio { name: "`pack --at` / warm graph", of: "pack", to: "warm", bar: 2.0 },
    Ratio { name: "`run`, first / without the search for secrets", of: "run-first", to: "run-first-known", bar: 1.1 },
    Ratio {
        name: "`run`, unchanged, searched again / as it is",
        of: "run-again-searched",
        to: "run-again",
        bar: f64::INFINITY,
    },
    Ratio { name: "cold `suggest` / cold graph", of: "suggest-cold", to: "cold-cache", bar: 3.5 },
    Ratio { name: "cold `suggest` with kept history / cold graph", of: "suggest-history", to: "cold-cache", bar: 2.2 },
    Ratio { name: "warm `suggest` / warm graph", of: "suggest-warm", to: "warm", bar: 1.5 },
    Ratio { name: "second `find` / warm graph", of: "find", to: "warm", bar: f64::INFINITY },
];

/// The results of one corpus: milliseconds of processor time by row.
pub(super) struct CostTable {
    name: String,
    files: usize,
    least: Vec<(&'static str, f64)>,
}

impl CostTable {
    fn get(&self, name: &str) -> Option<f64> {
        self.least.iter().find(|(row, _)| *row == name).map(|(_, milliseconds)| *milliseconds)
    }

    /// The ratios that could be measured.
    fn ratios(&self) -> impl Iterator<Item = (&'static Ratio, f64)> {
        RATIOS.iter().filter_map(|ratio| Some((ratio, self.get(ratio.of)? / self.get(ratio.to)?)))
    }

    /// The limit of a ratio for this corpus. That of packs is meant for large repositories: on small ones, start-up dominates.
    fn bar(&self, ratio: &Ratio) -> f64 {
        if ratio.of == "pack" && self.files < LARGE { f64::INFINITY } else { ratio.bar }
    }
}

/// Returns whether all ratios are within their limits, if requested.
pub(super) fn run(root: &Path, stan: &Path, options: &CostOptions) -> Result<bool> {
    let store = Store::open(root)?;
    let scratch = store.scratch("cost");
    let _ = std::fs::remove_dir_all(&scratch);
    std::fs::create_dir_all(&scratch)?;
    let mut sources: Vec<(String, PathBuf)> = Vec::new();
    for name in &options.corpus {
        let corpus = CORPORA.iter().find(|corpus| corpus.name == name).ok_or_else(|| format!("no corpus `{name}`"))?;
        sources.push((name.clone(), store.corpus(corpus)?));
    }
    for folder in &options.repository {
        let name = folder.file_name().map_or_else(|| "repository".to_owned(), |name| name.to_string_lossy().into());
        sources.push((name, folder.clone()));
    }
    if options.files > 0 {
        let folder = scratch.join("generated");
        generate::repository(&folder, options.files)?;
        sources.push(("generated".to_owned(), folder));
    }
    let mut tables = Vec::new();
    for (name, source) in sources {
        let copy = scratch.join(format!("copy-{name}"));
        succeed(Command::new("cp").arg("-a").arg(&source).arg(&copy))?;
        let _ = std::fs::remove_dir_all(copy.join(".stan"));
        let bench = CorpusBench { stan, folder: &copy, scratch: &scratch };
        let table = bench.measure(name, options.rounds)?;
        print!("{}", page::table(&table));
        tables.push(table);
        std::fs::remove_dir_all(&copy)?;
    }
    let _ = std::fs::remove_dir_all(&scratch);
    if options.write {
        Section("cost").write(root, &page::section(&tables, options.rounds))?;
    }
    let is_met = tables.iter().all(|table| table.ratios().all(|(ratio, value)| value <= table.bar(ratio)));
    Ok(!options.check || is_met)
}

struct CorpusBench<'a> {
    stan: &'a Path,
    folder: &'a Path,
    scratch: &'a Path,
}

impl CorpusBench<'_> {
    fn measure(&self, name: String, rounds: usize) -> Result<CostTable> {
        let files = tracked(self.folder)?;
        let rows = self.rows(&files)?;
        eprintln!("measure {name}");
        let mut least: Vec<(&'static str, f64)> = rows.iter().map(|row| (row.name, f64::INFINITY)).collect();
        for (row, best) in rows.iter().zip(&mut least) {
            for _ in 0..row.warm_up {
                self.once(row)?;
                std::thread::sleep(SETTLE);
            }
            if row.is_alone {
                for _ in 0..rounds {
                    best.1 = best.1.min(self.once(row)?);
                }
            }
        }
        for _ in 0..rounds {
            for (row, best) in rows.iter().zip(&mut least).filter(|(row, _)| !row.is_alone) {
                best.1 = best.1.min(self.once(row)?);
            }
        }
        Ok(CostTable { name, files: files.len(), least })
    }

    /// Milliseconds of processor time.
    fn once(&self, row: &Row) -> Result<f64> {
        for path in row.without {
            remove(&self.folder.join(path));
        }
        let own = std::env::current_exe()?;
        let arguments: Vec<&str> = row.arguments.iter().map(String::as_str).collect();
        let program = if row.is_limit { own.as_path() } else { self.stan };
        match ProcessRun::new(program, &arguments, self.folder).measure(&self.scratch.join("complaints"))? {
            ProcessOutcome::Done(usage) => Ok(usage.cpu.as_secs_f64() * 1e3),
            ProcessOutcome::TimedOut(_) => Err(format!("`{}` took too long", row.name).into()),
            ProcessOutcome::Failed(why) => Err(format!("`{}` failed: {why}", row.name).into()),
        }
    }

    fn rows(&self, files: &[String]) -> Result<Vec<Row>> {
        let row = |name, arguments: &[&str], without, warm_up| Row {
            name,
            arguments: arguments.iter().map(|&argument| argument.to_owned()).collect(),
            without,
            is_limit: false,
            warm_up,
            is_alone: warm_up == 0,
        };
        let is_code = |file: &&String| [".ts", ".js", ".py", ".go"].iter().any(|ending| file.ends_with(ending));
        let code: Vec<&String> = files.iter().filter(is_code).collect();
        let focus = code.get(code.len() / 2).ok_or("the corpus has no code")?.as_str();
        let place = format!("{focus}:1");
        // Cold commands first: they remove the caches of the warm ones.
        let mut rows = vec![
            Row { is_limit: true, ..row("limit", &["limit", "cold", "."], &[], 0) },
            row("cold", &["graph", "--stats", "--no-cache"], &[], 0),
            row("cold-cache", &["graph", "--stats"], &[".stan/cache"], 0),
            row("suggest-cold", &["suggest", "--focus", focus], &[".stan/cache"], 0),
        ];
        if self.has_history()? {
            const BUT_HISTORY: &[&str] = &[
                ".stan/cache/graph.index",
                ".stan/cache/graph.data",
                ".stan/cache/layout.data",
                ".stan/cache/words.data",
                ".stan/cache/tokens.o200k",
            ];
            rows.push(row("suggest-history", &["suggest", "--focus", focus], BUT_HISTORY, 0));
        }
        let plain = ["run", "--tokens", "bytes4"];
        rows.push(row("run-first", &plain, &[".stan/cache/clean.data", ".stan/output", ".stan/diff"], 0));
        // Files known to contain no secret are not scanned, so this is the same run without the scan.
        rows.push(row("run-first-known", &plain, &[".stan/output", ".stan/diff"], 0));
        let searched = row("run-again-searched", &plain, &[".stan/cache/clean.data"], 2);
        rows.push(Row { is_alone: true, ..searched });
        rows.push(Row { is_alone: true, ..row("run-again", &plain, &[], 2) });
        rows.push(row("context", &["run", "--context"], &[], 3));
        rows.push(row("suggest-warm", &["suggest", "--focus", focus], &[], 1));
        rows.push(row("pack", &["pack", "--at", &place], &[], 1));
        rows.push(row("find", &["find", "export"], &[], 1));
        rows.push(row("warm", &["graph", "--stats"], &[], 1));
        Ok(rows)
    }

    fn has_history(&self) -> Result<bool> {
        let output = Command::new("git").args(["rev-parse", "--verify", "HEAD"]).current_dir(self.folder).output()?;
        Ok(output.status.success())
    }
}

fn tracked(folder: &Path) -> Result<Vec<String>> {
    let output = Command::new("git").args(["ls-files", "-z"]).current_dir(folder).output()?;
    let names = String::from_utf8_lossy(&output.stdout);
    Ok(names.split('\0').filter(|name| !name.is_empty()).map(str::to_owned).collect())
}

fn remove(path: &Path) {
    // One of the two fails, or both if nothing exists.
    let _ = std::fs::remove_dir_all(path);
    let _ = std::fs::remove_file(path);
}

fn succeed(command: &mut Command) -> Result<()> {
    if command.status().is_ok_and(|status| status.success()) {
        Ok(())
    } else {
        Err(format!("{command:?} failed").into())
    }
}
