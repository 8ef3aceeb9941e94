//! The verb `snap`: the snapshots become what an archive would hold now, so that the next diffs start here.

use stan_archive::{OutputStream, Snapshot, write_archive};
use stan_repo::{Access, WritableSystem};

use super::Context;
use super::assemble::{Wanted, assemble, external_entry, plain_entries};
use super::careful::Careful;
use super::import;
use super::patience::Patience;
use super::place::{Artefact, Place};
use super::refusal::Refusal;
use super::reports::{Mode, SnapReport, SnapshotReport};
use super::run::externals_of;
use super::session::{Session, refuse};
use super::workspace_files::{check_folders, read_if_there};
use crate::graph::GraphRequest;

/// Which snapshots.
#[derive(Clone, Debug)]
pub struct SnapRequest {
    pub plain: bool,
    pub context: bool,
    pub work: GraphRequest,
}

/// Replaces the snapshots. Archives, map and selection stay as they are.
pub fn snap(
    system: &dyn WritableSystem,
    context: &Context<'_>,
    request: &SnapRequest,
    patience: &mut dyn Patience,
) -> Result<SnapReport, Refusal> {
    let place = context.place();
    let system = &Careful::new(system, &request.work);
    check_folders(system, &place)?;
    let session = Session::open(system, &place, patience)?;
    let imported = import::refresh(system, context, &place, &session)?;
    let mut warnings = imported.warnings;
    let wanted = [
        (request.plain, Mode::Plain, Artefact::PlainSnapshot),
        (request.context, Mode::Context, Artefact::ContextSnapshot),
    ];
    let mut snapshots = Vec::new();
    for (_, mode, artefact) in wanted.into_iter().filter(|(wanted, ..)| *wanted) {
        let snapshot = snapshot_of(system, context, &place, mode, request, patience, &mut warnings)?;
        snapshots.push((artefact, snapshot));
    }
    let mut transaction = session.begin(&place)?;
    let mut report = SnapReport { snapshots: Vec::new(), warnings };
    for (artefact, snapshot) in snapshots {
        let path = place.artefact(artefact);
        let bytes = snapshot.encode();
        let changed = read_if_there(system, &place, &path)?.as_deref() != Some(&*bytes);
        if changed {
            transaction.write_durable(&path, &bytes, Access::Shared).map_err(refuse)?;
        }
        report.snapshots.push(SnapshotReport { path, files: snapshot.files.len() as u64, changed });
    }
    system.has_seen_everything()?;
    transaction.commit().map_err(refuse)?;
    report.warnings.sort_unstable();
    report.warnings.dedup();
    Ok(report)
}

fn snapshot_of(
    system: &dyn WritableSystem,
    context: &Context<'_>,
    place: &Place,
    mode: Mode,
    request: &SnapRequest,
    patience: &mut dyn Patience,
    warnings: &mut Vec<String>,
) -> Result<Snapshot, Refusal> {
    let wanted = Wanted { mode, frozen: false, pretty: false, work: &request.work };
    let assembled = assemble(system, context, &wanted, patience)?;
    warnings.extend(assembled.warnings);
    let mut entries = plain_entries(context, place, &assembled.allowlist);
    if let Some(thread) = &assembled.thread {
        let proved = stan_archive::prove(system, place.stan_path(), externals_of(thread)).map_err(refuse)?;
        entries.extend(proved.into_iter().map(|entry| external_entry(context, thread, entry)));
    }
    patience.stage("hashing");
    let written = write_archive(system, entries, 0, &mut OutputStream::discarding()).map_err(refuse)?;
    Ok(written.snapshot())
}
