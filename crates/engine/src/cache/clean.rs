//! Digests of contents in which the rules for secrets found nothing, for one version of the rules.

use stan_model::Digest;

use super::Cache;
use super::bytes::{SectionReader, SectionWriter};
use super::relevance::HEAD;
use super::tokens::TokenTable;

const MAGIC: &[u8; 8] = b"stanscan";
pub(super) const FILE: &str = "clean.data";

/// Further digests are not stored.
const MAX_ENTRIES: usize = 1 << 20;

/// First halves of digests, sorted.
#[derive(Debug, Default)]
pub(crate) struct CleanContents {
    keys: Vec<u128>,
}

impl CleanContents {
    pub(crate) fn has(&self, digest: &Digest) -> bool {
        self.keys.binary_search(&TokenTable::key(digest)).is_ok()
    }
}

impl Cache<'_> {
    /// Empty if no run of this user wrote the file.
    pub(crate) fn load_clean(&self) -> CleanContents {
        let load = || {
            let bytes = self.load_sealed(FILE, MAGIC)?;
            let mut reader = SectionReader::new(bytes.get(HEAD..)?);
            let is_current = reader.u64()? == u64::from(stan_secrets::VERSION);
            let (keys, rest) = reader.blob()?.as_chunks::<16>();
            let keys: Vec<u128> = keys.iter().map(|key| u128::from_le_bytes(*key)).collect();
            (is_current && rest.is_empty() && keys.is_sorted()).then_some(CleanContents { keys })
        };
        load().unwrap_or_default()
    }

    /// Adds digests to the known ones. A failure is ignored.
    pub(crate) fn store_clean(&self, known: &CleanContents, found: impl Iterator<Item = Digest>) {
        let mut keys: Vec<u128> =
            found.filter(|digest| !known.has(digest)).map(|digest| TokenTable::key(&digest)).collect();
        if keys.is_empty() {
            return;
        }
        // When there are too many, digests of this run win over older ones.
        keys.extend(known.keys.iter().take(MAX_ENTRIES.saturating_sub(keys.len())));
        keys.sort_unstable();
        keys.dedup();
        let mut writer = SectionWriter::default();
        writer.u64(u64::from(stan_secrets::VERSION));
        writer.blob(&keys.iter().flat_map(|key| key.to_le_bytes()).collect::<Vec<u8>>());
        let _ = self.store_sealed(FILE, MAGIC, &writer.into_bytes());
    }
}
