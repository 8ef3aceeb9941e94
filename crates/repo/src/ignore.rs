//! The rules of one ignore file, with git's exact semantics.
//!
//! `scan` decides which files are read and in which order their lists apply. Case folding (`core.ignoreCase`) is not supported,
//! so that the answer is the same on every machine.

mod index;

use crate::wildmatch::{literal_prefix_length, wildmatch};
use index::Index;

/// Shorter lists are matched line by line, which is faster.
const MANY: usize = 32;

/// The patterns of one file, in line order.
#[derive(Debug)]
pub(crate) struct PatternList {
    /// The length of the file's directory in every tested path, including the slash.
    base_length: usize,
    text: Box<[u8]>,
    patterns: Box<[Pattern]>,
    /// Only for long lists.
    index: Option<Box<Index>>,
}

#[derive(Clone, Copy, Debug)]
struct Pattern {
    start: u32,
    end: u32,
    /// The number of bytes before the first special character.
    literal: u32,
    line: u32,
    shape: Shape,
    negative: bool,
    only_directories: bool,
}

#[derive(Clone, Copy, Debug, PartialEq)]
enum Shape {
    /// `name`: the last component is exactly this.
    Name,
    /// `*literal`: the last component ends with this. The stored text follows the star.
    NameSuffix,
    /// Any other pattern without a slash.
    NameGlob,
    /// A pattern with a slash: matches the path below the file's directory.
    Path,
}

/// The result of the last matching line of a list.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct IgnoreMatch {
    pub(crate) ignored: bool,
    /// 1-based.
    pub(crate) line: u32,
}

impl PatternList {
    /// `base_length` is the length of the file's directory plus one slash; 0 at the top of the checkout.
    pub(crate) fn parse(bytes: &[u8], base_length: usize) -> Self {
        let bytes = bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(bytes);
        // Offsets have 32 bits; git rejects far smaller pattern files.
        let text: Box<[u8]> = bytes.get(..(u32::MAX as usize).min(bytes.len())).unwrap_or_default().into();
        let mut patterns = Vec::new();
        let mut start = 0;
        for (index, line) in text.split(|&byte| byte == b'\n').enumerate() {
            if !line.starts_with(b"#") {
                patterns.extend(Pattern::parse(line, start, index));
            }
            start += line.len() + 1;
        }
        let index = (patterns.len() > MANY).then(|| Box::new(Index::new(&text, &patterns)));
        Self { base_length, text, patterns: patterns.into(), index }
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.patterns.is_empty()
    }

    /// `path` starts at the top of the checkout, its last component at `name_start`.
    pub(crate) fn verdict(&self, path: &[u8], name_start: usize, is_directory: bool) -> Option<IgnoreMatch> {
        let name = path.get(name_start..)?;
        let below = path.get(self.base_length..)?;
        let matches = |pattern: &&Pattern| {
            (is_directory || !pattern.only_directories) && pattern.matches(pattern.text(&self.text), name, below)
        };
        let found = match &self.index {
            None => self.patterns.iter().rev().find(matches)?,
            Some(index) => {
                let candidates = index.candidates(name, below);
                candidates.iter().rev().filter_map(|place| self.patterns.get(*place as usize)).find(matches)?
            }
        };
        Some(IgnoreMatch { ignored: !found.negative, line: found.line })
    }
}

impl Pattern {
    /// `start` is the offset of the line in the file.
    fn parse(line: &[u8], start: usize, index: usize) -> Option<Self> {
        let line = line.strip_suffix(b"\r").unwrap_or(line);
        // Git uses C strings, so a NUL ends the line.
        let line = line.split(|&byte| byte == 0).next().unwrap_or_default();
        let line = trim_trailing_spaces(line);
        let (negative, body) = match line.strip_prefix(b"!") {
            Some(body) => (true, body),
            None => (false, line),
        };
        let (only_directories, body) = match body.strip_suffix(b"/") {
            Some(body) => (true, body),
            None => (false, body),
        };
        if body.is_empty() {
            return None;
        }
        let mut start = start + usize::from(negative);
        let end = start + body.len();
        let mut literal = literal_prefix_length(body);
        let shape = if body.contains(&b'/') {
            if body.starts_with(b"/") {
                start += 1;
                // The first special character of a pattern like `/*` is after the slash.
                literal -= 1;
            }
            Shape::Path
        } else if literal == body.len() {
            Shape::Name
        } else if body.starts_with(b"*") && literal_prefix_length(&body[1..]) == body.len() - 1 {
            start += 1;
            Shape::NameSuffix
        } else {
            Shape::NameGlob
        };
        let narrow = |value: usize| u32::try_from(value).ok();
        Some(Self {
            start: narrow(start)?,
            end: narrow(end)?,
            literal: narrow(literal)?,
            line: narrow(index + 1)?,
            shape,
            negative,
            only_directories,
        })
    }

    /// The pattern's text in the text of its file.
    fn text<'t>(&self, file: &'t [u8]) -> &'t [u8] {
        file.get(self.start as usize..self.end as usize).unwrap_or_default()
    }

    #[inline]
    fn matches(&self, text: &[u8], name: &[u8], below: &[u8]) -> bool {
        match self.shape {
            Shape::Name => text == name,
            // Most names differ in their last byte, and comparing that is cheaper than a call.
            Shape::NameSuffix => text.last().is_none_or(|last| name.last() == Some(last)) && name.ends_with(text),
            Shape::NameGlob => {
                let literal = text.get(..self.literal as usize).unwrap_or_default();
                name.starts_with(literal) && wildmatch(text, name)
            }
            Shape::Path => {
                let (literal, glob) = text.split_at_checked(self.literal as usize).unwrap_or_default();
                if literal.first().is_some_and(|first| below.first() != Some(first)) {
                    return false;
                }
                // Git removes the literal prefix before it matches the rest, so in `a**/b` the stars are at the start of a
                // pattern.
                below
                    .strip_prefix(literal)
                    .is_some_and(|rest| if glob.is_empty() { rest.is_empty() } else { wildmatch(glob, rest) })
            }
        }
    }
}

/// Removes unescaped spaces from the end. A single backslash at the end keeps all of them, as in git.
fn trim_trailing_spaces(line: &[u8]) -> &[u8] {
    let mut first_space = None;
    let mut index = 0;
    while let Some(&byte) = line.get(index) {
        match byte {
            b' ' => {
                first_space.get_or_insert(index);
            }
            b'\\' => {
                index += 1;
                if index == line.len() {
                    return line;
                }
                first_space = None;
            }
            _ => first_space = None,
        }
        index += 1;
    }
    line.get(..first_space.unwrap_or(line.len())).unwrap_or(line)
}
