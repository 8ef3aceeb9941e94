//! Everything a run writes: verified and staged externals, snapshots, and byte-identical archives, committed together or not at
//! all.
//!
//! Takes lists and bytes; which files are selected is decided elsewhere. All effects go through `stan_repo`.

mod archive;
mod classify;
mod contents;
mod diff;
mod entry;
mod error;
mod exclusive;
mod folders;
mod lock;
mod mismatch;
mod names;
mod output;
mod patch;
mod snapshot;
mod stage;
mod tar;
mod transaction;
mod zip;

pub use archive::{KnownClean, write_archive, write_archive_knowing};
pub use classify::BINARY_PREFIX;
pub use contents::{FinishedArchive, each_file};
pub use diff::{diff_size, write_diff};
pub use entry::{ArchiveEntry, ArchivedFile, EntryInMemory, ExcludedBinary, HeldBack, LargeText, Secrets, Written};
pub use error::Error;
pub use lock::{Holder, Lock, check_stan_path};
pub use mismatch::{Mismatch, MismatchKind, Mismatches};
pub use names::{check_name, windows_hazard};
pub use patch::{
    MAX_KEPT_BYTES, NewFile, NewMode, PatchFile, PatchKind, PatchSet, Recovered, apply_patches, has_pending_patch,
    recover_patches, undo_patches,
};
pub use snapshot::{Changes, Snapshot};
pub use stage::{External, Staged, prove, stage};
pub use tar::{
    EntryHeader, TarEnd, TarEntry, TarError, TarKind, TarProblem, append_end, append_header, padding, read_tar,
};
pub use transaction::{OutputStream, Prepared, Transaction};
pub use zip::{ZipFile, read_any, write_zip};
