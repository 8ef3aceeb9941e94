//! The verbs `check` and `apply`: judges a reply of an assistant, and changes the files that it patches. Connects the rules of
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

#[derive(Clone, Debug)]
pub struct CheckRequest {
    pub reply: NamedBytes,
    /// Default: the workspace's `output/archive.tar`.
    pub archive: Option<NamedPath>,
    /// The assistant has seen the map earlier in the thread.
    pub seen: bool,
    /// Match as exactly as `git apply`, and treat formalities as errors.
    pub strict: bool,
    /// The token limit of the resulting archive.
    pub budget: Option<u64>,
    pub tokenizer: Tokenizer,
}

/// The archive that the workspace's last run wrote. Read with [`Links::Refuse`]: the repository could have planted a symlink in
/// its place. An archive that the user names may be a symlink.
fn own_archive(layout: &WorkspaceLayout) -> NamedPath {
    let shown = layout.artefact(Artefact::Archive);
    NamedPath { path: layout.absolute(&shown), shown }
}

/// Checks a reply. An error means that it could not be checked.
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
