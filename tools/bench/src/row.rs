//! The rows of each corpus: one per command, and how its runs are summarised.

use std::time::Duration;

use super::edit::Change;
use super::process::{ProcessOutcome, Usage};

/// A measured command, in the order of the report.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(super) enum Row {
    LimitCold,
    LimitWarm,
    LimitWrite,
    Cold,
    ColdJson,
    ColdWritesCache,
    Warm,
    WarmJson,
    EditImport,
    EditComment,
    RevDep,
    RevDepJson,
    DependencyCruiser,
    Madge,
}

impl Row {
    pub(super) const ALL: [Row; 14] = [
        Row::LimitCold,
        Row::LimitWarm,
        Row::LimitWrite,
        Row::Cold,
        Row::ColdJson,
        Row::ColdWritesCache,
        Row::Warm,
        Row::WarmJson,
        Row::EditImport,
        Row::EditComment,
        Row::RevDep,
        Row::RevDepJson,
        Row::DependencyCruiser,
        Row::Madge,
    ];

    /// The key in JSON.
    pub(super) fn key(self) -> &'static str {
        match self {
            Row::LimitCold => "limit-cold",
            Row::LimitWarm => "limit-warm",
            Row::LimitWrite => "limit-write",
            Row::Cold => "cold",
            Row::ColdJson => "cold-json",
            Row::ColdWritesCache => "cold-writes-cache",
            Row::Warm => "warm",
            Row::WarmJson => "warm-json",
            Row::EditImport => "edit-import",
            Row::EditComment => "edit-comment",
            Row::RevDep => "rev-dep",
            Row::RevDepJson => "rev-dep-json",
            Row::DependencyCruiser => "dependency-cruiser",
            Row::Madge => "madge",
        }
    }

    /// The label in the tables.
    pub(super) fn label(self) -> &'static str {
        match self {
            Row::LimitCold => "limit: walk + read + SHA-256 + parse",
            Row::LimitWarm => "limit: stat of every file and folder",
            Row::LimitWrite => "limit: write the JSON's bytes",
            Row::Cold => "stan, cold (`--stats --no-cache`)",
            Row::ColdJson => "stan, cold (`--json --no-cache`)",
            Row::ColdWritesCache => "stan, cold, writes its cache (`--stats`)",
            Row::Warm => "stan, warm, nothing changed (`--stats`)",
            Row::WarmJson => "stan, warm, nothing changed (`--json`)",
            Row::EditImport => "stan, warm, one import + export added (`--stats`)",
            Row::EditComment => "stan, warm, one comment added (`--stats`)",
            Row::RevDep => "rev-dep (`entry-points --count`)",
            Row::RevDepJson => "rev-dep (`debug get-tree-for-cwd`)",
            Row::DependencyCruiser => "dependency-cruiser (JSON)",
            Row::Madge => "madge (JSON)",
        }
    }

    pub(super) fn change(self) -> Option<Change> {
        match self {
            Row::EditImport => Some(Change::Import),
            Row::EditComment => Some(Change::Comment),
            _ => None,
        }
    }

    /// Whether it measures the product and not a limit or a peer.
    pub(super) fn is_ours(self) -> bool {
        self.label().starts_with("stan")
    }

    /// Programs that take seconds are run once: their ratios need no second digit.
    pub(super) fn is_slow(self) -> bool {
        matches!(self, Row::DependencyCruiser | Row::Madge)
    }
}

/// All runs of one row.
#[derive(Default)]
pub(super) struct Runs {
    pub(super) outcomes: Vec<ProcessOutcome>,
}

/// The summary of one row.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Summary {
    /// Median times and maximum peak memory.
    Done(Usage),
    /// At least this long.
    TimedOut(Usage),
    Failed(String),
}

impl Runs {
    /// `None` if the row was not run. If one run failed, the row failed: its times would be meaningless.
    pub(super) fn summary(&self) -> Option<Summary> {
        let mut usages = Vec::new();
        for outcome in &self.outcomes {
            match outcome {
                ProcessOutcome::Failed(why) => return Some(Summary::Failed(why.clone())),
                ProcessOutcome::TimedOut(usage) => return Some(Summary::TimedOut(*usage)),
                ProcessOutcome::Done(usage) => usages.push(*usage),
            }
        }
        Some(Summary::Done(Usage {
            wall: median(usages.iter().map(|usage| usage.wall))?,
            cpu: median(usages.iter().map(|usage| usage.cpu))?,
            peak_bytes: usages.iter().map(|usage| usage.peak_bytes).max()?,
        }))
    }
}

fn median(durations: impl Iterator<Item = Duration>) -> Option<Duration> {
    let mut sorted: Vec<Duration> = durations.collect();
    sorted.sort();
    let middle = sorted.get(sorted.len() / 2).copied()?;
    if sorted.len() % 2 == 1 {
        return Some(middle);
    }
    Some((sorted.get(sorted.len() / 2 - 1).copied()? + middle) / 2)
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::{ProcessOutcome, Row, Runs, Summary, Usage, median};

    fn usage(millis: u64) -> Usage {
        Usage { wall: Duration::from_millis(millis), cpu: Duration::from_millis(2 * millis), peak_bytes: 10 * millis }
    }

    #[test]
    fn the_median_of_an_even_count_is_the_mean_of_two() {
        for (input, expected) in
            [(vec![], None), (vec![3], Some(3)), (vec![9, 1, 2], Some(2)), (vec![4, 1, 2, 8], Some(3))]
        {
            let millis = |values: Vec<u64>| values.into_iter().map(Duration::from_millis);
            assert_eq!(median(millis(input.clone())), expected.map(Duration::from_millis), "{input:?}");
        }
    }

    #[test]
    fn runs_are_summed_up() {
        let done = |millis| ProcessOutcome::Done(usage(millis));
        let check = |outcomes: Vec<ProcessOutcome>, expected: Option<Summary>| {
            assert_eq!(Runs { outcomes }.summary(), expected)
        };
        check(vec![], None);
        check(vec![done(3), done(1), done(2)], Some(Summary::Done(Usage { peak_bytes: 30, ..usage(2) })));
        check(vec![done(3), ProcessOutcome::Failed("why".into())], Some(Summary::Failed("why".into())));
        check(vec![ProcessOutcome::TimedOut(usage(5))], Some(Summary::TimedOut(usage(5))));
    }

    #[test]
    fn rows_have_their_own_keys() {
        let mut keys: Vec<&str> = Row::ALL.iter().map(|row| row.key()).collect();
        keys.sort_unstable();
        keys.dedup();
        assert_eq!(keys.len(), Row::ALL.len());
    }
}
