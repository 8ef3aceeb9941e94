//! Go: `.go` files, parsed by a scanner written for this crate. Files of a package share a scope without imports, so edges are
//! derived from declared and used names.

mod declare;
pub mod extract;
mod keyword;
mod lexer;
mod name_table;
mod names;
pub mod resolve;
mod symbols;
mod syntax;
#[cfg(test)]
mod tests;
mod types;

use std::borrow::Cow;

use stan_model::names::FileUnits;
use stan_model::outline::Outline;

use crate::decode;
use crate::language::{Declare, Extract, ExtractOptions, Extraction, Language, ProjectResolver, SourceFile};
use crate::project::Project;

pub struct Go;

impl Language for Go {
    fn name(&self) -> &'static str {
        "go"
    }

    fn version(&self) -> u32 {
        2
    }

    fn claims(&self, path: &str) -> bool {
        path.ends_with(".go")
    }

    fn extractor(&self) -> Box<dyn Extract> {
        Box::new(GoExtractor)
    }

    fn open<'p>(&self, project: &'p Project<'p>) -> Box<dyn ProjectResolver + 'p> {
        Box::new(resolve::Resolver::new(project))
    }

    fn declarations(&self) -> Option<&'static dyn Declare> {
        Some(&Self)
    }
}

impl Declare for Go {
    fn text_of<'b>(&self, bytes: &'b [u8]) -> Option<Cow<'b, str>> {
        decode::decode(bytes).text
    }

    fn outline(&self, _: &str, text: &str) -> Outline {
        declare::outline(text)
    }

    fn declare(&self, _: &str, text: &str) -> FileUnits {
        declare::declare(text)
    }
}

struct GoExtractor;

impl Extract for GoExtractor {
    fn extract(&mut self, file: SourceFile<'_>, _: &ExtractOptions) -> Extraction {
        extract::extract(file.bytes)
    }
}
