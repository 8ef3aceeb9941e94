//! STAN-REPLY-0009, STAN-REPLY-0012 and STAN-REPLY-0105: where a reply may write. Checked with the mode on or off.
//!
//! | case | decision |
//! |---|---|
//! | any path of a diff below `<stanPath>/imports/`, also deletions and renames | 0009 |
//! | `mv`, `rm`, `rmdir`, `mkdirp` there, as source or destination; `cp` to there | 0009 |
//! | `rm` or `mv` of a folder that contains the imports | 0009; `<stanPath>` itself is reserved, so only 0012 |
//! | `cp` from there, or a diff that copies from there | fine |
//! | a path that [`Layout::fault`](crate::paths::Layout::fault) refuses, in a diff, a heading or an operation | 0012 |
//! | a path that git reads otherwise than it is written (no `a/`): both readings | 0009, 0012 |
//! | a new symlink to outside the repository | 0012 |
//! | to be applied: any symlink or submodule, or a path at or behind a symlink of the working tree | 0012 |
//! | to be applied: a new name with a backslash or a control character | 0012 |
//!
//! | a file that runs code when its folder is opened, entered or installed ([`runs_code`]), made or changed | 0105, a warning |
//!
//! A finding is on the line with the path. A path is reported once per line; a reserved path is reported once, without other
//! codes.

use super::Facts;
use super::target::Deed;
use crate::diff::{Change, FileDiff};
use crate::paths::{Access, PathFault, normalise, runs_code};
use crate::report::{Findings, RESERVED as PATHS};
use crate::structure::{OperationKind, PatchFence};

const IMPORTS: &str = "STAN-REPLY-0009";
const CODE: &str = "STAN-REPLY-0105";

pub(super) fn check(facts: &Facts<'_>, findings: &mut Findings<'_>) {
    for target in facts.targets.iter().filter(|target| target.deed != Deed::Delete && runs_code(&target.path)) {
        let message = format!("`{}` runs code when its folder is opened, entered or installed", target.path);
        findings.add(CODE, target.line, &target.path, message, "read the change before you apply it");
    }
    for block in &facts.structure.blocks {
        if let Some(heading) = block.heading.as_ref().filter(|heading| !heading.path.is_empty()) {
            check_path(facts, findings, heading.line, &heading.path, Access::Write);
        }
        for patch in &block.patches {
            for file in &patch.diff.files {
                check_diff(facts, findings, patch, file);
            }
        }
    }
    for operation in &facts.structure.operations {
        let mut check = |path: &str, access: Access| check_path(facts, findings, operation.line, path, access);
        match &operation.kind {
            OperationKind::Move { from, to } => {
                check(from, Access::WriteTree);
                check(to, Access::Write);
            }
            OperationKind::Copy { from, to } => {
                check(from, Access::Read);
                check(to, Access::Write);
            }
            OperationKind::Remove { path } => check(path, Access::WriteTree),
            OperationKind::RemoveFolder { path } | OperationKind::MakeFolder { path } => check(path, Access::Write),
        }
    }
}

fn check_diff(facts: &Facts<'_>, findings: &mut Findings<'_>, patch: &PatchFence<'_>, file: &FileDiff) {
    let source = file.old.as_ref().filter(|_| file.change == Change::Copy).map(|old| old.path.as_str());
    for written in &file.written {
        let access = if source == Some(written.path.as_str()) { Access::Read } else { Access::Write };
        let line = patch.fence.line_of(written.index);
        for path in [Some(&written.path), written.taken_as.as_ref()].into_iter().flatten() {
            // Without a leading folder nothing is left after git strips a segment; that is not a path to check.
            if !path.is_empty() || written.taken_as.is_none() {
                check_path(facts, findings, line, path, access);
            }
        }
    }
    let kind = file.new_mode.map(|mode| mode & 0o170_000);
    if kind == Some(0o120_000) {
        check_link(findings, patch, file);
    }
    if facts.is_tree() && kind.is_some_and(|kind| kind != 0o100_000) {
        let path = file.new.as_ref().map(|new| new.path.as_str()).unwrap_or_default();
        let message = format!("`{}` would be a link or a submodule, not a file", crate::excerpt::prefix(path, 200));
        findings.add(PATHS, patch.fence.line_of(file.index), path, message, "send files only");
    }
}

fn check_path(facts: &Facts<'_>, findings: &mut Findings<'_>, line: u32, path: &str, access: Access) {
    let touches_imports = match access {
        Access::Read => false,
        Access::Write => facts.layout.is_import(path),
        Access::WriteTree => facts.layout.holds_imports(path),
    };
    if touches_imports {
        let message = format!("`{path}` is staged by the tool and only to be read");
        let remedy = "leave it as it is; copy it elsewhere with `cp` to work on it";
        findings.add(IMPORTS, line, path, message, remedy);
    }
    match facts.layout.fault(path, access) {
        None => {
            if let Some(obstacle) = facts.context.obstacle(&normalise(path)).filter(|_| facts.is_tree()) {
                let message = format!("`{}` {obstacle}", crate::excerpt::prefix(path, 200));
                findings.add(PATHS, line, path, message, "name the file itself, by its own path");
                findings.reserve(path);
            } else if let Some(fault) = odd_name(facts, path) {
                let message = format!("`{}` {fault}", crate::excerpt::prefix(path, 200));
                findings.add(PATHS, line, path, message, "write the path with `/` and characters that can be seen");
                findings.reserve(path);
            }
        }
        Some(PathFault::Outside(fault)) => {
            let message = format!("`{}` {fault}", crate::excerpt::prefix(path, 200));
            findings.add(PATHS, line, path, message, "write the path relative to the repository, without `..`");
        }
        Some(PathFault::Reserved(fault)) => {
            let message = format!("`{}` {fault}", crate::excerpt::prefix(path, 200));
            findings.add(PATHS, line, path, message, "remove this patch or operation");
            findings.reserve(path);
        }
    }
}

/// A name that no model intends. If the file exists, the name is intended.
fn odd_name(facts: &Facts<'_>, path: &str) -> Option<&'static str> {
    let fault = match () {
        () if path.contains('\\') => "has a backslash, which is part of the name here and not a separator",
        () if path.contains(char::is_control) => "holds a control character",
        () => return None,
    };
    let is_there = facts.context.exists(&normalise(path));
    (facts.is_tree() && !is_there).then_some(fault)
}

/// The only line of a symlink is its target.
fn check_link(findings: &mut Findings<'_>, patch: &PatchFence<'_>, file: &FileDiff) {
    let added = file.hunks().iter().flat_map(|hunk| hunk.lines.clone());
    for index in added {
        let Some(goal) = patch.fence.lines.get(index).and_then(|line| line.strip_prefix('+')) else { continue };
        let from = file.new.as_ref().map(|new| new.path.as_str()).unwrap_or_default();
        if leaves(from, goal) {
            let message = format!("the link leads out of the repository: `{}`", crate::excerpt::prefix(goal, 200));
            findings.add(PATHS, patch.fence.line_of(index), goal, message, "link to a file of the repository");
        }
    }
}

fn leaves(from: &str, goal: &str) -> bool {
    let is_absolute = crate::paths::outside(goal).is_some_and(|fault| fault != "has a `..` segment");
    let mut depth = i64::try_from(from.matches('/').count()).unwrap_or(i64::MAX);
    let lowest = goal.split('/').map(|segment| {
        depth += match segment {
            "" | "." => 0,
            ".." => -1,
            _ => 1,
        };
        depth
    });
    is_absolute || lowest.min().is_some_and(|lowest| lowest < 0)
}
