//! Grammars over lines. At each line the grammars are tried in a fixed order; the first that matches consumes its lines.

mod biome;
mod bundlers;
mod columns;
mod eslint;
mod go;
mod lines;
mod miette;
mod others;
mod python;
mod rust;
mod stack;
mod tap;
mod typescript;

use crate::{Diagnostic, json};
pub(crate) use lines::Lines;

/// Tries to match at a line. Returns how many lines were consumed, or 0 if the grammar does not match.
type Grammar = fn(&Lines<'_>, usize, &mut Vec<Diagnostic>) -> usize;

/// Specific grammars come before general ones.
const GRAMMARS: &[(&str, Grammar)] = &[
    ("github", others::github),
    ("tsc", typescript::tsl),
    ("tsc", typescript::plain),
    ("tsc", typescript::pretty),
    ("next", typescript::next),
    ("svelte-check", typescript::svelte_machine),
    ("deno", typescript::deno),
    ("esbuild", bundlers::esbuild),
    ("esbuild", bundlers::esbuild_line),
    ("webpack", bundlers::webpack),
    ("rollup", bundlers::rollup),
    ("babel", bundlers::babel),
    ("biome", biome::biome),
    ("oxlint", miette::miette),
    ("rustc", rust::rustc),
    ("cargo-test", rust::panic),
    ("tap", tap::tap),
    ("pytest", python::pytest),
    ("python", python::traceback),
    ("python", python::syntax_error),
    ("go", go::panic),
    ("go", go::test),
    ("jest", stack::jest),
    ("mocha", stack::mocha),
    ("node", stack::node),
    ("node", stack::error),
    ("eslint", eslint::stylish),
    ("eslint", eslint::compact),
    ("maven", others::maven),
    ("kotlin", others::kotlin),
    ("php", others::php),
    ("ruby", others::ruby),
    ("java", others::java),
    ("gcc", columns::columns),
    ("node", stack::bare_frames),
];

pub(crate) fn names() -> impl Iterator<Item = &'static str> {
    GRAMMARS.iter().map(|(name, _)| *name).chain(columns::TOOLS.iter().copied())
}

pub(crate) fn parse(text: &str, from: Option<&str>) -> Vec<Diagnostic> {
    let lines = Lines::new(text);
    let mut found = Vec::new();
    let mut at = 0;
    while at < lines.len() {
        let line = lines.get(at);
        if line.trim().is_empty() {
            at += 1;
            continue;
        }
        // A JSON record between lines of text, as `cargo --message-format=json` and wrappers print it.
        if line.starts_with('{') {
            let before = found.len();
            json::record(line, &mut found);
            if found.len() > before {
                at += 1;
                continue;
            }
        }
        let consumed =
            GRAMMARS.iter().map(|(_, grammar)| grammar(&lines, at, &mut found)).find(|&consumed| consumed > 0);
        at += consumed.unwrap_or(1);
    }
    if let Some(tool) = from {
        let all = std::mem::take(&mut found);
        found = all.into_iter().filter(|diagnostic| diagnostic.tool == tool).collect();
    }
    found
}

/// Collapses white space, so that wrapped messages compare equal.
pub(crate) fn folded(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for word in text.split_whitespace() {
        if !out.is_empty() {
            out.push(' ');
        }
        out.push_str(word);
    }
    out
}
