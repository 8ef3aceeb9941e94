//! Types in the JSDoc of JavaScript: `@type {import('x').Y}`, `@param {…}` and similar, and `@import {A} from 'x'`.
//!
//! Follows TypeScript's JSDoc parser in which tags it recognises and which of them contain types. Types are not parsed; only
//! `import('x')` is searched in them.

use memchr::memmem;
use oxc_ast::ast::{Comment, Program};
use stan_model::EdgeKind;

use super::collect::Collector;
use crate::typescript::form::{Form, ModuleSystem};

pub(super) fn requests<'a>(program: &Program<'a>, found: &mut Collector<'a>) {
    for comment in &program.comments {
        if let Some((start, content)) = content(program.source_text, comment) {
            comment_requests(start, content, found);
        }
    }
}

/// Records the requests of one comment; `content` is the text between `/**` and `*/`.
pub(super) fn comment_requests<'a>(start: u32, content: &'a str, found: &mut Collector<'a>) {
    if memmem::find(content.as_bytes(), b"import").is_some() {
        Doc { text: content, start, at: 0, unclosed: 0, found }.tags();
    }
}

/// The text between `/**` and `*/`, and its start.
pub(super) fn content<'a>(source: &'a str, comment: &Comment) -> Option<(u32, &'a str)> {
    let text = source.get(comment.span.start as usize..comment.span.end as usize)?;
    let content = text.strip_prefix("/**")?.strip_suffix("*/")?;
    Some((comment.span.start + 3, content))
}

/// Tags whose `{…}` is a type.
const TYPED_TAGS: &[&str] = &[
    "arg",
    "argument",
    "augments",
    "enum",
    "exception",
    "extends",
    "implements",
    "param",
    "return",
    "returns",
    "satisfies",
    "this",
    "throws",
    "type",
    "typedef",
];

/// After this many unclosed types in one comment, its types are no longer scanned.
const MAX_UNCLOSED: u32 = 100;

/// The maximum length of the second argument of an import type.
const MAX_OPTIONS_BYTES: usize = 1024;

/// `import('x')` in a type.
struct ImportCall<'a> {
    position: u32,
    specifier: &'a str,
    mode: Option<ModuleSystem>,
}

/// The parser's state in one comment. `at` is a byte offset into `text`, always at a character boundary.
struct Doc<'a, 'c> {
    text: &'a str,
    start: u32,
    at: usize,
    /// The number of unclosed types. Limited, because each search for the end reads the rest of the comment.
    unclosed: u32,
    found: &'c mut Collector<'a>,
}

impl<'a> Doc<'a, '_> {
    fn rest(&self) -> &'a str {
        self.text.get(self.at..).unwrap_or_default()
    }

    fn peek(&self) -> Option<u8> {
        self.text.as_bytes().get(self.at).copied()
    }

    fn eat(&mut self, token: &str) -> bool {
        let found = self.rest().starts_with(token);
        if found {
            self.at += token.len();
        }
        found
    }

    /// Skips one character.
    fn bump(&mut self) {
        self.at += self.rest().chars().next().map_or(0, char::len_utf8);
    }

    /// Skips white space, and asterisks at the start of lines.
    fn skip_space(&mut self) {
        let mut line_start = false;
        while let Some(character) = self.rest().chars().next() {
            match character {
                '\n' | '\r' | '\u{2028}' | '\u{2029}' => line_start = true,
                '*' if line_start => line_start = false,
                character if character.is_whitespace() => {}
                _ => return,
            }
            self.at += character.len_utf8();
        }
    }

    fn word(&mut self) -> &'a str {
        let is_part = |character: char| character.is_alphanumeric() || matches!(character, '_' | '$' | '-');
        let rest = self.rest();
        let word = rest.find(|character| !is_part(character)).map_or(rest, |end| &rest[..end]);
        self.at += word.len();
        word
    }

    /// Parses a quoted string: its start and its text. Module specifiers in JSDoc have no escapes.
    fn string(&mut self) -> Option<(u32, &'a str)> {
        let quote = self.peek().filter(|byte| matches!(byte, b'\'' | b'"' | b'`'))?;
        let from = self.at + 1;
        let length = self.text.get(from..)?.bytes().position(|byte| byte == quote || byte == b'\n')?;
        let value = self.text.get(from..from + length)?;
        if self.text.as_bytes().get(from + length) != Some(&quote) {
            return None;
        }
        let position = self.start + self.at as u32;
        self.at = from + length + 1;
        Some((position, value))
    }

    /// Parses all tags: `@` at the start of a line or after white space, outside backticks.
    fn tags(mut self) {
        let (mut line_start, mut after_space, mut in_backticks) = (true, true, false);
        // `@property` has a type only after a `@typedef` without one; backticks matter only in the text of a tag.
        let (mut in_typedef, mut any_tag) = (false, false);
        while let Some(byte) = self.peek() {
            match byte {
                b'@' if line_start || (after_space && !in_backticks && self.starts_word_after_at()) => {
                    self.at += 1;
                    in_typedef = self.tag(in_typedef);
                    // Another tag may follow directly: `@async @returns {…}`, or a line with only `@inline`.
                    (line_start, after_space, in_backticks, any_tag) = (true, true, false, true);
                    continue;
                }
                b'\n' | b'\r' => (line_start, after_space, in_backticks) = (true, true, false),
                b'*' if line_start => {}
                b' ' | b'\t' => after_space = true,
                b'`' if any_tag => (line_start, after_space, in_backticks) = (false, false, !in_backticks),
                _ => (line_start, after_space) = (false, false),
            }
            self.bump();
        }
    }

    fn starts_word_after_at(&self) -> bool {
        self.rest().chars().nth(1).is_some_and(|character| !character.is_whitespace())
    }

    /// Parses one tag, after its `@`. Returns whether `@property` tags may follow.
    fn tag(&mut self, in_typedef: bool) -> bool {
        let name = self.word();
        self.skip_space();
        match name {
            "import" => self.import_tag(),
            "prop" | "property" => {
                if in_typedef {
                    self.braced_type();
                }
                return in_typedef;
            }
            "typedef" => {
                let from = self.at;
                self.braced_type();
                let r#type = self.text.get(from..self.at).unwrap_or_default();
                let r#type =
                    r#type.trim_matches(|character: char| character.is_whitespace() || "{}[]".contains(character));
                return matches!(r#type, "" | "object" | "Object");
            }
            "param" | "arg" | "argument" => self.parameter_tag(),
            "template" => self.template_tag(),
            "type" | "this" | "enum" if self.peek() != Some(b'{') => {
                // Braces are optional. Without them, only a type at the start can be distinguished from prose.
                if self.eat("typeof ") {
                    self.skip_space();
                }
                self.import_type();
            }
            name if TYPED_TAGS.contains(&name) => self.braced_type(),
            _ => {}
        }
        false
    }

    /// `@param {type} name`, or `@param name {type}`.
    fn parameter_tag(&mut self) {
        if self.peek() == Some(b'{') {
            return self.braced_type();
        }
        if self.eat("[") {
            let length = self.rest().find([']', '\n']).unwrap_or(0);
            self.at += length;
            self.eat("]");
        } else {
            let quoted = self.eat("`");
            while !self.word().is_empty() && self.eat(".") {}
            if quoted {
                self.eat("`");
            }
        }
        self.skip_space();
        if !self.rest().starts_with("{@") {
            self.braced_type();
        }
    }

    /// `@template {constraint} A, [B=default]`.
    fn template_tag(&mut self) {
        self.braced_type();
        loop {
            self.skip_space();
            if self.peek() == Some(b'[') {
                self.enclosed_type(b'[', b']');
            } else if self.word().is_empty() {
                return;
            }
            self.skip_space();
            if !self.eat(",") {
                return;
            }
        }
    }

    fn braced_type(&mut self) {
        self.enclosed_type(b'{', b'}');
    }

    /// Scans the text up to the matching bracket for types; does nothing if there is none.
    fn enclosed_type(&mut self, open: u8, close: u8) {
        let from = self.at;
        if self.unclosed >= MAX_UNCLOSED || self.peek() != Some(open) {
            return;
        }
        self.at += 1;
        let mut depth = 1_u32;
        let mut in_word = false;
        while let Some(byte) = self.peek() {
            match byte {
                byte if byte == open => depth += 1,
                byte if byte == close => {
                    depth -= 1;
                    if depth == 0 {
                        self.at += 1;
                        return;
                    }
                }
                b'\'' | b'"' | b'`' if self.plain_string() => {
                    in_word = false;
                    continue;
                }
                b'i' if !in_word && self.import_type() => continue,
                _ => {}
            }
            self.bump();
            in_word = match byte {
                // The dot of a qualified name, not one of `...rest`.
                b'.' => !self.text.get(..self.at).is_some_and(|before| before.ends_with("...")),
                _ => byte == b'_' || byte == b'$' || byte.is_ascii_alphanumeric() || byte >= 0x80,
            };
        }
        self.unclosed += 1;
        self.at = from + 1;
    }

    /// Skips a string that cannot contain types; a template can.
    fn plain_string(&mut self) -> bool {
        let from = self.at;
        let is_plain = self.string().is_some_and(|(_, value)| !value.contains("${"));
        if !is_plain {
            self.at = from;
        }
        is_plain
    }

    /// Parses `import('x').Name`. Skips it if it is valid.
    fn import_type(&mut self) -> bool {
        let from = self.at;
        let Some(ImportCall { position, specifier, mode }) = self.import_call() else {
            self.at = from;
            return false;
        };
        let request = self.found.request(position, specifier, EdgeKind::Type, Form::ImportType, mode);
        let after = self.at;
        self.skip_space();
        if self.eat(".") {
            self.skip_space();
            let name = self.word();
            if let (Some(request), false) = (request, name.is_empty()) {
                self.found.name(request, name, EdgeKind::Type);
            }
        } else {
            self.at = after;
        }
        true
    }

    fn import_call(&mut self) -> Option<ImportCall<'a>> {
        if self.word() != "import" {
            return None;
        }
        self.skip_space();
        if !self.eat("(") {
            return None;
        }
        self.skip_space();
        let (position, specifier) = self.string()?;
        self.skip_space();
        let mut mode = None;
        if self.eat(",") {
            let length = self.rest().bytes().take(MAX_OPTIONS_BYTES).position(|byte| byte == b')')?;
            let options = self.rest().get(..length)?;
            mode = resolution_mode(options);
            self.at += options.len();
        }
        // A missing `)` is an error, but the import still counts.
        self.eat(")");
        Some(ImportCall { position, specifier, mode })
    }

    /// `@import d, {a, b as c} from 'x'`, `@import * as n from 'x'`.
    fn import_tag(&mut self) {
        let mut names = Vec::new();
        loop {
            self.skip_space();
            match self.peek() {
                Some(b'{') => {
                    self.at += 1;
                    self.named_imports(&mut names);
                }
                Some(b'*') => {
                    self.at += 1;
                    self.skip_space();
                    if self.word() != "as" {
                        return;
                    }
                    self.skip_space();
                    self.word();
                }
                _ => match self.word() {
                    "" => return,
                    "from" if matches!(self.rest().trim_start().as_bytes().first(), Some(b'\'' | b'"' | b'`')) => break,
                    _ => names.push("default"),
                },
            }
            self.skip_space();
            self.eat(",");
        }
        self.skip_space();
        let Some((position, specifier)) = self.string() else { return };
        let line = self.rest().lines().next().unwrap_or_default();
        let mode = if line.trim_start().starts_with("with") { resolution_mode(line) } else { None };
        if let Some(request) = self.found.request(position, specifier, EdgeKind::Type, Form::Static, mode) {
            names.into_iter().for_each(|name| self.found.name(request, name, EdgeKind::Type));
        }
    }

    /// The names in `{a, b as c, type d}`, up to the brace.
    fn named_imports(&mut self, names: &mut Vec<&'a str>) {
        let mut is_name = true;
        while self.peek().is_some() {
            self.skip_space();
            match (self.peek(), self.string()) {
                (_, Some((_, name))) if is_name => {
                    names.push(name);
                    is_name = false;
                }
                (Some(b'}'), _) => {
                    self.at += 1;
                    return;
                }
                (Some(b','), _) => {
                    self.at += 1;
                    is_name = true;
                }
                _ => match self.word() {
                    "" => return,
                    word if is_name => {
                        names.push(word);
                        is_name = false;
                    }
                    _ => {}
                },
            }
        }
    }
}

/// The value of `"resolution-mode": "…"` in an import's attributes.
fn resolution_mode(attributes: &str) -> Option<ModuleSystem> {
    let (_, value) = attributes.split_once("resolution-mode")?;
    let value = value.trim_start_matches(|character: char| character.is_whitespace() || "'\":".contains(character));
    if value.starts_with("import") {
        Some(ModuleSystem::Import)
    } else if value.starts_with("require") {
        Some(ModuleSystem::Require)
    } else {
        None
    }
}
