//! The parser behind [`super::parse`]: recursive, with a depth limit, and never gives up.
//!
//! Recovery follows TypeScript's JSON parser where that has a visible effect on configuration files. For worse damage, it only
//! guarantees progress and keeps what was read.

use rustc_hash::FxHashMap;

use super::{Document, JsonError, Value};

/// Deeper nesting is an error and skipped: the recursion must not exhaust the stack.
const MAX_DEPTH: u32 = 512;

pub(super) fn parse(text: &str) -> Document {
    let text = text.strip_prefix('\u{FEFF}').unwrap_or(text);
    let mut parser =
        Parser { text, bytes: text.as_bytes(), at: 0, depth: 0, expressions: 0, syntax: None, not_json: None };
    let value = parser.document();
    let located = |error: Option<(usize, &'static str)>| {
        error.map(|(at, message)| JsonError { line: line_of(text, at), message })
    };
    Document { value, syntax_error: located(parser.syntax), not_json: located(parser.not_json) }
}

fn line_of(text: &str, at: usize) -> u32 {
    let before = text.as_bytes().get(..at).unwrap_or(text.as_bytes());
    let breaks = before.iter().filter(|byte| **byte == b'\n').count();
    u32::try_from(breaks).unwrap_or(u32::MAX - 1) + 1
}

struct Parser<'t> {
    text: &'t str,
    bytes: &'t [u8],
    at: usize,
    depth: u32,
    /// The number of expressions skipped so far.
    expressions: u32,
    syntax: Option<(usize, &'static str)>,
    not_json: Option<(usize, &'static str)>,
}

impl Parser<'_> {
    fn document(&mut self) -> Value {
        self.skip_trivia();
        if self.peek().is_none() {
            return Value::Object(Vec::new());
        }
        let first = self.root();
        self.skip_trivia();
        if self.peek().is_none() {
            return first;
        }
        self.syntax_error("unexpected text after the value");
        let mut roots = vec![first];
        while self.peek().is_some() {
            let before = self.at;
            let root = self.root();
            self.skip_trivia();
            if self.at == before {
                self.bump_char();
                self.skip_trivia();
            } else {
                roots.push(root);
            }
        }
        Value::Array(roots)
    }

    /// The value at the top of the file. Text that starts no value is parsed as the members of an object whose brace is missing.
    fn root(&mut self) -> Value {
        match self.peek() {
            Some(b'{' | b'[') => self.value(),
            Some(b'"' | b'\'' | b'-' | b'0'..=b'9') => {
                let start = self.at;
                let (syntax, not_json) = (self.syntax, self.not_json);
                let value = self.value();
                self.skip_trivia();
                if self.peek() != Some(b':') {
                    return value;
                }
                (self.at, self.syntax, self.not_json) = (start, syntax, not_json);
                self.braceless_object()
            }
            _ => match self.keyword() {
                Some(value) => value,
                None => self.braceless_object(),
            },
        }
    }

    fn braceless_object(&mut self) -> Value {
        self.syntax_error("`{` expected");
        self.members()
    }

    fn value(&mut self) -> Value {
        match self.peek() {
            Some(open @ (b'{' | b'[')) => {
                if self.depth >= MAX_DEPTH {
                    self.syntax_error("nested too deeply");
                    self.skip_balanced();
                    return Value::Null;
                }
                self.depth += 1;
                self.at += 1;
                let value = if open == b'{' { self.members() } else { self.elements() };
                self.depth -= 1;
                value
            }
            Some(quote @ (b'"' | b'\'')) => {
                if quote == b'\'' {
                    self.not_json("double quotes expected");
                }
                Value::String(self.string(quote).into())
            }
            Some(b'-' | b'0'..=b'9') => self.number(),
            _ => self.keyword().unwrap_or_else(|| self.expression()),
        }
    }

    /// The members of an object, including its closing brace.
    fn members(&mut self) -> Value {
        let mut entries: Vec<(Box<str>, Value)> = Vec::new();
        loop {
            self.skip_trivia();
            match self.peek() {
                None => {
                    self.syntax_error("`}` expected");
                    break;
                }
                Some(b'}') => {
                    self.at += 1;
                    break;
                }
                Some(b']') if self.depth > 1 => {
                    // Most likely the bracket closes an enclosing array, and the brace is missing.
                    self.syntax_error("`}` expected");
                    break;
                }
                _ => {}
            }
            let Some(key) = self.key() else {
                self.syntax_error("a property name expected");
                self.bump_char();
                continue;
            };
            entries.push((key.into(), self.member_value()));
            self.separator(b'}');
        }
        Value::Object(without_duplicates(entries))
    }

    fn member_value(&mut self) -> Value {
        self.skip_trivia();
        if self.peek() == Some(b':') {
            self.at += 1;
            self.skip_trivia();
        } else {
            self.syntax_error("`:` expected");
        }
        if matches!(self.peek(), None | Some(b',' | b'}' | b']')) {
            self.syntax_error("a value expected");
            return Value::Null;
        }
        let value = self.value();
        self.operand(value)
    }

    /// The elements of an array, including its closing bracket.
    fn elements(&mut self) -> Value {
        let mut items = Vec::new();
        loop {
            self.skip_trivia();
            match self.peek() {
                None => {
                    self.syntax_error("`]` expected");
                    break;
                }
                Some(b']') => {
                    self.at += 1;
                    break;
                }
                Some(b'}' | b':') => {
                    self.syntax_error("`]` expected");
                    break;
                }
                Some(b',') => {
                    self.not_json("a value expected");
                    self.at += 1;
                    continue;
                }
                _ => {}
            }
            let before = self.at;
            let expressions = self.expressions;
            let value = self.value();
            let value = self.operand(value);
            // A skipped expression has no value; a written `null` has one.
            if value != Value::Null || self.expressions == expressions {
                items.push(value);
            }
            if self.at == before {
                self.bump_char();
            }
            self.separator(b']');
        }
        Value::Array(items)
    }

    /// After a member or an element: a comma, the end, or a missing comma.
    fn separator(&mut self, close: u8) {
        self.skip_trivia();
        match self.peek() {
            Some(b',') => self.at += 1,
            None => {}
            Some(byte) if byte == close => {}
            Some(b';') => {
                self.syntax_error("`,` expected");
                self.at += 1;
            }
            Some(_) => self.syntax_error("`,` expected"),
        }
    }

    /// A value followed by an operator is an expression, which has no value here.
    fn operand(&mut self, value: Value) -> Value {
        self.skip_trivia();
        match self.peek() {
            None | Some(b',' | b'}' | b']' | b'{' | b':' | b';' | b'"' | b'\'' | b'#' | b'@') => value,
            Some(byte) if byte.is_ascii_alphanumeric() || byte == b'_' || byte == b'$' || byte >= 0x80 => value,
            Some(_) => self.expression(),
        }
    }

    fn key(&mut self) -> Option<String> {
        match self.peek()? {
            b'"' => Some(self.string(b'"')),
            b'\'' => {
                self.not_json("double quotes expected");
                Some(self.string(b'\''))
            }
            byte if is_name_byte(byte) => {
                self.not_json("double quotes expected");
                Some(self.word().to_owned())
            }
            _ => None,
        }
    }

    fn word(&mut self) -> &str {
        let start = self.at;
        while self.peek().is_some_and(is_name_byte) {
            self.at += 1;
        }
        self.text.get(start..self.at).unwrap_or_default()
    }

    fn keyword(&mut self) -> Option<Value> {
        let start = self.at;
        let value = match self.word() {
            "true" => Value::Bool(true),
            "false" => Value::Bool(false),
            "null" => Value::Null,
            _ => {
                self.at = start;
                return None;
            }
        };
        Some(value)
    }

    /// Skips an expression that is not JSON.
    fn expression(&mut self) -> Value {
        self.not_json("a string, number, boolean, null, object or array expected");
        self.expressions = self.expressions.wrapping_add(1);
        loop {
            self.skip_trivia();
            match self.peek() {
                None | Some(b',' | b'}' | b']' | b':' | b';') => return Value::Null,
                Some(b'{' | b'[' | b'(') => self.skip_balanced(),
                Some(quote @ (b'"' | b'\'' | b'`')) => {
                    self.string(quote);
                }
                Some(_) => self.bump_char(),
            }
        }
    }

    /// Skips a bracketed group, without recursion.
    fn skip_balanced(&mut self) {
        let mut open = 0u32;
        loop {
            self.skip_trivia();
            match self.peek() {
                None => return,
                Some(b'{' | b'[' | b'(') => {
                    open = open.saturating_add(1);
                    self.at += 1;
                }
                Some(b'}' | b']' | b')') => {
                    open = open.saturating_sub(1);
                    self.at += 1;
                    if open == 0 {
                        return;
                    }
                }
                Some(quote @ (b'"' | b'\'' | b'`')) => {
                    self.string(quote);
                }
                Some(_) => self.bump_char(),
            }
        }
    }

    fn number(&mut self) -> Value {
        let start = self.at;
        let negative = self.peek() == Some(b'-');
        if negative {
            self.at += 1;
            self.skip_trivia();
            if !self.peek().is_some_and(|byte| byte.is_ascii_digit()) {
                self.at = start;
                return self.expression();
            }
        }
        let digits = self.at;
        while let Some(byte) = self.peek() {
            let sign_of_exponent = matches!(byte, b'+' | b'-')
                && matches!(self.bytes.get(self.at.wrapping_sub(1)), Some(b'e' | b'E'))
                && !self.text.get(digits..self.at).is_some_and(|text| text.starts_with("0x"));
            if !(byte.is_ascii_alphanumeric() || byte == b'.' || byte == b'_' || sign_of_exponent) {
                break;
            }
            self.at += 1;
        }
        let written = self.text.get(digits..self.at).unwrap_or_default();
        let number = written.parse::<f64>().ok().filter(|number| number.is_finite()).or_else(|| hexadecimal(written));
        match number {
            Some(number) => Value::Number(if negative { -number } else { number }),
            None => {
                self.syntax.get_or_insert((start, "a number expected"));
                Value::Null
            }
        }
    }

    /// A quoted string with JavaScript's escapes; an unterminated one ends with its line.
    fn string(&mut self, quote: u8) -> String {
        self.at += 1;
        let mut out = String::new();
        let mut run = self.at;
        loop {
            let byte = self.peek();
            match byte {
                Some(b'\\') => {
                    out.push_str(self.text.get(run..self.at).unwrap_or_default());
                    self.at += 1;
                    self.escape(&mut out);
                    run = self.at;
                }
                Some(byte) if byte == quote => {
                    out.push_str(self.text.get(run..self.at).unwrap_or_default());
                    self.at += 1;
                    return out;
                }
                None | Some(b'\n' | b'\r') if byte.is_none() || quote != b'`' => {
                    out.push_str(self.text.get(run..self.at).unwrap_or_default());
                    self.syntax_error("unterminated string");
                    return out;
                }
                _ => self.at += 1,
            }
        }
    }

    fn escape(&mut self, out: &mut String) {
        let Some(character) = self.text.get(self.at..).and_then(|rest| rest.chars().next()) else { return };
        self.at += character.len_utf8();
        match character {
            'n' => out.push('\n'),
            't' => out.push('\t'),
            'r' => out.push('\r'),
            'b' => out.push('\u{8}'),
            'f' => out.push('\u{C}'),
            'v' => out.push('\u{B}'),
            '0' => out.push('\0'),
            'x' => self.hex_escape(2, out),
            'u' => self.unicode_escape(out),
            '\r' if self.peek() == Some(b'\n') => self.at += 1,
            '\n' | '\r' | '\u{2028}' | '\u{2029}' => {}
            other => out.push(other),
        }
    }

    fn hex_escape(&mut self, digits: usize, out: &mut String) {
        match self.hex_digits(digits).and_then(char::from_u32) {
            Some(character) => out.push(character),
            None => {
                self.syntax_error("hexadecimal digits expected");
                out.push(char::REPLACEMENT_CHARACTER);
            }
        }
    }

    fn unicode_escape(&mut self, out: &mut String) {
        let Some(first) = self.hex_digits(4) else {
            self.syntax_error("hexadecimal digits expected");
            return;
        };
        if let Some(character) = char::from_u32(first) {
            return out.push(character);
        }
        let after_first = self.at;
        if (0xD800..0xDC00).contains(&first) && self.bytes.get(self.at..self.at + 2) == Some(b"\\u") {
            self.at += 2;
            if let Some(second) = self.hex_digits(4).filter(|second| (0xDC00..0xE000).contains(second)) {
                let joined = 0x10000 + ((first - 0xD800) << 10) + (second - 0xDC00);
                return out.push(char::from_u32(joined).unwrap_or(char::REPLACEMENT_CHARACTER));
            }
        }
        self.at = after_first;
        out.push(char::REPLACEMENT_CHARACTER);
    }

    fn hex_digits(&mut self, count: usize) -> Option<u32> {
        let digits = self.text.get(self.at..self.at + count)?;
        if !digits.bytes().all(|byte| byte.is_ascii_hexdigit()) {
            return None;
        }
        self.at += count;
        u32::from_str_radix(digits, 16).ok()
    }

    /// White space, comments and merge conflict markers.
    fn skip_trivia(&mut self) {
        while let Some(byte) = self.peek() {
            match byte {
                b' ' | b'\t' | b'\n' | b'\r' | 0x0B | 0x0C => self.at += 1,
                b'/' if self.bytes.get(self.at + 1) == Some(&b'/') => self.skip_line(),
                b'/' if self.bytes.get(self.at + 1) == Some(&b'*') => self.skip_block_comment(),
                b'<' | b'>' | b'=' | b'|' if self.at_conflict_marker() => self.skip_conflict_marker(byte),
                0x80.. => {
                    let character = self.text.get(self.at..).and_then(|rest| rest.chars().next());
                    match character {
                        Some(space) if space.is_whitespace() || space == '\u{FEFF}' => self.at += space.len_utf8(),
                        _ => return,
                    }
                }
                _ => return,
            }
        }
    }

    fn skip_line(&mut self) {
        while !matches!(self.peek(), None | Some(b'\n' | b'\r')) {
            self.at += 1;
        }
    }

    fn skip_block_comment(&mut self) {
        match self.text.get(self.at + 2..).and_then(|rest| rest.find("*/")) {
            Some(length) => self.at += length + 4,
            None => {
                self.syntax_error("`*/` expected");
                self.at = self.bytes.len();
            }
        }
    }

    fn at_conflict_marker(&self) -> bool {
        let line_start = self.at == 0 || matches!(self.bytes.get(self.at - 1), Some(b'\n' | b'\r'));
        let Some(marker) = self.bytes.get(self.at..self.at + 7).filter(|_| line_start) else { return false };
        marker.iter().all(|byte| Some(byte) == marker.first())
            && (marker.first() == Some(&b'=') || self.bytes.get(self.at + 7) == Some(&b' '))
    }

    /// Keeps the first side of a merge conflict and skips the rest, including the closing marker.
    fn skip_conflict_marker(&mut self, marker: u8) {
        self.syntax_error("merge conflict marker");
        if matches!(marker, b'<' | b'>') {
            return self.skip_line();
        }
        self.at += 1;
        while let Some(byte) = self.peek() {
            if matches!(byte, b'=' | b'>') && byte != marker && self.at_conflict_marker() {
                return;
            }
            self.at += 1;
        }
    }

    fn peek(&self) -> Option<u8> {
        self.bytes.get(self.at).copied()
    }

    /// Skips one character, which may have several bytes.
    fn bump_char(&mut self) {
        self.at += 1;
        while self.at < self.bytes.len() && !self.text.is_char_boundary(self.at) {
            self.at += 1;
        }
    }

    fn syntax_error(&mut self, message: &'static str) {
        self.syntax.get_or_insert((self.at, message));
    }

    fn not_json(&mut self, message: &'static str) {
        self.not_json.get_or_insert((self.at, message));
    }
}

fn is_name_byte(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || byte == b'_' || byte == b'$' || byte >= 0x80
}

fn hexadecimal(written: &str) -> Option<f64> {
    let digits = written.strip_prefix("0x").or_else(|| written.strip_prefix("0X"))?;
    u64::from_str_radix(digits, 16).ok().map(|number| number as f64)
}

/// Keeps the last value of each key, at the position of the first.
fn without_duplicates(entries: Vec<(Box<str>, Value)>) -> Vec<(Box<str>, Value)> {
    let mut places: FxHashMap<&str, usize> = FxHashMap::default();
    let doubled = entries.len() > 1 && !entries.iter().all(|(key, _)| places.insert(key, 0).is_none());
    if !doubled {
        return entries;
    }
    let mut places: FxHashMap<Box<str>, usize> = FxHashMap::default();
    let mut kept: Vec<(Box<str>, Value)> = Vec::with_capacity(entries.len());
    for (key, value) in entries {
        match places.get(&key).and_then(|place| kept.get_mut(*place)) {
            Some(slot) => slot.1 = value,
            None => {
                places.insert(key.clone(), kept.len());
                kept.push((key, value));
            }
        }
    }
    kept
}
