//! The verbs `check` and `apply`: may this reply of an assistant be acted upon, and act upon it. Joins the rules of
//! `stan-reply` with the archive, the map, the selection and the tree. Checking only reads.

mod apply;
mod archive;
mod feedback;
mod tree;
mod workspace;

use std::path::Path;

pub(crate) use apply::recovered_notice;
pub use apply::{ApplyRequest, apply_reply, recover, undo_reply};
pub use stan_model::document::assistant_reports::{
    AppliedFile, ApplyAction, ApplyReport, Excerpt, FileChange, Finding, ReplyReport, Severity,
};
use stan_reply::{CheckOptions, check};

use self::archive::ArchiveIndex;
use self::workspace::Workspace;
use crate::context::{Artefact, EngineError, NamedBytes, Repository};
use crate::engine::Engine;
use crate::tokens::Tokenizer;

/// Which reply, against what.
#[derive(Clone, Debug)]
pub struct CheckRequest {
    pub reply: NamedBytes,
    /// How the archive is shown and where it is, absolute; without it the workspace's `output/archive.tar`.
    pub archive: Option<(String, String)>,
    /// The map was seen earlier in the thread.
    pub seen: bool,
    /// As exact as `git apply`; what is only bad manners is an error.
    pub strict: bool,
    /// The most tokens that the resulting archive should have.
    pub budget: Option<u64>,
    pub tokenizer: Tokenizer,
}

/// Checks a reply. A refusal means that it could not be checked at all.
pub fn check_reply(
    engine: &Engine<'_>,
    repository: &Repository<'_>,
    request: &CheckRequest,
) -> Result<ReplyReport, EngineError> {
    let system = engine.system();
    let layout = repository.layout();
    let (shown, path) = request.archive.clone().unwrap_or_else(|| {
        let relative = layout.artefact(Artefact::Archive);
        let absolute = layout.absolute(&relative);
        (relative, absolute)
    });
    let archive = ArchiveIndex::read(system, &shown, Path::new(&path), request.archive.is_some())?;
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
    Ok(ReplyReport { reply: request.reply.name.clone(), archive: shown, accepted, findings: report.findings, notes })
}
