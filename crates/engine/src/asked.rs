//! Parses files, places and declarations as users type them. Shared by all front ends, so that a text has the same meaning
//! everywhere, and a link out of the root is refused before anything behind it is read.

use stan_model::outline::Lines;

use crate::engine::Engine;
use crate::error::{EngineError, EngineErrorKind};
use crate::open::OpenRepository;
use crate::outline::{AskedFile, AskedText};
use crate::pack::{AskedPlace, AskedSymbol};
use crate::relevance::FocusFile;

/// `FILE:LINE` or `FILE:LINE:COLUMN`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TypedPlace<'t> {
    pub file: &'t str,
    pub line: u32,
    pub col: Option<u32>,
}

impl<'t> TypedPlace<'t> {
    /// Hint for a text that is not a place.
    pub const FORM: &'static str = "write FILE:LINE or FILE:LINE:COLUMN; both start at 1";

    pub fn parse(typed: &'t str) -> Option<Self> {
        let number = |text: &str| text.parse::<u32>().ok().filter(|number| *number > 0);
        let (rest, last) = typed.rsplit_once(':')?;
        let last = number(last)?;
        let place = match rest.rsplit_once(':').map(|(file, line)| (file, number(line))) {
            Some((file, Some(line))) if !file.is_empty() => Self { file, line, col: Some(last) },
            _ => Self { file: rest, line: last, col: None },
        };
        (!place.file.is_empty()).then_some(place)
    }
}

/// `FILE#Name` or `FILE#Name.member`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TypedSymbol<'t> {
    pub file: &'t str,
    pub name: &'t str,
}

impl<'t> TypedSymbol<'t> {
    /// Hint for a text that is not a declaration.
    pub const FORM: &'static str = "write FILE#Name or FILE#Name.member";

    pub fn parse(typed: &'t str) -> Option<Self> {
        let (file, name) = typed.rsplit_once('#')?;
        (!file.is_empty() && !name.is_empty()).then_some(Self { file, name })
    }
}

/// `FILE`, `FILE#Name`, `FILE:LINE` or `FILE:FROM-TO`: a whole file, or a part of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TypedText<'t> {
    pub file: &'t str,
    pub name: Option<&'t str>,
    pub lines: Option<Lines>,
}

impl<'t> TypedText<'t> {
    pub fn parse(typed: &'t str) -> Self {
        if let Some(TypedSymbol { file, name }) = TypedSymbol::parse(typed) {
            return Self { file, name: Some(name), lines: None };
        }
        match line_range(typed) {
            Some((file, lines)) => Self { file, name: None, lines: Some(lines) },
            None => Self { file: typed, name: None, lines: None },
        }
    }
}

/// `FILE:LINE` and `FILE:FROM-TO`, the form in which answers print places.
fn line_range(typed: &str) -> Option<(&str, Lines)> {
    let (file, lines) = typed.rsplit_once(':').filter(|(file, _)| !file.is_empty())?;
    let (from, to) = lines.split_once('-').unwrap_or((lines, lines));
    Some((file, Lines { from: number(from)?, to: number(to)? }))
}

/// A number with any count of digits. Overflow saturates: a line after the end, or unlimited depth.
fn number(digits: &str) -> Option<u32> {
    let is_number = !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit());
    is_number.then(|| digits.parse().unwrap_or(u32::MAX))
}

impl OpenRepository {
    /// A typed file as a request; refused if the path leads out of the repository through a link.
    pub fn asked_file(&self, engine: &Engine<'_>, typed: &str) -> Result<AskedFile, EngineError> {
        if self.escapes_root(engine, typed) {
            return Err(EngineError::input(format!(
                "a link leads from `{typed}` out of the repository; --allow-outside DIR allows what lies below DIR"
            )));
        }
        Ok(AskedFile { shown: typed.to_owned(), id: self.known_node_id(engine, typed)? })
    }

    pub fn asked_place(&self, engine: &Engine<'_>, typed: &str) -> Result<AskedPlace, EngineError> {
        let not_a_place = || usage(format!("`{typed}` is not a place"), TypedPlace::FORM);
        let TypedPlace { file, line, col } = TypedPlace::parse(typed).ok_or_else(not_a_place)?;
        Ok(AskedPlace { file: self.asked_file(engine, file)?, line, col })
    }

    pub fn asked_symbol(&self, engine: &Engine<'_>, typed: &str) -> Result<AskedSymbol, EngineError> {
        let not_a_declaration = || usage(format!("`{typed}` is not a declaration"), TypedSymbol::FORM);
        let TypedSymbol { file, name } = TypedSymbol::parse(typed).ok_or_else(not_a_declaration)?;
        Ok(AskedSymbol { file: self.asked_file(engine, file)?, name: name.to_owned() })
    }

    /// A file or a part of it. A file that is literally named `FILE#Name` or `FILE:LINE` takes precedence.
    pub fn asked_text(&self, engine: &Engine<'_>, typed: &str) -> Result<AskedText, EngineError> {
        let text = match self.is_file(engine, typed) {
            true => TypedText { file: typed, name: None, lines: None },
            false => TypedText::parse(typed),
        };
        Ok(AskedText {
            shown: typed.to_owned(),
            file: self.asked_file(engine, text.file)?,
            name: text.name.map(str::to_owned),
            lines: text.lines,
        })
    }

    /// `FILE` or `FILE:DEPTH`. Only looked up among the nodes of the graph, so that a path through a link out of the root finds
    /// nothing.
    pub fn focus_file(&self, engine: &Engine<'_>, typed: &str) -> Result<FocusFile, EngineError> {
        let with_depth = typed.rsplit_once(':').filter(|(file, _)| !file.is_empty());
        let parsed = with_depth.and_then(|(file, depth)| Some((file, number(depth)?)));
        let (file, depth) = parsed.unwrap_or((typed, 0));
        Ok(FocusFile { shown: file.to_owned(), node_id: self.known_node_id(engine, file)?, depth })
    }

    fn known_node_id(&self, engine: &Engine<'_>, typed: &str) -> Result<String, EngineError> {
        self.node_id(engine, typed).ok_or_else(|| EngineError::input(format!("the path `{typed}` is not UTF-8")))
    }
}

fn usage(message: String, form: &str) -> EngineError {
    EngineError::new(EngineErrorKind::Usage, message).hint(form)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn places_have_a_line_and_perhaps_a_column_from_1_on() {
        let place = |file, line, col| Some(TypedPlace { file, line, col });
        for (typed, expected) in [
            ("a.ts:3", place("a.ts", 3, None)),
            ("a.ts:3:7", place("a.ts", 3, Some(7))),
            ("a:b.ts:3", place("a:b.ts", 3, None)),
            ("1:2:3", place("1", 2, Some(3))),
            (":2:3", place(":2", 3, None)),
            ("link1:3", place("link1", 3, None)),
            ("a.ts", None),
            ("a.ts:0", None),
            ("a.ts:x", None),
            (":3", None),
            ("a.ts:99999999999", None),
        ] {
            assert_eq!(TypedPlace::parse(typed), expected, "{typed}");
        }
    }

    #[test]
    fn parts_of_files_are_names_or_lines_and_everything_else_is_a_file() {
        let text = |file, name, lines| TypedText { file, name, lines };
        for (typed, expected) in [
            ("a.ts", text("a.ts", None, None)),
            ("a.ts#A.b", text("a.ts", Some("A.b"), None)),
            ("a#b.ts#A", text("a#b.ts", Some("A"), None)),
            ("a.ts:3", text("a.ts", None, Some(Lines { from: 3, to: 3 }))),
            ("a.ts:3-99999999999", text("a.ts", None, Some(Lines { from: 3, to: u32::MAX }))),
            ("a.ts#", text("a.ts#", None, None)),
            ("#A", text("#A", None, None)),
            ("a.ts:3-", text("a.ts:3-", None, None)),
            (":3", text(":3", None, None)),
        ] {
            assert_eq!(TypedText::parse(typed), expected, "{typed}");
        }
    }
}
