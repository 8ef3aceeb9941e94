//! STAN-REPLY-0014, 0101 to 0104 and 0106: about a selection. Only 0014 stops a reply.
//!
//! | case | decision |
//! |---|---|
//! | an entry of `i` or `x` that is not a file node of the map | 0101, also when such a file exists but is ignored; a builtin or missing node has its own message |
//! | an entry of `i` that git ignores and that is a credential file or holds a secret | 0014 |
//! | another entry of `i` that git ignores | 0106 |
//! | an archived file below `<stanPath>/imports/` | no 0101: imports are not in the map |
//! | a selected external, as entry or through closure, with the bytes of an import | 0102 |
//! | an entry of `i` with depth 3 or more and all kinds (none given, 7, or more bits) | 0103 |
//! | the same with fewer kinds, or in `x` | fine |
//! | `--budget`, with a state patch or without | 0104 when the resulting archive has more tokens |
//!
//! 0101 to 0103 are about the patched state: they are not checked for a reply without a patch of it.

use std::collections::BTreeSet;

use stan_model::NodeKind;
use stan_model::document::state::{self, ALL_KINDS, Entry, State};

use super::Facts;
use super::bytes::PatchResult;
use super::state::Selection;
use crate::report::Findings;
use crate::{CheckOptions, IgnoredFile};

/// From this depth, an entry without a mask deserves a warning.
const DEEP: u32 = 3;

pub(super) fn check(
    facts: &Facts<'_>,
    selection: &Selection<'_>,
    outcome: &PatchResult,
    options: &CheckOptions,
    findings: &mut Findings<'_>,
) {
    if let Some(after) = &selection.after {
        let places = Places::new(selection);
        check_unknown(facts, after, &places, findings);
        check_ignored(facts, after, &places, findings);
        check_imported(facts, after, &places, findings);
        check_depth(facts, after, &places, findings);
    }
    if let Some(budget) = options.budget {
        check_budget(facts, selection, outcome, budget, findings);
    }
}

/// Finds the line of the reply that wrote an entry. Entries are searched for in file order, so that all searches together are one
/// pass over the file.
struct Places<'a> {
    lines: Vec<(&'a str, u32)>,
    fallback: u32,
}

impl<'a> Places<'a> {
    fn new(selection: &Selection<'a>) -> Self {
        let fallback = selection.line;
        let Some(patched) = selection.patched else { return Self { lines: Vec::new(), fallback } };
        let text = std::str::from_utf8(&patched.bytes).unwrap_or_default();
        let lines = text.split('\n').zip(&patched.lines);
        let lines = lines.filter_map(|(line, source)| source.map(|source| (line, source))).collect();
        Self { lines, fallback }
    }

    /// The first line with the node's name, if few enough lines need to be searched; else the first line.
    fn of(&self, node: &str) -> u32 {
        let searched = self.lines.iter().take(64).map(|(line, source)| (crate::excerpt::prefix(line, 4096), source));
        let found = searched.into_iter().find(|(line, _)| line.contains(node)).map(|(_, source)| *source);
        found.or_else(|| self.lines.first().map(|(_, source)| *source)).unwrap_or(self.fallback)
    }
}

fn check_unknown(facts: &Facts<'_>, after: &State, places: &Places<'_>, findings: &mut Findings<'_>) {
    let nodes: BTreeSet<&str> = after.include.iter().chain(&after.exclude).map(|entry| entry.node.as_str()).collect();
    for node in nodes {
        let is_import = facts.layout.is_import(node) && facts.context.is_archived(node);
        if facts.context.is_mapped(node) || is_import {
            continue;
        }
        let (message, remedy) = match facts.context.mapped_kind(node) {
            Some(NodeKind::Builtin) => {
                (format!("`{node}` is a builtin: there is no file to archive"), "remove the entry")
            }
            Some(NodeKind::Missing) => (
                format!("`{node}` is missing: something imports it, but there is no file to archive"),
                "remove the entry, or ask the user to install the package",
            ),
            _ => (
                format!("the map does not know `{node}`"),
                "take node ids from the map; a file that git ignores is archived only if it exists",
            ),
        };
        findings.add("STAN-REPLY-0101", places.of(node), node, message, remedy);
    }
}

fn check_ignored(facts: &Facts<'_>, after: &State, places: &Places<'_>, findings: &mut Findings<'_>) {
    let nodes: BTreeSet<&str> = after.include.iter().map(|entry| entry.node.as_str()).collect();
    for IgnoredFile { path, secret } in facts.context.ignored(&nodes) {
        let line = places.of(&path);
        match secret {
            Some(reason) => {
                let message = format!("git ignores `{path}`, and {reason}");
                let remedy = "do not select it; only the user can hand it on, with --allow-secret";
                findings.add("STAN-REPLY-0014", line, &path, message, remedy);
            }
            None => {
                let message = format!("git ignores `{path}`; it would be archived because the selection asks");
                let remedy = "select it only if the user wants it in the archive";
                findings.add("STAN-REPLY-0106", line, &path, message, remedy);
            }
        }
    }
}

fn check_imported(facts: &Facts<'_>, after: &State, places: &Places<'_>, findings: &mut Findings<'_>) {
    for node in facts.context.selected(after) {
        if !facts.layout.is_staged(&node) {
            continue;
        }
        if let Some(copy) = facts.context.imported_copy(&node) {
            let message = format!("`{node}` is selected although `{copy}` holds the same bytes");
            let remedy = format!("select `{copy}` instead, or exclude `{node}`");
            findings.add("STAN-REPLY-0102", places.of(&node), &node, message, remedy);
        }
    }
}

fn check_depth(facts: &Facts<'_>, after: &State, places: &Places<'_>, findings: &mut Findings<'_>) {
    let deep: BTreeSet<&Entry> =
        after.include.iter().filter(|entry| entry.depth >= DEEP && entry.mask & ALL_KINDS == ALL_KINDS).collect();
    for entry in deep {
        let shallow = Entry::new(entry.node.clone(), DEEP - 1, ALL_KINDS);
        let (size, less) = (facts.context.closure_size(entry), facts.context.closure_size(&shallow));
        let message = format!(
            "`{}` with depth {} and every kind of edge is {} bytes, {} tokens",
            entry.node, entry.depth, size.bytes, size.tokens
        );
        let remedy = format!(
            "take depth {} ({} bytes, {} tokens) or only some kinds of edges",
            shallow.depth, less.bytes, less.tokens
        );
        findings.add("STAN-REPLY-0103", places.of(&entry.node), &entry.node, message, remedy);
    }
}

fn check_budget(
    facts: &Facts<'_>,
    selection: &Selection<'_>,
    outcome: &PatchResult,
    budget: u64,
    findings: &mut Findings<'_>,
) {
    let current = || {
        let bytes = facts.context.base(&facts.layout.state).or_else(|| facts.context.state())?;
        state::decode(&bytes, &facts.layout.state).ok().map(|decoded| decoded.state)
    };
    let state = selection.after.clone().or_else(current).unwrap_or_default();
    let tokens = facts.context.tokens_after(&state, &outcome.changed);
    if tokens <= budget {
        return;
    }
    let message =
        format!("the archive would have {tokens} tokens, {} more than the budget of {budget}", tokens - budget);
    let remedy = "select less: smaller depths, fewer kinds, or excludes";
    findings.add("STAN-REPLY-0104", selection.line, &facts.layout.state, message, remedy);
}
