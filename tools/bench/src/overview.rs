//! `cargo xtask bench overview`: how well files can be found with only the overview.
//!
//! Needs no model: searches for the message of a real commit, once in the contents of all sources and once in the lines of the
//! overview within a budget. Measures the share of the changed files among the first ten results. Uses the cases of `bench
//! suggest`.

use std::path::{Path, PathBuf};

use stan_tooling::Result;

use crate::suggest::located::{Located, located};

#[derive(clap::Args)]
pub(crate) struct Options {
    /// A folder with `cases.json` and a repository for each case.
    #[arg(long, value_name = "DIR")]
    cases: PathBuf,
    /// Measure this program instead of building it.
    #[arg(long, value_name = "PATH")]
    pub(crate) stan: Option<PathBuf>,
    /// Budgets of the overview, in tokens; 0 for no limit.
    #[arg(long, value_name = "N", value_delimiter = ',', default_value = "16000,0")]
    budgets: Vec<u64>,
    /// Only every N-th case.
    #[arg(long, value_name = "N", default_value_t = 1)]
    every: usize,
}

/// The minimum result of the overview with its usual budget, in percent of that of the whole contents.
const LIMIT: f64 = 72.0;

/// Whether the first budget reaches the limit.
pub(crate) fn run(stan: &Path, options: &Options) -> Result<bool> {
    let mut sums = vec![Located::default(); options.budgets.len()];
    let count = located(stan, &options.cases, options.every, &options.budgets, &mut |id, found| {
        for (sum, one) in sums.iter_mut().zip(found) {
            sum.add(one);
        }
        eprintln!("{id}: {found:?}");
    })?;
    println!("| overview of | cases | contents | overview | share | files listed |");
    println!("|---|--:|--:|--:|--:|--:|");
    for (budget, sum) in options.budgets.iter().zip(&sums) {
        let percent = |value: f64| 100.0 * value / (count as f64).max(1.0);
        println!(
            "| {budget} tokens | {count} | {:.1} % | {:.1} % | {:.1} % | {:.0} % |",
            percent(sum.contents),
            percent(sum.overview),
            sum.share(),
            percent(sum.listed)
        );
    }
    Ok(sums.first().is_some_and(|first| first.share() >= LIMIT))
}
