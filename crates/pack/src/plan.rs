//! Decides how much of each candidate fits into a budget. A candidate is only numbers here: a rank and a cost for each level.
//!
//! A fixed sequence of steps reduces the candidates, the least important first. The sequence does not depend on the budget; a
//! budget applies the shortest prefix of it that fits. So a larger budget never removes a candidate, never lowers a level and
//! never hides a line of the focus. The order is in `docs/decisions/0060-ladder.md`.

use std::collections::BinaryHeap;

/// How much of a unit is shown. The document calls `Open`, `Signature` and `Head` a signature: with all members, with only the
/// used members, and with only the lines that name the unit and these members.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Level {
    Omitted,
    Line,
    Head,
    Signature,
    Open,
    Full,
}

impl Level {
    /// The name of the level in the document.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Omitted => "omitted",
            Self::Line => "line",
            Self::Head | Self::Signature | Self::Open => "signature",
            Self::Full => "full",
        }
    }
}

/// The cost of a candidate at each level, `u64::MAX` if it does not have the level, and the level at which it should be shown.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Costs {
    /// Twice the rank of a declaration; 7 for files.
    pub turn: u8,
    pub wanted: Level,
    pub full: u64,
    pub open: u64,
    pub signature: u64,
    pub head: u64,
    pub line: u64,
    /// A file that is shown whole only if no other file must be lowered for it.
    pub is_spare: bool,
}

impl Costs {
    fn of(&self, level: Level) -> u64 {
        match level {
            Level::Omitted => 0,
            Level::Line => self.line,
            Level::Head => self.head,
            Level::Signature => self.signature,
            Level::Open => self.open,
            Level::Full => self.full,
        }
    }

    /// The highest level that costs no more than `level`; it is shown instead, because it says more for the same cost.
    pub fn shown(&self, level: Level) -> Level {
        let all = [Level::Full, Level::Open, Level::Signature, Level::Head, Level::Line];
        let above = all.into_iter().filter(|one| *one >= level && level > Level::Omitted);
        // Levels are tried from the highest to the lowest, and of equal costs `min_by_key` takes the first.
        above.min_by_key(|one| self.of(*one)).unwrap_or(level)
    }

    /// The cost at a level. Never more than at a higher level, so that lowering never increases the total.
    pub fn at(&self, level: Level) -> u64 {
        self.of(self.shown(level))
    }
}

/// How much of each focus and each candidate is shown.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Fitted {
    /// For each focus, the index of its step; the number of its steps if it is left out.
    pub focus: Vec<usize>,
    /// For each candidate, its level.
    pub levels: Vec<Level>,
    pub before: u64,
    pub after: u64,
    /// The number of candidates shown below their wanted level.
    pub demoted: u64,
    /// The number of candidates left out.
    pub dropped: u64,
}

/// The turn of files: between the declarations of ranks 3 and 4.
const FILES_TURN: u8 = 7;
/// The number of ranked files that keep at least their names while passages are shown.
const NAMED_FILES: usize = 12;
/// Signatures that cost more than this are reduced to their heads before other declarations are left out.
const MAX_EARLY_SIGNATURE: u64 = 150;

/// Unused members that cost more than this are dropped before any declaration is: a class with a hundred methods would otherwise
/// push out everything of lower rank, and leave the budget unused when it is lowered itself.
const MAX_UNUSED_MEMBERS: u64 = 300;

/// Lowers candidates until they fit. `focus` has the costs of each focus, from the whole text to the least that can be shown; the
/// first focus is never left out. `others` are in order of importance within a rank. Without a budget, nothing is lowered.
pub fn fit(focus: &[Vec<u64>], others: &[Costs], budget: Option<u64>) -> Fitted {
    let mut state = PlanState::new(focus, others);
    let before = state.total();
    let budget = budget.unwrap_or(u64::MAX);
    let (far, near) = sequence(others);
    for (index, level) in far {
        if state.total() <= budget {
            break;
        }
        state.lower(index, level);
    }
    let mut near = near.into_iter();
    while state.total() > budget {
        // A large focus leaves about half of the budget to the declarations that explain it.
        if state.focus > state.others && state.prune() {
            continue;
        }
        match near.next() {
            Some((index, level)) => state.lower(index, level),
            None if state.prune() => {}
            None => break,
        }
    }
    for index in (1..focus.len()).rev() {
        if state.total() > budget {
            state.drop(index);
        }
    }
    state.raise_files(budget);
    state.fitted(before)
}

/// A step: the index of a candidate, and the level that it is lowered to.
type Lowering = (usize, Level);

/// The steps for ranks 4 and 5, which come before any reduction of the focus, and the other steps, which alternate with those of
/// the focus.
fn sequence(all: &[Costs]) -> (Vec<Lowering>, Vec<Lowering>) {
    let of_turn = |turn: u8| (0..all.len()).rev().filter(move |at| all.get(*at).is_some_and(|one| one.turn == turn));
    let to = |turn: u8, level: Level| of_turn(turn).map(move |at| (at, level));
    // A head says more than a line for about the same cost, so only long heads become lines.
    let leave = |turn: u8| {
        let is_long = move |at: &usize| all.get(*at).is_some_and(|one| one.at(Level::Head) > 2 * one.line);
        let lines = of_turn(turn).filter(is_long).map(|at| (at, Level::Line));
        lines.chain(to(turn, Level::Omitted))
    };
    let signatures = |turn: u8| to(turn, Level::Open).chain(to(turn, Level::Signature));
    let worst = all.iter().map(|one| one.turn).max().unwrap_or_default();
    let is_bulky = |at: &usize| {
        all.get(*at).is_some_and(|one| {
            one.wanted == Level::Open && one.at(Level::Open) - one.at(Level::Signature) > MAX_UNUSED_MEMBERS
        })
    };
    let declarations = (1..=worst).rev().filter(|turn| *turn != FILES_TURN);
    let mut far: Vec<Lowering> =
        declarations.flat_map(|turn| of_turn(turn).filter(is_bulky)).map(|at| (at, Level::Signature)).collect();
    for turn in (FILES_TURN + 1..=worst).rev() {
        far.extend(signatures(turn).chain(to(turn, Level::Head)).chain(leave(turn)));
    }
    let mut near: Vec<Lowering> = Vec::new();
    let is_spare = |at: &usize| all.get(*at).is_some_and(|one| one.is_spare && one.wanted == Level::Full);
    let is_open = |at: &usize| all.get(*at).is_some_and(|one| one.open < u64::MAX);
    let least = |at: usize| if is_open(&at) { Level::Open } else { Level::Signature };
    near.extend(of_turn(FILES_TURN).filter(is_spare).map(|at| (at, least(at))));
    // Lowers all files by one level before any by the next, so that the first files are still whole when the last ones are gone.
    // Files with passages of the text keep them longer than other files keep their signatures.
    for steps in 1..=3 {
        let lower = |at: usize| all.get(at).map(|one| (at, lowered_file(one.wanted, steps)));
        let others = |at: &usize| steps == 3 || !is_open(at);
        near.extend(of_turn(FILES_TURN).filter(others).filter_map(lower));
        if steps == 2 {
            // Names of the last files are dropped before passages: forty names say less than the code that the text is about.
            let count = of_turn(FILES_TURN).count();
            if of_turn(FILES_TURN).any(|at| is_open(&at)) {
                let last = of_turn(FILES_TURN).take(count.saturating_sub(NAMED_FILES));
                near.extend(last.filter(|at| !is_open(at)).map(|at| (at, Level::Omitted)));
            }
            // Then one file after the other, so that the first files still show code when the last ones are only names.
            near.extend(of_turn(FILES_TURN).filter(is_open).map(|at| (at, Level::Open)));
            // Passages are dropped last, after the signatures around them: they are what the text is about.
            let rest = |at: usize| [(at, Level::Signature), (at, Level::Head)];
            near.extend(of_turn(FILES_TURN).filter(is_open).flat_map(rest));
            near.extend(of_turn(FILES_TURN).filter(is_open).map(|at| (at, Level::Line)));
        }
    }
    near.extend(signatures(6).chain(to(6, Level::Head)));
    near.extend(signatures(4).chain(signatures(2)));
    let is_large = |at: &usize| all.get(*at).is_some_and(|one| one.at(Level::Signature) > MAX_EARLY_SIGNATURE);
    near.extend([4, 2].into_iter().flat_map(|turn| of_turn(turn).filter(is_large)).map(|at| (at, Level::Head)));
    for turn in [6, 5, 4, 3, 2, 1] {
        near.extend(to(turn, Level::Head).chain(leave(turn)));
    }
    near.extend(to(0, Level::Omitted));
    (far, near)
}

fn lowered_file(wanted: Level, steps: usize) -> Level {
    const LADDER: [Level; 4] = [Level::Full, Level::Signature, Level::Line, Level::Omitted];
    let at = LADDER.iter().position(|level| *level <= wanted).unwrap_or(LADDER.len());
    LADDER.get(at + steps).copied().unwrap_or(Level::Omitted)
}

struct PlanState<'s> {
    costs: &'s [Vec<u64>],
    candidates: &'s [Costs],
    steps: Vec<usize>,
    levels: Vec<Level>,
    focus: u64,
    others: u64,
    /// Focuses that can be pruned, by their current cost.
    largest: BinaryHeap<(u64, usize)>,
}

impl<'s> PlanState<'s> {
    fn new(costs: &'s [Vec<u64>], candidates: &'s [Costs]) -> Self {
        let first = |all: &Vec<u64>| all.first().copied().unwrap_or_default();
        Self {
            costs,
            candidates,
            steps: vec![0; costs.len()],
            levels: candidates.iter().map(|one| one.wanted).collect(),
            focus: costs.iter().map(first).fold(0, u64::saturating_add),
            others: candidates.iter().fold(0, |sum, one| sum.saturating_add(one.at(one.wanted))),
            largest: costs.iter().enumerate().map(|(index, all)| (first(all), index)).collect(),
        }
    }

    fn total(&self) -> u64 {
        self.focus.saturating_add(self.others)
    }

    fn lower(&mut self, index: usize, to: Level) {
        let (Some(level), Some(costs)) = (self.levels.get_mut(index), self.candidates.get(index)) else { return };
        if to < *level {
            self.others = self.others - costs.at(*level) + costs.at(to);
            *level = to;
        }
    }

    /// Spends the rest of the budget on files, the first ones first, and on passages before signatures. So a larger budget may
    /// replace small files by a large one; declarations are not affected.
    fn raise_files(&mut self, budget: u64) {
        self.raise(budget, &[Level::Head], |costs| costs.open < u64::MAX);
        self.raise(budget, &[Level::Full, Level::Open], |costs| costs.open < u64::MAX);
        self.raise(budget, &[Level::Full, Level::Open, Level::Signature, Level::Head, Level::Line], |_| true);
    }

    fn raise(&mut self, budget: u64, levels: &[Level], is_meant: impl Fn(&Costs) -> bool) {
        let mut left = budget.saturating_sub(self.total());
        let files = self.candidates.iter().zip(&mut self.levels).filter(|(costs, _)| costs.turn == FILES_TURN);
        for (costs, level) in files.filter(|(costs, _)| is_meant(costs)) {
            let better = levels.iter().copied().filter(|one| *one <= costs.wanted && *one > *level);
            let now = costs.at(*level);
            if let Some(better) = better.into_iter().find(|one| costs.at(*one) - now <= left) {
                left -= costs.at(better) - now;
                self.others += costs.at(better) - now;
                *level = better;
            }
        }
    }

    /// Reduces the largest focus by one step. Returns false if none can be reduced.
    fn prune(&mut self) -> bool {
        while let Some((cost, index)) = self.largest.pop() {
            let (Some(step), Some(all)) = (self.steps.get_mut(index), self.costs.get(index)) else { continue };
            if let Some(next) = all.get(*step + 1) {
                *step += 1;
                self.focus = self.focus - cost + next;
                self.largest.push((*next, index));
                return true;
            }
        }
        false
    }

    fn drop(&mut self, index: usize) {
        let (Some(step), Some(all)) = (self.steps.get_mut(index), self.costs.get(index)) else { return };
        self.focus -= all.get(*step).copied().unwrap_or_default();
        *step = all.len();
    }

    fn fitted(self, before: u64) -> Fitted {
        let after = self.total();
        let pairs = || self.candidates.iter().zip(&self.levels).filter(|(one, level)| **level < one.wanted);
        let lowered = pairs().filter(|(one, level)| one.shown(**level) < one.shown(one.wanted)).count();
        let left_out = pairs().filter(|(_, level)| **level == Level::Omitted).count();
        let gone = self.costs.iter().zip(&self.steps).filter(|(all, step)| **step > 0 && **step == all.len()).count();
        let pruned = self.steps.iter().filter(|step| **step > 0).count() - gone;
        let (demoted, dropped) = ((lowered - left_out + pruned) as u64, (left_out + gone) as u64);
        Fitted { focus: self.steps, levels: self.levels, before, after, demoted, dropped }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn costs(rank: u8, wanted: Level) -> Costs {
        Costs { turn: 2 * rank, wanted, full: 100, open: 60, signature: 40, head: 25, line: 20, is_spare: false }
    }

    #[test]
    fn the_least_important_declarations_are_reduced_first() {
        use Level::{Full, Head, Line, Omitted, Signature};
        let all = [costs(2, Full), costs(3, Signature), costs(3, Signature), costs(5, Line)];
        let fitted = |budget| fit(&[vec![100, 60, 30]], &all, budget);
        let shown = |budget| (fitted(budget).focus[0], fitted(budget).levels);
        assert_eq!(shown(None), (0, vec![Full, Signature, Signature, Line]));
        assert_eq!(shown(Some(299)), (0, vec![Full, Signature, Signature, Omitted]));
        assert_eq!(shown(Some(270)), (0, vec![Full, Signature, Head, Omitted]));
        assert_eq!(shown(Some(250)), (0, vec![Full, Head, Head, Omitted]));
        assert_eq!(shown(Some(190)), (0, vec![Signature, Head, Head, Omitted]));
        assert_eq!(shown(Some(150)), (1, vec![Signature, Head, Head, Omitted]), "the focus takes turns");
        assert_eq!(shown(Some(80)), (2, vec![Signature, Omitted, Omitted, Omitted]));
        assert_eq!(shown(Some(1)), (2, vec![Omitted; 4]), "the focus never goes");
        assert_eq!(fit(&[vec![30], vec![30]], &[], Some(40)).focus, [0, 1], "but the second of two does");
    }

    #[test]
    fn unused_members_of_a_large_class_go_before_other_declarations() {
        use Level::{Head, Line, Omitted, Open, Signature};
        let class = Costs { open: 1_000, full: u64::MAX, ..costs(2, Open) };
        let all = [class, costs(3, Signature), costs(5, Line)];
        let levels = |budget| fit(&[vec![100]], &all, Some(budget)).levels;
        assert_eq!(levels(1_160), [Open, Signature, Line]);
        assert_eq!(levels(1_159), [Signature, Signature, Line]);
        assert_eq!(levels(199), [Signature, Signature, Omitted]);
        assert_eq!(levels(170), [Signature, Head, Omitted]);
    }

    #[test]
    fn the_first_files_are_shown_best_and_the_budget_is_used() {
        use Level::{Full, Line, Omitted, Signature};
        let file = |wanted: Level, full: u64| Costs {
            turn: FILES_TURN,
            wanted,
            full,
            open: u64::MAX,
            signature: full / 2,
            head: u64::MAX,
            line: 20,
            is_spare: false,
        };
        let all = [file(Full, 1_000), file(Full, 400), file(Signature, 400), file(Line, 400)];
        let levels = |budget| fit(&[], &all, Some(budget)).levels;
        assert_eq!(levels(1_620), [Full, Full, Signature, Line]);
        assert_eq!(levels(1_420), [Full, Full, Line, Omitted]);
        assert_eq!(levels(800), [Signature, Signature, Line, Line], "what is left is used");
        assert_eq!(levels(90), [Line, Line, Line, Line]);
    }

    #[test]
    fn a_spare_whole_file_becomes_a_signature_before_another_becomes_a_line() {
        use Level::{Full, Line, Signature};
        let file = |wanted: Level, is_spare: bool| Costs {
            turn: FILES_TURN,
            wanted,
            is_spare,
            open: u64::MAX,
            head: u64::MAX,
            ..costs(0, wanted)
        };
        let all = [file(Full, false), file(Full, true), file(Full, true), file(Signature, false)];
        let levels = |budget| fit(&[], &all, Some(budget)).levels;
        assert_eq!(levels(340), [Full, Full, Full, Signature]);
        assert_eq!(levels(280), [Full, Full, Signature, Signature]);
        assert_eq!(levels(220), [Full, Signature, Signature, Signature]);
        assert_eq!(levels(219), [Full, Signature, Signature, Line]);
    }

    #[test]
    fn passages_of_the_first_files_outlast_the_signatures_of_the_others() {
        use Level::{Full, Line, Open, Signature};
        let first = Costs { turn: FILES_TURN, is_spare: true, ..costs(0, Full) };
        let other = Costs { open: u64::MAX, ..first };
        let levels = |budget| fit(&[], &[first, first, other, other], Some(budget)).levels;
        assert_eq!(levels(400), [Full, Full, Full, Full]);
        assert_eq!(levels(200), [Open, Open, Signature, Signature]);
        assert_eq!(levels(160), [Open, Open, Line, Line]);
        assert_eq!(levels(140), [Open, Signature, Line, Line]);
        assert_eq!(levels(80), [Line, Line, Line, Line]);
    }

    #[test]
    fn passages_alone_outlast_the_signatures_around_them() {
        use Level::{Full, Head, Line, Open, Signature};
        let file = Costs {
            turn: FILES_TURN,
            is_spare: true,
            full: 900,
            open: 600,
            signature: 500,
            head: 100,
            line: 10,
            wanted: Full,
        };
        let levels = |budget| fit(&[], &[file; 3], Some(budget)).levels;
        assert_eq!(levels(1_800), [Open, Open, Open]);
        assert_eq!(levels(1_700), [Open, Open, Signature]);
        assert_eq!(levels(1_300), [Open, Open, Head]);
        assert_eq!(levels(300), [Head, Head, Head]);
        assert_eq!(levels(299), [Head, Head, Line]);
    }

    #[test]
    fn the_names_of_the_last_files_go_before_passages() {
        use Level::{Full, Line, Omitted, Open};
        let first = Costs { turn: FILES_TURN, is_spare: true, ..costs(0, Full) };
        let other = Costs { open: u64::MAX, ..first };
        let all: Vec<Costs> = [vec![first; 2], vec![other; 40]].concat();
        let names = first.at(Line);
        let levels = fit(&[], &all, Some(2 * first.at(Open) + 10 * names)).levels;
        assert_eq!(levels[..12], [vec![Open; 2], vec![Line; 10]].concat());
        assert_eq!(levels[12..], vec![Omitted; 30]);
    }

    fn candidates() -> impl Strategy<Value = Vec<Costs>> {
        let one = (1..=10_u8, 0..6_u8, proptest::array::uniform5(0..500_u64), any::<bool>()).prop_map(
            |(turn, wanted, costs, is_spare)| {
                let all = [Level::Omitted, Level::Line, Level::Head, Level::Signature, Level::Open, Level::Full];
                let [full, open, signature, head, line] = costs;
                Costs { turn, wanted: all[usize::from(wanted)], full, open, signature, head, line, is_spare }
            },
        );
        proptest::collection::vec(one, 0..40)
    }

    fn focuses() -> impl Strategy<Value = Vec<Vec<u64>>> {
        let one = proptest::collection::vec(0..800_u64, 1..12).prop_map(|mut all| {
            all.sort_unstable_by_key(|cost| std::cmp::Reverse(*cost));
            all
        });
        proptest::collection::vec(one, 0..4)
    }

    proptest! {
        #[test]
        fn a_larger_budget_never_lowers_a_level(
            focus in focuses(), all in candidates(), small in 0..8_000_u64, more in 0..4_000_u64
        ) {
            let (less, more) = (fit(&focus, &all, Some(small)), fit(&focus, &all, Some(small + more)));
            for ((less, more), one) in less.levels.iter().zip(&more.levels).zip(&all) {
                prop_assert!(less <= more || one.turn == FILES_TURN);
            }
            for (less, more) in less.focus.iter().zip(&more.focus) {
                prop_assert!(less >= more);
            }
        }

        #[test]
        fn plans_fit_if_the_smallest_one_does(focus in focuses(), all in candidates(), budget in 0..8_000_u64) {
            let fitted = fit(&focus, &all, Some(budget));
            let kept: u64 = all.iter().zip(&fitted.levels).map(|(one, level)| one.at(*level)).sum();
            let focused: u64 = focus.iter().zip(&fitted.focus).map(|(all, at)| all.get(*at).copied().unwrap_or(0)).sum();
            prop_assert_eq!(kept + focused, fitted.after);
            let least = focus.first().and_then(|all| all.last()).copied().unwrap_or(0);
            prop_assert!(fitted.after <= budget.max(least));
        }
    }
}
