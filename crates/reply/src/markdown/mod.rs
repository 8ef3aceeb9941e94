//! The block structure of a reply: headings, fences and lines of prose, each with its line number.
//!
//! Not a Markdown renderer: inlines are left alone but for comments, and everything that says nothing to the gate
//! (thematic breaks, indented code, scripts) is dropped. The block rules are CommonMark's. An own scanner, because a
//! reply is hostile input and the gate needs lines rather than a tree: it is linear, keeps no tree, and its nesting is
//! bounded (`docs/decisions/0050-markdown-scanner.md`). Its tests compare it with pulldown-cmark.

mod comment;
mod cursor;
mod html;
mod scan;
mod starts;

#[cfg(test)]
mod tests;

use std::borrow::Cow;

pub(crate) use scan::scan;

/// Lists and quotes inside each other beyond this depth are read as text: a blank line costs a step for each.
pub(super) const MAX_CONTAINERS: usize = 32;

/// Takes the backslashes off that keep punctuation from meaning something: `my\_file` is `my_file`. Not for code spans.
pub(crate) fn unescape(text: &str) -> Cow<'_, str> {
    if !text.contains('\\') {
        return Cow::Borrowed(text);
    }
    let mut plain = String::with_capacity(text.len());
    let mut characters = text.chars().peekable();
    while let Some(character) = characters.next() {
        // Slashes, dots and backslashes mean something in paths, and they are not escaped by accident.
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

/// `## words`. Underlined headings stay prose: the protocol knows only this form.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Heading<'a> {
    pub(crate) level: u8,
    /// Without the number signs at both ends and the space around.
    pub(crate) text: &'a str,
    pub(crate) line: u32,
    /// Inside a list item or a quote, so it is not a section of the reply.
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
    /// A fence that nothing closes runs to the end of what holds it.
    pub(crate) is_closed: bool,
}

impl Fence<'_> {
    /// The line of the reply that a line of the contents is on.
    pub(crate) fn line_of(&self, index: usize) -> u32 {
        self.line.saturating_add(1).saturating_add(u32::try_from(index).unwrap_or(u32::MAX))
    }
}

/// One line of prose, without the markers of lists around it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct TextLine<'a> {
    pub(crate) line: u32,
    /// Without comments, and without space at both ends.
    pub(crate) text: Cow<'a, str>,
    /// Inside a block quote: quoted words of others.
    pub(crate) is_quoted: bool,
}
