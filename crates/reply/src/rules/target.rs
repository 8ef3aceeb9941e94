//! The files that a reply changes: what its patches and file operations do to which path.

use crate::diff::{Body, Change, FileDiff};
use crate::markdown::Fence;
use crate::paths::normalise;
use crate::structure::{OperationKind, Structure};

/// The change of a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Deed {
    Edit,
    Create,
    Delete,
}

/// One file that a reply changes. A rename or `mv` is a deletion and a new file; the source of a copy is not a target.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Target {
    pub(super) path: String,
    pub(super) deed: Deed,
    pub(super) line: u32,
    /// By a patch, not by a file operation.
    pub(super) is_patch: bool,
    /// By a search/replace block.
    pub(super) is_search: bool,
}

/// All targets in the order of the reply.
pub(super) fn collect(structure: &Structure<'_>) -> Vec<Target> {
    let mut targets = Vec::new();
    for patch in structure.blocks.iter().flat_map(|block| &block.patches) {
        for file in &patch.diff.files {
            of_diff(file, &patch.fence, &mut targets);
        }
    }
    for operation in &structure.operations {
        let mut add = |path: &str, deed: Deed| {
            targets.push(Target {
                path: normalise(path),
                deed,
                line: operation.line,
                is_patch: false,
                is_search: false,
            });
        };
        match &operation.kind {
            OperationKind::Move { from, to } => {
                add(from, Deed::Delete);
                add(to, Deed::Create);
            }
            OperationKind::Copy { to, .. } => add(to, Deed::Create),
            OperationKind::Remove { path } => add(path, Deed::Delete),
            // Not files: only their paths are checked.
            OperationKind::RemoveFolder { .. } | OperationKind::MakeFolder { .. } => {}
        }
    }
    targets
}

fn of_diff(file: &FileDiff, fence: &Fence<'_>, targets: &mut Vec<Target>) {
    let line = fence.line_of(file.index);
    let is_search = matches!(file.body, Body::Replacements(_));
    let mut add = |path: &str, deed: Deed| {
        targets.push(Target { path: normalise(path), deed, line, is_patch: true, is_search });
    };
    let (old, new) = (file.old.as_ref().map(|old| &old.path), file.new.as_ref().map(|new| &new.path));
    // A contradictory header may mean any of its paths.
    if file.contradiction.is_some() {
        let deed = if file.change == Change::Create { Deed::Create } else { Deed::Edit };
        for written in &file.written {
            add(&written.path, deed);
        }
        return;
    }
    match file.change {
        Change::Edit => new.or(old).into_iter().for_each(|path| add(path, Deed::Edit)),
        Change::Create | Change::Copy | Change::Write => new.into_iter().for_each(|path| add(path, Deed::Create)),
        Change::Delete => old.into_iter().for_each(|path| add(path, Deed::Delete)),
        Change::Rename => {
            old.into_iter().for_each(|path| add(path, Deed::Delete));
            new.into_iter().for_each(|path| add(path, Deed::Create));
        }
    }
}
