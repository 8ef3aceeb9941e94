//! A file as lines that hunks are matched against and applied to, with a bound on the work per reply.

use std::hash::Hasher as _;

use rustc_hash::FxHasher;

/// How much searching a reply may still cause. Bounds the work of a hostile reply by its length.
#[derive(Debug)]
pub(crate) struct SearchBudget {
    left: u64,
}

impl SearchBudget {
    pub(crate) fn new(steps: u64) -> Self {
        Self { left: steps }
    }

    /// Spends the cost of reading or copying this many bytes.
    pub(crate) fn spend_bytes(&mut self, count: usize) -> bool {
        self.spend(count / 4)
    }

    pub(super) fn spend(&mut self, steps: usize) -> bool {
        self.left = self.left.saturating_sub(steps as u64);
        self.left > 0
    }
}

/// The message when the budget is used up.
pub(crate) const TOO_MUCH: &str = "the patches of this reply are too many to be checked";

/// A line without its line end, and which line end it has.
#[derive(Clone, Copy, Debug)]
pub(super) struct Line<'a> {
    pub(super) text: &'a [u8],
    /// A carriage return before the newline. In strict mode it stays part of the text.
    pub(super) has_return: bool,
    pub(super) has_newline: bool,
    hash: u64,
    /// Written or matched by a hunk, so no other hunk may match here.
    pub(super) is_patched: bool,
    pub(super) source: Option<usize>,
}

/// How a line of a patch must match a line of the file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Agreement {
    /// Byte for byte.
    Exact,
    /// A line that ends with `\n` may end with `\r\n` in the file, and the last line of the file may lack its newline.
    ButForEnds,
}

impl<'a> Line<'a> {
    pub(super) fn new(text: &'a [u8], has_newline: bool, source: Option<usize>, splits_ends: bool) -> Self {
        let bare = text.strip_suffix(b"\r").filter(|_| splits_ends);
        let (text, has_return) = bare.map_or((text, false), |bare| (bare, true));
        let mut hasher = FxHasher::default();
        hasher.write(text);
        let hash = hasher.finish();
        Self { text, has_return, has_newline, hash, is_patched: source.is_some(), source }
    }

    fn agrees(&self, wanted: &Line<'_>, agreement: Agreement) -> bool {
        // Hashes first: they avoid comparing long lines with a common prefix again and again.
        let is_same_text = self.hash == wanted.hash && self.text == wanted.text;
        is_same_text
            && match agreement {
                Agreement::Exact => self.has_newline == wanted.has_newline && self.has_return == wanted.has_return,
                Agreement::ButForEnds => {
                    let is_kept = !wanted.has_return || self.has_return;
                    is_kept && (self.has_newline == wanted.has_newline || !self.has_newline || !wanted.has_newline)
                }
            }
    }

    pub(super) fn is_same_text(&self, other: &Line<'_>) -> bool {
        self.hash == other.hash && self.text == other.text
    }
}

/// The file as a gap buffer of lines: hunks come in order, so the gap moves over the file once.
pub(super) struct Image<'a> {
    before: Vec<Line<'a>>,
    /// In reverse: from the last line to the first after the gap.
    after: Vec<Line<'a>>,
}

impl<'a> Image<'a> {
    pub(super) fn new(bytes: &'a [u8], splits_ends: bool) -> Self {
        let mut after = Vec::new();
        let mut rest = bytes;
        while !rest.is_empty() {
            let end = memchr::memchr(b'\n', rest);
            let (text, next) = match end {
                Some(end) => (rest.get(..end), rest.get(end + 1..)),
                None => (Some(rest), None),
            };
            // Without a newline after it, a carriage return is part of the text.
            after.push(Line::new(text.unwrap_or_default(), end.is_some(), None, splits_ends && end.is_some()));
            rest = next.unwrap_or_default();
        }
        // The gap begins at the top; the line after it is popped from the end.
        after.reverse();
        Self { before: Vec::new(), after }
    }

    pub(super) fn len(&self) -> usize {
        self.before.len() + self.after.len()
    }

    pub(super) fn get(&self, index: usize) -> Option<&Line<'a>> {
        match index.checked_sub(self.before.len()) {
            None => self.before.get(index),
            Some(behind) => self.after.len().checked_sub(behind + 1).and_then(|place| self.after.get(place)),
        }
    }

    /// Whether lines are at a position. Lines that a hunk patched count only if allowed.
    pub(super) fn has(
        &self,
        place: usize,
        wanted: &[Line<'_>],
        agreement: Agreement,
        over_patched: bool,
        work: &mut SearchBudget,
    ) -> (bool, bool) {
        // Not 0: a hostile patch can have many positions that fail at once.
        let mut compared = 1;
        let fits = wanted.iter().enumerate().all(|(offset, line)| {
            compared += 1;
            let found = self.get(place + offset);
            found.is_some_and(|found| (over_patched || !found.is_patched) && found.agrees(line, agreement))
        });
        (fits, work.spend(compared))
    }

    /// Replaces lines. `false` if that exceeds the budget.
    pub(super) fn replace(&mut self, place: usize, count: usize, new: Vec<Line<'a>>, work: &mut SearchBudget) -> bool {
        if !self.move_gap(place, work) {
            return false;
        }
        let kept = self.after.len().saturating_sub(count);
        self.after.truncate(kept);
        self.before.extend(new);
        true
    }

    fn move_gap(&mut self, to: usize, work: &mut SearchBudget) -> bool {
        let is_affordable = work.spend(to.abs_diff(self.before.len()) / 4);
        while self.before.len() < to
            && let Some(line) = self.after.pop()
        {
            self.before.push(line);
        }
        while self.before.len() > to
            && let Some(line) = self.before.pop()
        {
            self.after.push(line);
        }
        is_affordable
    }

    /// Whether most lines end with a carriage return.
    pub(super) fn has_returns(&self) -> bool {
        let ended = self.lines().filter(|line| line.has_newline).count();
        let returns = self.lines().filter(|line| line.has_newline && line.has_return).count();
        returns * 2 > ended
    }

    pub(super) fn lines(&self) -> impl Iterator<Item = &Line<'a>> {
        self.before.iter().chain(self.after.iter().rev())
    }

    /// The bytes, and for each line the line of the fence that it comes from.
    pub(super) fn written(&self) -> (Vec<u8>, Vec<Option<usize>>) {
        let mut bytes = Vec::with_capacity(self.lines().map(|line| line.text.len() + 2).sum());
        for line in self.lines() {
            bytes.extend_from_slice(line.text);
            if line.has_return {
                bytes.push(b'\r');
            }
            if line.has_newline {
                bytes.push(b'\n');
            }
        }
        (bytes, self.lines().map(|line| line.source).collect())
    }
}
