//! The names that a Go file uses: qualified ones (`pkg.Name`), and plain ones that other files of the package may declare.
//!
//! A local name is in scope from its statement to the end of its block. Struct fields, methods and selectors after a dot are not
//! package names. The first pass finds local declarations, the second one the uses.

use smallvec::{SmallVec, smallvec};

use super::keyword::Keyword;
use super::lexer::{Kind, Token};
use super::name_table::{NONE, NameId, NameTable};
use super::syntax::{Declaration, File, What};

/// The uses of a file's declarations, in source order.
#[derive(Default)]
pub(super) struct Uses<'t> {
    /// Each package-level or imported name once, at its first use.
    pub(super) names: Vec<NameId>,
    /// `qualifier.Name`, if the qualifier is an import.
    pub(super) qualified: Vec<(NameId, NameId)>,
    /// `qualified` may contain duplicates.
    pub(super) repeats: bool,
    /// Recorded only for outlines.
    pub(super) places: Option<Places<'t>>,
    pub(super) table: NameTable<'t>,
    scratch: Scratch,
}

/// The positions of uses.
#[derive(Default)]
pub(super) struct Places<'t> {
    /// Plain names, with the index of their token.
    pub(super) plain: Vec<(&'t str, usize)>,
    /// Names declared inside declarations.
    pub(super) locals: Vec<Local>,
    /// Tokens that refer to one of `locals`.
    pub(super) local_uses: Vec<(usize, u32)>,
}

impl<'t> Uses<'t> {
    /// Without positions.
    pub(super) fn of_file(file: &File<'t>) -> Self {
        // Each name is used a few times on average.
        Self { table: NameTable::with_room(file.text, file.names.len() / 4), ..Self::default() }
    }

    /// With the positions of uses.
    pub(super) fn with_places(file: &File<'t>) -> Self {
        Self { places: Some(Places::default()), ..Self::of_file(file) }
    }

    /// Adds a name that the file declares or imports.
    pub(super) fn know(&mut self, name: &'t str, origin: Origin) -> NameId {
        let id = self.table.id(name);
        if let Some(entry) = self.table.entries.get_mut(id.0 as usize) {
            match origin {
                Origin::Declared => entry.is_declared = true,
                Origin::Import => entry.is_import = true,
            }
        }
        id
    }
}

/// The origin of a name in file scope.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Origin {
    Declared,
    Import,
}

/// Buffers that the declarations of a file share.
#[derive(Default)]
struct Scratch {
    /// Flags per token. Not cleared between declarations, because their token ranges are disjoint.
    marks: Vec<u8>,
    /// For each local, the local of the same name that it shadows.
    shadowed: Vec<u32>,
    /// The locals of the current declaration.
    locals: Vec<Local>,
    /// The ends of the blocks around the current token, and for a statement with a header also the statement's end.
    blocks: Vec<Block>,
    /// The closing tokens of the braces around a token, and whether they belong to a literal with fields.
    braces: Vec<(usize, bool)>,
    /// The number of the current declaration.
    declaration: u32,
    /// The index of the first name after the previous declaration.
    next_name: usize,
}

/// The token is the name of a parameter, field or method, not a use.
const SKIPPED: u8 = 1;
/// The token is the brace that opens the body of a statement.
const BODY: u8 = 2;

/// A name declared inside a declaration.
#[derive(Clone, Copy, Debug)]
pub(super) struct Local {
    /// The token of the name.
    name: usize,
    /// The token range of its scope.
    from: usize,
    to: usize,
    pub(super) source: Source,
}

/// The source of a local's type, by its first token.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Source {
    Unknown,
    Type(usize),
    /// An expression, and whether a brace after it may belong to a composite literal.
    Value(usize, bool),
    /// The operand of `range`.
    Element(usize),
}

/// Adds the uses in a declaration.
pub(super) fn collect<'t>(file: &File<'t>, declaration: &Declaration<'t>, uses: &mut Uses<'t>) {
    let mut scratch = std::mem::take(&mut uses.scratch);
    scratch.marks.resize(file.tokens.len(), 0);
    scratch.locals.clear();
    scratch.blocks.clear();
    scratch.declaration += 1;
    let mut walk = BodyWalk { file, scratch };
    walk.inside(declaration);
    let start = declaration.receiver.map_or(declaration.rest, |(from, _)| from);
    walk.uses(start..declaration.to, uses);
    uses.scratch = walk.scratch;
}

/// Only parses the bodies of declarations: blocks, statements with headers, and local declarations. Returns the number of locals.
pub(super) fn parse_bodies(file: &File<'_>) -> usize {
    let mut walk = BodyWalk { file, scratch: Scratch::default() };
    walk.scratch.marks.resize(file.tokens.len(), 0);
    let mut count = 0;
    for declaration in &file.declarations {
        walk.scratch.locals.clear();
        walk.scratch.blocks.clear();
        walk.inside(declaration);
        count += walk.scratch.locals.len();
    }
    count
}

/// The entries of a parameter or result list: the token of the name, if there is one, and the first token of the type.
pub(super) fn entries(file: &File<'_>, from: usize, to: usize) -> SmallVec<[(Option<usize>, usize); 4]> {
    let last = to.saturating_sub(1);
    let mut starts: SmallVec<[usize; 4]> = smallvec![from + 1];
    let mut at = from + 1;
    while at < last {
        match file.kind(at) {
            Some(Kind::Mark(b'(' | b'[' | b'{')) => at = file.behind_bracket(at),
            Some(Kind::Mark(b',')) => {
                at += 1;
                starts.push(at);
            }
            _ => at += 1,
        }
    }
    starts.retain(|start| *start < last);
    let end = |index: usize| starts.get(index + 1).map_or(last, |next| next - 1);
    let is_named = |(index, start): (usize, &usize)| begins_with_name(file, *start, end(index));
    if !starts.iter().enumerate().any(is_named) {
        return starts.into_iter().map(|start| (None, start)).collect();
    }
    // In `a, b T`, a name without a type has the type of the next entry.
    let mut ty = last;
    let mut found: SmallVec<[(Option<usize>, usize); 4]> = SmallVec::with_capacity(starts.len());
    for (index, start) in starts.iter().enumerate().rev() {
        if start + 1 < end(index) {
            ty = start + 1;
        }
        found.push((Some(*start), ty));
    }
    found.reverse();
    found
}

/// Whether an entry is `name Type` rather than only a type.
fn begins_with_name(file: &File<'_>, start: usize, end: usize) -> bool {
    if file.word(start).is_empty() || is_type_keyword(file.keyword(start)) || start + 1 >= end {
        return false;
    }
    match file.kind(start + 1) {
        // `List[int]` is a type, but in `a [2]int` and `a []int`, a type follows the bracket.
        Some(Kind::Mark(b'[')) => file.behind_bracket(start + 1) < end,
        Some(Kind::Mark(b'.')) => false,
        _ => true,
    }
}

/// Whether a bracket opens type parameters (`[T any]`) after the name of a function or type, rather than an array length.
pub(super) fn is_type_parameters(file: &File<'_>, what: What, at: usize) -> bool {
    let is_list = matches!(what, What::Function | What::Type) && file.is_mark(at, b'[');
    let follows = !matches!(file.kind(at + 2), None | Some(Kind::Mark(b']')));
    is_list && !file.word(at + 1).is_empty() && follows
}

struct BodyWalk<'f, 't> {
    file: &'f File<'t>,
    scratch: Scratch,
}

#[derive(Clone, Copy)]
struct Block {
    end: usize,
    /// The start of the statement's body, if it has a header.
    body: Option<usize>,
    /// The end of the last statement looked up. Cached, so that a statement which declares many names is scanned once.
    statement: usize,
}

impl Block {
    fn new(end: usize, body: Option<usize>) -> Self {
        Self { end, body, statement: 0 }
    }
}

impl<'t> BodyWalk<'_, 't> {
    fn mark(&mut self, at: usize, mark: u8) {
        if let Some(marks) = self.scratch.marks.get_mut(at) {
            *marks |= mark;
        }
    }

    fn is_marked(&self, at: usize, mark: u8) -> bool {
        self.scratch.marks.get(at).is_some_and(|marks| marks & mark != 0)
    }

    fn local(&mut self, at: usize, (from, to): (usize, usize), source: Source) {
        if self.file.kind(at) == Some(Kind::Word) {
            self.scratch.locals.push(Local { name: at, from, to, source });
            self.mark(at, SKIPPED);
        }
    }

    /// Finds all locals of a declaration, including its receiver.
    fn inside(&mut self, declaration: &Declaration<'t>) {
        if let Some((from, to)) = declaration.receiver {
            let body = self.file.function_body(declaration.rest).0;
            self.parameters(from, to, Some((body, declaration.to)));
            // The name of the method, which follows the receiver, is not a use.
            self.mark(to, SKIPPED);
        }
        self.declared(declaration);
    }

    /// Finds the locals after the name of a declaration.
    fn declared(&mut self, declaration: &Declaration<'t>) {
        let whole = (declaration.from, declaration.to);
        let mut at = declaration.rest;
        if is_type_parameters(self.file, declaration.what, at) {
            let end = self.file.behind_bracket(at);
            self.parameters(at, end, Some(whole));
            at = end;
        }
        if matches!(declaration.what, What::Function | What::Method) {
            self.signature(at, Some((self.file.function_body(at).0, declaration.to)));
        }
        self.scratch.blocks.push(Block::new(declaration.to, None));
        let file = self.file;
        for at in between(&file.structure, at, declaration.to) {
            let at = *at as usize;
            while self.scratch.blocks.len() > 1 && self.scratch.blocks.last().is_some_and(|block| block.end <= at) {
                self.scratch.blocks.pop();
            }
            match file.kind(at) {
                Some(Kind::Define) => self.defined(at, declaration.rest),
                Some(Kind::Mark(_)) => self.scratch.blocks.push(Block::new(file.behind_bracket(at), None)),
                _ => self.keyword(at, declaration.rest),
            }
        }
    }

    fn keyword(&mut self, at: usize, start: usize) {
        match self.file.keyword(at) {
            Keyword::Func => {
                let body = self.file.function_body(at + 1);
                self.signature(at + 1, Some(body));
            }
            Keyword::Var | Keyword::Const | Keyword::Type if at > start => self.inner(at),
            Keyword::Struct if self.file.is_mark(at + 1, b'{') => self.members(at + 1, false),
            Keyword::Interface if self.file.is_mark(at + 1, b'{') => self.members(at + 1, true),
            Keyword::If | Keyword::For | Keyword::Switch | Keyword::Select => {
                let body = self.file.header(at);
                self.mark(body, BODY);
                // An `else` branch ends with its whole `if` statement.
                let is_branch = at > 0 && self.file.keyword(at - 1) == Keyword::Else;
                let end = if is_branch { self.block_end() } else { self.file.end_of_branches(body) };
                self.scratch.blocks.push(Block::new(end, Some(body)));
            }
            _ => {}
        }
    }

    /// The end of the statement around a token.
    fn statement_end(&mut self, at: usize) -> usize {
        let file = self.file;
        let Some(block) = self.scratch.blocks.last_mut() else { return file.end_of(at) };
        if at >= block.statement {
            block.statement = file.end_of(at);
        }
        block.statement
    }

    fn block_end(&self) -> usize {
        self.scratch.blocks.last().map_or(usize::MAX, |block| block.end)
    }

    /// The parameters and results after a function's name or after `func`. `inside` is the token range of their scope, the body.
    fn signature(&mut self, mut at: usize, inside: Option<(usize, usize)>) {
        for _ in 0..2 {
            if !self.file.is_mark(at, b'(') {
                return;
            }
            let end = self.file.behind_bracket(at);
            self.parameters(at, end, inside);
            at = end;
        }
    }

    /// The names of a parenthesised list.
    fn parameters(&mut self, from: usize, to: usize, inside: Option<(usize, usize)>) {
        let is_type_list = self.file.is_mark(from, b'[');
        for (name, ty) in entries(self.file, from, to) {
            match (name, inside) {
                (Some(name), Some(inside)) => {
                    let source = if is_type_list { Source::Unknown } else { Source::Type(ty) };
                    self.local(name, inside, source);
                }
                (Some(name), None) => self.mark(name, SKIPPED),
                (None, _) => {}
            }
        }
    }

    /// The names before `:=`. Their scope starts after the statement, or is the body if the statement is a header.
    fn defined(&mut self, define: usize, start: usize) {
        let block = self.scratch.blocks.last().copied().unwrap_or(Block::new(usize::MAX, None));
        let mut first = define;
        let mut names: SmallVec<[usize; 4]> = SmallVec::new();
        while first > start && !self.file.word(first - 1).is_empty() {
            first -= 1;
            names.push(first);
            if first == start || !self.file.is_mark(first - 1, b',') {
                break;
            }
            first -= 1;
        }
        let is_case = first > start && self.file.keyword(first - 1) == Keyword::Case;
        let header = block.body.filter(|body| define < *body);
        let from = if is_case {
            define + 1
        } else {
            let end = self.statement_end(define + 1);
            header.map_or(end, |body| end.min(body))
        };
        let is_range = self.file.keyword(define + 1) == Keyword::Range;
        // In `a, b := x, y`, each name has its own value.
        let values = if is_range || names.len() < 2 { Vec::new() } else { self.list(define + 1, names.len()) };
        for (index, at) in names.into_iter().rev().enumerate() {
            let source = match (is_range, index) {
                (true, 1) => Source::Element(define + 2),
                (false, 0) => Source::Value(define + 1, header.is_none()),
                (false, index) => values.get(index).map_or(Source::Unknown, |at| Source::Value(*at, true)),
                _ => Source::Unknown,
            };
            self.scratch.locals.push(Local { name: at, from, to: block.end.max(from), source });
            self.mark(at, SKIPPED);
        }
    }

    /// The starts of the expressions in a list, if there are exactly `count`.
    fn list(&mut self, start: usize, count: usize) -> Vec<usize> {
        let end = self.statement_end(start);
        let mut at = start;
        let mut starts = vec![start];
        while at < end && starts.len() <= count {
            match self.file.kind(at) {
                Some(Kind::Mark(b'(' | b'[' | b'{')) => at = self.file.behind_bracket(at),
                Some(Kind::Mark(b',')) => {
                    at += 1;
                    starts.push(at);
                }
                _ => at += 1,
            }
        }
        if starts.len() == count { starts } else { Vec::new() }
    }

    /// A `var`, `const` or `type` declaration inside a function.
    fn inner(&mut self, keyword: usize) {
        let (mut at, end) = match self.file.is_mark(keyword + 1, b'(') {
            true => (keyword + 2, self.file.behind_bracket(keyword + 1)),
            false => (keyword + 1, keyword + 2),
        };
        let is_type = self.file.keyword(keyword) == Keyword::Type;
        while at < end {
            let line_end = self.statement_end(at);
            let mut names: SmallVec<[usize; 4]> = smallvec![at];
            while self.file.is_mark(at + 1, b',') {
                at += 2;
                names.push(at);
            }
            let ty = at + 1;
            let source = match self.file.kind(ty) {
                _ if is_type => Source::Unknown,
                Some(Kind::Mark(b'=')) if names.len() == 1 => Source::Value(ty + 1, true),
                None | Some(Kind::End | Kind::Mark(b'=' | b')')) => Source::Unknown,
                _ => Source::Type(ty),
            };
            let from = if is_type { at } else { line_end };
            let to = self.block_end().max(from);
            names.into_iter().for_each(|name| self.local(name, (from, to), source));
            at = line_end + 1;
        }
    }

    /// The names of fields or methods in a type.
    fn members(&mut self, open: usize, is_interface: bool) {
        let end = self.file.behind_bracket(open);
        let mut at = open + 1;
        while at + 1 < end {
            if is_interface {
                if self.file.is_mark(at + 1, b'(') {
                    self.mark(at, SKIPPED);
                    // Parameter names in a method of an interface have no scope, so they shadow nothing.
                    self.signature(at + 1, None);
                }
            } else if let Some(names) = field_names(self.file, at, end) {
                names.into_iter().for_each(|name| self.mark(name, SKIPPED));
            }
            at = self.file.end_of(at) + 1;
        }
    }

    fn uses(&mut self, tokens: std::ops::Range<usize>, uses: &mut Uses<'t>) {
        self.scratch.locals.sort_by_key(|local| local.from);
        self.scratch.shadowed.clear();
        self.scratch.braces.clear();
        let base = uses.places.as_ref().map_or(0, |places| places.locals.len() as u32);
        let file = self.file;
        self.skip_names(tokens.start.min(tokens.end));
        for at in file.names.get(self.scratch.next_name..).unwrap_or_default() {
            let at = *at as usize;
            let Some(token) = file.tokens.get(at).filter(|_| at < tokens.end) else { break };
            self.scratch.next_name += 1;
            if token.kind == Kind::Mark(b'{') {
                self.close_braces(at);
                let brace = (file.behind_bracket(at), self.has_fields(at));
                self.scratch.braces.push(brace);
            } else if !self.is_marked(at, SKIPPED) && !self.is_field(at) {
                self.one_use(token, at, base, uses);
            }
        }
        if let Some(places) = &mut uses.places {
            places.locals.append(&mut self.scratch.locals);
        }
    }

    /// Advances to the first name at or after a token. Declarations come in file order, so no search is needed.
    fn skip_names(&mut self, from: usize) {
        let names = self.file.names.as_slice();
        let is_before = |at: &u32| (*at as usize) < from;
        let next = &mut self.scratch.next_name;
        debug_assert!(names.get(..*next).is_none_or(|passed| passed.last().is_none_or(is_before)), "in order");
        *next += names.get(*next..).unwrap_or_default().iter().take_while(|at| is_before(at)).count();
    }

    fn close_braces(&mut self, at: usize) {
        while self.scratch.braces.last().is_some_and(|(end, _)| *end <= at) {
            self.scratch.braces.pop();
        }
    }

    fn one_use(&mut self, token: &Token, at: usize, base: u32, uses: &mut Uses<'t>) {
        let id = uses.table.id_at(token.start, token.end);
        if let Some(index) = self.local_at(id, at, &mut uses.table) {
            if let Some(places) = &mut uses.places {
                places.local_uses.push((at, base + index));
            }
            return;
        }
        let Some(entry) = uses.table.entries.get_mut(id.0 as usize) else { return };
        if entry.is_import && self.file.is_mark(at + 1, b'.') {
            if !entry.is_used {
                entry.is_used = true;
                uses.names.push(id);
            }
            if let Some(name) = self.file.tokens.get(at + 2).filter(|name| name.kind == Kind::Word) {
                let name = uses.table.id_at(name.start, name.end);
                let taken = uses.table.entries.get_mut(name.0 as usize).and_then(|entry| entry.taken_from.replace(id));
                if taken != Some(id) {
                    uses.qualified.push((id, name));
                    uses.repeats |= taken.is_some();
                }
            }
        } else if !entry.is_used {
            entry.is_used = true;
            uses.names.push(id);
        }
        if let Some(places) = &mut uses.places {
            places.plain.push((self.file.text_of(token), at));
        }
    }

    /// The local that a name refers to at a token. Tokens must be passed in ascending order.
    fn local_at(&mut self, id: NameId, at: usize, table: &mut NameTable<'t>) -> Option<u32> {
        let Scratch { locals, shadowed, declaration, .. } = &mut self.scratch;
        while let Some(local) = locals.get(shadowed.len()).filter(|local| local.from <= at) {
            let name = self.file.tokens.get(local.name)?;
            let begun = table.id_at(name.start, name.end);
            let entry = table.entries.get_mut(begun.0 as usize)?;
            let before = if entry.declaration == *declaration { entry.local } else { NONE };
            (entry.declaration, entry.local) = (*declaration, shadowed.len() as u32);
            shadowed.push(before);
        }
        let entry = table.entries.get_mut(id.0 as usize).filter(|entry| entry.declaration == *declaration)?;
        while let Some(local) = locals.get(entry.local as usize).filter(|local| local.to <= at) {
            debug_assert_eq!(self.file.word(local.name), entry.name, "locals of one name shadow each other");
            entry.local = shadowed.get(entry.local as usize).copied().unwrap_or(NONE);
        }
        (entry.local != NONE).then_some(entry.local)
    }

    /// Whether a token is the key in `Key: value` of a literal with fields.
    fn is_field(&mut self, at: usize) -> bool {
        if !self.file.is_mark(at + 1, b':') {
            return false;
        }
        let last = at.checked_sub(1).and_then(|before| self.file.kind(before));
        if !matches!(last, Some(Kind::Mark(b'{' | b','))) {
            return false;
        }
        self.close_braces(at);
        self.scratch.braces.last().is_some_and(|(_, has_fields)| *has_fields)
    }

    /// Whether a brace opens a literal whose keys are fields: one with a type name (`T{`, `pkg.T{`) or an omitted type (`{{`).
    /// The keys of explicit map and slice literals are names. A named type may be a map, too, but its declaration may be in
    /// another file.
    fn has_fields(&self, open: usize) -> bool {
        if open == 0 || self.is_marked(open, BODY) {
            return false;
        }
        match self.file.kind(open - 1) {
            Some(Kind::Mark(b'{' | b',' | b':')) => true,
            Some(Kind::Word) if self.file.keyword(open - 1) == Keyword::No => {
                let is_qualified = open >= 3 && self.file.is_mark(open - 2, b'.');
                let before = open.checked_sub(if is_qualified { 4 } else { 2 });
                !before.is_some_and(|before| matches!(self.file.kind(before), Some(Kind::Mark(b']' | b'*'))))
            }
            _ => false,
        }
    }
}

/// The sub-slice of sorted indices in `from..to`.
fn between(indices: &[u32], from: usize, to: usize) -> &[u32] {
    let start = indices.partition_point(|at| (*at as usize) < from);
    let rest = indices.get(start..).unwrap_or_default();
    rest.get(..rest.partition_point(|at| (*at as usize) < to)).unwrap_or_default()
}

/// The tokens of the names in a struct line `A, B T`; `None` for an embedded type.
pub(super) fn field_names(file: &File<'_>, start: usize, end: usize) -> Option<SmallVec<[usize; 4]>> {
    let mut names: SmallVec<[usize; 4]> = smallvec![start];
    let mut at = start;
    while !file.word(at).is_empty() && file.is_mark(at + 1, b',') {
        at += 2;
        names.push(at);
    }
    let follows = file.kind(at + 1);
    let is_embedded = at + 1 >= end || matches!(follows, None | Some(Kind::End | Kind::Text | Kind::Mark(b'.' | b'}')));
    let is_generic = names.len() == 1
        && follows == Some(Kind::Mark(b'['))
        && matches!(file.kind(file.behind_bracket(at + 1)), Some(Kind::End | Kind::Mark(b'}')));
    (!is_embedded && !is_generic && !file.word(start).is_empty()).then_some(names)
}

fn is_type_keyword(word: Keyword) -> bool {
    matches!(word, Keyword::Func | Keyword::Map | Keyword::Chan | Keyword::Struct | Keyword::Interface)
}
