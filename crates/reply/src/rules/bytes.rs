//! STAN-REPLY-0008 and STAN-REPLY-0011: patches against the archived bytes, or against the working tree if the reply is to be
//! applied. File operations on the working tree are in `operations.rs`.
//!
//! | case | decision |
//! |---|---|
//! | edit, deletion or rename of an archived file | applied (`crates/reply/src/diff/apply.rs`); 0011 when that fails |
//! | the end of the reply leaves a fence open | 0011: the reply was cut off, even if its hunks are complete |
//! | a whole file, or an empty search, for a path without a file | a new file |
//! | a binary patch that is to be applied | 0011: only text is |
//! | of a file in the repository or the map that is not archived | only 0008; a note while the mode is off |
//! | of a file that does not exist anywhere | 0011 |
//! | `/dev/null`, the new name of a rename or a copy: the path is archived | 0011 |
//! | the same, and the path exists without being archived | 0008 |
//! | a deletion that leaves lines | 0011 |
//! | a patch that git cannot read: wrong counts, no hunks, contradicting modes, cut off | 0011 |
//! | a copy of a file that is not archived | 0008 only with hunks, which cannot have been written |
//! | a binary patch | well formed is enough: nothing binary is archived |
//! | a whole file or a replacement with a line that marks omitted lines | 0011 |
//! | a file that `mv` or `cp` of this reply creates | its archived source is patched |
//! | the second patch of a file (0013) | applied to the archived bytes or to the result of the first |
//! | a header that contradicts itself (0013) | not applied; 0008 for each of its paths that is not archived |
//! | an invalid path (0012) | not applied |
//! | `rm` and the source of `mv` | as a deletion; below a folder the first file that is not archived |
//! | the state | its bytes are the archived ones, else the current ones: it is never 0008 |

use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;

use super::Facts;
use crate::ChangedFiles;
use crate::diff::{self, Body, Change, DiffError, Exactness, FileDiff, SearchBudget, TOO_MUCH};
use crate::paths::{normalise, outside};
use crate::plan::{Plan, PlannedFile, PlannedMode};
use crate::report::{Findings, MissedPassage};
use crate::structure::{OperationKind, PatchFence};

const UNSEEN: &str = "STAN-REPLY-0008";
pub(super) const APPLY: &str = "STAN-REPLY-0011";

/// The budget of line comparisons per reply. Real replies need a thousandth of it.
const MAX_WORK: u64 = 40_000_000;

/// Further patches of one file are reported as repeated (0013) and not applied.
const MAX_PATCHES: usize = 8;

/// How many archived bytes are kept for later patches of the same files.
const MAX_KEPT: usize = 64 << 20;

/// The result of applying the patches.
#[derive(Debug, Default)]
pub(super) struct PatchResult {
    pub(super) changed: ChangedFiles,
    /// The patched state, if the patch applied.
    pub(super) state: Option<PatchedState>,
    /// Only files whose permissions change.
    pub(super) modes: BTreeMap<String, PlannedMode>,
    pub(super) made_folders: BTreeSet<String>,
    pub(super) removed_folders: BTreeSet<String>,
}

impl PatchResult {
    pub(super) fn into_plan(mut self) -> Plan {
        let mut modes = std::mem::take(&mut self.modes);
        let files = self.changed.into_iter().map(|(path, bytes)| {
            let mode = modes.remove(&path).unwrap_or_default();
            (path, PlannedFile { bytes, mode })
        });
        Plan { files: files.collect(), made_folders: self.made_folders, removed_folders: self.removed_folders }
    }
}

/// The state file after a patch, and the origin of its lines.
#[derive(Debug)]
pub(super) struct PatchedState {
    pub(super) bytes: Vec<u8>,
    /// For each line of the file, the line of the reply that wrote it.
    pub(super) lines: Vec<Option<u32>>,
}

pub(super) fn check(facts: &Facts<'_>, findings: &mut Findings<'_>) -> PatchResult {
    let mut examiner = Examiner {
        facts,
        findings,
        work: SearchBudget::new(MAX_WORK),
        outcome: PatchResult::default(),
        moved: BTreeMap::new(),
        seen: BTreeMap::new(),
        archived: BTreeMap::new(),
        kept: 0,
        is_unseen_below: BTreeMap::new(),
    };
    if let Some(line) = facts.structure.open_fence {
        let message = "the reply ends inside this fence, so it was cut off";
        examiner.findings.add(APPLY, line, "", message, "send the whole reply again, or the rest from here on");
    }
    match facts.is_tree() {
        true => examiner.operations_on_tree(),
        false => examiner.operations(),
    }
    for patch in facts.structure.blocks.iter().flat_map(|block| &block.patches) {
        for file in &patch.diff.files {
            examiner.diff(patch, file);
        }
    }
    examiner.outcome
}

pub(super) struct Examiner<'a, 'f, 'l> {
    pub(super) facts: &'a Facts<'a>,
    pub(super) findings: &'f mut Findings<'l>,
    work: SearchBudget,
    pub(super) outcome: PatchResult,
    /// The sources of `mv` and `cp`, by destination.
    moved: BTreeMap<String, String>,
    /// The number of patches by file.
    seen: BTreeMap<String, usize>,
    /// The archived bytes of requested files.
    archived: BTreeMap<String, Option<Rc<Vec<u8>>>>,
    kept: usize,
    /// The first file below each requested folder that is not archived.
    is_unseen_below: BTreeMap<String, Option<String>>,
}

impl Examiner<'_, '_, '_> {
    fn operations(&mut self) {
        for operation in &self.facts.structure.operations {
            match &operation.kind {
                OperationKind::Move { from, to } => {
                    self.copy(operation.line, from, to);
                    self.remove(operation.line, from);
                }
                OperationKind::Copy { from, to } => self.copy(operation.line, from, to),
                OperationKind::Remove { path } => self.remove(operation.line, path),
                OperationKind::RemoveFolder { .. } | OperationKind::MakeFolder { .. } => {}
            }
        }
    }

    fn copy(&mut self, line: u32, from: &str, to: &str) {
        let (from, to) = (normalise(from), normalise(to));
        if outside(&from).is_some() || outside(&to).is_some() {
            return;
        }
        if !self.facts.is_present(&to) && self.facts.is_known(&to) {
            self.unseen(line, &to);
        }
        let source = self.moved.get(&from).cloned().unwrap_or(from);
        match self.archived(&source) {
            Err(TooMuch) => {
                let remedy = "send fewer operations in one reply";
                self.findings.add(APPLY, line, &to, format!("`{to}` cannot be made: {TOO_MUCH}"), remedy);
            }
            Ok(None) => {}
            Ok(Some(bytes)) => {
                if to == self.facts.layout.state {
                    self.outcome.state = Some(PatchedState { bytes: bytes.to_vec(), lines: Vec::new() });
                }
                self.outcome.changed.insert(to.clone(), Some(bytes));
            }
        }
        self.moved.insert(to, source);
    }

    /// The current contents of a file, after earlier operations of this reply.
    pub(super) fn current(&mut self, path: &str) -> Result<Option<Rc<Vec<u8>>>, TooMuch> {
        match self.outcome.changed.get(path) {
            Some(changed) => Ok(changed.clone()),
            None => self.archived(path),
        }
    }

    /// Whether the assistant cannot have seen a file of the working tree.
    pub(super) fn is_unseen(&self, path: &str) -> bool {
        let facts = self.facts;
        facts.is_active
            && facts.context.has_archive()
            && !facts.is_present(path)
            && !self.outcome.changed.contains_key(path)
    }

    /// The bytes of an archived file, or of the working tree. Bytes are cached and reading counts as work, so that a hundred
    /// thousand copies of one file cost no more than one, and as many copies of different files are refused.
    fn archived(&mut self, path: &str) -> Result<Option<Rc<Vec<u8>>>, TooMuch> {
        if let Some(known) = self.archived.get(path) {
            return Ok(known.clone());
        }
        if !self.work.spend_bytes(4) {
            return Err(TooMuch);
        }
        let bytes = self.facts.context.base(path).map(|bytes| Rc::new(bytes.into_owned()));
        let size = bytes.as_ref().map_or(0, |bytes| bytes.len());
        self.work.spend_bytes(size);
        if self.kept.saturating_add(size) > MAX_KEPT {
            self.archived.clear();
            self.kept = 0;
        }
        self.kept = self.kept.saturating_add(size);
        self.archived.insert(path.to_owned(), bytes.clone());
        Ok(bytes)
    }

    /// The first file below a folder that the assistant cannot have seen; each folder is searched once.
    fn first_unseen_below(&mut self, folder: &str) -> Option<String> {
        if let Some(known) = self.is_unseen_below.get(folder) {
            return known.clone();
        }
        let found = self.facts.context.first_unarchived_below(folder);
        self.is_unseen_below.insert(folder.to_owned(), found.clone());
        found
    }

    fn remove(&mut self, line: u32, path: &str) {
        let path = normalise(path);
        if outside(&path).is_some() {
            return;
        }
        let (facts, context) = (self.facts, self.facts.context);
        if facts.is_present(&path) || self.moved.contains_key(&path) {
            self.moved.remove(&path);
            self.outcome.changed.insert(path, None);
        } else if let Some(below) = self.first_unseen_below(&path) {
            self.unseen(line, &below);
        } else if facts.is_known(&path) {
            self.unseen(line, &path);
        } else if !context.has_archived_below(&path) {
            let message = format!("there is no `{path}` to remove or move");
            self.findings.add(APPLY, line, &path, message, "take the path from the archive or the map");
        }
    }

    fn diff(&mut self, patch: &PatchFence<'_>, file: &FileDiff) {
        let is_outside = |path: &str| outside(path).is_some();
        if file.malformed.is_some() || file.written.iter().any(|written| is_outside(&written.path)) {
            return;
        }
        if file.contradiction.is_some() {
            self.contradictory(patch, file);
            return;
        }
        let old = file.old.as_ref().map(|old| normalise(&old.path));
        let new = file.new.as_ref().map(|new| normalise(&new.path));
        if let Some(path) = new.as_ref().or(old.as_ref()) {
            let count = self.seen.entry(path.clone()).or_default();
            *count += 1;
            if *count > MAX_PATCHES {
                return;
            }
        }
        if old.is_none() && new.is_none() && !file.is_diff() {
            return;
        }
        let line = patch.fence.line_of(file.index);
        let makes_new = matches!(file.change, Change::Create | Change::Rename | Change::Copy);
        if let Some(path) = new.as_deref().filter(|path| makes_new && old.as_deref() != Some(path))
            && !self.is_free(line, path)
        {
            return;
        }
        let Some(base) = self.base(line, file, old.as_deref()) else { return };
        match self.apply(patch, file, new.as_deref().or(old.as_deref()), &base) {
            Ok(applied) => self.record(patch, file, old, new, applied),
            Err(error) => {
                let line = patch.fence.line_of(error.index);
                let remedy = self.remedy(patch);
                let path = file.new.as_ref().or(file.old.as_ref()).map(|named| named.path.as_str()).unwrap_or_default();
                self.findings.add_about(path, APPLY, line, "", with_name(file, &error), remedy);
                if let Some(diff::Missed { wanted, first, found }) = error.missed {
                    let (path, message) = (path.to_owned(), error.message);
                    self.findings.missed(MissedPassage { line, path, message, wanted, first, found });
                }
            }
        }
    }

    /// Whether the closing fence is indented further than the opening one, as a line of the diff would be.
    fn closes_like_a_line(&self, patch: &PatchFence<'_>) -> bool {
        let indent = |line: u32| self.findings.line_text(line).bytes().take_while(|&byte| byte == b' ').count();
        indent(patch.fence.line_of(patch.fence.lines.len())) > indent(patch.fence.line)
    }

    /// The remedy for a patch that does not apply.
    fn remedy(&self, patch: &PatchFence<'_>) -> &'static str {
        if !patch.fence.is_closed {
            "send the rest: the reply ends inside this fence"
        } else if self.closes_like_a_line(patch) {
            "use a longer fence around the diff: an indented line of it may have closed this one"
        } else if self.facts.is_tree() {
            "write the patch against the file as it is now, with lines kept above and below that are there only once"
        } else {
            "write the diff against the archived file, with lines kept above and below, and count the lines of each hunk"
        }
    }

    /// A contradictory header may mean any of its paths, so it is not applied. Unseen files among them are still reported.
    fn contradictory(&mut self, patch: &PatchFence<'_>, file: &FileDiff) {
        for written in &file.written {
            let path = normalise(&written.path);
            if !self.facts.is_present(&path) && self.facts.is_known(&path) {
                self.unseen(patch.fence.line_of(written.index), &path);
            }
        }
    }

    /// Whether a new file may be created here.
    fn is_free(&mut self, line: u32, path: &str) -> bool {
        if self.facts.is_tree() {
            return self.is_free_in_tree(line, path);
        }
        if self.facts.is_present(path) {
            let message = format!("`{path}` is in the archive already, so it cannot be a new file");
            self.findings.add(APPLY, line, path, message, "write a diff that edits the archived file");
        } else if self.facts.is_known(path) {
            self.unseen(line, path);
        } else if self.facts.context.has_archived_below(path) {
            let message = format!("`{path}` is a folder");
            self.findings.add(APPLY, line, path, message, "choose another path for the new file");
        } else {
            return true;
        }
        false
    }

    /// The bytes that a diff is applied to. Reports if there are none.
    fn base(&mut self, line: u32, file: &FileDiff, old: Option<&str>) -> Option<Rc<Vec<u8>>> {
        let facts = self.facts;
        let Some(old) = old else { return Some(Rc::default()) };
        // Searches are applied one after the other, each to the result of the previous one.
        let is_next = matches!(file.body, Body::Replacements(_));
        if let Some(Some(left)) = self.outcome.changed.get(old).filter(|_| is_next) {
            return Some(Rc::clone(left));
        }
        let found = if facts.is_tree() { self.current(old) } else { self.archived_or_moved(old) };
        let Ok(found) = found else {
            let message = format!("the patch of `{old}` does not apply: {TOO_MUCH}");
            self.findings.add(APPLY, line, old, message, "send fewer patches in one reply");
            return None;
        };
        if found.is_some() {
            if facts.is_tree() && self.is_unseen(old) {
                self.unseen(line, old);
                return None;
            }
            return found;
        }
        if let Some(state) = facts.context.state().filter(|_| old == facts.layout.state) {
            return Some(Rc::new(state.into_owned()));
        }
        // An earlier patch of this reply created it; 0013 reports that.
        if let Some(made) = self.outcome.changed.get(old).filter(|_| !facts.is_tree()) {
            return made.clone();
        }
        let is_known = facts.is_known(old) && !facts.is_tree();
        if is_known || self.moved.get(old).is_some_and(|source| facts.is_known(source)) {
            if file.change != Change::Copy || file.has_old_lines() {
                self.unseen(line, old);
            }
        } else if file.change == Change::Write {
            return self.is_free(line, old).then(Rc::default);
        } else {
            let message = format!("there is no `{old}` to patch");
            let remedy = "take the path from the archive or the map; a new file starts from `/dev/null` with `new file mode 100644`";
            self.findings.add(APPLY, line, old, message, remedy);
        }
        None
    }

    fn archived_or_moved(&mut self, path: &str) -> Result<Option<Rc<Vec<u8>>>, TooMuch> {
        if let Some(bytes) = self.archived(path)? {
            return Ok(Some(bytes));
        }
        // The current state has precedence over a file that was moved to its path.
        let is_state = path == self.facts.layout.state && self.facts.context.state().is_some();
        let source = self.moved.get(path).filter(|_| !is_state).cloned();
        source.map_or(Ok(None), |source| self.archived(&source))
    }

    fn apply(
        &mut self,
        patch: &PatchFence<'_>,
        file: &FileDiff,
        path: Option<&str>,
        base: &[u8],
    ) -> Result<diff::Applied, DiffError> {
        let (strict, is_tree) = (self.facts.options.strict, self.facts.is_tree());
        if let Some(error) = file.error.as_ref().or(file.strict_error.as_ref().filter(|_| strict)) {
            return Err(error.clone());
        }
        if file.binary.is_some() && is_tree {
            return Err(DiffError::new(file.index, "binary patches are not applied"));
        }
        // With corrected counts, a hunk that is cut off by a fence of its own contents would look complete.
        if self.closes_like_a_line(patch)
            && let Some(Err(error)) = file.hunks().last().map(|hunk| &hunk.counted)
        {
            return Err(error.clone());
        }
        let exactness = if strict { Exactness::AsGit } else { Exactness::Tolerant };
        let lines = &patch.fence.lines;
        let mut result = diff::apply(file, lines, base, exactness, &mut self.work);
        if result.is_err()
            && !is_tree
            && let Some(Some(left)) = path.and_then(|path| self.outcome.changed.get(path))
        {
            result = diff::apply(file, lines, left, exactness, &mut self.work).or(result);
        }
        let applied = result?;
        if file.change == Change::Delete && file.binary.is_none() && !applied.bytes.is_empty() {
            return Err(DiffError::new(file.index, "the deletion leaves lines of the file"));
        }
        Ok(applied)
    }

    fn record(
        &mut self,
        patch: &PatchFence<'_>,
        file: &FileDiff,
        old: Option<String>,
        new: Option<String>,
        applied: diff::Applied,
    ) {
        if let (Some(old), Some(new)) = (&old, &new)
            && matches!(file.change, Change::Rename | Change::Copy)
        {
            self.take_mode(old, new);
        }
        if let Some(old) = old.filter(|_| matches!(file.change, Change::Delete | Change::Rename)) {
            self.outcome.changed.insert(old, None);
        }
        let Some(new) = new else { return };
        if let Some(mode) = file.new_mode {
            self.outcome.modes.insert(new.clone(), PlannedMode::Executable(mode & 0o111 != 0));
        }
        if new == self.facts.layout.state {
            let line = |source: &Option<usize>| source.map(|index| patch.fence.line_of(index));
            let lines = applied.sources.iter().map(line).collect();
            self.outcome.state = Some(PatchedState { bytes: applied.bytes.clone(), lines });
        }
        self.outcome.changed.insert(new, Some(Rc::new(applied.bytes)));
    }

    /// A moved or copied file has the permissions of its source.
    pub(super) fn take_mode(&mut self, from: &str, to: &str) {
        let mode = self.outcome.modes.get(from).cloned().unwrap_or_else(|| PlannedMode::Of(from.to_owned()));
        self.outcome.modes.insert(to.to_owned(), mode);
    }

    pub(super) fn unseen(&mut self, line: u32, path: &str) {
        if !self.facts.is_active || !self.facts.context.has_archive() {
            if self.facts.is_tree() {
                return;
            }
            self.findings.note(format!("`{path}` is not in the archive, so the change of it could not be checked"));
            return;
        }
        let message = format!("`{path}` exists but is not in the archive, so this thread has never seen it");
        let remedy = format!("add `{path}` to the state and ask for a new archive before touching it");
        self.findings.add(UNSEEN, line, path, message, remedy);
    }
}

/// The reply exceeds its budget of work.
pub(super) struct TooMuch;

fn with_name(file: &FileDiff, error: &DiffError) -> String {
    let path = file.new.as_ref().or(file.old.as_ref()).map(|path| path.path.as_str()).unwrap_or_default();
    format!("the patch of `{path}` does not apply: {}", error.message)
}
