//! STAN-REPLY-0013: a malformed patch block.
//!
//! | case | decision |
//! |---|---|
//! | several `diff --git` in one fence | 0013, once a fence |
//! | a second fence under one `### Patch:` heading | a patch of its own |
//! | anything but one fence under `### File:` | 0013 |
//! | a search/replace block without its markers, or without a file | 0013 |
//! | a heading whose path is neither the old nor the new path of a diff in its block | 0013 |
//! | the same path spelled `./a` or in a code span | fine |
//! | `---`/`+++` without `diff --git` above | 0013; still applied and checked |
//! | hunks without any file | 0013 |
//! | a heading without a diff below | 0013 |
//! | one diff whose header names different files without a rename | 0013; every one of them is checked |
//! | a second patch on a file, old names and new names of renames included | 0013 at the second |
//! | several fences of search/replace blocks on one file | fine: each says what it changes, and they go one after the other |
//! | a copied file that is also patched | fine: a copy does not touch what it copies |
//! | a line under `### File Ops` that is not an operation | 0013 |
//! | several files in one envelope (`*** Begin Patch`) | fine: that is its form |
//! | to be applied: something that starts like a patch outside of a fence, or inside of one that is not read | 0013 |
//! | to be applied: a heading with more than a path behind `File:`, where no file is called so | 0013 |

use std::collections::BTreeMap;

use super::Facts;
use crate::paths::normalise;
use crate::report::Findings;
use crate::structure::{PatchBlock, PatchFence};

const CODE: &str = "STAN-REPLY-0013";

pub(super) fn check(facts: &Facts<'_>, findings: &mut Findings<'_>) {
    for block in &facts.structure.blocks {
        check_count(block, findings);
        check_heading(block, findings);
        for patch in &block.patches {
            check_fence(patch, findings);
        }
    }
    check_repetition(facts, findings);
    if facts.is_tree() {
        check_unread(facts, findings);
    }
    for (line, fault) in &facts.structure.operation_faults {
        let remedy = "write one of `mv FROM TO`, `cp FROM TO`, `rm PATH`, `rmdir PATH`, `mkdirp PATH` on each line";
        findings.add(CODE, *line, "", fault.clone(), remedy);
    }
}

fn check_count(block: &PatchBlock<'_>, findings: &mut Findings<'_>) {
    for patch in &block.patches {
        if let Some(second) = patch.diff.files.get(1).filter(|_| !patch.diff.is_envelope) {
            let message = "the patch block holds more than one diff";
            let remedy = "give each file its own `### Patch: <path>` block with one `diff --git`";
            findings.add(CODE, patch.fence.line_of(second.index), "", message, remedy);
        }
    }
    if let Some(second) = block.patches.get(1).filter(|_| block.is_file) {
        let message = "there is a second fence under `### File:`, so where the file ends is ambiguous";
        let remedy = "put the whole file into one fence that is longer than any fence in it";
        findings.add(CODE, second.fence.line, "", message, remedy);
    }
}

fn check_heading(block: &PatchBlock<'_>, findings: &mut Findings<'_>) {
    let Some(heading) = &block.heading else { return };
    if block.patches.is_empty() {
        let (message, remedy) = match block.is_file {
            false => (
                "there is no fenced diff under this heading",
                "put one fence with one `diff --git` under it, or remove it",
            ),
            true => {
                ("there is no fence with the file under this heading", "put the whole file into one fence under it")
            }
        };
        findings.add(CODE, heading.line, "", message, remedy);
        return;
    }
    let wanted = normalise(&heading.path);
    let mut paths = block.patches.iter().flat_map(|patch| &patch.diff.files).flat_map(|file| &file.written);
    let first = paths.clone().next();
    if let Some(first) = first.filter(|_| !paths.any(|written| normalise(&written.path) == wanted)) {
        let message = format!("the heading names `{}`, the diff below names `{}`", heading.path, first.path);
        findings.add(CODE, heading.line, &heading.path, message, "write the path of the diff in the heading");
    }
}

fn check_fence(patch: &PatchFence<'_>, findings: &mut Findings<'_>) {
    let header = "start the diff with `diff --git a/<path> b/<path>`";
    if let Some(index) = patch.diff.stray_hunk {
        findings.add(CODE, patch.fence.line_of(index), "", "a hunk without a file it belongs to", header);
    }
    for file in &patch.diff.files {
        let line = patch.fence.line_of(file.index);
        if !file.has_git_header && file.is_diff() {
            findings.add(CODE, line, "", "`---` and `+++` without `diff --git` above them", header);
        }
        if file.written.is_empty() && !file.is_diff() {
            let message = "the search/replace block does not say which file it changes";
            findings.add(CODE, line, "", message, "write `### Patch: <path>` above the fence");
        }
        if let Some(error) = &file.malformed {
            let remedy = match patch.diff.is_envelope {
                true => "write `*** Update File: <path>`, then hunks whose lines start with a space, `+` or `-`",
                false => "write `<<<<<<< SEARCH`, the old lines, `=======`, the new lines, `>>>>>>> REPLACE`",
            };
            findings.add(CODE, patch.fence.line_of(error.index), "", error.message.clone(), remedy);
        }
        if let Some(error) = &file.contradiction {
            let remedy =
                "name the same file in every line of the header, or write a rename with `rename from` and `rename to`";
            findings.add(CODE, patch.fence.line_of(error.index), "", error.message.clone(), remedy);
        }
    }
}

/// Reports what looks like a patch but is not read as one: applying only the rest would apply half of the reply.
fn check_unread(facts: &Facts<'_>, findings: &mut Findings<'_>) {
    let fences = "put each patch into a fence of its own, with nothing else in it";
    if let Some(line) = facts.structure.bare_patch {
        findings.add(CODE, line, "", "this looks like a patch outside of a fence, where it is not read", fences);
    }
    if let Some(line) = facts.structure.unread_patch {
        findings.add(
            CODE,
            line,
            "",
            "this looks like a patch among other lines of a fence, where it is not read",
            fences,
        );
    }
    for heading in facts.structure.blocks.iter().filter_map(|block| block.heading.as_ref()) {
        if heading.has_more && !facts.context.exists(&normalise(&heading.path)) {
            let remedy = "write the path alone behind the colon, and everything else below the heading";
            findings.add(CODE, heading.line, "", "the heading holds more than a path", remedy);
        }
    }
}

fn check_repetition(facts: &Facts<'_>, findings: &mut Findings<'_>) {
    let mut first_lines: BTreeMap<&str, (u32, bool)> = BTreeMap::new();
    for target in facts.targets.iter().filter(|target| target.is_patch) {
        match first_lines.get(target.path.as_str()) {
            Some((_, true)) if target.is_search => {}
            Some(&(first, _)) if first != target.line => {
                let message = format!("`{}` is patched twice: line {first} does it already", target.path);
                findings.add(CODE, target.line, &target.path, message, "join both patches into one diff");
            }
            Some(_) => {}
            None => _ = first_lines.insert(&target.path, (target.line, target.is_search)),
        }
    }
}
