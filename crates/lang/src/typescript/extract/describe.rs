//! One line about a module, from the doc comment that carries a configured tag.
//!
//! The prose of such a comment is all text before its first block tag, or, if there is none, the lines that follow
//! the configured tag's own line up to the next block tag (TypeDoc's habit: what stands beside `@module` on its line
//! is the module's name). `@packageDocumentation` has no name, so that text beside it is prose too.

use oxc_ast::ast::Program;
use stan_model::untrusted::cleaned_prose;

use super::ExtractOptions;
use super::jsdoc;

/// Prose is read as far as this: enough for any limit, and the time for markup without an end stays small.
const LONGEST_PROSE: usize = 8 * 1024;

/// The longest description that a comment gives; of equally long ones, that of the earlier tag.
pub(super) fn description(program: &Program<'_>, options: &ExtractOptions) -> Option<Box<str>> {
    let tags = &options.description_tags;
    let occurs = |text: &str| {
        let starts = |at: usize| tags.iter().any(|tag| text.get(at..).is_some_and(|rest| rest.starts_with(&**tag)));
        memchr::memchr_iter(b'@', text.as_bytes()).any(starts)
    };
    let mut best: Option<(usize, usize, String)> = None;
    for comment in &program.comments {
        let Some((_, content)) = jsdoc::content(program.source_text, comment) else { continue };
        if !occurs(content) {
            continue;
        }
        for (order, tag) in options.description_tags.iter().enumerate() {
            let Some(prose) = prose(content, tag) else { continue };
            let length = prose.chars().count();
            let better = best
                .as_ref()
                .is_none_or(|(longest, earlier, _)| length > *longest || (length == *longest && order < *earlier));
            if length > 0 && better {
                best = Some((length, order, prose));
            }
        }
    }
    best.map(|(_, _, prose)| cut(&prose, options.description_limit))
}

/// The prose of a doc comment that carries the tag, on one line; `None` when it does not carry it.
fn prose(content: &str, tag: &str) -> Option<String> {
    let sections = sections(content);
    let tagged = sections.iter().find(|section| section.tag == tag)?;
    let summary = sections.first().filter(|section| section.tag.is_empty()).map_or("", |section| &section.text);
    let summary = plain_text(summary);
    if !summary.is_empty() {
        return Some(summary);
    }
    let beside_is_name = tag == "@module";
    let body = match tagged.text.split_once('\n') {
        Some((_, below)) if beside_is_name => below,
        None if beside_is_name => "",
        _ => &tagged.text,
    };
    Some(plain_text(body))
}

/// A block tag and what follows it up to the next one. The first section has no tag.
struct Section<'a> {
    tag: &'a str,
    text: String,
}

/// Splits a doc comment at its block tags: `@name` at the start of a line, or after white space (so that
/// `/** Prose. @module */` has one), but not inside backticks, braces or a fenced code block.
fn sections(content: &str) -> Vec<Section<'_>> {
    let mut sections = vec![Section { tag: "", text: String::new() }];
    let mut fenced = false;
    for (number, line) in content.lines().enumerate() {
        let line = line.trim_start();
        let line = if number > 0 || content.starts_with('*') { line.strip_prefix('*').unwrap_or(line) } else { line };
        if line.trim_start().starts_with("```") {
            fenced = !fenced;
            continue;
        }
        if fenced {
            continue;
        }
        let mut rest = line;
        while let Some((before, tag, after)) = next_tag(rest) {
            push(&mut sections, before);
            sections.push(Section { tag, text: String::new() });
            rest = after;
        }
        push(&mut sections, rest);
        push(&mut sections, "\n");
    }
    sections
}

fn push(sections: &mut [Section<'_>], text: &str) {
    if let Some(last) = sections.last_mut() {
        last.text.push_str(text);
    }
}

/// The first block tag of a line: what is before it, the tag with its `@`, and what is after it.
fn next_tag(line: &str) -> Option<(&str, &str, &str)> {
    let (mut in_backticks, mut braces, mut after_space) = (false, 0_u32, true);
    for (at, character) in line.char_indices() {
        match character {
            '`' => in_backticks = !in_backticks,
            '{' => braces += 1,
            '}' => braces = braces.saturating_sub(1),
            '@' if after_space && !in_backticks && braces == 0 => {
                let name = line.get(at + 1..)?;
                let length = name.find(|c: char| !c.is_ascii_alphanumeric() && !"_-".contains(c)).unwrap_or(name.len());
                // `@scope/package` and `@ home` are words, not tags.
                let follows = name.get(length..)?.chars().next();
                if length > 0 && follows.is_none_or(char::is_whitespace) {
                    return Some((line.get(..at)?, line.get(at..at + 1 + length)?, name.get(length..)?));
                }
            }
            _ => {}
        }
        after_space = character.is_whitespace();
    }
    None
}

/// Markup reduced to its text, white space folded.
fn plain_text(text: &str) -> String {
    let end = text.char_indices().map(|(at, _)| at).find(|at| *at >= LONGEST_PROSE).unwrap_or(text.len());
    let text = text.get(..end).unwrap_or(text);
    let mut plain = String::with_capacity(text.len());
    let (mut rest, mut before) = (text, ' ');
    while let Some(character) = rest.chars().next() {
        let (shown, length) = inline(rest, character, before);
        plain.push_str(shown);
        before = character;
        rest = rest.get(length.max(1)..).unwrap_or_default();
    }
    // Assistants read descriptions: what a person would not see must not be in them either.
    plain.split_whitespace().map(cleaned_prose).filter(|word| !word.is_empty()).collect::<Vec<_>>().join(" ")
}

/// What the start of `rest` shows as, and how many bytes of it that covers.
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
        '*' if rest.starts_with("**") => ("", 2),
        '*' | '_' if !before.is_alphanumeric() => emphasis(rest, character).unwrap_or_else(whole),
        _ => whole(),
    }
}

/// `` `code` ``, also with more backticks around it.
fn code(rest: &str) -> Option<(&str, usize)> {
    let inner = rest.trim_start_matches('`');
    let fence = rest.get(..rest.len() - inner.len())?;
    let (code, _) = inner.split_once(fence)?;
    Some((code, code.len() + 2 * fence.len()))
}

/// `*text*` or `_text_` within a line.
fn emphasis(rest: &str, marker: char) -> Option<(&str, usize)> {
    let (text, after) = rest.get(1..)?.split_once(marker)?;
    let tight = !text.is_empty() && !text.starts_with(char::is_whitespace) && !text.ends_with(char::is_whitespace);
    let ends = !after.starts_with(|next: char| next.is_alphanumeric() || next == marker);
    (tight && ends && !text.contains('\n')).then_some((text, text.len() + 2))
}

/// At most `limit` characters, then `...`. Marks that belong to the last character are not torn from it.
fn cut(text: &str, limit: usize) -> Box<str> {
    let Some((end, next)) = text.char_indices().nth(limit) else { return text.into() };
    let mut kept = text.get(..end).unwrap_or_default();
    if joins_previous(next) || kept.ends_with('\u{200D}') {
        kept = kept.trim_end_matches(joins_previous);
        kept = kept.char_indices().next_back().map_or(kept, |(at, _)| kept.get(..at).unwrap_or(kept));
    }
    format!("{}...", kept.trim_end()).into()
}

/// Combining marks, variation selectors, joiners and skin tones: never the start of what a reader calls a character.
fn joins_previous(character: char) -> bool {
    matches!(character,
        '\u{300}'..='\u{36F}' | '\u{1AB0}'..='\u{1AFF}' | '\u{1DC0}'..='\u{1DFF}' | '\u{200D}' | '\u{20D0}'..='\u{20FF}'
        | '\u{FE00}'..='\u{FE0F}' | '\u{FE20}'..='\u{FE2F}' | '\u{1F3FB}'..='\u{1F3FF}' | '\u{E0100}'..='\u{E01EF}')
}
