//! The outline of one source file: its declarations as spans of text, for any language.
//!
//! A *unit* is a declaration at module level or a member of one. Units are spans, so that text, signatures and line ranges come
//! from the file itself and nothing is printed from a syntax tree.

use std::ops::Range;

use serde::{Deserialize, Serialize};

/// A range of bytes in a file.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct Span {
    pub start: u32,
    pub end: u32,
}

impl Span {
    pub fn new(start: u32, end: u32) -> Self {
        Self { start, end }
    }

    /// The part of `text` in this range; empty if the range is out of bounds.
    pub fn of(self, text: &str) -> &str {
        text.get(self.range()).unwrap_or_default()
    }

    pub fn range(self) -> Range<usize> {
        self.start as usize..self.end as usize
    }

    pub fn contains(self, position: u32) -> bool {
        self.start <= position && position < self.end
    }

    pub fn encloses(self, other: Self) -> bool {
        self.start <= other.start && other.end <= self.end
    }

    pub fn is_empty(self) -> bool {
        self.end <= self.start
    }
}

/// A range of lines, 1-based and inclusive.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct Lines {
    pub from: u32,
    pub to: u32,
}

impl Lines {
    pub fn contains(self, line: u32) -> bool {
        self.from <= line && line <= self.to
    }
}

/// The kind of a unit's declaration. One list for all languages: a kind is added only if no existing one tells readers what they
/// need.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub enum UnitKind {
    Function,
    Class,
    Struct,
    Interface,
    Trait,
    /// A block of members for a type declared elsewhere (Rust `impl`, Swift `extension`).
    Impl,
    Enum,
    Union,
    /// A type alias.
    Type,
    Variable,
    Constant,
    Namespace,
    /// A module declared by its specifier (`declare module 'x'`), or a module in its own file (`mod x;`).
    Module,
    Macro,
    /// An exported expression without a name.
    Export,
    Method,
    Constructor,
    Getter,
    Setter,
    /// A field or property of a class, interface, struct or literal.
    Property,
    EnumMember,
    /// A call, construct or index signature.
    Signature,
    /// Code that runs when a class is initialised.
    StaticBlock,
}

impl UnitKind {
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Function => "function",
            Self::Class => "class",
            Self::Struct => "struct",
            Self::Interface => "interface",
            Self::Trait => "trait",
            Self::Impl => "impl",
            Self::Enum => "enum",
            Self::Union => "union",
            Self::Type => "type",
            Self::Variable => "variable",
            Self::Constant => "constant",
            Self::Namespace => "namespace",
            Self::Module => "module",
            Self::Macro => "macro",
            Self::Export => "export",
            Self::Method => "method",
            Self::Constructor => "constructor",
            Self::Getter => "getter",
            Self::Setter => "setter",
            Self::Property => "property",
            Self::EnumMember => "enum-member",
            Self::Signature => "signature",
            Self::StaticBlock => "static-block",
        }
    }

    /// Whether the unit declares a type and no value.
    pub fn is_type(self) -> bool {
        matches!(self, Self::Interface | Self::Type | Self::Trait)
    }
}

/// Index of a unit in [`Outline::units`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct UnitId(pub u32);

/// A name that a unit declares, and its position.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct UnitName {
    pub text: Box<str>,
    pub span: Span,
    pub line: u32,
}

/// One declaration.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Unit {
    pub kind: UnitKind,
    /// More than one for `const a = …, b = …`; empty for signatures and expressions without a name.
    pub names: Vec<UnitName>,
    /// The whole declaration with its modifiers and decorators, without its doc comment.
    pub span: Span,
    /// The lines of `span`.
    pub lines: Lines,
    /// The doc comment directly before the declaration.
    pub doc: Option<Span>,
    /// From the start to the body.
    pub head: Span,
    /// The parts that a signature omits: function bodies, blocks of members, multi-line initialisers. Ascending, inside `span`,
    /// not overlapping.
    pub bodies: Vec<Span>,
    pub parent: Option<UnitId>,
    /// Units are in source order, each before its members: this is the index after the last member.
    pub until: u32,
    /// Visible outside the file (or, for members and nested units, outside the unit around it).
    pub exported: bool,
    /// A member of the class itself rather than of its instances.
    pub is_static: bool,
    /// The types that the declaration extends or implements, as written, without type arguments. For a method declared outside
    /// its type: that type.
    pub heritage: Vec<Box<str>>,
}

impl Unit {
    /// The first name, or the kind for a unit without one.
    pub fn name(&self) -> &str {
        self.names.first().map_or_else(|| self.kind.as_str(), |name| &name.text)
    }

    /// The line of the name, or else the first line.
    pub fn name_line(&self) -> u32 {
        self.names.first().map_or(self.lines.from, |name| name.line)
    }

    /// The type of a method declared outside of that type.
    pub fn receiver(&self) -> Option<&str> {
        let is_outside = self.kind == UnitKind::Method && self.parent.is_none();
        self.heritage.first().filter(|_| is_outside).map(|name| &**name)
    }

    pub fn is_named(&self, name: &str) -> bool {
        self.names.iter().any(|known| *known.text == *name)
    }
}

/// The declarations of one file in source order, each before its members.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Outline {
    pub units: Vec<Unit>,
    /// The file did not parse cleanly, so declarations may be missing.
    pub incomplete: bool,
}

impl Outline {
    pub fn get(&self, id: UnitId) -> Option<&Unit> {
        self.units.get(id.0 as usize)
    }

    /// The units without a parent.
    pub fn roots(&self) -> impl Iterator<Item = (UnitId, &Unit)> {
        self.siblings(0, self.units.len() as u32)
    }

    /// The direct members of a unit.
    pub fn members(&self, id: UnitId) -> impl Iterator<Item = (UnitId, &Unit)> {
        let until = self.get(id).map_or(0, |unit| unit.until);
        self.siblings(id.0.saturating_add(1), until)
    }

    /// The smallest unit that contains a position.
    pub fn innermost(&self, position: u32) -> Option<UnitId> {
        // Units are sorted by start: the last one that starts at or before the position is the wanted unit or one of its
        // descendants.
        let behind = self.units.partition_point(|unit| unit.span.start <= position);
        let mut at = u32::try_from(behind).ok()?.checked_sub(1).map(UnitId);
        while let Some((id, unit)) = at.and_then(|id| Some((id, self.get(id)?))) {
            if unit.span.contains(position) {
                return Some(id);
            }
            at = unit.parent;
        }
        None
    }

    fn siblings(&self, from: u32, until: u32) -> impl Iterator<Item = (UnitId, &Unit)> {
        let mut next = from;
        std::iter::from_fn(move || {
            let unit = self.units.get(next as usize).filter(|_| next < until)?;
            let id = UnitId(next);
            next = unit.until.max(next + 1);
            Some((id, unit))
        })
    }

    /// The names from the outermost unit to this one, joined by dots; only the last ones if there are very many.
    pub fn path(&self, id: UnitId) -> String {
        /// Without a limit, the paths of a hostile file with deeply nested units would take quadratic time and memory.
        const MAX_NAMES: usize = 64;
        let mut names = Vec::new();
        let mut at = Some(id);
        while let Some(unit) = at.and_then(|id| self.get(id)) {
            if names.len() >= MAX_NAMES {
                names.push("…");
                break;
            }
            names.push(unit.name());
            names.extend(unit.receiver());
            at = unit.parent;
        }
        names.reverse();
        names.join(".")
    }

    /// The units that a name refers to: those with that path, or else all with that name.
    pub fn named(&self, name: &str) -> Vec<UnitId> {
        // A method of a pointer, in Go's notation.
        let plain = name.strip_prefix("(*").or_else(|| name.strip_prefix('(')).map(|name| name.replacen(')', "", 1));
        let name = plain.as_deref().unwrap_or(name);
        let ids = || (0..self.units.len() as u32).map(UnitId);
        let last = name.rsplit('.').next().unwrap_or(name);
        let ends_so = |id: &UnitId| self.get(*id).is_some_and(|unit| unit.name() == last || unit.name() == name);
        let found: Vec<UnitId> = ids().filter(ends_so).filter(|id| self.path(*id) == name).collect();
        if !found.is_empty() {
            return found;
        }
        ids().filter(|id| self.get(*id).is_some_and(|unit| unit.is_named(name))).collect()
    }
}

/// A span as a signature shows it: every body replaced by `{ … }` (or `…` for other values).
pub fn elided(text: &str, span: Span, bodies: &[Span]) -> String {
    let mut out = String::new();
    let mut at = span.start;
    for body in bodies {
        if body.start < at || body.end > span.end {
            continue;
        }
        out.push_str(Span::new(at, body.start).of(text));
        out.push_str(match body.of(text).as_bytes().first() {
            Some(b'{') => "{ … }",
            Some(b'[') => "[ … ]",
            _ => "…",
        });
        at = body.end;
    }
    out.push_str(Span::new(at, span.end).of(text));
    out
}

/// The start offsets of lines, to turn positions into 1-based line numbers. Lines end with `\n`.
#[derive(Clone, Debug)]
pub struct LineStarts(Vec<u32>);

impl LineStarts {
    pub fn new(text: &str) -> Self {
        let breaks = text.bytes().zip(1_u32..).filter(|(byte, _)| *byte == b'\n').map(|(_, next)| next);
        Self(std::iter::once(0).chain(breaks).collect())
    }

    /// The line of a position.
    pub fn line(&self, position: u32) -> u32 {
        self.0.partition_point(|start| *start <= position) as u32
    }

    pub fn lines(&self, span: Span) -> Lines {
        let last = span.end.max(span.start + 1) - 1;
        Lines { from: self.line(span.start), to: self.line(last) }
    }

    /// The start of a line; `None` after the last line.
    pub fn start(&self, line: u32) -> Option<u32> {
        self.0.get(line.checked_sub(1)? as usize).copied()
    }

    pub fn count(&self) -> u32 {
        self.0.len() as u32
    }

    /// The bytes of whole lines, without the final line end.
    pub fn span(&self, lines: Lines, text: &str) -> Span {
        let length = text.len() as u32;
        let start = self.start(lines.from).unwrap_or(length);
        let end = self.start(lines.to.saturating_add(1)).map_or(length, |next| next - 1);
        Span::new(start, end.max(start))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn unit(start: u32, end: u32, parent: Option<u32>, until: u32) -> Unit {
        Unit {
            kind: UnitKind::Class,
            names: vec![UnitName { text: format!("u{start}").into(), span: Span::new(start, start + 1), line: 1 }],
            span: Span::new(start, end),
            lines: Lines { from: 1, to: 1 },
            doc: None,
            head: Span::new(start, start),
            bodies: Vec::new(),
            parent: parent.map(UnitId),
            until,
            exported: false,
            is_static: false,
            heritage: Vec::new(),
        }
    }

    #[test]
    fn paths_of_deeply_nested_units_are_bounded() {
        let count = 100_000;
        let units = (0..count).map(|at| unit(at, 3 * count - at, at.checked_sub(1), count)).collect();
        let outline = Outline { units, incomplete: false };
        assert_eq!(outline.path(UnitId(2)), "u0.u1.u2");
        let last = outline.path(UnitId(count - 1));
        assert!(last.starts_with("….u99936.") && last.ends_with(".u99998.u99999"), "{last}");
        assert_eq!(outline.named("u99999"), [UnitId(count - 1)]);
    }

    #[test]
    fn a_name_means_all_declarations_of_that_path_or_else_of_that_name() {
        let method = |start, receiver: &str| Unit {
            kind: UnitKind::Method,
            heritage: vec![receiver.into()],
            names: vec![UnitName { text: "Run".into(), span: Span::new(start, start + 1), line: 1 }],
            ..unit(start, start + 5, None, start / 10 + 1)
        };
        let units = vec![method(0, "A"), method(10, "B"), unit(20, 90, None, 4), unit(30, 40, Some(2), 4)];
        let outline = Outline { units, incomplete: false };
        let named = |name: &str| outline.named(name).iter().map(|id| outline.path(*id)).collect::<Vec<_>>();
        for (name, expected) in [
            ("Run", &["A.Run", "B.Run"][..]),
            ("A.Run", &["A.Run"]),
            ("(*B).Run", &["B.Run"]),
            ("(A).Run", &["A.Run"]),
            ("u20.u30", &["u20.u30"]),
            ("u30", &["u20.u30"]),
            ("C.Run", &[]),
            ("", &[]),
        ] {
            assert_eq!(named(name), expected, "{name}");
        }
    }

    #[test]
    fn the_innermost_unit_of_a_position() {
        let units = vec![
            unit(0, 100, None, 4),
            unit(10, 50, Some(0), 3),
            unit(20, 30, Some(1), 3),
            unit(60, 90, Some(0), 4),
            unit(120, 130, None, 5),
        ];
        let outline = Outline { units, incomplete: false };
        for (position, expected) in [
            (0, Some(0)),
            (10, Some(1)),
            (19, Some(1)),
            (20, Some(2)),
            (30, Some(1)),
            (50, Some(0)),
            (89, Some(3)),
            (95, Some(0)),
            (100, None),
            (110, None),
            (125, Some(4)),
            (130, None),
        ] {
            assert_eq!(outline.innermost(position).map(|id| id.0), expected, "{position}");
        }
        assert_eq!(outline.roots().map(|(id, _)| id.0).collect::<Vec<_>>(), [0, 4]);
        assert_eq!(outline.members(UnitId(0)).map(|(id, _)| id.0).collect::<Vec<_>>(), [1, 3]);
        assert_eq!(outline.members(UnitId(4)).count(), 0);
        assert_eq!(outline.path(UnitId(2)), "u0.u10.u20");
    }

    #[test]
    fn bodies_and_values_are_replaced_by_ellipses() {
        let text = "f(a) { return 1 } g = [1, 2], h = 'a'";
        let spans = [Span::new(5, 17), Span::new(22, 28), Span::new(34, 37)];
        assert_eq!(elided(text, Span::new(0, 37), &spans), "f(a) { … } g = [ … ], h = …");
        assert_eq!(elided(text, Span::new(0, 4), &spans), "f(a)");
    }

    #[test]
    fn positions_are_converted_to_lines_and_back() {
        let text = "a\r\nbc\n\nd";
        let starts = LineStarts::new(text);
        assert_eq!([0, 2, 3, 5, 6, 7, 8].map(|at| starts.line(at)), [1, 1, 2, 2, 3, 4, 4]);
        assert_eq!(starts.lines(Span::new(3, 6)), Lines { from: 2, to: 2 });
        assert_eq!(starts.lines(Span::new(0, 7)), Lines { from: 1, to: 3 });
        assert_eq!(starts.span(Lines { from: 2, to: 3 }, text).of(text), "bc\n");
        assert_eq!(starts.span(Lines { from: 4, to: 9 }, text).of(text), "d");
        assert_eq!(starts.count(), 4);
    }
}
