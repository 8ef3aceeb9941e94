//! A short account of how two texts differ, line by line, for a person's eyes. Not a patch: it is cut when it gets long,
//! and line ends do not count.

use serde::Serialize;

/// How many lines of the account are shown.
const SHOWN_LINES: usize = 40;
/// How many characters of a line are shown.
const SHOWN_CHARACTERS: usize = 160;
/// Texts that need more changes than this have nothing in common worth finding.
const MOST_CHANGES: usize = 1_000;
/// Lines of context around a change.
const CONTEXT: usize = 1;

/// What would change if the first text became the second.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Difference {
    /// Lines that only the second text has.
    pub added: usize,
    /// Lines that only the first text has.
    pub removed: usize,
    /// Hunks of a unified diff, control characters made visible.
    pub diff: Vec<String>,
    /// The diff is longer than what is shown of it.
    pub truncated: bool,
}

/// One line of a diff, by its numbers in both texts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Edit {
    Keep(usize, usize),
    Remove(usize),
    Add(usize),
}

pub(super) fn difference(from: &[u8], to: &[u8]) -> Difference {
    let (old, new) = (lines(from), lines(to));
    let edits = edits(&old, &new);
    let added = edits.iter().filter(|edit| matches!(edit, Edit::Add(_))).count();
    let removed = edits.iter().filter(|edit| matches!(edit, Edit::Remove(_))).count();
    let (diff, truncated) = hunks(&edits, &old, &new);
    Difference { added, removed, diff, truncated }
}

fn lines(text: &[u8]) -> Vec<&[u8]> {
    text.split_inclusive(|byte| *byte == b'\n').map(|line| line.strip_suffix(b"\n").unwrap_or(line)).collect()
}

/// Common lines at both ends are cheap to find and usually most of the text; the rest goes through the search.
fn edits(old: &[&[u8]], new: &[&[u8]]) -> Vec<Edit> {
    let prefix = old.iter().zip(new).take_while(|(a, b)| a == b).count();
    let (old_rest, new_rest) = (old.get(prefix..).unwrap_or_default(), new.get(prefix..).unwrap_or_default());
    let suffix = old_rest.iter().rev().zip(new_rest.iter().rev()).take_while(|(a, b)| a == b).count();
    let old_middle = old_rest.get(..old_rest.len() - suffix).unwrap_or_default();
    let new_middle = new_rest.get(..new_rest.len() - suffix).unwrap_or_default();
    let mut edits: Vec<Edit> = (0..prefix).map(|line| Edit::Keep(line, line)).collect();
    edits.extend(middle_edits(old_middle, new_middle).into_iter().map(|edit| match edit {
        Edit::Keep(a, b) => Edit::Keep(a + prefix, b + prefix),
        Edit::Remove(a) => Edit::Remove(a + prefix),
        Edit::Add(b) => Edit::Add(b + prefix),
    }));
    let (old_end, new_end) = (old.len() - suffix, new.len() - suffix);
    edits.extend((0..suffix).map(|line| Edit::Keep(old_end + line, new_end + line)));
    edits
}

/// Myers' greedy search for the shortest script, given up after `MOST_CHANGES`.
fn middle_edits(old: &[&[u8]], new: &[&[u8]]) -> Vec<Edit> {
    let most = (old.len() + new.len()).min(MOST_CHANGES);
    let offset = most + 1;
    // `reach[k + offset]` is how far into `old` the diagonal k got; one copy is kept for each number of changes.
    let mut reach = vec![0_usize; 2 * offset + 1];
    let mut rounds: Vec<Vec<usize>> = Vec::new();
    for changes in 0..=most {
        rounds.push(reach.get(offset - changes..=offset + changes).unwrap_or_default().to_vec());
        for step in 0..=changes {
            let at = offset + 2 * step - changes;
            let (below, above) = (at_or_zero(&reach, at - 1), at_or_zero(&reach, at + 1));
            let goes_down = step == 0 || (step != changes && below < above);
            let mut x = if goes_down { above } else { below + 1 };
            // The diagonal is x - y, so y = x + offset - at; a negative one lies outside the texts.
            let Some(mut y) = (x + offset).checked_sub(at) else { continue };
            while old.get(x).is_some_and(|line| new.get(y) == Some(line)) {
                (x, y) = (x + 1, y + 1);
            }
            if let Some(slot) = reach.get_mut(at) {
                *slot = x;
            }
            if x >= old.len() && y >= new.len() {
                return walk_back(&rounds, old.len(), new.len());
            }
        }
    }
    (0..old.len()).map(Edit::Remove).chain((0..new.len()).map(Edit::Add)).collect()
}

fn at_or_zero(values: &[usize], at: usize) -> usize {
    values.get(at).copied().unwrap_or_default()
}

/// From the end of both texts back to their starts, one change in each round.
fn walk_back(rounds: &[Vec<usize>], mut x: usize, mut y: usize) -> Vec<Edit> {
    let mut edits = Vec::new();
    for (changes, reach) in rounds.iter().enumerate().rev() {
        // `reach` holds the diagonals from -changes to +changes, as they were before this round.
        let at = (x + changes).saturating_sub(y);
        let (below, above) = (at.checked_sub(1).map(|at| at_or_zero(reach, at)), reach.get(at + 1).copied());
        let goes_down = at == 0 || (at != 2 * changes && below < above);
        let start = if changes == 0 {
            0
        } else if goes_down {
            above.unwrap_or_default()
        } else {
            below.unwrap_or_default() + 1
        };
        while x > start && y > 0 {
            (x, y) = (x - 1, y - 1);
            edits.push(Edit::Keep(x, y));
        }
        if changes > 0 {
            if goes_down {
                y = y.saturating_sub(1);
                edits.push(Edit::Add(y));
            } else {
                x = x.saturating_sub(1);
                edits.push(Edit::Remove(x));
            }
        }
    }
    edits.reverse();
    edits
}

/// The changes with a little context, and whether some of them are not shown.
fn hunks(edits: &[Edit], old: &[&[u8]], new: &[&[u8]]) -> (Vec<String>, bool) {
    let mut shown = Vec::new();
    let mut next = 0;
    while let Some(first) = edits.get(next..).and_then(|rest| rest.iter().position(is_change)).map(|at| at + next) {
        let mut last = first;
        while let Some(more) = edits.get(last + 1..).and_then(|rest| rest.iter().position(is_change)) {
            if more > 2 * CONTEXT {
                break;
            }
            last += more + 1;
        }
        let start = first.saturating_sub(CONTEXT).max(next);
        let end = (last + 1 + CONTEXT).min(edits.len());
        let hunk = edits.get(start..end).unwrap_or_default();
        if shown.len() + hunk.len() >= SHOWN_LINES && !shown.is_empty() {
            return (shown, true);
        }
        shown.push(header(hunk, edits.get(..start).unwrap_or_default()));
        shown.extend(hunk.iter().map(|edit| match *edit {
            Edit::Keep(line, _) => visible(' ', old, line),
            Edit::Remove(line) => visible('-', old, line),
            Edit::Add(line) => visible('+', new, line),
        }));
        if shown.len() > SHOWN_LINES {
            shown.truncate(SHOWN_LINES);
            return (shown, true);
        }
        next = end;
    }
    (shown, false)
}

fn is_change(edit: &Edit) -> bool {
    !matches!(edit, Edit::Keep(..))
}

fn header(hunk: &[Edit], before: &[Edit]) -> String {
    let in_old = |edits: &[Edit]| edits.iter().filter(|edit| !matches!(edit, Edit::Add(_))).count();
    let in_new = |edits: &[Edit]| edits.iter().filter(|edit| !matches!(edit, Edit::Remove(_))).count();
    // By the custom of unified diffs an empty range names the line before it.
    let range = |start: usize, count: usize| match count {
        0 => format!("{start},0"),
        1 => format!("{}", start + 1),
        _ => format!("{},{count}", start + 1),
    };
    let (old, new) = (range(in_old(before), in_old(hunk)), range(in_new(before), in_new(hunk)));
    format!("@@ -{old} +{new} @@")
}

/// A line that a terminal can be shown: it may come from anybody.
fn visible(sign: char, lines: &[&[u8]], line: usize) -> String {
    let text = String::from_utf8_lossy(lines.get(line).copied().unwrap_or_default());
    let mut shown = String::from(sign);
    for (index, c) in text.chars().enumerate() {
        if index == SHOWN_CHARACTERS {
            shown.push('…');
            break;
        }
        if c.is_control() && c != '\t' {
            shown.extend(c.escape_default());
        } else {
            shown.push(c);
        }
    }
    shown
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn check(from: &str, to: &str, expected: &[&str]) {
        let from = from.replace(' ', "\n");
        let to = to.replace(' ', "\n");
        assert_eq!(difference(from.as_bytes(), to.as_bytes()).diff, expected, "{from:?} {to:?}");
    }

    #[test]
    fn short_diffs() {
        check("a b c", "a b c", &[]);
        check("a b c", "a x c", &["@@ -1,3 +1,3 @@", " a", "-b", "+x", " c"]);
        check("", "a", &["@@ -0,0 +1 @@", "+a"]);
        check("a", "", &["@@ -1 +0,0 @@", "-a"]);
        check("a b", "b a", &["@@ -1,2 +1,2 @@", "-a", " b", "+a"]);
        check(
            "1 2 3 4 5 6",
            "1 2 x 4 5 6 7",
            &["@@ -2,3 +2,3 @@", " 2", "-3", "+x", " 4", "@@ -6 +6,2 @@", " 6", "+7"],
        );
        check("a\u{1b}[31m b", "b", &["@@ -1,2 +1 @@", "-a\\u{1b}[31m", " b"]);
    }

    #[test]
    fn long_ones_are_cut() {
        let (from, to) = ("a\n".repeat(5_000), "b\n".repeat(6_000));
        let found = difference(from.as_bytes(), to.as_bytes());
        assert_eq!((found.removed, found.added, found.diff.len(), found.truncated), (5_000, 6_000, SHOWN_LINES, true));
        let wide = difference("x".repeat(10_000).as_bytes(), b"");
        assert!(wide.diff.iter().all(|line| line.chars().count() < 200));
    }

    proptest! {
        #[test]
        fn the_script_makes_the_second_text_of_the_first(
            from in prop::collection::vec(0..4_u8, 0..30), to in prop::collection::vec(0..4_u8, 0..30),
        ) {
            let one = |bytes: &[u8]| bytes.iter().map(|byte| vec![b'a' + byte]).collect::<Vec<_>>();
            let (old, new) = (one(&from), one(&to));
            let old: Vec<&[u8]> = old.iter().map(Vec::as_slice).collect();
            let new: Vec<&[u8]> = new.iter().map(Vec::as_slice).collect();
            let script = edits(&old, &new);
            let (mut x, mut y) = (0, 0);
            for edit in &script {
                match *edit {
                    Edit::Keep(a, b) => { prop_assert_eq!((a, b), (x, y)); prop_assert_eq!(old[a], new[b]); x += 1; y += 1; }
                    Edit::Remove(a) => { prop_assert_eq!(a, x); x += 1; }
                    Edit::Add(b) => { prop_assert_eq!(b, y); y += 1; }
                }
            }
            prop_assert_eq!((x, y), (old.len(), new.len()));
            let changes = script.iter().filter(|edit| is_change(edit)).count();
            prop_assert_eq!(changes, old.len() + new.len() - 2 * common(&old, &new), "the shortest one");
        }
    }

    /// The length of the longest common subsequence, the slow and obvious way.
    fn common(old: &[&[u8]], new: &[&[u8]]) -> usize {
        let mut table = vec![vec![0; new.len() + 1]; old.len() + 1];
        for (i, a) in old.iter().enumerate() {
            for (j, b) in new.iter().enumerate() {
                table[i + 1][j + 1] = if a == b { table[i][j] + 1 } else { table[i][j + 1].max(table[i + 1][j]) };
            }
        }
        table[old.len()][new.len()]
    }
}
