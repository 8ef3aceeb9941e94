//! What tests of several crates share. Only tests, examples and developer tools use it, never the product.
//!
//! It has no dependencies, so that every crate can use it in its tests. Repositories in memory, written as one string
//! (`//- /src/a.ts`), are `stan_repo::MemorySystem::from_fixture`: there they also serve the unit tests of that crate.

mod git;
mod http_server;
mod random;

pub use git::Git;
pub use http_server::{HttpServer, Reply, ServedRequest};
pub use random::Random;
