//! The words that every crate of the workspace shares: kinds, digests, problems.
//!
//! No I/O, no workspace dependencies, nothing about languages: a type belongs here when at least two
//! crates must agree on its meaning.

pub mod document;
pub mod jcs;
pub mod json;
pub mod module;
pub mod names;
pub mod outline;

mod digest;
mod kinds;
mod problem;

pub use digest::Digest;
pub use kinds::{EdgeKind, Language, NodeKind, Resolution, split_extension};
pub use problem::{Problem, error_lines};
