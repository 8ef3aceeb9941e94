//! The text of a unit at a level. It is a sequence of pieces of the file, in order, with marks where something is omitted. The
//! omitted lines of the range are listed beside it.

use std::collections::{BTreeMap, BTreeSet};

use stan_model::outline::{LineStarts, Lines, Outline, Span, Unit, UnitId};

use crate::opening::opening_lines;

/// A unit without bodies that has more lines than this is reduced to its first line and the wanted lines.
const MAX_WHOLE_LINES: u32 = 40;

/// A head shows this many bytes of a line, or more if the name ends later.
const MAX_HEAD_BYTES: u32 = 100;

/// The maximum number of names that the head of one statement shows.
const MAX_NAMES: usize = 8;

/// The text shown for a range of lines.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Shown {
    pub text: String,
    pub lines: Lines,
    /// Lines of the range that the text omits; ascending, and merged where they touch.
    pub elided: Vec<Lines>,
}

/// The parts of a unit that its signature keeps.
#[derive(Clone, Copy, Debug)]
pub struct Options<'o> {
    /// Whether to keep the documentation comment.
    pub doc: bool,
    /// The members to show; the others are counted.
    pub used: &'o BTreeSet<UnitId>,
    /// Lines that are shown even inside a body.
    pub keep: &'o BTreeSet<u32>,
    /// Whether to show every member.
    pub all_members: bool,
}

/// The lines of a unit as in the file.
pub fn full(text: &str, starts: &LineStarts, unit: &Unit, doc: bool) -> Shown {
    let lines = Lines { from: first_line(starts, unit, doc), to: unit.lines.to };
    Shown { text: starts.span(lines, text).of(text).to_owned(), lines, elided: Vec::new() }
}

/// Some lines of a range, with a mark for each gap.
pub fn lines_only(text: &str, starts: &LineStarts, range: Lines, shown: &BTreeSet<u32>) -> Shown {
    let mut pieces = Pieces::new(text, starts);
    let mut gap = 0_u32;
    for line in range.from..=range.to {
        if shown.contains(&line) {
            pieces.gap(gap);
            gap = 0;
            pieces.push(starts.span(Lines { from: line, to: line }, text));
            pieces.out.push('\n');
            pieces.shown.push(Lines { from: line, to: line });
        } else {
            gap += 1;
        }
    }
    pieces.gap(gap);
    pieces.finish(range)
}

/// `kind name — file:line`.
pub fn one_line(kind: &str, name: &str, file: &str, line: u32) -> String {
    format!("{kind} {name} — {file}:{line}")
}

/// A unit as written, without bodies. A class or interface keeps the used members.
pub fn signature(text: &str, starts: &LineStarts, outline: &Outline, id: UnitId, options: &Options<'_>) -> Shown {
    let Some(unit) = outline.get(id) else { return Shown::default() };
    let range = Lines { from: first_line(starts, unit, options.doc), to: unit.lines.to };
    let mut pieces = Pieces::new(text, starts);
    let doc = unit.doc.filter(|_| options.doc);
    // A doc string is the first statement of the body; comments come before the unit.
    let inner_doc = doc.filter(|doc| unit.span.encloses(*doc));
    if let Some(doc) = doc.filter(|_| inner_doc.is_none()) {
        pieces.push(doc);
        pieces.out.push('\n');
    }
    let has_members = unit.until > id.0 + 1;
    match unit.bodies.first() {
        Some(body) if has_members => {
            pieces.push(Span::new(unit.span.start, body.start));
            inner_doc.into_iter().for_each(|doc| pieces.push(doc));
            members(&mut pieces, outline, id, *body, options);
            pieces.push(Span::new(body.end, unit.span.end));
        }
        None if unit.lines.to - unit.lines.from >= MAX_WHOLE_LINES => {
            let first = starts.span(Lines { from: unit.lines.from, to: unit.lines.from }, text);
            let rest = Span::new(first.end.clamp(unit.span.start, unit.span.end), unit.span.end);
            pieces.elide(unit.span, &[rest], options.keep);
        }
        Some(body) if inner_doc.is_some_and(|doc| doc.end < body.end) => {
            let rest = Span::new(inner_doc.map_or(body.start, |doc| doc.end), body.end);
            pieces.push(Span::new(unit.span.start, rest.start));
            pieces.out.push('\n');
            pieces.out.push_str(&pieces.indent(body.start));
            pieces.body(rest, options.keep);
        }
        _ => pieces.elide(unit.span, &unit.bodies, options.keep),
    }
    pieces.finish(range)
}

/// Only the lines that name a unit and its used members; long lines are truncated after the name.
pub fn head(text: &str, starts: &LineStarts, outline: &Outline, id: UnitId, options: &Options<'_>) -> Shown {
    let Some(unit) = outline.get(id) else { return Shown::default() };
    // For each line, the end of the last name in it.
    let mut lines: BTreeMap<u32, u32> = options.keep.iter().map(|line| (*line, 0)).collect();
    let used = options.used.iter().filter_map(|member| outline.get(*member));
    for name in [unit].into_iter().chain(used).flat_map(|unit| unit.names.iter().take(MAX_NAMES)) {
        let end = lines.entry(name.line).or_default();
        *end = name.span.end.max(*end);
    }
    lines.entry(unit.name_line()).or_default();
    lines.retain(|line, _| unit.lines.contains(*line));
    let mut pieces = Pieces::new(text, starts);
    for (line, name_end) in &lines {
        let whole = starts.span(Lines { from: *line, to: *line }, text);
        let mut end = name_end.max(&(whole.start + MAX_HEAD_BYTES)).min(&whole.end).to_owned();
        while !text.is_char_boundary(end as usize) {
            end += 1;
        }
        pieces.push(Span::new(whole.start, end));
        let length = pieces.out.trim_end().len();
        pieces.out.truncate(length);
        let goes_on = *line < unit.lines.to && !lines.contains_key(&(line + 1));
        pieces.out.push_str(if goes_on || end < whole.end { " …\n" } else { "\n" });
    }
    pieces.finish(unit.lines)
}

/// The parts of a file that its signature keeps besides the heads of its declarations.
#[derive(Clone, Copy, Debug)]
pub struct FileKeeping<'k> {
    /// Lines that are shown even inside a body.
    pub lines: &'k BTreeSet<u32>,
    /// Doc comments of this many lines or more are omitted.
    pub longest_doc: u32,
}

/// The outline of a whole file: every declaration as a signature with its comment, without bodies.
pub fn file_signature(text: &str, starts: &LineStarts, outline: &Outline, keeping: &FileKeeping<'_>) -> Shown {
    if outline.roots().next().is_none() {
        let last = starts.count() - u32::from(text.ends_with('\n') && starts.count() > 1);
        let opening = keeping.lines.is_empty().then(|| opening_lines(text));
        let shown = opening.as_ref().unwrap_or(keeping.lines);
        return lines_only(text, starts, Lines { from: 1, to: last.max(1) }, shown);
    }
    let none = BTreeSet::new();
    let whole = Lines { from: 1, to: starts.count().max(1) };
    let mut parts = Vec::new();
    let mut hidden = Vec::new();
    let mut next = whole.from;
    for (id, unit) in outline.roots() {
        let doc = unit.doc.map(|doc| starts.lines(doc)).is_some_and(|doc| doc.to - doc.from < keeping.longest_doc);
        let options = Options { doc, used: &none, keep: keeping.lines, all_members: true };
        let shown = signature(text, starts, outline, id, &options);
        // Units may share a line, which must not be listed twice.
        if shown.lines.from > next {
            hidden.push(Lines { from: next, to: shown.lines.from - 1 });
        }
        hidden.extend(shown.elided);
        next = next.max(shown.lines.to.saturating_add(1));
        parts.push(shown.text);
    }
    if next <= whole.to {
        hidden.push(Lines { from: next, to: whole.to });
    }
    Shown { text: parts.join("\n"), lines: whole, elided: hidden }
}

/// Some lines of a file and the heads of the declarations around them.
pub fn file_passages(text: &str, starts: &LineStarts, outline: &Outline, lines: &BTreeSet<u32>) -> Shown {
    let last = starts.count() - u32::from(text.ends_with('\n') && starts.count() > 1);
    let mut shown = lines.clone();
    for unit in &outline.units {
        if lines.range(unit.lines.from..=unit.lines.to.max(unit.lines.from)).next().is_some() {
            let end = starts.line(unit.head.end.saturating_sub(1).max(unit.head.start));
            // A head with very many lines is data.
            shown.extend(unit.lines.from..=end.min(unit.lines.from + MAX_HEAD_LINES));
        }
    }
    lines_only(text, starts, Lines { from: 1, to: last.max(1) }, &shown)
}

/// The maximum number of lines of a head around a passage, after the first.
const MAX_HEAD_LINES: u32 = 7;

fn members(pieces: &mut Pieces<'_>, outline: &Outline, id: UnitId, body: Span, options: &Options<'_>) {
    let braces = body.of(pieces.text).starts_with('{');
    // Without braces, indentation is syntax, so members keep their own.
    let indent = if braces { "  ".to_owned() } else { pieces.indent(body.start) };
    if braces {
        pieces.push(Span::new(body.start, body.start + 1));
    }
    pieces.out.truncate(pieces.out.trim_end().len());
    pieces.out.push('\n');
    let mut hidden = 0_u32;
    for (id, member) in outline.members(id) {
        let is_used = options.used.range(id..UnitId(member.until)).next().is_some();
        if !options.all_members && !is_used {
            hidden += 1;
            continue;
        }
        pieces.hidden(&indent, hidden);
        hidden = 0;
        pieces.out.push_str(&indent);
        let nested: Vec<Span> = member.bodies.clone();
        pieces.elide(member.span, &nested, options.keep);
        pieces.out.push('\n');
    }
    pieces.hidden(&indent, hidden);
    if braces {
        pieces.out.push('}');
    }
}

/// The first line shown of a unit, including its comment.
fn first_line(starts: &LineStarts, unit: &Unit, doc: bool) -> u32 {
    let doc = unit.doc.filter(|_| doc).map(|doc| starts.line(doc.start));
    doc.unwrap_or(unit.lines.from).min(unit.lines.from)
}

/// Collects pieces of a file, in order.
struct Pieces<'t> {
    text: &'t str,
    starts: &'t LineStarts,
    out: String,
    shown: Vec<Lines>,
}

impl<'t> Pieces<'t> {
    fn new(text: &'t str, starts: &'t LineStarts) -> Self {
        Self { text, starts, out: String::new(), shown: Vec::new() }
    }

    fn push(&mut self, span: Span) {
        let piece = span.of(self.text);
        if !piece.trim().is_empty() {
            // Trailing white space of a piece may reach into the next line, but shows nothing of it.
            let end = span.start + piece.trim_end().len() as u32;
            self.shown.push(self.starts.lines(Span::new(span.start, end)));
        }
        self.out.push_str(piece);
    }

    fn gap(&mut self, lines: u32) {
        if lines > 0 {
            self.out.push_str(&format!("… {lines} {}\n", if lines == 1 { "line" } else { "lines" }));
        }
    }

    fn hidden(&mut self, indent: &str, members: u32) {
        if members > 0 {
            self.out.push_str(&format!("{indent}… {members} {}\n", if members == 1 { "member" } else { "members" }));
        }
    }

    /// The indentation of the line that contains a position.
    fn indent(&self, position: u32) -> String {
        let line = self.starts.line(position);
        let line = self.starts.span(Lines { from: line, to: line }, self.text).of(self.text);
        line.chars().take_while(|character| matches!(character, ' ' | '\t')).collect()
    }

    /// Adds a span without its bodies, but with those lines of them that are kept.
    fn elide(&mut self, span: Span, bodies: &[Span], keep: &BTreeSet<u32>) {
        let mut at = span.start;
        for body in bodies {
            if body.start < at || body.end > span.end {
                continue;
            }
            self.push(Span::new(at, body.start));
            self.body(*body, keep);
            at = body.end;
        }
        self.push(Span::new(at, span.end));
    }

    fn body(&mut self, body: Span, keep: &BTreeSet<u32>) {
        let lines = self.starts.lines(body);
        let kept: Vec<u32> = keep.range(lines.from..=lines.to).copied().collect();
        let (open, close) = match body.of(self.text).as_bytes() {
            [b'{', .., b'}'] => ("{", "}"),
            [b'[', .., b']'] => ("[", "]"),
            [b'(', .., b')'] => ("(", ")"),
            _ => ("", ""),
        };
        if kept.is_empty() {
            let mark = if open.is_empty() { "…".to_owned() } else { format!("{open} … {close}") };
            self.out.push_str(&mark);
            return;
        }
        self.out.push_str(open);
        let mut last = lines.from;
        for line in kept {
            let whole = self.starts.span(Lines { from: line, to: line }, self.text);
            let piece = Span::new(whole.start.max(body.start), whole.end.min(body.end));
            if line == lines.from {
                // The previous piece ends with the opening brace.
                self.out.truncate(self.out.len() - open.len());
                self.push(piece);
                continue;
            }
            self.out.push('\n');
            if line > last + 1 {
                self.out.push_str("  …\n");
            }
            self.push(piece);
            last = line;
        }
        if last < lines.to {
            self.out.push_str("\n  …\n");
            self.out.push_str(close);
        }
    }

    fn finish(mut self, range: Lines) -> Shown {
        self.shown.sort_unstable();
        let mut elided = Vec::new();
        let mut next = range.from;
        for lines in &self.shown {
            if lines.from > next {
                elided.push(Lines { from: next, to: lines.from - 1 });
            }
            next = next.max(lines.to.saturating_add(1));
        }
        if next <= range.to {
            elided.push(Lines { from: next, to: range.to });
        }
        let length = self.out.trim_end_matches('\n').len();
        self.out.truncate(length);
        Shown { text: self.out, lines: range, elided }
    }
}
