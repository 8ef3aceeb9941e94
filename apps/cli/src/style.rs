//! Colours of the terminal: a few words stand out, nothing depends on them.

use std::borrow::Cow;
use std::io::IsTerminal;

use crate::args::ColorChoice;

/// How text is shown on one stream.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Style {
    coloured: bool,
}

impl Style {
    pub(crate) fn of_stdout(choice: ColorChoice) -> Self {
        Self { coloured: is_wanted(choice, std::io::stdout().is_terminal()) }
    }

    pub(crate) fn of_stderr(choice: ColorChoice) -> Self {
        Self { coloured: is_wanted(choice, std::io::stderr().is_terminal()) }
    }

    pub(crate) fn error(self, text: &str) -> String {
        self.paint("1;31", text)
    }

    pub(crate) fn warning(self, text: &str) -> String {
        self.paint("1;33", text)
    }

    pub(crate) fn strong(self, text: &str) -> String {
        self.paint("1", text)
    }

    pub(crate) fn faint(self, text: &str) -> String {
        self.paint("2", text)
    }

    fn paint(self, code: &str, text: &str) -> String {
        if self.coloured { format!("\x1b[{code}m{text}\x1b[0m") } else { text.to_owned() }
    }
}

fn is_wanted(choice: ColorChoice, is_terminal: bool) -> bool {
    match choice {
        ColorChoice::Always => true,
        ColorChoice::Never => false,
        // NO_COLOR, when set to anything, is the habit that other programs follow.
        ColorChoice::Auto => {
            let refused = std::env::var_os("NO_COLOR").is_some_and(|value| !value.is_empty());
            is_terminal && !refused && std::env::var_os("TERM").is_none_or(|term| term != "dumb")
        }
    }
}

/// A text that other people may have written, for a terminal: control characters, which could move its cursor or change
/// its title, are shown by their escapes. Line ends and tabs stay.
pub(crate) fn printable(text: &str) -> Cow<'_, str> {
    let is_odd = |character: char| character.is_control() && !matches!(character, '\n' | '\t');
    if !text.contains(is_odd) {
        return Cow::Borrowed(text);
    }
    let mut shown = String::with_capacity(text.len());
    for character in text.chars() {
        if is_odd(character) {
            shown.extend(character.escape_default());
        } else {
            shown.push(character);
        }
    }
    Cow::Owned(shown)
}

#[cfg(test)]
mod tests {
    use super::printable;

    #[test]
    fn control_characters_are_shown_by_their_escapes() {
        for (text, shown) in [
            ("plain \u{e4}\n\ttext", "plain \u{e4}\n\ttext"),
            ("a\u{1b}[31mb", "a\\u{1b}[31mb"),
            ("nul\0 bell\u{7}\r", "nul\\u{0} bell\\u{7}\\r"),
            ("c1\u{9b}x", "c1\\u{9b}x"),
        ] {
            assert_eq!(printable(text), shown);
        }
    }
}
