//! Scans a text in chunks, and assigns line numbers to hits.

use std::ops::Range;

use crate::{Hit, MAX_HITS, assignment, nearby, prefixes, runs, urls};

/// How many bytes before a run a rule may inspect.
const BEHIND: usize = 512;

/// How many bytes after the start of a run a rule may inspect.
const AHEAD: usize = 16 << 10;

/// Scans a text that is not in memory as a whole.
#[derive(Debug, Default)]
pub struct Stream {
    /// The last bytes received, as context for the rules.
    window: Vec<u8>,
    /// The offset in the window of the first byte that has not been scanned.
    fresh: usize,
    lines: LineCounter,
    hits: Vec<Hit>,
}

impl Stream {
    pub fn update(&mut self, piece: &[u8]) {
        self.window.extend_from_slice(piece);
        let until = self.window.len().saturating_sub(AHEAD);
        self.scan_until(until);
        let dropped = self.fresh.saturating_sub(BEHIND);
        self.lines.skip(self.window.get(..dropped).unwrap_or_default());
        self.window.drain(..dropped);
        self.fresh -= dropped;
    }

    pub fn finish(mut self) -> Vec<Hit> {
        self.scan_until(self.window.len());
        self.hits
    }

    fn scan_until(&mut self, until: usize) {
        if until <= self.fresh {
            return;
        }
        let mut found = Vec::new();
        scan_window(&self.window, self.fresh..until, &mut |at, rule| found.push((at, rule)));
        self.fresh = until;
        if !found.is_empty() {
            let mut lines = self.lines.clone();
            add_hits(&mut self.hits, found, &self.window, &mut lines);
        }
    }
}

/// Calls `found` with the offset and the rule of every credential that starts in `range`, in any order.
pub(crate) fn scan_window(text: &[u8], range: Range<usize>, found: &mut dyn FnMut(usize, &'static str)) {
    runs::runs(text, range.clone(), &mut |run| {
        if let Some(rule) = judge(text, run.clone()) {
            found(run.start, rule);
        }
    });
    urls::passwords(text, range, found);
}

/// The rule that a run of token characters matches.
fn judge(text: &[u8], run: Range<usize>) -> Option<&'static str> {
    let run = nearby::trimmed(text, run);
    if let Some(rule) = prefixes::matched(text, &run) {
        return Some(rule);
    }
    // Most long runs are identifiers, and most of these contain no digit. All rules below require one.
    let start = text.get(run.start..run.end.min(run.start + 64))?;
    let has_digit = start.iter().fold(false, |found, byte| found | byte.is_ascii_digit());
    if !has_digit {
        return None;
    }
    nearby::matched(text, &run).or_else(|| assignment::matched(text, &run))
}

/// Counts lines while advancing through a text.
#[derive(Clone, Debug, Default)]
pub(crate) struct LineCounter {
    /// The number of newlines before `at`.
    ends: u64,
    at: usize,
}

impl LineCounter {
    /// The line of an offset. Offsets must not decrease between calls.
    pub(crate) fn line_of(&mut self, text: &[u8], at: usize) -> u64 {
        self.ends += count(text.get(self.at..at).unwrap_or_default());
        self.at = self.at.max(at);
        self.ends + 1
    }

    /// Accounts for text that is removed from the window.
    fn skip(&mut self, dropped: &[u8]) {
        self.ends += count(dropped);
    }
}

fn count(text: &[u8]) -> u64 {
    memchr::memchr_iter(b'\n', text).count() as u64
}

/// Adds hits, one per line and rule.
pub(crate) fn add_hits(
    hits: &mut Vec<Hit>,
    mut found: Vec<(usize, &'static str)>,
    text: &[u8],
    lines: &mut LineCounter,
) {
    found.sort_unstable();
    for (at, rule) in found {
        if hits.len() == MAX_HITS {
            return;
        }
        let hit = Hit { line: lines.line_of(text, at), rule };
        if !hits.contains(&hit) {
            hits.push(hit);
        }
    }
}
