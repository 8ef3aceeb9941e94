//! The tar format, for writing and reading: byte-identical headers, and a reader for untrusted archives.
//!
//! Not a library, because headers are written in parallel into the buffers that files are read into, because every field must be
//! fixed here for the bytes to be the same everywhere, and because a verifier must report what an extractor would silently
//! repair.

mod header;
mod read;

pub use header::{EntryHeader, append_end, append_header, padding};
pub use read::{TarEnd, TarEntry, TarError, TarKind, TarProblem, read_tar};

/// All parts of a tar are multiples of this.
pub(crate) const BLOCK: usize = 512;
