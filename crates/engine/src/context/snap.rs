//! The verb `snap`: replaces the snapshots by what an archive would contain now, so that the next diffs start here.

use stan_archive::{OutputStream, Snapshot, write_archive};

use super::Repository;
use super::assemble::{ArchiveRequest, assemble, external_entry, plain_entries};
use super::history::{History, Kind};
use super::import;
use super::layout::WorkspaceLayout;
use super::progress::Progress;
use super::reports::{ArchiveMode, BaselineReport, SnapReport, SnapshotReport};
use super::run::externals_of;
use super::session::{Session, refuse};
use super::strict_system::StrictSystem;
use super::workspace_files::check_folders;
use crate::engine::Engine;
use crate::error::EngineError;
use crate::graph::GraphRequest;

/// Which snapshots.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SnapKinds {
    pub plain: bool,
    pub context: bool,
}

#[derive(Clone, Debug)]
pub struct SnapRequest {
    pub kinds: SnapKinds,
    pub work: GraphRequest,
}

/// Replaces the snapshots. Archives, map and selection are unchanged.
pub fn snap(
    engine: &Engine<'_>,
    repository: &Repository<'_>,
    request: &SnapRequest,
    progress: &mut dyn Progress,
) -> Result<SnapReport, EngineError> {
    let layout = repository.layout();
    let system = &StrictSystem::new(engine.system(), &request.work);
    let engine = &engine.over(system);
    check_folders(system, &layout)?;
    let session = Session::open(system, &layout, progress)?;
    let imported = import::refresh(system, repository, &layout, &session)?;
    let mut warnings = imported.warnings;
    let SnapKinds { plain, context } = request.kinds;
    let wanted = [(plain, ArchiveMode::Plain, Kind::Plain), (context, ArchiveMode::Context, Kind::Context)];
    // Create all before writing any, so that a failure leaves the baselines of both kinds unchanged.
    let mut snapshots = Vec::new();
    for (_, mode, kind) in wanted.into_iter().filter(|(wanted, ..)| *wanted) {
        let snapshot = snapshot_of(engine, repository, &layout, mode, request, progress, &mut warnings)?;
        snapshots.push((kind, snapshot));
    }
    let mut transaction = session.begin(&layout)?;
    let mut report = SnapReport { snapshots: Vec::new(), baselines: Vec::new(), warnings };
    for (kind, snapshot) in snapshots {
        let path = layout.artefact(kind.artefact());
        let bytes = snapshot.encode();
        let mut history = History::read(system, &layout, kind)?;
        // An equal snapshot would push an older baseline out of the history for nothing.
        let changed = history.bytes() != Some(&*bytes);
        if changed {
            history.push(bytes);
            history.save(&mut transaction)?;
        }
        report.snapshots.push(SnapshotReport { path, files: snapshot.files.len() as u64, changed });
    }
    system.ensure_no_transient_errors()?;
    transaction.commit().map_err(refuse)?;
    report.warnings.sort_unstable();
    report.warnings.dedup();
    Ok(report)
}

fn snapshot_of(
    engine: &Engine<'_>,
    repository: &Repository<'_>,
    layout: &WorkspaceLayout,
    mode: ArchiveMode,
    request: &SnapRequest,
    progress: &mut dyn Progress,
    warnings: &mut Vec<String>,
) -> Result<Snapshot, EngineError> {
    let system = engine.system();
    let wanted = ArchiveRequest { mode, frozen: false, full_map: false, engine, work: &request.work };
    let assembled = assemble(system, repository, &wanted, progress)?;
    warnings.extend(assembled.warnings);
    let mut entries = plain_entries(repository, layout, &assembled.allowlist);
    if let Some(inputs) = &assembled.inputs {
        let proved = stan_archive::prove(system, layout.stan_path(), externals_of(inputs)).map_err(refuse)?;
        entries.extend(proved.into_iter().map(|entry| external_entry(repository, inputs, entry)));
    }
    progress.stage("hashing");
    let written = write_archive(system, entries, 0, &mut OutputStream::discarding()).map_err(refuse)?;
    Ok(written.snapshot())
}

/// A move in the history of baselines.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SnapStep {
    /// Only lists the snapshots.
    List,
    /// To the previous baseline.
    Undo,
    /// To the next baseline.
    Redo,
    /// To the baseline with this number as listed: 0 is the newest.
    Set(usize),
}

/// Lists the stored baselines or activates another one. A kind without that baseline is unchanged and reported; if no kind has
/// it, that is an error.
pub fn snap_history(
    engine: &Engine<'_>,
    repository: &Repository<'_>,
    kinds: SnapKinds,
    step: SnapStep,
    progress: &mut dyn Progress,
) -> Result<SnapReport, EngineError> {
    let system = engine.system();
    let layout = repository.layout();
    check_folders(system, &layout)?;
    let wanted = [(kinds.plain, Kind::Plain), (kinds.context, Kind::Context)];
    let kinds: Vec<Kind> = wanted.into_iter().filter(|(wanted, _)| *wanted).map(|(_, kind)| kind).collect();
    let mut report = SnapReport { snapshots: Vec::new(), baselines: Vec::new(), warnings: Vec::new() };
    if step == SnapStep::List {
        for kind in kinds {
            report.baselines.extend(baselines(&History::read(system, &layout, kind)?, kind)?);
        }
        return Ok(report);
    }
    let session = Session::open(system, &layout, progress)?;
    let mut transaction = session.begin(&layout)?;
    let mut refusals = Vec::new();
    for kind in kinds {
        let mut history = History::read(system, &layout, kind)?;
        if let Err(reason) = take_step(&mut history, step) {
            refusals.push(format!("{}: {reason}", kind.name()));
            continue;
        }
        report.baselines.extend(baselines(&history, kind)?);
        let files = history.bytes().map(|bytes| Snapshot::decode(bytes, kind.name())).transpose().map_err(refuse)?;
        let path = layout.artefact(kind.artefact());
        let files = files.map_or(0, |snapshot| snapshot.files.len() as u64);
        report.snapshots.push(SnapshotReport { path, files, changed: true });
        history.save(&mut transaction)?;
    }
    if report.snapshots.is_empty() {
        return Err(EngineError::input("no baseline was changed")
            .details(refusals)
            .hint("`stan snap list` shows them, `stan snap` makes one"));
    }
    transaction.commit().map_err(refuse)?;
    report.warnings = refusals;
    Ok(report)
}

fn take_step(history: &mut History<'_>, step: SnapStep) -> Result<(), String> {
    let Some(current) = history.current() else { return Err("there is no baseline yet".to_owned()) };
    let (wanted, otherwise) = match step {
        SnapStep::Undo => (Some(current + 1), "there is no older baseline".to_owned()),
        SnapStep::Redo => (current.checked_sub(1), "there is no newer baseline".to_owned()),
        SnapStep::Set(number) => {
            (Some(number), format!("there is no baseline {number}; the oldest is {}", history.len() - 1))
        }
        SnapStep::List => (Some(current), String::new()),
    };
    if wanted.is_some_and(|wanted| history.set(wanted)) { Ok(()) } else { Err(otherwise) }
}

/// Newest first, each with its differences from the previous one.
fn baselines(history: &History<'_>, kind: Kind) -> Result<Vec<BaselineReport>, EngineError> {
    let snapshots = history.snapshots()?;
    let of = |(number, snapshot): (usize, &Snapshot)| {
        let changes = snapshots.get(number + 1).map(|older| snapshot.changes_since(Some(older))).unwrap_or_default();
        BaselineReport {
            kind: kind.name().to_owned(),
            number: number as u64,
            current: history.current() == Some(number),
            files: snapshot.files.len() as u64,
            added: changes.added.len() as u64,
            changed: changes.changed.len() as u64,
            removed: changes.removed.len() as u64,
        }
    };
    Ok(snapshots.iter().enumerate().map(of).collect())
}
