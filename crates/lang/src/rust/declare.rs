//! The outline of a file, and the targets of its names.

use stan_model::names::{FileNames, FileUnits};
use stan_model::outline::{LineStarts, Outline};

use super::bodies;
use super::extract::specifiers;
use super::lexer::lex;
use super::scan::scan;
use super::symbols::Scope;
use super::units::Units;

pub(super) fn outline(text: &str) -> Outline {
    if u32::try_from(text.len()).is_err() {
        return Outline { units: Vec::new(), incomplete: true };
    }
    let lexed = lex(text);
    let lines = LineStarts::new(text);
    Units::read(&lexed, &lines).outline(lexed.unmatched.is_some())
}

pub(super) fn declare(text: &str) -> FileUnits {
    if u32::try_from(text.len()).is_err() {
        return FileUnits { outline: outline(text), names: FileNames::default() };
    }
    let lexed = lex(text);
    let lines = LineStarts::new(text);
    let scanned = scan(&lexed);
    let found = specifiers(&lexed, &scanned);
    let units = Units::read(&lexed, &lines);
    let mut scope = Scope::new(&lexed, &lines, &units.units, &units.parts);
    scope.declare_all(&scanned, &found, &units.statements);
    bodies::record(&mut scope);
    let names = scope.names;
    FileUnits { outline: units.outline(lexed.unmatched.is_some()), names }
}

/// Whether a path resolved to the module of its last segment; `path` is the resolved file.
pub(super) fn is_module_named(path: &str, specifier: &str) -> bool {
    let name = specifier.rsplit("::").next().unwrap_or(specifier);
    let Some(stem) = path.strip_suffix(".rs") else { return false };
    let stem = stem.strip_suffix("/mod").unwrap_or(stem);
    stem.rsplit('/').next() == Some(name) && !matches!(name, "lib" | "main")
}
