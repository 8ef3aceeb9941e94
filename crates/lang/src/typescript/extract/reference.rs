//! `/// <reference path="…" />` and `types="…"`: TypeScript's directives in the comments before the first token.

use oxc_ast::ast::{CommentKind, Program};
use stan_model::EdgeKind;

use super::collect::Collector;
use crate::typescript::form::{Form, ModuleSystem};

pub(super) fn references<'a>(program: &Program<'a>, found: &mut Collector<'a>) {
    let text = program.source_text;
    let mut end = program.hashbang.as_ref().map_or(0, |hashbang| hashbang.span.end);
    for comment in &program.comments {
        // The head of the file ends at the first comment with code before it.
        let between = text.get(end as usize..comment.span.start as usize);
        if between.is_none_or(|between| !between.trim_start_matches('\u{FEFF}').trim().is_empty()) {
            return;
        }
        end = comment.span.end;
        if comment.kind == CommentKind::Line
            && let Some(line) = text.get(comment.span.start as usize..end as usize)
        {
            reference(line, comment.span.start, found);
        }
    }
}

/// As above, for a text without a syntax tree.
pub(super) fn references_in_text<'a>(text: &'a str, found: &mut Collector<'a>) {
    let mut at = if text.starts_with("#!") { text.find('\n').unwrap_or(text.len()) } else { 0 };
    while let Some(rest) = text.get(at..) {
        let comment = rest.trim_start_matches(|character: char| character.is_whitespace() || character == '\u{FEFF}');
        at += rest.len() - comment.len();
        let length = if comment.starts_with("//") {
            let line = comment.split(['\n', '\r']).next().unwrap_or(comment);
            reference(line, at as u32, found);
            line.len()
        } else if let Some(inside) = comment.strip_prefix("/*") {
            inside.find("*/").map_or(comment.len(), |end| end + 4)
        } else {
            return;
        };
        at += length;
    }
}

/// Parses one `///` comment by TypeScript's own pattern: `///`, white space, `<reference`, white space, anything, `/>`; attribute
/// names in any case.
fn reference<'a>(line: &'a str, position: u32, found: &mut Collector<'a>) {
    let Some(tag) = line.strip_prefix("///").map(str::trim_start) else { return };
    let Some(rest) = tag.strip_prefix('<') else { return };
    let Some((name, _)) = rest.split_once(char::is_whitespace) else { return };
    let Some(arguments) = rest.get(name.len()..) else { return };
    let Some((arguments, _)) = arguments.split_once("/>") else { return };
    if !name.eq_ignore_ascii_case("reference") || attribute(arguments, "no-default-lib") == Some("true") {
        return;
    }
    if let Some(types) = attribute(arguments, "types") {
        let mode = match attribute(arguments, "resolution-mode") {
            Some("import") => Some(ModuleSystem::Import),
            Some("require") => Some(ModuleSystem::Require),
            _ => None,
        };
        found.request(position, types, EdgeKind::Type, Form::ReferenceTypes, mode);
    } else if attribute(arguments, "lib").is_none()
        && let Some(path) = attribute(arguments, "path")
    {
        found.request(position, path, EdgeKind::Type, Form::ReferencePath, None);
    }
}

/// The value of ` name = "value"`, with the name after white space and in any case.
fn attribute<'a>(arguments: &'a str, name: &str) -> Option<&'a str> {
    let lower = arguments.to_ascii_lowercase();
    lower.match_indices(name).find_map(|(at, _)| {
        if !arguments.get(..at)?.ends_with(char::is_whitespace) {
            return None;
        }
        let value = arguments.get(at + name.len()..)?.trim_start().strip_prefix('=')?.trim_start();
        let quote = value.chars().next().filter(|quote| matches!(quote, '"' | '\''))?;
        value.get(1..)?.split_once(quote).map(|(value, _)| value)
    })
}
