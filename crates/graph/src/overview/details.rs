//! What the files that have a line say beside their names, as far as the budget allows. Exported names go to files one by one,
//! by an apportionment: the next name of a file counts the square of its size, divided by the names that it would have. So
//! large files say most, which changes touch most, and no file takes everything.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use super::OverviewFile;
use super::fit::Fit;
use super::line::{DESCRIBED, FIRST_EXPORTS, FULL, NAME_ONLY, NO_NAMES, SOME_EXPORTS};
use super::names::short;

/// Tokens of `, +12`.
const COUNT: u64 = 3;

/// No detail has fewer tokens.
const LEAST: u64 = 1;

/// The file that gets the next detail: nearest to the focus first, then by the apportionment.
type Next = (Reverse<u32>, u128, Reverse<u32>);

impl Fit<'_> {
    /// Gives details to the files in `order`. Lines are counted by their parts, so the rest is given out by what the text has.
    /// Imports only where every file has a line: a reader finds them by the names of files.
    pub(super) fn add_details(&mut self, with_imports: bool) {
        let mut is_complete = self.add_names();
        if !is_complete {
            is_complete = self.add_names();
        }
        if is_complete && with_imports {
            self.costs = self.costs_now();
            let total = self.text_tokens();
            self.refine(total, &[NO_NAMES, FULL]);
        }
    }

    /// Whether every file has all of its names and its description.
    fn add_names(&mut self) -> bool {
        let mut total = self.text_tokens();
        let mut heap: BinaryHeap<Next> = self.order.iter().map(|file| self.next(*file)).collect();
        let mut is_complete = true;
        while let Some((_, _, Reverse(file))) = heap.pop() {
            if total + LEAST > self.target {
                return false;
            }
            let Some((level, exports, cost)) = self.step(file) else { continue };
            if total + cost > self.target {
                is_complete = false;
                continue;
            }
            total += cost;
            self.state.levels[file as usize] = level;
            self.state.exports[file as usize] = exports;
            heap.push(self.next(file));
        }
        is_complete
    }

    fn next(&self, file: u32) -> Next {
        let size = self.writer.input.files.get(file as usize).map_or(0, |file| u128::from(file.size));
        let exports = self.exports_of(file) as u128;
        let distance = self.distances.get(file as usize).copied().unwrap_or(0);
        (Reverse(distance), (size + 1).saturating_mul(size + 1) / (exports + 1), Reverse(file))
    }

    fn exports_of(&self, file: u32) -> usize {
        match self.state.level(file) {
            NAME_ONLY => 0,
            _ => self.state.exports.get(file as usize).copied().unwrap_or(0),
        }
    }

    /// The next detail of a file: its level, how many names it has then, and the tokens of it. `None` when it has all.
    fn step(&self, file: u32) -> Option<(u8, usize, u64)> {
        let (level, exports) = (self.state.level(file), self.exports_of(file));
        let file = self.writer.input.files.get(file as usize)?;
        let all = file.exports.len();
        if level == NAME_ONLY {
            let first = file.exports.first().map_or(0, |(name, _)| (self.count)(&format!(" {name}")));
            let rest = if all > 1 { COUNT } else { 0 };
            return Some((SOME_EXPORTS, all.min(1), (self.count)(&figures(file)) + first + rest));
        }
        if let Some(description) = file.description.as_ref().filter(|_| level != DESCRIBED)
            && (exports == all || exports >= FIRST_EXPORTS)
        {
            return Some((DESCRIBED, exports, (self.count)(&format!(" # {description}"))));
        }
        let (name, _) = file.exports.get(exports)?;
        let cost = (self.count)(&format!(", {name}"));
        // The last name takes the place of the count.
        let counted = if exports + 1 == all { COUNT } else { 0 };
        Some((level, exports + 1, cost.saturating_sub(counted)))
    }
}

/// ` 1.2k <3`
fn figures(file: &OverviewFile) -> String {
    let importers = if file.importers > 0 { format!(" <{}", file.importers) } else { String::new() };
    format!(" {}{importers}", short(file.tokens))
}
