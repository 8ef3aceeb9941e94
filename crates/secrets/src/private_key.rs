//! Private keys in PEM, OpenSSH and PGP armour, recognised by the first line of the key body shortly after the `BEGIN` marker.

use std::ops::Range;

/// Headers such as `Proc-Type` and `DEK-Info` may be between the marker and the body.
const REACH: usize = 240;

/// Shorter runs are words and identifiers.
const LEAST: usize = 20;

/// Whether the run belongs to the body of a private key. Source code that only contains the marker has no body.
pub(crate) fn matched(text: &[u8], run: &Range<usize>) -> Option<&'static str> {
    let token = text.get(run.clone()).filter(|token| token.len() >= LEAST)?;
    // A slash may have split the line into several runs.
    let line = text.get(run.start.saturating_sub(80)..run.start)?;
    let is_part = |byte: &&u8| byte.is_ascii_alphanumeric() || matches!(byte, b'+' | b'/');
    let start = run.start - line.iter().rev().take_while(is_part).count();
    let near = text.get(start.saturating_sub(16)..start)?;
    // Cheap checks first: a body directly follows its marker, an empty line after the headers, or a line count.
    let follows_marker = near.windows(5).any(|five| five == b"-----");
    let follows_gap = near.ends_with(b"\n\n") || near.ends_with(b"\r\n\r\n") || near.ends_with(b"\\n\\");
    let follows_count = near.windows(6).any(|six| six == b"Lines:");
    if !(follows_marker || follows_gap || follows_count) || !is_random_body(token) {
        return None;
    }
    let before = text.get(start.saturating_sub(REACH)..start)?;
    if follows_count {
        return memchr::memmem::find(near, b"te-Lines:").map(|_| "private-key");
    }
    let at = memchr::memmem::rfind(before, b"PRIVATE KEY")?;
    let between = before.get(at + b"PRIVATE KEY".len()..)?;
    let between = between.strip_prefix(b" BLOCK").unwrap_or(between).strip_prefix(b"-----")?;
    memchr::memmem::find(between, b"-----").is_none().then_some("private-key")
}

fn is_random_body(token: &[u8]) -> bool {
    let token = token.get(..512).unwrap_or(token);
    let has_both_cases = token.iter().any(u8::is_ascii_lowercase) && token.iter().any(u8::is_ascii_uppercase);
    has_both_cases && !crate::randomness::is_wordy(token) && crate::randomness::entropy(token) > 2.5
}
