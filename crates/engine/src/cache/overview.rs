//! The overview of a stored map and the number of its tokens. With them, an unchanged run loads neither the facts of the files
//! nor the tokenizer.
//!
//! Both belong to one map: to its graph, to the manifests that named its externals, and to its document. Overviews also
//! depend on their options and on the lines at their top, which are part of their keys.

use serde::Serialize;

use super::Cache;
use super::bytes::{SectionReader, SectionWriter};
use super::map::MapIdentity;
use super::relevance::HEAD;

/// Raise this when overviews are written or stored in another way.
const FORMAT: u32 = 2;
const MAGIC: &[u8; 8] = b"stanover";
pub(super) const FILE: &str = "overview.data";

/// Runs of other modes have other lines at the top. Older overviews are dropped.
const MAX_OVERVIEWS: usize = 4;

/// An unknown number of tokens.
const NO_TOKENS: u64 = u64::MAX;

/// The inputs of an overview besides its map.
#[derive(Debug, Serialize)]
pub(crate) struct OverviewKey<'k> {
    /// The maximum number of tokens.
    pub(crate) budget: u64,
    pub(crate) tokenizer: &'k str,
    /// Further lines at its top.
    pub(crate) notes: &'k [String],
}

impl OverviewKey<'_> {
    fn encode(&self) -> Option<Vec<u8>> {
        postcard::to_stdvec(self).ok()
    }
}

/// The overviews of one map, and its tokens.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct StoredOverviews {
    map_tokens: Option<u64>,
    /// Each with its key, the latest first.
    texts: Vec<(Vec<u8>, Vec<u8>)>,
}

impl StoredOverviews {
    /// The tokens of the map's minified document, by the default tokenizer.
    pub(crate) fn map_tokens(&self) -> Option<u64> {
        self.map_tokens
    }

    pub(crate) fn set_map_tokens(&mut self, tokens: u64) {
        self.map_tokens = Some(tokens);
    }

    pub(crate) fn find(&self, key: &OverviewKey<'_>) -> Option<&[u8]> {
        let key = key.encode()?;
        self.texts.iter().find(|(known, _)| *known == key).map(|(_, text)| text.as_slice())
    }

    pub(crate) fn add(&mut self, key: &OverviewKey<'_>, text: &[u8]) {
        let Some(key) = key.encode() else { return };
        self.texts.retain(|(known, _)| *known != key);
        self.texts.insert(0, (key, text.to_vec()));
        self.texts.truncate(MAX_OVERVIEWS);
    }

    fn encode(&self, map: &[u8]) -> Vec<u8> {
        let mut writer = SectionWriter::default();
        writer.blob(map);
        writer.u64(self.map_tokens.unwrap_or(NO_TOKENS));
        for (key, text) in &self.texts {
            writer.blob(key);
            writer.blob(text);
        }
        writer.into_bytes()
    }

    /// Returns `None` if they belong to another map.
    fn decode(bytes: &[u8], map: &[u8]) -> Option<Self> {
        let mut reader = SectionReader::new(bytes);
        if reader.blob()? != map {
            return None;
        }
        let map_tokens = Some(reader.u64()?).filter(|tokens| *tokens != NO_TOKENS);
        let mut texts = Vec::new();
        while !reader.is_empty() {
            texts.push((reader.blob()?.to_vec(), reader.blob()?.to_vec()));
        }
        Some(Self { map_tokens, texts })
    }
}

impl Cache<'_> {
    /// The stored overviews of exactly this map. Empty if no run of this user wrote any.
    pub(crate) fn load_overviews(&self, map: &MapIdentity) -> StoredOverviews {
        let load = || {
            let bytes = self.load_sealed(FILE, MAGIC)?;
            StoredOverviews::decode(bytes.get(HEAD..)?, &map_bytes(map)?)
        };
        load().unwrap_or_default()
    }

    /// Stores overviews for the next run. A failure is ignored.
    pub(crate) fn store_overviews(&self, map: &MapIdentity, overviews: &StoredOverviews) -> Option<()> {
        self.store_sealed(FILE, MAGIC, &overviews.encode(&map_bytes(map)?))
    }
}

fn map_bytes(map: &MapIdentity) -> Option<Vec<u8>> {
    postcard::to_stdvec(&(FORMAT, map)).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn notes(text: &str) -> Vec<String> {
        vec![text.to_owned()]
    }

    fn key(notes: &[String], budget: u64) -> OverviewKey<'_> {
        OverviewKey { budget, tokenizer: "o200k", notes }
    }

    #[test]
    fn overviews_survive_a_round_trip_and_truncated_ones_are_refused() {
        let (one, other) = (notes("one"), notes("other"));
        let mut stored = StoredOverviews::default();
        assert_eq!(StoredOverviews::decode(&stored.encode(b"map"), b"map").as_ref(), Some(&stored));
        stored.set_map_tokens(7);
        stored.add(&key(&one, 1), b"first");
        stored.add(&key(&other, 1), b"second");
        let bytes = stored.encode(b"map");
        assert_eq!(StoredOverviews::decode(&bytes, b"map").as_ref(), Some(&stored));
        assert_eq!(StoredOverviews::decode(&bytes, b"another map"), None);
        for length in 0..bytes.len() {
            let cut = StoredOverviews::decode(&bytes[..length], b"map");
            assert!(cut.is_none_or(|cut| cut.texts.len() < 2), "{length}");
        }
    }

    #[test]
    fn an_overview_is_found_only_by_its_whole_key() {
        let (one, other) = (notes("one"), notes("other"));
        let mut stored = StoredOverviews::default();
        stored.add(&key(&one, 1), b"text");
        assert_eq!(stored.find(&key(&one, 1)), Some(b"text".as_slice()));
        assert_eq!(stored.find(&key(&one, 2)), None);
        assert_eq!(stored.find(&key(&other, 1)), None);
        assert_eq!(stored.find(&OverviewKey { tokenizer: "cl100k", ..key(&one, 1) }), None);
        for budget in 2..20 {
            stored.add(&key(&one, budget), b"text");
        }
        assert_eq!(stored.texts.len(), MAX_OVERVIEWS);
        assert_eq!(stored.find(&key(&one, 19)), Some(b"text".as_slice()));
        assert_eq!(stored.find(&key(&one, 1)), None, "the oldest are forgotten");
    }
}
