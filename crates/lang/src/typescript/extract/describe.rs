//! A one-line description of a module, from the doc comment with a configured tag. If there is none, the first sentence of the
//! doc comment at the start of the file, or else of the one on its main or only export.
//!
//! The prose of a tagged comment is the text before its first block tag. If that is empty, it is the lines after the configured
//! tag's own line, up to the next block tag: in TypeDoc, text on the line of `@module` is the module's name.
//! `@packageDocumentation` takes no name, so text on its line is prose too.

use oxc_ast::ast::{Program, Statement};
use oxc_span::GetSpan;

use super::ExtractOptions;
use super::jsdoc;
use crate::prose::{cut, plain_text};

/// The longest description in any comment; of equally long ones, that of the earlier tag.
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
    let untagged = || untagged(program).map(first_sentence);
    let prose = best.map(|(_, _, prose)| prose).or_else(untagged).filter(|prose| !prose.is_empty())?;
    Some(cut(&prose, options.description_limit))
}

/// For each tag, the longest prose of a doc comment that carries it.
pub(super) fn tagged(program: &Program<'_>, tags: &[String], found: &mut [Option<String>]) {
    let contents = program.comments.iter().filter_map(|comment| jsdoc::content(program.source_text, comment));
    for (_, content) in contents {
        for (tag, best) in tags.iter().zip(&mut *found) {
            let Some(prose) = prose(content, tag) else { continue };
            if best.as_ref().is_none_or(|best| prose.chars().count() > best.chars().count()) {
                *best = Some(prose);
            }
        }
    }
}

/// The description in a file's comments before its first token, found without a parser.
pub(in crate::typescript) fn leading_description(text: &str, options: &ExtractOptions) -> Option<Box<str>> {
    let mut plain: Option<String> = None;
    for content in leading_comments(text) {
        let tagged = options.description_tags.iter().filter_map(|tag| prose(content, tag)).find(|it| !it.is_empty());
        if let Some(prose) = tagged {
            return Some(cut(&prose, options.description_limit));
        }
        if plain.is_none() && is_prose(content) {
            plain = Some(first_sentence(content)).filter(|prose| !prose.is_empty());
        }
    }
    plain.map(|prose| cut(&prose, options.description_limit))
}

/// The doc comments before the first token; directives such as `'use strict'` are skipped.
fn leading_comments(text: &str) -> impl Iterator<Item = &str> {
    let mut rest = text.strip_prefix('\u{feff}').unwrap_or(text);
    if rest.starts_with("#!") {
        rest = rest.split_once('\n').map_or("", |(_, rest)| rest);
    }
    std::iter::from_fn(move || {
        loop {
            rest = rest.trim_start_matches(|c: char| c.is_whitespace() || c == ';');
            if let Some(after) = rest.strip_prefix("//") {
                rest = after.split_once('\n').map_or("", |(_, rest)| rest);
            } else if let Some(after) = rest.strip_prefix("/*") {
                let (comment, after) = after.split_once("*/")?;
                rest = after;
                if let Some(content) = comment.strip_prefix('*') {
                    return Some(content);
                }
            } else {
                let quote = rest.chars().next().filter(|c| matches!(c, '"' | '\''))?;
                let (directive, after) = rest.get(1..)?.split_once(quote)?;
                if !directive.starts_with("use ") {
                    return None;
                }
                rest = after;
            }
        }
    })
}

/// The doc comment that describes a module without a tag.
fn untagged<'s>(program: &Program<'s>) -> Option<&'s str> {
    let text = program.source_text;
    let first = program.directives.first().map(|it| it.span.start).into_iter();
    let first = first.chain(program.body.first().map(|it| it.span().start)).min().unwrap_or(u32::MAX);
    let comments = || program.comments.iter().filter_map(|comment| Some((comment, jsdoc::content(text, comment)?.1)));
    let mut leading = comments().take_while(|(comment, _)| comment.span.end <= first);
    if let Some((_, content)) = leading.find(|(_, content)| is_prose(content)) {
        return Some(content);
    }
    let export = main_export(program)?;
    let is_on_export =
        |end: u32| text.get(end as usize..export as usize).is_some_and(|between| between.trim().is_empty());
    let mut before = comments().filter(|(comment, _)| is_on_export(comment.span.end));
    before.find(|(_, content)| is_prose(content)).map(|(_, content)| content)
}

/// The start of the default export, or of the only export.
fn main_export(program: &Program<'_>) -> Option<u32> {
    let is_export = |statement: &&Statement<'_>| {
        matches!(
            statement,
            Statement::ExportDeclaration(_)
                | Statement::ExportNamedDeclaration(_)
                | Statement::ExportDefaultDeclaration(_)
        )
    };
    let mut exports = program.body.iter().filter(is_export);
    let default = program.body.iter().find(|it| matches!(it, Statement::ExportDefaultDeclaration(_)));
    let only = exports.next().filter(|_| exports.next().is_none());
    default.or(only).map(|statement| statement.span().start)
}

/// Whether a comment has prose about the code: licences and settings of tools do not count.
fn is_prose(content: &str) -> bool {
    const NOT_PROSE: [&str; 6] = ["@license", "@licence", "@preserve", "@copyright", "Copyright", "SPDX-License"];
    let summary = content.split('@').next().unwrap_or(content);
    summary.bytes().any(|byte| byte.is_ascii_alphabetic() || byte >= 0x80)
        && !NOT_PROSE.iter().any(|word| content.contains(word))
}

/// The first sentence of the text before the first block tag, on one line.
fn first_sentence(content: &str) -> String {
    let sections = sections(content);
    let summary = sections.first().map_or("", |section| section.text.as_str()).trim_start();
    let paragraph = summary.lines().take_while(|line| !line.trim().is_empty());
    let text = plain_text(&paragraph.collect::<Vec<_>>().join("\n"));
    let ends = text.char_indices().filter(|(_, character)| matches!(character, '.' | '!' | '?'));
    // `e.g. this` does not end a sentence: the next one must not start with a lower-case letter.
    let is_end = |at: usize| {
        let after = text.get(at + 1..).unwrap_or_default();
        after.is_empty() || after.strip_prefix(' ').is_some_and(|next| !next.starts_with(char::is_lowercase))
    };
    let end = ends.map(|(at, _)| at).find(|at| is_end(*at)).map_or(text.len(), |at| at + 1);
    text.get(..end).unwrap_or(&text).to_owned()
}

/// The prose of a doc comment with the tag, on one line; `None` if it does not carry the tag.
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

/// A block tag and the text up to the next one. The first section has no tag.
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

/// The first block tag of a line: the text before it, the tag with its `@`, and the text after it.
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
                // In `@scope/package` and `@ home`, the `@` starts no tag.
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
