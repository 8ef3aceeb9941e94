//! Prunes a focus that is larger than the budget: the lines near the place stay, with the head of the unit and the heads of the
//! blocks around the place. A larger budget shows a superset of the lines.

use std::collections::BTreeSet;

use stan_model::outline::{LineStarts, Lines};

use crate::show::{Shown, lines_only};

/// The maximum number of lines of a head.
const MAX_HEAD_LINES: u32 = 10;

/// The maximum cost of a mark for omitted lines.
const MAX_GAP_COST: u64 = 6;

/// Each step removes about this fraction of the whole text: one part of so many.
const PART: u64 = 64;

/// The steps in which a focus is pruned.
#[derive(Clone, Debug)]
pub struct Pruning {
    range: Lines,
    /// All lines, most important first.
    order: Vec<u32>,
    /// For each step, the number of lines shown and the maximum cost of the text; descending.
    steps: Vec<(usize, u64)>,
}

/// The lines that pruning keeps longest.
#[derive(Clone, Copy, Debug)]
pub struct PrunePoint<'p> {
    pub range: Lines,
    /// The last line of the head of the unit.
    pub head: u32,
    /// Lines that the tool points to. All lines from the first to the last of them are always shown.
    pub lines: &'p [u32],
    /// Lines that use a name which occurs in the failing lines.
    pub wanted: &'p BTreeSet<u32>,
}

impl Pruning {
    /// `count` counts the tokens of a line. The place itself is always shown.
    pub fn new(text: &str, starts: &LineStarts, place: PrunePoint<'_>, count: &dyn Fn(&str) -> u64) -> Self {
        let range = place.range;
        let order = order(text, starts, place);
        let mut shown = BTreeSet::new();
        let mut gaps = 0_u64;
        let mut most_gaps = 0;
        let mut sum = 0;
        let mut costs = Vec::with_capacity(order.len());
        for line in &order {
            // A gap mark is needed before or after the line, unless the neighbouring line is shown.
            let is_edge = |far: Option<u32>| far.is_none_or(|far| !range.contains(far) || shown.contains(&far));
            let open = [line.checked_sub(1), line.checked_add(1)].into_iter().filter(|far| !is_edge(*far)).count();
            gaps = match (shown.is_empty(), open) {
                (true, open) => open as u64,
                (false, 2) => gaps + 1,
                (false, 1) => gaps,
                (false, _) => gaps.saturating_sub(1),
            };
            most_gaps = most_gaps.max(gaps);
            shown.insert(*line);
            sum += count(starts.span(Lines { from: *line, to: *line }, text).of(text)) + 1;
            costs.push(sum + MAX_GAP_COST * most_gaps);
        }
        Self { range, steps: steps(&costs), order }
    }

    /// The maximum cost of each step, descending.
    pub fn costs(&self) -> impl Iterator<Item = u64> {
        self.steps.iter().map(|(_, cost)| *cost)
    }

    /// The text of a step.
    pub fn show(&self, text: &str, starts: &LineStarts, step: usize) -> Shown {
        let count = self.steps.get(step).map_or(1, |(count, _)| *count);
        let lines: BTreeSet<u32> = self.order.iter().take(count).copied().collect();
        lines_only(text, starts, self.range, &lines)
    }
}

/// Keeps only steps that reduce the cost noticeably. The last step shows only the first line.
fn steps(costs: &[u64]) -> Vec<(usize, u64)> {
    let part = costs.last().copied().unwrap_or_default() / PART;
    let mut steps: Vec<(usize, u64)> = Vec::new();
    for (index, cost) in costs.iter().enumerate().rev() {
        let (count, is_last) = (index + 1, index == 0);
        if is_last || steps.last().is_none_or(|(_, last)| cost + part <= *last && cost < last) {
            steps.push((count, *cost));
        }
    }
    steps
}

/// All lines, most important first.
fn order(text: &str, starts: &LineStarts, place: PrunePoint<'_>) -> Vec<u32> {
    let PrunePoint { range, head, lines, wanted } = place;
    let mut order = Vec::new();
    let mut taken = BTreeSet::new();
    let mut take = |line: u32| {
        if taken.insert(line) {
            order.push(line);
        }
    };
    let first = lines.first().copied().unwrap_or(range.from);
    let place = first.clamp(range.from, range.to);
    take(place);
    lines.iter().filter(|line| range.contains(**line)).for_each(|line| take(*line));
    (range.from..=head.min(range.from.saturating_add(MAX_HEAD_LINES - 1)).min(range.to)).for_each(&mut take);
    // Heads of enclosing blocks: going up, each line that is indented less than all lines below it.
    let mut least = indentation(text, starts, place).unwrap_or_default();
    for line in (range.from..place).rev() {
        if let Some(indented) = indentation(text, starts, line)
            && indented < least
        {
            least = indented;
            take(line);
        }
    }
    let length = range.to - range.from;
    let near = |most: u32| (1..=most.min(length)).flat_map(move |far| [place.checked_sub(far), place.checked_add(far)]);
    let inside = |line: &u32| range.contains(*line);
    near(6).flatten().filter(inside).for_each(&mut take);
    near(length).flatten().filter(inside).filter(|line| wanted.contains(line)).for_each(&mut take);
    near(length).flatten().filter(inside).for_each(&mut take);
    order
}

/// The indentation of a line; `None` for a blank one.
fn indentation(text: &str, starts: &LineStarts, line: u32) -> Option<usize> {
    let line = starts.span(Lines { from: line, to: line }, text).of(text);
    let bare = line.trim_start();
    (!bare.is_empty()).then(|| line.len() - bare.len())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_pruning_step_keeps_fewer_lines_around_the_focus() {
        let text: String = (1..=200).map(|line| format!("{}line {line};\n", " ".repeat(line % 7))).collect();
        let starts = LineStarts::new(&text);
        let wanted = BTreeSet::from([90]);
        let place = PrunePoint { range: Lines { from: 1, to: 200 }, head: 2, lines: &[100, 150], wanted: &wanted };
        let count = |text: &str| text.len() as u64;
        let pruning = Pruning::new(&text, &starts, place, &count);
        let costs: Vec<u64> = pruning.costs().collect();
        assert!(costs.is_sorted_by(|one, next| one > next), "{costs:?}");
        let mut before: Option<Shown> = None;
        for (step, cost) in costs.iter().enumerate() {
            let shown = pruning.show(&text, &starts, step);
            let marks = shown.text.lines().filter(|line| line.starts_with('…')).count() as u64;
            let marked: u64 = shown.text.lines().filter(|line| line.starts_with('…')).map(count).sum();
            // The line break of a mark is part of what a mark costs.
            assert!(count(&shown.text) - marked + (MAX_GAP_COST - 1) * marks <= *cost, "step {step}");
            let hides = |shown: &Shown, line: u32| shown.elided.iter().any(|lines| lines.contains(line));
            assert!(!hides(&shown, 100));
            if let Some(before) = before {
                assert!((1..=200).all(|line| hides(&shown, line) || !hides(&before, line)), "step {step}");
            }
            before = Some(shown);
        }
        assert_eq!(pruning.show(&text, &starts, costs.len() - 1).text, "… 99 lines\n  line 100;\n… 100 lines");
    }
}
