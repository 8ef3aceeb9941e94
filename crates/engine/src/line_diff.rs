//! Line diffs for users, as hunks of a unified diff.
//!
//! Bounded, because texts come from replies and repositories, and finding a shortest edit script takes quadratic time. Not for
//! patches: callers truncate the output.

use std::ops::Range;

use similar::{Algorithm, ChangeTag, DiffOp, capture_diff_slices, group_diff_ops, udiff::UnifiedHunkHeader};

/// If more lines than this lie between the first and the last difference, all of them count as changed. A count rather than a
/// deadline, which would make the answer depend on the machine.
const MAX_SEARCHED_LINES: usize = 8_000;

/// [`unified`] shows this many lines at most.
const MAX_SHOWN_LINES: usize = 400;

/// For larger texts, [`unified`] only says that they differ.
const MAX_BYTES: usize = 4 << 20;

/// The lines of two texts, and the edit script between them.
pub(crate) struct LineDiff<'t> {
    old: Vec<&'t [u8]>,
    new: Vec<&'t [u8]>,
    operations: Vec<DiffOp>,
}

/// Adjacent changes, with context lines around them.
pub(crate) struct Hunk<'t> {
    /// `@@ -1,3 +1,4 @@`
    pub(crate) header: String,
    /// Each line with its sign: a space, `-` or `+`.
    pub(crate) lines: Vec<(char, &'t [u8])>,
}

/// The lines of a text, including their newlines.
pub(crate) fn lines(text: &[u8]) -> Vec<&[u8]> {
    text.split_inclusive(|byte| *byte == b'\n').collect()
}

impl<'t> LineDiff<'t> {
    pub(crate) fn new(old: Vec<&'t [u8]>, new: Vec<&'t [u8]>) -> Self {
        let prefix = old.iter().zip(&new).take_while(|(old, new)| old == new).count();
        let shorter = old.len().min(new.len());
        let backwards = old.iter().rev().zip(new.iter().rev()).take(shorter - prefix);
        let suffix = backwards.take_while(|(old, new)| old == new).count();
        let (old_len, new_len) = (old.len() - prefix - suffix, new.len() - prefix - suffix);
        let operations = if old_len + new_len <= MAX_SEARCHED_LINES {
            capture_diff_slices(Algorithm::Myers, &old, &new)
        } else {
            vec![
                DiffOp::Equal { old_index: 0, new_index: 0, len: prefix },
                DiffOp::Replace { old_index: prefix, old_len, new_index: prefix, new_len },
                DiffOp::Equal { old_index: prefix + old_len, new_index: prefix + new_len, len: suffix },
            ]
        };
        LineDiff { old, new, operations }
    }

    /// The number of added lines.
    pub(crate) fn added(&self) -> usize {
        self.changed(DiffOp::new_range)
    }

    /// The number of removed lines.
    pub(crate) fn removed(&self) -> usize {
        self.changed(DiffOp::old_range)
    }

    fn changed(&self, range: impl Fn(&DiffOp) -> Range<usize>) -> usize {
        let changes = self.operations.iter().filter(|operation| !matches!(operation, DiffOp::Equal { .. }));
        changes.map(|operation| range(operation).len()).sum()
    }

    /// The changes with `context` lines around each.
    pub(crate) fn hunks(&self, context: usize) -> impl Iterator<Item = Hunk<'t>> + '_ {
        group_diff_ops(self.operations.clone(), context).into_iter().map(|operations| {
            let header = UnifiedHunkHeader::new(&operations).to_string();
            let lines = operations.iter().flat_map(|operation| operation.iter_slices(&self.old, &self.new));
            let sign = |tag| match tag {
                ChangeTag::Equal => ' ',
                ChangeTag::Delete => '-',
                ChangeTag::Insert => '+',
            };
            let lines = lines.flat_map(|(tag, lines)| lines.iter().map(move |line| (sign(tag), *line)));
            Hunk { header, lines: lines.collect() }
        })
    }
}

/// A unified diff with three lines of context. It states what was truncated.
pub(crate) fn unified(old: &[u8], new: &[u8]) -> Vec<String> {
    if old.len() + new.len() > MAX_BYTES {
        return vec![format!("(too large to be shown: {} bytes become {})", old.len(), new.len())];
    }
    let mut shown = whole(old, new);
    if shown.len() > MAX_SHOWN_LINES {
        let cut = shown.len() - MAX_SHOWN_LINES;
        shown.truncate(MAX_SHOWN_LINES);
        shown.push(format!("({cut} more lines)"));
    }
    shown
}

/// The complete diff as one text. Only for short texts.
pub fn unified_patch(old: &str, new: &str) -> String {
    whole(old.as_bytes(), new.as_bytes()).into_iter().flat_map(|line| [line, "\n".to_owned()]).collect()
}

fn whole(old: &[u8], new: &[u8]) -> Vec<String> {
    let mut shown = Vec::new();
    for hunk in LineDiff::new(lines(old), lines(new)).hunks(3) {
        shown.push(hunk.header);
        for (sign, line) in hunk.lines {
            let ended = line.strip_suffix(b"\n");
            let text = ended.map_or(line, |line| line.strip_suffix(b"\r").unwrap_or(line));
            shown.push(format!("{sign}{}", String::from_utf8_lossy(text)));
            if ended.is_none() {
                shown.push("\\ No newline at end of file".to_owned());
            }
        }
    }
    shown
}

#[cfg(test)]
mod tests {
    use super::{LineDiff, MAX_SEARCHED_LINES, lines, unified};

    #[test]
    fn unified_diffs_are_shown_and_long_ones_are_cut() {
        assert_eq!(unified(b"a\nb\nc\n", b"a\nB\nc\n"), ["@@ -1,3 +1,3 @@", " a", "-b", "+B", " c"]);
        assert_eq!(unified(b"", b"a\n"), ["@@ -0,0 +1 @@", "+a"]);
        assert_eq!(unified(b"a\r\n", b"a"), ["@@ -1 +1 @@", "-a", "+a", "\\ No newline at end of file"]);
        let long: String = (0..2_000).map(|line| format!("{line}\n")).collect();
        let shown = unified(b"", long.as_bytes());
        assert_eq!(shown.last().unwrap(), "(1601 more lines)");
        assert_eq!(unified(b"", &vec![b'a'; 5 << 20]).len(), 1);
    }

    /// The search is quadratic in the number of lines if no line is common.
    #[test]
    fn texts_that_differ_too_much_are_replaced_as_a_whole() {
        let text = |from: usize, count: usize| -> String {
            let middle = (from..from + count).map(|line| format!("{line}\n"));
            ["first\n".to_owned()].into_iter().chain(middle).chain(["last\n".to_owned()]).collect()
        };
        let (old, new) = (text(0, 400_000), text(1_000_000, MAX_SEARCHED_LINES));
        let diff = LineDiff::new(lines(old.as_bytes()), lines(new.as_bytes()));
        assert_eq!((diff.removed(), diff.added()), (400_000, MAX_SEARCHED_LINES));
        let headers: Vec<String> = diff.hunks(1).map(|hunk| hunk.header).collect();
        assert_eq!(headers, ["@@ -1,400002 +1,8002 @@"]);
    }
}
