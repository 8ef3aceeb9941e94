//! Hostile replies: accepted or refused, but never a crash, and in time linear in the length.

use std::fmt::Write as _;

use proptest::prelude::*;
use stan_reply::CheckOptions;

use crate::common::*;

const ACTIVE: CheckOptions =
    CheckOptions { purpose: stan_reply::Purpose::Check, strict: false, seen: true, budget: Some(1000) };

fn survives(reply: &str) {
    let report = World::new().report(reply, ACTIVE);
    assert_complete(&report, reply);
}

fn whole_reply() -> String {
    scratch()
        + &state(r#"{"v":2,"i":[["src/b.ts",3]],"x":["src/none.ts"]}"#)
        + &edit("src/a.ts")
        + &create("src/new.ts")
        + &operations("mv src/b.ts lib/b.ts\nrm src/far.ts")
        + &input(&["`src/a.ts` — present: yes", "i: [[\"src/b.ts\",3]]", "x: [\"src/none.ts\"]", STATEMENT])
}

#[test]
fn every_prefix_of_a_reply_is_checked_without_a_panic() {
    let reply = whole_reply();
    for (end, _) in reply.char_indices() {
        survives(&reply[..end]);
    }
}

#[test]
fn a_hundred_thousand_patches_are_read() {
    let mut reply = String::new();
    for number in 0..100_000 {
        let path = format!("src/f{number}.ts");
        _ = write!(
            reply,
            "```\ndiff --git a/{path} b/{path}\nnew file mode 100644\n--- /dev/null\n+++ b/{path}\n@@ -0,0 +1 @@\n+x\n```\n"
        );
    }
    let report = World::new().report(&reply, CheckOptions::default());
    assert_eq!(codes(&report), "0001");
    let same = "```\n".to_owned() + &edit_diff("src/a.ts") + "```\n";
    survives(&same.repeat(20_000));
}

/// Each copy would take a megabyte, and there are five thousand.
#[test]
fn copies_of_a_large_file_share_its_bytes() {
    let mut world = World::new();
    world.archive.insert("src/large.ts".to_owned(), b"a line of text\n".repeat(70_000));
    let lines: String = (0..5_000).map(|number| format!("cp src/large.ts src/copy{number}.ts\n")).collect();
    let report =
        world.report(&operations(&lines), CheckOptions { seen: false, budget: None, ..CheckOptions::default() });
    assert_eq!(codes(&report), "", "{:?}", report.findings.first());
    world.report(&operations(&lines), ACTIVE);
    let changed = world.changed.take();
    let first = changed.get("src/copy0.ts").cloned().flatten().unwrap();
    assert_eq!(changed.len(), 5_000);
    assert!(changed.values().flatten().all(|bytes| std::rc::Rc::ptr_eq(bytes, &first)));
}

#[test]
fn patches_that_copy_a_large_file_terminate() {
    let mut world = World::new();
    world.archive.insert("src/large.ts".to_owned(), b"a line of text\n".repeat(70_000));
    let patch = |number: usize| {
        let to = format!("src/copy{number}.ts");
        let head = format!("diff --git a/src/large.ts b/{to}\nsimilarity index 100%\n");
        format!("```\n{head}copy from src/large.ts\ncopy to {to}\n```\n")
    };
    let few: String = (0..5).map(patch).collect();
    assert_eq!(codes(&world.report(&few, CheckOptions::default())), "0001");
    let many: String = (0..5_000).map(patch).collect();
    let report = world.report(&many, CheckOptions::default());
    assert_eq!(codes(&report), "0001 0011");
    assert!(report.findings.iter().any(|finding| finding.message.contains("too many to be checked")));
}

#[test]
fn long_replies_of_one_repeated_piece_are_read() {
    // Half a megabyte each; the last ones have the maximum length of a reply.
    let long = |piece: &str, bytes: usize| piece.repeat(bytes / piece.len());
    for piece in [
        "a",
        "\n",
        "`",
        "~",
        ">",
        "- ",
        "[",
        "\"",
        "<!--",
        "-->",
        "*",
        "_",
        "# ",
        "| a ",
        "<",
        "\\",
        "\0",
        "a\n",
        "```\n",
        "- a\n",
        "> a\n",
        "### Patch: a\n",
        "## Input Data Changes\n",
        "`a` — present: no\n",
        "i: [\n",
        "[\"a\",\n",
        "x: \"a\"\n",
        "<!-- a\n",
        "<a ",
        "<div>\n\n",
        "diff --git ",
        "--- a\n+++ b\n",
        "@@ -1,9 +1,9 @@\n",
        "### File Ops\nmv a b\n",
        "> - ",
        "  - a\n",
        "\r\n",
        "\u{2014}",
        "`` ` ``` ",
        "<!-- --> ",
        "[x] ",
        "words of a long reply\n",
        "- `src/a.ts` — present: yes\n",
    ] {
        let text = long(piece, if piece.len() > 16 { 5_000_000 } else { 500_000 });
        survives(&text);
        survives(&format!("## Input Data Changes\n\n{text}"));
        survives(&format!(
            "```diff\ndiff --git a/src/a.ts b/src/a.ts\n--- a/src/a.ts\n+++ b/src/a.ts\n@@ -1,5 +1,5 @@\n{text}"
        ));
    }
}

#[test]
fn long_files_and_far_hunks() {
    let mut world = World::new();
    let lines: String = (0..200_000).map(|line| format!("{}\n", line % 7)).collect();
    world.archive.insert("src/long.ts".to_owned(), lines.into_bytes());
    let mut diff = "diff --git a/src/long.ts b/src/long.ts\n--- a/src/long.ts\n+++ b/src/long.ts\n".to_owned();
    for number in 0..20_000_u32 {
        _ = write!(diff, "@@ -{0},3 +{0},3 @@\n 1\n-2\n+two\n 3\n", 190_000 - number);
    }
    let report = world.report(&patch("src/long.ts", &diff), ACTIVE);
    assert!(!report.findings.is_empty());
}

#[test]
fn long_and_deep_selections_are_read() {
    let entries: String = (0..100_000).map(|number| format!("[\"src/f{number}.ts\",3],")).collect();
    let after = format!("{{\"v\":2,\"i\":[{}]}}", entries.trim_end_matches(','));
    survives(&(scratch() + &state(&after) + &input(&[&after])));
    let spread = after.replace("],", "],\n");
    survives(&(scratch() + &state(&spread) + "## Input Data Changes\n\n" + &spread));
    let deep = format!("{{\"v\":2,\"i\":{}}}", "[".repeat(100_000));
    survives(&(scratch() + &state(&deep) + &input(&[&deep])));
}

#[test]
fn findings_serialise_to_sorted_json() {
    let report = World::new().report(&edit("src/far.ts"), CheckOptions::default());
    let json = serde_json::to_value(&report).expect("findings are plain data");
    assert_eq!(json["findings"][0]["code"], "STAN-REPLY-0001");
    assert_eq!(json["findings"][0]["severity"], "error");
    assert_eq!(json["findings"][0]["line"], 1);
    let order: Vec<(u32, &str)> = report.findings.iter().map(|finding| (finding.line, finding.code)).collect();
    assert!(order.is_sorted(), "{order:?}");
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 400, ..ProptestConfig::default() })]

    #[test]
    fn texts_never_panic_the_parser(reply in "\\PC{0,300}|[ -~\n]{0,300}") {
        survives(&reply);
    }

    #[test]
    fn mutated_replies_never_panic(edits in prop::collection::vec((any::<prop::sample::Index>(), 0_usize..9), 1..8)) {
        let mut lines: Vec<String> = whole_reply().lines().map(str::to_owned).collect();
        for (place, kind) in edits {
            if lines.is_empty() { break }
            let at = place.index(lines.len());
            match kind {
                0 => _ = lines.remove(at),
                1 => lines.insert(at, "```".to_owned()),
                2 => lines.insert(at, "<!--".to_owned()),
                3 => lines[at] = lines[at].replace(|c: char| c.is_ascii_digit(), "99999999999999999999"),
                4 => lines[at].insert(0, '>'),
                5 => lines[at].push('\0'),
                6 => lines[at] = lines[at].replace('/', "\\"),
                7 => { let copy = lines[at].clone(); lines.insert(at, copy); }
                _ => lines[at] = lines[at].chars().rev().collect(),
            }
        }
        survives(&lines.join("\n"));
    }
}
