//! A persistent map from 128-bit keys to values, in one file of the cache: values of earlier runs, and new ones of this run. Each
//! kind of value has its own file, so that a run reads only what it needs.

use std::sync::{Mutex, PoisonError};

use serde::Serialize;
use serde::de::DeserializeOwned;

use super::Cache;
use super::bytes::{Blobs, SectionReader, SectionWriter};
use super::relevance::HEAD;

/// The file of one kind of values.
#[derive(Clone, Copy)]
pub(super) struct BlobFile {
    pub(super) name: &'static str,
    pub(super) magic: &'static [u8; 8],
    /// Values of other versions are ignored.
    pub(super) version: u64,
    /// The maximum size of the file.
    pub(super) max_bytes: usize,
}

pub(super) struct KeptBlobs<'c> {
    file: BlobFile,
    cache: Option<Cache<'c>>,
    /// The stored file, or empty.
    known: Vec<u8>,
    new: Mutex<Vec<(u128, Vec<u8>)>>,
}

impl<'c> KeptBlobs<'c> {
    pub(super) fn load(file: BlobFile, cache: Option<Cache<'c>>) -> Self {
        let known = cache.as_ref().and_then(|cache| cache.load_sealed(file.name, file.magic)).unwrap_or_default();
        Self { file, cache, known, new: Mutex::default() }
    }

    /// Whether new values are stored at all.
    pub(super) fn is_open(&self) -> bool {
        self.cache.is_some()
    }

    /// All stored values, sorted by key.
    fn table(&self) -> Option<(&[[u8; 16]], Blobs<'_>)> {
        let mut reader = SectionReader::new(self.known.get(HEAD..)?);
        if reader.u64()? != self.file.version {
            return None;
        }
        let (keys, rest) = reader.blob()?.as_chunks::<16>();
        let blobs = reader.blobs()?;
        (rest.is_empty() && blobs.len() == keys.len()).then_some((keys, blobs))
    }

    /// A view for lookups from many threads.
    pub(super) fn view(&self) -> BlobView<'_> {
        BlobView { kept: self, table: self.table() }
    }

    /// Stores the new values and the known ones that `is_kept` accepts, if at least one in `worth_writing` values is new. A
    /// failure is ignored.
    pub(super) fn save(self, worth_writing: usize, is_kept: impl Fn(u128) -> bool) {
        let mut all = self.new.lock().map(|mut new| std::mem::take(&mut *new)).unwrap_or_default();
        let Some(cache) = &self.cache else { return };
        let known = self.table();
        let count = known.as_ref().map_or(0, |(keys, _)| keys.len());
        if all.is_empty() || all.len() < count / worth_writing {
            return;
        }
        if let Some((keys, blobs)) = known {
            let old = keys.iter().enumerate().map(|(at, key)| (u128::from_be_bytes(*key), blobs.get(at)));
            let old = old.filter(|(key, _)| is_kept(*key));
            all.extend(old.filter_map(|(key, blob)| Some((key, blob?.to_vec()))));
        }
        all.sort_unstable();
        all.dedup_by_key(|(key, _)| *key);
        let size: usize = all.iter().map(|(_, blob)| blob.len() + 20).sum();
        if size > self.file.max_bytes {
            return;
        }
        let mut writer = SectionWriter::with_capacity(size + 64);
        writer.u64(self.file.version);
        writer.blob(&all.iter().flat_map(|(key, _)| key.to_be_bytes()).collect::<Vec<u8>>());
        writer.blobs(all.iter().map(|(_, blob)| blob.as_slice()));
        let _ = cache.store_sealed(self.file.name, self.file.magic, &writer.into_bytes());
    }
}

/// See [`KeptBlobs::view`].
pub(super) struct BlobView<'k> {
    kept: &'k KeptBlobs<'k>,
    table: Option<(&'k [[u8; 16]], Blobs<'k>)>,
}

impl BlobView<'_> {
    pub(super) fn find<T: DeserializeOwned>(&self, key: u128) -> Option<T> {
        let (keys, blobs) = self.table.as_ref()?;
        let at = keys.binary_search(&key.to_be_bytes()).ok()?;
        postcard::from_bytes(blobs.get(at)?).ok()
    }

    /// Adds a value, to be stored by [`KeptBlobs::save`].
    pub(super) fn add<T: Serialize + ?Sized>(&self, key: u128, value: &T) {
        if self.kept.is_open()
            && let Ok(encoded) = postcard::to_stdvec(value)
        {
            self.kept.new.lock().unwrap_or_else(PoisonError::into_inner).push((key, encoded));
        }
    }

    pub(super) fn is_open(&self) -> bool {
        self.kept.is_open()
    }
}
