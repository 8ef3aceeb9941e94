//! STAN-REPLY-0010: the checklist lists every entry of a patched state, as written.

use crate::common::*;

const AFTER: &str = r#"{"v":2,"i":["src/b.ts",["src/a.ts",1]],"x":[["src/far.ts",2,1]]}"#;

fn listing(bullets: &[&str]) -> String {
    scratch() + &state(AFTER) + &input(bullets)
}

#[test]
fn r0010_is_reported_when_broken() {
    expect(&(scratch() + &state(AFTER)), "0010");
    expect(&listing(&["the selection changed"]), "0010");
    // Missing, different, additional, in the wrong list.
    expect(&listing(&["i: [\"src/b.ts\", [\"src/a.ts\", 1]]"]), "0010");
    expect(&listing(&["\"src/b.ts\"", "[\"src/a.ts\", 1]"]), "0010");
    expect(&listing(&["i: [\"src/b.ts\", [\"src/a.ts\", 2]]", "x: [[\"src/far.ts\",2,1]]"]), "0010");
    expect(&listing(&["i: [\"src/b.ts\", [\"src/a.ts\", 1], \"src/c.ts\"]", "x: [[\"src/far.ts\",2,1]]"]), "0010");
    expect(&listing(&["i: [[\"src/b.ts\",0], [\"src/a.ts\", 1]]", "x: [[\"src/far.ts\",2,1]]"]), "0010");
    expect(&listing(&["i: [\"src/b.ts\", [\"src/a.ts\", 1], [\"src/far.ts\",2,1]]"]), "0010");
    expect(&listing(&["x: [\"src/b.ts\", [\"src/a.ts\", 1]]", "i: [[\"src/far.ts\",2,1]]"]), "0010");
    expect(&listing(&["src/b.ts", "src/a.ts", "[\"src/far.ts\",2,1]"]), "0010");
    // In another section.
    expect(&(scratch() + &state(AFTER) + "## Notes\n\n" + AFTER + "\n"), "0010");
}

#[test]
fn r0010_is_not_reported_for_near_misses() {
    for bullets in [
        &[AFTER][..],
        &["i: [\"src/b.ts\", [\"src/a.ts\", 1]]", "x: [[\"src/far.ts\",2,1]]"],
        &["`i`: `[\"src/b.ts\",[\"src/a.ts\",1]]`", "`x`: `[[\"src/far.ts\",2,1]]`"],
        &["i: [[\"src/a.ts\",1],\"src/b.ts\"]; x: [[\"src/far.ts\",2,1]]"],
        &["src/b.ts", "[\"src/a.ts\", 1]", "[\"src/far.ts\", 2, 1]"],
        &["`src/b.ts`", "`[\"src/a.ts\", 1]`", "`[\"src/far.ts\", 2, 1]`"],
        &["\"src/b.ts\", [\"src/a.ts\",1], [\"src/far.ts\",2,1]"],
        &["Include (`i`):", "\"src/b.ts\"", "[\"src/a.ts\",1]", "Exclude (`x`):", "[\"src/far.ts\",2,1]"],
        &[
            "Dependency selection (seed entries only; do not expand closure):",
            "i: src/b.ts, [\"src/a.ts\",1]",
            "[\"src/a.ts\",1]",
            "x: [\"src/far.ts\",2,1]",
        ],
        &["i: [\"src/b.ts\", [\"src/a.ts\", 1]] — needed for the fix", "x: [[\"src/far.ts\",2,1]]", "nothing else"],
        &["`\"src/b.ts\"` and `[\"src/a.ts\",1]`", "x: [[\"src/far.ts\",2,1]]"],
        &["src/b.ts — needed", "[\"src/a.ts\",1]", "[\"src/far.ts\",2,1]", ".stan/context/dependency.state.json"],
    ] {
        expect(&listing(bullets), "");
    }
    expect(
        &listing(&["i: [", "x: [[\"src/far.ts\",2,1]]"])
            .replace("- i: [\n", "- i: [\n  \"src/b.ts\",\n  [\"src/a.ts\", 1]\n  ]\n"),
        "",
    );
    expect(&(listing(&["the new state:"]) + "```json\n" + AFTER + "\n```\n"), "");
    expect(&(scratch() + &state(r#"{"v":2,"i":[]}"#)), "");
    expect(&(scratch() + &state(r#"{"v":2,"i":[]}"#) + &input(&["i: []", "x: none"])), "");
    expect(&(scratch() + &input(&[STATEMENT, "i: [\"src/zzz.ts\"]"])), "");
}
