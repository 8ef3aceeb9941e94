//! The diagnostics of logs as a pack reports them, with paths mapped to files of the repository.

use std::collections::BTreeSet;

use stan_diagnose::{ColumnUnit, Diagnostic, LogPosition, Severity};
use stan_model::document::pack::{PackDiagnostic, PackPlace};

use super::places::{Located, Locator};
use crate::outline::near_files;

/// A diagnostic with its paths mapped to files.
pub(super) struct Placed {
    pub(super) diagnostic: Diagnostic,
    /// The file of the diagnostic's own location.
    pub(super) located: Located,
}

impl Placed {
    /// The file of the location, if it is in the repository.
    pub(super) fn file(&self) -> Option<&str> {
        match &self.located {
            Located::Found(file) => Some(file),
            Located::Ambiguous(_) | Located::Unknown => None,
        }
    }
}

pub(super) fn place(diagnostics: Vec<Diagnostic>, locator: &Locator<'_>) -> Vec<Placed> {
    let located = |place: &Option<LogPosition>| match place {
        Some(place) => locator.locate(&place.file),
        None => Located::Unknown,
    };
    diagnostics.into_iter().map(|diagnostic| Placed { located: located(&diagnostic.place), diagnostic }).collect()
}

/// The diagnostic to explain: the first error located in the repository, otherwise the first diagnostic located there.
pub(super) fn focus_of(diagnostics: &[Placed]) -> Option<usize> {
    let has_place = |one: &Placed| one.file().is_some();
    let is_error = |one: &Placed| one.diagnostic.severity == Severity::Error;
    diagnostics
        .iter()
        .position(|one| has_place(one) && is_error(one))
        .or_else(|| diagnostics.iter().position(has_place))
}

/// The diagnostic for the document. `file` replaces the path in the log.
pub(super) fn written(diagnostic: &Diagnostic, file: Option<&str>, stale: bool) -> PackDiagnostic {
    let place = diagnostic.place.as_ref();
    let other = |place: &LogPosition, message: Option<&str>| PackPlace {
        file: place.file.clone(),
        line: place.line,
        col: place.col,
        message: message.filter(|message| !message.is_empty()).map(str::to_owned),
    };
    PackDiagnostic {
        tool: diagnostic.tool.to_owned(),
        file: file.map(str::to_owned).or_else(|| place.map(|place| place.file.clone())),
        line: place.map(|place| place.line),
        col: place.and_then(|place| place.col),
        end_line: diagnostic.end.map(|(line, _)| line),
        end_col: diagnostic.end.and_then(|(_, col)| col),
        severity: match diagnostic.severity {
            Severity::Error => "error",
            Severity::Warning => "warning",
            Severity::Info => "info",
        },
        code: diagnostic.code.clone(),
        message: diagnostic.message.clone(),
        unit: match diagnostic.unit {
            ColumnUnit::Utf16 => "utf16",
            ColumnUnit::Char => "char",
            ColumnUnit::Byte => "byte",
        },
        related: diagnostic.related.iter().map(|one| other(&one.place, Some(&one.message))).collect(),
        frames: diagnostic.frames.iter().map(|one| other(&one.place, one.name.as_deref())).collect(),
        found: file.is_some(),
        stale,
    }
}

/// Names in quotes in a message: `'x'`, `"x"`, `` `x` ``. From a longer quoted type, only capitalised names are taken.
pub(super) fn quoted_names(message: &str) -> Vec<String> {
    const MAX_NAMES: usize = 12;
    let mut names: Vec<String> = Vec::new();
    for quote in ['\'', '"', '`'] {
        for part in message.split(quote).skip(1).step_by(2).take(MAX_NAMES) {
            let is_name = |letter: char| letter.is_alphanumeric() || matches!(letter, '_' | '$');
            let words: Vec<&str> =
                part.split(|letter: char| !is_name(letter)).filter(|word| !word.is_empty()).collect();
            let single = words.len() <= 2 && part.len() <= 80;
            for word in words {
                let is_wanted = single || word.starts_with(char::is_uppercase);
                let starts_right = !word.starts_with(|letter: char| letter.is_ascii_digit());
                if is_wanted
                    && starts_right
                    && word.len() > 1
                    && names.len() < MAX_NAMES
                    && !names.iter().any(|one| one == word)
                {
                    names.push(word.to_owned());
                }
            }
        }
    }
    names
}

/// How many candidates are listed for a path.
pub(super) const MAX_NEAR: usize = 3;

/// The first locations of a log that match no file, with candidates for each.
pub(super) fn unresolved_locations(placed: &[Placed], files: &[Box<str>]) -> Vec<String> {
    let mut seen = BTreeSet::new();
    let places = placed.iter().filter_map(|one| Some((one.diagnostic.place.as_ref()?, one)));
    let first = places.filter(|(place, _)| seen.insert(place.file.as_str())).take(MAX_NEAR);
    let line = |(place, one): (&LogPosition, &Placed)| {
        let near: Vec<&str> = match &one.located {
            Located::Ambiguous(files) => files.iter().take(MAX_NEAR).map(String::as_str).collect(),
            _ => near_files(files, &place.file),
        };
        let near = near.iter().map(|file| format!("`{file}`")).collect::<Vec<_>>().join(", ");
        let near = if near.is_empty() { String::new() } else { format!("; did you mean {near}?") };
        format!("`{}`{near}", place.file)
    };
    first.map(line).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_in_quotes_of_a_message_are_found() {
        for (message, expected) in [
            ("Property 'foo' does not exist on type 'Bar'. Did you mean 'fooBar'?", vec!["foo", "Bar", "fooBar"]),
            ("Type '(a: Left<string>) => void' is not assignable", vec!["Left"]),
            ("cannot find value `x1` in this scope", vec!["x1"]),
            ("no quotes here", vec![]),
            ("an 'unfinished quote", vec!["unfinished", "quote"]),
        ] {
            assert_eq!(quoted_names(message), expected, "{message}");
        }
    }
}
