//! The code in Vue, Svelte and Astro files: their `<script>` elements and Astro's frontmatter. The markup around them is skipped
//! by HTML's own rules for tags, comments and raw text; templates are not parsed.

use std::ops::Range;

use stan_model::split_extension;

use super::parse::Syntax;

/// A file format that contains scripts between markup.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::typescript) enum Component {
    Vue,
    Svelte,
    Astro,
}

impl Component {
    pub(in crate::typescript) fn of_path(path: &str) -> Option<Self> {
        match split_extension(path)?.1 {
            "vue" => Some(Self::Vue),
            "svelte" => Some(Self::Svelte),
            "astro" => Some(Self::Astro),
            _ => None,
        }
    }
}

/// A block of code in a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::typescript) struct Block<'t> {
    /// The start of `source` in the file.
    pub(in crate::typescript) start: u32,
    pub(in crate::typescript) source: &'t str,
    pub(in crate::typescript) syntax: Syntax,
    /// The value of `<script src>` and its position.
    pub(in crate::typescript) external: Option<(u32, &'t str)>,
}

/// The blocks of a component file, in source order.
pub(in crate::typescript) fn cut(component: Component, text: &str) -> Vec<Block<'_>> {
    let mut blocks = Vec::new();
    let mut at = 0;
    if component == Component::Astro
        && let Some((start, source)) = frontmatter(text)
    {
        blocks.push(Block { start: start as u32, source, syntax: Syntax::TypeScriptJsx, external: None });
        at = start + source.len() + 3;
    }
    // Raw text ends at the first closing tag, even if that is in a string: `"</script>"`.
    while let Some(tag) = next_tag(text, at) {
        at = tag.end;
        let raw = ["script", "style"].into_iter().find(|name| tag.name.eq_ignore_ascii_case(name));
        let Some(raw) = raw.filter(|_| !tag.closed) else { continue };
        let end = closing_tag(text, at, raw);
        if raw == "script" && tag.is_code() {
            let source = text.get(at..end).unwrap_or_default();
            let syntax = tag.syntax(component);
            blocks.push(Block { start: at as u32, source, syntax, external: tag.external() });
        }
        at = end;
    }
    blocks
}

/// The text between the `---` lines at the top of an Astro file, and its start.
fn frontmatter(text: &str) -> Option<(usize, &str)> {
    let open = text.find("---")?;
    if !text.get(..open)?.trim().is_empty() {
        return None;
    }
    let start = open + 3;
    let rest = text.get(start..)?;
    // The closing fence is at the start of a line; dashes in the code (`x---y`, strings) usually are not.
    let end = rest.match_indices("---").map(|(at, _)| at).find(|&at| {
        let line = rest.get(..at).and_then(|before| before.rsplit('\n').next()).unwrap_or_default();
        line.trim().is_empty()
    })?;
    Some((start, rest.get(..end)?))
}

struct Tag<'t> {
    name: &'t str,
    attributes: Vec<Attribute<'t>>,
    /// The position after the `>`.
    end: usize,
    /// `<script … />`, or a closing tag.
    closed: bool,
}

/// An attribute, and the position of its value.
struct Attribute<'t> {
    name: &'t str,
    value: &'t str,
    position: usize,
}

impl<'t> Tag<'t> {
    fn attribute(&self, name: &str) -> Option<&Attribute<'t>> {
        self.attributes.iter().find(|attribute| attribute.name.eq_ignore_ascii_case(name))
    }

    /// Elements with a `type` that does not mean code (JSON, templates, import maps) are data.
    fn is_code(&self) -> bool {
        let is_code = |kind: &str| {
            let kind = kind.to_ascii_lowercase();
            kind.is_empty() || kind == "module" || kind.contains("script") || kind == "text/babel" || kind == "ts"
        };
        self.attribute("type").is_none_or(|attribute| is_code(attribute.value))
    }

    fn syntax(&self, component: Component) -> Syntax {
        let language = self.attribute("lang").map(|attribute| attribute.value.to_ascii_lowercase());
        match language.as_deref() {
            Some("ts" | "typescript") => Syntax::TypeScript,
            Some("tsx") => Syntax::TypeScriptJsx,
            // Astro compiles every script as TypeScript.
            None if component == Component::Astro => Syntax::TypeScript,
            _ => Syntax::JavaScript,
        }
    }

    /// The file of this repository that `src` names, and the position of the value.
    fn external(&self) -> Option<(u32, &'t str)> {
        let &Attribute { value: source, position, .. } = self.attribute("src")?;
        let is_local = !source.is_empty() && !source.contains("://") && !source.starts_with("//");
        is_local.then_some((position as u32, source))
    }
}

/// The next opening tag at or after a position; skips comments and closing tags.
fn next_tag(text: &str, from: usize) -> Option<Tag<'_>> {
    let mut at = from;
    loop {
        at += memchr::memchr(b'<', text.as_bytes().get(at..)?)?;
        let rest = text.get(at..)?;
        if rest.starts_with("<!--") {
            at += rest.find("-->").map_or(rest.len(), |end| end + 3);
        } else if rest.as_bytes().get(1).is_some_and(u8::is_ascii_alphabetic) {
            return Some(tag_at(text, at));
        } else {
            at += 1;
        }
    }
}

/// The tag that starts at a position.
fn tag_at(text: &str, at: usize) -> Tag<'_> {
    let bytes = text.as_bytes();
    let skip = |mut at: usize, stop: fn(u8) -> bool| {
        while bytes.get(at).is_some_and(|byte| !stop(*byte)) {
            at += 1;
        }
        at
    };
    let name_end = skip(at + 1, |byte| byte.is_ascii_whitespace() || matches!(byte, b'>' | b'/'));
    let mut tag =
        Tag { name: text.get(at + 1..name_end).unwrap_or_default(), attributes: Vec::new(), end: 0, closed: false };
    let mut at = name_end;
    loop {
        at = skip(at, |byte| !byte.is_ascii_whitespace());
        match bytes.get(at) {
            None => break,
            Some(b'>') => {
                at += 1;
                break;
            }
            Some(b'/') => {
                tag.closed = bytes.get(at + 1) == Some(&b'>');
                at += 1;
                continue;
            }
            Some(_) => {}
        }
        let name_start = at;
        at = skip(at + 1, |byte| byte.is_ascii_whitespace() || matches!(byte, b'=' | b'>' | b'/'));
        let name = text.get(name_start..at).unwrap_or_default();
        let mut range = at..at;
        let equals = skip(at, |byte| !byte.is_ascii_whitespace());
        if bytes.get(equals) == Some(&b'=') {
            (range, at) = attribute_value(bytes, skip(equals + 1, |byte| !byte.is_ascii_whitespace()));
        }
        let position = range.start;
        tag.attributes.push(Attribute { name, value: text.get(range).unwrap_or_default(), position });
    }
    tag.end = at;
    tag
}

/// The range of an attribute's value, and the position to continue at. Svelte's and Astro's `{…}` is a value too.
fn attribute_value(bytes: &[u8], at: usize) -> (Range<usize>, usize) {
    let until = |from: usize, stop: &dyn Fn(u8) -> bool| {
        let rest = bytes.get(from..).unwrap_or_default();
        from + rest.iter().position(|byte| stop(*byte)).unwrap_or(rest.len())
    };
    match bytes.get(at) {
        Some(quote @ (b'"' | b'\'')) => {
            let end = until(at + 1, &|byte| byte == *quote);
            // An unclosed quote extends to the end of the file.
            (at + 1..end, (end + 1).min(bytes.len()))
        }
        Some(b'{') => {
            let end = closing_brace(bytes, at);
            (end..end, end)
        }
        _ => {
            let end = until(at, &|byte| byte.is_ascii_whitespace() || byte == b'>');
            (at..end, end)
        }
    }
}

/// The position after the closing brace of the one at `at`; the end of the text if there is none.
fn closing_brace(bytes: &[u8], at: usize) -> usize {
    let mut depth = 0_usize;
    for (offset, byte) in bytes.get(at..).unwrap_or_default().iter().enumerate() {
        match byte {
            b'{' => depth += 1,
            b'}' => depth = depth.saturating_sub(1),
            _ => {}
        }
        if depth == 0 {
            return at + offset + 1;
        }
    }
    bytes.len()
}

/// The position of the next `</name`, in any case; the end of the text if there is none.
fn closing_tag(text: &str, from: usize, name: &str) -> usize {
    let bytes = text.as_bytes();
    let mut at = from;
    while let Some(offset) = memchr::memmem::find(bytes.get(at..).unwrap_or_default(), b"</") {
        at += offset;
        let after = at + 2 + name.len();
        let is_name = bytes.get(at + 2..after).is_some_and(|found| found.eq_ignore_ascii_case(name.as_bytes()));
        let ends = bytes.get(after).is_none_or(|byte| byte.is_ascii_whitespace() || matches!(byte, b'>' | b'/'));
        if is_name && ends {
            return at;
        }
        at += 2;
    }
    text.len()
}
