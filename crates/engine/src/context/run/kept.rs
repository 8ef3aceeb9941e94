//! Repeats the result of the last context run if nothing that it depends on has changed. Then neither the map nor the archived
//! files are read.
//!
//! The graph's index covers the files of the repository. This module covers the rest: archived files that are not in the index or
//! have another stat there, stan's own folders, the selection, the snapshot, and the outputs of the earlier run. Runs with
//! externals, imports, scripts or other formats are not stored, because they depend on more than this.

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

/// The files that this run writes. Any later write to these files changes their stat.
const OUTPUTS: [Artefact; 5] =
    [Artefact::Archive, Artefact::DiffArchive, Artefact::DiffList, Artefact::Meta, Artefact::Overview];

/// An earlier run whose outputs are all in place; it may be repeated unless the graph has changed.
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

    /// Repeats the report of the earlier run. Only the private map is written, because its permissions may have changed.
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

    /// Stores a finished run for the next one. Errors are ignored.
    pub(super) fn keep_run(&self, assembled: &Assembled, report: &RunReport, observed_at: i64) {
        let _ = self.try_keep_run(assembled, report, observed_at);
    }

    fn try_keep_run(&self, assembled: &Assembled, report: &RunReport, observed_at: i64) -> Option<()> {
        let inputs = assembled.inputs.as_ref().filter(|inputs| inputs.externals().next().is_none())?;
        let (map, manifests) = inputs.kept_as.as_ref()?;
        let has_baseline = report.diff.as_ref().is_some_and(|diff| diff.has_baseline);
        let is_plain = report.externals == ExternalsReport::default() && report.removed.is_empty();
        // A run that rewrote the selection changed its own input, so its result is not stored; that of the next run is.
        let state = self.layout.artefact(Artefact::State);
        if !(self.is_kept_kind() && has_baseline && is_plain && !report.written.contains(&state)) {
            return None;
        }
        // A stored run is repeated only if the graph's files match the stats in its index, so those need not be recorded again.
        let index = self.cache()?.load_index().filter(|index| index.identity() == map.graph);
        let known = index.as_ref().map(|index| index.files.proved()).unwrap_or_default();
        let seen = self.seen(assembled, manifests.clone(), &known, observed_at)?;
        let lock = self.layout.artefact(Artefact::ExternalsLock);
        // The report of the next run if nothing changes.
        let next = RunReport { written: vec![lock], ..report.clone() };
        let fingerprint = DocumentFingerprint::of(&inputs.externals_lock.encode());
        let report = serde_json::to_string(&next).ok()?;
        self.cache()?.store_run(&StoredRun::new(&self.key()?, map.graph, seen, fingerprint, report)?)
    }

    /// Stats of everything besides the graph that the report depends on or that stores its results. `known`: the files of the
    /// graph's index, with their fingerprints.
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
                // A link in the path may change without a change of the file's own stat.
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
                    // The target of a link may change without a change of any stat recorded here.
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

    /// A key of options and configuration.
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

/// Decodes a stored report. Fields that were skipped because they were empty decode as empty.
fn decoded(report: &str) -> Option<RunReport> {
    let mut value: serde_json::Value = serde_json::from_str(report).ok()?;
    value.as_object_mut()?.entry("scripts").or_insert_with(|| serde_json::Value::Array(Vec::new()));
    let report: RunReport = serde_json::from_value(value).ok()?;
    // An earlier run already reported them.
    Some(RunReport { errors_are_known: true, ..report })
}
