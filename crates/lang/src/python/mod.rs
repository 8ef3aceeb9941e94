//! Python: `.py` and `.pyi` files.
//!
//! `extract` turns text into facts; `resolve` finds the files of module names. The parser is ruff's; its types are used only in
//! this folder. No code of the repository is imported or executed.

mod declare;
pub mod extract;
mod form;
mod parse;
pub mod resolve;

use std::borrow::Cow;

use stan_model::names::FileUnits;
use stan_model::outline::Outline;

use crate::language::{Declare, Extract, ExtractOptions, Extraction, Language, ProjectResolver, SourceFile};
use crate::project::Project;

pub struct Python;

impl Language for Python {
    fn name(&self) -> &'static str {
        "python"
    }

    fn version(&self) -> u32 {
        2
    }

    fn claims(&self, path: &str) -> bool {
        path.ends_with(".py") || path.ends_with(".pyi")
    }

    fn extractor(&self) -> Box<dyn Extract> {
        Box::new(PythonExtractor)
    }

    fn open<'p>(&self, project: &'p Project<'p>) -> Box<dyn ProjectResolver + 'p> {
        Box::new(resolve::Resolver::new(project))
    }

    /// The implicit edges are to the packages that contain an imported module.
    fn has_implicit_imports(&self) -> bool {
        true
    }

    fn declarations(&self) -> Option<&'static dyn Declare> {
        Some(&Self)
    }
}

impl Declare for Python {
    fn text_of<'b>(&self, bytes: &'b [u8]) -> Option<Cow<'b, str>> {
        declare::text_of(bytes)
    }

    fn outline(&self, path: &str, text: &str) -> Outline {
        declare::outline(path, text)
    }

    fn declare(&self, path: &str, text: &str) -> FileUnits {
        declare::declare(path, text)
    }

    fn is_module_named(&self, path: &str, specifier: &str) -> bool {
        form::is_module_named(path, specifier)
    }
}

struct PythonExtractor;

impl Extract for PythonExtractor {
    fn extract(&mut self, file: SourceFile<'_>, options: &ExtractOptions) -> Extraction {
        extract::extract(file.name, file.bytes, options)
    }
}

/// Whether the file name is that of a stub.
fn is_stub(path: &str) -> bool {
    path.ends_with(".pyi")
}
