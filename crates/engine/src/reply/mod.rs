//! The verbs `check` and `apply`: judges a reply of an assistant, and changes the files that it patches. Joins the rules of
//! `stan-reply` with the archive, the map, the selection and the tree. Checking only reads.

mod apply;
mod archive;
mod feedback;
mod tree;
mod workspace;

pub(crate) use apply::recovered_notice;
pub use apply::{ApplyRequest, apply_reply, recover, undo_reply};
pub use stan_model::document::assistant_reports::{
    AppliedFile, ApplyAction, ApplyReport, Excerpt, FileChange, Finding, ReplyReport, Severity,
};
use stan_reply::{CheckOptions, check};
use stan_repo::Links;

use self::archive::ArchiveIndex;
use self::workspace::Workspace;
use crate::context::{Artefact, EngineError, NamedBytes, NamedPath, Repository, WorkspaceLayout};
use crate::engine::Engine;
use crate::tokens::Tokenizer;

/// Which reply, against what.
#[derive(Clone, Debug)]
pub struct CheckRequest {
    pub reply: NamedBytes,
    /// Without it the workspace's `output/archive.tar`.
    pub archive: Option<NamedPath>,
    /// The map was seen earlier in the thread.
    pub seen: bool,
    /// As exact as `git apply`; what is only bad manners is an error.
    pub strict: bool,
    /// The most tokens that the resulting archive should have.
    pub budget: Option<u64>,
    pub tokenizer: Tokenizer,
}

/// The archive that the workspace's last run wrote. It is read with [`Links::Refuse`]: a link in its place would be one that the
/// repository planted. An archive that the user names may be a link.
fn own_archive(layout: &WorkspaceLayout) -> NamedPath {
    let shown = layout.artefact(Artefact::Archive);
    NamedPath { path: layout.absolute(&shown), shown }
}

/// Checks a reply. A refusal means that it could not be checked at all.
pub fn check_reply(
    engine: &Engine<'_>,
    repository: &Repository<'_>,
    request: &CheckRequest,
) -> Result<ReplyReport, EngineError> {
    let system = engine.system();
    let layout = repository.layout();
    let (named, links) = match &request.archive {
        Some(named) => (named.clone(), Links::Follow),
        None => (own_archive(&layout), Links::Refuse),
    };
    let archive = ArchiveIndex::read(system, &named, links)?;
    let workspace = Workspace::open(system, repository, &layout, &archive, request.tokenizer)?;
    let text = String::from_utf8_lossy(&request.reply.bytes);
    let options =
        CheckOptions { seen: request.seen, budget: request.budget, strict: request.strict, ..CheckOptions::default() };
    let report = check(&text, &workspace, &options);
    let accepted = report.is_accepted();
    let mut notes = report.notes;
    if matches!(text, std::borrow::Cow::Owned(_)) {
        notes.push("the reply is not UTF-8; what is not was read as U+FFFD".to_owned());
    }
    Ok(ReplyReport {
        reply: request.reply.name.clone(),
        archive: named.shown,
        accepted,
        findings: report.findings,
        notes,
    })
}
