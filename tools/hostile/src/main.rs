//! Hostile repositories: trees that try to make `stan` and `x07` read, write, run or use up what they must not.
//!
//! `cargo xtask hostile DIR` builds them. `cargo xtask hostile --run` runs every command on each and checks the promises of
//! SECURITY.md. The trees are in `trees`, the commands in `steps`, the promises in `judge`. Needs Linux, because the checks use
//! `strace`.
#![expect(clippy::disallowed_methods, reason = "a developer tool works on the real file system")]
#![expect(clippy::print_stdout, reason = "a developer tool talks to the terminal")]

mod archives;
mod judge;
mod play;
mod process;
mod report;
mod site;
mod steps;
mod trace;
mod trees;
mod walk;

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode};
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

use clap::Parser;
use stan_tooling::Result;

use self::play::Played;
use self::process::Machine;
use self::site::{Scale, Site};
use self::trees::Tree;

#[derive(Parser)]
#[command(bin_name = "cargo xtask hostile", about = "Hostile repositories: builds them, or runs every command on each")]
struct Hostile {
    /// Build the trees into this folder, one folder each
    #[arg(required_unless_present = "run", conflicts_with = "run")]
    folder: Option<PathBuf>,
    /// Build the trees in a temporary folder and run every command on each
    #[arg(long)]
    run: bool,
    /// The program `stan` [default: the release build of this workspace]
    #[arg(long, value_name = "PATH")]
    stan: Option<PathBuf>,
    /// The program `x07` [default: the release build of this workspace]
    #[arg(long, value_name = "PATH")]
    x07: Option<PathBuf>,
    /// Only trees whose name starts so
    #[arg(long, value_name = "TREE")]
    only: Option<String>,
    /// In full size: 100,000 files, 5,000 folders deep, 4 GB
    #[arg(long)]
    long: bool,
    /// Trees at a time
    #[arg(long, value_name = "N", default_value_t = 2)]
    jobs: usize,
    /// Keep the temporary folder, and say where it is
    #[arg(long)]
    keep: bool,
}

fn main() -> ExitCode {
    stan_tooling::run(|root| run(root, &Hostile::parse()))
}

fn run(workspace: &Path, arguments: &Hostile) -> Result<bool> {
    let scale = if arguments.long { Scale::Long } else { Scale::Short };
    let wanted = |tree: &Tree| arguments.only.as_ref().is_none_or(|only| tree.name.starts_with(only.as_str()));
    let trees: Vec<Tree> = trees::all().into_iter().filter(wanted).collect();
    if trees.is_empty() {
        return Err("no tree has such a name".into());
    }
    if let Some(folder) = &arguments.folder {
        fs::create_dir_all(folder)?;
        let folder = fs::canonicalize(folder)?;
        for tree in &trees {
            let site = build(tree, &folder.join(tree.name), scale)?;
            println!("{}: {}", tree.name, tree.about);
            site.skipped.iter().for_each(|skipped| println!("  skipped: {skipped}"));
        }
        return Ok(true);
    }
    let program =
        |named: &Option<PathBuf>, name: &str| named.clone().unwrap_or_else(|| steps::released(workspace, name));
    run_all(&trees, scale, &program(&arguments.stan, "stan"), &program(&arguments.x07, "x07"), arguments)
}

fn run_all(trees: &[Tree], scale: Scale, stan: &Path, x07: &Path, arguments: &Hostile) -> Result<bool> {
    let folder = fs::canonicalize(std::env::temp_dir())?.join(format!("stan-hostile-{}", std::process::id()));
    fs::create_dir_all(folder.join("bin"))?;
    let machine = Machine::new(installed(stan, &folder)?, installed(x07, &folder)?)?;
    let played = play_all(trees, scale, &machine, &folder, arguments.jobs.max(1));
    if arguments.keep {
        println!("kept: {}", folder.display());
    } else {
        remove(&folder)?;
    }
    Ok(report::print(&played?, &machine))
}

/// A copy of a program that every user may start.
fn installed(program: &Path, folder: &Path) -> Result<PathBuf> {
    let name = program.file_name().ok_or("a program without a name")?;
    let copy = folder.join("bin").join(name);
    fs::copy(program, &copy).map_err(|error| {
        format!("{}: {error}; `cargo build --release --package stan-cli` makes it", program.display())
    })?;
    Ok(copy)
}

fn play_all(trees: &[Tree], scale: Scale, machine: &Machine, folder: &Path, jobs: usize) -> Result<Vec<Played>> {
    let next = AtomicUsize::new(0);
    let played: Mutex<Vec<(usize, Result<Played>)>> = Mutex::default();
    std::thread::scope(|scope| {
        for _ in 0..jobs {
            scope.spawn(|| {
                while let Some((index, tree)) = {
                    let index = next.fetch_add(1, Ordering::Relaxed);
                    trees.get(index).map(|tree| (index, tree))
                } {
                    let outcome = play::play(tree, scale, machine, folder);
                    if let Ok(played) = &outcome {
                        println!("{}", played.line());
                    }
                    played.lock().unwrap_or_else(std::sync::PoisonError::into_inner).push((index, outcome));
                }
            });
        }
    });
    let mut played = played.into_inner().unwrap_or_else(std::sync::PoisonError::into_inner);
    played.sort_by_key(|(index, _)| *index);
    played.into_iter().map(|(_, outcome)| outcome).collect()
}

/// Builds one tree from nothing.
fn build(tree: &Tree, folder: &Path, scale: Scale) -> Result<Site> {
    remove(folder)?;
    fs::create_dir_all(folder)?;
    let mut site = Site::new(folder, scale);
    let built = site.canaries().and_then(|()| (tree.build)(&mut site));
    built.map_err(|error| format!("{} cannot be built: {error}", tree.name))?;
    Ok(site)
}

/// By the `rm` program, because it can remove folders of any depth.
fn remove(folder: &Path) -> Result<()> {
    let remove = || Command::new("rm").arg("-rf").arg("--").arg(folder).stderr(std::process::Stdio::null()).status();
    if remove()?.success() {
        return Ok(());
    }
    // Make folders without permissions removable; only root could delete them otherwise.
    Command::new("chmod").args(["-R", "u+rwX"]).arg(folder).status()?;
    if remove()?.success() { Ok(()) } else { Err(format!("{} cannot be removed", folder.display()).into()) }
}

#[cfg(test)]
mod tests;
