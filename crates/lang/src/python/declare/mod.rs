//! The declarations of one Python file: its outline and its symbols. A pure function of name and text.
//!
//! `units.rs` derives the outline from the syntax tree. `walk.rs` with `scopes.rs` and `annotations.rs` turns symbols, uses and
//! annotations into `stan_model::names`. Nothing is inferred, and no other file is read.

mod annotations;
mod expressions;
mod scopes;
#[cfg(test)]
mod tests;
mod units;
mod walk;

use std::borrow::Cow;

use stan_model::names::{FileNames, FileUnits};
use stan_model::outline::{LineStarts, Outline};

use super::parse;

/// The text of a source file; `None` for binary content. Byte offsets in outlines refer to this text.
pub(super) fn text_of(bytes: &[u8]) -> Option<Cow<'_, str>> {
    parse::text_of(bytes).0
}

/// Only the outline: about the cost of parsing.
pub(super) fn outline(path: &str, text: &str) -> Outline {
    run(path, text, false).outline
}

/// The outline and the symbols.
pub(super) fn declare(path: &str, text: &str) -> FileUnits {
    run(path, text, true)
}

fn run(path: &str, text: &str, with_names: bool) -> FileUnits {
    let incomplete =
        |_| FileUnits { outline: Outline { units: Vec::new(), incomplete: true }, names: FileNames::default() };
    parse::with_room(text, || read(path, text, with_names)).unwrap_or_else(incomplete)
}

fn read(path: &str, text: &str, with_names: bool) -> FileUnits {
    let tree = parse::parse(path, text);
    let lines = LineStarts::new(text);
    let units = units::units(tree.syntax(), text, &lines);
    let outline = Outline { units, incomplete: !tree.errors().is_empty() };
    let mut names = FileNames::default();
    if with_names {
        walk::names(tree.syntax(), text, &outline, &lines, &mut names);
    }
    FileUnits { outline, names }
}
