//! The verb `apply`: checks a reply against the working tree, and changes either all files or none. The change can be undone.

use std::path::Path;

use stan_archive::{NewFile, NewMode, PatchFile, PatchKind, PatchSet, Recovered};
use stan_model::document::assistant_reports::{AppliedFile, ApplyAction, ApplyReport, FileChange};
use stan_reply::{CheckOptions, Plan, PlannedMode, Report};
use stan_repo::{Links, System, WritableSystem};

use super::archive::ArchiveIndex;
use super::feedback::feedback;
use super::own_archive;
use super::workspace::Workspace;
use crate::context::{
    EngineError, NamedBytes, NamedPath, Progress, Repository, Session, WorkspaceLayout, check_folders, refuse,
};
use crate::engine::Engine;
use crate::error::EngineErrorKind;
use crate::line_diff::unified;
use crate::tokens::Tokenizer;

#[derive(Clone, Debug)]
pub struct ApplyRequest {
    pub reply: NamedBytes,
    /// Default: the workspace's `output/archive.tar`, if it exists.
    pub archive: Option<NamedPath>,
    /// The reply is to a pack, not to an archive.
    pub no_archive: bool,
    /// The assistant has seen the map earlier in the thread.
    pub seen: bool,
    /// Apply as exactly as `git apply`, and treat formalities as errors.
    pub strict: bool,
    /// Report what would change, and change nothing.
    pub dry_run: bool,
}

/// Applies a reply. Nothing was changed if the report is not accepted, or on an error.
pub fn apply_reply(
    engine: &Engine<'_>,
    repository: &Repository<'_>,
    request: &ApplyRequest,
    progress: &mut dyn Progress,
) -> Result<ApplyReport, EngineError> {
    let system = engine.system();
    let layout = repository.layout();
    check_folders(system, &layout)?;
    if request.dry_run {
        return Apply { system, repository, layout: &layout, request }.judge().map(|judged| judged.report);
    }
    let session = Session::open(system, &layout, progress)?;
    let judged = Apply { system, repository, layout: &layout, request }.judge()?;
    let PatchSet { files, made_folders, removed_folders } = &judged.set;
    let is_idle = files.is_empty() && made_folders.is_empty() && removed_folders.is_empty();
    if judged.report.accepted && !is_idle {
        stan_archive::apply_patches(system, Path::new(layout.root()), session.lock(), &judged.set).map_err(refuse)?;
    }
    Ok(judged.report)
}

/// Undoes the last applied reply.
pub fn undo_reply(
    engine: &Engine<'_>,
    repository: &Repository<'_>,
    progress: &mut dyn Progress,
) -> Result<ApplyReport, EngineError> {
    let system = engine.system();
    let layout = repository.layout();
    check_folders(system, &layout)?;
    let session = Session::open(system, &layout, progress)?;
    let root = Path::new(layout.root());
    let paths = stan_archive::undo_patches(system, root, session.lock()).map_err(refuse)?;
    let change = |path: String| {
        let is_there = system.lstat(Path::new(&layout.absolute(&path))).is_ok();
        AppliedFile { change: if is_there { FileChange::Restored } else { FileChange::Removed }, path, diff: None }
    };
    Ok(ApplyReport {
        action: ApplyAction::Undo,
        reply: None,
        archive: None,
        accepted: true,
        files: paths.into_iter().map(change).collect(),
        made_folders: Vec::new(),
        removed_folders: Vec::new(),
        findings: Vec::new(),
        notes: Vec::new(),
        feedback: None,
    })
}

/// Completes or rolls back a change that a killed `apply` left half done, and returns what it did. Costs one stat if there is
/// none.
pub fn recover(engine: &Engine<'_>, repository: &Repository<'_>) -> Result<Option<String>, EngineError> {
    let system = engine.system();
    let layout = repository.layout();
    if !stan_archive::has_pending_patch(system, Path::new(layout.root()), layout.stan_path()) {
        return Ok(None);
    }
    check_folders(system, &layout)?;
    let mut waiting = WaitMessage(None);
    match Session::open(system, &layout, &mut waiting) {
        Ok(_) => Ok(waiting.0),
        // Another process is recovering it, or will do so once it holds the lock.
        Err(refusal) if waiting.0.is_none() && refusal.kind == EngineErrorKind::Locked => Ok(None),
        Err(refusal) => Err(refusal),
    }
}

/// Does not wait, and stores the notice.
struct WaitMessage(Option<String>);

impl Progress for WaitMessage {
    fn holder(&self) -> (u32, String) {
        (0, "stan (finishing an interrupted apply)".to_owned())
    }

    fn waits_for(&mut self, _holder: &str) {}

    fn pause(&mut self) -> bool {
        false
    }

    fn stage(&mut self, _stage: &'static str) {}

    fn notice(&mut self, line: &str) {
        self.0 = Some(line.to_owned());
    }
}

/// The notice about a recovered change.
pub(crate) fn recovered_notice(recovered: &Recovered) -> String {
    let what = match recovered.kind {
        PatchKind::Apply => "apply",
        PatchKind::Undo => "apply --undo",
    };
    let end = if recovered.is_finished { "was finished" } else { "was taken back" };
    let mut notice = format!("an interrupted `stan {what}` {end}: {} files", recovered.files);
    if !recovered.left.is_empty() {
        notice = format!("{notice}; left as they are, because they were changed since: {}", recovered.left.join(", "));
    }
    notice
}

struct Apply<'a> {
    system: &'a dyn WritableSystem,
    repository: &'a Repository<'a>,
    layout: &'a WorkspaceLayout,
    request: &'a ApplyRequest,
}

struct Judged {
    report: ApplyReport,
    set: PatchSet,
}

impl Apply<'_> {
    fn judge(&self) -> Result<Judged, EngineError> {
        let (shown, archive) = self.archive()?;
        let workspace =
            Workspace::open(as_system(self.system), self.repository, self.layout, &archive, Tokenizer::Bytes4)?;
        let workspace = workspace.on_tree();
        let text = std::str::from_utf8(&self.request.reply.bytes).map_err(|error| self.not_utf8(&error))?;
        let options = CheckOptions { seen: self.request.seen, strict: self.request.strict, ..CheckOptions::default() };
        let (report, plan) = stan_reply::plan(text, &workspace, &options);
        let accepted = report.is_accepted();
        let mut notes = report.notes.clone();
        let (mut files, mut set) = (Vec::new(), PatchSet::default());
        if accepted {
            (files, set) = self.changes(&workspace, plan, &mut notes)?;
        }
        notes.extend(self.idle_note(&report, &files, &set));
        let feedback = (!accepted).then(|| feedback(&report));
        let report = ApplyReport {
            action: if self.request.dry_run { ApplyAction::DryRun } else { ApplyAction::Apply },
            reply: Some(self.request.reply.name.clone()),
            archive: shown,
            accepted,
            files,
            made_folders: set.made_folders.clone(),
            removed_folders: set.removed_folders.clone(),
            findings: report.findings,
            notes,
            feedback,
        };
        Ok(Judged { report, set })
    }

    /// A reply that is not UTF-8 is refused: lossy decoding would write replacement characters into files.
    fn not_utf8(&self, error: &std::str::Utf8Error) -> EngineError {
        let bytes = &self.request.reply.bytes;
        let line = bytes.iter().take(error.valid_up_to()).filter(|&&byte| byte == b'\n').count() + 1;
        let hint = match bytes.get(..2) {
            Some([0xff, 0xfe] | [0xfe, 0xff]) => "it looks like UTF-16; save it as UTF-8",
            _ => "save it as UTF-8",
        };
        EngineError::input(format!("`{}` is not UTF-8 (line {line}); nothing was changed", self.request.reply.name))
            .hint(hint)
    }

    /// The archive's name in messages, and its contents.
    fn archive(&self) -> Result<(Option<String>, ArchiveIndex<'_>), EngineError> {
        let system = as_system(self.system);
        if let Some(named) = &self.request.archive {
            return Ok((Some(named.shown.clone()), ArchiveIndex::read(system, named, Links::Follow)?));
        }
        let own = own_archive(self.layout);
        if self.request.no_archive || system.lstat(Path::new(&own.path)).is_err() {
            return Ok((None, ArchiveIndex::none(system)));
        }
        let archive = ArchiveIndex::read(system, &own, Links::Refuse)?;
        Ok((Some(own.shown), archive))
    }

    fn changes(
        &self,
        workspace: &Workspace<'_>,
        plan: Plan,
        notes: &mut Vec<String>,
    ) -> Result<(Vec<AppliedFile>, PatchSet), EngineError> {
        let Some(tree) = workspace.tree() else { return Err(EngineError::internal("there is no working tree")) };
        let (mut files, mut set) = (Vec::new(), PatchSet::default());
        for (path, planned) in plan.files {
            let old_digest = tree.digest(&path);
            let old = tree.read(&path);
            if old.is_none() && planned.bytes.is_none() {
                continue;
            }
            let mode = self.mode(&path, &planned.mode, old.is_some());
            let is_same_mode =
                matches!(planned.mode, PlannedMode::Kept) || mode == self.mode(&path, &PlannedMode::Kept, true);
            if planned.bytes.as_deref() == old.as_ref() && is_same_mode {
                continue;
            }
            if old.as_deref().is_some_and(|old| workspace.differs_from_archive(&path, old)) {
                notes.push(format!("`{path}` is not what the archive has; the patch was applied to the file as it is"));
            }
            let change = match (&old, &planned.bytes) {
                (None, _) => FileChange::Created,
                (Some(_), Some(_)) => FileChange::Changed,
                (Some(_), None) => FileChange::Removed,
            };
            let texts = (old.as_deref().unwrap_or_default(), planned.bytes.as_deref().map_or(&[][..], Vec::as_slice));
            let diff = self.request.dry_run.then(|| unified(texts.0, texts.1));
            files.push(AppliedFile { path: path.clone(), change, diff });
            let new = planned.bytes.map(|bytes| NewFile { bytes, mode });
            set.files.push(PatchFile { path, old: old_digest, new });
        }
        let is_folder = |folder: &String| {
            let stat = self.system.lstat(Path::new(&self.layout.absolute(folder)));
            stat.is_ok_and(|stat| stat.kind == stan_repo::EntryKind::Dir)
        };
        set.made_folders = plan.made_folders.into_iter().filter(|folder| !is_folder(folder)).collect();
        set.removed_folders = plan.removed_folders.into_iter().filter(is_folder).collect();
        Ok((files, set))
    }

    /// The permissions of a file to write.
    fn mode(&self, path: &str, planned: &PlannedMode, is_there: bool) -> NewMode {
        let bits = |path: &str| self.system.permissions(Path::new(&self.layout.absolute(path))).ok();
        let usual = NewMode::Usual { executable: false };
        match planned {
            PlannedMode::Kept if is_there => bits(path).map_or(usual, NewMode::Bits),
            PlannedMode::Kept => usual,
            PlannedMode::Of(source) => bits(source).map_or(usual, NewMode::Bits),
            PlannedMode::Executable(executable) => {
                let bits = if is_there { bits(path) } else { None };
                bits.map_or(NewMode::Usual { executable: *executable }, |mode| {
                    // As in git: everyone who may read it may also execute it.
                    NewMode::Bits(if *executable { mode | ((mode & 0o444) >> 2) } else { mode & !0o111 })
                })
            }
        }
    }

    /// A note if there is nothing to do.
    fn idle_note(&self, report: &Report, files: &[AppliedFile], set: &PatchSet) -> Option<String> {
        let is_idle = files.is_empty() && set.made_folders.is_empty() && set.removed_folders.is_empty();
        (report.is_accepted() && is_idle).then(|| {
            "the reply changes no file; diffs, SEARCH/REPLACE blocks and `### File: PATH` sections are read".to_owned()
        })
    }
}

fn as_system(system: &dyn WritableSystem) -> &dyn System {
    system
}
