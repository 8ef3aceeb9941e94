//! How much stack a file may need. The parser and the walk recurse once or a few times per nesting level, and each level takes at
//! least one token. So the token count bounds the stack, and a file that might not fit is parsed on a thread whose stack has that
//! size. Nothing here parses.

use std::cell::Cell;
use std::panic::resume_unwind;
use std::sync::{Mutex, PoisonError};
use std::thread;

/// The minimum stack of threads that call an extractor. Address space only: pages are committed when touched, and nearly no file
/// touches more than the first few.
pub const WORKER_STACK: usize = 256 << 20;

thread_local! {
    static STACK: Cell<usize> = const { Cell::new(WORKER_STACK) };
}

/// Sets the stack size of this thread, if the system gave it less than [`WORKER_STACK`]. Files that might not fit are then parsed
/// on a thread of their own, or scanned without a parser.
pub fn set_stack_size(bytes: usize) {
    STACK.set(bytes);
}

/// Whether this thread has at least [`WORKER_STACK`] bytes of stack.
pub(crate) fn is_worker_stack() -> bool {
    STACK.get() >= WORKER_STACK
}

/// The most stack bytes that one token can cost. Measured by `typescript/extract/tests/stack.rs`, with a margin.
pub(crate) const BYTES_PER_TOKEN: usize = 4 << 10;

/// Reserved for the caller, the panic machinery and the shallow part of parsing.
const RESERVE: usize = 1 << 20;

/// Files that need more are parsed one at a time: several of them together could exhaust memory.
const HUGE: usize = 1 << 30;

/// The largest stack that is requested. Address space only: pages are committed when touched.
const MAX_STACK: usize = 4 << 30;

/// Deeper nesting occurs in no real program; parsing it would touch hundreds of megabytes of stack.
pub(crate) const MAX_NESTING: usize = 50_000;

/// Held while a file that may need more than [`HUGE`] is parsed.
static HUGE_FILE: Mutex<()> = Mutex::new(());

/// Where a text can be parsed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum StackPlan {
    CurrentThread,
    DedicatedThread(usize),
    /// On no thread; the message says why.
    TooDeep(&'static str),
}

impl StackPlan {
    /// For parsers that do not backtrack over nested text. Brackets in strings and comments count too.
    pub(crate) fn by_tokens(text: &str) -> Self {
        Self::with_depth(text, || true)
    }

    /// `is_deep` is only called for texts whose brackets nest too deeply.
    pub(crate) fn with_depth(text: &str, is_deep: impl FnOnce() -> bool) -> Self {
        let room = |levels: usize| levels.saturating_mul(BYTES_PER_TOKEN).saturating_add(RESERVE);
        let stack = STACK.get();
        // A token has at least one byte: most files are small enough to skip the count.
        if room(text.len()) <= stack {
            return Self::CurrentThread;
        }
        let bound = room(most_tokens(text));
        if bound <= stack {
            Self::CurrentThread
        } else if bound > MAX_STACK {
            Self::TooDeep("is too large to parse")
        } else if bound > HUGE && raw_depth(text) >= MAX_NESTING && is_deep() {
            Self::TooDeep("is nested too deeply to parse")
        } else {
            Self::DedicatedThread(bound)
        }
    }
}

/// Runs `work` on a new thread with this much stack; `None` if the system cannot start one.
pub(crate) fn with_stack<T: Send>(size: usize, work: impl FnOnce() -> T + Send) -> Option<T> {
    let _alone = (size > HUGE).then(|| HUGE_FILE.lock().unwrap_or_else(PoisonError::into_inner));
    thread::scope(|scope| {
        let handle = thread::Builder::new().stack_size(size).spawn_scoped(scope, work).ok()?;
        Some(handle.join().unwrap_or_else(|panic| resume_unwind(panic)))
    })
}

/// An upper bound of the number of tokens, without regard to strings and comments: counts punctuation and starts of words. A
/// non-ASCII byte may be white space, so it always ends the word before it.
pub(crate) fn most_tokens(text: &str) -> usize {
    // Branchless sums of single bytes over blocks of constant length, so that the compiler vectorises them. At most 64 starts per
    // block, so that a `u8` sum cannot overflow.
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

/// The maximum excess of opening over closing brackets anywhere in the text; 0 if there are too few to matter.
fn raw_depth(text: &str) -> usize {
    let count = |byte| memchr::memchr_iter(byte, text.as_bytes()).count();
    if count(b'(') + count(b'[') + count(b'{') < MAX_NESTING {
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
