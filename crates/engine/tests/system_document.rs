//! The shipped instructions agree with the code: file names, masks, schema, rules and the example are extracted from the document
//! and compared. Whether a model follows them cannot be tested here.

use std::collections::BTreeMap;

use stan_engine::init::system_document;
use stan_model::document::state::{ALL_KINDS, Entry, State, StateVersion, decode, kind_bit};
use stan_model::{EdgeKind, NodeKind, Resolution};

const STAN_PATH: &str = ".stan";

/// The lines between `<!-- stan:NAME -->` and `<!-- /stan:NAME -->`; each pair must occur exactly once.
fn part(name: &str) -> String {
    let text = system_document(STAN_PATH);
    let (open, close) = (format!("<!-- stan:{name} -->\n"), format!("<!-- /stan:{name} -->\n"));
    assert_eq!((text.matches(&open).count(), text.matches(&close).count()), (1, 1), "{name}");
    let (_, rest) = text.split_once(&open).unwrap();
    rest.split_once(&close).unwrap().0.to_owned()
}

/// The cells of a table without its header.
fn rows(name: &str) -> Vec<Vec<String>> {
    let cells = |line: &str| line.trim_matches('|').split('|').map(|cell| cell.trim().to_owned()).collect();
    part(name).lines().skip(2).map(cells).collect()
}

/// The contents of the only code block in a part.
fn fenced(name: &str) -> String {
    let text = part(name);
    let (first, rest) = text.split_once('\n').unwrap();
    let fence: String = first.chars().take_while(|c| matches!(c, '`' | '~')).collect();
    assert!(fence.len() >= 3, "{first}");
    let (body, after) = rest.rsplit_once(&format!("{fence}\n")).unwrap();
    assert_eq!(after, "");
    body.to_owned()
}

#[test]
fn the_masks_are_those_of_the_formats() {
    let mut expected = Vec::new();
    for (value, kind) in
        [NodeKind::Source, NodeKind::External, NodeKind::Builtin, NodeKind::Missing].into_iter().enumerate()
    {
        assert_eq!(kind as usize, value, "the map counts the kinds in this order");
        expected.push(("k".to_owned(), value.to_string(), kind.as_str().to_owned()));
    }
    for kind in [EdgeKind::Runtime, EdgeKind::Type, EdgeKind::Dynamic] {
        let bit = kind_bit(kind.as_str()).expect("every kind has a bit");
        expected.push(("kindMask".to_owned(), bit.to_string(), kind.as_str().to_owned()));
    }
    for (value, resolution) in [(1, Resolution::Explicit), (2, Resolution::Implicit)] {
        expected.push(("resMask".to_owned(), value.to_string(), resolution.as_str().to_owned()));
    }
    let found: Vec<_> = rows("masks").into_iter().map(|row| (row[0].clone(), row[1].clone(), row[2].clone())).collect();
    assert_eq!(found, expected);
    let all: u8 = found.iter().filter(|row| row.0 == "kindMask").map(|row| row.1.parse::<u8>().unwrap()).sum();
    assert_eq!(all, ALL_KINDS);
}

#[test]
fn the_schema_and_its_defaults_are_those_of_the_reader() {
    let schema = fenced("schema");
    assert_eq!(
        schema,
        "type Entry = string | [string, number] | [string, number, number]; // nodeId, depth = 0, kindMask = 7\n\
         type State = { v: 2; i: Entry[]; x?: Entry[] }; // i: include, x: exclude\n"
    );
    for (entry, expected) in [
        (r#""a""#, Entry::new("a", 0, ALL_KINDS)),
        (r#"["a",2]"#, Entry::new("a", 2, ALL_KINDS)),
        (r#"["a",2,1]"#, Entry::new("a", 2, 1)),
    ] {
        let document = format!(r#"{{"v":2,"i":[{entry}],"x":[{entry}]}}"#);
        let state = decode(document.as_bytes(), "state").unwrap().state;
        assert_eq!(state, State { include: vec![expected.clone()], exclude: vec![expected] });
    }
    assert_eq!((Entry::node("a").depth, Entry::node("a").mask), (0, 7), "the defaults that the document names");
    assert!(system_document(STAN_PATH).contains("(0: the file alone), `kindMask` which kinds of them (7: all three)"));
}

#[test]
fn the_example_states_are_read_and_written_as_they_stand() {
    let states = fenced("states");
    assert_eq!(states.lines().count(), 3);
    for line in states.lines() {
        let decoded = decode(line.as_bytes(), "state").unwrap();
        assert_eq!((decoded.version, decoded.uses_aliases, decoded.warnings.len()), (StateVersion::V2, false, 0));
        assert_eq!(String::from_utf8(decoded.state.encode()).unwrap(), format!("{line}\n"));
    }
}

#[test]
fn only_the_second_version_is_described() {
    let text = system_document(STAN_PATH);
    for word in ["\"include\"", "\"exclude\"", "\"v\":1", "v1", "edgeKinds", "dependency.map.json"] {
        assert!(!text.contains(word), "{word}");
    }
}

#[test]
fn the_files_are_those_of_the_workspace() {
    let files: BTreeMap<String, String> = rows("files")
        .into_iter()
        .flat_map(|row| {
            let may = row[2].clone();
            row[0].split(", ").map(|path| (path.trim_matches('`').to_owned(), may.clone())).collect::<Vec<_>>()
        })
        .collect();
    let expected = [
        (".stan/context/abs/**", "read"),
        (".stan/context/dependency.meta.json", "read"),
        (".stan/context/dependency.overview.md", "read"),
        (".stan/context/dependency.state.json", "patch"),
        (".stan/context/npm/**", "read"),
        (".stan/imports/**", "read"),
        (".stan/output/archive.diff.json", "read"),
        (".stan/system/stan.scratch.md", "patch"),
        (".stan/system/stan.system.md", "read"),
        (".stan/system/stan.todo.md", "patch"),
    ];
    let found: Vec<(&str, &str)> = files.iter().map(|(path, may)| (path.as_str(), may.as_str())).collect();
    assert_eq!(found, expected);
}

#[test]
fn every_rule_of_the_gate_has_its_instruction() {
    let expected: Vec<String> = (1..=16).chain(101..=106).map(|code| format!("STAN-REPLY-{code:04}")).collect();
    let rules = rows("rules");
    let found: Vec<&str> = rules.iter().map(|row| row[0].as_str()).collect();
    assert_eq!(found, expected);
    // One indispensable word of each rule.
    let words = [
        "`dependency.state.json: no change`",
        "really changes",
        "`v` is 2",
        "WHY",
        "checklist",
        "present: no",
        "hard gate",
        "not in the archive",
        "read-only",
        "`i` and `x`",
        "apply exactly",
        "relative to the root",
        "`diff --git`",
        "git ignores",
        "paste",
        "commit message",
        "map",
        "imports/**",
        "depth 3",
        "budget",
        "runs code",
        "git ignores",
    ];
    for (row, word) in rules.iter().zip(words) {
        assert!(row.len() == 2 && row[1].contains(word), "{row:?} lacks {word}");
    }
}

/// The sections of a reply, by the headings that the gate knows.
#[test]
fn the_example_reply_keeps_the_rules_that_can_be_seen_in_it() {
    let reply = fenced("example");
    let sections: Vec<&str> = reply.lines().filter_map(|line| line.strip_prefix("## ")).collect();
    assert_eq!(sections, ["Changes", "Input Data Changes", "Commit Message"]);
    let patches: Vec<&str> = reply.lines().filter_map(|line| line.strip_prefix("### Patch: ")).collect();
    assert_eq!(
        patches,
        ["src/price.ts", ".stan/context/dependency.state.json", ".stan/system/stan.scratch.md"],
        "a target, the state, and why"
    );
    let diffs: Vec<&str> = reply.lines().filter(|line| line.starts_with("diff --git ")).collect();
    let expected: Vec<String> = patches.iter().map(|path| format!("diff --git a/{path} b/{path}")).collect();
    assert_eq!(diffs, expected, "one for each heading");
    assert!(reply.contains("\n  - `src/price.ts` — present: yes\n"));
    assert!(!reply.contains("no change"), "the state is patched, so it cannot say so");
}

#[test]
fn the_example_selection_is_listed_as_it_is_written() {
    let reply = fenced("example");
    let line = |sign: char| {
        let start = format!("{sign}{{\"v\":2");
        reply.lines().find(|line| line.starts_with(&start)).expect("the state is one line").get(1..).unwrap()
    };
    let (before, after) = (decode(line('-').as_bytes(), "s").unwrap(), decode(line('+').as_bytes(), "s").unwrap());
    assert_ne!(before.state, after.state, "a real change");
    assert_eq!(String::from_utf8(after.state.encode()).unwrap().trim_end(), line('+'));
    let listed = |key: &str| reply.lines().find_map(|line| line.strip_prefix(&format!("  - {key}: `"))).unwrap();
    let (i, x) = (listed("i").trim_end_matches('`'), listed("x").trim_end_matches('`'));
    assert_eq!(format!(r#"{{"v":2,"i":{i},"x":{x}}}"#), line('+'));
    // The sentence before the example names the archive that the example replies to.
    assert!(system_document(STAN_PATH).contains(&format!("the state `{}`", line('-'))));
}

#[test]
fn the_hunks_of_the_example_count_their_lines_right() {
    let reply = fenced("example");
    let mut lines = reply.lines().peekable();
    let mut hunks = 0;
    while let Some(line) = lines.next() {
        let Some(ranges) = line.strip_prefix("@@ -").and_then(|rest| rest.strip_suffix(" @@")) else { continue };
        let (old, new) = ranges.split_once(" +").unwrap();
        let count = |range: &str| range.split_once(',').map_or(1, |(_, count)| count.parse::<usize>().unwrap());
        let (mut removed, mut added) = (0, 0);
        while let Some(line) = lines.next_if(|line| line.starts_with([' ', '-', '+'])) {
            removed += usize::from(!line.starts_with('+'));
            added += usize::from(!line.starts_with('-'));
        }
        assert_eq!((removed, added), (count(old), count(new)), "{line}");
        hunks += 1;
    }
    assert_eq!(hunks, 3);
}

#[test]
fn the_document_is_short() {
    let text = system_document(STAN_PATH);
    assert!(
        text.lines().count() <= 205 && text.len() <= 12_000,
        "{} lines, {} bytes",
        text.lines().count(),
        text.len()
    );
}
