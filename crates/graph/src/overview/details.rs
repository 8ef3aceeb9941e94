//! Spends the rest of the budget on details of the listed files: one name at a time, the most informative name of all files first
//! (see `ranking`).

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use super::OverviewFile;
use super::fit::Fit;
use super::line::{DESCRIBED, FIRST_NAMES, FULL, NAME_ONLY, NO_NAMES, SOME_NAMES};
use super::names::short;

/// Tokens of `, +12`.
const COUNT: u64 = 3;

/// The minimum cost of a detail.
const MIN_COST: u64 = 1;

/// The priority of a file's next detail: nearest to the focus first, then the most informative name.
type Next = (Reverse<u32>, u64, Reverse<u32>);

/// One more detail on the line of a file.
struct Detail {
    /// The level of the file with the detail.
    level: u8,
    /// The number of names shown with the detail.
    names: usize,
    /// In tokens.
    cost: u64,
}

impl Fit<'_> {
    /// Adds details to the files in `order`. Costs of lines are sums over their parts, which is not exact, so the rest of the
    /// budget is computed from the actual text. Adds imports only if every file has a line: readers find imports by the names of
    /// files.
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

    /// Adds names and descriptions while they fit. Returns true if every file has all of them.
    fn add_names(&mut self) -> bool {
        let mut total = self.text_tokens();
        let mut heap: BinaryHeap<Next> = self.order.iter().map(|file| self.next(*file)).collect();
        let mut is_complete = true;
        while let Some((_, _, Reverse(file))) = heap.pop() {
            if total + MIN_COST > self.target {
                return false;
            }
            let Some(Detail { level, names, cost }) = self.next_detail(file) else { continue };
            if total + cost > self.target {
                is_complete = false;
                continue;
            }
            total += cost;
            self.state.levels[file as usize] = level;
            self.state.names[file as usize] = names;
            heap.push(self.next(file));
        }
        is_complete
    }

    fn next(&self, file: u32) -> Next {
        let names = self.names_of(file);
        let next = self.writer.ranked.get(file as usize).and_then(|ranked| ranked.get(names));
        let distance = self.distances.get(file as usize).copied().unwrap_or(0);
        (Reverse(distance), next.map_or(0, |name| name.value), Reverse(file))
    }

    fn names_of(&self, file: u32) -> usize {
        match self.state.level(file) {
            NAME_ONLY => 0,
            _ => self.state.names.get(file as usize).copied().unwrap_or(0),
        }
    }

    /// The next detail of a file; `None` if all are shown.
    fn next_detail(&self, file: u32) -> Option<Detail> {
        let (level, shown) = (self.state.level(file), self.names_of(file));
        let ranked = self.writer.ranked.get(file as usize)?;
        let file = self.writer.input.files.get(file as usize)?;
        if level == NAME_ONLY {
            let first = ranked.first().map_or(0, |name| (self.count)(&format!(" {}", name.text)));
            let rest = if file.exports.len() > 1 { COUNT } else { 0 };
            let cost = (self.count)(&figures(file)) + first + rest;
            return Some(Detail { level: SOME_NAMES, names: ranked.len().min(1), cost });
        }
        if let Some(description) = file.description.as_ref().filter(|_| level != DESCRIBED)
            && (shown == ranked.len() || shown >= FIRST_NAMES)
        {
            let cost = (self.count)(&format!(" # {description}"));
            return Some(Detail { level: DESCRIBED, names: shown, cost });
        }
        let name = ranked.get(shown)?;
        Some(Detail { level, names: shown + 1, cost: (self.count)(&format!(", {}", name.text)) })
    }
}

/// ` 1.2k <3`
fn figures(file: &OverviewFile) -> String {
    let importers = if file.importers > 0 { format!(" <{}", file.importers) } else { String::new() };
    format!(" {}{importers}", short(file.tokens))
}
