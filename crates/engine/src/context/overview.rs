//! The overview beside an archive, and whether the map is small enough to be archived. Both are computed or read from the cache.

use std::sync::Arc;

use stan_repo::WritableSystem;

use super::Repository;
use super::allow::Allowlist;
use super::assemble::ArchiveRequest;
use super::layout::Artefact;
use super::workspace_files::read_if_there;
use crate::cache::{Cache, MapIdentity, OverviewKey, StoredOverviews};
use crate::error::EngineError;
use crate::graph::open_cache;
use crate::overview::overview_document;
use crate::tokens::Tokenizer;

/// How many of the files left out the overview lists.
const MAX_LEFT_OUT_LISTED: usize = 12;

/// A map's overview and token count.
pub(crate) struct MapSummary<'a> {
    system: &'a dyn WritableSystem,
    repository: &'a Repository<'a>,
    wanted: &'a ArchiveRequest<'a>,
    /// The cached map that this describes, if there is one.
    kept: Option<(Cache<'a>, MapIdentity)>,
    stored: StoredOverviews,
    has_more: bool,
}

impl<'a> MapSummary<'a> {
    /// `map`: the identity of the map in the cache, if it is stored there.
    pub(crate) fn new(
        system: &'a dyn WritableSystem,
        repository: &'a Repository<'a>,
        wanted: &'a ArchiveRequest<'a>,
        map: Option<MapIdentity>,
    ) -> Self {
        let options = repository.config.graph_options(repository.root);
        let kept = map.and_then(|map| Some((open_cache(system, &options, wanted.work)?, map)));
        let stored = kept.as_ref().map(|(cache, map)| cache.load_overviews(map)).unwrap_or_default();
        Self { system, repository, wanted, kept, stored, has_more: false }
    }

    /// The token count of a map that is too large for an archive. `meta`: its minified document.
    pub(crate) fn tokens_if_too_large(&mut self, meta: &[u8]) -> Option<u64> {
        let limit = self.repository.config.context.meta_tokens;
        // A token has at least one byte, so a document with no more bytes than the limit fits.
        if self.wanted.full_map || limit == 0 || meta.len() as u64 <= limit {
            return None;
        }
        let tokens = self.stored.map_tokens().unwrap_or_else(|| {
            let tokens = Tokenizer::default().count(meta);
            self.stored.set_map_tokens(tokens);
            self.has_more = true;
            tokens
        });
        (tokens > limit).then_some(tokens)
    }

    /// The overview, which starts with what the archive does not contain. A frozen run uses the one on disk.
    pub(crate) fn overview(
        mut self,
        allowlist: &Allowlist,
        meta_tokens: Option<u64>,
    ) -> Result<Option<Arc<Vec<u8>>>, EngineError> {
        if self.wanted.frozen {
            let layout = self.repository.layout();
            return Ok(read_if_there(self.system, &layout, &layout.artefact(Artefact::Overview))?.map(Arc::new));
        }
        let notes = self.notes(allowlist, meta_tokens);
        let budget = self.repository.config.context.overview_tokens;
        let key = OverviewKey { budget, tokenizer: Tokenizer::default().name(), notes: &notes };
        let text = match self.stored.find(&key) {
            Some(text) => text.to_vec(),
            None => {
                let made = overview_document(self.wanted.engine, self.repository, self.wanted.work, &notes)?;
                // Store it only if it is of this map: files or manifests may have changed since the map was built.
                if self.kept.as_ref().is_some_and(|(_, map)| made.belongs_to(map)) {
                    self.stored.add(&key, &made.text);
                    self.has_more = true;
                }
                made.text
            }
        };
        if let Some((cache, map)) = self.kept.filter(|_| self.has_more) {
            cache.store_overviews(&map, &self.stored);
        }
        Ok(Some(Arc::new(text)))
    }

    fn notes(&self, allowlist: &Allowlist, meta_tokens: Option<u64>) -> Vec<String> {
        let mut notes = Vec::new();
        if let Some(tokens) = meta_tokens {
            let meta = self.repository.layout().artefact(Artefact::Meta);
            notes.push(format!(
                "Not in the archive: {meta} ({tokens} tokens; `stan run --context --full-map` adds it). Node ids are the \
                 paths below: folder + name."
            ));
        }
        let by_default = allowlist.left_out.iter().filter(|file| file.is_default);
        let left_out: Vec<&str> = by_default.map(|file| file.path.as_str()).collect();
        if !left_out.is_empty() {
            let shown = left_out.iter().take(MAX_LEFT_OUT_LISTED).copied().collect::<Vec<_>>().join(", ");
            let more = left_out.len().saturating_sub(MAX_LEFT_OUT_LISTED);
            let more = if more > 0 { format!(" and {more} more") } else { String::new() };
            notes.push(format!("Left out of the archive by default, to be selected by path: {shown}{more}."));
        }
        notes
    }
}
