//! STAN-REPLY-0005 to 0007: the checklist of targets, and whether each is in the archive.

use crate::common::*;

#[test]
fn r0005_is_reported_when_broken() {
    expect(&(edit("src/a.ts") + &input(&[STATEMENT])), "0005");
    expect(&(edit("src/a.ts") + &edit("src/b.ts") + &present(&["src/a.ts"])), "0005");
    expect(&(delete("src/a.ts") + &input(&[STATEMENT])), "0005");
    expect(&(scratch() + &operations("rm src/a.ts") + &input(&[STATEMENT])), "0005");
    expect(&(scratch() + &operations("mv src/a.ts src/c.ts") + &input(&[STATEMENT])), "0005");
    for line in [
        "src/a.ts: present",
        "src/a.ts — present: maybe",
        "src/a.ts — present: Yes",
        "src/a.ts — present: yes (I think)",
        "a.ts — present: yes",
        "src/a.ts — absent: no",
        "<!-- src/a.ts — present: yes -->",
    ] {
        let codes = if line.starts_with("a.ts") { "0005 0006" } else { "0005" };
        expect(&(edit("src/a.ts") + &input(&[line, STATEMENT])), codes);
    }
    expect(&(edit("src/a.ts") + &input(&[STATEMENT]) + "## Notes\n\nsrc/a.ts — present: yes\n"), "0005");
    let fenced = "```\nsrc/a.ts — present: yes\n```\n";
    expect(&(edit("src/a.ts") + &input(&[STATEMENT]) + fenced), "0005");
    let renamed = "diff --git a/src/a.ts b/src/c.ts\nrename from src/a.ts\nrename to src/c.ts\n";
    expect(&(patch("src/c.ts", renamed) + &present(&["src/c.ts"])), "0005");
}

#[test]
fn r0005_is_not_reported_for_near_misses() {
    for line in [
        "src/a.ts — present: yes",
        "`src/a.ts` — present: `yes`",
        "`src/a.ts` – present: yes",
        "src/a.ts - present: yes",
        "`src/a.ts — present: yes`",
    ] {
        expect(&(edit("src/a.ts") + &input(&[line, STATEMENT])), "");
        expect(
            &(edit("src/a.ts") + &input(&[STATEMENT]) + &format!("## Input Data Changes\n\n* Targets:\n  * {line}\n")),
            "",
        );
    }
    // System documents, the state and new files need no line.
    expect(&(scratch() + &create(".stan/system/notes.md") + &input(&[STATEMENT])), "");
    expect(&(create("src/new.ts") + &input(&[STATEMENT])), "");
    expect(&(scratch() + &operations("cp src/a.ts src/c.ts\nmkdirp lib") + &input(&[STATEMENT])), "");
    let renamed = "diff --git a/src/a.ts b/src/c.ts\nrename from src/a.ts\nrename to src/c.ts\n";
    expect(&(patch("src/c.ts", renamed) + &present(&["src/a.ts"])), "");
    expect(&(scratch() + &operations("mv src/a.ts src/c.ts") + &present(&["src/a.ts"])), "");
    expect_off(&edit("src/a.ts"), "");
}

#[test]
fn r0006_is_reported_when_broken() {
    expect(&(scratch() + &present(&["src/far.ts"])), "0006");
    expect(&(scratch() + &present(&["src/nowhere.ts"])), "0006");
    expect(&(scratch() + &input(&["src/a.ts — present: no", STATEMENT])), "0006 0016");
    expect(&(edit("src/a.ts") + &present(&["src/a.ts", "src/far.ts"])), "0006");
    // Untrue, and still makes it a hard-gate reply.
    expect(&(edit("src/a.ts") + &input(&["src/a.ts — present: no", STATEMENT])), "0006 0007");
}

#[test]
fn r0006_is_not_reported_for_near_misses() {
    expect(&(scratch() + &input(&["src/far.ts — present: no", STATEMENT]) + GATE), "");
    expect(&(edit("src/a.ts") + &present(&["src/a.ts", "src/b.ts"])), "");
    for answer in ["yes", "no"] {
        expect(&(create("src/new.ts") + &input(&[&format!("src/new.ts — present: {answer}"), STATEMENT])), "");
    }
    expect_off(&present(&["src/far.ts"]), "");
}

#[test]
fn r0007_is_reported_when_broken() {
    let missing = input(&["src/far.ts — present: no", "src/a.ts — present: yes", STATEMENT]);
    expect(&(edit("src/a.ts") + &missing), "0007");
    expect(&(create("src/new.ts") + &missing), "0007");
    expect(&(create(".stan/system/notes.md") + &missing), "0007");
    expect(&(scratch() + &operations("rm src/a.ts") + &missing), "0007");
    expect(&(edit("src/far.ts") + &missing), "0007 0008");
}

#[test]
fn r0007_is_not_reported_for_near_misses() {
    let after = r#"{"v":2,"i":["src/far.ts"]}"#;
    expect(&(scratch() + &state(after) + &input(&["src/far.ts — present: no", "i: [\"src/far.ts\"]"]) + GATE), "");
    let todo = ".stan/system/stan.todo.md";
    let other =
        patch(todo, &format!("diff --git a/{todo} b/{todo}\n--- a/{todo}\n+++ b/{todo}\n@@ -1 +1 @@\n-todo\n+done\n"));
    expect(&(scratch() + &other + &input(&["src/far.ts — present: no", STATEMENT]) + GATE), "");
    // A new file listed as absent.
    expect(
        &(create("src/new.ts")
            + &edit("src/a.ts")
            + &input(&["src/new.ts — present: no", "src/a.ts — present: yes", STATEMENT])),
        "",
    );
    // Lines outside of the section do not count.
    expect(&(edit("src/a.ts") + &present(&["src/a.ts"]) + "## Notes\n\n- src/far.ts — present: no\n"), "");
}
