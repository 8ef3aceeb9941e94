//! Locates files by a text: BM25 over whole contents, and over the lines of the overview.

use std::collections::BTreeMap;
use std::path::Path;

use stan_rank::WordCounter;

use super::baselines::{Corpus, bm25, counted};
use super::cases::{self, Case, Program, QueryMode};
use crate::Result;

/// How many files of a list count.
const MAX_RANK: usize = 10;

/// The result of one case, or the mean of several: shares of the changed files.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Located {
    /// With the whole contents.
    pub(crate) contents: f64,
    /// With the lines of the overview.
    pub(crate) overview: f64,
    /// The share of the sources with a line.
    pub(crate) listed: f64,
}

impl Located {
    pub(crate) fn add(&mut self, other: &Self) {
        self.contents += other.contents;
        self.overview += other.overview;
        self.listed += other.listed;
    }

    /// As a percentage of the share with whole contents.
    pub(crate) fn share(&self) -> f64 {
        if self.contents > 0.0 { 100.0 * self.overview / self.contents } else { 0.0 }
    }
}

/// Measures every case; calls `tell` with its id and the result for each budget. Returns the number of cases.
pub(crate) fn located(
    stan: &Path,
    folder: &Path,
    every: usize,
    budgets: &[u64],
    tell: &mut dyn FnMut(&str, &[Located]),
) -> Result<usize> {
    let mut count = 0;
    for case in cases::read(folder)?.into_iter().step_by(every.max(1)) {
        let root = folder.join(&case.directory);
        let program = Program { stan, folder: &root, cache: &root.join(".stan/cache") };
        let corpus = Corpus::read(&program, &case).map_err(|error| format!("{}: {error}", case.id))?;
        let truth = corpus.truth(&case, QueryMode::Text);
        if truth.is_empty() {
            continue;
        }
        let found = |list: &[String]| {
            list.iter().take(MAX_RANK).filter(|path| truth.contains(*path)).count() as f64 / truth.len() as f64
        };
        let contents = found(&bm25(&corpus, &case, QueryMode::Text));
        let mut all = Vec::new();
        for budget in budgets {
            let arguments = ["map", "--json", "--no-cache", "--budget", &budget.to_string()].map(str::to_owned);
            let report = program.json(&arguments, "")?;
            let lines = lines(report["text"].as_str().ok_or("the overview has no text")?);
            let by_lines = corpus.with_texts(&lines);
            let listed = by_lines.count() as f64 / (corpus.count() as f64).max(1.0);
            all.push(Located { contents, overview: found(&search(&by_lines, &case)), listed });
        }
        count += 1;
        tell(&case.id, &all);
    }
    Ok(count)
}

fn search(corpus: &Corpus, case: &Case) -> Vec<String> {
    bm25(corpus, case, QueryMode::Text)
}

/// The line of each file, by its path.
fn lines(text: &str) -> BTreeMap<String, String> {
    let mut folder = String::new();
    let mut lines = BTreeMap::new();
    for line in text.lines().filter(|line| !line.starts_with(['#', '='])) {
        if line.starts_with(' ') && !line.starts_with(" * ") {
            let name = line.split_whitespace().next().unwrap_or_default().trim_matches('"');
            lines.insert(format!("{folder}{name}"), line.to_owned());
            continue;
        }
        // After the folder's path: nothing, other files, or `*` if it is folded.
        let (path, rest) = line.split_once("/ ").unwrap_or((line.strip_suffix('/').unwrap_or(line), ""));
        if !rest.starts_with('*') && !line.starts_with(' ') {
            let path = path.trim_matches('"');
            folder = if path == "." { String::new() } else { format!("{path}/") };
        }
    }
    lines
}

impl Corpus {
    /// Only the files in `texts`, which replace their contents.
    fn with_texts(&self, texts: &BTreeMap<String, String>) -> Self {
        let mut counter = WordCounter::default();
        self.narrowed(|path| texts.get(path).map(|text| counted(&mut counter, text.as_bytes())))
    }
}
