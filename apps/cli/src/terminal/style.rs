//! Colours of the terminal: a few words are highlighted; no information depends on colours.

use stan_engine::Untrusted;

use super::text::Text;
use crate::args::ColorChoice;

/// How text is shown on one stream.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Style {
    coloured: bool,
}

impl Style {
    pub(super) fn new(choice: ColorChoice, is_terminal: bool) -> Self {
        Self { coloured: is_wanted(choice, is_terminal) }
    }

    pub(crate) fn error(self, text: &'static str) -> Text {
        self.paint("1;31", text)
    }

    pub(crate) fn warning(self, text: &'static str) -> Text {
        self.paint("1;33", text)
    }

    pub(crate) fn strong(self, text: &'static str) -> Text {
        self.paint("1", text)
    }

    /// A name in help, which may repeat an argument.
    pub(super) fn bold(self, text: &Untrusted<'_>) -> Text {
        self.paint("1", &text.to_string())
    }

    pub(crate) fn faint(self, text: &Text) -> Text {
        self.paint("2", text.as_str())
    }

    /// Marks below an excerpt.
    pub(crate) fn underline(self, from: usize, length: usize) -> Text {
        self.paint("1;31", &format!("{}{}", " ".repeat(from), "^".repeat(length)))
    }

    fn paint(self, code: &str, text: &str) -> Text {
        Text::vouched(if self.coloured { format!("\x1b[{code}m{text}\x1b[0m") } else { text.to_owned() })
    }
}

fn is_wanted(choice: ColorChoice, is_terminal: bool) -> bool {
    match choice {
        ColorChoice::Always => true,
        ColorChoice::Never => false,
        // The convention of other programs: NO_COLOR disables colours if it is set to any value.
        ColorChoice::Auto => {
            let refused = std::env::var_os("NO_COLOR").is_some_and(|value| !value.is_empty());
            is_terminal && !refused && std::env::var_os("TERM").is_none_or(|term| term != "dumb")
        }
    }
}
