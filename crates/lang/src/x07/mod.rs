//! The language x07: x07AST files (JSON) to modules that can be sliced, and project manifests.
//!
//! Reading follows the toolchain's own reader: what it takes is taken, in the same order of checks, and the result is
//! its canonical document. Nothing here selects or cuts anything.

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
