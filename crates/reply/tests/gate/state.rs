//! STAN-REPLY-0001 to 0004: the patch of the selection, and the statement that replaces it.

use crate::common::*;
use stan_reply::CheckOptions;

/// A valid reply that changes the selection.
fn selecting(after: &str, listed: &str) -> String {
    scratch() + &state(after) + &input(&[listed])
}

#[test]
fn r0001_is_reported_when_broken() {
    // Neither.
    expect(&(edit("src/a.ts") + &input(&["`src/a.ts` — present: yes"])), "0001");
    expect(&scratch(), "0001");
    expect(&create("src/new.ts"), "0001");
    // Both.
    expect(&(selecting(r#"{"v":2,"i":["src/b.ts"]}"#, r#"i: ["src/b.ts"]"#) + &input(&[STATEMENT])), "0001");
    // Not exactly the statement, or not in the right place.
    for line in [
        "dependency.state.json: No change",
        "dependency.state.json: no change.",
        ".stan/context/dependency.state.json: no change",
        "`.stan/context/dependency.state.json: no change`",
        "Dependency selection: dependency.state.json: no change",
        "<!-- dependency.state.json: no change -->",
    ] {
        expect(&(scratch() + &input(&[line])), "0001");
    }
    expect(&(scratch() + "## Input Data Changes\n\n```\n" + STATEMENT + "\n```\n"), "0001");
    expect(&(scratch() + "## Input Data Changes\n\n<!--\n" + STATEMENT + "\n-->\n"), "0001");
    expect(&(scratch() + "## Input Data Changes\n\n> " + STATEMENT + "\n"), "0001");
    expect(&(scratch() + "## Notes\n\n" + STATEMENT + "\n"), "0001");
    expect(&(scratch() + "### Input Data Changes\n\n" + STATEMENT + "\n"), "0001");
    expect(&(scratch() + "## Input Data Changes\n\n## Next\n\n" + STATEMENT + "\n"), "0001");
}

#[test]
fn r0001_is_not_reported_for_near_misses() {
    expect(&(scratch() + &input(&[STATEMENT])), "");
    expect(&(scratch() + &input(&["`dependency.state.json: no change`"])), "");
    expect(&(scratch() + "## Input Data Changes\n" + STATEMENT), "");
    expect(&(scratch() + "## Input Data Changes\n\n* Selection:\n  * `" + STATEMENT + "`\n"), "");
    expect(&(scratch() + "## Input Data Changes ##\n\n### Selection\n\n" + STATEMENT + "  \n"), "");
    expect(&(scratch() + "## Input Data Changes\n\nwords\n\n" + &input(&[STATEMENT])), "");
    expect(&(format!("## Input Data Changes\n\n{STATEMENT}\n---\n\n") + &scratch()), "");
    expect(&selecting(r#"{"v":2,"i":["src/b.ts"]}"#, r#"i: ["src/b.ts"]"#), "");
    // Without patches nothing is required.
    expect("Just words.\n", "");
    expect(&input(&[STATEMENT]), "");
    expect(&operations("mkdirp src/new"), "");
    // Whole replies with carriage returns.
    expect(&(scratch() + &input(&[STATEMENT])).replace('\n', "\r\n"), "");
}

#[test]
fn r0001_only_while_the_mode_is_active() {
    expect_off(&scratch(), "");
    expect_in(&World::off(), CheckOptions { seen: true, budget: None, ..CheckOptions::default() }, &scratch(), "0001");
}

#[test]
fn r0002_is_reported_when_broken() {
    for after in [
        r#"{"i":["src/a.ts"],"v":2}"#,
        r#"{ "v": 2, "i": ["src/a.ts"] }"#,
        r#"{"v":2,"i":[["src/a.ts",0]]}"#,
        r#"{"v":2,"i":["./src/a.ts"]}"#,
        r#"{"v":2,"i":["src/a.ts","src/a.ts"]}"#,
        r#"{"v":2,"i":["src/a.ts"],"x":[]}"#,
        r#"{"v":2,"i":[["src/a.ts",0,7]]}"#,
    ] {
        expect(&(scratch() + &state(after)), "0002");
        expect(&(scratch() + &state(after) + &input(&[STATEMENT])), "0002");
    }
    let mode = format!("diff --git a/{STATE} b/{STATE}\nold mode 100644\nnew mode 100755\n");
    expect(&patch(STATE, &mode), "0002");
}

#[test]
fn r0002_is_not_reported_for_near_misses() {
    for after in [
        r#"{"v":2,"i":[["src/a.ts",1]]}"#,
        r#"{"v":2,"i":[["src/a.ts",0,1]]}"#,
        r#"{"v":2,"i":["src/a.ts"],"x":["src/b.ts"]}"#,
        r#"{"v":2,"i":[]}"#,
    ] {
        expect(&selecting(after, after), "");
    }
}

#[test]
fn r0003_is_reported_when_broken() {
    let broken = [
        "{",
        "not json",
        r#"{"v":2}"#,
        r#"{"v":3,"i":[]}"#,
        r#"{"v":2,"i":["/etc/passwd"]}"#,
        r#"{"v":2,"i":["../x"]}"#,
        r#"{"v":2,"i":[["src/a.ts",-1]]}"#,
        r#"{"v":2,"i":[["src/a.ts",1.5]]}"#,
        r#"{"v":2,"i":[["src/a.ts",1,-1]]}"#,
        r#"{"v":2,"i":[["src/a.ts",1,["runtime"]]]}"#,
        r#"{"v":2,"i":[],"more":1}"#,
        r#"{"v":2,"i":[],"include":[]}"#,
        r#"{"v":1,"i":[]}"#,
        r#"{"v":2,"i":[7]}"#,
    ];
    for after in broken {
        expect(&(scratch() + &state(after)), "0003");
    }
    // Valid, but not the current schema.
    expect(&selecting(r#"{"include":["src/b.ts"]}"#, r#"["src/b.ts"]"#), "0003");
    expect(&selecting(r#"{"v":2,"include":["src/b.ts"]}"#, r#"["src/b.ts"]"#), "0003");
    // Deleted.
    let header = format!("diff --git a/{STATE} b/{STATE}\ndeleted file mode 100644\n--- a/{STATE}\n+++ /dev/null\n");
    expect(&patch(STATE, &(header + "@@ -1 +0,0 @@\n-{\"v\":2,\"i\":[\"src/a.ts\"]}\n")), "0003");
    expect(&operations(&format!("rm {STATE}")), "0003");
    expect(&(scratch() + &operations(&format!("cp src/b.ts {STATE}"))), "0003");
    let renamed = format!("diff --git a/{STATE} b/old.json\nrename from {STATE}\nrename to old.json\n");
    expect(&patch(STATE, &renamed), "0003");
}

#[test]
fn r0003_names_every_problem_at_its_line() {
    let after = "{\n\"v\":2,\n\"i\":[\n[\"a\",-1],\n\"/b\"\n]\n}";
    let reply = scratch() + &state(after);
    let report = World::new().report(&reply, CheckOptions::default());
    let lines: Vec<&str> = reply.lines().collect();
    let found: Vec<&str> = report.findings.iter().map(|finding| lines[finding.line as usize - 1]).collect();
    assert_eq!(found, ["+[\"a\",-1],", "+\"/b\""], "{:#?}", report.findings);
}

#[test]
fn r0003_is_not_reported_for_near_misses() {
    expect(&selecting(r#"{"v":2,"i":[["src/b.ts",2,15]]}"#, r#"["src/b.ts",2,15]"#), "");
    expect(&selecting(r#"{"v":2,"i":["src\\b.ts"]}"#, r#"i: ["src\\b.ts"]"#), "");
    expect(&selecting("{\n  \"v\": 2,\n  \"i\": [\n    \"src/b.ts\"\n  ]\n}", "src/b.ts"), "");
    expect(&selecting(r#"{"v":2,"i":[],"x":[["src/b.ts",2]]}"#, r#"x: [["src/b.ts", 2]]"#), "");
}

#[test]
fn r0004_is_reported_when_broken() {
    let after = r#"{"v":2,"i":["src/b.ts"]}"#;
    let listed = input(&["src/b.ts"]);
    expect(&(state(after) + &listed), "0004");
    // Another system document does not count.
    let todo = ".stan/system/stan.todo.md";
    let other =
        patch(todo, &format!("diff --git a/{todo} b/{todo}\n--- a/{todo}\n+++ b/{todo}\n@@ -1 +1 @@\n-todo\n+done\n"));
    expect(&(state(after) + &other + &listed), "0004");
    // Deleted, or only its mode changed.
    let path = ".stan/system/stan.scratch.md";
    expect(&(state(after) + &operations(&format!("rm {path}")) + &listed), "0004");
    let mode = format!("diff --git a/{path} b/{path}\nold mode 100644\nnew mode 100755\n");
    expect(&(state(after) + &patch(path, &mode) + &listed), "0004");
}

#[test]
fn r0004_is_not_reported_for_near_misses() {
    expect(&selecting(r#"{"v":2,"i":["src/b.ts"]}"#, "src/b.ts"), "");
    expect(&(scratch() + &input(&[STATEMENT])), "");
    // The selection did not change, so nothing must be explained.
    expect(&state(r#"{"v":2,"i":["src/a.ts","src/a.ts"]}"#), "0002");
    expect_off(&state(r#"{"v":2,"i":["src/b.ts"]}"#), "");
}

#[test]
fn a_state_that_is_not_archived_is_the_current_one() {
    let mut world = World::new();
    world.archive.remove(STATE);
    expect_in(&world, CheckOptions::default(), &selecting(r#"{"v":2,"i":["src/b.ts"]}"#, "src/b.ts"), "");
    world.state = None;
    world.repository.remove(STATE);
    let reply = scratch() + &patch(STATE, &create_diff(STATE, r#"{"v":2,"i":["src/b.ts"]}"#)) + &input(&["src/b.ts"]);
    expect_in(&world, CheckOptions::default(), &reply, "");
}
