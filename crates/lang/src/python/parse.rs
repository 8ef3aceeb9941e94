//! Runs the parser, which is ruff's and recovers from errors, on a thread with enough stack. For deep nesting, the stack size is
//! derived from the text, as for TypeScript. Knows nothing about imports.

use std::borrow::Cow;
use std::panic::{AssertUnwindSafe, catch_unwind};

use ruff_python_ast::{ModModule, PySourceType};
use ruff_python_parser::{Parsed, parse_unchecked_source};
use ruff_text_size::Ranged;

use super::is_stub;
use crate::decode;
use crate::stack::{self, StackPlan};

/// The first syntax error of a file.
pub(super) struct SyntaxError {
    pub(super) position: u32,
    pub(super) message: String,
    /// The number of further errors.
    pub(super) more: usize,
}

/// The text of a file; `None` for binary content. A declared one-byte encoding is used only if the bytes are not valid UTF-8.
pub(super) fn text_of(bytes: &[u8]) -> (Option<Cow<'_, str>>, Option<&'static str>) {
    let decoded = decode::decode(bytes);
    // Decoded without a problem and without a copy: valid UTF-8.
    let is_plain = decoded.problem.is_none() && matches!(decoded.text, Some(Cow::Borrowed(_)));
    if !is_plain && std::str::from_utf8(bytes).is_err() && declares_latin(bytes) {
        return (Some(bytes.iter().map(|byte| char::from(*byte)).collect::<String>().into()), None);
    }
    (decoded.text, decoded.problem)
}

/// Whether one of the first two lines declares a one-byte encoding (PEP 263).
fn declares_latin(bytes: &[u8]) -> bool {
    let mut lines = bytes.split(|byte| *byte == b'\n').take(2);
    lines.any(|line| {
        let line = line.get(..line.len().min(200)).unwrap_or_default().to_ascii_lowercase();
        let has = |word: &[u8]| memchr::memmem::find(&line, word).is_some();
        line.trim_ascii_start().starts_with(b"#")
            && has(b"coding")
            && [&b"latin"[..], b"8859", b"cp125", b"windows-125"].into_iter().any(has)
    })
}

/// Runs `work` on a thread with enough stack for the tree of this text. The error says why there is none.
pub(super) fn with_room<T: Send>(text: &str, work: impl FnOnce() -> T + Send) -> Result<T, &'static str> {
    if u32::try_from(text.len()).is_err() {
        return Err("is larger than 4 GiB");
    }
    // A panic of the parser must not end the run. Unwind safe, because everything it has touched is dropped.
    let caught = || catch_unwind(AssertUnwindSafe(work)).map_err(|_| "made the parser fail");
    match StackPlan::by_tokens(text) {
        StackPlan::CurrentThread => caught(),
        StackPlan::DedicatedThread(size) => {
            stack::with_stack(size, caught).ok_or("needs more stack than the system gives")?
        }
        StackPlan::TooDeep(reason) => Err(reason),
    }
}

/// Parses a file; with errors, the tree is partial. Must be called inside [`with_room`].
pub(super) fn parse(path: &str, text: &str) -> Parsed<ModModule> {
    let source = if is_stub(path) { PySourceType::Stub } else { PySourceType::Python };
    parse_unchecked_source(text, source)
}

/// The first syntax error.
pub(super) fn error(parsed: &Parsed<ModModule>) -> Option<SyntaxError> {
    let first = parsed.errors().first()?;
    Some(SyntaxError {
        position: first.location.start().to_u32(),
        message: first.error.to_string().split_whitespace().collect::<Vec<_>>().join(" "),
        more: parsed.errors().len() - 1,
    })
}

/// The start and end offsets of a node.
pub(super) fn span(node: &impl Ranged) -> (u32, u32) {
    let range = node.range();
    (range.start().to_u32(), range.end().to_u32())
}
