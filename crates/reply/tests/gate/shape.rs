//! STAN-REPLY-0013: malformed patch blocks, and what counts as a patch.

use crate::common::*;

#[test]
fn r0013_is_reported_when_broken() {
    // More than one diff.
    expect_off(&patch("src/a.ts", &(edit_diff("src/a.ts") + &edit_diff("src/b.ts"))), "0013");
    expect_off(&format!("```diff\n{}{}```\n", edit_diff("src/a.ts"), edit_diff("src/b.ts")), "0013");
    // Another path in the heading.
    expect_off(&patch("src/b.ts", &edit_diff("src/a.ts")), "0013");
    expect_off(&patch("a.ts", &edit_diff("src/a.ts")), "0013");
    expect_off(&patch("src/a.ts (fix)", &edit_diff("src/a.ts")), "0013");
    // No git header.
    let headless = edit_diff("src/a.ts").replace("diff --git a/src/a.ts b/src/a.ts\n", "");
    expect_off(&patch("src/a.ts", &headless), "0013");
    expect_off(&format!("~~~\n{headless}~~~\n"), "0013");
    // Twice.
    expect_off(&(edit("src/a.ts") + &edit("src/a.ts")), "0013");
    let moved = "diff --git a/src/a.ts b/src/c.ts\nrename from src/a.ts\nrename to src/c.ts\n";
    expect_off(&(patch("src/c.ts", moved) + &edit("src/a.ts")), "0013");
    // Nothing to apply.
    expect_off("### Patch: src/a.ts\n\nI would change line 5.\n", "0013");
    expect_off("### Patch: src/a.ts\n\n```ts\nlet x = 5;\n```\n", "0013");
    expect_off("### Patch: src/a.ts\n", "0013");
    expect_off("```diff\n@@ -4,3 +4,3 @@\n 4\n-5\n+five\n 6\n```\n", "0013");
    // One diff about two files.
    let torn = edit_diff("src/a.ts").replace("+++ b/src/a.ts", "+++ b/src/b.ts");
    expect_off(&patch("src/a.ts", &torn), "0013");
    expect_off(&operations("touch src/new.ts"), "0013");
    expect_off(&operations("rm -rf src/a.ts"), "0013");
}

#[test]
fn every_path_of_a_malformed_block_is_checked() {
    expect_off(&patch("src/a.ts", &(edit_diff("src/a.ts") + &create_diff(".stan/imports/x", "x"))), "0009 0013");
    expect_off(&patch("src/a.ts", &(edit_diff("src/a.ts") + &create_diff("/etc/x", "x"))), "0012 0013");
    let torn = edit_diff("src/a.ts").replace("+++ b/src/a.ts", "+++ b/src/far.ts");
    expect(&(patch("src/a.ts", &torn) + &present(&["src/a.ts"])), "0005 0008 0013");
    let both = patch("src/a.ts", &(edit_diff("src/a.ts") + &edit_diff("src/far.ts")));
    expect(&(both + &present(&["src/a.ts"])), "0005 0008 0013");
    expect_off(
        &patch("src/a.ts", "--- a/.stan/imports/x\n+++ b/.stan/imports/x\n@@ -1 +1 @@\n-1\n+x\n"),
        "0009 0011 0013",
    );
}

#[test]
fn r0013_is_not_reported_for_near_misses() {
    expect_off(&edit("src/a.ts"), "");
    expect_off(&patch("`src/a.ts`", &edit_diff("src/a.ts")), "");
    expect_off(&patch("./src/a.ts", &edit_diff("src/a.ts")), "");
    expect_off(&patch("src/\\_\\_new.ts", &create_diff("src/__new.ts", "x")), "");
    expect_off(&(edit("src/a.ts") + &edit("src/b.ts")), "");
    // A second fence below one heading is a separate patch.
    expect_off(&(edit("src/a.ts") + "```diff\n" + &edit_diff("src/b.ts") + "```\n"), "");
    expect_off(&format!("```diff\n{}```\n\n```diff\n{}```\n", edit_diff("src/a.ts"), edit_diff("src/b.ts")), "");
    let moved = "diff --git a/src/a.ts b/src/c.ts\nrename from src/a.ts\nrename to src/c.ts\n";
    expect_off(&patch("src/a.ts", moved), "");
    expect_off(&patch("src/c.ts", moved), "");
    let copied = moved.replace("rename", "copy");
    expect_off(&(patch("src/c.ts", &copied) + &edit("src/a.ts")), "");
    // A diff that adds lines which look like a diff.
    expect_off(&patch("doc.md", &create_diff("doc.md", "diff --git a/x b/x\n--- a/x\n+++ b/x\n@@ -1 +1 @@\n")), "");
    expect_off(&(operations("mkdirp lib") + "```diff\n" + &edit_diff("src/a.ts") + "```\n"), "");
    expect_off(&format!("\u{feff}{}", edit("src/a.ts")), "");
    // Words before the fence, and a code listing besides it.
    expect_off(&edit("src/a.ts").replace("\n\n```diff", "\n\nThe line is:\n\n```ts\n5\n```\n\n```diff"), "");
    expect_off(&edit("src/a.ts").replace("```", "~~~~"), "");
    let indented: String = edit("src/a.ts").lines().map(|line| format!("   {line}\n")).collect();
    expect_off(&format!("1. First:\n\n{indented}"), "");
}

#[test]
fn search_replace_blocks_and_whole_files() {
    const BLOCK: &str = "<<<<<<< SEARCH\n5\n=======\nfive\n>>>>>>> REPLACE\n";
    let fence = |text: &str| format!("```\n{text}```\n\n");
    // The file is named in the heading, the line above or the fence.
    expect_off(&patch("src/a.ts", BLOCK), "");
    expect_off(&format!("src/a.ts\n{}", fence(BLOCK)), "");
    expect_off(&format!("**`src/my file.ts`**:\n\n{}", fence(BLOCK)), "");
    expect_off(&fence(&format!("src/a.ts\n{BLOCK}")), "");
    expect_off(&format!("I change a line.\n{}", fence(BLOCK)), "0013");
    expect_off(&patch("src/a.ts", &BLOCK.replace("=======\n", "")), "0013");
    expect_off(&patch("src/b.ts", &format!("src/a.ts\n{BLOCK}")), "0013");
    // Several blocks for one file are applied in order; with a diff, the file is patched twice.
    expect_off(&(patch("src/a.ts", BLOCK) + &patch("src/a.ts", &BLOCK.replace('5', "6"))), "");
    expect_off(&(patch("src/a.ts", BLOCK) + &patch("src/a.ts", &BLOCK.replace("\n5\n", "\nfive\n"))), "");
    expect_off(&(patch("src/a.ts", BLOCK) + &edit("src/a.ts")), "0013");
    // New and whole files.
    expect_off(&patch("src/new.ts", &BLOCK.replace("\n5\n", "\n")), "");
    expect_off("### File: src/a.ts\n\n```ts\nall of it\n```\n", "");
    expect_off("### File: `src/new.ts`\n\n~~~\n~~~\n", "");
    expect_off(&format!("### File: src/a.ts\n\n{}", fence(BLOCK)), "");
    expect_off(&format!("### File: src/a.ts\n\n{}", fence(&edit_diff("src/a.ts"))), "");
    expect_off("### File: src/a.ts\n\nwords\n", "0013");
    expect_off("### File: src/a.md\n\n```md\na\n```\nb\n```\nc\n```\n", "0013");
    expect_off("### File: .stan/output/x\n\n```\nx\n```\n", "0012");
    expect_off("### File: ../x\n\n```\nx\n```\n", "0012");
    expect("### File: src/far.ts\n\n```\nx\n```\n", "0001 0005 0008");
}

#[test]
fn a_patch_outside_of_a_fence_has_a_note() {
    for reply in [edit_diff("src/a.ts"), "<<<<<<< SEARCH\n5\n=======\nfive\n>>>>>>> REPLACE\n".to_owned()] {
        let report = World::off().report(&reply, stan_reply::CheckOptions::default());
        assert!(report.notes.iter().any(|note| note.contains("outside of a fence")), "{:?}", report.notes);
    }
}

#[test]
fn examples_and_other_fences_are_not_patches() {
    let diff = edit_diff("/etc/x");
    expect_off(&format!("~~~markdown\n# An example\n```diff\n{diff}```\n~~~\n"), "");
    expect_off(&format!("<!--\n```diff\n{diff}```\n-->\n"), "");
    expect_off("```diff\n-old\n+new\n```\n", "");
    expect_off("```ts\n--- a\n```\n", "");
    expect_off(&format!("    {}", diff.replace('\n', "\n    ")), "");
    expect_off("", "");
    expect_off(" \n\n", "");
}

#[test]
fn an_empty_reply_has_a_note() {
    let report = World::new().report("\n", stan_reply::CheckOptions::default());
    assert_eq!(report.notes, ["the reply is empty: there is nothing to check"]);
    assert!(report.is_accepted());
}
