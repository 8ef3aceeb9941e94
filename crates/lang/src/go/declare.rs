//! The outline of a Go file, and the names of its top level: functions, methods, types with their fields and methods, variables and
//! constants. Written types are not followed.

use rustc_hash::FxHashMap;
use stan_model::names::{
    Declaration as NameDeclaration, DeclarationId, FileUnits, Import as NameImport, ImportId, Imported,
};
use stan_model::names::{Meaning, Names, RecipeId, Space, Symbol, SymbolId, Use, Used};
use stan_model::outline::{LineStarts, Outline, Span, Unit, UnitId, UnitKind, UnitName};

use super::lexer::{Kind, Token};
use super::names::{Uses, collect};
use super::syntax::{Declaration, File, What};

pub(super) fn outline(text: &str) -> Outline {
    run(text, false).outline
}

pub(super) fn declare(text: &str) -> FileUnits {
    run(text, true)
}

fn run(text: &str, with_names: bool) -> FileUnits {
    if u32::try_from(text.len()).is_err() {
        return FileUnits { outline: Outline { units: Vec::new(), incomplete: true }, names: Names::default() };
    }
    let file = File::read(text);
    let lines = LineStarts::new(text);
    let mut units = Units { file: &file, lines: &lines, units: Vec::new(), comment: 0 };
    file.declarations.iter().for_each(|declaration| units.declaration(declaration));
    let outline = Outline { units: units.units, incomplete: file.error.is_some() };
    let names = if with_names { names(&file, &outline, &lines) } else { Names::default() };
    FileUnits { outline, names }
}

struct Units<'f, 't> {
    file: &'f File<'t>,
    lines: &'f LineStarts,
    units: Vec<Unit>,
    /// The first comment that may belong to a declaration to come.
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

    /// The text from one token to before another.
    fn span(&self, from: usize, to: usize) -> Option<Span> {
        let tokens = self.file.tokens.get(from..to)?;
        let last = tokens.iter().rev().find(|token| token.kind != Kind::End)?;
        Some(Span::new(tokens.first()?.start, last.end))
    }

    fn name(&self, text: &str, token: &Token) -> UnitName {
        UnitName { text: text.into(), span: Span::new(token.start, token.end), line: self.lines.line(token.start) }
    }

    /// What a declaration is, and the tokens of its body.
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

    /// The comments on the lines directly before a position.
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

/// Symbols of the top level and of imports, and where names are used.
fn names(file: &File<'_>, outline: &Outline, lines: &LineStarts) -> Names {
    let mut names = Names::default();
    let mut known: FxHashMap<&str, SymbolId> = FxHashMap::default();
    for import in file.imports.iter().filter(|import| !matches!(import.alias, Some("_" | "."))) {
        let name = import.alias.unwrap_or_else(|| import.path.rsplit('/').next().unwrap_or_default());
        let statement = Span::new(import.position, import.end);
        names.imports.push(NameImport { specifier: import.path.into(), name: Imported::Namespace, statement });
        let meaning = Meaning::Import(ImportId(names.imports.len() as u32 - 1));
        add(&mut names, &mut known, name, (statement, lines.line(import.position), None), meaning);
    }
    for declaration in file.declarations.iter().filter(|declaration| declaration.what != What::Method) {
        for (name, token) in declaration.names.iter().filter(|(name, _)| *name != "_") {
            let meaning = Meaning::Value { ty: RecipeId::UNKNOWN, signature: None };
            let place = (Span::new(token.start, token.end), lines.line(token.start), outline.innermost(token.start));
            add(&mut names, &mut known, name, place, meaning);
        }
    }
    let mut uses = Uses::default();
    file.declarations.iter().for_each(|declaration| collect(file, declaration, &mut uses));
    for (name, at) in &uses.plain {
        let Some(token) = file.tokens.get(*at) else { continue };
        let what = known.get(name).map_or_else(|| Used::Global((*name).into()), |symbol| Used::Name(*symbol));
        names.uses.push(Use { at: token.start, line: lines.line(token.start), space: Space::Value, what });
    }
    names.uses.sort_by_key(|one| one.at);
    let mut exports: Vec<(Box<str>, SymbolId)> = Vec::new();
    for declaration in file.declarations.iter().filter(|declaration| declaration.what != What::Method) {
        exports.extend(declaration.names.iter().filter_map(|(name, _)| Some(((*name).into(), *known.get(name)?))));
    }
    exports.sort_unstable();
    exports.dedup_by(|one, other| one.0 == other.0);
    names.exports = exports;
    names
}

fn add<'t>(
    names: &mut Names,
    known: &mut FxHashMap<&'t str, SymbolId>,
    name: &'t str,
    (span, line, unit): (Span, u32, Option<UnitId>),
    meaning: Meaning,
) {
    names.declarations.push(NameDeclaration { name: name.into(), span, line, unit, meaning });
    let declaration = DeclarationId(names.declarations.len() as u32 - 1);
    let symbol = *known.entry(name).or_insert_with(|| {
        names.symbols.push(Symbol { name: name.into(), ..Symbol::default() });
        SymbolId(names.symbols.len() as u32 - 1)
    });
    if let Some(symbol) = names.symbols.get_mut(symbol.0 as usize) {
        symbol.declarations.push(declaration);
    }
}
