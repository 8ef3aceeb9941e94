//! `cargo xtask bench fleet`: the savings of a shared cache, on loopback, and the cost of a million files.
//!
//! Three rows take turns: without a shared cache, with an empty one, with a filled one. Only the processor time of our process
//! counts, not the server's, and only the minimum over all rounds, because a busy machine can only add time. All three must give
//! the same bytes.

mod large;
mod page;
mod repositories;
mod server;

use std::path::{Path, PathBuf};
use std::time::Duration;

use crate::Result;
use crate::fetch::{Store, sha256_of};
use crate::process::{ProcessOutcome, ProcessRun, Usage};
use crate::section::Section;
use server::Server;

/// The target: with a filled cache, a cold run of a repository that is mostly code must be this much cheaper.
const TARGET: f64 = 1.7;
/// The default repository for the target, which is mostly code.
const CODE_HEAVY: &str = "three";

#[derive(clap::Args)]
pub(crate) struct FleetOptions {
    /// A repository to measure (repeatable) [default: twenty packages of npm and PyPI]. Its folder's name is the name of the row.
    #[arg(long, value_name = "DIR", num_args = 1..)]
    dir: Vec<PathBuf>,
    /// Rounds per repository.
    #[arg(long, value_name = "N", default_value_t = 5)]
    rounds: usize,
    /// Also a generated repository with this many files, and with half and a quarter as many.
    #[arg(long, value_name = "N", num_args = 0..=1, default_missing_value = "1000000")]
    large: Option<usize>,
    /// Only the generated repository.
    #[arg(long, requires = "large")]
    only_large: bool,
    /// The repository for the target.
    #[arg(long, value_name = "NAME", default_value = CODE_HEAVY)]
    code_heavy: String,
    /// Use the server as a bucket (`s3://`); the program must have been built with `--features s3`.
    #[arg(long)]
    s3: bool,
    /// Measure this program instead of building it.
    #[arg(long, value_name = "PATH")]
    pub(super) stan: Option<PathBuf>,
    /// Rewrite its part of docs/benchmarks.md.
    #[arg(long)]
    write: bool,
    /// Fail if a target is missed.
    #[arg(long)]
    check: bool,
}

/// One repository: the minimum processor time of each row, and the traffic.
struct Measured {
    name: String,
    none: Duration,
    empty: Duration,
    filled: Duration,
    traffic: Traffic,
}

impl Measured {
    fn ratio(&self) -> f64 {
        self.none.as_secs_f64() / self.filled.as_secs_f64().max(1e-9)
    }
}

/// The traffic that the program reports for its shared cache.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Traffic {
    files_read: u64,
    bundles_read: u64,
    bytes_read: u64,
    bundles_stored: u64,
    bytes_stored: u64,
}

pub(super) fn run(root: &Path, stan: &Path, options: &FleetOptions) -> Result<bool> {
    let store = Store::open(root)?;
    let mut all = Vec::new();
    if !options.only_large {
        let folders = if options.dir.is_empty() {
            repositories::fetch(&store)?
        } else {
            options.dir.iter().map(std::fs::canonicalize).collect::<std::io::Result<_>>()?
        };
        let server = Server::start(&store)?;
        for folder in folders {
            all.push(measure(&store, &server, &folder, stan, options)?);
        }
    }
    let large = options.large.map(|files| large::measure(&store, stan, files)).transpose()?;
    let text = page::section(&all, large.as_ref(), options.rounds);
    print!("{text}");
    if options.write {
        Section("fleet").write(root, &text)?;
    }
    let is_cheaper = all.iter().filter(|one| one.name == options.code_heavy).all(|one| one.ratio() >= TARGET);
    let holds = is_cheaper && large.is_none_or(|large| large.holds());
    Ok(holds || !options.check)
}

fn measure(store: &Store, server: &Server, folder: &Path, stan: &Path, options: &FleetOptions) -> Result<Measured> {
    let name = folder.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
    eprintln!("measure {name}");
    let (mut none, mut empty, mut filled) = (Duration::MAX, Duration::MAX, Duration::MAX);
    let mut traffic = Traffic::default();
    // The first round fills the page cache and is not counted. It also compares the answers.
    for round in 0..=options.rounds.max(1) {
        let (url, variables) = server.place(&format!("{name}/{round}"), options.s3);
        let arguments = ["graph", "--json", "--no-cache", "--verbose"];
        let alone = ProcessRun::new(stan, &arguments, folder);
        let shared = ProcessRun::new(stan, &[&arguments[..], &["--cache-url", &url]].concat(), folder).with(variables);
        let first = once(store, &alone, &name)?;
        let second = once(store, &shared, &name)?;
        let third = once(store, &shared, &name)?;
        let is_moved = second.traffic.bytes_stored == third.traffic.bytes_read;
        if first.answer != second.answer || first.answer != third.answer || !is_moved {
            return Err(
                format!("{name}: the shared cache changes the answer, or does not give what it was given").into()
            );
        }
        let (stored, read) = (second.traffic, third.traffic);
        traffic = Traffic { bundles_stored: stored.bundles_stored, bytes_stored: stored.bytes_stored, ..read };
        if round > 0 {
            none = none.min(first.usage.cpu);
            empty = empty.min(second.usage.cpu);
            filled = filled.min(third.usage.cpu);
        }
    }
    Ok(Measured { name, none, empty, filled, traffic })
}

struct Once {
    usage: Usage,
    /// The hash of its output.
    answer: String,
    traffic: Traffic,
}

fn once(store: &Store, run: &ProcessRun, name: &str) -> Result<Once> {
    let (complaints, output) = (store.scratch("complaints"), store.scratch("answer"));
    let usage = match run.clone().output_to(&output).measure(&complaints)? {
        ProcessOutcome::Done(usage) => usage,
        ProcessOutcome::TimedOut(_) => return Err(format!("{name}: it took too long").into()),
        ProcessOutcome::Failed(why) => return Err(format!("{name}: {why}").into()),
    };
    let said = std::fs::read_to_string(&complaints)?;
    if let Some(line) = said.lines().find(|line| line.contains("warning: the shared cache")) {
        return Err(format!("{name}: {line}").into());
    }
    Ok(Once { usage, answer: sha256_of(&output)?, traffic: said.lines().find_map(traffic).unwrap_or_default() })
}

/// Reads the line of `--verbose`.
fn traffic(line: &str) -> Option<Traffic> {
    let line = line.strip_prefix("shared cache: ")?.replace(',', "");
    let words = line.split(|character: char| !character.is_ascii_digit()).filter(|word| !word.is_empty());
    let numbers: Vec<u64> = words.filter_map(|word| word.parse().ok()).collect();
    let [files_read, bundles_read, bytes_read, _, bundles_stored, bytes_stored] = numbers[..] else { return None };
    Some(Traffic { files_read, bundles_read, bytes_read, bundles_stored, bytes_stored })
}

#[cfg(test)]
mod tests {
    use super::{Traffic, traffic};

    #[test]
    fn reports_of_the_program_are_parsed() {
        let line = "shared cache: 1,255 files from 12 bundles (254,334 bytes); 1 bundle missing, 3 bundles stored (4,000 bytes)";
        let expected =
            Traffic { files_read: 1255, bundles_read: 12, bytes_read: 254_334, bundles_stored: 3, bytes_stored: 4000 };
        assert_eq!(traffic(line), Some(expected));
        assert_eq!(traffic("analysed 12 files"), None);
    }
}
