//! The map of a graph, stored beside it: an unchanged run then neither loads the graph nor computes the map.
//!
//! A stored map is valid for one index and for the manifests that externals were named by, as long as none of them changes.

use std::collections::BTreeMap;
use std::path::Path;

use rustc_hash::FxHashMap;
use serde::{Deserialize, Serialize};
use stan_graph::{Map, MetaHashes};
use stan_model::document::externals_lock::{self, ExternalsLock};
use stan_repo::{EntryKind, System, SystemExt as _};
use xxhash_rust::xxh3::xxh3_64;

use super::bytes::{SectionReader, SectionWriter};
use super::index::{Identity, UNPROVED, fingerprint, proved_fingerprint};
use super::{Cache, FORMAT, MAX_DATA_BYTES};

const MAGIC: &[u8; 8] = b"stan-map";
pub(super) const FILE: &str = "map.data";

/// The inputs of the map besides the graph.
#[derive(Clone, Debug, Serialize)]
pub(crate) struct MapKey {
    pub(crate) stan_path: String,
    pub(crate) hashes: MetaHashes,
}

/// A map and what belongs to it.
pub(crate) struct StoredMap {
    pub(crate) map: Map,
    pub(crate) externals_lock: ExternalsLock,
    /// Of the map's minified document.
    pub(crate) document: DocumentFingerprint,
    /// Ids that denote different files.
    pub(crate) conflicts: BTreeMap<String, String>,
    pub(crate) identity: MapIdentity,
    pub(crate) manifests: Manifests,
}

/// The parts of a map that [`Cache::store_map`] stores.
pub(crate) struct MapParts<'m> {
    pub(crate) map: &'m Map,
    pub(crate) externals_lock: &'m ExternalsLock,
    /// Ids that denote different files.
    pub(crate) conflicts: &'m BTreeMap<String, String>,
}

/// Identifies a map in the cache. What was computed from a map is valid only for this identity.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub(crate) struct MapIdentity {
    pub(crate) graph: Identity,
    /// [`Manifests::fingerprint`].
    pub(crate) manifests: u64,
    /// Of the map's minified document.
    pub(crate) document: DocumentFingerprint,
}

/// Length and hash of a document's bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct DocumentFingerprint {
    length: u64,
    hash: u64,
}

impl DocumentFingerprint {
    pub(crate) fn of(bytes: &[u8]) -> Self {
        Self { length: bytes.len() as u64, hash: xxh3_64(bytes) }
    }
}

/// The manifests that were requested, with a fingerprint each; [`ABSENT`] for those that did not exist.
#[derive(Clone, Debug, Default)]
pub(crate) struct Manifests {
    pub(super) seen: Vec<(String, u64)>,
    /// Something was read whose stat cannot prove that it is unchanged.
    is_incomparable: bool,
}

/// The fingerprint of a file that does not exist; never that of one that does.
pub(super) const ABSENT: u64 = UNPROVED;

impl Manifests {
    /// Records the stat of a path that a run wrote or read while it holds the lock: any later write by another process
    /// changes the stat.
    pub(crate) fn note_own(&mut self, system: &dyn System, path: &str) {
        match system.lstat(Path::new(path)) {
            Ok(stat) if stat.kind == EntryKind::Link => self.is_incomparable = true,
            Ok(stat) => self.seen.push((path.to_owned(), fingerprint(&stat))),
            Err(error) if is_absent(&error) => self.seen.push((path.to_owned(), ABSENT)),
            Err(_) => self.is_incomparable = true,
        }
    }

    /// Records the stat of a manifest before it is read. `observed_at`: when the run began.
    pub(crate) fn note(&mut self, system: &dyn System, path: &str, observed_at: i64) {
        self.note_unless_known(system, path, observed_at, &FxHashMap::default());
    }

    /// As [`Manifests::note`], except for files with the same fingerprint in `known`, because those are compared with the index.
    pub(crate) fn note_unless_known(
        &mut self,
        system: &dyn System,
        path: &str,
        observed_at: i64,
        known: &FxHashMap<&str, u64>,
    ) {
        let print = match system.lstat(Path::new(path)) {
            // The target of a link may change without the link's stat.
            Ok(stat) if !matches!(stat.kind, EntryKind::File | EntryKind::Dir) => None,
            Ok(stat) => Some(proved_fingerprint(&stat, observed_at)).filter(|print| *print != UNPROVED),
            Err(error) if is_absent(&error) => Some(ABSENT),
            Err(_) => None,
        };
        match print {
            Some(print) if print != ABSENT && known.get(path) == Some(&print) => {}
            Some(print) => self.seen.push((path.to_owned(), print)),
            None => self.is_incomparable = true,
        }
    }
}

impl Manifests {
    /// A hash of all recorded stats; `None` if a later run could not compare them.
    pub(crate) fn fingerprint(&self) -> Option<u64> {
        if self.is_incomparable { None } else { fingerprint_of(&self.seen) }
    }

    /// Records that a manifest could not be read. If it exists, it may be readable in the next run.
    pub(crate) fn note_unreadable(&mut self, error: &std::io::Error) {
        self.is_incomparable |= !is_absent(error);
    }
}

fn fingerprint_of(seen: &[(String, u64)]) -> Option<u64> {
    postcard::to_stdvec(seen).ok().map(|bytes| xxh3_64(&bytes))
}

pub(super) fn still_holds(system: &dyn System, seen: &[(String, u64)]) -> bool {
    seen.iter().all(|(path, print)| match system.lstat(Path::new(path)) {
        Ok(stat) => fingerprint(&stat) == *print,
        Err(error) => is_absent(&error) && *print == ABSENT,
    })
}

fn is_absent(error: &std::io::Error) -> bool {
    matches!(error.kind(), std::io::ErrorKind::NotFound | std::io::ErrorKind::NotADirectory)
}

impl Cache<'_> {
    /// The stored map of the graph with this index identity, if it is still valid.
    pub(crate) fn load_map(&self, identity: Identity, key: &MapKey) -> Option<StoredMap> {
        let path = self.path(FILE);
        self.trusted(&path, MAX_DATA_BYTES)?;
        let mut bytes = Vec::new();
        self.system.read_at_most(Path::new(&path), MAX_DATA_BYTES, &mut bytes).ok()?;
        let body = bytes.strip_prefix(MAGIC)?;
        let (found_key, body) = body.split_first_chunk::<8>()?;
        let (checksum, body) = body.split_first_chunk::<8>()?;
        if u64::from_le_bytes(*found_key) != self.map_key(identity, key)?
            || u64::from_le_bytes(*checksum) != xxh3_64(body)
        {
            return None;
        }
        let mut reader = SectionReader::new(body);
        let manifests = reader.blob()?;
        let seen: Vec<(String, u64)> = postcard::from_bytes(manifests).ok()?;
        let document = postcard::from_bytes(reader.blob()?).ok()?;
        let externals_lock = externals_lock::decode(reader.blob()?, FILE).ok()?;
        let conflicts = postcard::from_bytes(reader.blob()?).ok()?;
        let map = Map::from_cache(reader.blob()?)?;
        let is_valid = reader.is_empty() && still_holds(self.system, &seen);
        let identity = MapIdentity { graph: identity, manifests: xxh3_64(manifests), document };
        let manifests = Manifests { seen, is_incomparable: false };
        is_valid.then_some(StoredMap { map, externals_lock, document, conflicts, identity, manifests })
    }

    /// Stores a map for the next run, and returns its identity in the cache. A failure is ignored.
    pub(crate) fn store_map(
        &self,
        identity: Identity,
        key: &MapKey,
        map: &MapParts<'_>,
        document: DocumentFingerprint,
        manifests: &Manifests,
    ) -> Option<MapIdentity> {
        let MapParts { map, externals_lock, conflicts } = map;
        let seen = manifests.fingerprint()?;
        let mut writer = SectionWriter::default();
        writer.blob(&postcard::to_stdvec(&manifests.seen).ok()?);
        writer.blob(&postcard::to_stdvec(&document).ok()?);
        writer.blob(&externals_lock.encode());
        writer.blob(&postcard::to_stdvec(conflicts).ok()?);
        writer.blob(&map.to_cache()?);
        let body = writer.into_bytes();
        let mut bytes = Vec::with_capacity(body.len() + 24);
        bytes.extend_from_slice(MAGIC);
        bytes.extend_from_slice(&self.map_key(identity, key)?.to_le_bytes());
        bytes.extend_from_slice(&xxh3_64(&body).to_le_bytes());
        bytes.extend_from_slice(&body);
        self.write(FILE, &bytes)?;
        Some(MapIdentity { graph: identity, manifests: seen, document })
    }

    fn map_key(&self, identity: Identity, key: &MapKey) -> Option<u64> {
        postcard::to_stdvec(&(FORMAT, self.key, identity, key)).ok().map(|bytes| xxh3_64(&bytes))
    }
}
