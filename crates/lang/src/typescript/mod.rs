//! TypeScript and JavaScript, and the script blocks of Vue, Svelte and Astro files.

pub mod declare;
pub mod extract;
pub mod form;
pub mod globs;
mod local_dependencies;
mod package_map;
mod path_table;
pub mod resolve;
mod star_patterns;
pub mod tsconfig;
mod workspace_patterns;
pub mod workspaces;

use std::borrow::Cow;

use stan_model::names::FileUnits;
use stan_model::outline::Outline;

use crate::language::{Declare, Extract, ExtractOptions, Extraction, Language, ProjectResolver, SourceFile};
use crate::project::Project;

pub struct TypeScript;

impl Language for TypeScript {
    fn name(&self) -> &'static str {
        "typescript"
    }

    fn version(&self) -> u32 {
        4
    }

    fn claims(&self, path: &str) -> bool {
        extract::is_analysed(path)
    }

    fn extractor(&self) -> Box<dyn Extract> {
        Box::new(extract::Extractor::new())
    }

    fn open<'p>(&self, project: &'p Project<'p>) -> Box<dyn ProjectResolver + 'p> {
        Box::new(resolve::Resolver::new(project))
    }

    fn describe(&self, file: SourceFile<'_>, options: &ExtractOptions) -> Option<Box<str>> {
        extract::leading_description(std::str::from_utf8(file.bytes).ok()?, options)
    }

    fn tagged_prose(&self, file: SourceFile<'_>, tags: &[String]) -> Vec<Option<String>> {
        extract::tagged_prose(file.name, file.bytes, tags)
    }

    fn declarations(&self) -> Option<&'static dyn Declare> {
        Some(&Self)
    }
}

impl Declare for TypeScript {
    fn text_of<'b>(&self, bytes: &'b [u8]) -> Option<Cow<'b, str>> {
        declare::text_of(bytes)
    }

    fn outline(&self, path: &str, text: &str) -> Outline {
        declare::outline(path, text)
    }

    fn declare(&self, path: &str, text: &str) -> FileUnits {
        declare::declare(path, text)
    }
}

impl Extract for extract::Extractor {
    fn extract(&mut self, file: SourceFile<'_>, options: &ExtractOptions) -> Extraction {
        self.extract(file.name, file.bytes, options)
    }
}
