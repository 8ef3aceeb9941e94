//! Finds the part of a file to show for a place: the smallest unit around it, or a statement, or some lines.

use stan_model::names::FileUnits;
use stan_model::outline::{LineStarts, Lines, Span, UnitId};

/// Lines on either side of a place that is in no unit or statement.
const AROUND: u32 = 20;

/// The part of a file that contains a place.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Focus {
    /// `None` for a statement or plain lines.
    pub unit: Option<UnitId>,
    pub span: Span,
    pub lines: Lines,
    /// No unit contains the place; this one is the nearest.
    pub is_near: bool,
}

/// The focus at a position. `text` must be the text that `units` were read from.
pub fn focus_at(units: &FileUnits, text: &str, starts: &LineStarts, position: u32) -> Focus {
    let unit = |id: UnitId, is_near: bool| {
        let found = units.outline.get(id)?;
        Some(Focus { unit: Some(id), span: found.span, lines: found.lines, is_near })
    };
    if let Some(found) = units.outline.innermost(position).and_then(|id| unit(id, false)) {
        return found;
    }
    if let Some(span) = units.names.statement_at(position) {
        return Focus { unit: None, span, lines: starts.lines(span), is_near: false };
    }
    // In a comment or on a blank line, the next unit is meant: a comment describes what follows it.
    let next = units.outline.units.partition_point(|unit| unit.span.start < position);
    let following = UnitId(u32::try_from(next).unwrap_or(u32::MAX));
    let is_documented =
        units.outline.get(following).is_some_and(|unit| unit.doc.is_some_and(|doc| doc.contains(position)));
    if (is_documented || is_comment(text, starts, position))
        && let Some(found) = unit(following, !is_documented)
    {
        return found;
    }
    let preceding = units.outline.roots().take_while(|(_, unit)| unit.span.start < position).last();
    if let Some(found) = preceding.and_then(|(id, _)| unit(id, true)) {
        return found;
    }
    lines_around(text, starts, starts.line(position))
}

/// The lines around a line, for files without units.
pub fn lines_around(text: &str, starts: &LineStarts, line: u32) -> Focus {
    let last = starts.count().max(1);
    let line = line.clamp(1, last);
    let lines = Lines { from: line.saturating_sub(AROUND).max(1), to: line.saturating_add(AROUND).min(last) };
    Focus { unit: None, span: starts.span(lines, text), lines, is_near: false }
}

fn is_comment(text: &str, starts: &LineStarts, position: u32) -> bool {
    let line = starts.line(position);
    let line = starts.span(Lines { from: line, to: line }, text).of(text).trim_start();
    ["//", "/*", "*", "#", "--"].iter().any(|mark| line.starts_with(mark))
}
