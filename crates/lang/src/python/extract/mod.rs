//! Extraction: the bytes of one file → `FileFacts` and problems. A pure function of the bytes and the file name's extension.
//!
//! Every form of import adds requests. All module-level names are exported, so that tunnelling can follow names through packages
//! to their definitions. Nothing is resolved, and no other file is read.

pub(super) mod bindings;
mod collect;
mod resources;
mod scan;
#[cfg(test)]
mod tests;
mod visit;

use ruff_python_ast::{Expr, ModModule, Stmt};
use stan_model::{FileFacts, FileProblem};

use self::collect::Collector;
use super::{is_stub, parse};
use crate::language::{ExtractOptions, Extraction};
use crate::line_counter::LineCounter;
use crate::prose;

pub fn extract(path: &str, bytes: &[u8], options: &ExtractOptions) -> Extraction {
    let (text, problem) = parse::text_of(bytes);
    let mut extraction = text.map(|text| of_text(path, &text, options)).unwrap_or_default();
    if let Some(problem) = problem {
        extraction.problems.insert(0, FileProblem::new(problem));
        extraction.incomplete = true;
    }
    extraction
}

/// Only parses the file, like [`extract`]: a lower bound to measure extraction against. The result depends on the whole tree, so
/// that the work is not optimised away.
pub fn parse_only(path: &str, bytes: &[u8]) -> usize {
    let Some(text) = parse::text_of(bytes).0 else { return 0 };
    parse::with_room(&text, || parse::parse(path, &text).syntax().body.len()).unwrap_or(0)
}

fn of_text(path: &str, text: &str, options: &ExtractOptions) -> Extraction {
    parse::with_room(text, || parsed(path, text, options)).unwrap_or_else(|reason| {
        let mut found = Collector::default();
        scan::scan(text, is_stub(path), &mut found);
        let problems = vec![FileProblem::new(format!("{reason}; it was searched for import forms instead"))];
        Extraction { facts: found.finish(text), problems, incomplete: true }
    })
}

fn parsed(path: &str, text: &str, options: &ExtractOptions) -> Extraction {
    let tree = parse::parse(path, text);
    let mut found = Collector::default();
    visit::walk(&mut found, tree.syntax(), text, is_stub(path));
    let description = description(tree.syntax(), options);
    let error = parse::error(&tree);
    // Drop the tree before facts are allocated: see `collect.rs`.
    drop(tree);
    let facts = FileFacts { description, ..found.finish(text) };
    let mut extraction = Extraction { facts, ..Extraction::default() };
    if let Some(error) = error {
        let more = if error.more == 0 { String::new() } else { format!(" (and {} more)", error.more) };
        let line = LineCounter::new(text).line_at(error.position);
        let message = format!("does not parse: {}{more}; what could be read of the file counts", error.message);
        extraction.problems.push(FileProblem::at(line, message));
        extraction.incomplete = true;
    }
    extraction
}

/// The module's description: the first paragraph of its docstring.
fn description(module: &ModModule, options: &ExtractOptions) -> Option<Box<str>> {
    let Some(Stmt::Expr(first)) = module.body.first() else { return None };
    let Expr::StringLiteral(literal) = &*first.value else { return None };
    let text = literal.value.to_str().trim_start();
    let paragraph = text.split("\n\n").next().unwrap_or_default();
    let plain = prose::plain_text(paragraph);
    (!plain.is_empty()).then(|| prose::cut(&plain, options.description_limit))
}
