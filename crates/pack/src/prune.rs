//! A focus that is larger than the budget: the lines near the place stay, with the head of the unit and of the blocks
//! around the place. A larger budget shows a superset of the lines.

use std::collections::BTreeSet;

use stan_model::outline::{LineStarts, Lines};

use crate::show::{Shown, lines_only};

/// The most lines that a head keeps.
const MOST_HEAD: u32 = 10;

/// Shows as many lines of `range` as fit. `head` is the last line of the head; `wanted` are lines that use a name of the
/// failing ones. `fits` says whether a text is small enough. The place itself is always shown.
pub fn prune(
    text: &str,
    starts: &LineStarts,
    range: Lines,
    (head, place): (u32, u32),
    wanted: &BTreeSet<u32>,
    fits: &dyn Fn(&str) -> bool,
) -> Shown {
    let order = order(text, starts, range, (head, place), wanted);
    let show = |count: usize| {
        let lines: BTreeSet<u32> = order.iter().take(count).copied().collect();
        lines_only(text, starts, range, &lines)
    };
    let (mut low, mut high) = (1, order.len());
    while low < high {
        let middle = low + (high - low).div_ceil(2);
        if fits(&show(middle).text) { low = middle } else { high = middle - 1 }
    }
    show(low)
}

/// All lines, the most important first.
fn order(text: &str, starts: &LineStarts, range: Lines, (head, place): (u32, u32), wanted: &BTreeSet<u32>) -> Vec<u32> {
    let place = place.clamp(range.from, range.to);
    let mut order = vec![place];
    let mut taken: BTreeSet<u32> = order.iter().copied().collect();
    let mut take = |line: u32| {
        if taken.insert(line) {
            order.push(line);
        }
    };
    (range.from..=head.min(range.from.saturating_add(MOST_HEAD - 1)).min(range.to)).for_each(&mut take);
    // Block heads: going up, every line that is indented less than all below it.
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

/// White space before the text of a line; `None` for a blank one.
fn indentation(text: &str, starts: &LineStarts, line: u32) -> Option<usize> {
    let line = starts.span(Lines { from: line, to: line }, text).of(text);
    let bare = line.trim_start();
    (!bare.is_empty()).then(|| line.len() - bare.len())
}
