//! The world as `stan` sees it: effects behind one trait, and a root scanned into a `Universe`.
//!
//! This is the only crate that may touch `std::fs`. It knows git's rules about files and nothing about
//! languages.

mod ewah;
mod files;
mod fixture;
mod git_changes;
mod git_directory;
mod git_entries;
mod git_index;
mod git_objects;
mod globs;
mod hash;
mod ignore;
mod links;
mod memory;
mod observations;
mod os;
mod paths;
mod scan;
mod stamp;
mod system;
mod universe;
mod wildmatch;
mod world;

pub use files::Files;
pub use git_changes::{GitChanges, git_changes};
pub use git_objects::GitError;
pub use globs::{GlobError, PathGlobs, RootedGlob, WalkGlobs};
pub use hash::sha256;
pub use memory::MemorySystem;
pub use observations::{Observations, ObservedDirectory, ObservedFile, ObservedLink, ObservedProbe, Reading};
pub use os::OsSystem;
pub use paths::real_path;
pub use scan::{scan, scan_top};
pub use stamp::{hash_file, is_racy};
pub use system::{
    Access, DirEntry, DirectoryFiles, EntryKind, HeldLock, InputFile, OpenFile, OutputFile, Stat, System,
    WritableSystem,
};
pub use universe::{ScanOptions, ScannedDirectory, Universe};
pub use world::{FileContents, World};
