//! Simple ways to spend a budget: files of the same folder, a word search, common changes, and a breadth-first walk over imports.
//! Floating point is fine: nothing here is part of the product.

use std::collections::{BTreeMap, BTreeSet};

use stan_rank::{WordCounter, folder, folder_distance};

use super::cases::{Case, Program, QueryMode};
use super::figures::Budget;
use crate::Result;

/// Stop after this many consecutive files did not fit.
const MAX_MISSES: usize = 64;
/// Files of larger commits do not count as common changes.
const MAX_TOGETHER: usize = 40;

pub(super) type Words = BTreeMap<u64, f64>;

/// The inputs of the baselines: the sources of a repository in the language of the case.
pub(super) struct Corpus {
    paths: Vec<String>,
    numbers: BTreeMap<String, usize>,
    tokens: Vec<u64>,
    parts: Vec<Words>,
    path_words: Vec<BTreeSet<u64>>,
    /// The rarity of each word among paths.
    path_rarity: Words,
    imports: Vec<BTreeSet<usize>>,
    /// The files of each commit.
    history: Vec<Vec<usize>>,
}

impl Corpus {
    pub(super) fn read(program: &Program<'_>, case: &Case) -> Result<Self> {
        let listed = program.git(&["ls-files", "-z"])?;
        let is_source = |path: &&str| extensions(&case.lang).iter().any(|extension| path.ends_with(extension));
        let paths: Vec<String> = listed.split('\0').filter(is_source).map(str::to_owned).collect();
        let numbers: BTreeMap<String, usize> = paths.iter().cloned().zip(0..).collect();
        let mut counter = WordCounter::default();
        let (mut tokens, mut parts) = (Vec::new(), Vec::new());
        for path in &paths {
            let bytes = std::fs::read(program.folder.join(path)).unwrap_or_default();
            tokens.push((bytes.len() as u64).div_ceil(4));
            parts.push(counted(&mut counter, &bytes));
        }
        let path_words: Vec<BTreeSet<u64>> =
            paths.iter().map(|path| words_of_path(&mut counter, path).into_keys().collect()).collect();
        let mut path_rarity = Words::new();
        path_words.iter().flatten().for_each(|word| *path_rarity.entry(*word).or_default() += 1.0);
        let count = paths.len() as f64;
        path_rarity.values_mut().for_each(|frequency| *frequency = (1.0 + count / *frequency).ln());
        let imports = imports(program, &numbers)?;
        let history = history(program, &numbers)?;
        Ok(Self { paths, numbers, tokens, parts, path_words, path_rarity, imports, history })
    }

    /// The wanted files, as far as they exist.
    pub(super) fn truth(&self, case: &Case, mode: QueryMode) -> BTreeSet<String> {
        let focus = (!mode.has_focus()).then_some(&case.focus);
        case.truth.iter().chain(focus).filter(|path| self.numbers.contains_key(*path)).cloned().collect()
    }

    pub(super) fn count(&self) -> usize {
        self.paths.len()
    }

    /// Only the files for which `words` returns some words, with these words instead of their own.
    pub(super) fn narrowed(&self, mut words: impl FnMut(&str) -> Option<Words>) -> Self {
        let kept: Vec<(usize, Words)> =
            self.paths.iter().enumerate().filter_map(|(file, path)| Some((file, words(path)?))).collect();
        let of = |file: &usize| self.paths.get(*file).cloned().unwrap_or_default();
        let paths: Vec<String> = kept.iter().map(|(file, _)| of(file)).collect();
        Self {
            numbers: paths.iter().cloned().zip(0..).collect(),
            tokens: kept.iter().map(|(file, _)| self.tokens[*file]).collect(),
            path_words: kept.iter().map(|(file, _)| self.path_words[*file].clone()).collect(),
            parts: kept.into_iter().map(|(_, words)| words).collect(),
            path_rarity: self.path_rarity.clone(),
            imports: vec![BTreeSet::new(); paths.len()],
            history: Vec::new(),
            paths,
        }
    }

    fn tokens_of(&self, path: &str) -> u64 {
        self.numbers.get(path).map_or(0, |file| self.tokens[*file])
    }

    /// The share of the truth within a budget, or within the first files of a list. The list does not contain the focus.
    pub(super) fn recall(&self, truth: &BTreeSet<String>, list: &[String], budget: &Budget) -> f64 {
        let sources = list.iter().filter(|path| self.numbers.contains_key(*path));
        let share = |found: usize| found as f64 / truth.len() as f64;
        if let Some(count) = budget.files {
            return share(sources.take(count).filter(|path| truth.contains(*path)).count());
        }
        let (mut left, mut found, mut misses) = (budget.tokens, 0, 0);
        for path in sources {
            let tokens = self.tokens_of(path);
            if tokens <= left {
                left -= tokens;
                found += usize::from(truth.contains(path));
                misses = 0;
            } else {
                misses += 1;
                if misses == MAX_MISSES {
                    break;
                }
            }
        }
        share(found)
    }

    /// All files except the focus, by descending value.
    fn order(&self, case: &Case, mode: QueryMode, values: &[f64]) -> Vec<String> {
        let focus = self.numbers.get(&case.focus).filter(|_| mode.has_focus());
        let mut order: Vec<usize> = (0..self.paths.len()).filter(|file| Some(file) != focus).collect();
        order.sort_by(|left, right| values[*right].total_cmp(&values[*left]).then(left.cmp(right)));
        order.into_iter().map(|file| self.paths[file].clone()).collect()
    }
}

pub(super) fn same_folder(corpus: &Corpus, case: &Case, mode: QueryMode) -> Vec<String> {
    let own = folder(&case.focus);
    let near = |path: &String| -(folder_distance(own, folder(path)) as f64);
    corpus.order(case, mode, &corpus.paths.iter().map(near).collect::<Vec<_>>())
}

pub(super) fn breadth_first(corpus: &Corpus, case: &Case, _: QueryMode) -> Vec<String> {
    let Some(&focus) = corpus.numbers.get(&case.focus) else { return Vec::new() };
    let mut seen = BTreeSet::from([focus]);
    let (mut level, mut found) = (BTreeSet::from([focus]), Vec::new());
    while !level.is_empty() {
        let next = level.iter().flat_map(|file| &corpus.imports[*file]).copied();
        level = next.filter(|file| seen.insert(*file)).collect();
        found.extend(level.iter().map(|file| corpus.paths[*file].clone()));
    }
    found
}

pub(super) fn co_change(corpus: &Corpus, case: &Case, mode: QueryMode) -> Vec<String> {
    let own = folder(&case.focus);
    let mut values: Vec<f64> =
        corpus.paths.iter().map(|path| 1e-3 / (1.0 + folder_distance(own, folder(path)) as f64)).collect();
    if let Some(focus) = corpus.numbers.get(&case.focus) {
        for files in corpus.history.iter().filter(|files| files.contains(focus)) {
            files.iter().for_each(|file| values[*file] += 1.0);
        }
    }
    corpus.order(case, mode, &values)
}

/// The text and the focus as one bag of words, matched with contents and paths, as a search box would do it.
pub(super) fn bm25(corpus: &Corpus, case: &Case, mode: QueryMode) -> Vec<String> {
    let mut counter = WordCounter::default();
    let (mut query, mut in_path) = (Words::new(), Words::new());
    if mode.has_text() {
        query = counted(&mut counter, case.text.as_bytes());
        in_path.clone_from(&query);
    }
    if let Some(&focus) = corpus.numbers.get(&case.focus).filter(|_| mode.has_focus()) {
        let total: f64 = corpus.parts[focus].values().sum::<f64>().max(1.0);
        let scale = if mode == QueryMode::Focus { 1.0 } else { 20.0 / total };
        for (word, count) in &corpus.parts[focus] {
            *query.entry(*word).or_default() += count * scale;
        }
        for (word, count) in words_of_path(&mut counter, &case.focus) {
            *in_path.entry(word).or_default() += count;
        }
    }
    let mut values = corpus.search(&query);
    let most = values.iter().copied().fold(0.0, f64::max);
    let total: f64 = in_path.iter().map(|(word, weight)| weight * corpus.rare_in_paths(word)).sum();
    for (value, words) in values.iter_mut().zip(&corpus.path_words) {
        let hits = words.iter().map(|word| in_path.get(word).copied().unwrap_or(0.0) * corpus.rare_in_paths(word));
        let in_path = if total > 0.0 { 0.5 * hits.sum::<f64>() / total } else { 0.0 };
        *value = if most > 0.0 { *value / most } else { 0.0 } + in_path;
    }
    corpus.order(case, mode, &values)
}

impl Corpus {
    fn rare_in_paths(&self, word: &u64) -> f64 {
        self.path_rarity.get(word).copied().unwrap_or(0.0)
    }

    /// BM25 with k1 = 1.2 and b = 0.75.
    fn search(&self, query: &Words) -> Vec<f64> {
        let lengths: Vec<f64> = self.parts.iter().map(|words| words.values().sum()).collect();
        let count = self.parts.len() as f64;
        let mean = (lengths.iter().sum::<f64>() / count.max(1.0)).max(1.0);
        let mut values = vec![0.0; self.parts.len()];
        for (word, weight) in query {
            let having: Vec<(usize, f64)> =
                self.parts.iter().enumerate().filter_map(|(file, words)| Some((file, *words.get(word)?))).collect();
            let frequency = having.len() as f64;
            let rarity = (1.0 + (count - frequency + 0.5) / (frequency + 0.5)).ln();
            for (file, times) in having {
                let norm = 1.2 * (0.25 + 0.75 * lengths[file] / mean);
                values[file] += weight * rarity * times * 2.2 / (times + norm);
            }
        }
        values
    }
}

pub(super) fn counted(counter: &mut WordCounter, text: &[u8]) -> Words {
    counter.count("text", text).parts.into_iter().map(|(word, count)| (word, f64::from(count))).collect()
}

fn words_of_path(counter: &mut WordCounter, path: &str) -> Words {
    counted(counter, path.replace(['/', '.'], " ").as_bytes())
}

fn extensions(lang: &str) -> &'static [&'static str] {
    match lang {
        "ts" => &[".ts", ".tsx", ".js", ".jsx", ".mjs", ".cjs", ".mts", ".cts", ".vue", ".svelte"],
        "py" => &[".py"],
        "go" => &[".go"],
        _ => &[".rs"],
    }
}

/// The neighbours of each file, in both directions.
fn imports(program: &Program<'_>, numbers: &BTreeMap<String, usize>) -> Result<Vec<BTreeSet<usize>>> {
    let map = program.json(&["graph", "--meta", "--no-cache"].map(str::to_owned), "")?;
    let mut neighbours = vec![BTreeSet::new(); numbers.len()];
    for (id, node) in map["n"].as_object().ok_or("the map has no nodes")? {
        let Some(&from) = numbers.get(id) else { continue };
        for edge in node["e"].as_array().into_iter().flatten() {
            let Some(&to) = edge[0].as_str().and_then(|target| numbers.get(target)) else { continue };
            neighbours[from].insert(to);
            neighbours[to].insert(from);
        }
    }
    Ok(neighbours)
}

fn history(program: &Program<'_>, numbers: &BTreeMap<String, usize>) -> Result<Vec<Vec<usize>>> {
    let arguments = ["-c", "core.quotepath=off", "log", "--no-merges", "--no-renames", "--name-only", "-n2000"];
    let log = program.git(&[&arguments[..], &["--format=%x01"]].concat())?;
    let files = |block: &str| block.lines().filter_map(|line| numbers.get(line).copied()).collect::<Vec<_>>();
    Ok(log.split('\u{1}').map(files).filter(|files| (1..=MAX_TOGETHER).contains(&files.len())).collect())
}
