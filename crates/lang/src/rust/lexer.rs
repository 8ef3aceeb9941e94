//! The lexer for Rust. Never fails: invalid bytes are skipped, and an unterminated string or comment extends to the end of the
//! file. Brackets are matched here once, so that no later pass has to search for a closing bracket.

/// The kind of a token. Keywords are words; their text is compared where necessary.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    /// An identifier or keyword. Of a raw identifier, the part after `r#`.
    Word,
    /// A string literal of any kind.
    Text,
    /// A number or character literal.
    Value,
    Lifetime,
    /// `::`.
    Separator,
    /// A single character, such as a bracket, comma or dot.
    Mark(u8),
}

#[derive(Clone, Copy, Debug)]
pub(super) struct Token {
    pub(super) kind: Kind,
    pub(super) start: u32,
    pub(super) end: u32,
}

#[derive(Clone, Copy, Debug)]
pub(super) struct Comment {
    pub(super) start: u32,
    pub(super) end: u32,
}

/// The result of lexing.
pub(super) struct Lexed<'t> {
    pub(super) text: &'t str,
    pub(super) tokens: Vec<Token>,
    /// For each token, the index of the matching bracket, or its own index if there is none.
    pub(super) partners: Vec<u32>,
    pub(super) comments: Vec<Comment>,
    /// The offset of the first unmatched bracket.
    pub(super) unmatched: Option<u32>,
}

/// Lexes a text of less than 4 GiB.
pub(super) fn lex(text: &str) -> Lexed<'_> {
    let bytes = text.as_bytes();
    let expected = text.len() / 4;
    let lexed = Lexed {
        text,
        tokens: Vec::with_capacity(expected),
        partners: Vec::with_capacity(expected),
        comments: Vec::new(),
        unmatched: None,
    };
    let mut lexer = Lexer { bytes, at: 0, lexed, open: Vec::new() };
    // A script may start with `#!/usr/bin/env`, but `#![` starts an attribute.
    if bytes.starts_with(b"#!") {
        let rest = bytes.get(2..).unwrap_or_default().trim_ascii_start();
        if !rest.starts_with(b"[") {
            lexer.skip_line();
        }
    }
    while lexer.at < bytes.len() {
        lexer.step();
    }
    if let Some(open) = lexer.open.first() {
        lexer.lexed.unmatched =
            lexer.lexed.unmatched.or_else(|| lexer.lexed.tokens.get(*open as usize).map(|token| token.start));
    }
    lexer.lexed
}

impl<'t> Lexed<'t> {
    pub(super) fn kind(&self, at: usize) -> Option<Kind> {
        self.tokens.get(at).map(|token| token.kind)
    }

    pub(super) fn is_mark(&self, at: usize, mark: u8) -> bool {
        self.kind(at) == Some(Kind::Mark(mark))
    }

    pub(super) fn text_at(&self, at: usize) -> &'t str {
        self.tokens.get(at).map_or("", |token| self.text.get(token.start as usize..token.end as usize).unwrap_or(""))
    }

    /// The text of a word; empty for other tokens.
    pub(super) fn word(&self, at: usize) -> &'t str {
        if self.kind(at) == Some(Kind::Word) { self.text_at(at) } else { "" }
    }

    /// The index of the bracket that closes the one at `at`; one past the last token if it is unclosed.
    pub(super) fn closing(&self, at: usize) -> usize {
        match self.partners.get(at) {
            Some(partner) if *partner as usize > at => *partner as usize,
            _ => self.tokens.len(),
        }
    }

    pub(super) fn is_open(&self, at: usize) -> bool {
        matches!(self.kind(at), Some(Kind::Mark(b'(' | b'[' | b'{')))
    }
}

struct Lexer<'t> {
    bytes: &'t [u8],
    at: usize,
    lexed: Lexed<'t>,
    /// The indices of open brackets.
    open: Vec<u32>,
}

impl Lexer<'_> {
    fn step(&mut self) {
        let start = self.at;
        match self.bytes[start] {
            b' ' | b'\n' | b'\t' | b'\r' | 0x0b | 0x0c => self.at += 1,
            b'/' if self.peek(1) == Some(b'/') => {
                self.skip_line();
                self.comment(start);
            }
            b'/' if self.peek(1) == Some(b'*') => self.block_comment(start),
            b'"' => self.quoted(start),
            b'\'' => self.quote(start),
            b'0'..=b'9' => self.number(start),
            // May be a raw, byte or C string, or a raw identifier.
            b'r' | b'b' | b'c' => {
                if !self.prefixed(start) {
                    self.word(start);
                }
            }
            byte if byte == b'_' || byte.is_ascii_alphabetic() => self.word(start),
            byte if byte >= 0x80 => self.word(start),
            b':' if self.peek(1) == Some(b':') => {
                self.at += 2;
                self.push(Kind::Separator, start);
            }
            byte => {
                self.at += 1;
                self.mark(byte, start);
            }
        }
    }

    fn peek(&self, ahead: usize) -> Option<u8> {
        self.bytes.get(self.at + ahead).copied()
    }

    fn push(&mut self, kind: Kind, start: usize) {
        let index = self.lexed.tokens.len() as u32;
        self.lexed.tokens.push(Token { kind, start: start as u32, end: self.at as u32 });
        self.lexed.partners.push(index);
    }

    fn mark(&mut self, byte: u8, start: usize) {
        let index = self.lexed.tokens.len() as u32;
        self.push(Kind::Mark(byte), start);
        let wanted = match byte {
            b'(' | b'[' | b'{' => {
                self.open.push(index);
                return;
            }
            b')' => b'(',
            b']' => b'[',
            b'}' => b'{',
            _ => return,
        };
        // On a mismatch, assume that the inner bracket is unclosed if the right one is open further out. Only for braces, because
        // they end blocks.
        let is_wanted =
            |open: &u32| self.lexed.tokens.get(*open as usize).is_some_and(|token| token.kind == Kind::Mark(wanted));
        if self.open.last().is_some_and(is_wanted) {
            self.join(index);
            return;
        }
        self.lexed.unmatched.get_or_insert(start as u32);
        if byte == b'}' && self.open.iter().rev().take(8).any(is_wanted) {
            while self.open.last().is_some_and(|open| !is_wanted(open)) {
                self.open.pop();
            }
            self.join(index);
        }
    }

    fn join(&mut self, close: u32) {
        let Some(open) = self.open.pop() else { return };
        self.lexed.partners[open as usize] = close;
        self.lexed.partners[close as usize] = open;
    }

    fn skip_line(&mut self) {
        let rest = &self.bytes[self.at..];
        self.at = memchr::memchr(b'\n', rest).map_or(self.bytes.len(), |found| self.at + found);
    }

    fn comment(&mut self, start: usize) {
        self.lexed.comments.push(Comment { start: start as u32, end: self.at as u32 });
    }

    /// Block comments nest.
    fn block_comment(&mut self, start: usize) {
        self.at += 2;
        let mut depth = 1;
        while depth > 0 {
            let rest = self.bytes.get(self.at..).unwrap_or_default();
            let Some(found) = memchr::memchr2(b'*', b'/', rest) else {
                self.at = self.bytes.len();
                break;
            };
            self.at += found;
            match (self.bytes[self.at], self.peek(1)) {
                (b'*', Some(b'/')) => {
                    depth -= 1;
                    self.at += 2;
                }
                (b'/', Some(b'*')) => {
                    depth += 1;
                    self.at += 2;
                }
                _ => self.at += 1,
            }
        }
        self.comment(start);
    }

    /// A string with escapes; `at` is its opening quote.
    fn quoted(&mut self, start: usize) {
        self.at += 1;
        loop {
            let rest = self.bytes.get(self.at..).unwrap_or_default();
            let Some(found) = memchr::memchr2(b'"', b'\\', rest) else {
                self.at = self.bytes.len();
                break;
            };
            self.at += found + 1;
            if self.bytes[self.at - 1] == b'"' {
                break;
            }
            self.at = (self.at + 1).min(self.bytes.len());
        }
        self.push(Kind::Text, start);
    }

    /// A character literal or a lifetime.
    fn quote(&mut self, start: usize) {
        let rest = &self.bytes[start + 1..];
        let width = rest.first().map_or(0, |byte| match byte {
            0..0x80 => 1,
            0x80..0xe0 => 2,
            0xe0..0xf0 => 3,
            _ => 4,
        });
        if rest.first() == Some(&b'\\') {
            // `'\''`, `'\\'`, `'\u{1F600}'`.
            let end = rest.get(2..).and_then(|rest| memchr::memchr2(b'\'', b'\n', rest));
            self.at = end.map_or(self.bytes.len(), |end| start + 3 + end);
            if self.peek(0) == Some(b'\'') {
                self.at += 1;
            }
            self.push(Kind::Value, start);
        } else if width > 0 && rest.get(width) == Some(&b'\'') {
            self.at = start + width + 2;
            self.push(Kind::Value, start);
        } else {
            self.at += 1;
            while self.peek(0).is_some_and(is_word) {
                self.at += 1;
            }
            self.push(Kind::Lifetime, start);
        }
    }

    fn number(&mut self, start: usize) {
        while let Some(byte) = self.peek(0) {
            let exponent = matches!(byte, b'+' | b'-')
                && self.at > start
                && matches!(self.bytes[self.at - 1], b'e' | b'E')
                && !self.bytes[start..].starts_with(b"0x")
                && self.peek(1).is_some_and(|next| next.is_ascii_digit());
            // `1.5`, but not `1..2` or `1.max(2)`.
            let point = byte == b'.' && self.peek(1).is_some_and(|next| next.is_ascii_digit());
            if !(byte == b'_' || byte.is_ascii_alphanumeric() || point || exponent) {
                break;
            }
            self.at += 1;
        }
        self.push(Kind::Value, start);
    }

    /// Literals with a prefix, and raw identifiers. Returns `false` for a plain word.
    fn prefixed(&mut self, start: usize) -> bool {
        let rest = &self.bytes[start..];
        let raw = match rest {
            [b'r', ..] => 1,
            [b'b' | b'c', b'r', ..] => 2,
            [b'b' | b'c', b'"', ..] => {
                self.at += 1;
                self.quoted(start);
                return true;
            }
            [b'b', b'\'', ..] => {
                self.at += 1;
                self.quote(start + 1);
                return true;
            }
            _ => return false,
        };
        let hashes = rest[raw..].iter().take_while(|byte| **byte == b'#').count();
        match rest.get(raw + hashes) {
            Some(b'"') => {
                self.raw_string(start, start + raw + hashes + 1, hashes);
                true
            }
            Some(byte) if raw == 1 && hashes == 1 && is_word(*byte) => {
                self.at += 2;
                self.word(start + 2);
                true
            }
            _ => false,
        }
    }

    fn raw_string(&mut self, start: usize, inner: usize, hashes: usize) {
        let mut at = inner;
        self.at = self.bytes.len();
        while let Some(found) = self.bytes.get(at..).and_then(|rest| memchr::memchr(b'"', rest)) {
            at += found + 1;
            let behind = self.bytes.get(at..).unwrap_or_default();
            let closing = behind.iter().take(hashes).take_while(|byte| **byte == b'#').count();
            if closing == hashes {
                self.at = at + hashes;
                break;
            }
            // No other quote precedes these hashes, so skip them: this keeps the scan linear.
            at += closing;
        }
        self.push(Kind::Text, start);
    }

    fn word(&mut self, start: usize) {
        let rest = &self.bytes[start..];
        let length = rest.iter().position(|byte| !is_word(*byte)).unwrap_or(rest.len());
        self.at = start + length;
        self.push(Kind::Word, start);
    }
}

/// Bytes of identifiers. All non-ASCII bytes count as letters.
fn is_word(byte: u8) -> bool {
    byte == b'_' || byte.is_ascii_alphanumeric() || byte >= 0x80
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(text: &str, expected: &str) {
        let lexed = lex(text);
        let shown: Vec<&str> = (0..lexed.tokens.len()).map(|at| lexed.text_at(at)).collect();
        assert_eq!(shown.join(" "), expected, "{text}");
    }

    #[test]
    fn literals_lifetimes_and_comments_are_tokens() {
        check("use a::{b, c as d};", "use a :: { b , c as d } ;");
        check("'a' 'a '\\'' '\\u{1F600}' b'x' 'é' '_", "'a' 'a '\\'' '\\u{1F600}' 'x' 'é' '_");
        check("r#\"a\"b\"# r#type br\"\\\" c\"x\" b\"\\\"\" r", "r#\"a\"b\"# type br\"\\\" c\"x\" b\"\\\"\" r");
        check("r##\"a\"#\"## x", "r##\"a\"#\"## x");
        check("1..2 1.5e-3 0xFE_u8 1.max(2) 1e5", "1 . . 2 1.5e-3 0xFE_u8 1 . max ( 2 ) 1e5");
        check("a /* x /* y */ z */ b // c\nd", "a b d");
        check("#!/bin/sh\nfn", "fn");
        check("#![allow]\nfn", "# ! [ allow ] fn");
        check("\"open\nx", "\"open\nx");
        check("/* open\nx", "");
        check("r#\"open\"", "r#\"open\"");
        check("é世 ≠", "é世 ≠");
        check("'", "'");
        check("'\\", "'\\");
        check("", "");
    }

    #[test]
    fn brackets_are_matched_and_a_closing_brace_closes_open_inner_brackets() {
        let partners = |text: &str| lex(text).partners;
        assert_eq!(partners("( [ ] )"), [3, 2, 1, 0]);
        assert_eq!(partners("{ ( } x"), [2, 1, 0, 3]);
        assert_eq!(partners(") {"), [0, 1]);
        assert_eq!(lex("a ) b").unmatched, Some(2));
        assert_eq!(lex("a ( b").unmatched, Some(2));
        assert_eq!(lex("a ( b )").unmatched, None);
    }
}
