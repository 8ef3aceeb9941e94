//! Repeats the last context run if nothing that it depends on has changed: then neither the map nor the archived files are read
//! again.
//!
//! The graph's index covers the files of the repository. Here is the rest: archived files that are not in the index or
//! have another stat there, stan's own folders, the selection, the snapshot, and the outputs of the earlier run. Runs with
//! externals, imports, scripts or other formats are not kept: they depend on more than this.

use std::path::Path;

use rustc_hash::FxHashMap;
use serde::Serialize;
use stan_model::Ecosystem;
use stan_repo::{Access, EntryKind, System as _, entries_below};

use super::super::allow::Origin;
use super::super::assemble::Assembled;
use super::super::formats::ArchiveFormat;
use super::super::layout::Artefact;
use super::super::reports::{ArchiveMode, ExternalsReport, RunReport};
use super::super::session::{Session, refuse};
use super::super::workspace_files::read_if_there;
use super::ContextRun;
use crate::cache::{Cache, DocumentFingerprint, Identity, Manifests, StoredRun};
use crate::error::EngineError;
use crate::graph::open_cache;

/// What this run writes: whatever writes there later leaves another stat.
const OUTPUTS: [Artefact; 5] =
    [Artefact::Archive, Artefact::DiffArchive, Artefact::DiffList, Artefact::Meta, Artefact::Overview];

/// An earlier run whose results are all in place, unless the graph has changed.
pub(super) struct KeptRun {
    stored: StoredRun,
    report: RunReport,
    /// The bytes of the private map.
    lock: Vec<u8>,
}

impl KeptRun {
    pub(super) fn belongs_to(&self, graph: Identity) -> bool {
        self.stored.belongs_to(graph)
    }
}

impl ContextRun<'_> {
    /// The earlier run that this one may repeat.
    pub(super) fn kept_run(&self) -> Option<KeptRun> {
        if !self.is_kept_kind() {
            return None;
        }
        let stored = self.cache()?.load_run(&self.key()?)?;
        let lock = read_if_there(self.system, self.layout, &self.layout.artefact(Artefact::ExternalsLock)).ok()??;
        let report = decoded(&stored.report).filter(|_| DocumentFingerprint::of(&lock) == stored.lock)?;
        Some(KeptRun { stored, report, lock })
    }

    /// Says what the earlier run said. Only the private map is written again, because its permissions may have changed.
    pub(super) fn repeat(&self, kept: Option<KeptRun>, session: &Session<'_>) -> Result<RunReport, EngineError> {
        let Some(KeptRun { report, lock, .. }) = kept else {
            return Err(EngineError::internal("a run was skipped that nothing allowed to skip"));
        };
        let mut transaction = session.begin(self.layout)?;
        let path = self.layout.artefact(Artefact::ExternalsLock);
        transaction.write(&path, &lock, Access::Private).map_err(refuse)?;
        self.system.ensure_no_transient_errors()?;
        transaction.commit().map_err(refuse)?;
        Ok(report)
    }

    /// Keeps a run that is done, for the next one. A failure is ignored.
    pub(super) fn keep_run(&self, assembled: &Assembled, report: &RunReport, observed_at: i64) {
        let _ = self.try_keep_run(assembled, report, observed_at);
    }

    fn try_keep_run(&self, assembled: &Assembled, report: &RunReport, observed_at: i64) -> Option<()> {
        let inputs = assembled.inputs.as_ref().filter(|inputs| inputs.externals().next().is_none())?;
        let (map, manifests) = inputs.kept_as.as_ref()?;
        let has_baseline = report.diff.as_ref().is_some_and(|diff| diff.has_baseline);
        let is_plain = report.externals == ExternalsReport::default() && report.removed.is_empty();
        // A run that rewrote the selection may have changed its own input: then the next run is kept instead.
        let state = self.layout.artefact(Artefact::State);
        if !(self.is_kept_kind() && has_baseline && is_plain && !report.written.contains(&state)) {
            return None;
        }
        // A kept run is repeated only where the graph's files have the stats of its index: those need no second look.
        let index = self.cache()?.load_index().filter(|index| index.identity() == map.graph);
        let known = index.as_ref().map(|index| index.files.proved()).unwrap_or_default();
        let seen = self.seen(assembled, manifests.clone(), &known, observed_at)?;
        let lock = self.layout.artefact(Artefact::ExternalsLock);
        // What the next run says when nothing has changed.
        let next = RunReport { written: vec![lock], ..report.clone() };
        let fingerprint = DocumentFingerprint::of(&inputs.integrity.encode());
        let report = serde_json::to_string(&next).ok()?;
        self.cache()?.store_run(&StoredRun::new(&self.key()?, map.graph, seen, fingerprint, report)?)
    }

    /// Everything besides the graph that decides what a run says, or holds its results. `known`: files that the graph's index
    /// has, with their fingerprints.
    fn seen(
        &self,
        assembled: &Assembled,
        mut seen: Manifests,
        known: &FxHashMap<&str, u64>,
        observed_at: i64,
    ) -> Option<Manifests> {
        let layout = self.layout;
        let mut note = |path: &str| seen.note_unless_known(self.system, &layout.absolute(path), observed_at, known);
        for (path, allowed) in &assembled.allowlist.files {
            match &allowed.origin {
                Origin::Bytes(_) => {}
                Origin::File(real) if real == path => note(real),
                // A link on the way to a file may change without it.
                Origin::File(_) | Origin::Elsewhere(_) | Origin::Staged => return None,
            }
        }
        let outputs = OUTPUTS.map(|output| layout.artefact(output));
        for file in assembled.allowlist.left_out.iter().filter(|file| !outputs.contains(&file.path)) {
            note(&file.path);
        }
        for input in [Artefact::State, Artefact::ContextSnapshot] {
            seen.note(self.system, &layout.absolute(&layout.artefact(input)), observed_at);
        }
        for folder in ["system", "imports"].map(|name| layout.absolute(&layout.own(name))) {
            seen.note(self.system, &folder, observed_at);
            if self.system.lstat(Path::new(&folder)).is_err() {
                continue;
            }
            for entry in entries_below(self.system, Path::new(&folder)) {
                let entry = entry.ok()?;
                match entry.kind {
                    EntryKind::Dir => seen.note(self.system, entry.path().to_str()?, observed_at),
                    EntryKind::File => {}
                    EntryKind::Link | EntryKind::Other => return None,
                }
            }
        }
        let staged = Ecosystem::ALL.into_iter().map(|ecosystem| layout.own(ecosystem.context_folder()));
        for own in outputs.into_iter().chain([layout.own("output")]).chain(staged) {
            seen.note_own(self.system, &layout.absolute(&own));
        }
        Some(seen)
    }

    fn is_kept_kind(&self) -> bool {
        let request = self.request;
        request.mode == ArchiveMode::Context
            && !(request.frozen || request.plan)
            && request.scripts.is_empty()
            && request.format == ArchiveFormat::Tar
            && self.repository.config.imports.is_empty()
    }

    pub(super) fn cache(&self) -> Option<Cache<'_>> {
        let options = self.repository.config.graph_options(self.repository.root);
        open_cache(self.system, &options, &self.request.work)
    }

    /// Options and configuration.
    fn key(&self) -> Option<Vec<u8>> {
        #[derive(Serialize)]
        struct Key<'a>(&'a str, &'a str, [bool; 2], u64, Option<&'a str>);
        let request = self.request;
        let config = format!("{:?}", self.repository.config);
        let flags = [request.pretty, request.full_map];
        let tokenizer = request.tokens.as_ref().map(|tokenizer| tokenizer.name());
        postcard::to_stdvec(&Key(self.repository.root, &config, flags, request.epoch, tokenizer)).ok()
    }
}

/// The report as it was written. What it leaves out where it is empty is empty.
fn decoded(report: &str) -> Option<RunReport> {
    let mut value: serde_json::Value = serde_json::from_str(report).ok()?;
    value.as_object_mut()?.entry("scripts").or_insert_with(|| serde_json::Value::Array(Vec::new()));
    let report: RunReport = serde_json::from_value(value).ok()?;
    // An earlier run said them.
    Some(RunReport { errors_are_known: true, ..report })
}
