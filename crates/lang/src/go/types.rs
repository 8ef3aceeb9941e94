//! Explicit types of Go as recipes: of parameters, results, fields and locals. Inference is limited to what an expression names:
//! a call has the result type of its function, a literal the type before its brace.

use rustc_hash::FxHashMap;
use stan_model::names::{
    Declaration as NameDeclaration, DeclarationId, FileNames, Import as NameImport, ImportId, Imported, Meaning,
    Recipe, RecipeId, Signature, SignatureId, Space, Symbol, SymbolId, Use, Used,
};
use stan_model::outline::{LineStarts, Outline, Span, UnitId};

use super::keyword::Keyword;
use super::lexer::Kind;
use super::names::{Places, Source, entries};
use super::syntax::File;

/// The specifier of the file's own package.
pub(super) const OWN_PACKAGE: &str = ".";

/// The maximum nesting depth of types that are read.
const MAX_TYPE_DEPTH: u32 = 16;

/// The maximum length of a member chain.
const MAX_CHAIN_LINKS: usize = 64;

/// The symbols of one file under construction.
pub(super) struct Scope<'f, 't> {
    pub(super) file: &'f File<'t>,
    pub(super) outline: &'f Outline,
    pub(super) lines: &'f LineStarts,
    pub(super) names: FileNames,
    pub(super) known: FxHashMap<&'t str, SymbolId>,
    /// The local that each token refers to.
    local_at: FxHashMap<usize, u32>,
    local_types: Vec<RecipeId>,
}

impl<'f, 't> Scope<'f, 't> {
    pub(super) fn new(file: &'f File<'t>, outline: &'f Outline, lines: &'f LineStarts) -> Self {
        Self {
            file,
            outline,
            lines,
            names: FileNames::default(),
            known: FxHashMap::default(),
            local_at: FxHashMap::default(),
            local_types: Vec::new(),
        }
    }

    pub(super) fn recipe(&mut self, recipe: Recipe) -> RecipeId {
        self.names.recipes.push(recipe);
        RecipeId(self.names.recipes.len() as u32 - 1)
    }

    /// The symbol of a top-level name; creates it on first use.
    pub(super) fn symbol(&mut self, name: &'t str) -> SymbolId {
        let names = &mut self.names;
        *self.known.entry(name).or_insert_with(|| {
            names.symbols.push(Symbol { name: name.into(), ..Symbol::default() });
            SymbolId(names.symbols.len() as u32 - 1)
        })
    }

    /// Adds a declaration of a symbol; `unit` is the outline unit that shows it.
    pub(super) fn declare(&mut self, symbol: Option<SymbolId>, declared: NameDeclaration) -> DeclarationId {
        self.names.declarations.push(declared);
        let id = DeclarationId(self.names.declarations.len() as u32 - 1);
        if let Some(symbol) = symbol.and_then(|symbol| self.names.symbols.get_mut(symbol.0 as usize)) {
            symbol.declarations.push(id);
        }
        id
    }

    /// A declaration at the token of its name.
    pub(super) fn declaration(&self, at: usize, meaning: Meaning) -> NameDeclaration {
        let span = self.file.tokens.get(at).map_or(Span::default(), |token| Span::new(token.start, token.end));
        let unit: Option<UnitId> = self.outline.innermost(span.start);
        NameDeclaration { name: self.file.word(at).into(), span, line: self.lines.line(span.start), unit, meaning }
    }

    /// A symbol that other files of the package may declare.
    pub(super) fn ask_package(&mut self, name: &'t str) -> SymbolId {
        let symbol = self.symbol(name);
        let statement = Span::default();
        let import = NameImport { specifier: OWN_PACKAGE.into(), name: Imported::Name(name.into()), statement };
        self.names.imports.push(import);
        let meaning = Meaning::Import(ImportId(self.names.imports.len() as u32 - 1));
        self.declare(
            Some(symbol),
            NameDeclaration { name: name.into(), span: statement, line: 1, unit: None, meaning },
        );
        symbol
    }

    /// Adds the types of locals, in source order, so that later ones can refer to earlier ones.
    pub(super) fn take_locals(&mut self, uses: &Places<'t>) {
        self.local_at = uses.local_uses.iter().copied().collect();
        for local in &uses.locals {
            let ty = match local.source {
                Source::Unknown => RecipeId::UNKNOWN,
                Source::Type(at) => self.type_at(at, 0),
                Source::Value(at, may_be_literal) => self.value_at(at, may_be_literal),
                Source::Element(at) => {
                    let list = self.value_at(at, false);
                    self.recipe(Recipe::Element(list))
                }
            };
            self.local_types.push(ty);
        }
    }

    /// Parses the type that starts at a token.
    pub(super) fn type_at(&mut self, at: usize, depth: u32) -> RecipeId {
        if depth > MAX_TYPE_DEPTH {
            return RecipeId::UNKNOWN;
        }
        match self.file.kind(at) {
            Some(Kind::Mark(b'*' | b'(' | b'~')) => self.type_at(at + 1, depth + 1),
            Some(Kind::Operator) => self.type_at(at + 1, depth + 1),
            Some(Kind::Dots) => self.list_of(at + 1, depth),
            Some(Kind::Mark(b'[')) => self.list_of(self.file.behind_bracket(at), depth),
            Some(Kind::Word) => match self.file.word(at) {
                "map" if self.file.is_mark(at + 1, b'[') => self.list_of(self.file.behind_bracket(at + 1), depth),
                "chan" => self.list_of(at + 1, depth),
                "func" => {
                    let signature = self.signature_at(at + 1, depth + 1);
                    self.recipe(Recipe::Function(signature))
                }
                _ if self.file.keyword(at) != Keyword::No => RecipeId::UNKNOWN,
                word => self.named_type(word, at),
            },
            _ => RecipeId::UNKNOWN,
        }
    }

    fn list_of(&mut self, at: usize, depth: u32) -> RecipeId {
        let element = self.type_at(at, depth + 1);
        self.recipe(Recipe::List(element))
    }

    fn named_type(&mut self, word: &str, at: usize) -> RecipeId {
        if self.local_at.contains_key(&at) {
            return RecipeId::UNKNOWN;
        }
        let Some(symbol) = self.known.get(word).copied() else { return RecipeId::UNKNOWN };
        if self.file.is_mark(at + 1, b'.') && !self.file.word(at + 2).is_empty() {
            let base = self.recipe(Recipe::Value(symbol));
            let name = self.file.word(at + 2).into();
            return self.recipe(Recipe::TypeMember { base, name, arguments: Vec::new() });
        }
        self.recipe(Recipe::Type { symbol, arguments: Vec::new() })
    }

    /// The signature whose parameters open at a token. Of several results only the first is used: the others are usually errors
    /// and flags.
    pub(super) fn signature_at(&mut self, open: usize, depth: u32) -> SignatureId {
        let mut signature = Signature::default();
        if self.file.is_mark(open, b'(') && depth <= MAX_TYPE_DEPTH {
            let close = self.file.behind_bracket(open);
            for (_, ty) in entries(self.file, open, close) {
                let ty = self.type_at(ty, depth + 1);
                signature.parameters.push(ty);
            }
            let result = match self.file.is_mark(close, b'(') {
                true => entries(self.file, close, self.file.behind_bracket(close)).first().map(|(_, ty)| *ty),
                false => Some(close),
            };
            signature.result = result.map(|at| self.type_at(at, depth + 1)).filter(|ty| *ty != RecipeId::UNKNOWN);
        }
        self.names.signatures.push(signature);
        SignatureId(self.names.signatures.len() as u32 - 1)
    }

    /// The recipe for the expression that starts at a token, as far as names determine its type.
    pub(super) fn value_at(&mut self, mut at: usize, may_be_literal: bool) -> RecipeId {
        let mut is_received = false;
        while matches!(self.file.kind(at), Some(Kind::Mark(b'&' | b'*') | Kind::Operator)) {
            is_received |= self.file.kind(at) == Some(Kind::Operator);
            at += 1;
        }
        let value = match (self.file.kind(at), self.file.word(at)) {
            (Some(Kind::Mark(b'[')), _) | (_, "map" | "chan" | "func") => self.type_at(at, 0),
            (_, "new" | "make") if self.file.is_mark(at + 1, b'(') => self.type_at(at + 2, 0),
            (Some(Kind::Word), _) if self.file.keyword(at) == Keyword::No => {
                match self.literal_type(at).filter(|_| may_be_literal) {
                    Some(ty) => ty,
                    None => {
                        let head = self.head(at);
                        self.chain(at + 1, head, false)
                    }
                }
            }
            _ => RecipeId::UNKNOWN,
        };
        if is_received { self.recipe(Recipe::Element(value)) } else { value }
    }

    /// The type of the literal `T{…}` or `pkg.T{…}`.
    fn literal_type(&mut self, at: usize) -> Option<RecipeId> {
        let is_qualified = self.file.is_mark(at + 1, b'.') && !self.file.word(at + 2).is_empty();
        let mut behind = if is_qualified { at + 3 } else { at + 1 };
        if self.file.is_mark(behind, b'[') {
            behind = self.file.behind_bracket(behind);
        }
        self.file.is_mark(behind, b'{').then(|| self.type_at(at, 0))
    }

    /// The recipe for a name.
    fn head(&mut self, at: usize) -> RecipeId {
        if let Some(local) = self.local_at.get(&at) {
            return self.local_types.get(*local as usize).copied().unwrap_or(RecipeId::UNKNOWN);
        }
        match self.known.get(self.file.word(at)).copied() {
            Some(symbol) => self.recipe(Recipe::Value(symbol)),
            None => RecipeId::UNKNOWN,
        }
    }

    /// Follows members, calls and elements after a value. Records the members as uses if `records` is set.
    fn chain(&mut self, mut at: usize, mut value: RecipeId, records: bool) -> RecipeId {
        for _ in 0..MAX_CHAIN_LINKS {
            match self.file.kind(at) {
                Some(Kind::Mark(b'.')) if self.file.is_mark(at + 1, b'(') => {
                    value = if self.file.word(at + 2) == "type" { value } else { self.type_at(at + 2, 0) };
                    at = self.file.behind_bracket(at + 1);
                }
                Some(Kind::Mark(b'.')) if !self.file.word(at + 1).is_empty() => {
                    let name = self.file.word(at + 1);
                    if records {
                        self.use_at(at + 1, Space::Value, Used::Member(value, name.into()));
                    }
                    value = self.recipe(Recipe::Member(value, name.into()));
                    at += 2;
                }
                Some(Kind::Mark(b'(')) => {
                    // A conversion looks like a call.
                    let parts = vec![self.recipe(Recipe::Call(value)), self.recipe(Recipe::New(value))];
                    value = self.recipe(Recipe::Any(parts));
                    at = self.file.behind_bracket(at);
                }
                Some(Kind::Mark(b'[')) => {
                    // Either an element, or the instantiation of a generic function.
                    let parts = vec![self.recipe(Recipe::Element(value)), value];
                    value = self.recipe(Recipe::Any(parts));
                    at = self.file.behind_bracket(at);
                }
                _ => break,
            }
        }
        value
    }

    pub(super) fn use_at(&mut self, at: usize, space: Space, what: Used) {
        if let Some(token) = self.file.tokens.get(at) {
            let line = self.lines.line(token.start);
            self.names.uses.push(Use { at: token.start, line, space, what });
        }
    }

    /// Records the members that are accessed through a name.
    pub(super) fn members_of(&mut self, at: usize, space: Space) {
        if self.file.is_mark(at + 1, b'.') || self.file.is_mark(at + 1, b'(') || self.file.is_mark(at + 1, b'[') {
            let head = self.head(at);
            if space == Space::Type && self.file.is_mark(at + 1, b'.') {
                let name = self.file.word(at + 2);
                if !name.is_empty() {
                    self.use_at(at + 2, space, Used::Member(head, name.into()));
                }
                return;
            }
            self.chain(at + 1, head, true);
        }
    }
}
