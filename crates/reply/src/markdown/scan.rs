//! The scanner. For each line: which containers continue, what the line opens, and which block it belongs to.
//!
//! It follows the algorithm in CommonMark's appendix, with one open leaf and a stack of containers.

use std::borrow::Cow;

use super::cursor::Cursor;
use super::html::HtmlKind;
use super::{Block, Fence, Heading, MAX_CONTAINERS, TextLine, comment, html, starts};

/// Reads a reply, already split into lines without their newlines.
pub(crate) fn scan<'a>(lines: impl IntoIterator<Item = &'a str>) -> Vec<Block<'a>> {
    let mut scanner = Scanner::default();
    for line in lines {
        scanner.line = scanner.line.saturating_add(1);
        scanner.read(Cursor::new(line));
    }
    scanner.close_leaf();
    scanner.blocks
}

#[derive(Clone, Copy, Debug)]
enum Container {
    Quote,
    /// Continues while lines are indented by this many columns. An item that starts with a blank line ends at a second blank
    /// line.
    Item {
        width: usize,
        is_empty: bool,
    },
}

/// The open block that the next line may continue.
#[derive(Debug, Default)]
enum Leaf<'a> {
    #[default]
    None,
    /// Its lines are already in the list of blocks, from this index.
    Paragraph {
        first: usize,
    },
    Indented,
    Html {
        kind: HtmlKind,
        first: usize,
    },
    Fence {
        fence: Fence<'a>,
        marker: u8,
        length: usize,
        indent: usize,
    },
}

#[derive(Default)]
struct Scanner<'a> {
    blocks: Vec<Block<'a>>,
    containers: Vec<Container>,
    leaf: Leaf<'a>,
    /// The current line, 1-based.
    line: u32,
}

impl<'a> Scanner<'a> {
    fn read(&mut self, mut cursor: Cursor<'a>) {
        let matched = self.match_containers(&mut cursor);
        let all_matched = matched == self.containers.len();
        if all_matched && self.continue_leaf(&mut cursor) {
            return;
        }
        // A lazy continuation: a paragraph may continue although its containers do not, if the line starts nothing else.
        let is_lazy = !all_matched && matches!(self.leaf, Leaf::Paragraph { .. });
        if !all_matched && !is_lazy {
            self.close_down_to(matched);
        }
        self.open_blocks(cursor, matched);
    }

    /// How many of the open containers the line continues.
    fn match_containers(&mut self, cursor: &mut Cursor<'a>) -> usize {
        for (index, container) in self.containers.iter().enumerate() {
            match *container {
                Container::Quote => {
                    if cursor.indent() > 3 || !cursor.rest_trimmed().starts_with('>') {
                        return index;
                    }
                    cursor.skip_space();
                    cursor.skip_ascii(1);
                    // One column of space after the `>` belongs to the marker.
                    cursor.skip_columns(1);
                }
                Container::Item { width, is_empty } => {
                    // A blank line that is indented enough keeps the rest of its space: that is contents of a fence.
                    if cursor.is_blank() && is_empty {
                        return index;
                    }
                    if cursor.indent() < width && !cursor.is_blank() {
                        return index;
                    }
                    cursor.skip_columns(width);
                }
            }
        }
        self.containers.len()
    }

    /// Adds the line to the open leaf, if the leaf continues with any line.
    fn continue_leaf(&mut self, cursor: &mut Cursor<'a>) -> bool {
        match &mut self.leaf {
            Leaf::Fence { fence, marker, length, indent } => {
                if cursor.indent() <= 3 && starts::closes_fence(cursor.rest_trimmed(), *marker, *length) {
                    fence.is_closed = true;
                    self.close_leaf();
                } else {
                    cursor.skip_columns(*indent);
                    fence.lines.push(cursor.rest_expanded());
                }
                true
            }
            Leaf::Html { kind, .. } => {
                let kind = *kind;
                if matches!(kind, HtmlKind::BlockTag | HtmlKind::LoneTag) && cursor.is_blank() {
                    self.close_leaf();
                    return true;
                }
                self.add_html_line(kind, cursor.rest());
                true
            }
            Leaf::Indented if cursor.indent() >= 4 || cursor.is_blank() => true,
            Leaf::Indented => {
                self.close_leaf();
                false
            }
            Leaf::Paragraph { .. } if cursor.is_blank() => {
                self.close_leaf();
                true
            }
            Leaf::Paragraph { .. } | Leaf::None => false,
        }
    }

    /// Opens the containers that the line starts, and then a leaf.
    fn open_blocks(&mut self, mut cursor: Cursor<'a>, mut depth: usize) {
        loop {
            let after_paragraph = depth == self.containers.len() && matches!(self.leaf, Leaf::Paragraph { .. });
            if cursor.is_blank() {
                self.close_down_to(depth);
                return;
            }
            if cursor.indent() > 3 {
                if !matches!(self.leaf, Leaf::Paragraph { .. }) {
                    self.close_down_to(depth);
                    self.mark_filled();
                    self.leaf = Leaf::Indented;
                    return;
                }
                break;
            }
            let rest = cursor.rest_trimmed();
            if depth < MAX_CONTAINERS {
                if rest.starts_with('>') {
                    self.close_down_to(depth);
                    self.mark_filled();
                    cursor.skip_space();
                    cursor.skip_ascii(1);
                    cursor.skip_columns(1);
                    self.containers.push(Container::Quote);
                    depth += 1;
                    continue;
                }
                let is_rule = starts::is_thematic_break(rest) || (after_paragraph && starts::is_underline(rest));
                if !is_rule && let Some(marker) = starts::list_marker(rest, after_paragraph) {
                    self.close_down_to(depth);
                    self.mark_filled();
                    self.open_item(&mut cursor, marker);
                    depth += 1;
                    continue;
                }
            }
            if self.open_leaf(&cursor, rest, depth, after_paragraph) {
                return;
            }
            break;
        }
        self.add_paragraph_line(&cursor, depth);
    }

    fn open_item(&mut self, cursor: &mut Cursor<'a>, marker: usize) {
        let indent = cursor.indent();
        cursor.skip_space();
        cursor.skip_ascii(marker);
        let is_empty = cursor.is_blank();
        let spaces = cursor.indent();
        // Five or more columns count as one, followed by indented code.
        let padding = if is_empty || !(1..=4).contains(&spaces) { 1 } else { spaces };
        cursor.skip_columns(padding);
        self.containers.push(Container::Item { width: indent + marker + padding, is_empty });
    }

    /// Opens a heading, fence, HTML block or thematic break, if the line is one.
    fn open_leaf(&mut self, cursor: &Cursor<'a>, rest: &'a str, depth: usize, after_paragraph: bool) -> bool {
        if let Some((level, text)) = starts::heading(rest) {
            self.start_leaf(depth);
            let heading = Heading { level, text, line: self.line, is_nested: depth > 0 };
            self.blocks.push(Block::Heading(heading));
            return true;
        }
        if let Some(start) = starts::fence(rest) {
            self.start_leaf(depth);
            let fence = Fence { info: start.info, line: self.line, lines: Vec::new(), is_closed: false };
            self.leaf = Leaf::Fence { fence, marker: start.marker, length: start.length, indent: cursor.indent() };
            return true;
        }
        let in_paragraph = matches!(self.leaf, Leaf::Paragraph { .. });
        if let Some(kind) = html::opened_by(rest).filter(|&kind| kind != HtmlKind::LoneTag || !in_paragraph) {
            self.start_leaf(depth);
            self.leaf = Leaf::Html { kind, first: self.blocks.len() };
            self.add_html_line(kind, rest);
            return true;
        }
        if after_paragraph && starts::is_underline(rest) {
            self.close_leaf();
            return true;
        }
        if starts::is_thematic_break(rest) {
            self.start_leaf(depth);
            return true;
        }
        false
    }

    fn start_leaf(&mut self, depth: usize) {
        self.close_down_to(depth);
        self.mark_filled();
    }

    fn add_html_line(&mut self, kind: HtmlKind, text: &'a str) {
        if matches!(kind, HtmlKind::Comment | HtmlKind::BlockTag | HtmlKind::LoneTag) {
            self.push_text(text);
        }
        if html::is_closed_by(kind, text) {
            self.close_leaf();
        }
    }

    fn add_paragraph_line(&mut self, cursor: &Cursor<'a>, depth: usize) {
        if !matches!(self.leaf, Leaf::Paragraph { .. }) {
            self.close_down_to(depth);
            self.leaf = Leaf::Paragraph { first: self.blocks.len() };
        }
        self.mark_filled();
        self.push_text(cursor.rest());
    }

    fn push_text(&mut self, text: &'a str) {
        let is_quoted = self.containers.iter().any(|container| matches!(container, Container::Quote));
        let text = Cow::Borrowed(text.trim_matches([' ', '\t', '\r']));
        self.blocks.push(Block::Text(TextLine { line: self.line, text, is_quoted }));
    }

    /// Marks the innermost item as non-empty, so that a blank line no longer ends it.
    fn mark_filled(&mut self) {
        if let Some(Container::Item { is_empty, .. }) = self.containers.last_mut() {
            *is_empty = false;
        }
    }

    fn close_down_to(&mut self, depth: usize) {
        self.close_leaf();
        self.containers.truncate(depth);
    }

    fn close_leaf(&mut self) {
        match std::mem::take(&mut self.leaf) {
            Leaf::None | Leaf::Indented => {}
            Leaf::Paragraph { first } => comment::remove(&mut self.blocks, first, false),
            Leaf::Html { first, .. } => comment::remove(&mut self.blocks, first, true),
            Leaf::Fence { fence, .. } => self.blocks.push(Block::Fence(fence)),
        }
    }
}
