//! Removes HTML comments from lines of prose, but not from code spans, where they are text.

use std::borrow::Cow;

use memchr::memmem;

use super::Block;

/// Removes the comments from the lines of one paragraph or HTML block, and drops lines that become empty.
///
/// In a paragraph, a comment without an end is text. In an HTML block, it hides everything up to the block's end.
pub(super) fn remove(blocks: &mut Vec<Block<'_>>, first: usize, is_html: bool) {
    let holds = |text: &str, what: &str| memmem::find(text.as_bytes(), what.as_bytes()).is_some();
    let mut last_end = None;
    let mut has_start = false;
    for (index, block) in blocks.iter().enumerate().skip(first) {
        if let Block::Text(line) = block {
            has_start |= holds(&line.text, "<!--");
            if holds(&line.text, "-->") {
                last_end = Some(index);
            }
        }
    }
    if !has_start {
        return;
    }
    let mut is_inside = false;
    for (index, mut block) in blocks.split_off(first).into_iter().enumerate() {
        if let Block::Text(line) = &mut block {
            let can_end_later = is_html || last_end.is_some_and(|last| last > first + index);
            let visible = visible_part(&line.text, &mut is_inside, can_end_later);
            if visible.len() != line.text.len() {
                line.text = Cow::Owned(visible.trim().to_owned());
            }
            if line.text.is_empty() {
                continue;
            }
        }
        blocks.push(block);
    }
}

fn visible_part(text: &str, is_inside: &mut bool, can_end_later: bool) -> String {
    let mut visible = String::new();
    let mut rest = text;
    loop {
        if *is_inside {
            match rest.split_once("-->") {
                None => return visible,
                Some((_, after)) => {
                    *is_inside = false;
                    rest = after;
                }
            }
        }
        let (before, after) = before_comment(rest);
        visible.push_str(before);
        let Some(after) = after else { return visible };
        if !can_end_later && !after.contains("-->") {
            visible.push_str("<!--");
            visible.push_str(after);
            return visible;
        }
        *is_inside = true;
        rest = after;
    }
}

/// Splits at the first `<!--` outside of code spans.
fn before_comment(text: &str) -> (&str, Option<&str>) {
    let bytes = text.as_bytes();
    let mut at = 0;
    // A run of backticks without an end has none later either. Searching once per length keeps a line of backticks linear.
    let mut unmatched = [false; 64];
    while let Some(found) = bytes.get(at..).and_then(|rest| memchr::memchr2(b'`', b'<', rest)) {
        let start = at + found;
        if bytes.get(start) == Some(&b'<') {
            if text.get(start..).is_some_and(|rest| rest.starts_with("<!--")) {
                return (text.get(..start).unwrap_or_default(), text.get(start + 4..));
            }
            at = start + 1;
            continue;
        }
        let length = run_length(bytes, start);
        at = start + length;
        if unmatched.get(length).copied().unwrap_or(true) {
            continue;
        }
        match closing_run(bytes, at, length) {
            Some(end) => at = end,
            None => unmatched.iter_mut().skip(length).take(1).for_each(|seen| *seen = true),
        }
    }
    (text, None)
}

fn closing_run(bytes: &[u8], from: usize, length: usize) -> Option<usize> {
    let mut at = from;
    while let Some(found) = bytes.get(at..).and_then(|rest| memchr::memchr(b'`', rest)) {
        let start = at + found;
        let run = run_length(bytes, start);
        at = start + run;
        if run == length {
            return Some(at);
        }
    }
    None
}

fn run_length(bytes: &[u8], start: usize) -> usize {
    bytes.iter().skip(start).take_while(|&&byte| byte == b'`').count()
}
