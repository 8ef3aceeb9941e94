//! Declarations of files by path and contents, so that searches parse a file only once. Stored in a separate file, which only
//! searches read.

use serde::{Deserialize, Serialize};
use stan_model::outline::UnitKind;
use xxhash_rust::xxh3::Xxh3;

use super::Cache;
use super::kept_blobs::{BlobFile, BlobView, KeptBlobs};

pub(super) const FILE: &str = "outlines.data";

/// Changes whenever outlines or the rules for secrets do.
const FORMAT: u32 = 1;

/// The file is rewritten only if at least one in this many entries is new.
const WORTH_WRITING: usize = 64;

/// The stored outline of one file.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct StoredOutline {
    /// No secret was found. Otherwise whether its text may be shown is decided again, by the configuration.
    pub(crate) is_clean: bool,
    pub(crate) units: Vec<StoredUnit>,
}

/// A declaration as answers show it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct StoredUnit {
    pub(crate) names: Vec<String>,
    pub(crate) line: u32,
    pub(crate) start_line: u32,
    pub(crate) end_line: u32,
    pub(crate) path: String,
    pub(crate) kind: UnitKind,
    pub(crate) exported: bool,
    pub(crate) signature: String,
}

const OUTLINES: BlobFile = BlobFile {
    name: FILE,
    magic: b"stanoutl",
    // Outlines record whether their file is free of secrets, so they are valid for one version of the rules.
    version: (FORMAT as u64) << 32 | stan_secrets::VERSION as u64,
    max_bytes: 512 << 20,
};

/// The stored outlines of earlier runs, and the new ones of this run.
pub(crate) struct KeptOutlines<'c>(KeptBlobs<'c>);

impl<'c> KeptOutlines<'c> {
    pub(crate) fn load(cache: Option<Cache<'c>>) -> Self {
        Self(KeptBlobs::load(OUTLINES, cache))
    }

    /// A view for lookups from many threads.
    pub(crate) fn view(&self) -> OutlineView<'_> {
        OutlineView(self.0.view())
    }

    /// Stores the outlines of this run. A failure is ignored.
    pub(crate) fn save(self) {
        self.0.save(WORTH_WRITING, |_| true);
    }
}

/// See [`KeptOutlines::view`].
pub(crate) struct OutlineView<'k>(BlobView<'k>);

impl OutlineView<'_> {
    /// The stored outline of a file with these contents, or the result of `make`.
    pub(crate) fn find_or_make(&self, path: &str, bytes: &[u8], make: impl FnOnce() -> StoredOutline) -> StoredOutline {
        if !self.0.is_open() {
            return make();
        }
        let key = key(path, bytes);
        self.0.find(key).unwrap_or_else(|| {
            let made = make();
            self.0.add(key, &made);
            made
        })
    }
}

/// The key of an outline: path and contents. The versions of the program are part of the cache's own key.
fn key(path: &str, bytes: &[u8]) -> u128 {
    let mut hasher = Xxh3::new();
    hasher.update(&(path.len() as u64).to_le_bytes());
    hasher.update(path.as_bytes());
    hasher.update(bytes);
    hasher.digest128()
}
