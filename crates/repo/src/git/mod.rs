//! git's own files, read without git: where they are (`directory`), the index (`index`), objects and references (`objects`), and
//! two uses of them: what changed since a revision (`changes`), and the last commits (`history`).
//!
//! All I/O goes through `System`, is bounded, and refuses what git would refuse. Nothing is written. Why not a library:
//! `docs/decisions/0051-git-by-hand.md`. What git ignores is in `crate::ignore`.

pub(crate) mod changes;
pub(crate) mod directory;
pub(crate) mod history;
pub(crate) mod index;
pub(crate) mod objects;
