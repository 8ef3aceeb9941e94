//! Token counts of files by their contents, so that an unchanged file is not counted again. One file per tokenizer.

use std::path::Path;
use std::sync::{Mutex, PoisonError};

use stan_model::Digest;
use stan_repo::{SystemExt as _, sha256};
use xxhash_rust::xxh3::xxh3_64_with_seed;

use super::Cache;
use super::bytes::{SectionReader, SectionWriter};
use crate::tokens::{COUNT_VERSION, Tokenizer};

/// Fits the entries of several million files.
const MAX_FILE_BYTES: u64 = 256 << 20;

/// The maximum number of stored entries.
const MAX_ENTRIES: usize = 1 << 20;

/// The files of the tokenizers that are slow enough to need one.
pub(super) const FILES: [&str; 2] = ["tokens.o200k", "tokens.cl100k"];

/// Token counts by contents.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct TokenTable {
    /// Sorted by key.
    entries: Vec<(u128, u64)>,
}

impl TokenTable {
    /// Half of a digest is enough to distinguish contents.
    pub(crate) fn key(digest: &Digest) -> u128 {
        let (half, _) = digest.0.split_first_chunk::<16>().unwrap_or((&[0; 16], &[]));
        u128::from_le_bytes(*half)
    }

    pub(crate) fn of(entries: impl Iterator<Item = (u128, u64)>) -> Self {
        let mut entries: Vec<(u128, u64)> = entries.collect();
        entries.sort_unstable();
        entries.dedup_by_key(|(key, _)| *key);
        Self { entries }
    }

    /// This table with more entries. If there are too many, old entries are dropped.
    pub(crate) fn with(&self, new: impl Iterator<Item = (u128, u64)>) -> Self {
        let known = self.entries.iter().copied().take(MAX_ENTRIES);
        Self::of(known.chain(new))
    }

    pub(crate) fn get(&self, key: u128) -> Option<u64> {
        let found = self.entries.binary_search_by_key(&key, |(known, _)| *known).ok()?;
        self.entries.get(found).map(|(_, tokens)| *tokens)
    }
}

/// The stored counts of earlier runs, and the new counts of this run.
pub(crate) struct KeptTokens<'c> {
    cache: Option<Cache<'c>>,
    tokenizer: Tokenizer,
    known: TokenTable,
    new: Mutex<Vec<(u128, u64)>>,
}

impl<'c> KeptTokens<'c> {
    pub(crate) fn load(cache: Option<Cache<'c>>, tokenizer: Tokenizer) -> Self {
        // An estimate is cheaper than a lookup.
        let cache = cache.filter(|_| tokenizer != Tokenizer::Bytes4);
        let known = cache.as_ref().map(|cache| cache.load_tokens(tokenizer.name())).unwrap_or_default();
        Self { cache, tokenizer, known, new: Mutex::default() }
    }

    /// The stored count of contents.
    pub(crate) fn known(&self, digest: &Digest) -> Option<u64> {
        self.known.get(TokenTable::key(digest))
    }

    /// The tokens of the contents with this digest, which `read` returns. `None` if they cannot be read.
    pub(crate) fn count(&self, digest: &Digest, read: impl FnOnce() -> Option<Vec<u8>>) -> Option<u64> {
        let key = TokenTable::key(digest);
        if let Some(tokens) = self.known.get(key) {
            return Some(tokens);
        }
        let bytes = read()?;
        let tokens = self.tokenizer.count(&bytes);
        // The file may have changed since it was hashed.
        if self.cache.is_some() && sha256(&bytes) == *digest {
            self.new.lock().unwrap_or_else(PoisonError::into_inner).push((key, tokens));
        }
        Some(tokens)
    }

    /// Stores the new counts for the next run.
    pub(crate) fn save(self) {
        let new = self.new.into_inner().unwrap_or_else(PoisonError::into_inner);
        if let Some(cache) = self.cache.filter(|_| !new.is_empty()) {
            cache.store_tokens(self.tokenizer.name(), &self.known.with(new.into_iter()));
        }
    }
}

fn file_name(tokenizer: &str) -> String {
    format!("tokens.{tokenizer}")
}

impl Cache<'_> {
    /// Empty if no run of this user wrote the file.
    pub(crate) fn load_tokens(&self, tokenizer: &str) -> TokenTable {
        self.try_load_tokens(tokenizer).unwrap_or_default()
    }

    fn try_load_tokens(&self, tokenizer: &str) -> Option<TokenTable> {
        let path = self.path(&file_name(tokenizer));
        self.trusted(&path, MAX_FILE_BYTES)?;
        let mut bytes = Vec::new();
        self.system.read_at_most(Path::new(&path), MAX_FILE_BYTES, &mut bytes).ok()?;
        let (checksum, body) = bytes.split_first_chunk::<8>()?;
        if u64::from_le_bytes(*checksum) != xxh3_64_with_seed(body, COUNT_VERSION) {
            return None;
        }
        let mut reader = SectionReader::new(body);
        let mut entries = Vec::with_capacity(body.len() / 24);
        while !reader.is_empty() {
            let (low, high) = (reader.u64()?, reader.u64()?);
            entries.push((u128::from(high) << 64 | u128::from(low), reader.u64()?));
        }
        entries.is_sorted_by(|one, other| one.0 < other.0).then_some(TokenTable { entries })
    }

    pub(crate) fn store_tokens(&self, tokenizer: &str, table: &TokenTable) {
        let mut writer = SectionWriter::default();
        for (key, tokens) in &table.entries {
            writer.u64(*key as u64);
            writer.u64((*key >> 64) as u64);
            writer.u64(*tokens);
        }
        let body = writer.into_bytes();
        let mut bytes = xxh3_64_with_seed(&body, COUNT_VERSION).to_le_bytes().to_vec();
        bytes.extend_from_slice(&body);
        // Without the cache, the next run is only slower.
        let _ = self.write(&file_name(tokenizer), &bytes);
    }
}
