//! Git's objects and references, read without git: what a revision is called, and which files it has.
//!
//! Everything below `.git` is untrusted. Sizes, counts and depths have limits, every object is proved by its hash, and
//! nothing recurses. Not here: contents of files, histories, and anything that writes.

mod delta;
mod error;
mod id;
mod inflate;
mod pack;
mod pack_index;
mod place;
mod references;
mod revision;
mod store;
mod tree;

pub use error::GitError;
pub(crate) use id::{HashKind, ObjectHasher, ObjectId, ObjectKind};
pub(crate) use place::GitPlace;
pub(crate) use revision::resolve;
pub(crate) use store::ObjectStore;
pub(crate) use tree::{Mode, RevisionFiles};
