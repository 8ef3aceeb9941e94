//! `cargo xtask growth`: doubles inputs of many shapes, and fails if the work of the programs grows much faster.
//!
//! Measures processor time and peak memory of whole commands at three sizes, each twice the previous one. Linear work doubles
//! each time, quadratic work quadruples. The limit is in between.
#![expect(clippy::disallowed_methods, reason = "a developer tool works on the real file system")]
#![expect(clippy::print_stdout, reason = "a developer tool talks to the terminal")]

mod measure;
mod shape;
mod shapes;
mod tree;
mod verdict;

use std::path::{Path, PathBuf};
use std::process::ExitCode;

use clap::Parser;
use measure::Programs;
use shape::Shape;
use stan_tooling::{Result, cargo};
use tree::Tree;
use verdict::Row;

#[derive(Parser)]
#[command(bin_name = "cargo xtask growth", about = "Double inputs of many shapes: the work must not grow much faster")]
struct Options {
    /// Folder for the inputs [default: a temporary folder].
    #[arg(value_name = "DIR")]
    dir: Option<PathBuf>,
    /// Measure this program instead of building it.
    #[arg(long, value_name = "PATH")]
    stan: Option<PathBuf>,
    /// The same for x07.
    #[arg(long, value_name = "PATH")]
    x07: Option<PathBuf>,
    /// Only the shapes whose names contain one of these.
    #[arg(long, value_name = "NAME", num_args = 1..)]
    only: Vec<String>,
    /// The shapes that found something, smaller: half a minute.
    #[arg(long)]
    short: bool,
    /// Print a table for docs/reliability.md.
    #[arg(long)]
    markdown: bool,
}

fn main() -> ExitCode {
    stan_tooling::run(|root| run(root, &Options::parse()))
}

/// The answer is whether nothing grows too fast.
fn run(root: &Path, options: &Options) -> Result<bool> {
    // Outside of the clone, whose ignore rules would hide the inputs.
    let scratch = || std::env::temp_dir().join(format!("stan-growth-{}", std::process::id()));
    let folder = std::path::absolute(options.dir.clone().unwrap_or_else(scratch))?;
    std::fs::create_dir_all(&folder)?;
    let programs = Programs {
        stan: cargo::release(root, "stan", options.stan.as_deref())?,
        x07: cargo::release(root, "x07", options.x07.as_deref())?,
        scratch: folder.clone(),
    };
    let is_wanted = |shape: &&Shape| {
        (!options.short || shape.in_short)
            && (options.only.is_empty() || options.only.iter().any(|name| shape.name.contains(name.as_str())))
    };
    let shapes = shapes::all();
    let mut rows = Vec::new();
    println!("{}", Row::HEADING);
    for shape in shapes.iter().filter(is_wanted) {
        let size = if options.short { shape.size.div_ceil(4) } else { shape.size };
        let row = measured(shape, size, &programs, &folder)?;
        println!("{}", row.line());
        rows.push(row);
    }
    if options.dir.is_none() {
        std::fs::remove_dir_all(&folder)?;
    }
    if options.markdown {
        println!("\n{}", Row::MARKDOWN_HEADING);
        rows.iter().for_each(|row| println!("{}", row.markdown()));
    }
    let failed: Vec<&str> = rows.iter().filter(|row| !row.holds()).map(|row| row.name).collect();
    match failed.as_slice() {
        [] => println!("{} shapes, none grows faster than {} per doubling", rows.len(), verdict::LIMIT),
        names => println!("grow too fast, or were not measured: {}", names.join(", ")),
    }
    Ok(failed.is_empty())
}

/// How often a shape that seems to grow too fast is measured again: a busy machine slows single runs down.
const ROUNDS: usize = 3;
const RUNS: usize = 3;

fn measured(shape: &Shape, size: usize, programs: &Programs, folder: &Path) -> Result<Row> {
    let mut row = Row::new(shape.name, size);
    let sizes = [size.div_ceil(64).max(2), size, 2 * size, 4 * size];
    let trees = sizes.iter().map(|size| {
        let tree = Tree::new(&folder.join("tree").join(size.to_string()))?;
        (shape.build)(&tree, *size)?;
        Result::Ok(tree)
    });
    let trees = trees.collect::<Result<Vec<Tree>>>()?;
    for _ in 0..ROUNDS {
        for _ in 0..RUNS {
            for (place, tree) in trees.iter().enumerate() {
                row.add(place, programs.run(shape, tree.root())?);
            }
            if row.is_hopeless() {
                break;
            }
        }
        if row.holds() || row.is_hopeless() {
            break;
        }
    }
    trees.into_iter().try_for_each(Tree::remove)?;
    Ok(row)
}
