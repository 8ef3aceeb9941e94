//! Git's objects and references, read without git: resolves revisions and lists their files.
//!
//! Everything below `.git` is untrusted. Sizes, counts and depths are limited, every object is verified by its hash, and nothing
//! is recursive. Does not read contents of files and never writes.

mod commit;
mod delta;
mod error;
mod id;
mod inflate;
mod pack;
mod pack_index;
mod place;
mod references;
mod revision;
mod short_stream;
mod store;
mod tree;
mod tree_diff;
mod windows;

pub(crate) use commit::{Commit, shallow_commits};
pub use error::GitError;
pub(crate) use id::{HashKind, ObjectHasher, ObjectId, ObjectKind};
pub(crate) use place::GitLayout;
pub(crate) use references::References;
pub(crate) use revision::resolve;
pub(crate) use store::ObjectStore;
pub(crate) use tree::{RevisionFiles, TreeMode};
pub(crate) use tree_diff::{TreeChanges, TreeDiff};
