//! The lexer for Go, which also inserts the semicolons that newlines imply. Never fails: invalid bytes are skipped, and an
//! unterminated string or comment extends to the end of the file.

use super::keyword::Keyword;

/// The kind of a token. Keywords are words.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    Word,
    /// A string literal, interpreted or raw.
    Text,
    /// A number or rune literal.
    Value,
    /// A semicolon, explicit or inserted.
    End,
    /// `:=`.
    Define,
    /// `...`.
    Dots,
    /// `<-`, `->` and all other operators of several characters.
    Operator,
    /// A single character, such as a bracket, comma, dot or star.
    Mark(u8),
}

#[derive(Clone, Copy, Debug)]
pub(super) struct Token {
    pub(super) kind: Kind,
    pub(super) keyword: Keyword,
    pub(super) start: u32,
    pub(super) end: u32,
}

/// A comment, kept for build constraints and doc comments.
#[derive(Clone, Copy, Debug)]
pub(super) struct Comment {
    pub(super) start: u32,
    pub(super) end: u32,
}

/// The result of lexing.
#[derive(Default)]
pub(super) struct Lexed {
    pub(super) tokens: Vec<Token>,
    pub(super) comments: Vec<Comment>,
    /// Indices of the tokens that delimit blocks and declarations: opening braces, `:=` and some keywords. Passes over bodies
    /// visit only these.
    pub(super) structure: Vec<u32>,
    /// Indices of words that may be names, and of opening braces. Excludes words after a dot, labels of jumps, and `_`.
    pub(super) names: Vec<u32>,
}

/// Lexes a text of less than 4 GiB.
pub(super) fn lex(text: &str) -> Lexed {
    let lexed = Lexed {
        tokens: Vec::with_capacity(text.len() / 5),
        structure: Vec::with_capacity(text.len() / 40),
        names: Vec::with_capacity(text.len() / 15),
        comments: Vec::new(),
    };
    let mut lexer = Lexer { bytes: text.as_bytes(), at: 0, lexed };
    while lexer.at < lexer.bytes.len() {
        lexer.step(text);
    }
    lexer.line_end();
    lexer.lexed
}

struct Lexer<'t> {
    bytes: &'t [u8],
    at: usize,
    lexed: Lexed,
}

impl Lexer<'_> {
    fn step(&mut self, text: &str) {
        let start = self.at;
        match self.bytes[start] {
            b'\n' => {
                self.line_end();
                self.at += 1;
            }
            b' ' | b'\t' | b'\r' => self.at += 1,
            b'/' if self.peek(1) == Some(b'/') => {
                self.at = memchr::memchr(b'\n', &self.bytes[start..]).map_or(self.bytes.len(), |found| start + found);
                self.lexed.comments.push(Comment { start: start as u32, end: self.at as u32 });
            }
            b'/' if self.peek(1) == Some(b'*') => {
                let rest = &self.bytes[start + 2..];
                let end = memchr::memmem::find(rest, b"*/").map_or(self.bytes.len(), |found| start + found + 4);
                // A comment over several lines acts like a newline at its start.
                if memchr::memchr(b'\n', &self.bytes[start..end]).is_some() {
                    self.line_end();
                }
                self.at = end;
                self.lexed.comments.push(Comment { start: start as u32, end: end as u32 });
            }
            b'"' => self.quoted(b'"', Kind::Text),
            b'\'' => self.quoted(b'\'', Kind::Value),
            b'`' => {
                let end = memchr::memchr(b'`', &self.bytes[start + 1..]);
                self.at = end.map_or(self.bytes.len(), |found| start + found + 2);
                self.push(Kind::Text, start);
            }
            b'0'..=b'9' => self.number(start),
            b'.' if self.peek(1).is_some_and(|next| next.is_ascii_digit()) => self.number(start),
            byte if byte == b'_' || byte.is_ascii_alphabetic() || byte >= 0x80 => self.word(start, text),
            _ => self.operator(start),
        }
    }

    fn peek(&self, ahead: usize) -> Option<u8> {
        self.bytes.get(self.at + ahead).copied()
    }

    fn push(&mut self, kind: Kind, start: usize) {
        self.lexed.tokens.push(Token { kind, keyword: Keyword::No, start: start as u32, end: self.at as u32 });
    }

    /// After a token that can end a statement, a newline implies a semicolon.
    fn line_end(&mut self) {
        let Some(last) = self.lexed.tokens.last() else { return };
        let ends = match last.kind {
            Kind::Text | Kind::Value => true,
            Kind::Word => last.keyword.ends_statement(),
            Kind::Mark(byte) => matches!(byte, b')' | b']' | b'}'),
            Kind::Operator => {
                matches!(self.bytes.get(last.start as usize..last.end as usize), Some(b"++" | b"--"))
            }
            Kind::End | Kind::Define | Kind::Dots => false,
        };
        if ends {
            let at = self.at as u32;
            self.lexed.tokens.push(Token { kind: Kind::End, keyword: Keyword::No, start: at, end: at });
        }
    }

    /// A quoted literal. Ends at the newline at the latest, so that a missing quote affects only one line.
    fn quoted(&mut self, quote: u8, kind: Kind) {
        let start = self.at;
        self.at += 1;
        while let Some(byte) = self.peek(0) {
            match byte {
                b'\n' => break,
                b'\\' => self.at += 1,
                byte if byte == quote => {
                    self.at += 1;
                    break;
                }
                _ => {}
            }
            self.at += 1;
        }
        self.at = self.at.min(self.bytes.len());
        self.push(kind, start);
    }

    fn number(&mut self, start: usize) {
        while let Some(byte) = self.peek(0) {
            let signed = matches!(byte, b'+' | b'-')
                && matches!(self.bytes[self.at - 1] | 0x20, b'e' | b'p')
                && !self.bytes[start..].starts_with(b"0x");
            if !(byte.is_ascii_alphanumeric() || matches!(byte, b'.' | b'_') || (signed && self.at > start)) {
                break;
            }
            self.at += 1;
        }
        self.push(Kind::Value, start);
    }

    fn word(&mut self, start: usize, text: &str) {
        while let Some(byte) = self.peek(0) {
            if byte == b'_' || byte.is_ascii_alphanumeric() {
                self.at += 1;
                continue;
            }
            let next = if byte < 0x80 { None } else { text.get(self.at..).and_then(|rest| rest.chars().next()) };
            match next.filter(|next| next.is_alphanumeric()) {
                Some(next) => self.at += next.len_utf8(),
                None => break,
            }
        }
        if self.at == start {
            // Not a letter: non-ASCII punctuation, or a byte order mark.
            let width = text.get(start..).and_then(|rest| rest.chars().next()).map_or(1, char::len_utf8);
            self.at += width;
            return;
        }
        let word = &self.bytes[start..self.at];
        let keyword = Keyword::of(word);
        let index = self.lexed.tokens.len() as u32;
        if keyword.is_structure() {
            self.lexed.structure.push(index);
        } else if keyword == Keyword::No && word != b"_" && !self.lexed.tokens.last().is_some_and(takes_no_name) {
            self.lexed.names.push(index);
        }
        self.lexed.tokens.push(Token { kind: Kind::Word, keyword, start: start as u32, end: self.at as u32 });
    }

    fn operator(&mut self, start: usize) {
        let rest = &self.bytes[start..];
        let (kind, length) = match rest {
            [b';', ..] => (Kind::End, 1),
            [b':', b'=', ..] => (Kind::Define, 2),
            [b'.', b'.', b'.', ..] => (Kind::Dots, 3),
            [b'<', b'<', b'=', ..] | [b'>', b'>', b'=', ..] | [b'&', b'^', b'=', ..] => (Kind::Operator, 3),
            [b'<', b'<' | b'-' | b'=', ..]
            | [b'>', b'>' | b'=', ..]
            | [b'&', b'&' | b'^' | b'=', ..]
            | [b'|', b'|' | b'=', ..]
            | [b'+', b'+' | b'=', ..]
            | [b'-', b'-' | b'=', ..]
            | [b'=' | b'!' | b'*' | b'/' | b'%' | b'^', b'=', ..] => (Kind::Operator, 2),
            [byte, ..] => (Kind::Mark(*byte), 1),
            [] => return,
        };
        let index = self.lexed.tokens.len() as u32;
        match kind {
            Kind::Define => self.lexed.structure.push(index),
            Kind::Mark(b'{') => {
                self.lexed.structure.push(index);
                self.lexed.names.push(index);
            }
            _ => {}
        }
        self.at += length;
        self.push(kind, start);
    }
}

/// Whether a word after this token is not a name in scope: a selector after a dot, or a label after a jump.
fn takes_no_name(token: &Token) -> bool {
    token.kind == Kind::Mark(b'.') || matches!(token.keyword, Keyword::Break | Keyword::Continue | Keyword::Goto)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(text: &str, expected: &str) {
        let tokens = lex(text).tokens;
        let shown = tokens.iter().map(|token| match token.kind {
            Kind::End => ";".to_owned(),
            _ => text[token.start as usize..token.end as usize].to_owned(),
        });
        assert_eq!(shown.collect::<Vec<_>>().join(" "), expected, "{text}");
    }

    #[test]
    fn literals_comments_and_inserted_semicolons_are_tokens() {
        check("package a\n", "package a ;");
        check("x := y.z(1.5e-3, 0x1F, 'a', '\\'')\n", "x := y . z ( 1.5e-3 , 0x1F , 'a' , '\\'' ) ;");
        check("a /* x\n y */ b // c\n", "a ; b ;");
        check("`raw\n\"` \"in\\\"ner\"", "`raw\n\"` \"in\\\"ner\" ;");
        check("\"open\nx", "\"open ; x ;");
        check("`open\nx", "`open\nx ;");
        check("if a {\n}\nelse", "if a { } ; else");
        check("i++\nf(a...)\nc <- 1", "i ++ ; f ( a ... ) ; c <- 1 ;");
        check("\u{feff}é1 世界 ≠ x", "é1 世界 x ;");
        check("0x1e+2", "0x1e + 2 ;");
        check("", "");
    }
}
