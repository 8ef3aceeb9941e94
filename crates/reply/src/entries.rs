//! The entries of a selection, as listed in the checklist and as written in the state file.
//!
//! What counts as a listed entry, line by line under `## Input Data Changes`:
//!
//! | written | read as |
//! |---|---|
//! | `"a"`, `["a", 1]`, `["a", 1, 3]`, several of them, in code spans or not | entries as written |
//! | `[…]` of such | a whole list; `["a", "b"]` is two entries, never a tuple |
//! | `{"v": 2, "i": […], "x": […]}` | both lists |
//! | a bare path | the string entry |
//! | `i:`, `include:`, `x (exclude):` before them or on a line above | which list they are in; without a label, either |
//! | JSON in a fence of the section | as above |
//! | an entry with words after it | an entry if the state has it, else prose |
//! | `none`, `(none)`, `[]`, other words | nothing |

use std::collections::BTreeSet;

use stan_model::json::{JsonKind, JsonTree, NodeId};

use crate::checklist::{is_fixed, without_backticks, without_task_box};
use crate::structure::InputSection;

/// One of the two lists of a state.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Side {
    Include,
    Exclude,
}

impl Side {
    pub(crate) fn key(self) -> &'static str {
        match self {
            Self::Include => "i",
            Self::Exclude => "x",
        }
    }
}

/// An entry as minified JSON: compared by spelling, ignoring white space.
pub(crate) type Written = String;

/// An entry of the checklist.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Listed {
    pub(crate) line: u32,
    /// Which list the reply puts it in.
    pub(crate) side: Option<Side>,
    pub(crate) entry: Written,
}

/// The entries of a state file as written. `None` if it is not JSON.
pub(crate) fn of_state(bytes: &[u8]) -> Option<BTreeSet<(Side, Written)>> {
    let tree = JsonTree::parse(bytes).ok()?;
    let mut entries = BTreeSet::new();
    collect_object(&tree, tree.root(), &mut |side, entry| _ = entries.insert((side, entry)));
    Some(entries)
}

/// The entries that a section lists. `known` are the state's entries, `targets` the paths that the reply patches: a bare path
/// that is one of these is a mention, not an entry.
pub(crate) fn of_section(
    input: &InputSection<'_>,
    known: &BTreeSet<(Side, Written)>,
    is_target: &dyn Fn(&str) -> bool,
) -> Vec<Listed> {
    let known = known.iter().map(|(_, entry)| entry.as_str()).collect();
    let mut reader = EntryReader { known, is_target, side: None, listed: Vec::new(), line: 0 };
    let mut joined = String::new();
    let mut can_span_lines = true;
    let mut at = 0;
    while let Some(line) = input.prose.get(at) {
        at += 1;
        reader.line = line.line;
        if is_fixed(&line.text) {
            continue;
        }
        let text = without_backticks(&line.text);
        if reader.read_line(without_task_box(text.trim())) || !can_span_lines {
            continue;
        }
        // An array over several lines: join them up to its end. If it has no end, do not try for later arrays: that would be
        // quadratic.
        joined.clear();
        joined.push_str(&text);
        let mut depth = nesting(&text);
        let mut end = at;
        while depth > 0
            && let Some(next) = input.prose.get(end)
        {
            let text = without_backticks(&next.text);
            depth += nesting(&text);
            joined.push('\n');
            joined.push_str(&text);
            end += 1;
        }
        can_span_lines = depth <= 0;
        if can_span_lines && reader.read_line(joined.trim()) {
            at = end;
        }
    }
    for fence in &input.fences {
        reader.side = None;
        reader.line = fence.line.saturating_add(1);
        let text = fence.lines.join("\n");
        if let Ok(tree) = JsonTree::parse(text.trim().as_bytes()) {
            reader.read_value(&tree, true);
        } else {
            // Only marked entries, line by line: a fence may contain anything.
            for (index, line) in fence.lines.iter().enumerate() {
                reader.line = fence.line_of(index);
                let line = line.trim();
                if line.starts_with(['[', '{', '"']) || label(line).is_some_and(|(side, _)| side.is_some()) {
                    reader.read_line(line);
                }
            }
        }
    }
    reader.listed
}

/// Opening minus closing brackets of a line, outside of strings.
fn nesting(text: &str) -> i64 {
    let mut depth = 0;
    let (mut in_string, mut is_escaped) = (false, false);
    for byte in text.bytes() {
        match byte {
            _ if is_escaped => is_escaped = false,
            b'\\' if in_string => is_escaped = true,
            b'"' => in_string = !in_string,
            b'[' | b'{' if !in_string => depth += 1,
            b']' | b'}' if !in_string => depth -= 1,
            _ => {}
        }
    }
    depth
}

struct EntryReader<'a> {
    known: BTreeSet<&'a str>,
    is_target: &'a dyn Fn(&str) -> bool,
    /// The list that the last label names.
    side: Option<Side>,
    listed: Vec<Listed>,
    line: u32,
}

impl EntryReader<'_> {
    /// Reads labels and values up to the end of the line. `false` if a bracket is left open.
    fn read_line(&mut self, text: &str) -> bool {
        let mut rest = text.trim_matches(['*', ' ', '\t']);
        loop {
            rest = rest.trim_start_matches([' ', '\t', '\n', ',', ';', '*', '_']);
            rest = rest.strip_prefix("and ").unwrap_or(rest).trim_start();
            if rest.is_empty() {
                return true;
            }
            if rest.starts_with(['[', '{', '"']) {
                let Some(length) = value_length(rest) else { return !rest.starts_with(['[', '{']) };
                let (value, after) = rest.split_at(length);
                let is_last = after.trim_matches([' ', '\t', '\n', ',', ';', '.']).is_empty();
                match JsonTree::parse(value.as_bytes()) {
                    Ok(tree) => self.read_value(&tree, is_last || label(after).is_some() || starts_value(after)),
                    Err(_) => return true,
                }
                rest = after;
                continue;
            }
            match label(rest) {
                Some((side, after)) => {
                    self.side = side;
                    rest = after;
                }
                None => {
                    // `a, ["b", 1]`: bare paths up to a value.
                    let value = rest.find(['[', '{', '"']).and_then(|at| rest.split_at_checked(at));
                    match value.filter(|(bare, _)| bare.trim_end().ends_with(',')) {
                        None => {
                            self.read_bare(rest);
                            return true;
                        }
                        Some((bare, after)) => {
                            self.read_bare(bare.trim_end_matches([',', ' ', '\t']));
                            rest = after;
                        }
                    }
                }
            }
        }
    }

    fn read_value(&mut self, tree: &JsonTree<'_>, is_whole: bool) {
        let root = tree.root();
        let (side, line, known, listed) = (self.side, self.line, &self.known, &mut self.listed);
        let mut add = |side: Option<Side>, entry: Written| {
            if is_whole || known.contains(entry.as_str()) {
                listed.push(Listed { line, side, entry });
            }
        };
        match tree.kind(root) {
            JsonKind::Object => collect_object(tree, root, &mut |side, entry| add(Some(side), entry)),
            JsonKind::Array if !is_tuple(tree, root) => {
                for item in tree.items(root) {
                    add(side, minified(tree, item));
                }
            }
            _ => add(side, minified(tree, root)),
        }
    }

    /// A line of comma-separated bare paths, or one path followed by words.
    fn read_bare(&mut self, text: &str) {
        let words: Vec<&str> = text.split(',').map(str::trim).take(10_000).collect();
        let is_list = words.iter().all(|word| !word.is_empty() && !word.contains([' ', '\t']));
        if !is_list {
            let first = text.split([' ', '\t']).next().unwrap_or_default();
            for candidate in [text, first] {
                let entry = quoted(candidate);
                if self.known.contains(entry.as_str()) {
                    self.listed.push(Listed { line: self.line, side: self.side, entry });
                    return;
                }
            }
            return;
        }
        for word in words {
            let entry = quoted(word);
            let is_known = self.known.contains(entry.as_str());
            let looks_like_path = word.contains(['/', '.'])
                && !word.ends_with(['.', ':', '…'])
                && !word.starts_with('(')
                && (self.side.is_some() || !(self.is_target)(word));
            if is_known || looks_like_path {
                self.listed.push(Listed { line: self.line, side: self.side, entry });
            }
        }
    }
}

fn starts_value(after: &str) -> bool {
    let after = after.trim_start_matches([' ', '\t', '\n', ',', ';']);
    after.strip_prefix("and ").unwrap_or(after).trim_start().starts_with(['[', '{', '"'])
}

/// The length of the JSON value at the start of a text, if it is complete.
fn value_length(text: &str) -> Option<usize> {
    let mut depth = 0_usize;
    let (mut in_string, mut is_escaped) = (false, false);
    for (at, byte) in text.bytes().enumerate() {
        match byte {
            _ if is_escaped => is_escaped = false,
            b'\\' if in_string => is_escaped = true,
            b'"' => in_string = !in_string,
            b'[' | b'{' if !in_string => depth += 1,
            b']' | b'}' if !in_string => depth = depth.checked_sub(1)?,
            _ => {}
        }
        if depth == 0 && !in_string && matches!(byte, b'"' | b']' | b'}') {
            return Some(at + 1);
        }
    }
    None
}

/// Parses `i:`, `Include (i):`, `Dependency selection:`; returns the list that the label names, if it names one.
fn label(text: &str) -> Option<(Option<Side>, &str)> {
    let text = text.trim_start_matches([' ', '\t', '\n', ',', ';', '*', '_']);
    let (head, after) = text.split_once([':', '='])?;
    if head.len() > 120 || head.contains(['[', '{', '"', '/']) {
        return None;
    }
    let is_of = |words: &[&str]| {
        head.split(|c: char| !c.is_alphanumeric())
            .any(|word| words.iter().any(|known| known.eq_ignore_ascii_case(word)))
    };
    let includes = is_of(&["i", "include", "includes", "included"]);
    let excludes = is_of(&["x", "exclude", "excludes", "excluded"]);
    let side = match (includes, excludes) {
        (true, false) => Some(Side::Include),
        (false, true) => Some(Side::Exclude),
        _ => None,
    };
    Some((side, after))
}

/// A string and one or two numbers: an entry rather than a list of entries.
fn is_tuple(tree: &JsonTree<'_>, id: NodeId) -> bool {
    let mut items = tree.items(id);
    let is_node = items.next().is_some_and(|first| tree.is_string(first));
    let mut numbers = items.map(|item| matches!(tree.kind(item), JsonKind::Integer | JsonKind::Double));
    is_node && numbers.next().is_some_and(|is_number| is_number) && numbers.all(|is_number| is_number)
}

fn collect_object(tree: &JsonTree<'_>, id: NodeId, add: &mut dyn FnMut(Side, Written)) {
    let keys = [("i", Side::Include), ("include", Side::Include), ("x", Side::Exclude), ("exclude", Side::Exclude)];
    for (key, side) in keys {
        if let Some(list) = tree.field(id, key) {
            for item in tree.items(list) {
                add(side, minified(tree, item));
            }
        }
    }
}

fn minified(tree: &JsonTree<'_>, id: NodeId) -> Written {
    let mut bytes = Vec::new();
    tree.write_canonical(id, &mut bytes);
    String::from_utf8_lossy(&bytes).into_owned()
}

fn quoted(path: &str) -> Written {
    let mut bytes = Vec::new();
    stan_model::jcs::write_string(path, &mut bytes);
    String::from_utf8_lossy(&bytes).into_owned()
}
