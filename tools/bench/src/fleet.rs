//! `cargo xtask bench fleet`: what a shared cache saves, on loopback, and what a million files cost.
//!
//! The repositories are not part of this one: `--dir` names folders, such as unpacked packages. Three rows take turns: without a
//! shared cache, with an empty one, with a filled one. Processor time of our process counts; the least of all rounds, because a busy machine
//! only ever adds to it.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::time::Duration;

use stan_testkit::HttpServer;

use crate::Result;
use crate::fetch::Store;
use crate::process::{Outcome, Run, Usage};

/// The target: a filled cache makes a cold run of a repository that is mostly code this much cheaper.
const TARGET: f64 = 1.7;
/// The target for a million files.
const MOST_BYTES: u64 = 1_500_000_000;
/// What "mostly code" is.
const CODE_HEAVY: &str = "three";
/// Of the estimate.
const FLEET: f64 = 10_000.0;

#[derive(clap::Args)]
pub(crate) struct FleetOptions {
    /// A repository to measure (repeatable). Its folder's name is the name of the row.
    #[arg(long, value_name = "DIR", num_args = 1..)]
    dir: Vec<PathBuf>,
    /// Rounds per repository.
    #[arg(long, value_name = "N", default_value_t = 5)]
    rounds: usize,
    /// Also a generated repository of so many files, and of half as many.
    #[arg(long, value_name = "N", num_args = 0..=1, default_missing_value = "1000000")]
    large: Option<usize>,
    /// The repository that the target is about.
    #[arg(long, value_name = "NAME", default_value = CODE_HEAVY)]
    code_heavy: String,
    /// Measure this program instead of building it.
    #[arg(long, value_name = "PATH")]
    pub(super) stan: Option<PathBuf>,
    /// Fail when a target is missed.
    #[arg(long)]
    check: bool,
}

/// One repository: the least processor time of each row, and what was moved.
struct Measured {
    name: String,
    none: Duration,
    empty: Duration,
    filled: Duration,
    bundles: usize,
    bytes: u64,
}

impl Measured {
    fn ratio(&self) -> f64 {
        self.none.as_secs_f64() / self.filled.as_secs_f64().max(1e-9)
    }
}

pub(super) fn run(root: &Path, stan: &Path, options: &FleetOptions) -> Result<bool> {
    let store = Store::open(root)?;
    let mut all = Vec::new();
    for folder in &options.dir {
        let folder = std::fs::canonicalize(folder)?;
        eprintln!("measure {}", folder.display());
        all.extend(measure(&store, &folder, stan, options.rounds)?);
    }
    print!("{}", page(&all, options));
    let mut holds = all.iter().filter(|one| one.name == options.code_heavy).all(|one| one.ratio() >= TARGET);
    if let Some(files) = options.large {
        holds &= large(&store, stan, files)?;
    }
    Ok(holds || !options.check)
}

fn measure(store: &Store, folder: &Path, stan: &Path, rounds: usize) -> Result<Option<Measured>> {
    let complaints = store.scratch("complaints");
    let server = HttpServer::start();
    let url = server.url();
    let alone = Run::new(stan, &["graph", "--json", "--no-cache"], folder);
    let shared = Run::new(stan, &["graph", "--json", "--no-cache", "--cache-url", &url], folder);
    let (mut none, mut empty, mut filled) = (Duration::MAX, Duration::MAX, Duration::MAX);
    // The first round fills the page cache and does not count.
    for round in 0..=rounds.max(1) {
        for row in 0..3 {
            if row == 1 {
                server.set_values(std::collections::BTreeMap::new());
            }
            let (run, least) = match row {
                0 => (&alone, &mut none),
                1 => (&shared, &mut empty),
                _ => (&shared, &mut filled),
            };
            match run.measure(&complaints)? {
                Outcome::Done(usage) if round > 0 => *least = usage.cpu.min(*least),
                Outcome::Done(_) => {}
                Outcome::TimedOut(_) => return Ok(None),
                Outcome::Failed(why) => {
                    eprintln!("{}: {why}", folder.display());
                    return Ok(None);
                }
            }
        }
    }
    let values = server.values();
    let name = folder.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
    let bytes = values.values().map(|value| value.len() as u64).sum();
    Ok(Some(Measured { name, none, empty, filled, bundles: values.len(), bytes }))
}

fn page(all: &[Measured], options: &FleetOptions) -> String {
    let mut text = format!(
        "| repository | alone | empty cache | filled cache | alone / filled | bundles | KB |\n|---|---|---|---|---|---|---|\n\
         Least processor time of {} rounds, in ms.\n",
        options.rounds
    );
    let ms = |time: Duration| time.as_secs_f64() * 1e3;
    for one in all {
        let _ = writeln!(
            text,
            "| {} | {:.0} | {:.0} | {:.0} | {:.2} | {} | {} |",
            one.name,
            ms(one.none),
            ms(one.empty),
            ms(one.filled),
            one.ratio(),
            one.bundles,
            one.bytes / 1000
        );
    }
    let sum = |of: fn(&Measured) -> f64| all.iter().map(of).sum::<f64>();
    let (none, empty, filled) =
        (sum(|one| one.none.as_secs_f64()), sum(|one| one.empty.as_secs_f64()), sum(|one| one.filled.as_secs_f64()));
    if filled > 0.0 {
        let scale = FLEET / all.len() as f64;
        let bytes = sum(|one| one.bytes as f64);
        let _ = writeln!(
            text,
            "\nAll {}: alone {none:.2} s, empty {empty:.2} s, filled {filled:.2} s; ratio {:.2}.\n{FLEET} such repositories: {:.0} s of processor time \
             alone, {:.0} s with a filled cache, {:.1} GB stored once.",
            all.len(),
            none / filled,
            none * scale,
            filled * scale,
            bytes * scale / 1e9
        );
    }
    text
}

/// A generated repository, and half of it: time and memory must grow with the files.
fn large(store: &Store, stan: &Path, files: usize) -> Result<bool> {
    let folder = tempfile::tempdir_in(store.scratch("").parent().unwrap_or(Path::new(".")))?;
    eprintln!("generate {files} files");
    for half in ["a", "b"] {
        generate(&folder.path().join(half), files / 2)?;
    }
    let complaints = store.scratch("complaints");
    let measured = |place: &Path| -> Result<Usage> {
        match Run::new(stan, &["graph", "--stats", "--no-cache"], place).measure(&complaints)? {
            Outcome::Done(usage) => Ok(usage),
            Outcome::TimedOut(_) => Err("it took too long".into()),
            Outcome::Failed(why) => Err(why.into()),
        }
    };
    measured(&folder.path().join("a"))?;
    let half = measured(&folder.path().join("a"))?;
    let whole = measured(folder.path())?;
    println!("\n| files | wall s | processor s | peak MB |\n|---|---|---|---|");
    for (count, usage) in [(files / 2, half), (files, whole)] {
        let (wall, cpu) = (usage.wall.as_secs_f64(), usage.cpu.as_secs_f64());
        println!("| {count} | {wall:.1} | {cpu:.1} | {} |", usage.peak_bytes / 1_000_000);
    }
    let growth = whole.cpu.as_secs_f64() / half.cpu.as_secs_f64().max(1e-9);
    println!("Twice the files: {growth:.2} × the processor time.");
    Ok(whole.peak_bytes <= MOST_BYTES && growth <= 2.6)
}

/// Packages of a hundred files that import each other and the package before.
fn generate(folder: &Path, files: usize) -> Result<()> {
    for package in 0..files.div_ceil(100) {
        let own = folder.join(format!("g{}/p{package}/src", package / 100));
        std::fs::create_dir_all(&own)?;
        let before = package.saturating_sub(1);
        for file in 0..100.min(files - package * 100) {
            let next = (file + 1) % 100;
            let text = format!(
                "/** File {file} of package {package}. @module */\nimport {{ v{next} }} from './f{next}.js';\n\
                 import {{ v0 as base }} from '../../../g{}/p{before}/src/f0.js';\n\
                 export const v{file} = (x: number): number => (x > {package} ? v{next}(x - 1) : base(x));\n\
                 export interface Shape{file} {{ name: string; size: number }}\n",
                before / 100
            );
            std::fs::write(own.join(format!("f{file}.ts")), text)?;
        }
    }
    Ok(())
}
