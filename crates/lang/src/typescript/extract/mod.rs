//! Extraction: the bytes of one file → `FileFacts` and problems. A pure function of the bytes and the file name's extension.
//!
//! Nothing is resolved, and no other file is read. Any bytes give facts; damage adds a problem that says what was wrong and what
//! was done instead.

pub(super) mod blocks;
mod calls;
mod collect;
mod describe;
mod functions;
mod jsdoc;
pub(super) mod nesting;
pub(super) mod parse;
mod reference;
mod scan;
#[cfg(test)]
mod tests;
mod visit;
mod walk_scope;

pub(in crate::typescript) use self::describe::leading_description;
use oxc_allocator::Allocator;
use oxc_ast::ast::Program;
use stan_model::{EdgeKind, FileProblem};

use self::blocks::{Block, Component};
use self::collect::{Collector, Spare};
use self::nesting::stack_plan;
use self::parse::Syntax;
use self::walk_scope::WalkScope;
use crate::decode;
use crate::language::{ExtractOptions, Extraction};
use crate::line_counter::LineCounter;
use crate::stack::{self, StackPlan};
use crate::typescript::form::Form;

/// Larger arenas are freed after the file that needed them.
const MAX_KEPT_ARENA: usize = 64 << 20;

/// The size of the syntax tree of dense code, in bytes per byte of text. An arena of that size holds the tree in one chunk, which
/// the next file reuses; an arena that grows in chunks keeps only the last one. Only touched pages take memory.
const TREE_PER_BYTE: usize = 12;

/// Extracts facts, one file after the other. Keep one per thread: it reuses its memory.
///
/// The thread must have a stack of at least [`stack::WORKER_STACK`] bytes, or must declare its size with
/// [`stack::set_stack_size`].
#[derive(Default)]
pub struct Extractor {
    arena: Allocator,
    spare: Spare,
}

/// Whether the file name is that of source code which extraction reads.
pub fn is_analysed(path: &str) -> bool {
    Syntax::of_path(path).is_some() || Component::of_path(path).is_some()
}

/// The blocks of code in a component file with their starts, for the fuzz targets in `fuzz/`.
#[doc(hidden)]
pub fn script_blocks<'t>(path: &str, text: &'t str) -> Vec<(usize, &'t str)> {
    let blocks = Component::of_path(path).map(|component| blocks::cut(component, text)).unwrap_or_default();
    blocks.iter().map(|block| (block.start as usize, block.source)).collect()
}

/// See `Language::tagged_prose`. A text that is nested too deeply to be parsed has no comments.
pub(in crate::typescript) fn tagged_prose(path: &str, bytes: &[u8], tags: &[String]) -> Vec<Option<String>> {
    let decoded = decode::decode(bytes);
    let mut found = vec![None; tags.len()];
    let Some(text) = decoded.text.as_deref().filter(|text| u32::try_from(text.len()).is_ok()) else { return found };
    let blocks = match Component::of_path(path) {
        Some(component) => blocks::cut(component, text),
        None => {
            let whole = Syntax::of_path(path).map(|syntax| Block { start: 0, source: text, syntax, external: None });
            whole.into_iter().collect()
        }
    };
    let mut read = || {
        let arena = Allocator::default();
        for block in &blocks {
            if let Some(program) = parse::parse(&arena, block.source, block.syntax, false).program {
                describe::tagged(&program, tags, &mut found);
            }
        }
    };
    match stack_plan(text) {
        StackPlan::CurrentThread => read(),
        StackPlan::DedicatedThread(size) => drop(stack::with_stack(size, read)),
        StackPlan::TooDeep(_) => {}
    }
    found
}

impl Extractor {
    pub fn new() -> Self {
        Self::default()
    }

    /// The facts of a file. Empty for names that [`is_analysed`] rejects.
    pub fn extract(&mut self, path: &str, bytes: &[u8], options: &ExtractOptions) -> Extraction {
        let decoded = decode::decode(bytes);
        let mut extraction = match &decoded.text {
            Some(text) => self.extract_text(path, text, options),
            None => Extraction::default(),
        };
        if let Some(problem) = decoded.problem {
            extraction.problems.insert(0, FileProblem::new(problem));
            extraction.incomplete = true;
        }
        extraction
    }

    /// Only parses the file, like [`Self::extract`]: a lower bound to measure extraction against. The result depends on the whole
    /// tree, so that the work is not optimised away.
    pub fn parse_only(&mut self, path: &str, bytes: &[u8]) -> usize {
        let decoded = decode::decode(bytes);
        let (Some(text), Some(syntax)) = (&decoded.text, Syntax::of_path(path)) else { return 0 };
        match stack_plan(text) {
            StackPlan::CurrentThread => {
                clean(&mut self.arena, text.len());
                parse::parse_once(&self.arena, text, syntax)
            }
            StackPlan::DedicatedThread(size) => {
                stack::with_stack(size, || parse::parse_once(&Allocator::default(), text, syntax)).unwrap_or(0)
            }
            StackPlan::TooDeep(_) => 0,
        }
    }

    fn extract_text(&mut self, path: &str, text: &str, options: &ExtractOptions) -> Extraction {
        let file = File { path, text, options };
        if u32::try_from(text.len()).is_err() {
            return file.scanned("is larger than 4 GiB");
        }
        match stack_plan(text) {
            StackPlan::CurrentThread => {
                clean(&mut self.arena, text.len());
                file.parsed(&self.arena, &mut self.spare)
            }
            // The new thread borrows this one's memory, because that of large files is worth reusing.
            StackPlan::DedicatedThread(size) => {
                clean(&mut self.arena, text.len());
                let Self { arena, spare } = self;
                stack::with_stack(size, move || file.parsed(arena, spare))
                    .unwrap_or_else(|| file.scanned("needs more stack than the system gives"))
            }
            StackPlan::TooDeep(reason) => file.scanned(reason),
        }
    }
}

/// Prepares an arena for the tree of a text with this many bytes.
fn clean(arena: &mut Allocator, length: usize) {
    let wanted = length.saturating_mul(TREE_PER_BYTE).clamp(1 << 18, MAX_KEPT_ARENA / 2).next_power_of_two();
    let capacity = arena.capacity();
    if capacity > MAX_KEPT_ARENA || capacity < wanted {
        *arena = Allocator::with_capacity(wanted);
    } else {
        arena.reset();
    }
}

/// A file during extraction.
#[derive(Clone, Copy)]
struct File<'t> {
    path: &'t str,
    text: &'t str,
    options: &'t ExtractOptions,
}

impl<'t> File<'t> {
    /// The blocks of code in the file: one for a plain script, several for a component.
    fn blocks(&self) -> Vec<Block<'t>> {
        match Component::of_path(self.path) {
            Some(component) => blocks::cut(component, self.text),
            None => self.whole().into_iter().collect(),
        }
    }

    /// The whole file as one block; `None` for a component.
    fn whole(&self) -> Option<Block<'t>> {
        let syntax = Syntax::of_path(self.path)?;
        Some(Block { start: 0, source: self.text, syntax, external: None })
    }

    fn parsed<'a>(self, arena: &'a Allocator, spare: &mut Spare) -> Extraction
    where
        't: 'a,
    {
        let mut extraction = Extraction::default();
        let mut found = spare.collector();
        // Usually there is one block, which needs no list.
        if let Some(block) = self.whole() {
            self.parsed_block(arena, block, &mut found, &mut extraction);
        } else {
            for block in self.blocks() {
                block.begin(&mut found);
                self.parsed_block(arena, block, &mut found, &mut extraction);
            }
        }
        self.finish(found, extraction, spare)
    }

    fn parsed_block<'a>(
        &self,
        arena: &'a Allocator,
        block: Block<'a>,
        found: &mut Collector<'a>,
        extraction: &mut Extraction,
    ) {
        let parsed = parse::parse(arena, block.source, block.syntax, false);
        match &parsed.program {
            Some(program) => self.walked(program, block, parsed.has_import_meta, found),
            None => scan::scan(block.source, block.syntax.is_javascript(), found),
        }
        found.end_of_block();
        if let Some(error) = parsed.error {
            let done = match parsed.program {
                Some(_) => "what could be read of the file counts",
                None => "it was searched for import forms instead",
            };
            let more = match error.more {
                0 => String::new(),
                more => format!(" (and {more} more)"),
            };
            let line = LineCounter::new(self.text).line_at(block.start + error.position);
            let message = format!("does not parse: {}{more}; {done}", one_line(&error.message));
            extraction.problems.push(FileProblem::at(line, message));
            extraction.incomplete = true;
        }
    }

    fn walked<'a>(&self, program: &Program<'a>, block: Block<'a>, has_import_meta: bool, found: &mut Collector<'a>) {
        found.is_module |= has_import_meta;
        visit::ImportWalk::program(found, program, WalkScope::of(block.source));
        reference::references(program, found);
        if block.syntax.is_javascript() {
            jsdoc::requests(program, found);
        }
        found.describe(describe::description(program, self.options));
    }

    /// The last resort: searches for imports without a syntax tree.
    fn scanned(&self, reason: &str) -> Extraction {
        let mut found = Collector::default();
        for block in self.blocks() {
            block.begin(&mut found);
            scan::scan(block.source, block.syntax.is_javascript(), &mut found);
        }
        let message = format!("{reason}; it was searched for import forms instead");
        let problems = vec![FileProblem::new(message)];
        let extraction = Extraction { problems, incomplete: true, ..Extraction::default() };
        self.finish(found, extraction, &mut Spare::default())
    }

    fn finish(&self, mut found: Collector<'_>, mut extraction: Extraction, spare: &mut Spare) -> Extraction {
        if Component::of_path(self.path).is_some() {
            found.export_local("default");
        }
        extraction.facts = found.finish(self.text, spare);
        extraction
    }
}

impl<'t> Block<'t> {
    /// Makes positions relative to the block's start, after recording the request of its own tag.
    fn begin(&self, found: &mut Collector<'t>) {
        if let Some((position, specifier)) = self.external {
            found.base = 0;
            found.request(position, specifier, EdgeKind::Runtime, Form::Static, None);
        }
        found.base = self.start;
    }
}

/// Messages of the parser may quote source text with its line breaks.
fn one_line(message: &str) -> String {
    message.trim_end_matches('.').split_whitespace().collect::<Vec<_>>().join(" ")
}
