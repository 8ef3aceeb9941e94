//! A one-line description of a file that is not source code: the first heading of a Markdown document, or the `description` of a
//! package manifest (spec 20 §6). Pure functions of name and bytes, linear in the bytes.

use stan_model::untrusted::cleaned_prose;
use stan_model::{json::JsonTree, split_extension};
use toml::{Table, Value};

use crate::decode::lossy;
use crate::language::{ExtractOptions, SourceFile};
use crate::prose;

/// Larger documents are not searched: they are data.
pub const MAX_DOCUMENT_BYTES: u64 = 1 << 20;

/// Must be raised if the same bytes may give another line than before. Part of the cache key.
pub const VERSION: u32 = 1;

/// Only this much of a heading is read.
const MAX_HEADING_BYTES: usize = 2_000;

/// The prefix of a document that is searched first.
const TOP: usize = 2 << 10;

/// The most lines of an HTML heading.
const MAX_LINES: usize = 12;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Document {
    Markdown,
    PackageJson,
    CargoToml,
    PyprojectToml,
}

impl Document {
    fn of(path: &str) -> Option<Self> {
        let name = path.rsplit_once('/').map_or(path, |(_, name)| name);
        match name {
            "package.json" => return Some(Self::PackageJson),
            "Cargo.toml" => return Some(Self::CargoToml),
            "pyproject.toml" => return Some(Self::PyprojectToml),
            _ => {}
        }
        let (stem, extension) = split_extension(name)?;
        let is_markdown = ["md", "mdx", "markdown"].iter().any(|known| extension.eq_ignore_ascii_case(known));
        (is_markdown && !stem.is_empty()).then_some(Self::Markdown)
    }
}

/// Whether [`describe`] may return a line for a file of this name. Called once for each file without facts.
pub fn is_document(path: &str) -> bool {
    Document::of(path).is_some()
}

/// The description, truncated to the limit of the options.
pub fn describe(file: SourceFile<'_>, options: &ExtractOptions) -> Option<Box<str>> {
    let document = Document::of(file.name).filter(|_| file.bytes.len() as u64 <= MAX_DOCUMENT_BYTES)?;
    let bytes = file.bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(file.bytes);
    let line = match document {
        Document::Markdown => heading_of(bytes),
        Document::PackageJson => {
            let tree = JsonTree::parse(bytes).ok()?;
            tree.string(tree.field(tree.root(), "description")?).map(|text| one_line(&text))
        }
        Document::CargoToml => toml_text(bytes, &[&["package", "description"]]),
        Document::PyprojectToml => toml_text(bytes, &[&["project", "description"], &["tool", "poetry", "description"]]),
    };
    line.filter(|line| !line.is_empty()).map(|line| prose::cut(&line, options.description_limit))
}

/// The first of these keys whose value is a string.
fn toml_text(bytes: &[u8], keys: &[&[&str]]) -> Option<String> {
    // Searching the bytes is cheaper than parsing, and most manifests have no description.
    memchr::memmem::find(bytes, b"description")?;
    let table: Table = std::str::from_utf8(bytes).ok()?.parse().ok()?;
    let text = |path: &&[&str]| {
        let (first, rest) = path.split_first()?;
        rest.iter().try_fold(table.get(*first)?, |value: &Value, key| value.get(*key))?.as_str()
    };
    keys.iter().find_map(text).map(one_line)
}

/// Turns white space into blanks and removes hidden characters.
fn one_line(text: &str) -> String {
    text.split_whitespace().map(cleaned_prose).filter(|word| !word.is_empty()).collect::<Vec<_>>().join(" ")
}

/// The first heading. Nearly always near the top, so the rest is decoded only if it is not there.
fn heading_of(bytes: &[u8]) -> Option<String> {
    let start = bytes.get(..TOP).filter(|start| !start.starts_with(b"---") && !start.starts_with(b"+++"));
    if let Some(start) = start.and_then(|start| start.get(..memchr::memrchr(b'\n', start)?)) {
        let text = lossy(start);
        let mut lines = lines(&text);
        // A heading on the last decoded line may continue after it.
        if let Some(heading) = first_heading(&mut lines).filter(|_| lines.next().is_some()) {
            return Some(heading);
        }
    }
    // Nearly all documents are valid UTF-8, and checking that is much faster than replacing invalid bytes.
    let text = lossy(bytes);
    first_heading(&mut lines(without_front_matter(&text)))
}

/// Like `str::lines`, which searches byte by byte: many documents have a long preamble.
fn lines(text: &str) -> impl Iterator<Item = &str> {
    let mut rest = text;
    std::iter::from_fn(move || {
        if rest.is_empty() {
            return None;
        }
        let end = memchr::memchr(b'\n', rest.as_bytes());
        let line = rest.get(..end.unwrap_or(rest.len()))?;
        rest = end.and_then(|end| rest.get(end + 1..)).unwrap_or_default();
        Some(if end.is_some() { line.strip_suffix('\r').unwrap_or(line) } else { line })
    })
}

/// The first heading with a word, outside comments and code.
fn first_heading<'t>(lines: &mut impl Iterator<Item = &'t str>) -> Option<String> {
    let mut fence: Option<(char, usize)> = None;
    // The lines of the current paragraph: a line of `=` or `-` below turns them into a heading.
    let mut paragraph = String::new();
    while let Some(line) = lines.next() {
        let start = line.trim_start_matches(' ');
        let is_indented = line.len() - start.len() > 3 || start.starts_with('\t');
        if let Some((mark, length)) = fence {
            let rest = start.trim_start_matches(mark);
            if !is_indented && start.len() - rest.len() >= length && rest.trim().is_empty() {
                fence = None;
            }
            continue;
        }
        if start.trim().is_empty() || (is_indented && paragraph.is_empty()) {
            paragraph.clear();
            continue;
        }
        if is_indented {
            push_line(&mut paragraph, start);
            continue;
        }
        if let Some(opened) = opens_fence(start) {
            (fence, paragraph) = (Some(opened), String::new());
            continue;
        }
        let found = if let Some(heading) = atx_heading(start) {
            paragraph.clear();
            plain(heading)
        } else if is_underline(start) && !paragraph.is_empty() {
            plain(&std::mem::take(&mut paragraph))
        } else if let Some(comment) = start.strip_prefix("<!--") {
            paragraph.clear();
            if !comment.contains("-->") {
                lines.by_ref().find(|line| line.contains("-->"));
            }
            continue;
        } else if is_html_heading(start) {
            paragraph.clear();
            plain(&html_heading(start, lines))
        } else {
            match starts_block(start) {
                true => paragraph.clear(),
                false => push_line(&mut paragraph, start),
            }
            continue;
        };
        if found.chars().any(char::is_alphanumeric) {
            return Some(found);
        }
    }
    None
}

/// The text after front matter: YAML between `---` or TOML between `+++`.
fn without_front_matter(text: &str) -> &str {
    let Some((first, rest)) = text.split_once('\n') else { return text };
    let mark = first.trim_end();
    if !matches!(mark, "---" | "+++") {
        return text;
    }
    let mut start = 0;
    for end in memchr::memchr_iter(b'\n', rest.as_bytes()).chain([rest.len()]) {
        if rest.get(start..end).is_some_and(|line| line.trim_end() == mark) {
            return rest.get(end + 1..).unwrap_or_default();
        }
        start = end + 1;
    }
    text
}

fn push_line(paragraph: &mut String, line: &str) {
    if paragraph.len() < MAX_HEADING_BYTES {
        paragraph.push_str(line);
        paragraph.push(' ');
    }
}

/// The character and the length of a code fence.
fn opens_fence(line: &str) -> Option<(char, usize)> {
    let mark = line.chars().next().filter(|mark| matches!(mark, '`' | '~'))?;
    let info = line.trim_start_matches(mark);
    let length = line.len() - info.len();
    (length >= 3 && !(mark == '`' && info.contains('`'))).then_some((mark, length))
}

/// The text after `#` to `######`.
fn atx_heading(line: &str) -> Option<&str> {
    let heading = line.trim_start_matches('#');
    let is_heading =
        (1..=6).contains(&(line.len() - heading.len())) && (heading.is_empty() || heading.starts_with([' ', '\t']));
    let heading = heading.trim();
    let open = heading.trim_end_matches('#');
    // Trailing `#`s close the heading, unless they are part of a word.
    let text = if open.is_empty() || open.ends_with([' ', '\t']) { open.trim_end() } else { heading };
    is_heading.then_some(text)
}

fn is_underline(line: &str) -> bool {
    let line = line.trim_end();
    !line.is_empty() && (line.bytes().all(|byte| byte == b'=') || line.bytes().all(|byte| byte == b'-'))
}

/// Whether a line starts a block that an underline cannot turn into a heading: a list, a quote, a table, HTML, a definition.
fn starts_block(line: &str) -> bool {
    let digits = line.trim_start_matches(|digit: char| digit.is_ascii_digit());
    let is_item = |rest: &str| rest.get(1..).is_some_and(|rest| rest.is_empty() || rest.starts_with([' ', '\t']));
    (line.starts_with(['-', '*', '+']) && is_item(line))
        || (digits.len() < line.len() && digits.starts_with(['.', ')']) && is_item(digits))
        || line.starts_with(['>', '|', '<', ':'])
        || is_underline(line)
}

fn is_html_heading(line: &str) -> bool {
    matches!(line.as_bytes(), [b'<', b'h' | b'H', b'1'..=b'6', b'>' | b' ', ..])
}

/// The lines from `<h1 …>` to `</h1>`, or up to the limit.
fn html_heading<'l>(first: &'l str, lines: &mut impl Iterator<Item = &'l str>) -> String {
    let mut heading = String::new();
    let mut line = first;
    for _ in 0..MAX_LINES {
        let end = line.find("</h").or_else(|| line.find("</H"));
        push_line(&mut heading, line.get(..end.unwrap_or(line.len())).unwrap_or_default());
        match lines.next().filter(|_| end.is_none()) {
            Some(next) => line = next,
            None => break,
        }
    }
    heading
}

/// A heading as rendered.
fn plain(heading: &str) -> String {
    let end = heading.char_indices().map(|(at, _)| at).find(|at| *at >= MAX_HEADING_BYTES).unwrap_or(heading.len());
    let heading = heading.get(..end).unwrap_or(heading).trim();
    // `## Heading {#anchor}`
    let heading = match heading.rsplit_once("{#") {
        Some((text, anchor)) if anchor.strip_suffix('}').is_some_and(|anchor| !anchor.contains('}')) => text,
        _ => heading,
    };
    prose::plain_text(&without_pictures_and_tags(heading))
}

/// HTML elements that decorate headings. Anything else, such as `<T>`, is text.
const TAGS: [&str; 32] = [
    "a", "abbr", "b", "br", "center", "code", "del", "div", "em", "font", "h1", "h2", "h3", "h4", "h5", "h6", "i",
    "img", "ins", "kbd", "mark", "p", "picture", "s", "small", "source", "span", "strong", "sub", "sup", "svg", "u",
];

/// Removes `![picture](target)`, tags and comments, but not inside code.
fn without_pictures_and_tags(heading: &str) -> String {
    let mut text = String::with_capacity(heading.len());
    let mut rest = heading;
    while let Some(at) = rest.find(['`', '!', '<']) {
        let (before, found) = rest.split_at(at);
        text.push_str(before);
        let length = match found.as_bytes() {
            [b'`', ..] => {
                let inner = found.trim_start_matches('`');
                let fence = found.len() - inner.len();
                let end = inner.find(found.get(..fence).unwrap_or("`")).map_or(fence, |end| end + 2 * fence);
                text.push_str(found.get(..end).unwrap_or_default());
                end
            }
            [b'!', b'[', ..] => picture(found).unwrap_or(0),
            [b'<', ..] => tag(found).unwrap_or(0),
            _ => 0,
        };
        let shown = usize::from(length == 0);
        text.push_str(found.get(..shown).unwrap_or_default());
        rest = found.get(length + shown..).unwrap_or_default();
    }
    text.push_str(rest);
    text
}

/// The length of `![text](target)`.
fn picture(text: &str) -> Option<usize> {
    let shown = text.find("](")?;
    Some(shown + text.get(shown..)?.find(')')? + 1)
}

/// The length of a tag or comment.
fn tag(text: &str) -> Option<usize> {
    if text.starts_with("<!--") {
        return text.find("-->").map(|at| at + 3);
    }
    let end = text.find('>')?;
    let inner = text.get(1..end)?;
    let inner = inner.strip_prefix('/').unwrap_or(inner);
    let name = inner.split(|letter: char| !letter.is_ascii_alphanumeric()).next()?.to_ascii_lowercase();
    TAGS.binary_search(&&*name).is_ok().then_some(end + 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn line(name: &str, text: &str) -> Option<String> {
        describe(SourceFile { name, bytes: text.as_bytes() }, &ExtractOptions::default()).map(String::from)
    }

    #[test]
    fn the_first_heading_or_title_describes_a_document() {
        assert!(TAGS.is_sorted());
        for (text, expected) in [
            ("# The shop\n", Some("The shop")),
            ("\u{feff}Words.\n\n## The shop ##\n# Later\n", Some("The shop")),
            ("The *shop*\n====\n", Some("The shop")),
            ("Two\nlines\n---\n", Some("Two lines")),
            ("---\n# a comment\ntitle: x\n---\n\n# Shop\n", Some("Shop")),
            ("+++\ntitle = 'x'\n+++\nShop\n---", Some("Shop")),
            ("---\n\n# Shop\n", Some("Shop")),
            ("- item\n---\n## Shop\n", Some("Shop")),
            ("```sh\n# no\n~~~\n# no\n```\n# Shop", Some("Shop")),
            ("~~~~\n~~~\n# no\n~~~~\n# Shop", Some("Shop")),
            ("    # code\n\n# Shop", Some("Shop")),
            ("<!-- # no\n# no -->\n# Shop", Some("Shop")),
            ("<!-- one line -->\n# Shop", Some("Shop")),
            ("#hashtag\n# C#\n", Some("C#")),
            ("# ![logo](x.svg)\n# <b>Tea</b> & [docs](https://x) [1]!\n", Some("Tea & docs [1]!")),
            ("# Shop [![npm](badge)](link) <!-- x -->", Some("Shop")),
            ("# `a**b` and `Vec<b>` of <T> {#anchor}", Some("a**b and Vec<b> of <T>")),
            ("<h1 align=\"center\">\n  <img src=\"x\"/>\n  Shop\n</h1>\n# Later", Some("Shop")),
            ("<p>\n\n# 1 < 2!\n", Some("1 < 2!")),
            ("#\n\n######\tDeep", Some("Deep")),
            ("####### no\n", None),
            ("Only words.\n", None),
            ("| a |\n---\n", None),
            ("", None),
        ] {
            assert_eq!(line("docs/a.md", text).as_deref(), expected, "{text}");
        }
        for count in [0, 60, 102, 103, 104, 105, 400] {
            let text =
                format!("{}<h1>\nTea\nshop</h1>\n\n{}", "Some words, twenty.\n".repeat(count), "End.\n".repeat(500));
            assert_eq!(line("a.md", &text).as_deref(), Some("Tea shop"), "{count}");
        }
        let long = format!("---\n# no\n{}---\n# Tea", "a: b\n".repeat(900));
        assert_eq!(line("a.md", &long).as_deref(), Some("Tea"));
        assert_eq!(line("A.MDX", "# A\r\n").as_deref(), Some("A"));
        assert_eq!(line("a.txt", "# A\n"), None);
        let long = line("a.md", &format!("# {}", "word ".repeat(900))).unwrap_or_default();
        assert!((100..200).contains(&long.chars().count()), "{long}");
    }

    #[test]
    fn lines_are_those_of_the_standard_library() {
        for text in ["", "a", "a\n", "a\n\n", "\n", "\r\n", "a\r\nb\r", "a\rb\n\r\r\nc", "é\n\u{2028}b"] {
            assert_eq!(lines(text).collect::<Vec<_>>(), text.lines().collect::<Vec<_>>(), "{text:?}");
        }
    }

    #[test]
    fn manifests_are_described_by_their_own_field() {
        for (name, text, expected) in [
            ("a/package.json", r#"{"name": "x", "description": "A  small\nshop."}"#, Some("A small shop.")),
            ("package.json", r#"{"description": ""}"#, None),
            ("package.json", r#"{"description": 1}"#, None),
            ("package.json", "not JSON", None),
            ("x-package.json", r#"{"description": "x"}"#, None),
            (
                "Cargo.toml",
                "[dependencies]\ndescription = 'no'\n[package]\ndescription = \"Says \\\"hi\\\".\"\n",
                Some("Says \"hi\"."),
            ),
            ("Cargo.toml", "[package]\ndescription.workspace = true\n", None),
            ("pyproject.toml", "[project]\r\ndescription='Tea'\r\n", Some("Tea")),
            ("pyproject.toml", "[tool.poetry]\ndescription = \"\"\"\nTea\nshop\"\"\"\n", Some("Tea shop")),
            ("pyproject.toml", "[project]\ndescription = \"open\n", None),
        ] {
            assert_eq!(line(name, text).as_deref(), expected, "{text}");
        }
    }
}
