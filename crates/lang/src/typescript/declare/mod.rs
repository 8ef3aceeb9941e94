//! The declarations of one file: its outline and its symbols. A pure function of name and text, for TypeScript, JavaScript and
//! the scripts of Vue, Svelte and Astro files.
//!
//! `units.rs` derives the outline from the syntax tree. `visit.rs` walks the tree; `walk.rs`, `values.rs`, `types.rs` and
//! `exports.rs` turn symbols, uses and written types into `stan_model::names`. No types are inferred, and no other file is read.

mod exports;
#[cfg(test)]
mod tests;
mod types;
mod units;
mod values;
mod visit;
mod walk;

use std::borrow::Cow;

use oxc_allocator::Allocator;
use oxc_ast::ast::Program;
use oxc_ast_visit::Visit;
use oxc_semantic::SemanticBuilder;
use oxc_span::GetSpan;
use stan_model::names::{FileNames, FileUnits};
use stan_model::outline::{LineStarts, Outline, Span};

use super::extract::blocks::{self, Block, Component};
use super::extract::nesting::stack_plan;
use super::extract::parse::{self, Syntax};
use crate::decode;
use crate::stack::{self, StackPlan};
use walk::DeclarationWalk;

/// The text of a source file; `None` for binary content. Byte offsets in outlines refer to this text.
pub fn text_of(bytes: &[u8]) -> Option<Cow<'_, str>> {
    decode::decode(bytes).text
}

/// Only the outline: about the cost of parsing. The thread must have a stack of [`super::extract::WORKER_STACK`].
pub fn outline(path: &str, text: &str) -> Outline {
    run(path, text, false).outline
}

/// The outline and the symbols. Costs about as much as parsing twice.
pub fn declare(path: &str, text: &str) -> FileUnits {
    run(path, text, true)
}

fn run(path: &str, text: &str, with_names: bool) -> FileUnits {
    let incomplete =
        || FileUnits { outline: Outline { units: Vec::new(), incomplete: true }, names: FileNames::default() };
    if u32::try_from(text.len()).is_err() {
        return incomplete();
    }
    match stack_plan(text) {
        StackPlan::CurrentThread => read(path, text, with_names),
        StackPlan::DedicatedThread(size) => {
            stack::with_stack(size, || read(path, text, with_names)).unwrap_or_else(incomplete)
        }
        StackPlan::TooDeep(_) => incomplete(),
    }
}

fn read(path: &str, text: &str, with_names: bool) -> FileUnits {
    let arena = Allocator::default();
    let lines = LineStarts::new(text);
    let mut incomplete = false;
    let mut programs = Vec::new();
    for block in blocks_of(path, text) {
        let parsed = parse::parse(&arena, block.source, block.syntax, with_names);
        incomplete |= parsed.error.is_some();
        programs.extend(parsed.program.map(|program| (block.start, program)));
    }
    let mut units = units::Units::new(text, &lines);
    for (base, program) in &programs {
        units.block(program, *base);
    }
    let outline = Outline { units: units.finish(), incomplete };
    let mut names = FileNames::default();
    if with_names {
        for (base, program) in &programs {
            let semantic = SemanticBuilder::new().with_build_nodes(false).build(program).semantic;
            let mut walk = DeclarationWalk::new(semantic.scoping(), &outline, &lines, &mut names, *base);
            walk.ambient = program.source_type.is_typescript_definition();
            walk.visit_program(program);
            walk.exports(program);
            walk.sort_exports();
            names.statements.extend(statements(&outline, program, *base));
        }
        names.uses.sort_by_key(|one| one.at);
        names.statements.sort_unstable();
    }
    FileUnits { outline, names }
}

/// The statements of a program that are not units.
fn statements(outline: &Outline, program: &Program<'_>, base: u32) -> Vec<Span> {
    let spans = program.body.iter().map(|it| Span::new(base + it.span().start, base + it.span().end));
    spans.filter(|span| outline.innermost(span.end.saturating_sub(1)).is_none()).collect()
}

fn blocks_of<'t>(path: &str, text: &'t str) -> Vec<Block<'t>> {
    match Component::of_path(path) {
        Some(component) => blocks::cut(component, text),
        None => {
            let whole = Syntax::of_path(path).map(|syntax| Block { start: 0, source: text, syntax, external: None });
            whole.into_iter().collect()
        }
    }
}
