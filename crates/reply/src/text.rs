//! The lines of a reply. Knows nothing of Markdown.

/// The lines without their newlines. Strips carriage returns only if every line ends with one; otherwise they are part of what a
/// patch says.
pub(crate) fn split_lines(reply: &str) -> Vec<&str> {
    let mut lines: Vec<&str> = reply.split('\n').collect();
    let is_terminated = lines.last().is_some_and(|last| last.is_empty());
    if is_terminated {
        lines.pop();
    }
    // Ignore the last line if no newline ends it.
    let ended = lines.len() - usize::from(!is_terminated && !lines.is_empty());
    let all_end_with_return = ended > 0 && lines.iter().take(ended).all(|line| line.ends_with('\r'));
    if all_end_with_return {
        for line in &mut lines {
            *line = line.strip_suffix('\r').unwrap_or(line);
        }
    }
    lines
}

#[cfg(test)]
mod tests {
    use super::split_lines;

    #[test]
    fn returns_go_only_when_every_line_has_one() {
        let check = |reply: &str, expected: &[&str]| assert_eq!(split_lines(reply), expected, "{reply:?}");
        check("", &[]);
        check("a", &["a"]);
        check("a\n", &["a"]);
        check("a\n\n", &["a", ""]);
        check("a\r\nb\r\n", &["a", "b"]);
        check("a\r\nb", &["a", "b"]);
        check("a\r\nb\r", &["a", "b"]);
        check("a\r\nb\n", &["a\r", "b"]);
        check("a\nb\r\n", &["a", "b\r"]);
        check("a\r\r\n", &["a\r"]);
        check("a\rb\n", &["a\rb"]);
        check("\r", &["\r"]);
    }
}
