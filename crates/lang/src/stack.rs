//! How much stack a file may need. The parser and the walk recurse once or a few times per nesting level, and a level takes at
//! least one token: the number of tokens bounds the stack, and a file that might not fit is read on a thread whose
//! stack is sized to that bound. Nothing here parses.

use std::cell::Cell;
use std::panic::resume_unwind;
use std::sync::{Mutex, PoisonError};
use std::thread;

/// The stack that threads which call an extractor must have, or more.
/// Address space only: pages are committed when touched, and nearly no file touches more than the first few.
pub const WORKER_STACK: usize = 256 << 20;

thread_local! {
    static STACK: Cell<usize> = const { Cell::new(WORKER_STACK) };
}

/// Says how large the stack of this thread is, where the system gave less than [`WORKER_STACK`]. Files that might not fit
/// then get a thread of their own, or are searched without parsing.
pub fn set_stack_size(bytes: usize) {
    STACK.set(bytes);
}

/// Whether this thread has at least [`WORKER_STACK`] bytes of stack.
pub(crate) fn is_worker_stack() -> bool {
    STACK.get() >= WORKER_STACK
}

/// Stack bytes that one token can cost at most. Measured by `typescript/extract/tests/stack.rs`, with margin.
pub(crate) const BYTES_PER_TOKEN: usize = 4 << 10;

/// Kept free for what the caller, the panic machinery and the shallow part of parsing use.
const RESERVE: usize = 1 << 20;

/// Above this, one file at a time: several of them could exhaust memory together.
const HUGE: usize = 1 << 30;

/// The largest stack asked for. Address space only: pages are committed when touched.
const LARGEST: usize = 4 << 30;

/// Nesting that no program has; reading it would touch hundreds of megabytes of stack.
pub(crate) const DEEPEST: usize = 50_000;

/// Held while a file with a huge bound is read.
static HUGE_FILE: Mutex<()> = Mutex::new(());

/// Where a text can be parsed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum StackPlan {
    CurrentThread,
    DedicatedThread(usize),
    /// Nowhere, and why.
    TooDeep(&'static str),
}

impl StackPlan {
    /// For parsers that do not try a nested text twice. Brackets count wherever they stand.
    pub(crate) fn by_tokens(text: &str) -> Self {
        Self::with_depth(text, || true)
    }

    /// `is_deep` is asked of texts whose brackets look too deep.
    pub(crate) fn with_depth(text: &str, is_deep: impl FnOnce() -> bool) -> Self {
        let room = |levels: usize| levels.saturating_mul(BYTES_PER_TOKEN).saturating_add(RESERVE);
        let stack = STACK.get();
        if room(text.len()) <= stack {
            return Self::CurrentThread;
        }
        let bound = room(most_tokens(text));
        if bound <= stack {
            Self::CurrentThread
        } else if bound > LARGEST {
            Self::TooDeep("is too large to parse")
        } else if bound > HUGE && raw_depth(text) >= DEEPEST && is_deep() {
            Self::TooDeep("is nested too deeply to parse")
        } else {
            Self::DedicatedThread(bound)
        }
    }
}

/// Runs `work` on a thread with that much stack; `None` when the system has no such thread to give.
pub(crate) fn with_stack<T: Send>(size: usize, work: impl FnOnce() -> T + Send) -> Option<T> {
    let _alone = (size > HUGE).then(|| HUGE_FILE.lock().unwrap_or_else(PoisonError::into_inner));
    thread::scope(|scope| {
        let handle = thread::Builder::new().stack_size(size).spawn_scoped(scope, work).ok()?;
        Some(handle.join().unwrap_or_else(|panic| resume_unwind(panic)))
    })
}

/// At least as many as the text has tokens, whatever is string, comment or code: punctuation, and starts of words.
/// A byte that is not ASCII may be white space, so that it never joins what is around it.
pub(crate) fn most_tokens(text: &str) -> usize {
    // Blocks of single-byte sums without branches, of a length known beforehand: the compiler makes vector instructions
    // of them.
    const BLOCK: usize = 64;
    let is_word = |byte: u8| {
        let letter = (byte | 0x20).wrapping_sub(b'a') < 26;
        letter | (byte.wrapping_sub(b'0') < 10) | (byte == b'_') | (byte == b'$')
    };
    let starts = |before: u8, byte: u8| u8::from((byte > b' ') & !(is_word(before) & is_word(byte)));
    let bytes = text.as_bytes();
    let Some(((_, rest), (_, but_last))) = bytes.split_first().zip(bytes.split_last()) else { return 0 };
    let (blocks, last) = rest.as_chunks::<BLOCK>();
    let (blocks_before, last_before) = but_last.as_chunks::<BLOCK>();
    let mut tokens = 1;
    for (before, block) in blocks_before.iter().zip(blocks) {
        let mut sum = 0_u8;
        for (before, byte) in before.iter().zip(block) {
            sum += starts(*before, *byte);
        }
        tokens += usize::from(sum);
    }
    tokens + last_before.iter().zip(last).map(|(before, byte)| usize::from(starts(*before, *byte))).sum::<usize>()
}

/// How far opening brackets outnumber closing ones, wherever they stand; 0 when there are not enough to matter.
fn raw_depth(text: &str) -> usize {
    let count = |byte| memchr::memchr_iter(byte, text.as_bytes()).count();
    if count(b'(') + count(b'[') + count(b'{') < DEEPEST {
        return 0;
    }
    let (mut depth, mut deepest) = (0_isize, 0_isize);
    for byte in text.bytes() {
        depth += match byte {
            b'(' | b'[' | b'{' => 1,
            b')' | b']' | b'}' => -1,
            _ => 0,
        };
        deepest = deepest.max(depth);
    }
    deepest.unsigned_abs()
}
