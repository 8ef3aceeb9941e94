//! Edits since a cache was written: files with another stat, files with other contents, and the figures of the updated graph.
//! Kept in a small file beside the index, so that an edit does not rewrite a large cache and later runs do not process the same
//! edit again.

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
/// With more changed stats than this, a full run rewrites the cache.
const MAX_FINGERPRINTS: usize = 1024;

/// The edits of one cache.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct StoredEdits {
    /// Identity of the cache that was edited.
    base: Vec<u8>,
    /// For files whose stat differs from the index: the fingerprint to compare with instead. Sorted by file.
    fingerprints: Vec<(u32, u64)>,
    /// Directories of the index whose stat changed while their entries did not, and when they were stat'ed.
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
    /// The stats and reads while the edited files were resolved, and their time.
    observations: Observations,
    resolved_at: i64,
}

/// The edits that one run found.
pub(crate) struct NewEdits {
    /// Files that were read because their stat differs from the index, with the fingerprint of their current stat.
    pub(crate) fingerprints: Vec<(RecordId, u64)>,
    /// The files whose contents differ from the data.
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
    pub(super) fn belongs_to(&self, base: Identity) -> bool {
        postcard::to_stdvec(&base).is_ok_and(|base| base == self.base)
    }

    pub(super) fn fingerprints(&self) -> &[(u32, u64)] {
        &self.fingerprints
    }

    pub(super) fn answer(&self) -> Option<&Answer> {
        self.contents.answer.as_ref()
    }

    pub(super) fn edited(&self) -> Vec<RecordId> {
        self.contents.files.iter().map(|(file, _)| RecordId(*file)).collect()
    }

    /// A hash of everything that the updated graph depends on; 0 if the graph is that of the cache.
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
    /// Whether so much changed that the cache should be rewritten.
    pub(crate) fn has_too_many_edits(&self) -> bool {
        self.edits.as_ref().is_some_and(|edits| edits.fingerprints.len() > MAX_FINGERPRINTS)
    }

    /// Whether the cache already knows exactly these edited contents.
    pub(crate) fn has_edits(&self, new: &NewEdits) -> bool {
        let known = self.edits.as_ref().map_or(&[][..], |edits| &edits.contents.files);
        known == new.files()
    }

    /// The edits to store after a run that resolved nothing: the known ones with current stats. `None` if that is what is stored
    /// already.
    pub(crate) fn with_stats(&self, system: &dyn System, new: &NewEdits, now: i64) -> Option<StoredEdits> {
        let known = self.edits.as_ref().filter(|_| self.has_edits(new));
        let contents = known.map(|edits| edits.contents.clone()).unwrap_or_default();
        let edits = self.new_edits(system, new, contents, now)?;
        known.is_none_or(|known| known.fingerprints != edits.fingerprints).then_some(edits)
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
        // Earlier fingerprints stay valid unless the file was read again.
        let read: FxHashSet<u32> = new.fingerprints.iter().map(|(file, _)| file.0).collect();
        let earlier = self.edits.as_ref().map_or(&[][..], |edits| &edits.fingerprints);
        let kept = earlier.iter().filter(|(file, _)| !read.contains(file)).copied();
        let mut fingerprints: Vec<(u32, u64)> =
            kept.chain(new.fingerprints.iter().map(|(file, fingerprint)| (file.0, *fingerprint))).collect();
        fingerprints.sort_unstable();
        let directories = self.changed_directories(system, &fingerprints);
        let base = postcard::to_stdvec(&self.base()).ok()?;
        Some(StoredEdits { base, fingerprints, directories, listed_at: now, contents })
    }

    /// The directories of these files with their current stats. The caller has compared their entries in this run, so the new
    /// stats belong to the known entries. A change in between is not lost: its stat is too young to be trusted by the next run.
    fn changed_directories(&self, system: &dyn System, fingerprints: &[(u32, u64)]) -> Observations {
        let folder = |(file, _): &(u32, u64)| self.files.path(*file as usize).rsplit_once('/').map_or("", |(it, _)| it);
        let paths: FxHashSet<&str> = fingerprints.iter().map(folder).collect();
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

    /// Stores the edits for the next run. A failure is ignored.
    pub(crate) fn store_edits(&self, edits: &StoredEdits) -> Option<()> {
        self.store_sealed(FILE, MAGIC, &postcard::to_stdvec(edits).ok()?)
    }
}
