//! Printable values, as types. [`text!`] and [`say!`] fill the holes of a literal with values that are known to be safe.

use std::fmt::Display;

use stan_engine::Untrusted;

/// Text that is safe to print on one line: made only of literals, numbers and escaped text.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Text(String);

impl Text {
    /// Replaces each `{}` of the literal by the next value.
    pub(crate) fn fill(format: &'static str, values: &[&dyn Show]) -> Self {
        let mut out = String::with_capacity(format.len() + 24 * values.len());
        let mut values = values.iter();
        for (index, literal) in format.split("{}").enumerate() {
            if index > 0
                && let Some(value) = values.next()
            {
                value.show(&mut out);
            }
            out.push_str(literal);
        }
        Self(out)
    }

    /// Values joined by a separator.
    pub(crate) fn joined<T: Show>(values: impl IntoIterator<Item = T>, separator: &'static str) -> Self {
        let mut out = String::new();
        for (index, value) in values.into_iter().enumerate() {
            out.push_str(if index > 0 { separator } else { "" });
            value.show(&mut out);
        }
        Self(out)
    }

    pub(crate) fn spaces(count: usize) -> Self {
        Self(" ".repeat(count))
    }

    pub(crate) fn as_str(&self) -> &str {
        &self.0
    }

    pub(super) fn into_string(self) -> String {
        self.0
    }

    /// Only for modules of this folder, which guarantee that the text is escaped.
    pub(super) fn vouched(text: String) -> Self {
        Self(text)
    }
}

/// A printable value. Sealed: only this module decides which types are.
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot be printed",
    note = "text that came from outside is printed as `Untrusted::new(&text)`, which escapes it"
)]
pub(crate) trait Show: sealed::Sealed {
    fn show(&self, out: &mut String);
}

mod sealed {
    pub(crate) trait Sealed {}
}

macro_rules! show_by_display {
    ($($type:ty),*) => { $(
        impl sealed::Sealed for $type {}
        impl Show for $type {
            fn show(&self, out: &mut String) {
                push(out, self);
            }
        }
    )* };
}

// `&'static str` means a literal here: this program never leaks memory to get one.
show_by_display!(&'static str, u8, u32, u64, usize, i64, Untrusted<'_>);

impl sealed::Sealed for Text {}

impl Show for Text {
    fn show(&self, out: &mut String) {
        out.push_str(&self.0);
    }
}

impl<T: sealed::Sealed> sealed::Sealed for &T {}

impl<T: Show> Show for &T {
    fn show(&self, out: &mut String) {
        (*self).show(out);
    }
}

fn push(out: &mut String, value: &dyn Display) {
    use std::fmt::Write;
    // Writing to a string cannot fail.
    let _ = out.write_fmt(format_args!("{value}"));
}

/// Whether a literal has exactly this many `{}`. Evaluated at compile time.
pub(crate) const fn has_holes(format: &str, count: usize) -> bool {
    let bytes = format.as_bytes();
    let (mut index, mut found) = (0, 0);
    while index + 1 < bytes.len() {
        if bytes[index] == b'{' && bytes[index + 1] == b'}' {
            found += 1;
        }
        index += 1;
    }
    found == count
}

/// `text!("{} of {}", a, b)`: a [`Text`]. The values must be [`Show`].
macro_rules! text {
    ($format:literal $(, $value:expr)* $(,)?) => {{
        const { assert!($crate::terminal::has_holes($format, <[&str]>::len(&[$(stringify!($value)),*]))) };
        $crate::terminal::Text::fill($format, &[$(&$value),*])
    }};
}

/// `say!(out, "{} of {}", a, b)?`: one line of output. The values must be [`Show`].
macro_rules! say {
    ($out:expr, $format:literal $(, $value:expr)* $(,)?) => {{
        const { assert!($crate::terminal::has_holes($format, <[&str]>::len(&[$(stringify!($value)),*]))) };
        $out.line($format, &[$(&$value),*])
    }};
}

pub(crate) use {say, text};

/// A line of a file: tabs stay, because readers recognise them; all other hidden characters are escaped.
pub(crate) fn source_line(line: &str) -> Text {
    Text::joined(line.split('\t').map(Untrusted::new), "\t")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn holes_are_filled_and_outside_text_is_escaped() {
        let name = String::from("a\u{1b}[2J\nb");
        let name = Untrusted::new(&name);
        assert_eq!(text!("{}: {} of {}", name, 1_u64, "two").as_str(), "a\\u{1b}[2J\\nb: 1 of two");
        assert_eq!(text!("nothing").as_str(), "nothing");
        assert_eq!(text!("{}", Text::joined([name, name], ", ")).as_str(), "a\\u{1b}[2J\\nb, a\\u{1b}[2J\\nb");
        assert!(has_holes("{}{} {}", 3) && !has_holes("{}", 0));
    }

    #[test]
    fn values_are_not_searched_for_holes() {
        assert_eq!(text!("{} {}", Untrusted::new("{}"), 7_u8).as_str(), "{} 7");
    }

    #[test]
    fn a_line_of_a_file_keeps_tabs_and_escapes_other_hidden_characters() {
        assert_eq!(source_line("\t\tif x {\t// \u{1b}[31m\r").as_str(), "\t\tif x {\t// \\u{1b}[31m\\r");
        assert_eq!(source_line("").as_str(), "");
    }
}
