//! One function per user verb, joining the stages. The only API that the programs use.

mod cache;
pub mod graph;
mod watched;

pub use stan_repo::OsSystem;
