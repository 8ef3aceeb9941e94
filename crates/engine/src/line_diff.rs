//! How two versions of a file differ, as a unified diff for a person's eyes: bounded, and it says what was cut.

use similar::{Algorithm, TextDiff};

/// How many lines of one file are shown.
const MOST_LINES: usize = 400;

/// Larger texts are only said to differ.
const MOST_BYTES: usize = 4 << 20;

pub(crate) fn unified(old: &[u8], new: &[u8]) -> Vec<String> {
    if old.len() + new.len() > MOST_BYTES {
        return vec![format!("(too large to be shown: {} bytes become {})", old.len(), new.len())];
    }
    let (old, new) = (String::from_utf8_lossy(old), String::from_utf8_lossy(new));
    // Progress-like anchors are not needed, and this one is linear in what is equal.
    let diff = TextDiff::configure().algorithm(Algorithm::Myers).diff_lines(&*old, &*new);
    let text = diff.unified_diff().context_radius(3).to_string();
    let mut lines: Vec<String> = text.lines().map(str::to_owned).collect();
    if lines.len() > MOST_LINES {
        let cut = lines.len() - MOST_LINES;
        lines.truncate(MOST_LINES);
        lines.push(format!("({cut} more lines)"));
    }
    lines
}

/// The whole of it, for texts that are known to be short.
pub fn unified_patch(old: &str, new: &str) -> String {
    TextDiff::configure().algorithm(Algorithm::Myers).diff_lines(old, new).unified_diff().context_radius(3).to_string()
}

#[cfg(test)]
mod tests {
    use super::unified;

    #[test]
    fn lines() {
        assert_eq!(unified(b"a\nb\nc\n", b"a\nB\nc\n"), ["@@ -1,3 +1,3 @@", " a", "-b", "+B", " c"]);
        assert_eq!(unified(b"", b"a\n"), ["@@ -0,0 +1 @@", "+a"]);
        let long: String = (0..2_000).map(|line| format!("{line}\n")).collect();
        let shown = unified(b"", long.as_bytes());
        assert_eq!(shown.last().unwrap(), "(1601 more lines)");
        assert_eq!(unified(b"", &vec![b'a'; 5 << 20]).len(), 1);
    }
}
