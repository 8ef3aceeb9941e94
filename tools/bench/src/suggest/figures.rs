//! Summarises the results: means with confidence intervals, and the cases in which a baseline wins.

use std::collections::{BTreeMap, BTreeSet};

use super::baselines::{Corpus, bm25, breadth_first, co_change, same_folder};
use super::cases::{Case, QueryMode};

/// Ranks all files for a case, best first.
type Baseline = fn(&Corpus, &Case, QueryMode) -> Vec<String>;

/// A method to answer a query.
pub(super) struct Method {
    pub(super) name: &'static str,
    /// `None` for the program itself.
    pub(super) baseline: Option<Baseline>,
    needs_focus: bool,
}

pub(super) const OURS: &str = "stan suggest";
pub(super) const SEARCH: &str = "BM25";

pub(super) const METHODS: [Method; 5] = [
    Method { name: OURS, baseline: None, needs_focus: false },
    Method { name: SEARCH, baseline: Some(bm25), needs_focus: false },
    Method { name: "co-change", baseline: Some(co_change), needs_focus: true },
    Method { name: "breadth-first", baseline: Some(breadth_first), needs_focus: true },
    Method { name: "same folder", baseline: Some(same_folder), needs_focus: true },
];

impl Method {
    pub(super) fn answers(&self, mode: QueryMode) -> bool {
        match mode {
            QueryMode::Focus => true,
            // Baselines do not depend on git, or find nothing without it.
            QueryMode::NoGit => self.baseline.is_none(),
            _ => !self.needs_focus,
        }
    }
}

/// How much of a list counts.
pub(super) struct Budget {
    /// The index of the list.
    pub(super) index: usize,
    pub(super) tokens: u64,
    /// A number of files instead of tokens.
    pub(super) files: Option<usize>,
}

/// One case: its repository, and the recall at each budget.
struct Row {
    case: String,
    repo: String,
    recalls: Vec<f64>,
}

/// A case in which a search finds more, with both recalls in percent.
pub(super) struct LostCase {
    pub(super) case: String,
    pub(super) ours: f64,
    pub(super) search: f64,
}

/// The mean recalls in one repository, in percent.
#[derive(Default)]
pub(super) struct RepositoryRecall {
    pub(super) repo: String,
    pub(super) cases: usize,
    pub(super) ours: f64,
    pub(super) search: f64,
    /// The number of cases in which ours found less.
    pub(super) lost: usize,
}

pub(super) struct Figures {
    pub(super) budgets: Vec<u64>,
    rows: BTreeMap<(QueryMode, &'static str), Vec<Row>>,
}

/// The number of bootstrap samples for an interval.
const DRAWS: usize = 2_000;

impl Figures {
    pub(super) fn new(budgets: &[u64]) -> Self {
        Self { budgets: budgets.to_vec(), rows: BTreeMap::new() }
    }

    fn columns(&self) -> Vec<Budget> {
        let tokens = self.budgets.iter().enumerate().map(|(index, &tokens)| Budget { index, tokens, files: None });
        let last = self.budgets.len().saturating_sub(1);
        tokens.chain([Budget { index: last, tokens: u64::MAX, files: Some(10) }]).collect()
    }

    /// The column titles.
    pub(super) fn titles(&self) -> Vec<String> {
        let tokens = self.budgets.iter().map(|tokens| format!("{}k", tokens / 1000));
        tokens.chain(["ten files".to_owned()]).collect()
    }

    pub(super) fn add(&mut self, mode: QueryMode, method: &'static str, case: &Case, recall: impl Fn(&Budget) -> f64) {
        let recalls = self.columns().iter().map(recall).collect();
        let row = Row { case: case.id.clone(), repo: case.repo.clone(), recalls };
        self.rows.entry((mode, method)).or_default().push(row);
    }

    /// The cases in which a search beats ours most, at one column.
    pub(super) fn worst(&self, mode: QueryMode, column: usize, most: usize) -> Vec<LostCase> {
        let (Some(ours), Some(search)) = (self.rows.get(&(mode, OURS)), self.rows.get(&(mode, SEARCH))) else {
            return Vec::new();
        };
        let pairs = ours.iter().zip(search);
        let cases = pairs.map(|(one, other)| LostCase {
            case: one.case.clone(),
            ours: 100.0 * one.recalls[column],
            search: 100.0 * other.recalls[column],
        });
        let mut lost: Vec<LostCase> = cases.filter(|lost| lost.ours < lost.search).collect();
        let loss = |lost: &LostCase| lost.search - lost.ours;
        lost.sort_by(|one, other| loss(other).total_cmp(&loss(one)).then(one.case.cmp(&other.case)));
        lost.truncate(most);
        lost
    }

    /// The modes with the methods that were run.
    pub(super) fn keys(&self) -> Vec<(QueryMode, &'static str)> {
        let place = |name: &str| METHODS.iter().position(|method| method.name == name);
        let mut keys: Vec<(QueryMode, &'static str)> = self.rows.keys().copied().collect();
        keys.sort_by_key(|(mode, name)| (*mode, place(name)));
        keys
    }

    pub(super) fn count(&self, mode: QueryMode) -> usize {
        self.rows.get(&(mode, OURS)).map_or(0, Vec::len)
    }

    /// The means of a method in percent, one per column.
    pub(super) fn means(&self, key: (QueryMode, &'static str)) -> Vec<f64> {
        let rows = self.rows.get(&key).map_or(&[][..], Vec::as_slice);
        (0..=self.budgets.len())
            .map(|column| 100.0 * rows.iter().map(|row| row.recalls[column]).sum::<f64>() / rows.len().max(1) as f64)
            .collect()
    }

    /// Ours minus a search, in points: the 95 % bootstrap interval of each column's mean.
    pub(super) fn ahead(&self, mode: QueryMode) -> Vec<(f64, f64)> {
        let (Some(ours), Some(search)) = (self.rows.get(&(mode, OURS)), self.rows.get(&(mode, SEARCH))) else {
            return Vec::new();
        };
        let interval = |column: usize| {
            let pairs = ours.iter().zip(search);
            let differences: Vec<f64> =
                pairs.map(|(ours, other)| 100.0 * (ours.recalls[column] - other.recalls[column])).collect();
            interval(&differences)
        };
        (0..=self.budgets.len()).map(interval).collect()
    }

    /// The recalls of each repository at one column.
    pub(super) fn by_repository(&self, mode: QueryMode, column: usize) -> Vec<RepositoryRecall> {
        let (Some(ours), Some(search)) = (self.rows.get(&(mode, OURS)), self.rows.get(&(mode, SEARCH))) else {
            return Vec::new();
        };
        let mut repositories: BTreeMap<&str, RepositoryRecall> = BTreeMap::new();
        for (ours, other) in ours.iter().zip(search) {
            let sums = repositories.entry(&ours.repo).or_default();
            sums.cases += 1;
            sums.ours += ours.recalls[column];
            sums.search += other.recalls[column];
            sums.lost += usize::from(ours.recalls[column] < other.recalls[column]);
        }
        let percent = |sum: f64, count: usize| 100.0 * sum / count as f64;
        let means = repositories.into_iter().map(|(repo, sums)| RepositoryRecall {
            repo: repo.to_owned(),
            ours: percent(sums.ours, sums.cases),
            search: percent(sums.search, sums.cases),
            ..sums
        });
        means.collect()
    }

    /// Our means at one column over the first, third, … and over the second, fourth, … repository by name.
    pub(super) fn halves(&self, mode: QueryMode, column: usize) -> [f64; 2] {
        let rows = self.rows.get(&(mode, OURS)).map_or(&[][..], Vec::as_slice);
        let repositories: BTreeSet<&str> = rows.iter().map(|row| row.repo.as_str()).collect();
        let place = |repo: &str| repositories.iter().position(|known| *known == repo).unwrap_or(0);
        [0, 1].map(|half| {
            let values: Vec<f64> =
                rows.iter().filter(|row| place(&row.repo) % 2 == half).map(|row| row.recalls[column]).collect();
            100.0 * values.iter().sum::<f64>() / values.len().max(1) as f64
        })
    }

    /// The result of the last case, as progress for the user.
    pub(super) fn last(&self) -> String {
        let last = |mode: QueryMode| {
            let row = self.rows.get(&(mode, OURS)).and_then(|rows| rows.last());
            row.map_or_else(String::new, |row| {
                row.recalls.iter().map(|recall| format!(" {:3.0}", recall * 100.0)).collect()
            })
        };
        QueryMode::ALL.map(last).join(" |")
    }

    /// Whether ours is better than a search in every mode and column.
    pub(super) fn is_ahead(&self) -> bool {
        QueryMode::ALL.iter().all(|&mode| {
            let (ours, search) = (self.means((mode, OURS)), self.means((mode, SEARCH)));
            ours.iter().zip(&search).all(|(ours, search)| ours >= search)
        })
    }
}

/// The 2.5th and 97.5th percentile of resampled means; deterministic.
fn interval(values: &[f64]) -> (f64, f64) {
    let mut state = 0x9e37_79b9_7f4a_7c15u64;
    let mut draw = || {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        values[usize::try_from(state >> 11).unwrap_or(0) % values.len()]
    };
    if values.is_empty() {
        return (0.0, 0.0);
    }
    let mut means: Vec<f64> =
        (0..DRAWS).map(|_| (0..values.len()).map(|_| draw()).sum::<f64>() / values.len() as f64).collect();
    means.sort_by(f64::total_cmp);
    (means[DRAWS / 40], means[DRAWS - 1 - DRAWS / 40])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn intervals_hold_the_mean_and_repeat() {
        let values: Vec<f64> = (0..100).map(f64::from).collect();
        let (low, high) = interval(&values);
        assert!(low > 40.0 && low < 49.5 && high > 49.5 && high < 60.0, "{low} {high}");
        assert_eq!(interval(&values), (low, high));
        assert_eq!(interval(&[]), (0.0, 0.0));
    }
}
