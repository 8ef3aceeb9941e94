//! Git's objects and references, read without git: what a revision is called, and which files it has.
//!
//! Everything below `.git` is untrusted. Sizes, counts and depths have limits, every object is proved by its hash, and
//! nothing recurses. Not here: contents of files, and anything that writes.

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
