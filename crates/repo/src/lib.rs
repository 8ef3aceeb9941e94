//! The outside world: all effects behind one trait, and a root scanned into a `Universe`.
//!
//! - `system`, `system_ext`, `layer`: [`System`], the trait for all effects: few primitive methods, none with a default;
//!   [`SystemExt`], functions built on them; [`SystemLayer`], a wrapper around another system;
//! - `os`, `memory`, `faulty`: the real system, one in memory, and one that injects faults into another;
//! - `scan`, `ignore`, `globs`: a root becomes the sorted [`Universe`], by git's rules and picomatch's globs;
//! - `world`, `reach`: [`World`], the file system as resolution sees it: cached, recorded, and confined to [`Reach`];
//! - `git`: git's index, objects and history, read without running git;
//! - `observations`, `stamp`: what a run stat'ed and read, so that the next run can detect changes;
//! - `walk`, `advice`: the walk over folders that are not scanned; the messages for I/O errors.
//!
//! This is the only crate that may use `std::fs`. It knows git's rules about files, and no languages.

mod advice;
mod byte_store;
mod directory_handles;
mod faulty;
mod files;
mod fixture;
#[doc(hidden)]
pub mod fuzzing;
mod git;
mod globs;
mod hash;
mod ignore;
mod layer;
mod links;
mod memory;
mod observations;
mod os;
mod paths;
mod processes;
mod reach;
mod scan;
mod stamp;
mod system;
mod system_ext;
mod temporary;
mod universe;
mod walk;
mod wildmatch;
mod world;

pub use advice::{advice, is_transient, is_unsupported, read_failure, skip_unsupported_sync};
pub use byte_store::{ByteStore, StoreError};
pub use directory_handles::DirectoryHandleCache;
pub use faulty::{Effect, Fault, FaultySystem};
pub use files::Files;
pub use git::changes::{GitChanges, git_changes};
pub use git::history::{CommitChange, GitHistory, HistoryEntry, HistoryLimits, git_history};
pub use git::objects::GitError;
pub use globs::{GlobError, PathGlobs, RootedGlob, WalkGlobs, with_contents};
pub use hash::sha256;
pub use layer::{SystemLayer, WritableLayer};
pub use memory::MemorySystem;
pub use observations::{DigestScope, Observations, ObservedDirectory, ObservedFile, ObservedLink, ObservedProbe};
pub use os::OsSystem;
pub use os::process::{address_space, stack_limit};
pub use paths::{AbsPath, escapes_root, normal_path, real_path, relative_path};
pub use processes::{Processes, ShellCommand, ShellEnd, ShellOutcome};
pub use reach::{AllowedFolder, Reach};
pub use scan::{is_tracked, scan, scan_folders, scan_top};
pub use stamp::{HashedFile, hash_file, hash_open_file, hash_real_file, is_racy};
pub use system::{
    Access, DirEntry, DirectoryFiles, EntryKind, HeldLock, InputFile, Links, OpenFile, OutputFile, Owner, Stat, System,
    WritableSystem,
};
pub use system_ext::SystemExt;
pub use temporary::{remove_leftovers, target_of_temporary, temporary_name};
pub use universe::{ScanOptions, ScannedDirectory, Universe};
pub use walk::{EntriesBelow, FoundEntry, UnlistedFolder, entries_below};
pub use world::{FileContents, World};
