//! The lines of a file that match a task's text: the bodies that contain its words. They are shown with the signatures of the
//! rest, so that the reader of a large file sees the code to change and not only names.

use std::cmp::Reverse;
use std::collections::BTreeSet;

use stan_model::outline::{Lines, Unit, UnitKind};
use stan_rank::{Fixed, TextWeights};

use super::files::LoadedFile;

/// The most bodies of a file, and the most lines of them together.
const MAX_BODIES: usize = 5;
const MAX_LINES: u32 = 100;
/// Of a longer body, only the matching lines and their neighbours are shown.
const LONG_BODY: u32 = 60;
const NEIGHBOURS: u32 = 2;
/// The most single lines of a long body, or of a file without declarations.
const MAX_PLACES: usize = 12;

/// The lines to keep; empty if nothing matches well.
pub(super) fn passages(loaded: &LoadedFile, weights: &TextWeights) -> BTreeSet<u32> {
    let outline = &loaded.units.outline;
    let last = loaded.starts.count();
    if outline.roots().next().is_none() {
        return lines_with_words(loaded, weights, Lines { from: 1, to: last });
    }
    let mut bodies: Vec<(Fixed, Lines)> = outline
        .units
        .iter()
        .filter(|unit| is_body(unit))
        .map(|unit| (weights.score(unit.span.of(&loaded.text)), unit.lines))
        .filter(|(score, _)| score.is_positive())
        .collect();
    bodies.sort_by_key(|(score, lines)| (Reverse(*score), lines.to - lines.from, lines.from));
    let Some(&(best, _)) = bodies.first() else { return BTreeSet::new() };
    let mut kept = BTreeSet::new();
    let mut left = MAX_LINES;
    // A body that scores less than half of the best one is about something else.
    for (_, lines) in bodies.into_iter().take(MAX_BODIES).take_while(|(score, _)| *score + *score >= best) {
        let shown: BTreeSet<u32> = if lines.to - lines.from < LONG_BODY {
            (lines.from..=lines.to).collect()
        } else {
            lines_with_words(loaded, weights, lines)
        };
        let new = u32::try_from(shown.difference(&kept).count()).unwrap_or(u32::MAX);
        if new > left {
            continue;
        }
        left -= new;
        kept.extend(shown);
    }
    kept
}

/// Containers, such as classes and modules, are matched by their members.
fn is_body(unit: &Unit) -> bool {
    !unit.bodies.is_empty()
        && !matches!(
            unit.kind,
            UnitKind::Class
                | UnitKind::Interface
                | UnitKind::Trait
                | UnitKind::Impl
                | UnitKind::Struct
                | UnitKind::Namespace
                | UnitKind::Module
        )
}

/// The lines of a range with most of the words, and their neighbours.
fn lines_with_words(loaded: &LoadedFile, weights: &TextWeights, range: Lines) -> BTreeSet<u32> {
    let score =
        |line: u32| weights.score(loaded.starts.span(Lines { from: line, to: line }, &loaded.text).of(&loaded.text));
    let mut found: Vec<(Fixed, u32)> =
        (range.from..=range.to).map(|line| (score(line), line)).filter(|(score, _)| score.is_positive()).collect();
    found.sort_by_key(|(score, line)| (Reverse(*score), *line));
    let near = |line: u32| line.saturating_sub(NEIGHBOURS).max(range.from)..=(line + NEIGHBOURS).min(range.to);
    found.into_iter().take(MAX_PLACES).flat_map(|(_, line)| near(line)).collect()
}
