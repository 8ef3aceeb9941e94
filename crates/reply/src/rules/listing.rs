//! STAN-REPLY-0010: the checklist lists every entry of a patched state, as written.
//!
//! | case | decision |
//! |---|---|
//! | every entry of `i` and `x` is listed, in any order, one by one or as lists | fine |
//! | an entry is missing | 0010 at the state's patch, naming it |
//! | an entry is listed that the state does not have, or in another spelling (`["a",0]` for `"a"`) | 0010 at that line |
//! | listed under `x:` while it is in `i` | 0010 |
//! | listed twice, or once for a duplicate | fine |
//! | no entries at all | nothing has to be listed |
//! | the state cannot be read (0003), does not apply (0011) or changes nothing (0002) | not asked for |

use std::collections::BTreeSet;

use super::Facts;
use super::state::Selection;
use crate::entries::{self, Side};
use crate::report::Findings;

const CODE: &str = "STAN-REPLY-0010";

/// How many missing entries one finding names.
const MAX_NAMED: usize = 3;

pub(super) fn check(facts: &Facts<'_>, selection: &Selection<'_>, findings: &mut Findings<'_>) {
    let Some(written) = selection.patched.and_then(|patched| entries::of_state(&patched.bytes)) else { return };
    let targets: BTreeSet<&str> = facts.targets.iter().map(|target| target.path.as_str()).collect();
    let is_target = |path: &str| targets.contains(path);
    let listed = entries::of_section(&facts.structure.input, &written, &is_target);
    let has = |side: Side, entry: &str| written.contains(&(side, entry.to_owned()));
    for listed in &listed {
        let is_there = match listed.side {
            Some(side) => has(side, &listed.entry),
            None => has(Side::Include, &listed.entry) || has(Side::Exclude, &listed.entry),
        };
        if !is_there {
            let entry = crate::excerpt::prefix(&listed.entry, 200);
            let list =
                listed.side.map_or_else(|| "the state".to_owned(), |side| format!("`{}` of the state", side.key()));
            let message = format!("the checklist lists `{entry}`, which {list} does not have as written");
            findings.add(CODE, listed.line, entry, message, "list the entries exactly as the patched state has them");
        }
    }
    let named: BTreeSet<(Option<Side>, &str)> =
        listed.iter().map(|listed| (listed.side, listed.entry.as_str())).collect();
    let is_listed = |side: Side, entry: &str| named.contains(&(Some(side), entry)) || named.contains(&(None, entry));
    let missing: Vec<String> = written
        .iter()
        .filter(|(side, entry)| !is_listed(*side, entry))
        .map(|(side, entry)| format!("`{}` of `{}`", crate::excerpt::prefix(entry, 200), side.key()))
        .collect();
    if missing.is_empty() {
        return;
    }
    let shown = missing.iter().take(MAX_NAMED).cloned().collect::<Vec<_>>().join(", ");
    let more = match missing.len().saturating_sub(MAX_NAMED) {
        0 => String::new(),
        rest => format!(" and {rest} more"),
    };
    let message = format!("the state is patched, but the checklist does not list {shown}{more}");
    let remedy = "list the `i` and `x` entries as written in the state under `## Input Data Changes`";
    findings.add(CODE, selection.line, &facts.layout.state, message, remedy);
}
