//! Declarations of files by path and contents, so that a search parses a file once. A part of its own: no other run reads it.

use std::sync::{Mutex, PoisonError};

use serde::{Deserialize, Serialize};
use stan_model::outline::UnitKind;
use xxhash_rust::xxh3::Xxh3;

use super::Cache;
use super::bytes::{Blobs, SectionReader, SectionWriter};
use super::relevance::HEAD;

const MAGIC: &[u8; 8] = b"stanoutl";
pub(super) const FILE: &str = "outlines.data";

/// Changes whenever outlines or the rules for secrets do.
const FORMAT: u32 = 1;

/// More than these bytes are not kept: a search of a repository that large parses what it finds.
const LARGEST: usize = 512 << 20;

/// Fewer new files than this part of all are not worth writing everything again.
const WORTH_WRITING: usize = 64;

/// What is kept of one file.
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

/// The outlines of earlier runs, and the ones that this run makes.
pub(crate) struct KeptOutlines<'c> {
    cache: Option<Cache<'c>>,
    /// As it was stored, or empty.
    known: Vec<u8>,
    new: Mutex<Vec<(u128, Vec<u8>)>>,
}

impl<'c> KeptOutlines<'c> {
    pub(crate) fn load(cache: Option<Cache<'c>>) -> Self {
        let known = cache.as_ref().and_then(|cache| cache.load_sealed(FILE, MAGIC)).unwrap_or_default();
        Self { cache, known, new: Mutex::default() }
    }

    /// The stored outlines of all files, sorted by key.
    fn table(&self) -> Option<(&[[u8; 16]], Blobs<'_>)> {
        let mut reader = SectionReader::new(self.known.get(HEAD..)?);
        if reader.u64()? != u64::from(FORMAT) {
            return None;
        }
        let (keys, rest) = reader.blob()?.as_chunks::<16>();
        let blobs = reader.blobs()?;
        (rest.is_empty() && blobs.len() == keys.len()).then_some((keys, blobs))
    }

    /// A way to look outlines up, for all threads.
    pub(crate) fn view(&self) -> OutlineView<'_> {
        OutlineView { kept: self, table: self.table() }
    }

    /// Stores the outlines that this run made. A failure is ignored.
    pub(crate) fn save(self) {
        let mut all = self.new.lock().map(|mut new| std::mem::take(&mut *new)).unwrap_or_default();
        let Some(cache) = &self.cache else { return };
        let known = self.table();
        let count = known.as_ref().map_or(0, |(keys, _)| keys.len());
        if all.is_empty() || all.len() < count / WORTH_WRITING {
            return;
        }
        if let Some((keys, blobs)) = known {
            let old = keys.iter().enumerate().map(|(at, key)| (u128::from_be_bytes(*key), blobs.get(at)));
            all.extend(old.filter_map(|(key, blob)| Some((key, blob?.to_vec()))));
        }
        all.sort_unstable();
        all.dedup_by_key(|(key, _)| *key);
        let size: usize = all.iter().map(|(_, blob)| blob.len() + 20).sum();
        if size > LARGEST {
            return;
        }
        let mut writer = SectionWriter::with_capacity(size + 64);
        writer.u64(u64::from(FORMAT));
        writer.blob(&all.iter().flat_map(|(key, _)| key.to_be_bytes()).collect::<Vec<u8>>());
        writer.blobs(all.iter().map(|(_, blob)| blob.as_slice()));
        let _ = cache.store_sealed(FILE, MAGIC, &writer.into_bytes());
    }
}

/// See [`KeptOutlines::view`].
pub(crate) struct OutlineView<'k> {
    kept: &'k KeptOutlines<'k>,
    table: Option<(&'k [[u8; 16]], Blobs<'k>)>,
}

impl OutlineView<'_> {
    /// The outline of a file with these contents: as it was kept, or as `make` makes it.
    pub(crate) fn find_or_make(&self, path: &str, bytes: &[u8], make: impl FnOnce() -> StoredOutline) -> StoredOutline {
        if self.kept.cache.is_none() {
            return make();
        }
        let key = key(path, bytes);
        if let Some(found) = self.find(key) {
            return found;
        }
        let made = make();
        if let Ok(encoded) = postcard::to_stdvec(&made) {
            self.kept.new.lock().unwrap_or_else(PoisonError::into_inner).push((key, encoded));
        }
        made
    }

    fn find(&self, key: u128) -> Option<StoredOutline> {
        let (keys, blobs) = self.table.as_ref()?;
        let at = keys.binary_search(&key.to_be_bytes()).ok()?;
        postcard::from_bytes(blobs.get(at)?).ok()
    }
}

/// What an outline depends on besides the program, whose versions are part of the cache's own key.
fn key(path: &str, bytes: &[u8]) -> u128 {
    let mut hasher = Xxh3::new();
    hasher.update(&(path.len() as u64).to_le_bytes());
    hasher.update(path.as_bytes());
    hasher.update(bytes);
    hasher.digest128()
}
