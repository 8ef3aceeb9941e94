//! Many runs in a row with edits in between: the files that stan keeps must not grow, and must not change the answers.

use std::collections::BTreeMap;
use std::path::Path;

use super::edits::Editor;
use super::fit::{Growth, Sample, growth};
use super::generate::Repository;
use super::program::{Stan, digest};
use super::report::Report;
use super::tree::{differences, sizes};
use crate::Result;

/// How often a run is compared with one without a cache.
const COMPARE_EVERY: u64 = 50;

/// How much a value may grow from the first run to the last, relative to its mean.
const ALLOWED_GROWTH: f64 = 0.1;

#[derive(Default)]
struct Series {
    memory: Vec<Sample>,
    cache: Vec<Sample>,
    files: Vec<Sample>,
}

pub(super) fn run(stan: Stan<'_>, repository: &Repository, runs: u64, report: &mut Report) -> Result<()> {
    let external = ".stan/context/npm/deep/0.1.0/lib/index.js".to_owned();
    repository.select(repository.modules().step_by(17).take(60).chain([external]))?;
    let mut editor = Editor::new(repository);
    let (mut series, mut different, mut compared) = (Series::default(), Vec::new(), 0);
    stan.succeed(&["run", "--context"])?;
    stan.succeed(&["run"])?;
    for number in 1..=runs {
        editor.edit()?;
        match number % 7 {
            0 => drop(stan.succeed(&["run", "--json"])?),
            3 => drop(stan.succeed(&["graph", "--json"])?),
            5 => drop(stan.succeed(&["select", "--json", "--tokens", "bytes4"])?),
            _ => {}
        }
        if number % 100 == 0 {
            stan.succeed(&["snap"])?;
        }
        let ran = stan.succeed(&["run", "--context", "--json"])?;
        series.note(stan.root, ran.usage.peak_bytes)?;
        // Compare in short tests too.
        if number % COMPARE_EVERY.min(runs / 4).max(1) == 0 {
            compared += 1;
            different.extend(compare(stan, number)?);
        }
    }
    std::fs::write(stan.scratch.join("consecutive.tsv"), series.table())?;
    let detail = if different.is_empty() { format!("{compared} comparisons") } else { different.join("; ") };
    report.law("a run after edits is a run that knows nothing", different.is_empty(), detail);
    stays("peak memory of run --context", &series.memory, report);
    stays("bytes of the cache", &series.cache, report);
    stays("number of files below .stan", &series.files, report);
    cache_is_no_larger_than_a_new_one(stan, report)?;
    let leftovers: Vec<String> =
        sizes(&stan.root.join(".stan"))?.into_keys().filter(|name| is_temporary(name)).collect();
    let detail =
        format!("{} files {}", leftovers.len(), leftovers.iter().take(4).cloned().collect::<Vec<_>>().join("; "));
    report.law("no temporary file is left after all runs", leftovers.is_empty(), detail);
    Ok(())
}

impl Series {
    fn note(&mut self, root: &Path, peak: u64) -> Result<()> {
        let files = sizes(&root.join(".stan"))?;
        // The map is the graph, written out: other files may grow in proportion to it.
        let explained = files.get("context/dependency.meta.json").copied().unwrap_or(0) as f64;
        let cache: u64 = files.iter().filter(|(name, _)| name.starts_with("cache/")).map(|(_, size)| size).sum();
        // Ten baselines of each kind are kept, so their number grows until then.
        let others = files.keys().filter(|name| !name.starts_with("diff/history/")).count() as u64;
        for (series, value) in [(&mut self.memory, peak), (&mut self.cache, cache), (&mut self.files, others)] {
            series.push(Sample { explained, value: value as f64 });
        }
        Ok(())
    }
}

impl Series {
    /// All samples, for readers who want to see more than a slope.
    fn table(&self) -> String {
        let mut text = String::from("map\tmemory\tcache\tfiles\n");
        for ((memory, cache), files) in self.memory.iter().zip(&self.cache).zip(&self.files) {
            text.push_str(&format!("{}\t{}\t{}\t{}\n", memory.explained, memory.value, cache.value, files.value));
        }
        text
    }
}

fn stays(name: &str, samples: &[Sample], report: &mut Report) {
    let mean = samples.iter().map(|sample| sample.value).sum::<f64>() / samples.len().max(1) as f64;
    let Growth { total, error } = growth(samples);
    let per_cent = |value: f64| 100.0 * value / mean.max(1.0);
    let detail = format!(
        "mean {mean:.0}, slope {:+.3} a run, {:+.2} % over {} runs (± {:.2} %)",
        total / samples.len().max(1) as f64,
        per_cent(total),
        samples.len(),
        per_cent(error),
    );
    // Memory depends on thread scheduling: growth within the margin of error is not a finding.
    report.law(format!("{name}: no growth beyond the graph's"), total - 2.0 * error <= ALLOWED_GROWTH * mean, detail);
}

/// Compares the cache after all runs with that of a single cold run; one per cent more counts as growth.
fn cache_is_no_larger_than_a_new_one(stan: Stan<'_>, report: &mut Report) -> Result<()> {
    let folder = stan.root.join(".stan/cache");
    // Counts of tokens and words are stored by content hash with their own limits; `graph` writes none.
    let is_of_graph = |path: &str| path.starts_with("graph.") || path.starts_with("map.");
    let bytes = || -> Result<u64> {
        Ok(sizes(&folder)?.iter().filter(|(path, _)| is_of_graph(path)).map(|(_, size)| size).sum())
    };
    stan.succeed(&["graph", "--meta"])?;
    let kept = bytes()?;
    std::fs::remove_dir_all(&folder)?;
    stan.succeed(&["graph", "--meta"])?;
    let new = bytes()?;
    let detail = format!("{kept} bytes after all runs, {new} bytes after one");
    report.law("the cache is as large as a new one", kept <= new + new / 100, detail);
    Ok(())
}

/// Compares the last run with the same run without a cache: graph, map, archives.
fn compare(stan: Stan<'_>, number: u64) -> Result<Vec<String>> {
    let made = outputs(stan.root)?;
    let graph = stan.succeed(&["graph", "--json"])?.answer_digest()?;
    let mut different = Vec::new();
    if stan.succeed(&["graph", "--json", "--no-cache"])?.answer_digest()? != graph {
        different.push(format!("run {number}: graph --json"));
    }
    stan.succeed(&["run", "--context", "--no-cache"])?;
    different.extend(differences(&made, &outputs(stan.root)?).iter().map(|name| format!("run {number}: {name}")));
    Ok(different)
}

fn outputs(root: &Path) -> Result<BTreeMap<String, String>> {
    let names = [
        "output/archive.tar",
        "output/archive.diff.tar",
        "context/dependency.meta.json",
        "context/dependency.map.json",
    ];
    names.iter().map(|name| Ok(((*name).to_owned(), digest(&root.join(".stan").join(name))?))).collect()
}

/// Whether a name is that of a temporary file.
pub(super) fn is_temporary(name: &str) -> bool {
    let file = name.rsplit('/').next().unwrap_or(name);
    file.contains(".tmp") || file.ends_with('~')
}
