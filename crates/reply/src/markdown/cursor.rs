//! A position in one line, in bytes and in columns: a tab extends to the next multiple of four.

use std::borrow::Cow;

const TAB_WIDTH: usize = 4;

/// How far a line has been read.
#[derive(Clone, Debug)]
pub(super) struct Cursor<'a> {
    pub(super) line: &'a str,
    offset: usize,
    column: usize,
    /// The remaining columns of a partially consumed tab.
    rest_of_tab: usize,
}

impl<'a> Cursor<'a> {
    pub(super) fn new(line: &'a str) -> Self {
        Self { line, offset: 0, column: 0, rest_of_tab: 0 }
    }

    /// The rest of the line, without a partially consumed tab.
    pub(super) fn rest(&self) -> &'a str {
        self.line.get(self.offset..).unwrap_or_default()
    }

    /// The rest of the line from its first character that is not a space.
    pub(super) fn rest_trimmed(&self) -> &'a str {
        self.rest().trim_start_matches([' ', '\t'])
    }

    /// The rest of the line, with a partially consumed tab expanded to its remaining spaces.
    pub(super) fn rest_expanded(&self) -> Cow<'a, str> {
        match self.rest_of_tab {
            0 => Cow::Borrowed(self.rest()),
            spaces => Cow::Owned(format!("{:spaces$}{}", "", self.rest())),
        }
    }

    pub(super) fn is_blank(&self) -> bool {
        self.rest().bytes().all(is_space)
    }

    /// The width of the space before the next character, in columns.
    pub(super) fn indent(&self) -> usize {
        let mut column = self.column + self.rest_of_tab;
        for byte in self.rest().bytes() {
            match byte {
                b' ' => column += 1,
                b'\t' => column += TAB_WIDTH - column % TAB_WIDTH,
                _ => break,
            }
        }
        column - self.column
    }

    /// Skips at most this many columns of space.
    pub(super) fn skip_columns(&mut self, mut columns: usize) {
        while columns > 0 {
            if self.rest_of_tab > 0 {
                let step = self.rest_of_tab.min(columns);
                self.rest_of_tab -= step;
                self.column += step;
                columns -= step;
                continue;
            }
            match self.line.as_bytes().get(self.offset) {
                Some(b' ') => {
                    self.column += 1;
                    columns -= 1;
                }
                Some(b'\t') => self.rest_of_tab = TAB_WIDTH - self.column % TAB_WIDTH,
                _ => return,
            }
            self.offset += 1;
        }
    }

    pub(super) fn skip_space(&mut self) {
        self.skip_columns(usize::MAX);
    }

    /// Skips this many characters, each of one byte and one column.
    pub(super) fn skip_ascii(&mut self, count: usize) {
        self.offset += count;
        self.column += count;
    }
}

/// Includes the carriage return, which can be part of a line end that was kept.
pub(super) fn is_space(byte: u8) -> bool {
    matches!(byte, b' ' | b'\t' | b'\r')
}
