//! Parses an overview: the code files and their dependencies. For programs that only have the text, and for the property test
//! that nothing is lost without a budget. Lines outside of the grammar in `docs/formats.md` are errors.

use std::collections::BTreeMap;

use super::references::References;

/// The contents of an overview.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ReadOverview {
    /// Code files with the paths of their dependencies, sorted.
    pub files: BTreeMap<String, Vec<String>>,
    /// Folders that are one line, with the number of files.
    pub folded: BTreeMap<String, u64>,
}

/// Parses the text. Errors name the line, counted from 1.
pub fn read(text: &str) -> Result<ReadOverview, String> {
    let mut folder = String::new();
    let mut overview = ReadOverview::default();
    let mut lines: Vec<(String, String, Vec<String>)> = Vec::new();
    for (number, line) in (1..).zip(text.lines()) {
        let error = |what: &str| format!("line {number}: {what}");
        match line.as_bytes().first() {
            None | Some(b'#' | b'=') => {}
            Some(b' ') => {
                let mut words = Words(line.get(1..).unwrap_or_default());
                if words.rest().starts_with("* ") {
                    continue;
                }
                let name = words.next().ok_or_else(|| error("expected the name of a file"))?;
                lines.push((folder.clone(), name.text, imports(&mut words)));
            }
            Some(_) => {
                let mut words = Words(line);
                let path = words.next().ok_or_else(|| error("expected a folder"))?.text;
                let path = path.strip_suffix('/').ok_or_else(|| error("expected a folder with a slash"))?;
                let path = if path == "." { "" } else { path };
                match (words.next().map(|word| word.text).as_deref(), words.next()) {
                    (Some("*"), Some(count)) => {
                        let count = count.text.parse().map_err(|_| error("expected a number of files"))?;
                        overview.folded.insert(path.to_owned(), count);
                    }
                    _ => folder = path.to_owned(),
                }
            }
        }
    }
    // References are as short as possible while unambiguous, so they can only be resolved once all files are known.
    let path = |folder: &str, name: &str| if folder.is_empty() { name.to_owned() } else { format!("{folder}/{name}") };
    let paths: Vec<String> = lines.iter().map(|(folder, name, _)| path(folder, name)).collect();
    let references = References::new(paths.iter().map(String::as_str).collect(), vec![true; paths.len()]);
    for ((folder, _, imports), path) in lines.iter().zip(&paths) {
        let target = |name: &String| {
            references.resolve(folder, name).ok_or_else(|| format!("{path}: `{name}` matches no file, or several"))
        };
        let mut targets = imports.iter().map(target).collect::<Result<Vec<String>, _>>()?;
        targets.sort_unstable();
        overview.files.insert(path.clone(), targets);
    }
    Ok(overview)
}

/// The names of files after `>`, or after `>>`, where each word is one.
fn imports(words: &mut Words<'_>) -> Vec<String> {
    let mut imports = Vec::new();
    let (mut is_within, mut is_first, mut is_bare) = (false, false, false);
    while let Some(word) = words.next() {
        match (&*word.text, word.is_quoted) {
            ("#" | "~", false) => break,
            (">", false) => (is_within, is_first) = (true, true),
            (">>", false) => (is_within, is_first, is_bare) = (true, true, true),
            _ if is_within => {
                if is_first {
                    imports.push(word.text.clone());
                }
                is_first = is_bare || word.end == Some(';');
            }
            _ => {}
        }
    }
    imports
}

struct Word {
    text: String,
    is_quoted: bool,
    /// The `,` or `;` after it.
    end: Option<char>,
}

struct Words<'t>(&'t str);

impl Words<'_> {
    fn rest(&self) -> &str {
        self.0
    }

    fn next(&mut self) -> Option<Word> {
        let rest = self.0.trim_start_matches(' ');
        if rest.is_empty() {
            return None;
        }
        let (text, is_quoted, length) = if rest.starts_with('"') {
            let end = closing_quote(rest)?;
            (unescaped(rest.get(1..end)?)?, true, end + 1)
        } else {
            let length = rest.find(' ').unwrap_or(rest.len());
            let word = rest.get(..length)?;
            let word = word.strip_suffix([',', ';']).unwrap_or(word);
            (word.to_owned(), false, word.len())
        };
        let behind = rest.get(length..)?;
        let end = behind.chars().next().filter(|end| matches!(end, ',' | ';'));
        self.0 = behind.get(end.map_or(0, char::len_utf8)..)?;
        Some(Word { text, is_quoted, end })
    }
}

fn closing_quote(text: &str) -> Option<usize> {
    let mut is_escaped = false;
    for (at, byte) in text.bytes().enumerate().skip(1) {
        match byte {
            _ if is_escaped => is_escaped = false,
            b'\\' => is_escaped = true,
            b'"' => return Some(at),
            _ => {}
        }
    }
    None
}

/// The text of a quoted word.
fn unescaped(quoted: &str) -> Option<String> {
    let mut units: Vec<u16> = Vec::with_capacity(quoted.len());
    let mut characters = quoted.chars();
    let mut buffer = [0; 2];
    while let Some(character) = characters.next() {
        if character != '\\' {
            units.extend_from_slice(character.encode_utf16(&mut buffer));
            continue;
        }
        match characters.next()? {
            // Four digits may be half of a surrogate pair, so collect code units and decode them at the end.
            'u' => {
                let digits: String = characters.by_ref().take(4).collect();
                units.push(u16::from_str_radix(&digits, 16).ok()?);
            }
            escaped @ ('"' | '\\') => units.extend_from_slice(escaped.encode_utf16(&mut buffer)),
            _ => return None,
        }
    }
    String::from_utf16(&units).ok()
}
