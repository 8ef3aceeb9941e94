//! `cargo xtask load`: a repository of 200,000 files, files of gigabytes, fifty processes at once, a thousand runs in a row.
//!
//! Prints measurements and checks properties: equal answers, no growth, nothing left behind. Times are never checked, because a
//! busy machine is not a broken build.
#![expect(clippy::disallowed_methods, reason = "a developer tool works on the real file system")]
#![expect(clippy::print_stdout, reason = "a developer tool talks to the terminal")]

mod consecutive;
mod edits;
mod fit;
mod generate;
mod large;
mod layout;
mod parallel;
mod program;
mod report;
mod scale;
mod text;
mod tree;

use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::Duration;

use clap::Parser;
use generate::Repository;
use layout::Shape;
use program::Stan;
use report::Report;
use stan_tooling::{Result, cargo};

#[derive(Parser)]
#[command(
    bin_name = "cargo xtask load",
    about = "Many files, large files, many processes, many runs: the same answers, and no growth"
)]
struct Options {
    /// Folder for the generated repositories [default: .bench/load].
    #[arg(value_name = "DIR")]
    dir: Option<PathBuf>,
    /// Use this program instead of building it.
    #[arg(long, value_name = "PATH")]
    stan: Option<PathBuf>,
    /// Number of files in the large repository [default: 200000, short: 5000].
    #[arg(long, value_name = "N")]
    files: Option<u64>,
    /// Its size in bytes [default: 2000000000, short: 50000000].
    #[arg(long, value_name = "M")]
    bytes: Option<u64>,
    /// Number of concurrent processes [default: 50, short: 8].
    #[arg(long, value_name = "P")]
    parallel: Option<u64>,
    /// Number of consecutive runs [default: 1000, short: 40].
    #[arg(long, value_name = "R")]
    runs: Option<u64>,
    /// A minute instead of an hour.
    #[arg(long)]
    short: bool,
    /// Only these parts.
    #[arg(long, value_name = "PART", value_enum, num_args = 1..)]
    only: Vec<Part>,
    /// Write the results here as JSON [default: DIR/load.json].
    #[arg(long, value_name = "FILE")]
    json: Option<PathBuf>,
    /// Only read every file below DIR: the baseline of runs.
    #[arg(long, value_name = "DIR", hide = true)]
    read: Option<PathBuf>,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug, clap::ValueEnum)]
enum Part {
    /// One large repository.
    Scale,
    /// Large files.
    Large,
    /// Many processes.
    Parallel,
    /// Many runs.
    Consecutive,
}

fn main() -> ExitCode {
    stan_tooling::run(|root| run(root, &Options::parse()))
}

/// Returns whether every law holds.
fn run(root: &Path, options: &Options) -> Result<bool> {
    if let Some(folder) = &options.read {
        println!("{}", tree::read_everything(folder)?);
        return Ok(true);
    }
    let folder = std::path::absolute(options.dir.clone().unwrap_or_else(|| root.join(".bench/load")))?;
    std::fs::create_dir_all(&folder)?;
    let program = cargo::release(root, "stan", options.stan.as_deref())?;
    let mut report = Report::default();
    for part in [Part::Scale, Part::Large, Part::Parallel, Part::Consecutive] {
        if options.only.is_empty() || options.only.contains(&part) {
            println!("\n--- {part:?}");
            run_part(part, &program, &folder, options, &mut report)?;
        }
    }
    print!("{}", report.table());
    let json = options.json.clone().unwrap_or_else(|| folder.join("load.json"));
    std::fs::write(json, format!("{:#}\n", report.json()))?;
    Ok(report.holds())
}

fn run_part(part: Part, program: &Path, folder: &Path, options: &Options, report: &mut Report) -> Result<()> {
    let choose = |given: Option<u64>, long, short| given.unwrap_or(if options.short { short } else { long });
    let generated = |name: &str, shape, reusable| {
        let repository = Repository::generate(&folder.join(name), shape, reusable)?;
        if repository.is_new {
            // A file that was written a moment ago can change again within the clock's resolution, so the cache would not trust
            // it yet.
            std::thread::sleep(Duration::from_secs(3));
        }
        Result::Ok(repository)
    };
    match part {
        Part::Scale => {
            let files = choose(options.files, 200_000, 5_000);
            let shape = Shape { files, bytes: choose(options.bytes, 2_000_000_000, 50_000_000) };
            let repository = generated("repository", shape, true)?;
            scale::run(Stan { program, root: &repository.root, scratch: folder }, &repository, report)?;
            // Two archives of everything and their cache take too much disk space to keep.
            repository.forget_runs()
        }
        Part::Large => {
            let sizes = if options.short {
                large::Sizes { parts: 4, part_bytes: 100 << 20, giant_bytes: None }
            } else {
                large::Sizes { parts: 7, part_bytes: 800 << 20, giant_bytes: Some((17 << 29) + 1) }
            };
            large::run(program, folder, sizes, report)
        }
        Part::Parallel => {
            let files = choose(None, 5_000, 3_000);
            let repository = generated("shared", Shape { files, bytes: files * 8_000 }, true)?;
            let stan = Stan { program, root: &repository.root, scratch: folder };
            parallel::run(stan, &repository, choose(options.parallel, 50, 8), report)
        }
        Part::Consecutive => {
            let files = choose(None, 2_000, 1_000);
            let repository = generated("edited", Shape { files, bytes: files * 6_000 }, false)?;
            let stan = Stan { program, root: &repository.root, scratch: folder };
            consecutive::run(stan, &repository, choose(options.runs, 1_000, 40), report)
        }
    }
}
