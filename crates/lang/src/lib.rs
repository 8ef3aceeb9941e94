//! Languages: source text to `FileFacts`, specifier to target. One folder per language.
//!
//! The parsers (oxc) live here and nowhere else. Nothing here touches the file system except through
//! `stan_repo::Files`.

pub mod jsonc;
pub mod typescript;
pub mod x07;
