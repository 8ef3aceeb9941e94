//! A tolerant tokenizer for files without a syntax tree: finds imports and estimates nesting. It guesses what only a parser can
//! know (regular expression or division), and does not find bindings.

use stan_model::EdgeKind;

use super::collect::Collector;
use super::functions::Functions;
use super::{jsdoc, reference};
use crate::typescript::form::Form;

/// The maximum number of tokens between an `import` and its `from`.
const MAX_CLAUSE_TOKENS: usize = 20_000;

/// Records static imports, re-exports, and calls of `require` and `import()`. Comments count as with a parser: the documented
/// types of JavaScript, and `/// <reference …>`.
pub(super) fn scan<'a>(text: &'a str, is_javascript: bool, found: &mut Collector<'a>) {
    reference::references_in_text(text, found);
    let mut tokens = Tokens::new(text);
    tokens.docs = is_javascript.then(Vec::new);
    let mut functions = Functions::new();
    while let Some(token) = tokens.next() {
        let before = functions.before();
        let is_member = before[0] == Token::Mark(b'.');
        functions.see(token, tokens.byte(0));
        match token {
            Token::Word("import") if !is_member => import(&mut tokens, before, found),
            Token::Word("export") if !is_member => export(&mut tokens, found),
            Token::Word("require") if !is_member => {
                let kind = if functions.inside() { EdgeKind::Dynamic } else { EdgeKind::Runtime };
                let form = if functions.require_is_parameter() { Form::RequireParam } else { Form::Require };
                call(&mut tokens, kind, form, found);
            }
            _ => {}
        }
    }
    for (start, content) in tokens.docs.into_iter().flatten() {
        jsdoc::comment_requests(start, content, found);
    }
}

fn import<'a>(tokens: &mut Tokens<'a>, before: [Token<'a>; 2], found: &mut Collector<'a>) {
    let mut ahead = tokens.ahead();
    match ahead.next() {
        Some(Token::Mark(b'(')) if is_type_position(before, &ahead) => {
            call(tokens, EdgeKind::Type, Form::ImportType, found);
        }
        Some(Token::Mark(b'(')) => call(tokens, EdgeKind::Dynamic, Form::DynamicImport, found),
        Some(Token::String(position, specifier)) => {
            found.is_module = true;
            found.request(position, specifier, EdgeKind::Runtime, Form::Static, None);
            tokens.advance_to(&ahead);
        }
        Some(Token::Word(first)) => {
            // `import typeof` is Flow's syntax.
            let type_only = matches!(first, "type" | "typeof")
                && !matches!(ahead.ahead().next(), Some(Token::Word("from") | Token::Mark(b',' | b'=')));
            clause(tokens, kind_of(type_only), found);
        }
        Some(Token::Mark(b'{' | b'*')) => {
            clause(tokens, EdgeKind::Runtime, found);
        }
        _ => {}
    }
}

fn export<'a>(tokens: &mut Tokens<'a>, found: &mut Collector<'a>) {
    found.is_module = true;
    let mut ahead = tokens.ahead();
    let mut next = ahead.next();
    let type_only = next == Some(Token::Word("type"));
    if type_only {
        next = ahead.next();
    }
    let star = next == Some(Token::Mark(b'*'));
    if star || next == Some(Token::Mark(b'{')) {
        let unnamed = star && ahead.next() == Some(Token::Word("from"));
        if let Some(request) = clause(tokens, kind_of(type_only), found)
            && unnamed
        {
            found.star(request);
        }
    }
}

/// Whether an `import(` after these tokens is a type: where a value is possible too, only a type continues with `.Name`.
fn is_type_position(before: [Token<'_>; 2], after: &Tokens<'_>) -> bool {
    match before[0] {
        Token::Word("typeof" | "keyof" | "as" | "extends" | "is" | "satisfies") => true,
        Token::Mark(mark @ (b'<' | b'|' | b'&')) => before[1] != Token::Mark(mark),
        Token::Mark(b':' | b'=') => {
            let mut after = after.ahead();
            matches!(after.next(), Some(Token::String(..)))
                && after.next() == Some(Token::Mark(b')'))
                && after.next() == Some(Token::Mark(b'.'))
                && !matches!(after.next(), Some(Token::Word("then" | "catch" | "finally")) | None)
        }
        _ => false,
    }
}

fn kind_of(type_only: bool) -> EdgeKind {
    if type_only { EdgeKind::Type } else { EdgeKind::Runtime }
}

/// Finds the `from 'x'` or `= require('x')` of an import or export clause. Stops at the first token that cannot be part of one.
fn clause<'a>(tokens: &mut Tokens<'a>, kind: EdgeKind, found: &mut Collector<'a>) -> Option<super::collect::RawId> {
    let mut ahead = tokens.ahead();
    let mut names = ClauseNames::default();
    for _ in 0..MAX_CLAUSE_TOKENS {
        let token = ahead.next()?;
        match token {
            Token::Word("from") => {
                if let Some(Token::String(position, specifier)) = ahead.ahead().next() {
                    found.is_module = true;
                    tokens.advance_to(&ahead);
                    let kind = if names.are_types() { EdgeKind::Type } else { kind };
                    return found.request(position, specifier, kind, Form::Static, None);
                }
            }
            Token::Mark(b'=') => {
                let is_require =
                    ahead.next() == Some(Token::Word("require")) && ahead.next() == Some(Token::Mark(b'('));
                let Some(Token::String(position, specifier)) = ahead.next().filter(|_| is_require) else { return None };
                found.is_module = true;
                tokens.advance_to(&ahead);
                return found.request(position, specifier, kind, Form::ImportEquals, None);
            }
            Token::Word("import" | "export") | Token::Mark(b';' | b'(' | b')') => return None,
            _ => {}
        }
        names.see(token, &ahead);
    }
    None
}

/// The names that a clause binds: whether all of them are marked as types, as in `{type A, typeof B}`.
#[derive(Default)]
struct ClauseNames {
    in_braces: bool,
    in_name: bool,
    any_type: bool,
    any_value: bool,
}

impl ClauseNames {
    fn see(&mut self, token: Token<'_>, after: &Tokens<'_>) {
        match token {
            Token::Mark(b'{') => self.in_braces = true,
            Token::Mark(b'}') => (self.in_braces, self.in_name) = (false, false),
            Token::Mark(b',') => self.in_name = false,
            Token::Word(word) if self.in_braces && !self.in_name => {
                self.in_name = true;
                let is_type = matches!(word, "type" | "typeof")
                    && !matches!(after.ahead().next(), Some(Token::Word("as") | Token::Mark(_)) | None);
                self.any_type |= is_type;
                self.any_value |= !is_type;
            }
            Token::Word(_) | Token::Mark(b'*') | Token::String(..) => self.any_value |= !self.in_name,
            _ => {}
        }
    }

    fn are_types(&self) -> bool {
        self.any_type && !self.any_value
    }
}

/// `('x')` or `?.('x')`, and `.resolve('x')` of a require.
fn call<'a>(tokens: &mut Tokens<'a>, kind: EdgeKind, form: Form, found: &mut Collector<'a>) {
    let mut ahead = tokens.ahead();
    let mut next = ahead.next();
    let (mut kind, mut form) = (kind, form);
    if next == Some(Token::Mark(b'?')) && ahead.next() == Some(Token::Mark(b'.')) {
        next = ahead.next();
    } else if next == Some(Token::Mark(b'.')) && matches!(form, Form::Require | Form::RequireParam) {
        if ahead.next() != Some(Token::Word("resolve")) {
            return;
        }
        kind = EdgeKind::Dynamic;
        if form == Form::Require {
            form = Form::RequireResolve;
        }
        next = ahead.next();
    }
    if next == Some(Token::Mark(b'('))
        && let Some(Token::String(position, specifier)) = ahead.next()
        && matches!(ahead.next(), Some(Token::Mark(b')' | b',')))
    {
        found.request(position, specifier, kind, form, None);
    }
}

/// The estimated nesting of brackets and right-recursive operators, up to `limit`.
pub(super) fn estimated_depth(text: &str, limit: usize) -> usize {
    // For each open bracket, the number of operators and keywords since its last separator, each of which may be a level.
    let mut levels: Vec<usize> = vec![0];
    let (mut depth, mut deepest) = (0_usize, 0_usize);
    let mut tokens = Tokens::new(text);
    while let Some(token) = tokens.next() {
        match token {
            Token::Mark(b'(' | b'[' | b'{') => {
                levels.push(0);
                depth += 1;
            }
            Token::Mark(b')' | b']' | b'}') if levels.len() > 1 => depth -= 1 + levels.pop().unwrap_or(0),
            Token::Mark(b';' | b',') => depth -= levels.last_mut().map_or(0, std::mem::take),
            Token::Word(word) if tokens.newline && !matches!(word, "else" | "if" | "typeof" | "new") => {
                depth -= levels.last_mut().map_or(0, std::mem::take);
            }
            Token::Mark(_)
            | Token::Word(
                "if" | "else" | "for" | "while" | "do" | "typeof" | "void" | "delete" | "await" | "yield" | "new"
                | "keyof" | "in",
            ) => {
                if let Some(level) = levels.last_mut() {
                    *level += 1;
                    depth += 1;
                }
            }
            _ => {}
        }
        deepest = deepest.max(depth);
        if deepest >= limit {
            break;
        }
    }
    deepest
}

/// Whether parentheses nest `limit` levels deep, or one statement has as many open `<`.
pub(super) fn guesses_deeply(text: &str, limit: usize) -> bool {
    let (mut parentheses, mut angles) = (0_usize, 0_usize);
    let mut tokens = Tokens::new(text);
    while let Some(token) = tokens.next() {
        match token {
            Token::Mark(b'(') => parentheses += 1,
            Token::Mark(b')') => parentheses = parentheses.saturating_sub(1),
            Token::Mark(b'<') => angles += 1,
            Token::Mark(b'>') => angles = angles.saturating_sub(1),
            Token::Mark(b';') => angles = 0,
            _ => {}
        }
        if parentheses >= limit || angles >= limit {
            return true;
        }
    }
    false
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Token<'a> {
    Start,
    Word(&'a str),
    /// A string without escapes, or a template without substitutions: its start and its text.
    String(u32, &'a str),
    /// Any other literal.
    Literal,
    /// One byte of punctuation.
    Mark(u8),
}

struct Tokens<'a> {
    text: &'a str,
    at: usize,
    /// The number of open braces at the `${` of each template substitution.
    braces: usize,
    templates: Vec<usize>,
    /// Whether a `/` would start a regular expression.
    regex_allowed: bool,
    /// Whether a line break precedes the last returned token.
    newline: bool,
    /// If requested, the doc comments so far: the start and the text between `/**` and `*/`.
    docs: Option<Vec<(u32, &'a str)>>,
    /// The position that the last unsuccessful search for the end of a regular expression or string reached. Searching again
    /// before it would take quadratic time.
    no_regex_before: usize,
    no_string_before: usize,
}

impl<'a> Tokens<'a> {
    fn new(text: &'a str) -> Self {
        Self {
            text,
            at: 0,
            braces: 0,
            templates: Vec::new(),
            regex_allowed: true,
            newline: false,
            docs: None,
            no_regex_before: 0,
            no_string_before: 0,
        }
    }

    /// A copy for lookahead. It drops the enclosing templates, which lookahead never leaves.
    fn ahead(&self) -> Self {
        Self { templates: Vec::new(), docs: None, ..*self }
    }

    fn advance_to(&mut self, ahead: &Self) {
        (self.at, self.braces, self.regex_allowed) = (ahead.at, ahead.braces, ahead.regex_allowed);
    }

    fn byte(&self, offset: usize) -> Option<u8> {
        self.text.as_bytes().get(self.at + offset).copied()
    }

    fn next(&mut self) -> Option<Token<'a>> {
        self.skip_trivia();
        let byte = self.byte(0)?;
        let token = match byte {
            b'\'' | b'"' => self.string(byte),
            b'`' => {
                self.at += 1;
                self.template(self.at - 1)
            }
            b'}' if self.templates.last() == Some(&self.braces) => {
                self.templates.pop();
                self.at += 1;
                self.template(self.text.len());
                Token::Literal
            }
            b'/' if self.regex_allowed && self.regex() => Token::Literal,
            byte if is_word(byte) => {
                let rest = self.text.get(self.at..)?;
                let length = rest.bytes().position(|byte| !is_word(byte)).unwrap_or(rest.len());
                self.at += length;
                Token::Word(rest.get(..length)?)
            }
            byte => {
                self.at += 1;
                match byte {
                    b'{' => self.braces += 1,
                    b'}' => self.braces = self.braces.saturating_sub(1),
                    _ => {}
                }
                Token::Mark(byte)
            }
        };
        self.regex_allowed = match token {
            Token::Word(word) => matches!(
                word,
                "return"
                    | "typeof"
                    | "case"
                    | "in"
                    | "of"
                    | "do"
                    | "else"
                    | "void"
                    | "delete"
                    | "await"
                    | "yield"
                    | "new"
            ),
            Token::Mark(mark) => !matches!(mark, b')' | b']' | b'}'),
            _ => false,
        };
        Some(token)
    }

    fn skip_trivia(&mut self) {
        self.newline = false;
        while let Some(byte) = self.byte(0) {
            let rest = self.text.as_bytes().get(self.at..).unwrap_or_default();
            match (byte, self.byte(1)) {
                (b'\n' | b'\r', _) => {
                    self.newline = true;
                    self.at += 1;
                }
                (byte, _) if byte.is_ascii_whitespace() => self.at += 1,
                (b'/', Some(b'/')) => self.at += memchr::memchr2(b'\n', b'\r', rest).unwrap_or(rest.len()),
                (b'/', Some(b'*')) => {
                    let end = memchr::memmem::find(rest, b"*/").map_or(rest.len(), |end| end + 2);
                    self.newline |= memchr::memchr(b'\n', &rest[..end]).is_some();
                    if let Some(docs) = &mut self.docs
                        && let Some(comment) = self.text.get(self.at..self.at + end)
                        && let Some(content) = comment.strip_prefix("/**").and_then(|rest| rest.strip_suffix("*/"))
                    {
                        docs.push((self.at as u32 + 3, content));
                    }
                    self.at += end;
                }
                _ => return,
            }
        }
    }

    /// A string up to its quote. One without a quote on its line is not a string (an apostrophe in JSX text, for example).
    fn string(&mut self, quote: u8) -> Token<'a> {
        let from = self.at + 1;
        let bytes = self.text.as_bytes();
        let mut at = from;
        let mut escaped = false;
        if from <= self.no_string_before {
            self.at = from;
            return Token::Mark(quote);
        }
        while let Some(byte) = bytes.get(at) {
            match byte {
                b'\\' => {
                    escaped = true;
                    at += 1;
                }
                b'\n' => break,
                byte if *byte == quote => {
                    let start = self.at as u32;
                    self.at = at + 1;
                    return match self.text.get(from..at) {
                        Some(value) if !escaped => Token::String(start, value),
                        _ => Token::Literal,
                    };
                }
                _ => {}
            }
            at += 1;
        }
        self.no_string_before = at;
        self.at = from;
        Token::Mark(quote)
    }

    /// The rest of a template, up to its end or its next substitution.
    fn template(&mut self, start: usize) -> Token<'a> {
        let from = self.at;
        let mut escaped = false;
        while let Some(byte) = self.byte(0) {
            match (byte, self.byte(1)) {
                (b'\\', _) => {
                    escaped = true;
                    self.at += 1;
                }
                (b'`', _) => {
                    self.at += 1;
                    return match self.text.get(from..self.at - 1) {
                        Some(value) if !escaped && start + 1 == from => Token::String(start as u32, value),
                        _ => Token::Literal,
                    };
                }
                (b'$', Some(b'{')) => {
                    self.at += 2;
                    self.templates.push(self.braces);
                    return Token::Literal;
                }
                _ => {}
            }
            self.at += 1;
        }
        self.at = self.at.min(self.text.len());
        Token::Literal
    }

    /// Skips a regular expression, if one ends on this line.
    fn regex(&mut self) -> bool {
        let bytes = self.text.as_bytes();
        let (mut at, mut in_class) = (self.at + 1, false);
        if at <= self.no_regex_before {
            return false;
        }
        while let Some(byte) = bytes.get(at) {
            match byte {
                b'\\' => at += 1,
                b'[' => in_class = true,
                b']' => in_class = false,
                b'\n' => break,
                b'/' if !in_class => {
                    self.at = at + 1;
                    return true;
                }
                _ => {}
            }
            at += 1;
        }
        self.no_regex_before = at;
        false
    }
}

fn is_word(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || byte == b'_' || byte == b'$' || byte == b'\\' || byte >= 0x80
}
