//! How much of each candidate fits into a budget. Candidates are numbers here: a rank and a cost for each level.
//!
//! One fixed sequence of demotions lowers the candidates of the worst rank first, the last of them first, by one level at a
//! time; before that, what is whole only as a spare becomes a signature. A budget takes the shortest beginning of that sequence that fits, so that a larger budget never removes a
//! candidate and never lowers a level.

/// How much of a unit is shown.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Level {
    Omitted,
    Line,
    Signature,
    Full,
}

impl Level {
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Omitted => "omitted",
            Self::Line => "line",
            Self::Signature => "signature",
            Self::Full => "full",
        }
    }

    fn lower(self) -> Self {
        match self {
            Self::Full => Self::Signature,
            Self::Signature => Self::Line,
            Self::Line | Self::Omitted => Self::Omitted,
        }
    }
}

/// What a candidate costs at each level, and how much of it is wanted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Costs {
    /// 0 is never lowered.
    pub rank: u8,
    pub wanted: Level,
    pub full: u64,
    pub signature: u64,
    pub line: u64,
    /// Shown whole only while nothing else of its rank has to be lowered for it.
    pub is_spare: bool,
}

impl Costs {
    /// Never more than at a higher level, so that lowering never costs.
    pub fn at(&self, level: Level) -> u64 {
        match level {
            Level::Omitted => 0,
            Level::Line => self.line.min(self.signature).min(self.full),
            Level::Signature => self.signature.min(self.full),
            Level::Full => self.full,
        }
    }
}

/// The level of each candidate.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Fitted {
    pub levels: Vec<Level>,
    pub before: u64,
    pub after: u64,
    /// Candidates that are shown below the level that was wanted.
    pub demoted: u64,
    /// Candidates that are not shown although they were wanted.
    pub dropped: u64,
}

/// Lowers candidates until they fit. They are in order of importance within a rank. Without a budget nothing is lowered.
pub fn fit(candidates: &[Costs], budget: Option<u64>) -> Fitted {
    let mut levels: Vec<Level> = candidates.iter().map(|one| one.wanted).collect();
    let before = candidates.iter().fold(0_u64, |sum, one| sum.saturating_add(one.at(one.wanted)));
    let mut total = before;
    let budget = budget.unwrap_or(u64::MAX);
    let worst = candidates.iter().map(|one| one.rank).max().unwrap_or_default();
    for rank in (1..=worst).rev() {
        let of_rank: Vec<usize> = (0..candidates.len()).rev().filter(|at| candidates[*at].rank == rank).collect();
        for round in 0..4 {
            for at in &of_rank {
                let is_turn = round > 0 || (candidates[*at].is_spare && levels[*at] == Level::Full);
                if !is_turn {
                    continue;
                }
                if total <= budget {
                    return fitted(candidates, levels, before, total);
                }
                let lower = levels[*at].lower();
                total = total - candidates[*at].at(levels[*at]) + candidates[*at].at(lower);
                levels[*at] = lower;
            }
        }
    }
    fitted(candidates, levels, before, total)
}

fn fitted(candidates: &[Costs], levels: Vec<Level>, before: u64, after: u64) -> Fitted {
    let pairs = || candidates.iter().zip(&levels).filter(|(one, level)| **level < one.wanted);
    let dropped = pairs().filter(|(_, level)| **level == Level::Omitted).count() as u64;
    let demoted = pairs().count() as u64 - dropped;
    Fitted { levels, before, after, demoted, dropped }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn costs(rank: u8, wanted: Level) -> Costs {
        Costs { rank, wanted, full: 100, signature: 40, line: 10, is_spare: false }
    }

    #[test]
    fn the_worst_rank_goes_first_and_its_last_candidate_first() {
        let all =
            [costs(0, Level::Full), costs(2, Level::Full), costs(3, Level::Signature), costs(3, Level::Signature)];
        let levels = |budget| fit(&all, budget).levels;
        assert_eq!(levels(None), [Level::Full, Level::Full, Level::Signature, Level::Signature]);
        assert_eq!(levels(Some(250)), [Level::Full, Level::Full, Level::Signature, Level::Line]);
        assert_eq!(levels(Some(220)), [Level::Full, Level::Full, Level::Line, Level::Line]);
        assert_eq!(levels(Some(210)), [Level::Full, Level::Full, Level::Line, Level::Omitted]);
        assert_eq!(levels(Some(140)), [Level::Full, Level::Signature, Level::Omitted, Level::Omitted]);
        assert_eq!(levels(Some(1)), [Level::Full, Level::Omitted, Level::Omitted, Level::Omitted]);
    }

    #[test]
    fn a_spare_whole_becomes_a_signature_before_a_signature_becomes_a_line() {
        let spare = |wanted| Costs { is_spare: true, ..costs(2, wanted) };
        let all = [costs(2, Level::Full), spare(Level::Full), spare(Level::Full), costs(2, Level::Signature)];
        let levels = |budget| fit(&all, Some(budget)).levels;
        assert_eq!(levels(340), [Level::Full, Level::Full, Level::Full, Level::Signature]);
        assert_eq!(levels(280), [Level::Full, Level::Full, Level::Signature, Level::Signature]);
        assert_eq!(levels(220), [Level::Full, Level::Signature, Level::Signature, Level::Signature]);
        assert_eq!(levels(219), [Level::Full, Level::Signature, Level::Signature, Level::Line]);
    }

    fn candidates() -> impl Strategy<Value = Vec<Costs>> {
        let one = (0..6_u8, 0..4_u8, 0..500_u64, 0..500_u64, 0..50_u64, any::<bool>()).prop_map(
            |(rank, wanted, full, signature, line, is_spare)| {
                let wanted = [Level::Omitted, Level::Line, Level::Signature, Level::Full][usize::from(wanted)];
                Costs { rank, wanted, full, signature, line, is_spare }
            },
        );
        proptest::collection::vec(one, 0..40)
    }

    proptest! {
        #[test]
        fn a_larger_budget_never_lowers_a_level(all in candidates(), small in 0..8_000_u64, more in 0..4_000_u64) {
            let (less, more) = (fit(&all, Some(small)), fit(&all, Some(small + more)));
            for (less, more) in less.levels.iter().zip(&more.levels) {
                prop_assert!(less <= more);
            }
        }

        #[test]
        fn what_can_be_lowered_fits(all in candidates(), budget in 0..8_000_u64) {
            let fitted = fit(&all, Some(budget));
            let kept: u64 = all.iter().zip(&fitted.levels).map(|(one, level)| one.at(*level)).sum();
            prop_assert_eq!(kept, fitted.after);
            let fixed: u64 = all.iter().filter(|one| one.rank == 0).map(|one| one.at(one.wanted)).sum();
            prop_assert!(fitted.after <= budget.max(fixed));
        }
    }
}
