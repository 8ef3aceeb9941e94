//! The tar format, both ways: headers that are the same bytes every time, and a reader that trusts nothing.
//!
//! Ours rather than a library's, because headers are made in parallel into the buffers that files are read into, because
//! every field must be decided here for the bytes to be the same everywhere, and because a verifier must report what an
//! extractor would silently repair.

mod header;
mod read;

pub use header::{EntryHeader, append_end, append_header, padding};
pub use read::{TarEnd, TarEntry, TarError, TarKind, TarProblem, read_tar};

/// Everything in a tar is a multiple of this.
pub(crate) const BLOCK: usize = 512;
