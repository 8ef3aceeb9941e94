//! `cargo xtask bench`: our programs compared with the physical limit and with their peers, in one run.
//!
//! Everything is measured from outside, in child processes, as users experience it. Micro-benchmarks are elsewhere. Times never
//! fail a run, except with `--check`: a busy machine is not a broken build.
#![expect(clippy::disallowed_methods, reason = "a developer tool works on the real file system")]
#![expect(clippy::print_stdout, clippy::print_stderr, reason = "a developer tool talks to the terminal")]

mod context;
mod corpus;
mod cost;
mod edit;
mod fetch;
mod fleet;
mod languages;
mod limit;
mod measure;
mod overview;
mod process;
mod reply;
mod report;
mod row;
mod section;
mod slice;
mod suggest;
mod verdict;

use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode};

use clap::Parser;
use corpus::{CORPORA, Corpus};
use fetch::Store;
use measure::Programs;
use report::Report;
use stan_tooling::{Result, cargo};

/// The limits use the product's allocator: with another one, the comparison would measure allocators.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

#[derive(Parser)]
#[command(bin_name = "cargo xtask bench", about = "The programs against the physical limit and their peers")]
enum Bench {
    /// `stan graph`: cold, warm, and after an edit.
    Graph(Options),
    /// `x07 ast slice`: linear time, flat memory, quick start.
    Slice,
    /// `stan run --context`: against the warm graph, `tar cf` and parsing the map.
    Context(context::Options),
    /// The maximum cost of commands, as ratios.
    Cost(cost::CostOptions),
    /// `stan check`: five-megabyte replies of every hostile shape, in a second.
    Reply(reply::ReplyOptions),
    /// `stan suggest`: how much of a change it finds.
    Suggest(suggest::SuggestOptions),
    /// `stan graph` on Python, Go and Rust repositories, compared with the limit and ruff.
    Languages(languages::LanguagesOptions),
    /// `--cache-url`: the savings of a shared cache, and the cost of a million files.
    Fleet(fleet::FleetOptions),
    /// `stan map`: how well files can be found with only the overview.
    Overview(overview::Options),
    /// One run of a physical limit, as `bench graph` starts it.
    #[command(subcommand, hide = true)]
    Limit(limit::Limit),
}

#[derive(clap::Args)]
struct Options {
    /// Three rounds, two corpora, and no peers that take minutes.
    #[arg(long)]
    quick: bool,
    /// Only these corpora.
    #[arg(long, value_name = "NAME", num_args = 1..)]
    corpus: Vec<String>,
    /// Rounds per corpus [default: 7].
    #[arg(long, value_name = "N")]
    rounds: Option<usize>,
    /// Skip the peers.
    #[arg(long)]
    no_peers: bool,
    /// Measure this program instead of building it.
    #[arg(long, value_name = "PATH")]
    stan: Option<PathBuf>,
    /// Write the results here as JSON.
    #[arg(long, value_name = "FILE")]
    json: Option<PathBuf>,
    /// Rewrite docs/benchmarks.md.
    #[arg(long)]
    write: bool,
    /// Fail if a target is missed.
    #[arg(long)]
    check: bool,
}

fn main() -> ExitCode {
    stan_tooling::run(|root| run(root, &Bench::parse()))
}

/// Returns whether the targets hold, if requested.
fn run(root: &Path, bench: &Bench) -> Result<bool> {
    match bench {
        Bench::Graph(options) => run_graph(root, options),
        Bench::Suggest(options) => {
            let stan = cargo::release(root, "stan", options.stan.as_deref())?;
            suggest::run(root, &stan, options)
        }
        Bench::Reply(options) => {
            let stan = cargo::release(root, "stan", options.stan.as_deref())?;
            reply::run(root, &stan, options)
        }
        Bench::Languages(options) => {
            let stan = cargo::release(root, "stan", options.stan.as_deref())?;
            languages::run(root, &stan, options)
        }
        Bench::Fleet(options) => {
            let stan = cargo::release(root, "stan", options.stan.as_deref())?;
            fleet::run(root, &stan, options)
        }
        Bench::Overview(options) => {
            let stan = cargo::release(root, "stan", options.stan.as_deref())?;
            overview::run(&stan, options)
        }
        Bench::Cost(options) => {
            let stan = cargo::release(root, "stan", options.stan.as_deref())?;
            cost::run(root, &stan, options)
        }
        Bench::Slice => Ok(slice::run(root).map(|()| true)?),
        Bench::Context(options) => run_context(root, options),
        Bench::Limit(limit) => limit::run(limit).map(|()| true),
    }
}

fn run_graph(root: &Path, options: &Options) -> Result<bool> {
    let corpora = chosen(options)?;
    let store = Store::open(root)?;
    let programs = Programs {
        stan: cargo::release(root, "stan", options.stan.as_deref())?,
        own: std::env::current_exe()?,
        peers: if options.no_peers { None } else { Some(store.peers()?) },
        slow_peers: !options.quick && !options.no_peers,
    };
    let rounds = options.rounds.unwrap_or(if options.quick { 3 } else { 7 }).max(1);
    let mut measured = Vec::new();
    for corpus in corpora {
        measured.push(measure::measure(&store, &programs, corpus, rounds)?);
    }
    let start_up = verdict::start_up_verdicts(&measure::start_up(&store, &programs, rounds.max(5))?);
    let report = Report { machine: machine(), rounds, corpora: measured, start_up };
    print!("{}", report.tables());
    if let Some(file) = &options.json {
        std::fs::write(file, format!("{:#}\n", report.json()))?;
    }
    if options.write {
        std::fs::create_dir_all(root.join("docs"))?;
        let page = root.join("docs/benchmarks.md");
        let old = std::fs::read_to_string(&page).unwrap_or_default();
        std::fs::write(&page, suggest::SECTION.keep(&old, &report.page()))?;
    }
    Ok(!options.check || report.passes())
}

fn run_context(root: &Path, options: &context::Options) -> Result<bool> {
    let corpus = CORPORA.iter().find(|corpus| corpus.name == "icons").ok_or("the corpus `icons` is gone")?;
    let folder = Store::open(root)?.corpus(corpus)?;
    Ok(context::run(root, &folder, options).map(|()| true)?)
}

fn chosen(options: &Options) -> Result<Vec<&'static Corpus>> {
    if options.corpus.is_empty() {
        let in_quick = |corpus: &&Corpus| !options.quick || ["date-fns", "icons"].contains(&corpus.name);
        return Ok(CORPORA.iter().filter(in_quick).collect());
    }
    let find = |name: &String| {
        CORPORA.iter().find(|corpus| corpus.name == name).ok_or_else(|| {
            let names: Vec<&str> = CORPORA.iter().map(|corpus| corpus.name).collect();
            format!("no corpus `{name}`; there are {}", names.join(", ")).into()
        })
    };
    options.corpus.iter().map(find).collect()
}

/// The properties of the machine that readers need, and none that identify its owner.
fn machine() -> Vec<(&'static str, String)> {
    let read = |path: &str| std::fs::read_to_string(path).unwrap_or_default();
    let value_after = |text: &str, key: &str| {
        let line = text.lines().find(|line| line.starts_with(key));
        line.and_then(|line| line.split_once(':'))
            .map_or_else(|| "unknown".to_owned(), |(_, value)| value.trim().to_owned())
    };
    let node =
        Command::new("node").arg("--version").output().ok().and_then(|output| String::from_utf8(output.stdout).ok());
    vec![
        ("cores", std::thread::available_parallelism().map_or(0, usize::from).to_string()),
        ("processor", value_after(&read("/proc/cpuinfo"), "model name")),
        ("memory", value_after(&read("/proc/meminfo"), "MemTotal")),
        ("system", format!("{} {}", std::env::consts::OS, read("/proc/sys/kernel/osrelease").trim())),
        ("node", node.map_or_else(|| "none".to_owned(), |version| version.trim().to_owned())),
    ]
}
