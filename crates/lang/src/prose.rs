//! Prose of comments and documents as one line of plain text, for descriptions of modules. Every language uses it.

use stan_model::untrusted::cleaned_prose;

/// Only this much of a text is read. Enough for any description limit, and it bounds the time for unterminated markup.
const MAX_PROSE_BYTES: usize = 8 * 1024;

/// Replaces markup by its text and collapses white space.
pub(crate) fn plain_text(text: &str) -> String {
    let end = text.char_indices().map(|(at, _)| at).find(|at| *at >= MAX_PROSE_BYTES).unwrap_or(text.len());
    let text = text.get(..end).unwrap_or(text);
    let mut plain = String::with_capacity(text.len());
    let (mut rest, mut before) = (text, ' ');
    while let Some(character) = rest.chars().next() {
        let (shown, length) = inline(rest, character, before);
        plain.push_str(shown);
        before = character;
        rest = rest.get(length.max(1)..).unwrap_or_default();
    }
    // Assistants read descriptions: text that a person would not see must not be in them.
    plain.split_whitespace().map(cleaned_prose).filter(|word| !word.is_empty()).collect::<Vec<_>>().join(" ")
}

/// The rendered text of the markup at the start of `rest`, and its length in `rest` in bytes.
fn inline(rest: &str, character: char, before: char) -> (&str, usize) {
    let whole = || (rest.get(..character.len_utf8()).unwrap_or_default(), character.len_utf8());
    match character {
        // {@link target|text}, {@link target text}, {@inheritDoc x}
        '{' if rest.starts_with("{@") => match rest.split_once('}') {
            Some((link, _)) => {
                let body = link.split_once(char::is_whitespace).map_or("", |(_, body)| body.trim());
                let text = body
                    .split_once('|')
                    .or_else(|| body.split_once(char::is_whitespace))
                    .map_or(body, |(_, text)| text);
                (text.trim(), link.len() + 1)
            }
            None => whole(),
        },
        // ![alt](url) and [text](url)
        '!' if rest.starts_with("![") => ("", 1),
        '[' => match rest.split_once("](") {
            Some((text, after)) if !text.contains('\n') && text.matches('[').count() == 1 => {
                match after.split_once(')') {
                    Some((url, _)) => (text.get(1..).unwrap_or_default(), text.len() + 2 + url.len() + 1),
                    None => whole(),
                }
            }
            _ => whole(),
        },
        '`' => code(rest).unwrap_or_else(whole),
        '*' if rest.starts_with("**") => strong(rest, before).unwrap_or((rest.get(..2).unwrap_or_default(), 2)),
        '*' | '_' if !before.is_alphanumeric() => emphasis(rest, character).unwrap_or_else(whole),
        _ => whole(),
    }
}

/// `` `code` ``, also with several backticks as delimiters.
fn code(rest: &str) -> Option<(&str, usize)> {
    let inner = rest.trim_start_matches('`');
    let fence = rest.get(..rest.len() - inner.len())?;
    let (code, _) = inner.split_once(fence)?;
    Some((code, code.len() + 2 * fence.len()))
}

/// `**text**`. In `src/**` and `a ** b` the stars are literal.
fn strong(rest: &str, before: char) -> Option<(&str, usize)> {
    let (text, after) = rest.get(2..)?.split_once("**")?;
    let tight = !text.is_empty() && !text.starts_with(char::is_whitespace) && !text.ends_with(char::is_whitespace);
    let starts = before.is_whitespace() || matches!(before, '(' | '[' | '"' | '\'');
    let ends = !after.starts_with(|next: char| next.is_alphanumeric() || matches!(next, '/' | '*' | '`'));
    (tight && starts && ends).then_some((text, text.len() + 4))
}

/// `*text*` or `_text_` within a line.
fn emphasis(rest: &str, marker: char) -> Option<(&str, usize)> {
    let (text, after) = rest.get(1..)?.split_once(marker)?;
    let tight = !text.is_empty() && !text.starts_with(char::is_whitespace) && !text.ends_with(char::is_whitespace);
    let ends = !after.starts_with(|next: char| next.is_alphanumeric() || next == marker);
    (tight && ends && !text.contains('\n')).then_some((text, text.len() + 2))
}

/// At most `limit` characters, then `...`. Never separates a combining mark from its base character.
pub(crate) fn cut(text: &str, limit: usize) -> Box<str> {
    let Some((end, next)) = text.char_indices().nth(limit) else { return text.into() };
    let mut kept = text.get(..end).unwrap_or_default();
    if joins_previous(next) || kept.ends_with('\u{200D}') {
        kept = kept.trim_end_matches(joins_previous);
        kept = kept.char_indices().next_back().map_or(kept, |(at, _)| kept.get(..at).unwrap_or(kept));
    }
    format!("{}...", kept.trim_end()).into()
}

/// Combining marks, variation selectors, joiners and skin tones: these never start a grapheme cluster.
fn joins_previous(character: char) -> bool {
    matches!(character,
        '\u{300}'..='\u{36F}' | '\u{1AB0}'..='\u{1AFF}' | '\u{1DC0}'..='\u{1DFF}' | '\u{200D}' | '\u{20D0}'..='\u{20FF}'
        | '\u{FE00}'..='\u{FE0F}' | '\u{FE20}'..='\u{FE2F}' | '\u{1F3FB}'..='\u{1F3FF}' | '\u{E0100}'..='\u{E01EF}')
}
