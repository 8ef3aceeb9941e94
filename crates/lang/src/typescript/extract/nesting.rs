//! Where a TypeScript text can be parsed: the rule of `stack.rs`, and a bound for nesting that the parser reads twice.

use super::scan;
use crate::stack::{DEEPEST, StackPlan, is_worker_stack};

/// Nesting of `(`, or of `<` within a statement, that costs the parser too much time: it tries each level twice, as
/// arrow function or type arguments first, and a thousand levels already take a second.
const DEEPEST_GUESS: usize = 1_000;

pub(crate) fn stack_plan(text: &str) -> StackPlan {
    // A file shorter than DEEPEST_GUESS bytes cannot nest that deep.
    if text.len() < DEEPEST_GUESS && is_worker_stack() {
        return StackPlan::CurrentThread;
    }
    // Raw counts first: only suspicious text is read as tokens, so that others pay next to nothing.
    if may_guess_deeply(text.as_bytes()) && scan::guesses_deeply(text, DEEPEST_GUESS) {
        return StackPlan::TooDeep("is nested too deeply to parse");
    }
    StackPlan::with_depth(text, || scan::estimated_depth(text, DEEPEST) >= DEEPEST)
}

/// Whether `(` outnumbers `)`, or `<` occurs within one statement, often enough to look closer. Strings and comments
/// are not distinguished from code here.
fn may_guess_deeply(bytes: &[u8]) -> bool {
    if memchr::memchr_iter(b'(', bytes).count() >= DEEPEST_GUESS {
        let mut depth = 0_usize;
        for at in memchr::memchr2_iter(b'(', b')', bytes) {
            depth = if bytes[at] == b'(' { depth + 1 } else { depth.saturating_sub(1) };
            if depth >= DEEPEST_GUESS {
                return true;
            }
        }
    }
    if memchr::memchr_iter(b'<', bytes).count() >= DEEPEST_GUESS {
        let (mut run, mut last) = (0, 0);
        for at in memchr::memchr_iter(b'<', bytes) {
            run = if memchr::memchr(b';', &bytes[last..at]).is_some() { 0 } else { run + 1 };
            last = at;
            if run >= DEEPEST_GUESS {
                return true;
            }
        }
    }
    false
}
