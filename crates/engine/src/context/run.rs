//! The verb `run`: writes the archive, the diff archive, and everything that the next run and the assistant need besides them.
//!
//! All outputs are prepared and verified before the first one is put in place. Only imports are staged earlier, because the map
//! must see them.

mod kept;

use std::cmp::Reverse;
use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;

use stan_archive::{
    ArchiveEntry, Changes, External, FinishedArchive, Mismatch, Mismatches, OutputStream, Snapshot, Transaction,
    Written, stage, write_archive_knowing, write_diff,
};
use stan_graph::{JsonStyle, MetaHashes};
use stan_model::json::indented_json;
use stan_model::{Digest, ProgrammingFiles};
use stan_repo::{Access, EntryKind, System as _, SystemExt as _, WritableSystem};

use super::Repository;
use super::allow::{Allowed, Origin};
use super::assemble::{
    ArchiveRequest, Assembled, ContextInputs, assemble, assemble_unless, external_entry, plain_entries,
};
use super::count::Counted;
use super::formats::{ArchiveFormat, DiffContents, Formats};
use super::import;
use super::layout::{Artefact, WorkspaceLayout};
use super::map::encoded;
use super::map_verifier::{MapVerifier, changed_meanwhile, no_longer_matching};
use super::outside::{announce, from_outside};
use super::progress::Progress;
use super::read_only::ReadOnly;
use super::reports::{
    ArchiveMode, ArchiveReport, DiffReport, ExternalsReport, FormatReport, LeftOutReport, MapReport, Part, RunReport,
    SizedPath, WeighedPath, tokens,
};
use super::session::{Session, refuse};
use super::strict_system::StrictSystem;
use super::workspace_files::{check_folders, file_has_bytes, read_if_there};
use crate::cache::Cache;
use crate::engine::Engine;
use crate::error::EngineError;
use crate::graph::GraphRequest;
use crate::not_analysed::{not_analysed, not_analysed_of_map};
use crate::scripts::ScriptOutput;
use crate::secrets::reported;
use crate::tokens::Tokenizer;

#[derive(Clone, Debug)]
pub struct RunRequest {
    pub mode: ArchiveMode,
    /// Use the map on disk as it is, and fail on any file that does not match it.
    pub frozen: bool,
    /// Write map and selection indented. Archives always contain the minified forms.
    pub pretty: bool,
    /// Archive the map even if it is too large for most models.
    pub full_map: bool,
    /// Report what would be written, and change nothing.
    pub plan: bool,
    /// The modification time of every entry, in seconds since the epoch.
    pub epoch: u64,
    /// Count the archived files with this tokenizer, besides the estimate. Reads them a second time.
    pub tokens: Option<Tokenizer>,
    /// Output of the scripts that ran before: archived, and stored in `output/`.
    pub scripts: Vec<ScriptOutput>,
    /// An additional format of the archives, besides the tar.
    pub format: ArchiveFormat,
    /// For text formats: the token limit of a part; 0 for a single part.
    pub split: u64,
    pub work: GraphRequest,
}

impl RunRequest {
    /// A run that writes only a tar, with default options.
    pub fn new(mode: ArchiveMode, work: GraphRequest) -> Self {
        Self {
            mode,
            frozen: false,
            pretty: false,
            full_map: false,
            plan: false,
            epoch: 0,
            tokens: None,
            scripts: Vec::new(),
            format: ArchiveFormat::Tar,
            split: 0,
            work,
        }
    }
}

/// The content of the only file in a diff archive if nothing changed.
const NO_CHANGES: &[u8] = b"Nothing changed since the snapshot.\n";

/// How many of the largest files are reported.
const MAX_LARGEST_REPORTED: usize = 10;

/// Writes the archives. On an error, outputs, map, selection and snapshots are unchanged.
pub fn run(
    engine: &Engine<'_>,
    repository: &Repository<'_>,
    request: &RunRequest,
    progress: &mut dyn Progress,
) -> Result<RunReport, EngineError> {
    let layout = repository.layout();
    let strict = StrictSystem::new(engine.system(), &request.work);
    check_folders(&strict, &layout)?;
    let engine = &engine.over(&strict);
    let run = ContextRun { system: &strict, engine, repository, request, layout: &layout };
    if request.plan { run.plan(progress) } else { run.perform(progress) }
}

struct ContextRun<'a> {
    system: &'a StrictSystem<'a>,
    /// Uses that system.
    engine: &'a Engine<'a>,
    repository: &'a Repository<'a>,
    request: &'a RunRequest,
    layout: &'a WorkspaceLayout,
}

impl ContextRun<'_> {
    fn perform(&self, progress: &mut dyn Progress) -> Result<RunReport, EngineError> {
        progress.stage("waiting for the workspace");
        let session = Session::open(self.system, self.layout, progress)?;
        // Before any input is read: a stat that is not older than this proves nothing to the next run.
        let observed_at = self.system.now();
        let imported = import::refresh(self.system, self.repository, self.layout, &session)?;
        let kept = self.kept_run();
        let is_same = |_: &Cache<'_>, graph| kept.as_ref().is_some_and(|kept| kept.belongs_to(graph));
        let assembled = assemble_unless(self.system, self.repository, &self.wanted(), progress, Some(&is_same))?;
        let Some(mut assembled) = assembled else { return self.repeat(kept, &session) };
        assembled.warnings.extend(imported.warnings);
        self.evidence(&mut assembled);
        let externals = from_outside(self.layout, assembled.inputs.as_ref(), imported.outside);
        announce(&externals, progress);
        // Read it before the expensive work: a broken snapshot must fail early.
        let baseline = self.baseline()?;
        let mut transaction = session.begin(self.layout)?;

        progress.stage("verifying externals");
        let mut entries = plain_entries(self.repository, self.layout, &assembled.allowlist);
        if let Some(inputs) = &assembled.inputs {
            let staged = self.engine.share(|| stage(&mut transaction, externals_of(inputs)));
            let staged = with_mismatches(staged, self.prove_unselected(inputs)).map_err(refuse)?;
            entries.extend(staged.entries().map(|entry| external_entry(self.repository, inputs, entry)));
        }
        self.documents(&assembled, &mut transaction)?;
        self.script_outputs(&mut transaction)?;

        progress.stage("writing the archive");
        let archive_path = self.layout.artefact(Artefact::Archive);
        let mut stream = transaction.stream_unless_same(&archive_path, Access::Undecided).map_err(refuse)?;
        let written = self.archive(entries, &mut stream)?;
        let archive = transaction.finish(stream).map_err(refuse)?;
        self.check_against_map(&assembled, &written)?;

        progress.stage("writing the diff");
        let finished = FinishedArchive { file: &archive, written: &written };
        let diff = self.diff(&mut transaction, finished, baseline.as_ref())?;
        let formats = self.formats(&mut transaction, finished, baseline.as_ref())?;
        let mut outputs = Outputs { written: imported.written, removed: imported.removed };
        outputs.written.extend(transaction.writes().map(str::to_owned));
        outputs.removed.extend(transaction.removals());
        // Last, so that it covers every read: a file that could not be read must not look removed.
        self.system.ensure_no_transient_errors()?;
        progress.stage("putting everything in place");
        transaction.commit().map_err(refuse)?;
        let report = RunReport { externals, formats, ..self.report(&assembled, &written, diff, outputs) };
        let report = self.counted(&assembled, &written, report);
        self.keep_run(&assembled, &report, observed_at);
        Ok(report)
    }

    /// Adds the scripts' outputs, and removes those of earlier runs.
    fn evidence(&self, assembled: &mut Assembled) {
        let files = &mut assembled.allowlist.files;
        files.retain(|path, _| !self.layout.is_script_output(path));
        for script in &self.request.scripts {
            let origin = Origin::Bytes(Arc::new(script.text.clone()));
            files.insert(script.report.path.clone(), Allowed { origin, in_base: true, in_closure: false });
        }
    }

    fn script_outputs(&self, transaction: &mut Transaction<'_>) -> Result<(), EngineError> {
        let folder = self.layout.own("output");
        for entry in self.system.read_real_dir(Path::new(&self.layout.absolute(&folder))).unwrap_or_default() {
            let path = entry.name.to_str().map(|name| [&folder, "/", name].concat());
            let stale = path.filter(|path| entry.kind == EntryKind::File && self.layout.is_script_output(path));
            if let Some(path) = stale.filter(|path| self.request.scripts.iter().all(|one| one.report.path != *path)) {
                transaction.remove(&path).map_err(refuse)?;
            }
        }
        for script in &self.request.scripts {
            transaction.write(&script.report.path, &script.text, Access::Shared).map_err(refuse)?;
        }
        Ok(())
    }

    /// Like `perform`, but without a lock and a transaction: externals are verified where they are installed.
    fn plan(&self, progress: &mut dyn Progress) -> Result<RunReport, EngineError> {
        let imports = import::to_be_staged(self.system, self.repository, self.layout)?;
        let system = ReadOnly { system: self.system, imports };
        // The map is built through the same view, which ignores cache writes and shows imports as staged.
        let engine = self.engine.over(&system);
        let wanted = ArchiveRequest { engine: &engine, ..self.wanted() };
        let mut assembled = assemble(&system, self.repository, &wanted, progress)?;
        let mut imported = Vec::new();
        if self.request.mode != ArchiveMode::Meta {
            let Assembled { allowlist, warnings, .. } = &mut assembled;
            imported = import::plan_imports(self.system, self.repository, self.layout, allowlist, warnings)?;
        }
        let externals = from_outside(self.layout, assembled.inputs.as_ref(), imported);
        announce(&externals, progress);
        let baseline = self.baseline()?;
        let mut entries = plain_entries(self.repository, self.layout, &assembled.allowlist);
        let mut outputs = Outputs::default();
        if let Some(inputs) = &assembled.inputs {
            progress.stage("verifying externals");
            let proved = stan_archive::prove(self.system, self.layout.stan_path(), externals_of(inputs));
            let proved = with_mismatches(proved, self.prove_unselected(inputs)).map_err(refuse)?;
            entries.extend(proved.into_iter().map(|entry| external_entry(self.repository, inputs, entry)));
            outputs.written.extend(inputs.externals().map(|index| inputs.map.id(index).to_owned()));
            outputs.written.extend(
                [Artefact::Meta, Artefact::Overview, Artefact::ExternalsLock, Artefact::State]
                    .map(|one| self.layout.artefact(one)),
            );
        }
        progress.stage("measuring the archive");
        let written = self.archive(entries, &mut OutputStream::discarding())?;
        self.check_against_map(&assembled, &written)?;
        outputs.written.push(self.layout.artefact(Artefact::Archive));
        let diff = self.planned_diff(&mut outputs, &written, baseline.as_ref())?;
        self.system.ensure_no_transient_errors()?;
        let report = RunReport { externals, ..self.report(&assembled, &written, diff, outputs) };
        Ok(self.counted(&assembled, &written, report))
    }

    /// The archives in the requested format, besides the tar.
    fn formats(
        &self,
        transaction: &mut Transaction<'_>,
        archive: FinishedArchive<'_>,
        baseline: Option<&Snapshot>,
    ) -> Result<Vec<FormatReport>, EngineError> {
        let formats = Formats {
            system: self.system,
            layout: self.layout,
            format: self.request.format,
            split: self.request.split,
            tokenizer: self.request.tokens.unwrap_or_default(),
        };
        let is_diffed = self.request.mode != ArchiveMode::Meta && self.request.format != ArchiveFormat::Tar;
        let changes = is_diffed.then(|| archive.written.snapshot().changes_since(baseline));
        let extra = changes.as_ref().map(|changes| self.extra_entries(changes, baseline.is_some())).unwrap_or_default();
        let diff = changes.as_ref().map(|changes| DiffContents {
            names: changes.added.iter().chain(&changes.changed).map(String::as_str).collect(),
            extra: &extra,
        });
        self.engine.share(|| formats.write(transaction, archive, diff.as_ref()))
    }

    /// The report with exact token counts, if requested.
    fn counted(&self, assembled: &Assembled, written: &Written, mut report: RunReport) -> RunReport {
        let Some(tokenizer) = self.request.tokens else { return report };
        // A plan changes nothing, not even the cache.
        let cache_directory = self.request.work.cache_directory.clone().filter(|_| !self.request.plan);
        let work = GraphRequest { cache_directory, ..self.request.work.clone() };
        let source = Counted { system: self.system, repository: self.repository, work: &work };
        let counts = self.engine.share(|| source.count(assembled, written, tokenizer));
        counts.put_into(&mut report, assembled, written);
        report
    }

    fn wanted(&self) -> ArchiveRequest<'_> {
        let RunRequest { mode, frozen, full_map, work, .. } = self.request;
        ArchiveRequest { mode: *mode, frozen: *frozen, full_map: *full_map, engine: self.engine, work }
    }

    fn archive(&self, entries: Vec<ArchiveEntry>, out: &mut OutputStream) -> Result<Written, EngineError> {
        // A plan changes nothing, not even the cache.
        let cache = if self.request.plan { None } else { self.cache() };
        let known = cache.as_ref().map(Cache::load_clean).unwrap_or_default();
        let is_clean = |digest: &Digest| known.has(digest);
        let write = || write_archive_knowing(self.system, entries, self.request.epoch, out, &is_clean);
        let written = self.engine.share(write).map_err(refuse)?;
        if let Some(cache) = cache {
            cache.store_clean(&known, written.files.iter().filter(|file| file.is_clean).map(|file| file.digest));
        }
        Ok(written)
    }

    /// Writes the map, the private map and the selection, if they changed.
    fn documents(&self, assembled: &Assembled, transaction: &mut Transaction<'_>) -> Result<(), EngineError> {
        let Some(inputs) = &assembled.inputs else { return Ok(()) };
        if !self.request.frozen {
            let externals_lock = inputs.externals_lock.encode();
            self.write_changed(transaction, Artefact::ExternalsLock, &externals_lock, Access::Private)?;
            if self.request.pretty {
                let bytes = encoded(&inputs.map, JsonStyle::Indented)?;
                self.write_changed(transaction, Artefact::Meta, &bytes, Access::Shared)?;
            } else if !inputs.meta_is_in_place {
                self.write_changed(transaction, Artefact::Meta, &inputs.meta_bytes, Access::Shared)?;
            }
            if let Some(overview) = &inputs.overview {
                self.write_changed(transaction, Artefact::Overview, overview, Access::Shared)?;
            }
        }
        let indented = self.request.pretty.then(|| indented_json(&inputs.state_bytes));
        let state = indented.as_deref().unwrap_or(&inputs.state_bytes);
        self.write_changed(transaction, Artefact::State, state, Access::Shared)
    }

    fn write_changed(
        &self,
        transaction: &mut Transaction<'_>,
        artefact: Artefact,
        bytes: &[u8],
        access: Access,
    ) -> Result<(), EngineError> {
        let path = self.layout.artefact(artefact);
        // The private map is always rewritten, because its permissions may have changed too.
        if artefact != Artefact::ExternalsLock && file_has_bytes(self.system, self.layout, &path, bytes)? {
            return Ok(());
        }
        // The selection and the snapshots cannot be rebuilt, so they must survive a power cut too.
        let is_unique = matches!(artefact, Artefact::State | Artefact::PlainSnapshot | Artefact::ContextSnapshot);
        let prepared = if is_unique {
            transaction.write_durable(&path, bytes, access)
        } else {
            transaction.write(&path, bytes, access)
        };
        prepared.map(drop).map_err(refuse)
    }

    /// Every file that the map names must match the map's hash: the archived ones and, in a frozen run, which passes the map on
    /// without rebuilding it, all others too.
    fn check_against_map(&self, assembled: &Assembled, written: &Written) -> Result<(), EngineError> {
        let Some(inputs) = &assembled.inputs else { return Ok(()) };
        let verifier = MapVerifier { system: self.system, layout: self.layout, map: &inputs.map };
        if !self.request.frozen {
            let details = verifier.mismatches_in_archive(written);
            return if details.is_empty() { Ok(()) } else { Err(changed_meanwhile(details)) };
        }
        let mut details = verifier.mismatches_in_archive(written);
        details.extend(self.engine.share(|| verifier.mismatches_on_disk(written)));
        if details.is_empty() { Ok(()) } else { Err(no_longer_matching(details)) }
    }

    /// In a frozen run, externals that are not selected are verified too, where they are installed.
    fn prove_unselected(&self, inputs: &ContextInputs) -> Result<Vec<Mismatch>, stan_archive::Error> {
        if !self.request.frozen {
            return Ok(Vec::new());
        }
        let externals = inputs.unselected_externals().map(|index| external_of(inputs, index)).collect();
        match self.engine.share(|| stan_archive::prove(self.system, self.layout.stan_path(), externals)) {
            Ok(_) => Ok(Vec::new()),
            Err(stan_archive::Error::Mismatches(mismatches)) => Ok(mismatches.0),
            Err(other) => Err(other),
        }
    }

    fn snapshot_artefact(&self) -> Artefact {
        match self.request.mode {
            ArchiveMode::Plain => Artefact::PlainSnapshot,
            ArchiveMode::Meta | ArchiveMode::Context => Artefact::ContextSnapshot,
        }
    }

    fn baseline(&self) -> Result<Option<Snapshot>, EngineError> {
        if self.request.mode == ArchiveMode::Meta {
            return Ok(None);
        }
        load_snapshot(self.system, self.layout, self.snapshot_artefact())
    }

    fn diff(
        &self,
        transaction: &mut Transaction<'_>,
        archive: FinishedArchive<'_>,
        baseline: Option<&Snapshot>,
    ) -> Result<Option<DiffReport>, EngineError> {
        let (path, list) = (self.layout.artefact(Artefact::DiffArchive), self.layout.artefact(Artefact::DiffList));
        if self.request.mode == ArchiveMode::Meta {
            for stale in [path, list] {
                if super::map::exists(self.system, self.layout, &stale) {
                    transaction.remove(&stale).map_err(refuse)?;
                }
            }
            return Ok(None);
        }
        let snapshot = archive.written.snapshot();
        let changes = snapshot.changes_since(baseline);
        let extra = self.extra_entries(&changes, baseline.is_some());
        let names = changes.added.iter().chain(&changes.changed).map(String::as_str);
        let mut stream = transaction.stream_unless_same(&path, Access::Undecided).map_err(refuse)?;
        let size = write_diff(self.system, archive, names, &extra, self.request.epoch, &mut stream).map_err(refuse)?;
        transaction.finish(stream).map_err(refuse)?;
        self.write_changed(transaction, Artefact::DiffList, &changes.encode(), Access::Shared)?;
        if baseline.is_none() {
            self.write_changed(transaction, self.snapshot_artefact(), &snapshot.encode(), Access::Shared)?;
        }
        Ok(Some(self.diff_report(&changes, archive.written, &extra, baseline.is_some(), size)))
    }

    fn planned_diff(
        &self,
        outputs: &mut Outputs,
        written: &Written,
        baseline: Option<&Snapshot>,
    ) -> Result<Option<DiffReport>, EngineError> {
        let stale = [Artefact::DiffArchive, Artefact::DiffList].map(|artefact| self.layout.artefact(artefact));
        if self.request.mode == ArchiveMode::Meta {
            outputs.removed.extend(stale.into_iter().filter(|path| super::map::exists(self.system, self.layout, path)));
            return Ok(None);
        }
        outputs.written.extend(stale);
        if baseline.is_none() {
            outputs.written.push(self.layout.artefact(self.snapshot_artefact()));
        }
        let changes = written.snapshot().changes_since(baseline);
        let extra = self.extra_entries(&changes, baseline.is_some());
        let names = changes.added.iter().chain(&changes.changed).map(String::as_str);
        let size = stan_archive::diff_size(written, names, &extra).map_err(refuse)?;
        Ok(Some(self.diff_report(&changes, written, &extra, baseline.is_some(), size)))
    }

    /// The entries of a diff archive besides the changed files.
    fn extra_entries(&self, changes: &Changes, has_baseline: bool) -> Vec<ArchiveEntry> {
        if !has_baseline {
            return Vec::new();
        }
        vec![if changes.is_empty() {
            ArchiveEntry::bytes(self.layout.artefact(Artefact::NoChanges), NO_CHANGES)
        } else {
            ArchiveEntry::bytes(self.layout.artefact(Artefact::DiffList), changes.encode())
        }]
    }

    fn diff_report(
        &self,
        changes: &Changes,
        written: &Written,
        extra: &[ArchiveEntry],
        has_baseline: bool,
        size: u64,
    ) -> DiffReport {
        let mut part = Part::default();
        extra.iter().for_each(|entry| part.add(entry.known_size()));
        for name in changes.added.iter().chain(&changes.changed) {
            if let Some(file) = written.file(name) {
                part.add(file.size);
            }
        }
        let archive = ArchiveReport {
            path: self.layout.artefact(Artefact::DiffArchive),
            files: part.files,
            bytes: part.bytes,
            tokens: part.tokens,
            exact_tokens: None,
            archive_bytes: size,
        };
        let Changes { added, changed, removed } = changes.clone();
        DiffReport { archive, has_baseline, added, changed, removed }
    }

    fn report(
        &self,
        assembled: &Assembled,
        written: &Written,
        diff: Option<DiffReport>,
        mut outputs: Outputs,
    ) -> RunReport {
        let ArchiveParts { whole, base, closure, overlap } = ArchiveParts::of(assembled, written);
        let mut warnings = assembled.warnings.clone();
        warnings.sort_unstable();
        warnings.dedup();
        outputs.written.sort_unstable();
        outputs.written.dedup();
        outputs.removed.sort_unstable();
        let sized = |path: &str, bytes| SizedPath { path: path.to_owned(), bytes };
        RunReport {
            mode: self.request.mode,
            plan: self.request.plan,
            archive: ArchiveReport {
                path: self.layout.artefact(Artefact::Archive),
                files: whole.files,
                bytes: whole.bytes,
                tokens: tokens(whole.bytes),
                exact_tokens: None,
                archive_bytes: written.size,
            },
            diff,
            base,
            closure,
            overlap,
            scripts: self.request.scripts.iter().map(|script| script.report.clone()).collect(),
            map: assembled.inputs.as_ref().map(|inputs| MapReport {
                nodes: inputs.map.node_count() as u64,
                edges: inputs.map.edge_count() as u64,
                selected: inputs.selection.selected.len() as u64,
                staged: inputs.externals().count() as u64,
            }),
            externals: ExternalsReport::default(),
            largest: largest(written),
            binaries: written.binaries.iter().map(|file| sized(&file.name, file.size)).collect(),
            large_texts: written.large.iter().map(|file| sized(&file.name, file.size)).collect(),
            not_utf8: written.not_utf8.clone(),
            secrets: written.held_back.iter().map(reported).collect(),
            ignored: assembled.ignored.iter().filter(|path| written.file(path).is_some()).cloned().collect(),
            left_out: left_out(assembled),
            not_analysed: match &assembled.inputs {
                Some(inputs) => not_analysed_of_map(&inputs.map),
                None => not_analysed(&ProgrammingFiles::of(assembled.allowlist.files.keys().map(String::as_str))),
            },
            formats: Vec::new(),
            written: outputs.written,
            removed: outputs.removed,
            warnings,
            errors: assembled.errors.clone(),
            errors_are_known: assembled.errors_are_known,
        }
    }
}

/// The hashes and sizes that each selected external must have.
pub(crate) fn externals_of(inputs: &ContextInputs) -> Vec<External> {
    inputs.externals().map(|index| external_of(inputs, index)).collect()
}

fn external_of(inputs: &ContextInputs, index: u32) -> External {
    let id = inputs.map.id(index);
    let known = inputs.externals_lock.nodes.get(id);
    let half = inputs.map.hash(index).copied();
    // If the map has no hashes, only the private map proves the bytes.
    let private_half = || known.filter(|_| inputs.hashes == MetaHashes::None).map(|node| node.sha256.prefix());
    External {
        id: id.to_owned(),
        source: known.map(|node| node.locator.clone()).unwrap_or_default().into(),
        map: known.map(|node| (node.size, node.sha256)),
        meta: inputs.map.size(index).zip(half.or_else(private_half)),
    }
}

/// Merges the mismatches of both checks, so that the user can fix them all at once. Any other error is returned alone.
fn with_mismatches<T>(
    outcome: Result<T, stan_archive::Error>,
    more: Result<Vec<Mismatch>, stan_archive::Error>,
) -> Result<T, stan_archive::Error> {
    let mut all = match (outcome, more) {
        (Err(stan_archive::Error::Mismatches(mismatches)), Ok(more)) => [mismatches.0, more].concat(),
        (outcome, Ok(more)) if more.is_empty() => return outcome,
        (Ok(_), Ok(more)) => more,
        (Err(other), _) | (Ok(_), Err(other)) => return Err(other),
    };
    all.sort_by(|left, right| left.id.cmp(&right.id));
    Err(stan_archive::Error::Mismatches(Mismatches(all)))
}

/// The files that a run writes and removes.
#[derive(Default)]
struct Outputs {
    written: Vec<String>,
    removed: Vec<String>,
}

/// The files of an archive, all and by the reason for which they are in it.
#[derive(Default)]
struct ArchiveParts {
    whole: Part,
    base: Part,
    closure: Part,
    /// In the base and in the closure.
    overlap: Part,
}

impl ArchiveParts {
    fn of(assembled: &Assembled, written: &Written) -> Self {
        let mut parts = Self::default();
        for file in &written.files {
            parts.whole.add(file.size);
            let Some(allowed) = assembled.allowlist.files.get(&file.name) else { continue };
            match (allowed.in_base, allowed.in_closure) {
                (true, true) => parts.overlap.add(file.size),
                (true, false) => parts.base.add(file.size),
                (false, _) => parts.closure.add(file.size),
            }
        }
        parts
    }
}

fn left_out(assembled: &Assembled) -> Vec<LeftOutReport> {
    let files = assembled.allowlist.left_out.iter();
    files.map(|file| LeftOutReport { path: file.path.clone(), reason: file.reason.clone() }).collect()
}

fn largest(written: &Written) -> Vec<WeighedPath> {
    let sizes = written.files.iter().map(|file| (file.name.as_str(), file.size, tokens(file.size)));
    weighed(sizes)
}

/// The files with the most tokens, then bytes, then by name.
pub(super) fn weighed<'n>(files: impl Iterator<Item = (&'n str, u64, u64)>) -> Vec<WeighedPath> {
    let mut largest: BTreeMap<(Reverse<u64>, Reverse<u64>, &str), ()> = BTreeMap::new();
    for (name, bytes, tokens) in files {
        largest.insert((Reverse(tokens), Reverse(bytes), name), ());
        if largest.len() > MAX_LARGEST_REPORTED {
            largest.pop_last();
        }
    }
    let row = |((tokens, bytes, path), ()): ((Reverse<u64>, Reverse<u64>, &str), ())| WeighedPath {
        path: path.to_owned(),
        bytes: bytes.0,
        tokens: tokens.0,
    };
    largest.into_iter().map(row).collect()
}

/// A snapshot written by an earlier run or by `snap`.
pub(crate) fn load_snapshot(
    system: &dyn WritableSystem,
    layout: &WorkspaceLayout,
    artefact: Artefact,
) -> Result<Option<Snapshot>, EngineError> {
    let file = layout.artefact(artefact);
    let Some(bytes) = read_if_there(system, layout, &file)? else { return Ok(None) };
    Snapshot::decode(&bytes, &file).map(Some).map_err(refuse)
}

#[cfg(test)]
mod tests {
    use std::path::PathBuf;

    use stan_archive::{Error, MismatchKind};

    use super::*;

    fn mismatch(id: &str) -> Mismatch {
        let text = String::new;
        Mismatch {
            id: id.to_owned(),
            kind: MismatchKind::MapHash,
            source: PathBuf::new(),
            expected: text(),
            actual: text(),
        }
    }

    fn gone() -> Error {
        Error::Unreadable { name: "gone".to_owned(), reason: std::io::ErrorKind::NotFound.into() }
    }

    /// The result of `with_mismatches` as one word.
    fn word(outcome: Result<(), Error>, more: Result<Vec<Mismatch>, Error>) -> String {
        match with_mismatches(outcome, more) {
            Ok(()) => "proved".to_owned(),
            Err(Error::Mismatches(all)) => all.0.iter().map(|one| one.id.as_str()).collect::<Vec<_>>().join(" "),
            Err(other) => other.to_string().chars().take(6).collect(),
        }
    }

    #[test]
    fn mismatches_of_both_checks_are_joined() {
        let wrong = |ids: &[&str]| ids.iter().map(|id| mismatch(id)).collect::<Vec<_>>();
        let failed = |ids: &[&str]| Err(Error::Mismatches(Mismatches(wrong(ids))));
        assert_eq!(word(Ok(()), Ok(wrong(&[]))), "proved");
        assert_eq!(word(Ok(()), Ok(wrong(&["b", "a"]))), "a b");
        assert_eq!(word(failed(&["c"]), Ok(wrong(&["a"]))), "a c");
        assert_eq!(word(failed(&["c"]), Err(gone())), "c");
        assert_eq!(word(Ok(()), Err(gone())), "`gone`");
        assert_eq!(word(Err(gone()), Ok(wrong(&["a"]))), "`gone`");
    }
}
