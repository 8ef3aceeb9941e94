//! The last context run that changed nothing: everything that it depends on besides the graph, and its report. A run that finds
//! all of it unchanged repeats the report and does not read the files that it would archive.

use serde::{Deserialize, Serialize};
use stan_repo::System;

use super::map::{DocumentFingerprint, Manifests, still_holds};
use super::relevance::HEAD;
use super::{Cache, Identity};

/// Raise this when runs archive, report or write differently.
const FORMAT: u32 = 1;
const MAGIC: &[u8; 8] = b"stan-run";
pub(super) const FILE: &str = "run.data";

/// The stored record of a run.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct StoredRun {
    /// Options and configuration.
    key: Vec<u8>,
    /// Which graph of the cache the run used.
    graph: Vec<u8>,
    /// Every input and output of the run besides the files of the graph, with its fingerprint.
    seen: Vec<(String, u64)>,
    /// The fingerprint of the private map, which every run rewrites.
    pub(crate) lock: DocumentFingerprint,
    /// As JSON.
    pub(crate) report: String,
}

impl StoredRun {
    /// `None` if the run saw something that a later run cannot compare.
    pub(crate) fn new(
        key: &[u8],
        graph: Identity,
        seen: Manifests,
        lock: DocumentFingerprint,
        report: String,
    ) -> Option<Self> {
        seen.fingerprint()?;
        Some(Self { key: keyed(key), graph: postcard::to_stdvec(&graph).ok()?, seen: seen.seen, lock, report })
    }

    /// Whether the run used this graph.
    pub(crate) fn belongs_to(&self, graph: Identity) -> bool {
        postcard::to_stdvec(&graph).is_ok_and(|graph| graph == self.graph)
    }

    /// Whether everything besides the graph is unchanged.
    fn is_unchanged(&self, system: &dyn System) -> bool {
        still_holds(system, &self.seen)
    }
}

/// Includes the version of the rules for secrets: a report says what they found.
fn keyed(key: &[u8]) -> Vec<u8> {
    [FORMAT.to_le_bytes().as_slice(), &stan_secrets::VERSION.to_le_bytes(), key].concat()
}

impl Cache<'_> {
    /// The stored run with these options, if none of its inputs besides the graph has changed.
    pub(crate) fn load_run(&self, key: &[u8]) -> Option<StoredRun> {
        let bytes = self.load_sealed(FILE, MAGIC)?;
        let run: StoredRun = postcard::from_bytes(bytes.get(HEAD..)?).ok()?;
        (run.key == keyed(key) && run.is_unchanged(self.system)).then_some(run)
    }

    /// Stores the run for the next one. A failure is ignored.
    pub(crate) fn store_run(&self, run: &StoredRun) -> Option<()> {
        self.store_sealed(FILE, MAGIC, &postcard::to_stdvec(run).ok()?)
    }
}
