//! The language x07: parses x07AST files (JSON) into modules that can be sliced, and project manifests.
//!
//! Follows the toolchain's own reader: accepts the same files, runs the same checks in the same order, and produces the same
//! canonical document. Nothing here selects or cuts anything.

mod contracts;
mod declaration;
mod dialect;
mod expression;
mod names;
mod project;
mod read;
mod source_position;
mod types;

#[cfg(test)]
mod tests;

pub use dialect::X07;
pub use project::{ProjectManifest, read_project};
pub use read::{SCHEMA_VERSIONS, read_module};
pub use source_position::X07Error;
