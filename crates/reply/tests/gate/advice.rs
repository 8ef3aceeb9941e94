//! STAN-REPLY-0101 to 0104: warnings, which never stop a reply.

use crate::common::*;
use stan_reply::{CheckOptions, Severity};

fn selecting(after: &str) -> String {
    scratch() + &state(after) + &input(&[after])
}

#[test]
fn r0101_is_reported_where_it_applies() {
    expect(&selecting(r#"{"v":2,"i":["src/none.ts"]}"#), "0101");
    expect(&selecting(r#"{"v":2,"i":["ignored/x.ts"]}"#), "0101");
    expect(&selecting(r#"{"v":2,"i":[],"x":["src/none.ts"]}"#), "0101");
    expect(&selecting(r#"{"v":2,"i":[".stan/imports/none.md"]}"#), "0101");
    expect(&selecting(r#"{"v":2,"i":["src/b.ts"]}"#), "");
    expect(&selecting(&format!(r#"{{"v":2,"i":["{ZOD_COPY}"]}}"#)), "");
    expect(&selecting(r#"{"v":2,"i":["./src/b.ts"]}"#), "");
    expect(&(scratch() + &input(&[STATEMENT, "src/none.ts"])), "");
}

#[test]
fn r0102_is_reported_where_it_applies() {
    expect(&selecting(&format!(r#"{{"v":2,"i":["{ZOD}"]}}"#)), "0102");
    expect(&selecting(r#"{"v":2,"i":[["src/z.ts",1]]}"#), "0102");
    expect(&selecting(r#"{"v":2,"i":[["src/z.ts",2]],"x":["src/b.ts"]}"#), "0102");
    expect(&selecting(&format!(r#"{{"v":2,"i":[["src/z.ts",1]],"x":["{ZOD}"]}}"#)), "");
    expect(&selecting(r#"{"v":2,"i":["src/b.ts"]}"#), "");
    expect(&selecting(&format!(r#"{{"v":2,"i":["{ZOD_COPY}"]}}"#)), "");
}

#[test]
fn r0103_is_reported_where_it_applies() {
    expect(&selecting(r#"{"v":2,"i":[["src/b.ts",3]]}"#), "0103");
    expect(&selecting(r#"{"v":2,"i":[["src/b.ts",3,7]]}"#), "0103");
    expect(&selecting(r#"{"v":2,"i":[["src/b.ts",99,15]]}"#), "0103");
    expect(&selecting(r#"{"v":2,"i":[["src/b.ts",2]]}"#), "");
    expect(&selecting(r#"{"v":2,"i":[["src/b.ts",9,3]]}"#), "");
    expect(&selecting(r#"{"v":2,"i":[],"x":[["src/b.ts",9]]}"#), "");
    let report = World::new().report(&selecting(r#"{"v":2,"i":[["src/b.ts",3]]}"#), CheckOptions::default());
    let finding = &report.findings[0];
    assert_eq!(finding.message, "`src/b.ts` with depth 3 and every kind of edge is 200 bytes, 50 tokens");
    assert_eq!(finding.remedy, "take depth 2 (200 bytes, 50 tokens) or only some kinds of edges");
    assert_eq!(finding.severity, Severity::Warning);
    assert!(report.is_accepted());
}

#[test]
fn r0104_is_reported_where_it_applies() {
    let within = |budget: u64, reply: &str, expected: &str| {
        expect_in(
            &World::new(),
            CheckOptions { seen: false, budget: Some(budget), ..CheckOptions::default() },
            reply,
            expected,
        );
    };
    let reply = selecting(r#"{"v":2,"i":["src/b.ts","src/far.ts"]}"#);
    within(199, &reply, "0104");
    within(1000, &reply, "");
    // Without a state patch the current selection counts, and without any patch too.
    within(50, "words\n", "0104");
    within(100, "words\n", "");
    within(50, &(scratch() + &input(&[STATEMENT])), "0104");
    expect(&reply, "");
    expect_in(&World::off(), CheckOptions { seen: false, budget: Some(1), ..CheckOptions::default() }, "words\n", "");
    expect_in(
        &World::off(),
        CheckOptions { seen: true, budget: Some(1), ..CheckOptions::default() },
        "words\n",
        "0104",
    );
}

#[test]
fn r0015_and_r0016_ask_for_a_run_and_a_closed_gate() {
    let gate = "far.ts is needed.\n\n".to_owned() + &scratch() + &input(&["src/far.ts — present: no", STATEMENT]);
    let commit = "## Commit Message\n\n```\nwhy\n```\n";
    let asks = "Please run `stan run --context` and attach the archive.\n\n";
    expect(&gate, "0016");
    expect(&format!("{asks}{gate}"), "0016");
    expect(&format!("{gate}{commit}"), "0016");
    expect(&format!("{asks}{gate}{commit}"), "");
    for (words, expected) in [
        ("Please paste `src/far.ts` here.", "0015"),
        ("Could you send me the contents of src/far.ts?", "0015"),
        ("Can you share these files:\n\n- `src/b.ts`\n- `src/far.ts`", "0015"),
        ("Please paste the contents of\nsrc/far.ts.", "0015"),
        ("There is no need to paste `src/far.ts`.", ""),
        ("I changed `src/far.ts` as you asked.", ""),
        ("Please paste `notes.txt`, which is not in the map.", ""),
        ("> Please paste `src/far.ts`", ""),
        ("```\nPlease paste src/far.ts\n```", ""),
    ] {
        expect(&format!("{words}\n"), expected);
    }
    let report = World::new().report("Please paste `src/far.ts`.\n", CheckOptions::default());
    assert!(report.is_accepted(), "a warning");
    let strict = CheckOptions { strict: true, ..CheckOptions::default() };
    assert!(!World::new().report("Please paste `src/far.ts`.\n", strict).is_accepted());
}
