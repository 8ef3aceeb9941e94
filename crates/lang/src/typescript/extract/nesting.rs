//! Where a TypeScript text can be parsed: the rule of `stack.rs`, and a limit on nesting that the parser reads twice.

use super::scan;
use crate::stack::{MAX_NESTING, StackPlan, is_worker_stack};

/// The maximum nesting of `(`, or of `<` within a statement. The parser tries each level twice, first as an arrow function or
/// type arguments, and a thousand levels already take a second.
const MAX_GUESS_DEPTH: usize = 1_000;

pub(crate) fn stack_plan(text: &str) -> StackPlan {
    // A file shorter than MAX_GUESS_DEPTH bytes cannot nest that deep.
    if text.len() < MAX_GUESS_DEPTH && is_worker_stack() {
        return StackPlan::CurrentThread;
    }
    // Count bytes first: only suspicious text is tokenized, so that all other text costs almost nothing.
    if may_guess_deeply(text.as_bytes()) && scan::guesses_deeply(text, MAX_GUESS_DEPTH) {
        return StackPlan::TooDeep("is nested too deeply to parse");
    }
    StackPlan::with_depth(text, || scan::estimated_depth(text, MAX_NESTING) >= MAX_NESTING)
}

/// Whether `(` outnumbers `)`, or `<` occurs within one statement, often enough for a closer look. Includes brackets in strings
/// and comments.
fn may_guess_deeply(bytes: &[u8]) -> bool {
    if memchr::memchr_iter(b'(', bytes).count() >= MAX_GUESS_DEPTH {
        let mut depth = 0_usize;
        for at in memchr::memchr2_iter(b'(', b')', bytes) {
            depth = if bytes[at] == b'(' { depth + 1 } else { depth.saturating_sub(1) };
            if depth >= MAX_GUESS_DEPTH {
                return true;
            }
        }
    }
    if memchr::memchr_iter(b'<', bytes).count() >= MAX_GUESS_DEPTH {
        let (mut run, mut last) = (0, 0);
        for at in memchr::memchr_iter(b'<', bytes) {
            run = if memchr::memchr(b';', &bytes[last..at]).is_some() { 0 } else { run + 1 };
            last = at;
            if run >= MAX_GUESS_DEPTH {
                return true;
            }
        }
    }
    false
}
