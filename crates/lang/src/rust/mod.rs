//! Rust: `.rs` files, parsed by a scanner written for this crate. Paths resolve through the module trees of crates, so edges
//! depend on the names of all files of a package.

mod bodies;
mod declare;
pub mod extract;
mod form;
mod lexer;
mod literal;
pub mod resolve;
mod scan;
mod symbols;
#[cfg(test)]
mod tests;
mod units;
mod use_tree;

use std::borrow::Cow;

use stan_model::names::FileUnits;
use stan_model::outline::Outline;

use crate::decode;
use crate::language::{Declare, Extract, ExtractOptions, Extraction, Language, ProjectResolver, SourceFile};
use crate::project::Project;

pub struct Rust;

impl Language for Rust {
    fn name(&self) -> &'static str {
        "rust"
    }

    fn version(&self) -> u32 {
        2
    }

    fn claims(&self, path: &str) -> bool {
        path.ends_with(".rs")
    }

    fn extractor(&self) -> Box<dyn Extract> {
        Box::new(RustExtractor)
    }

    fn open<'p>(&self, project: &'p Project<'p>) -> Box<dyn ProjectResolver + 'p> {
        Box::new(resolve::Resolver::new(project))
    }

    fn declarations(&self) -> Option<&'static dyn Declare> {
        Some(&Self)
    }
}

impl Declare for Rust {
    fn text_of<'b>(&self, bytes: &'b [u8]) -> Option<Cow<'b, str>> {
        decode::decode(bytes).text
    }

    fn outline(&self, _: &str, text: &str) -> Outline {
        declare::outline(text)
    }

    fn declare(&self, _: &str, text: &str) -> FileUnits {
        declare::declare(text)
    }

    fn is_module_named(&self, path: &str, specifier: &str) -> bool {
        declare::is_module_named(path, specifier)
    }
}

struct RustExtractor;

impl Extract for RustExtractor {
    fn extract(&mut self, file: SourceFile<'_>, options: &ExtractOptions) -> Extraction {
        extract::extract(file.bytes, options)
    }
}
