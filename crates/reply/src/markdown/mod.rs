//! The block structure of a reply: headings, fences and lines of prose, each with its line number.
//!
//! Not a Markdown renderer: inlines are left alone except comments, and everything that means nothing to the gate (thematic
//! breaks, indented code, scripts) is dropped. The block rules are CommonMark's. An own scanner, because a reply is hostile input
//! and the gate needs lines rather than a tree: it is linear, keeps no tree, and limits nesting
//! (`docs/decisions/0050-markdown-scanner.md`). Its tests compare it with pulldown-cmark.

mod comment;
mod cursor;
mod html;
mod scan;
mod starts;

#[cfg(test)]
mod tests;

use std::borrow::Cow;

pub(crate) use scan::scan;

/// Lists and quotes nested deeper are read as text: each blank line costs a step per open container.
pub(super) const MAX_CONTAINERS: usize = 32;

/// Removes backslash escapes of punctuation: `my\_file` is `my_file`. Not for code spans.
pub(crate) fn unescape(text: &str) -> Cow<'_, str> {
    if !text.contains('\\') {
        return Cow::Borrowed(text);
    }
    let mut plain = String::with_capacity(text.len());
    let mut characters = text.chars().peekable();
    while let Some(character) = characters.next() {
        // Not `/`, `.` and `\`: these are syntax in paths, and escaping them is never an accident.
        let is_escape = character == '\\' && characters.peek().is_some_and(|next| "_*~[]<>#-`()!+&".contains(*next));
        if !is_escape {
            plain.push(character);
        }
    }
    Cow::Owned(plain)
}

/// One piece of a reply, in the order of the lines.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Block<'a> {
    Heading(Heading<'a>),
    Fence(Fence<'a>),
    Text(TextLine<'a>),
}

/// `## words`. Underlined headings count as prose: the protocol only knows this form.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Heading<'a> {
    pub(crate) level: u8,
    /// Without number signs and space at both ends.
    pub(crate) text: &'a str,
    pub(crate) line: u32,
    /// Inside a list item or a quote, so it does not start a section of the reply.
    pub(crate) is_nested: bool,
}

/// A fenced code block.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Fence<'a> {
    pub(crate) info: &'a str,
    /// The line of the opening fence; the contents start on the next one.
    pub(crate) line: u32,
    /// The contents line by line, without the prefix of lists, quotes and the fence's own indentation.
    pub(crate) lines: Vec<Cow<'a, str>>,
    /// A fence that is never closed extends to the end of its container.
    pub(crate) is_closed: bool,
}

impl Fence<'_> {
    /// The line of the reply for a line of the contents.
    pub(crate) fn line_of(&self, index: usize) -> u32 {
        self.line.saturating_add(1).saturating_add(u32::try_from(index).unwrap_or(u32::MAX))
    }
}

/// One line of prose, without list markers.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct TextLine<'a> {
    pub(crate) line: u32,
    /// Without comments, and without space at both ends.
    pub(crate) text: Cow<'a, str>,
    /// Inside a block quote: quoted text.
    pub(crate) is_quoted: bool,
}
