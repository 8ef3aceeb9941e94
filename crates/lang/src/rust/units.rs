//! The outline of a Rust file: functions, types with fields and variants, traits and `impl` blocks with their members, constants,
//! macros and modules. Items are recognised by keywords and brackets. An explicit stack of enclosing blocks avoids recursion.

use stan_model::outline::{LineStarts, Outline, Span, Unit, UnitId, UnitKind, UnitName};

use super::lexer::{Kind, Lexed};

/// A unit, with the tokens from which its names are read.
#[derive(Clone, Copy, Debug)]
pub(super) struct UnitTokens {
    /// The token of the name; for `impl`, that of the type.
    pub(super) name: usize,
    /// The token range of the item.
    pub(super) from: usize,
    pub(super) to: usize,
    /// The bracket that opens the body.
    pub(super) body: Option<usize>,
    /// The token of the trait's name in `impl Trait for Type`.
    pub(super) of_trait: Option<usize>,
}

/// Units in outline order, each with its tokens.
pub(super) struct Units<'l, 't> {
    lexed: &'l Lexed<'t>,
    lines: &'l LineStarts,
    pub(super) units: Vec<Unit>,
    pub(super) parts: Vec<UnitTokens>,
    /// Imports and other statements that are not units.
    pub(super) statements: Vec<Span>,
    comment: usize,
    /// The end of the current block. An unmatched bracket extends only to here.
    end: usize,
}

/// The contents of a block.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Holds {
    Items,
    Members,
}

struct Frame {
    at: usize,
    end: usize,
    parent: Option<u32>,
    holds: Holds,
}

/// The tokens before the keyword of an item.
struct Lead {
    from: usize,
    public: bool,
}

impl<'l, 't> Units<'l, 't> {
    pub(super) fn read(lexed: &'l Lexed<'t>, lines: &'l LineStarts) -> Self {
        let mut units =
            Self { lexed, lines, units: Vec::new(), parts: Vec::new(), statements: Vec::new(), comment: 0, end: 0 };
        let mut frames = vec![Frame { at: 0, end: lexed.tokens.len(), parent: None, holds: Holds::Items }];
        while let Some(frame) = frames.last_mut() {
            if frame.at >= frame.end {
                let parent = frame.parent;
                frames.pop();
                if let Some(unit) = parent.and_then(|parent| units.units.get_mut(parent as usize)) {
                    unit.until = units.parts.len() as u32;
                }
                continue;
            }
            let (at, end, parent, holds) = (frame.at, frame.end, frame.parent, frame.holds);
            units.end = end;
            let (next, inner) = units.item(at, end, parent, holds);
            frame.at = next.max(at + 1);
            frames.extend(inner);
        }
        units
    }

    pub(super) fn outline(self, incomplete: bool) -> Outline {
        Outline { units: self.units, incomplete }
    }

    /// Reads the item at a token. Returns the token after it, and the block inside it whose items must be read.
    fn item(&mut self, start: usize, end: usize, parent: Option<u32>, holds: Holds) -> (usize, Option<Frame>) {
        let lexed = self.lexed;
        let (lead, at) = self.lead(start);
        let at = self.modifiers(at);
        let named = !lexed.word(at + 1).is_empty();
        match lexed.word(at) {
            "fn" if named => {
                let kind = if holds == Holds::Members { UnitKind::Method } else { UnitKind::Function };
                let (next, body) = self.until_body(at + 2, end);
                self.add(kind, &lead, at + 1, next, body, parent);
                (next, None)
            }
            "struct" | "union" | "enum" if named => self.fields(at, end, &lead, parent),
            "trait" if named => {
                let (next, body) = self.until_body(at + 2, end);
                let id = self.add(UnitKind::Trait, &lead, at + 1, next, body, parent);
                (next, body.map(|open| self.frame(open, Some(id), Holds::Members)))
            }
            "impl" => self.implementation(at, end, &lead, parent),
            "type" | "const" | "static" if named => self.value(at, end, &lead, parent),
            "mod" if named => self.module(at, end, &lead, parent),
            "macro_rules" if lexed.is_mark(at + 1, b'!') && !lexed.word(at + 2).is_empty() => {
                let open = at + 3;
                let close = if lexed.is_open(open) { self.close(open) + 1 } else { open };
                let next = if lexed.is_mark(close, b';') { close + 1 } else { close };
                let body = Some(open).filter(|open| lexed.is_open(*open));
                self.add(UnitKind::Macro, &lead, at + 2, next, body, parent);
                (next, None)
            }
            "macro" if named => {
                let (next, body) = self.until_body(at + 2, end);
                self.add(UnitKind::Macro, &lead, at + 1, next, body, parent);
                (next, None)
            }
            "extern" if lexed.is_mark(at + 1, b'{') || lexed.is_mark(at + 2, b'{') => {
                let open = if lexed.is_mark(at + 1, b'{') { at + 1 } else { at + 2 };
                (self.close(open) + 1, Some(self.frame(open, parent, Holds::Items)))
            }
            "use" | "extern" => {
                let next = self.end_of_statement(at, end);
                self.statement(lead.from, next);
                (next, None)
            }
            // A branch of `cfg_if!`.
            "" if holds == Holds::Items && lexed.is_mark(at, b'{') => {
                (self.close(at) + 1, Some(self.frame(at, parent, holds)))
            }
            "" => (self.behind(at.max(start)), None),
            _ => self.other(at, end, parent, holds),
        }
    }

    /// Skips the words that may precede the keyword of an item.
    fn modifiers(&self, start: usize) -> usize {
        let lexed = self.lexed;
        let mut at = start;
        loop {
            let has_abi = lexed.kind(at + 1) == Some(Kind::Text);
            match lexed.word(at) {
                "unsafe" | "async" | "default" | "auto" | "safe" => at += 1,
                "const" if matches!(lexed.word(at + 1), "fn" | "unsafe" | "extern" | "async") => at += 1,
                "extern" if lexed.word(at + 1) == "fn" => at += 1,
                "extern" if has_abi && lexed.word(at + 2) == "fn" => at += 2,
                _ => return at,
            }
        }
    }

    fn implementation(&mut self, at: usize, end: usize, lead: &Lead, parent: Option<u32>) -> (usize, Option<Frame>) {
        let (next, body) = self.until_body(at + 1, end);
        let (name, of_trait) = self.impl_names(at + 1, body.unwrap_or(next));
        let id = self.add(UnitKind::Impl, lead, name, next, body, parent);
        if let Some(of_trait) = of_trait {
            self.units[id as usize].heritage = vec![self.lexed.text_at(of_trait).into()];
            self.parts[id as usize].of_trait = Some(of_trait);
        }
        (next, body.map(|open| self.frame(open, Some(id), Holds::Members)))
    }

    fn module(&mut self, at: usize, end: usize, lead: &Lead, parent: Option<u32>) -> (usize, Option<Frame>) {
        let open = at + 2;
        if self.lexed.is_mark(open, b'{') {
            let next = self.close(open) + 1;
            let id = self.add(UnitKind::Namespace, lead, at + 1, next, Some(open), parent);
            return (next, Some(self.frame(open, Some(id), Holds::Items)));
        }
        let next = self.end_of_statement(at, end);
        self.add(UnitKind::Module, lead, at + 1, next, None, parent);
        (next, None)
    }

    /// A macro call, whose arguments may be items, or something else that is not an item.
    fn other(&mut self, at: usize, end: usize, parent: Option<u32>, holds: Holds) -> (usize, Option<Frame>) {
        let lexed = self.lexed;
        let mut behind = at + 1;
        while lexed.kind(behind) == Some(Kind::Separator) && lexed.kind(behind + 1) == Some(Kind::Word) {
            behind += 2;
        }
        let open = behind + 1;
        if !lexed.is_mark(behind, b'!') || !lexed.is_open(open) {
            return (self.behind(at), None);
        }
        let next = self.close(open) + 1;
        if holds == Holds::Items {
            self.statement(at, next.min(end));
            if lexed.is_mark(open, b'{') {
                // Items of macros belong to the enclosing module.
                return (next, Some(self.frame(open, parent, holds)));
            }
        }
        (next, None)
    }

    fn frame(&self, open: usize, parent: Option<u32>, holds: Holds) -> Frame {
        Frame { at: open + 1, end: self.close(open), parent, holds }
    }

    /// Reads the attributes and the visibility of an item; returns also the token after them.
    fn lead(&self, start: usize) -> (Lead, usize) {
        let lexed = self.lexed;
        let (mut at, mut from) = (start, start);
        while lexed.is_mark(at, b'#') {
            let is_inner = lexed.is_mark(at + 1, b'!');
            let open = if is_inner { at + 2 } else { at + 1 };
            if !lexed.is_mark(open, b'[') {
                break;
            }
            at = self.close(open) + 1;
            if is_inner {
                // An inner attribute belongs to the enclosing item.
                from = at;
            }
        }
        let public = lexed.word(at) == "pub";
        if public {
            at += 1;
            if lexed.is_mark(at, b'(') && matches!(lexed.word(at + 1), "crate" | "self" | "super" | "in") {
                at = self.close(at) + 1;
            }
        }
        (Lead { from, public }, at)
    }

    /// The bracket that closes the one at a token, limited to the current block.
    fn close(&self, open: usize) -> usize {
        self.lexed.closing(open).min(self.end.saturating_sub(1)).max(open)
    }

    /// The token after this one, or after the bracket that it opens.
    fn behind(&self, at: usize) -> usize {
        if self.lexed.is_open(at) { self.close(at).max(at) + 1 } else { at + 1 }
    }

    /// Skips a signature up to the end of the item: after its body or its semicolon.
    fn until_body(&self, start: usize, end: usize) -> (usize, Option<usize>) {
        let mut at = start;
        let mut angles = 0_u32;
        while at < end {
            match self.lexed.kind(at) {
                Some(Kind::Mark(b';')) => return (at + 1, None),
                // `Foo<{ N }>` is a const argument.
                Some(Kind::Mark(b'{')) if angles == 0 => return (self.close(at) + 1, Some(at)),
                Some(Kind::Mark(b'<')) => angles += 1,
                Some(Kind::Mark(b'>')) if !self.lexed.is_mark(at.wrapping_sub(1), b'-') => {
                    angles = angles.saturating_sub(1);
                }
                _ => {}
            }
            at = self.behind(at);
        }
        (end, None)
    }

    fn end_of_statement(&self, start: usize, end: usize) -> usize {
        let mut at = start;
        while at < end && !self.lexed.is_mark(at, b';') {
            at = self.behind(at);
        }
        (at + 1).min(end.max(start + 1))
    }

    fn value(&mut self, at: usize, end: usize, lead: &Lead, parent: Option<u32>) -> (usize, Option<Frame>) {
        let lexed = self.lexed;
        let kind = match lexed.word(at) {
            "type" => UnitKind::Type,
            "const" => UnitKind::Constant,
            _ => UnitKind::Variable,
        };
        let name = if matches!(lexed.word(at + 1), "mut" | "ref") { at + 2 } else { at + 1 };
        let next = self.end_of_statement(at, end);
        // A value over several lines is not part of signatures.
        let mut equals = at;
        while equals < next && !lexed.is_mark(equals, b'=') {
            equals = self.behind(equals);
        }
        let id = self.add(kind, lead, name, next, None, parent);
        let value = lexed.tokens.get(equals + 1).filter(|_| equals + 1 < next && kind != UnitKind::Type);
        let last = next.checked_sub(2).and_then(|last| lexed.tokens.get(last));
        if let (Some(value), Some(last)) = (value, last) {
            let span = Span::new(value.start, last.end);
            let unit = &mut self.units[id as usize];
            if span.of(lexed.text).contains('\n') && unit.span.encloses(span) {
                unit.head = Span::new(unit.span.start, span.start);
                unit.bodies = vec![span];
            }
        }
        (next, None)
    }

    fn fields(&mut self, at: usize, end: usize, lead: &Lead, parent: Option<u32>) -> (usize, Option<Frame>) {
        let (kind, member) = match self.lexed.word(at) {
            "enum" => (UnitKind::Enum, UnitKind::EnumMember),
            "union" => (UnitKind::Union, UnitKind::Property),
            _ => (UnitKind::Struct, UnitKind::Property),
        };
        let (next, body) = self.until_body(at + 2, end);
        let id = self.add(kind, lead, at + 1, next, body, parent);
        if let Some(open) = body {
            self.members(id, open, member);
        }
        (next, None)
    }

    /// The fields of a type or the variants of an enum, separated by commas.
    fn members(&mut self, parent: u32, open: usize, kind: UnitKind) {
        let lexed = self.lexed;
        let close = self.close(open);
        let around = std::mem::replace(&mut self.end, close);
        let mut at = open + 1;
        while at < close {
            let (lead, name) = self.lead(at);
            let mut angles = 0_u32;
            let mut next = name;
            while next < close {
                match lexed.kind(next) {
                    Some(Kind::Mark(b',')) if angles == 0 => break,
                    Some(Kind::Mark(b'<')) => angles += 1,
                    Some(Kind::Mark(b'>')) if !lexed.is_mark(next - 1, b'-') => angles = angles.saturating_sub(1),
                    _ => {}
                }
                next = self.behind(next);
            }
            if name < close && !lexed.word(name).is_empty() {
                self.add(kind, &lead, name, next.min(close), None, Some(parent));
            }
            at = next + 1;
        }
        self.end = around;
        if let Some(unit) = self.units.get_mut(parent as usize) {
            unit.until = self.parts.len() as u32;
        }
    }

    /// The tokens of the type of an `impl` and of its trait, if there is one: the last segment of each path.
    fn impl_names(&self, start: usize, end: usize) -> (usize, Option<usize>) {
        let lexed = self.lexed;
        let mut at = start;
        let mut angles = 0_u32;
        let (mut last, mut of_trait) = (None, None);
        while at < end {
            match lexed.kind(at) {
                Some(Kind::Mark(b'<')) => angles += 1,
                Some(Kind::Mark(b'>')) if !lexed.is_mark(at.wrapping_sub(1), b'-') => angles = angles.saturating_sub(1),
                Some(Kind::Word) if angles == 0 => match lexed.text_at(at) {
                    "for" => {
                        of_trait = last.take();
                    }
                    "where" => break,
                    "dyn" | "mut" | "const" | "unsafe" | "crate" | "super" | "self" => {}
                    _ => last = Some(at),
                },
                _ => {}
            }
            at = if angles == 0 { self.behind(at) } else { at + 1 };
        }
        (last.unwrap_or(start), of_trait)
    }

    fn statement(&mut self, from: usize, to: usize) {
        if let Some(span) = self.span(from, to) {
            self.statements.push(span);
        }
    }

    fn span(&self, from: usize, to: usize) -> Option<Span> {
        let tokens = self.lexed.tokens.get(from..to.min(self.lexed.tokens.len()))?;
        Some(Span::new(tokens.first()?.start, tokens.last()?.end))
    }

    fn add(
        &mut self,
        kind: UnitKind,
        lead: &Lead,
        name: usize,
        to: usize,
        body: Option<usize>,
        parent: Option<u32>,
    ) -> u32 {
        let lexed = self.lexed;
        // A broken item may extend beyond its block.
        let from = lead.from.min(self.end.saturating_sub(1));
        let to = to.min(self.end).max(from + 1);
        let body = body.filter(|open| (from..to).contains(open));
        let span = self.span(from, to).unwrap_or_default();
        let bodies: Vec<Span> = body.and_then(|open| self.span(open, self.close(open) + 1)).into_iter().collect();
        let token = lexed.tokens.get(name).copied();
        let names = token.filter(|token| token.kind == Kind::Word).map(|token| UnitName {
            text: lexed.text_at(name).into(),
            span: Span::new(token.start, token.end),
            line: self.lines.line(token.start),
        });
        let next = self.units.len() as u32;
        let doc = self.doc(span.start);
        self.units.push(Unit {
            kind,
            names: names.into_iter().collect(),
            span,
            lines: self.lines.lines(span),
            doc,
            head: Span::new(span.start, bodies.first().map_or(span.end, |body| body.start)),
            bodies,
            parent: parent.map(UnitId),
            until: next + 1,
            exported: lead.public || matches!(kind, UnitKind::EnumMember | UnitKind::Impl),
            is_static: false,
            heritage: Vec::new(),
        });
        self.parts.push(UnitTokens { name, from, to, body, of_trait: None });
        next
    }

    /// The doc comments directly above a byte offset. Other comments count only if they are on lines of their own.
    fn doc(&mut self, start: u32) -> Option<Span> {
        let comments = &self.lexed.comments;
        while comments.get(self.comment).is_some_and(|comment| comment.end <= start) {
            self.comment += 1;
        }
        let text = self.lexed.text;
        let mut line = self.lines.line(start);
        let mut doc: Option<Span> = None;
        for comment in comments.get(..self.comment)?.iter().rev() {
            let span = Span::new(comment.start, comment.end);
            let own = self.lines.start(self.lines.line(comment.start));
            let begins_line = own.is_some_and(|from| Span::new(from, comment.start).of(text).trim().is_empty());
            let is_inner = span.of(text).starts_with("//!") || span.of(text).starts_with("/*!");
            if !begins_line || is_inner || self.lines.line(comment.end.max(1) - 1) + 1 != line {
                break;
            }
            line = self.lines.line(comment.start);
            doc = Some(Span::new(comment.start, doc.map_or(comment.end, |doc| doc.end)));
        }
        doc
    }
}
