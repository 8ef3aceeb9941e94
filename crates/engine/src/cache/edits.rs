//! What changed since a cache was written, as later runs found it: files with another stat, files with other contents, and the
//! figures of the graph with them. A small file beside the index, so that an edit does not rewrite a large cache, and the runs
//! after it do not find the same difference again.

use std::path::Path;

use rustc_hash::FxHashSet;
use serde::{Deserialize, Serialize};
use stan_model::Digest;
use stan_repo::{Observations, ObservedDirectory, System};
use xxhash_rust::xxh3::xxh3_64;

use super::Cache;
use super::ids::RecordId;
use super::index::{Answer, Identity, Index};
use super::relevance::HEAD;

const MAGIC: &[u8; 8] = b"stanedit";
pub(super) const FILE: &str = "graph.edits";
/// After more files with another stat than the index has, a full run writes everything again.
const MOST_PRINTS: usize = 1024;

/// The edits of one cache.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct StoredEdits {
    /// The cache without edits.
    base: Vec<u8>,
    /// Of files whose stat is not that of the index: the fingerprint to compare with. Sorted by file.
    prints: Vec<(u32, u64)>,
    /// Directories of the index whose stat changed while their entries did not, and when that was seen.
    directories: Observations,
    listed_at: i64,
    contents: EditedContents,
}

/// Everything that the graph with the edits depends on besides the cache.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
struct EditedContents {
    /// Sorted.
    files: Vec<(u32, Digest)>,
    /// `None` without edited files.
    answer: Option<Answer>,
    /// What was seen while the edited files were resolved, and when.
    observations: Observations,
    resolved_at: i64,
}

/// What a run found.
pub(crate) struct NewEdits {
    /// Files that were read because their stat is not that of the index, with the fingerprint of the stat that they have now.
    pub(crate) prints: Vec<(RecordId, u64)>,
    /// Those with other contents than the data has.
    pub(crate) files: Vec<(RecordId, Digest)>,
}

impl NewEdits {
    fn files(&self) -> Vec<(u32, Digest)> {
        let mut files: Vec<_> = self.files.iter().map(|(file, digest)| (file.0, *digest)).collect();
        files.sort_unstable_by_key(|(file, _)| *file);
        files
    }
}

impl StoredEdits {
    pub(super) fn is_of(&self, base: Identity) -> bool {
        postcard::to_stdvec(&base).is_ok_and(|base| base == self.base)
    }

    pub(super) fn prints(&self) -> &[(u32, u64)] {
        &self.prints
    }

    pub(super) fn answer(&self) -> Option<&Answer> {
        self.contents.answer.as_ref()
    }

    pub(super) fn edited(&self) -> Vec<RecordId> {
        self.contents.files.iter().map(|(file, _)| RecordId(*file)).collect()
    }

    /// Differs when the graph may differ; 0 when it is that of the cache.
    pub(super) fn state(&self) -> u64 {
        if self.contents.files.is_empty() {
            return 0;
        }
        postcard::to_stdvec(&self.contents).map_or(u64::MAX, |bytes| xxh3_64(&bytes).max(1))
    }

    pub(super) fn directories(&self) -> FxHashSet<&str> {
        self.directories.directories.iter().map(|seen| &*seen.path).collect()
    }

    pub(super) fn directories_hold(&self, system: &dyn System) -> bool {
        self.directories.changes(system, self.listed_at).is_empty()
    }

    pub(super) fn resolution_holds(&self, system: &dyn System) -> bool {
        self.contents.observations.changes(system, self.contents.resolved_at).is_empty()
    }
}

impl Index {
    /// Whether so much changed that everything should be written again.
    pub(crate) fn has_too_many_edits(&self) -> bool {
        self.edits.as_ref().is_some_and(|edits| edits.prints.len() > MOST_PRINTS)
    }

    /// Whether these are the edited contents that the cache knows already.
    pub(crate) fn has_edits(&self, new: &NewEdits) -> bool {
        let known = self.edits.as_ref().map_or(&[][..], |edits| &edits.contents.files);
        known == new.files()
    }

    /// The edits of a run that resolved nothing: the known ones with the stats that their files have now, or none. `None` where
    /// that is known already.
    pub(crate) fn with_stats(&self, system: &dyn System, new: &NewEdits, now: i64) -> Option<StoredEdits> {
        let known = self.edits.as_ref().filter(|_| self.has_edits(new));
        let contents = known.map(|edits| edits.contents.clone()).unwrap_or_default();
        let edits = self.new_edits(system, new, contents, now)?;
        known.is_none_or(|known| known.prints != edits.prints).then_some(edits)
    }

    /// The edits after a run that began at `now` and resolved them.
    pub(crate) fn with_edits(
        &self,
        system: &dyn System,
        new: &NewEdits,
        answer: Answer,
        observations: Observations,
        now: i64,
    ) -> Option<StoredEdits> {
        let contents = EditedContents { files: new.files(), answer: Some(answer), observations, resolved_at: now };
        self.new_edits(system, new, contents, now)
    }

    fn new_edits(
        &self,
        system: &dyn System,
        new: &NewEdits,
        contents: EditedContents,
        now: i64,
    ) -> Option<StoredEdits> {
        // Earlier ones hold unless the file was read again.
        let read: FxHashSet<u32> = new.prints.iter().map(|(file, _)| file.0).collect();
        let earlier = self.edits.as_ref().map_or(&[][..], |edits| &edits.prints);
        let kept = earlier.iter().filter(|(file, _)| !read.contains(file)).copied();
        let mut prints: Vec<(u32, u64)> = kept.chain(new.prints.iter().map(|(file, print)| (file.0, *print))).collect();
        prints.sort_unstable();
        let directories = self.changed_directories(system, &prints);
        let base = postcard::to_stdvec(&self.base()).ok()?;
        Some(StoredEdits { base, prints, directories, listed_at: now, contents })
    }

    /// The directories of these files with the stats that they have now. The caller has compared their entries in this run;
    /// a later change leaves a stat that is too young to be trusted.
    fn changed_directories(&self, system: &dyn System, prints: &[(u32, u64)]) -> Observations {
        let folder = |(file, _): &(u32, u64)| self.files.path(*file as usize).rsplit_once('/').map_or("", |(it, _)| it);
        let paths: FxHashSet<&str> = prints.iter().map(folder).collect();
        let earlier = self.edits.iter().flat_map(|edits| &edits.directories.directories);
        let known = self.observations.directories.iter().chain(earlier);
        let now = |seen: &ObservedDirectory| {
            let stat = system.lstat(Path::new(&seen.path)).ok()?;
            let is_directory = seen.stat.is_some_and(|before| before.kind == stat.kind);
            is_directory.then(|| ObservedDirectory { stat: Some(stat), ..seen.clone() })
        };
        let listed = known.filter(|seen| paths.contains(&*seen.path)).filter_map(now).collect();
        Observations { directories: listed, ..Observations::default() }
    }
}

impl Cache<'_> {
    pub(super) fn load_edits(&self) -> Option<StoredEdits> {
        let bytes = self.load_sealed(FILE, MAGIC)?;
        postcard::from_bytes(bytes.get(HEAD..)?).ok()
    }

    /// Keeps them for the next run. A failure is ignored.
    pub(crate) fn store_edits(&self, edits: &StoredEdits) -> Option<()> {
        self.store_sealed(FILE, MAGIC, &postcard::to_stdvec(edits).ok()?)
    }
}
