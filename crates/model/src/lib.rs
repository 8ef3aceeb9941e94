//! The types that every crate of the workspace shares: kinds, facts of files, digests, problems, documents.
//!
//! No I/O, no workspace dependencies, no parser of source code: a type belongs here if at least two crates must agree on its
//! meaning.

pub mod document;
pub mod facts;
mod git_names;
pub mod jcs;
pub mod json;
pub mod module;
pub mod names;
pub mod outline;
pub mod untrusted;

mod digest;
mod ecosystem;
mod file_key;
mod kinds;
mod problem;
mod programming;
mod repo_path;

pub use digest::Digest;
pub use ecosystem::{
    CRATE_CHECKSUMS, CRATE_MANIFEST, Ecosystem, PACKAGE_FOLDER, SITE_FOLDER, is_external, is_installed,
};
pub use facts::FileFacts;
pub use file_key::FileKey;
pub use git_names::{bare_name, is_git_folder};
pub use kinds::{EdgeKind, Language, NodeKind, Resolution, split_extension};
pub use problem::{FileProblem, Problem, Weight, error_lines};
pub use programming::{ProgrammingFiles, programming_extension};
pub use repo_path::RepoPath;
pub use untrusted::Untrusted;
