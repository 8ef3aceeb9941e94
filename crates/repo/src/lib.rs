//! The world as `stan` sees it: effects behind one trait, and a root scanned into a `Universe`.
//!
//! This is the only crate that may touch `std::fs`. It knows git's rules about files and nothing about
//! languages.

mod files;
mod os;
mod system;

pub use files::Files;
pub use os::OsSystem;
pub use system::{DirEntry, EntryKind, Stat, System};
