//! The small half of the cache: the files to stat in order to decide whether the last answer is still valid, and the figures of
//! that answer. An unchanged run reads nothing else.

use std::path::Path;
use std::sync::Arc;

use rayon::prelude::*;
use rustc_hash::FxHashMap;
use serde::{Deserialize, Serialize};
use stan_graph::Summary;
use stan_repo::{DirectoryHandleCache, Observations, Stat, System};
use xxhash_rust::xxh3::xxh3_64;

use super::bytes::{SectionReader, SectionWriter};
use super::data::DataPart;
use super::edits::StoredEdits;
use super::ids::RecordId;
use crate::graph::record::PathList;

/// The figures of a graph that answer `--stats` without the graph.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Answer {
    pub(crate) summary: Summary,
    pub(crate) dirty: usize,
    /// Already sorted and truncated.
    pub(crate) errors: Vec<String>,
}

pub(crate) struct Index {
    /// `System::now` at the start of the run that made the cache.
    pub(crate) observed_at: i64,
    /// The parts of the data file that belongs to this index.
    pub(crate) parts: [Section; DataPart::COUNT],
    pub(crate) answer: Answer,
    pub(crate) observations: Observations,
    pub(crate) files: FileTable,
    /// A fingerprint of each file's facts.
    pub(crate) facts: FactsTable,
    /// The edits that later runs found. `files` already has their fingerprints.
    pub(super) edits: Option<StoredEdits>,
}

/// A part of the data file.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub(crate) struct Section {
    pub(crate) length: u64,
    pub(crate) checksum: u64,
}

impl Section {
    fn write(&self, writer: &mut SectionWriter) {
        writer.u64(self.length);
        writer.u64(self.checksum);
    }

    fn read_all(reader: &mut SectionReader<'_>) -> Option<[Self; DataPart::COUNT]> {
        let mut parts = [Self { length: 0, checksum: 0 }; DataPart::COUNT];
        for part in &mut parts {
            *part = Self { length: reader.u64()?, checksum: reader.u64()? };
        }
        Some(parts)
    }
}

/// Identifies the graph in a cache: the run that made it, checksums of its parts, and the later edits. Cannot be guessed from
/// outside.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub(crate) struct Identity {
    observed_at: i64,
    parts: [Section; DataPart::COUNT],
    /// [`StoredEdits::state`]; 0 without edited contents.
    edits: u64,
}

impl Index {
    /// The identity of the cache with its edits.
    pub(crate) fn identity(&self) -> Identity {
        Identity { edits: self.edits.as_ref().map_or(0, StoredEdits::state), ..self.base() }
    }

    /// The identity of the cache without its edits.
    pub(super) fn base(&self) -> Identity {
        Identity { observed_at: self.observed_at, parts: self.parts, edits: 0 }
    }

    /// The identity of the cache with other edits.
    pub(crate) fn identity_with(&self, edits: &StoredEdits) -> Identity {
        Identity { edits: edits.state(), ..self.base() }
    }

    /// The figures of the graph with the edits.
    pub(crate) fn current_answer(&self) -> &Answer {
        self.edits.as_ref().and_then(StoredEdits::answer).unwrap_or(&self.answer)
    }

    /// The files whose contents are not those of the data, sorted.
    pub(crate) fn edited(&self) -> Vec<RecordId> {
        self.edits.as_ref().map(StoredEdits::edited).unwrap_or_default()
    }

    /// Whether everything except the files' contents is unchanged since the cache was written.
    pub(crate) fn is_world_unchanged(&self, system: &dyn System) -> bool {
        self.observations.changes(system, self.observed_at).is_empty()
            && self.edits.as_ref().is_none_or(|edits| edits.directories_hold(system))
    }

    /// Whether the edited files would still resolve to the same targets.
    pub(crate) fn edits_hold(&self, system: &dyn System) -> bool {
        self.edits.as_ref().is_none_or(|edits| edits.resolution_holds(system))
    }

    /// Applies the edits of a later run, if they belong to this cache.
    pub(super) fn take_edits(&mut self, edits: StoredEdits) {
        let is_known = |(file, _): &(u32, u64)| (*file as usize) < self.files.len();
        if !edits.belongs_to(self.base()) || !edits.fingerprints().iter().all(is_known) {
            return;
        }
        for (file, fingerprint) in edits.fingerprints() {
            if let Some(place) = self.files.fingerprints.get_mut(*file as usize) {
                *place = *fingerprint;
            }
        }
        let directories = edits.directories();
        self.observations.directories.retain(|seen| !directories.contains(&*seen.path));
        self.edits = Some(edits);
    }

    /// Appends the encoded index to `before`.
    pub(crate) fn encode(&self, before: Vec<u8>) -> Option<Vec<u8>> {
        let mut writer = SectionWriter::after(before);
        writer.reserve(self.files.paths.text.len() + 24 * self.files.len() + (1 << 16));
        writer.u64(self.observed_at.cast_unsigned());
        self.parts.iter().for_each(|part| part.write(&mut writer));
        writer.blob(&postcard::to_stdvec(&self.answer).ok()?);
        writer.blob(&postcard::to_stdvec(&self.observations).ok()?);
        self.files.write(&mut writer);
        writer.blob(&self.facts.bytes);
        Some(writer.into_bytes())
    }

    pub(crate) fn decode(bytes: &[u8]) -> Option<Self> {
        let mut reader = SectionReader::new(bytes);
        let index = Self {
            observed_at: reader.u64()?.cast_signed(),
            parts: Section::read_all(&mut reader)?,
            answer: postcard::from_bytes(reader.blob()?).ok()?,
            observations: postcard::from_bytes(reader.blob()?).ok()?,
            files: FileTable::read(&mut reader)?,
            facts: FactsTable { bytes: reader.blob()?.to_vec() },
            edits: None,
        };
        reader.is_empty().then_some(index)
    }
}

/// A fingerprint of each file's facts. With it, an unchanged figure is recognised without loading the data.
#[derive(Default)]
pub(crate) struct FactsTable {
    bytes: Vec<u8>,
}

impl FactsTable {
    /// The fingerprint of a file that cannot be compared without the data.
    pub(crate) const OPAQUE: u64 = u64::MAX;

    /// A fingerprint for each file; 0 for a file that has no facts and needs none.
    pub(crate) fn new(fingerprints: impl ExactSizeIterator<Item = u64>) -> Self {
        let mut bytes = Vec::with_capacity(8 * fingerprints.len());
        fingerprints.for_each(|fingerprint| bytes.extend_from_slice(&fingerprint.to_le_bytes()));
        Self { bytes }
    }

    pub(crate) fn get(&self, file: usize) -> Option<u64> {
        let (fingerprints, _) = self.bytes.as_chunks::<8>();
        fingerprints
            .get(file)
            .map(|fingerprint| u64::from_le_bytes(*fingerprint))
            .filter(|fingerprint| *fingerprint != Self::OPAQUE)
    }
}

/// Never the fingerprint of a file, so that comparing with it always finds a change.
pub(crate) const UNPROVED: u64 = 0;

/// All files whose contents are part of the answer, each with a fingerprint of its stat.
#[derive(Default)]
pub(crate) struct FileTable {
    /// Absolute.
    paths: Arc<PathList>,
    fingerprints: Vec<u64>,
}

impl FileTable {
    /// `fingerprints`: one for each path.
    pub(crate) fn new(paths: Arc<PathList>, fingerprints: Vec<u64>) -> Self {
        Self { paths, fingerprints }
    }

    pub(crate) fn len(&self) -> usize {
        self.paths.ends.len()
    }

    /// Empty for an index that is out of range, from a damaged cache.
    pub(crate) fn path(&self, index: usize) -> &str {
        self.paths.get(index)
    }

    pub(crate) fn fingerprint(&self, index: usize) -> u64 {
        self.fingerprints.get(index).copied().unwrap_or(UNPROVED)
    }

    /// The fingerprints by path, without [`UNPROVED`] ones.
    pub(crate) fn proved(&self) -> FxHashMap<&str, u64> {
        let fingerprints = (0..self.len()).map(|index| (self.path(index), self.fingerprint(index)));
        fingerprints.filter(|(_, fingerprint)| *fingerprint != UNPROVED).collect()
    }

    /// The files whose stat is not the recorded one.
    pub(crate) fn changed(&self, system: &dyn System) -> Vec<u32> {
        (0..self.len())
            .into_par_iter()
            .with_min_len(64)
            .map_init(
                || DirectoryHandleCache::for_stat(system),
                |neighbours, index| (!self.is_same(index, neighbours, system)).then_some(index as u32),
            )
            .flatten_iter()
            .collect()
    }

    fn is_same<'a>(&'a self, index: usize, neighbours: &mut DirectoryHandleCache<'a>, system: &dyn System) -> bool {
        let recorded = self.fingerprint(index);
        if recorded == UNPROVED {
            return false;
        }
        let path = self.path(index);
        let (directory, name) = path.rsplit_once('/').unwrap_or_default();
        let stat = match neighbours.handle_for(directory, directory) {
            Some(files) => files.lstat(name),
            None => system.lstat(Path::new(path)),
        };
        stat.is_ok_and(|stat| fingerprint(&stat) == recorded)
    }

    /// In the layout that it has in memory, because every run reads it.
    fn write(&self, writer: &mut SectionWriter) {
        writer.u32s(self.paths.ends.iter().copied());
        writer.u64(self.fingerprints.len() as u64 * 8);
        self.fingerprints.iter().for_each(|fingerprint| writer.u64(*fingerprint));
        writer.blob(self.paths.text.as_bytes());
    }

    fn read(reader: &mut SectionReader<'_>) -> Option<Self> {
        let ends: Vec<u32> = reader.u32s()?.iter().collect();
        let (fingerprints, rest) = reader.blob()?.as_chunks::<8>();
        let fingerprints: Vec<u64> = fingerprints.iter().map(|fingerprint| u64::from_le_bytes(*fingerprint)).collect();
        let text = std::str::from_utf8(reader.blob()?).ok()?.to_owned();
        let is_whole = rest.is_empty() && fingerprints.len() == ends.len();
        is_whole.then_some(Self { paths: Arc::new(PathList { text, ends }), fingerprints })
    }
}

/// A hash of everything in a stat; never [`UNPROVED`].
pub(crate) fn fingerprint(stat: &Stat) -> u64 {
    let mut bytes = [0u8; 33];
    bytes[..8].copy_from_slice(&stat.size.to_le_bytes());
    bytes[8..16].copy_from_slice(&stat.mtime.to_le_bytes());
    bytes[16..24].copy_from_slice(&stat.ctime.to_le_bytes());
    bytes[24..32].copy_from_slice(&stat.inode.to_le_bytes());
    bytes[32] = stat.kind as u8;
    xxh3_64(&bytes).max(UNPROVED + 1)
}

/// The fingerprint to record. [`UNPROVED`] if a change right after reading could have left the stat the same.
pub(crate) fn proved_fingerprint(stat: &Stat, observed_at: i64) -> u64 {
    if stan_repo::is_racy(stat, observed_at) { UNPROVED } else { fingerprint(stat) }
}

#[cfg(test)]
mod tests {
    use stan_repo::{OsSystem, WritableSystem};

    use super::*;

    fn push(table: &mut FileTable, path: &str, fingerprint: u64) {
        Arc::make_mut(&mut table.paths).push([path, ""]);
        table.fingerprints.push(fingerprint);
    }

    #[test]
    fn file_tables_survive_a_round_trip() {
        let mut table = FileTable::default();
        for (path, fingerprint) in [("/r/src/a.ts", 1), ("/r/src/ab.ts", 2), ("/r/x", 3), ("/r/ü", 4), ("", 5)] {
            push(&mut table, path, fingerprint);
        }
        let mut writer = SectionWriter::default();
        table.write(&mut writer);
        let bytes = writer.into_bytes();
        let read = FileTable::read(&mut SectionReader::new(&bytes)).unwrap();
        assert_eq!(
            (0..read.len()).map(|i| (read.path(i), read.fingerprint(i))).collect::<Vec<_>>(),
            (0..table.len()).map(|i| (table.path(i), table.fingerprint(i))).collect::<Vec<_>>()
        );
        for length in 0..bytes.len() {
            assert!(FileTable::read(&mut SectionReader::new(&bytes[..length])).is_none());
        }
    }

    /// The first files of a folder get an lstat by path, the others by name relative to the directory handle.
    #[test]
    fn changes_are_detected_at_every_position_in_a_folder() {
        let folder = tempfile::tempdir().unwrap();
        let real = stan_repo::real_path(&OsSystem, folder.path()).unwrap();
        let at = |number: u32| folder.path().join(format!("{number:02}"));
        let mut table = FileTable::default();
        for number in 0..40 {
            OsSystem.write_atomic(&at(number), b"text").unwrap();
            push(&mut table, &format!("{real}/{number:02}"), fingerprint(&OsSystem.lstat(&at(number)).unwrap()));
        }
        push(&mut table, &format!("{real}/40"), 1);
        assert_eq!(table.changed(&OsSystem), [40], "what was never there is not as it was");
        for number in [3, 30] {
            OsSystem.write_atomic(&at(number), b"other text").unwrap();
        }
        for number in [5, 20, 25] {
            OsSystem.remove_file(&at(number)).unwrap();
        }
        OsSystem.create_dir_all(&at(25)).unwrap();
        assert_eq!(table.changed(&OsSystem), [3, 5, 20, 25, 30, 40]);
    }
}
