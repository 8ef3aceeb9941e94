//! Languages: source text to `FileFacts`, specifier to target. One folder per language, one table that lists them
//! ([`Languages::all`]); other crates use the traits of [`language`] and name no language.
//!
//! - `typescript`: TypeScript and JavaScript: `extract` (imports and exports), `resolve` with `tsconfig` (the same targets as
//!   TypeScript), `declare` (outlines; for packs also names and type annotations);
//! - `python`: `extract`; `resolve`, CPython's path finder with a search path from manifests and virtual environments; `declare`;
//! - `go`: its own scanner; links the files of a package by the names that they declare and use;
//! - `rust`: modules, imports and paths in one pass over tokens; follows `mod` declarations and paths by Rust's rules;
//! - `x07`: x07 modules and projects;
//! - `packages`: ids and hash verification of packages in package managers' stores and in `vendor` folders;
//! - `documents`: one-line descriptions of files that are not source code.
//!
//! The parsers (oxc, ruff) live here and nowhere else. Nothing here touches the file system except through
//! `stan_repo::Files`.

mod decode;
pub mod documents;
pub mod go;
pub mod jsonc;
pub mod language;
mod line_counter;
mod memo;
pub mod name_links;
mod name_order;
pub mod packages;
mod paths;
pub mod project;
mod prose;
pub mod python;
pub mod rust;
mod stack;
pub mod typescript;
pub mod x07;

pub use language::{ExtractOptions, Extraction, Languages, SourceFile, Target};
pub use packages::{PackageProof, PackageStore, PackageStores, PackageVersion};
pub use project::{Project, ProjectResolvers, ResolveOptions};
pub use stack::{WORKER_STACK, set_stack_size};
