//! The outline of a Go file: functions, methods, types with their fields and methods, variables and constants.

use stan_model::names::{FileNames, FileUnits};
use stan_model::outline::{LineStarts, Outline, Span, Unit, UnitId, UnitKind, UnitName};

use super::lexer::{Kind, Token};
use super::symbols::names;
use super::syntax::{Declaration, File, What};

pub(super) fn outline(text: &str) -> Outline {
    run(text, false).outline
}

pub(super) fn declare(text: &str) -> FileUnits {
    run(text, true)
}

fn run(text: &str, with_names: bool) -> FileUnits {
    if u32::try_from(text.len()).is_err() {
        return FileUnits { outline: Outline { units: Vec::new(), incomplete: true }, names: FileNames::default() };
    }
    let file = File::read(text);
    let lines = LineStarts::new(text);
    let mut units = Units { file: &file, lines: &lines, units: Vec::new(), comment: 0 };
    file.declarations.iter().for_each(|declaration| units.declaration(declaration));
    let outline = Outline { units: units.units, incomplete: file.error.is_some() };
    let names = if with_names { names(&file, &outline, &lines) } else { FileNames::default() };
    FileUnits { outline, names }
}

struct Units<'f, 't> {
    file: &'f File<'t>,
    lines: &'f LineStarts,
    units: Vec<Unit>,
    /// The index of the first comment that may belong to a later declaration.
    comment: usize,
}

impl Units<'_, '_> {
    fn declaration(&mut self, declaration: &Declaration<'_>) {
        let Some(span) = self.span(declaration.from, declaration.to) else { return };
        let doc = self.doc(span.start);
        let (kind, body) = self.kind(declaration);
        let bodies: Vec<Span> = body.and_then(|(from, to)| self.span(from, to)).into_iter().collect();
        let names = declaration.names.iter().map(|(name, token)| self.name(name, token)).collect();
        let heritage =
            declaration.receiver.map(|(from, to)| self.receiver_type(from, to)).into_iter().flatten().collect();
        let id = self.add(kind, names, span, bodies, None);
        self.units[id].doc = doc;
        self.units[id].heritage = heritage;
        if let Some((from, to)) = body.filter(|_| matches!(kind, UnitKind::Struct | UnitKind::Interface)) {
            self.members(id, (from, to), kind == UnitKind::Interface);
        }
    }

    fn add(
        &mut self,
        kind: UnitKind,
        names: Vec<UnitName>,
        span: Span,
        bodies: Vec<Span>,
        parent: Option<UnitId>,
    ) -> usize {
        let head = Span::new(span.start, bodies.first().map_or(span.end, |body| body.start));
        let exported = names.iter().any(|name: &UnitName| name.text.chars().next().is_some_and(char::is_uppercase));
        let next = self.units.len();
        self.units.push(Unit {
            kind,
            names,
            span,
            lines: self.lines.lines(span),
            doc: None,
            head,
            bodies,
            parent,
            until: next as u32 + 1,
            exported,
            is_static: false,
            heritage: Vec::new(),
        });
        next
    }

    /// The span from the start of token `from` to the end of the token before `to`.
    fn span(&self, from: usize, to: usize) -> Option<Span> {
        let tokens = self.file.tokens.get(from..to)?;
        let last = tokens.iter().rev().find(|token| token.kind != Kind::End)?;
        Some(Span::new(tokens.first()?.start, last.end))
    }

    fn name(&self, text: &str, token: &Token) -> UnitName {
        UnitName { text: text.into(), span: Span::new(token.start, token.end), line: self.lines.line(token.start) }
    }

    /// The kind of a declaration, and the token range of its body.
    fn kind(&self, declaration: &Declaration<'_>) -> (UnitKind, Option<(usize, usize)>) {
        let file = self.file;
        let block = |open: usize| (open, file.behind_bracket(open).min(declaration.to));
        let last_block = || {
            let mut at = declaration.rest;
            while at < declaration.to {
                match file.kind(at) {
                    Some(Kind::Mark(b'{')) if file.behind_bracket(at) >= declaration.to => return Some(block(at)),
                    Some(Kind::Mark(b'(' | b'[' | b'{')) => at = file.behind_bracket(at),
                    _ => at += 1,
                }
            }
            None
        };
        match declaration.what {
            What::Function => (UnitKind::Function, last_block()),
            What::Method => (UnitKind::Method, last_block()),
            What::Constant => (UnitKind::Constant, None),
            What::Variable => (UnitKind::Variable, last_block().filter(|(from, to)| self.is_multiline(*from, *to))),
            What::Type => {
                let mut at = declaration.rest;
                if file.is_mark(at, b'[') {
                    at = file.behind_bracket(at);
                }
                match file.word(at) {
                    "struct" => (UnitKind::Struct, Some(block(at + 1)).filter(|_| file.is_mark(at + 1, b'{'))),
                    "interface" => (UnitKind::Interface, Some(block(at + 1)).filter(|_| file.is_mark(at + 1, b'{'))),
                    _ => (UnitKind::Type, None),
                }
            }
        }
    }

    fn is_multiline(&self, from: usize, to: usize) -> bool {
        self.span(from, to).is_some_and(|span| span.of(self.file.text).contains('\n'))
    }

    fn receiver_type(&self, from: usize, to: usize) -> Option<Box<str>> {
        let mut words = (from..to).map(|at| self.file.word(at)).filter(|word| !word.is_empty());
        let first = words.next()?;
        Some(words.next().unwrap_or(first).into())
    }

    fn members(&mut self, parent: usize, (open, behind): (usize, usize), is_interface: bool) {
        let mut at = open + 1;
        while at + 1 < behind {
            let end = self.file.end_of(at).min(behind);
            let is_method = is_interface && self.file.is_mark(at + 1, b'(');
            let kind = if is_method { UnitKind::Method } else { UnitKind::Property };
            if let Some(span) = self.span(at, end).filter(|_| !self.file.word(at).is_empty()) {
                let doc = self.doc(span.start);
                let mut names = Vec::new();
                let mut next = at;
                while let Some(token) =
                    self.file.tokens.get(next).filter(|token| token.kind == Kind::Word && next < end)
                {
                    names.push(self.name(self.file.text_of(token), token));
                    if !self.file.is_mark(next + 1, b',') {
                        break;
                    }
                    next += 2;
                }
                let id = self.add(kind, names, span, Vec::new(), Some(UnitId(parent as u32)));
                self.units[id].doc = doc;
            }
            at = end.max(at) + 1;
        }
        self.units[parent].until = self.units.len() as u32;
    }

    /// The comments on the lines directly above a byte offset.
    fn doc(&mut self, start: u32) -> Option<Span> {
        let comments = &self.file.comments;
        while comments.get(self.comment).is_some_and(|comment| comment.end <= start) {
            self.comment += 1;
        }
        let mut line = self.lines.line(start);
        let mut doc: Option<Span> = None;
        for comment in comments.get(..self.comment)?.iter().rev() {
            let begins_line = self
                .lines
                .start(self.lines.line(comment.start))
                .is_some_and(|from| Span::new(from, comment.start).of(self.file.text).trim().is_empty());
            if !begins_line || self.lines.line(comment.end.max(1) - 1) + 1 != line {
                break;
            }
            line = self.lines.line(comment.start);
            doc = Some(Span::new(comment.start, doc.map_or(comment.end, |doc| doc.end)));
        }
        doc
    }
}
