//! The names that a Go file uses: qualified ones (`pkg.Name`) and those that other files of the package may declare.
//!
//! Scopes are those of whole declarations: a name that is declared anywhere in a function is not taken for one of the package in all
//! of it. Fields of structs, methods and what follows a dot are no names of the package.

use rustc_hash::FxHashSet;

use super::lexer::Kind;
use super::syntax::{Declaration, File, What};

/// What one declaration uses, in source order.
#[derive(Default)]
pub(super) struct Uses<'t> {
    /// Plain names, with the index of their token.
    pub(super) plain: Vec<(&'t str, usize)>,
    /// `qualifier.Name`, with the index of the name's token.
    pub(super) qualified: Vec<(&'t str, &'t str, usize)>,
}

/// Adds the uses of a declaration.
pub(super) fn collect<'t>(file: &File<'t>, declaration: &Declaration<'t>, uses: &mut Uses<'t>) {
    let mut walk = Walk { file, locals: FxHashSet::default(), skipped: FxHashSet::default() };
    if let Some((from, to)) = declaration.receiver {
        walk.parameters(from, to, true);
        // The method's own name, which stands behind the receiver.
        walk.skipped.insert(to);
    }
    walk.declared(declaration);
    let start = declaration.receiver.map_or(declaration.rest, |(from, _)| from);
    for at in start..declaration.to {
        walk.name(at, uses);
    }
}

struct Walk<'f, 't> {
    file: &'f File<'t>,
    /// Names that are declared inside.
    locals: FxHashSet<&'t str>,
    /// Tokens that are names of parameters, fields or methods.
    skipped: FxHashSet<usize>,
}

impl<'t> Walk<'_, 't> {
    fn local(&mut self, at: usize) {
        let word = self.file.word(at);
        if !word.is_empty() {
            self.locals.insert(word);
            self.skipped.insert(at);
        }
    }

    /// Finds everything that is declared inside a declaration.
    fn declared(&mut self, declaration: &Declaration<'t>) {
        let mut at = declaration.rest;
        if self.is_type_parameters(declaration.what, at) {
            let end = self.file.behind_bracket(at);
            self.parameters(at, end, true);
            at = end;
        }
        if matches!(declaration.what, What::Function | What::Method) {
            self.signature(at, true);
        }
        while at < declaration.to {
            match self.file.kind(at) {
                Some(Kind::Define) => self.defined(at, declaration.rest),
                Some(Kind::Word) => match self.file.word(at) {
                    "func" => self.signature(at + 1, true),
                    "var" | "const" | "type" if at > declaration.rest => self.inner(at),
                    "struct" if self.file.is_mark(at + 1, b'{') => self.members(at + 1, false),
                    "interface" if self.file.is_mark(at + 1, b'{') => self.members(at + 1, true),
                    _ => {}
                },
                _ => {}
            }
            at += 1;
        }
    }

    /// `[T any]` behind the name of a function or type, and not the length of an array.
    fn is_type_parameters(&self, what: What, at: usize) -> bool {
        let is_list = matches!(what, What::Function | What::Type) && self.file.is_mark(at, b'[');
        let follows = !matches!(self.file.kind(at + 2), None | Some(Kind::Mark(b']')));
        is_list && !self.file.word(at + 1).is_empty() && follows
    }

    /// The parameters and results behind a function's name or `func`; `is_inside` when a body may use their names.
    fn signature(&mut self, mut at: usize, is_inside: bool) {
        for _ in 0..2 {
            if !self.file.is_mark(at, b'(') {
                return;
            }
            let end = self.file.behind_bracket(at);
            self.parameters(at, end, is_inside);
            at = end;
        }
    }

    /// The names of a list in brackets: all entries have one, or none.
    fn parameters(&mut self, from: usize, to: usize, is_inside: bool) {
        let last = to.saturating_sub(1);
        let mut entries = vec![from + 1];
        let mut at = from + 1;
        while at < last {
            match self.file.kind(at) {
                Some(Kind::Mark(b'(' | b'[' | b'{')) => at = self.file.behind_bracket(at),
                Some(Kind::Mark(b',')) => {
                    at += 1;
                    entries.push(at);
                }
                _ => at += 1,
            }
        }
        let end = |index: usize| entries.get(index + 1).map_or(last, |next| next - 1);
        let is_named = |(index, start): (usize, &usize)| self.begins_with_name(*start, end(index));
        if entries.iter().enumerate().any(is_named) {
            for start in entries {
                if is_inside {
                    self.local(start);
                } else {
                    self.skipped.insert(start);
                }
            }
        }
    }

    /// Whether an entry is `name Type`, rather than a type alone.
    fn begins_with_name(&self, start: usize, end: usize) -> bool {
        if self.file.word(start).is_empty() || is_type_keyword(self.file.word(start)) || start + 1 >= end {
            return false;
        }
        match self.file.kind(start + 1) {
            // `List[int]` is a type, `a [2]int` and `a []int` have one.
            Some(Kind::Mark(b'[')) => self.file.behind_bracket(start + 1) < end,
            Some(Kind::Mark(b'.')) => false,
            _ => true,
        }
    }

    /// The names before `:=`.
    fn defined(&mut self, define: usize, from: usize) {
        let mut at = define;
        while at > from {
            at -= 1;
            if self.file.word(at).is_empty() {
                return;
            }
            self.locals.insert(self.file.word(at));
            if at == from || !self.file.is_mark(at - 1, b',') {
                return;
            }
            at -= 1;
        }
    }

    /// `var`, `const` or `type` inside a function.
    fn inner(&mut self, keyword: usize) {
        let (mut at, end) = match self.file.is_mark(keyword + 1, b'(') {
            true => (keyword + 2, self.file.behind_bracket(keyword + 1)),
            false => (keyword + 1, keyword + 2),
        };
        while at < end {
            self.local(at);
            while self.file.is_mark(at + 1, b',') {
                at += 2;
                self.local(at);
            }
            at = self.file.end_of(at) + 1;
        }
    }

    /// Names of fields or methods in a type.
    fn members(&mut self, open: usize, is_interface: bool) {
        let end = self.file.behind_bracket(open);
        let mut at = open + 1;
        while at + 1 < end {
            if is_interface {
                if self.file.is_mark(at + 1, b'(') {
                    self.skipped.insert(at);
                    // They shadow nothing outside of the method.
                    self.signature(at + 1, false);
                }
            } else {
                self.fields(at, end);
            }
            at = self.file.end_of(at) + 1;
        }
    }

    /// `A, B T`; a type alone is embedded.
    fn fields(&mut self, start: usize, end: usize) {
        let mut names = vec![start];
        let mut at = start;
        while !self.file.word(at).is_empty() && self.file.is_mark(at + 1, b',') {
            at += 2;
            names.push(at);
        }
        let follows = self.file.kind(at + 1);
        let is_embedded =
            at + 1 >= end || matches!(follows, None | Some(Kind::End | Kind::Text | Kind::Mark(b'.' | b'}')));
        let is_generic = names.len() == 1
            && follows == Some(Kind::Mark(b'['))
            && matches!(self.file.kind(self.file.behind_bracket(at + 1)), Some(Kind::End | Kind::Mark(b'}')));
        if !is_embedded && !is_generic {
            self.skipped.extend(names);
        }
    }

    fn name(&self, at: usize, uses: &mut Uses<'t>) {
        let word = self.file.word(at);
        if word.is_empty() || is_keyword(word) || word == "_" || self.skipped.contains(&at) {
            return;
        }
        if at > 0 && self.file.is_mark(at - 1, b'.') {
            return;
        }
        if self.locals.contains(word) {
            return;
        }
        if self.file.is_mark(at + 1, b'.') && !self.file.word(at + 2).is_empty() {
            uses.qualified.push((word, self.file.word(at + 2), at + 2));
        }
        uses.plain.push((word, at));
    }
}

fn is_type_keyword(word: &str) -> bool {
    matches!(word, "func" | "map" | "chan" | "struct" | "interface")
}

fn is_keyword(word: &str) -> bool {
    matches!(
        word,
        "break"
            | "case"
            | "chan"
            | "const"
            | "continue"
            | "default"
            | "defer"
            | "else"
            | "fallthrough"
            | "for"
            | "func"
            | "go"
            | "goto"
            | "if"
            | "import"
            | "interface"
            | "map"
            | "package"
            | "range"
            | "return"
            | "select"
            | "struct"
            | "switch"
            | "type"
            | "var"
    )
}
