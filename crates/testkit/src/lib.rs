//! Helpers for tests of several crates. Used only by tests, examples and developer tools, never by the product.
//!
//! Has no dependencies, so that the tests of every crate can use it. In-memory repositories written as one string
//! (`//- /src/a.ts`) are `stan_repo::MemorySystem::from_fixture`, because the unit tests of that crate use them too.

mod git;
mod http_server;
mod random;

pub use git::Git;
pub use http_server::{HttpServer, Reply, ServedRequest};
pub use random::Random;
