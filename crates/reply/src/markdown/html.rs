//! The start and end of HTML blocks (CommonMark's seven kinds). Their contents are not parsed.

use memchr::memmem;

/// The condition that ends an HTML block.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum HtmlKind {
    /// `<script>`, `<pre>`, `<style>`, `<textarea>`, up to one of their end tags.
    Raw,
    /// Up to `-->`.
    Comment,
    /// `<?`, up to `?>`.
    Instruction,
    /// `<!X`, up to `>`.
    Declaration,
    /// `<![CDATA[`, up to `]]>`.
    CharacterData,
    /// A block-level tag, up to a blank line.
    BlockTag,
    /// Any other tag alone on its line, up to a blank line.
    LoneTag,
}

const RAW_TAGS: &[&str] = &["pre", "script", "style", "textarea"];

const BLOCK_TAGS: &[&str] = &[
    "address",
    "article",
    "aside",
    "base",
    "basefont",
    "blockquote",
    "body",
    "caption",
    "center",
    "col",
    "colgroup",
    "dd",
    "details",
    "dialog",
    "dir",
    "div",
    "dl",
    "dt",
    "fieldset",
    "figcaption",
    "figure",
    "footer",
    "form",
    "frame",
    "frameset",
    "h1",
    "h2",
    "h3",
    "h4",
    "h5",
    "h6",
    "head",
    "header",
    "hr",
    "html",
    "iframe",
    "legend",
    "li",
    "link",
    "main",
    "menu",
    "menuitem",
    "nav",
    "noframes",
    "ol",
    "optgroup",
    "option",
    "p",
    "param",
    "search",
    "section",
    "summary",
    "table",
    "tbody",
    "td",
    "tfoot",
    "th",
    "thead",
    "title",
    "tr",
    "track",
    "ul",
];

/// The kind of HTML block that a line opens; `line` has no leading space.
pub(super) fn opened_by(line: &str) -> Option<HtmlKind> {
    let rest = line.strip_prefix('<')?;
    if rest.starts_with("!--") {
        return Some(HtmlKind::Comment);
    }
    if rest.starts_with('?') {
        return Some(HtmlKind::Instruction);
    }
    if rest.starts_with("![CDATA[") {
        return Some(HtmlKind::CharacterData);
    }
    if let Some(after) = rest.strip_prefix('!') {
        return after.starts_with(|c: char| c.is_ascii_alphabetic()).then_some(HtmlKind::Declaration);
    }
    let name_part = rest.strip_prefix('/').unwrap_or(rest);
    let end = name_part.find(|c: char| !c.is_ascii_alphanumeric()).unwrap_or(name_part.len());
    let (name, after) = name_part.split_at(end);
    let ends_name = after.is_empty() || after.starts_with([' ', '\t', '\r', '>']);
    if ends_name && !rest.starts_with('/') && is_one_of(RAW_TAGS, name) {
        return Some(HtmlKind::Raw);
    }
    if (ends_name || after.starts_with("/>")) && is_one_of(BLOCK_TAGS, name) {
        return Some(HtmlKind::BlockTag);
    }
    is_lone_tag(rest).then_some(HtmlKind::LoneTag)
}

/// Whether a line ends an HTML block; also called with the opening line. For kinds that blank lines do not end.
pub(super) fn is_closed_by(kind: HtmlKind, line: &str) -> bool {
    let holds = |end: &str| memmem::find(line.as_bytes(), end.as_bytes()).is_some();
    match kind {
        HtmlKind::Raw => RAW_TAGS.iter().any(|tag| holds_end_tag(line, tag)),
        HtmlKind::Comment => holds("-->"),
        HtmlKind::Instruction => holds("?>"),
        HtmlKind::Declaration => holds(">"),
        HtmlKind::CharacterData => holds("]]>"),
        HtmlKind::BlockTag | HtmlKind::LoneTag => false,
    }
}

fn is_one_of(tags: &[&str], name: &str) -> bool {
    tags.iter().any(|tag| tag.eq_ignore_ascii_case(name))
}

fn holds_end_tag(line: &str, tag: &str) -> bool {
    memmem::find_iter(line.as_bytes(), b"</").any(|at| {
        let after = line.as_bytes().get(at + 2..).unwrap_or_default();
        after.get(..tag.len()).is_some_and(|name| name.eq_ignore_ascii_case(tag.as_bytes()))
            && after.get(tag.len()) == Some(&b'>')
    })
}

/// One complete open or closing tag, followed only by space.
fn is_lone_tag(after_angle: &str) -> bool {
    let (rest, is_end_tag) = match after_angle.strip_prefix('/') {
        Some(rest) => (rest, true),
        None => (after_angle, false),
    };
    if !rest.starts_with(|c: char| c.is_ascii_alphabetic()) {
        return false;
    }
    let mut rest = rest.trim_start_matches(|c: char| c.is_ascii_alphanumeric() || c == '-');
    loop {
        let trimmed = rest.trim_start_matches([' ', '\t', '\r']);
        if let Some(after) = trimmed.strip_prefix('>').or_else(|| trimmed.strip_prefix("/>").filter(|_| !is_end_tag)) {
            return after.bytes().all(super::cursor::is_space);
        }
        // An attribute needs a space before it, and end tags have no attributes.
        if is_end_tag || trimmed.len() == rest.len() {
            return false;
        }
        let Some(after) = skip_attribute(trimmed) else { return false };
        rest = after;
    }
}

fn skip_attribute(text: &str) -> Option<&str> {
    let is_first = |c: char| c.is_ascii_alphabetic() || c == '_' || c == ':';
    let after_name = text
        .strip_prefix(is_first)?
        .trim_start_matches(|c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | ':' | '.' | '-'));
    let Some(value) = after_name.trim_start_matches([' ', '\t', '\r']).strip_prefix('=') else {
        return Some(after_name);
    };
    let value = value.trim_start_matches([' ', '\t', '\r']);
    for quote in ['"', '\''] {
        if let Some(inner) = value.strip_prefix(quote) {
            return inner.split_once(quote).map(|(_, after)| after);
        }
    }
    let is_bare = |c: char| !matches!(c, ' ' | '\t' | '\r' | '"' | '\'' | '=' | '<' | '>' | '`');
    let after = value.trim_start_matches(is_bare);
    (after.len() < value.len()).then_some(after)
}
