//! STAN-REPLY-0015 and STAN-REPLY-0016: what the assistant asks of the user. Warnings, unless git's strictness is requested.
//!
//! | case | decision |
//! |---|---|
//! | prose that asks to paste, send, share or show a file node of the map, named in the same sentence or in the list below | 0015 |
//! | the same words with "not", "instead of", "no need", or in a quote, a fence or a comment | fine |
//! | a file that the map does not know | fine: the user may have to paste it |
//! | a hard-gate reply (some `present: no`) without anything under `## Commit Message` | 0016 |
//! | the same without a word about an archive in its prose | 0016 |
//! | the same, but it changes what it must not (0007) | not asked for: it is not a hard-gate reply |

use super::Facts;
use crate::checklist;
use crate::markdown::TextLine;
use crate::paths::normalise;
use crate::report::Findings;

/// A list may start this many lines below a request that ends with a colon.
const NEAR: u32 = 2;

pub(super) fn check(facts: &Facts<'_>, missing: Option<u32>, findings: &mut Findings<'_>) {
    check_requests(facts, findings);
    if let Some(line) = missing.filter(|_| !findings.has("STAN-REPLY-0007")) {
        check_gate_reply(facts, line, findings);
    }
}

fn check_requests(facts: &Facts<'_>, findings: &mut Findings<'_>) {
    // The last line that belongs to a request, and whether a list follows it.
    let mut reach: Option<(u32, bool)> = None;
    let prose = facts.structure.other_prose.iter().chain(&facts.structure.input.prose);
    for line in prose.filter(|line| !line.is_quoted && !checklist::is_fixed(&line.text)) {
        let asks = asks(&line.text);
        let is_reached = reach.is_some_and(|(last, is_list)| line.line <= last + if is_list { NEAR } else { 1 });
        if !asks && !is_reached {
            reach = None;
            continue;
        }
        if let Some(path) = mapped_path(facts, line) {
            let message = format!("the user is asked for `{path}`, which the map has");
            let remedy = "select it in the state instead, and ask for a new archive";
            findings.add("STAN-REPLY-0015", line.line, &path, message, remedy);
        }
        let is_list = line.text.trim_end().ends_with(':') || (!asks && reach.is_some_and(|(_, is_list)| is_list));
        reach = (asks || is_list).then_some((line.line, is_list));
    }
}

fn asks(text: &str) -> bool {
    let lower = text.to_ascii_lowercase();
    let has = |words: &[&str]| words.iter().any(|word| lower.contains(word));
    if has(&["not paste", "n't paste", "no need", "instead of", "without past", "never paste"]) {
        return false;
    }
    let is_request =
        has(&["please", "can you", "could you", "would you", "need you to", "i need", "send me", "show me", "give me"]);
    has(&["paste"])
        || (is_request && has(&["share", "send", "provide", "upload", "attach", "show", "post ", "give me"]))
}

/// A word of the line that is the path of a file node.
fn mapped_path(facts: &Facts<'_>, line: &TextLine<'_>) -> Option<String> {
    let words = line.text.split([' ', '\t', '`', '"', '\'', '(', ')', '[', ']', ',', ';']);
    let bare = words.map(|word| word.trim_matches(['*', ':', '!', '?']).trim_end_matches('.'));
    let paths = bare.filter(|word| word.len() > 1).map(normalise);
    paths.into_iter().find(|path| facts.context.is_mapped(path))
}

fn check_gate_reply(facts: &Facts<'_>, line: u32, findings: &mut Findings<'_>) {
    const CODE: &str = "STAN-REPLY-0016";
    if !facts.structure.has_commit_message {
        let message = "some file is not present, and the reply has no commit message";
        findings.add(CODE, line, "", message, "add `## Commit Message` with one fenced block");
    }
    let is_about = |line: &TextLine<'_>, words: &str| line.text.to_ascii_lowercase().contains(words);
    let asks = |line: &TextLine<'_>| is_about(line, "archive") || is_about(line, "stan run");
    // "archive" alone does not count here: the checklist mentions the current one.
    let asks_beside = |line: &TextLine<'_>| is_about(line, "new archive") || is_about(line, "stan run");
    let input = &facts.structure.input.prose;
    if !facts.structure.other_prose.iter().any(asks) && !input.iter().any(asks_beside) {
        let message = "some file is not present, and the reply does not ask for a new archive";
        findings.add(CODE, line, "", message, "ask the user for a new `stan run --context` archive");
    }
}
