//! The documents that leave the program, as versioned types of their own. Nothing here computes anything.

pub mod config;
pub mod x07;
#[cfg(feature = "schema")]
pub mod x07_schema;
