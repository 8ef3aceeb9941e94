//! STAN-REPLY-0008 and 0011: patches whose file is not archived, and patches that do not apply to its bytes.

use stan_reply::CheckOptions;

use crate::common::*;

/// A patch of `src/a.ts` with these lines below the header, and a valid section.
fn hunks(lines: &str) -> String {
    let header = "diff --git a/src/a.ts b/src/a.ts\n--- a/src/a.ts\n+++ b/src/a.ts\n";
    patch("src/a.ts", &format!("{header}{lines}")) + &present(&["src/a.ts"])
}

#[test]
fn r0008_is_reported_when_broken() {
    let no = |path: &str| input(&[&format!("{path} — present: no"), STATEMENT]);
    expect(&(edit("src/far.ts") + &no("src/far.ts")), "0007 0008");
    expect(&(edit("src/far.ts") + &input(&[STATEMENT])), "0005 0008");
    expect(&(edit("src/far.ts") + &present(&["src/far.ts"])), "0006 0008");
    expect(&(edit("ignored/x.ts") + &no("ignored/x.ts")), "0007 0008");
    expect(&(delete("src/far.ts") + &no("src/far.ts")), "0007 0008");
    expect(&(create("src/far.ts") + &no("src/far.ts")), "0007 0008");
    expect(&(scratch() + &operations("rm src/far.ts") + &no("src/far.ts")), "0007 0008");
    expect(&(scratch() + &operations("mv src/far.ts src/c.ts") + &no("src/far.ts")), "0007 0008");
    expect(&(scratch() + &operations("rm src") + &present(&["src"])), "0008");
    // 0008 without 0011: for an unseen file, it is not reported that the patch does not apply.
    let bad = edit_diff("src/far.ts").replace("@@ -4,3", "@@ -4,9");
    expect(&(patch("src/far.ts", &bad) + &no("src/far.ts")), "0007 0008");
}

#[test]
fn r0008_is_not_reported_for_near_misses() {
    expect(&(edit("src/a.ts") + &present(&["src/a.ts"])), "");
    expect(&(create("src/new.ts") + &input(&[STATEMENT])), "");
    expect(&(scratch() + &operations("cp src/far.ts src/c.ts") + &input(&[STATEMENT])), "");
    // A file that exists nowhere is 0011, and without the map this cannot be known.
    expect(&(edit("src/none.ts") + &input(&["src/none.ts — present: no", STATEMENT])), "0007 0011");
    expect_off(&edit("src/far.ts"), "");
}

#[test]
fn r0011_is_reported_when_broken() {
    // Other lines, fuzz, no change, no hunks.
    expect(&hunks("@@ -4,3 +4,3 @@\n four\n-5\n+five\n 6\n"), "0011");
    expect(&hunks("@@ -4,3 +4,3 @@\n 4\n-5 \n+five\n 6\n"), "0011");
    expect(&hunks("@@ -4,2 +4,2 @@\n 4\n 5\n"), "0011");
    expect(&hunks(""), "0011");
    // No context line that gives the position.
    expect(&hunks("@@ -4,0 +5 @@\n+new\n"), "0011");
    // Two hunks for the same lines.
    expect(&hunks("@@ -4,3 +4,3 @@\n 4\n-5\n+five\n 6\n@@ -6,3 +6,3 @@\n 6\n-7\n+seven\n 8\n"), "0011");
    // Does not exist; exists already; leaves lines.
    expect_off(&edit("src/none.ts"), "0011");
    expect_off(&create("src/a.ts"), "0011");
    expect_off(&delete("src/a.ts").replace("@@ -1,10 +0,0 @@\n-1\n", "@@ -2,9 +0,0 @@\n"), "0011");
    expect_off(&operations("rm src/none.ts"), "0011");
    let binary = "diff --git a/x.png b/x.png\nnew file mode 100644\nindex 0000000..1111111\nBinary files /dev/null and b/x.png differ\n";
    expect_off(&patch("x.png", binary), "0011");
    // Carriage returns only in the diff.
    expect_off(&format!("words\n{}", edit("src/a.ts").replace('\n', "\r\n")), "0011");
}

/// What models write and git refuses: accepted if the meaning is clear.
#[test]
fn r0011_is_reported_for_drifted_hunks_only_when_strict() {
    let strict = CheckOptions { strict: true, ..CheckOptions::default() };
    let no_newline = "src/no-newline.ts";
    let header = format!("diff --git a/{no_newline} b/{no_newline}\n--- a/{no_newline}\n+++ b/{no_newline}\n");
    for reply in [
        // Without context (git then requires the end of the file), and at a shifted position.
        hunks("@@ -5 +5 @@\n-5\n+five\n"),
        hunks("@@ -1,3 +1,3 @@\n 4\n-5\n+five\n 6\n"),
        // Wrong counts, or no numbers at all.
        hunks("@@ -4,9 +4,9 @@\n 4\n-5\n+five\n 6\n"),
        hunks("@@ -4,3 +4,3 @@\n 4\n-5\n"),
        hunks("@@ ... @@\n 4\n-5\n+five\n 6\n"),
        hunks("@@ -4,99999999999999999999999 +4,3 @@\n 4\n-5\n+five\n 6\n"),
        // No prefix, no mode of a new file, no `---`.
        patch("src/a.ts", &edit_diff("src/a.ts").replace("a/src", "src").replace("b/src", "src")),
        create("src/new.ts").replace("new file mode 100644\n", ""),
        edit("src/a.ts").replace("--- a/src/a.ts\n+++ b/src/a.ts\n", ""),
        // An additional newline.
        patch(no_newline, &format!("{header}@@ -1,2 +1,2 @@\n-1\n+one\n 2\n")),
    ] {
        expect_off(&reply, "");
        expect_in(&World::off(), strict, &reply, "0011");
    }
}

/// A passage that occurs twice: only the position in the hunk header decides.
#[test]
fn r0011_is_reported_where_lines_are_found_twice() {
    let mut world = World::off();
    world.archive.insert("src/a.ts".to_owned(), b"x\n1\n2\ny\n1\n2\nz\n".to_vec());
    let at = |range: &str| hunks(&format!("{range}\n 1\n-2\n+two\n"));
    for (range, expected) in
        [("@@ -2,2 +2,2 @@", ""), ("@@ -5,2 +5,2 @@", ""), ("@@ -3,2 +3,2 @@", "0011"), ("@@", "0011")]
    {
        expect_in(&world, CheckOptions::default(), &at(range), expected);
    }
    let blocks =
        |search: &str| patch("src/a.ts", &format!("<<<<<<< SEARCH\n{search}\n=======\ntwo\n>>>>>>> REPLACE\n"));
    for (search, expected) in [("y\n1", ""), ("1\n2", "0011"), ("2\nz", ""), ("nowhere", "0011"), ("", "0011")] {
        expect_in(&world, CheckOptions::default(), &blocks(search), expected);
    }
}

#[test]
fn a_reply_that_ends_in_a_fence_was_cut_off() {
    let cut = |reply: String| reply.trim_end().trim_end_matches('`').to_owned();
    expect_off(&cut(edit("src/a.ts")), "0011");
    expect_off(&cut(create("src/new.ts")), "0011");
    expect_off("words\n\n```ts\nlet x = 5;\n", "0011");
    expect_off("- item\n\n  ```ts\n  let x = 5;\n\nwords\n", "");
}

#[test]
fn r0011_is_not_reported_for_near_misses() {
    expect(&hunks("@@ -4,3 +4,3 @@ function f() {\n 4\n-5\n+five\n 6\n"), "");
    expect(&hunks("@@ -2,3 +9,3 @@\n 4\n-5\n+five\n 6\n"), "");
    expect(&hunks("@@ -8,3 +8,4 @@\n 8\n 9\n 10\n+eleven\n"), "");
    expect(&hunks("@@ -1,2 +1,3 @@\n+zero\n 1\n 2\n"), "");
    expect(&hunks("@@ -1,3 +1,3 @@\n-1\n+one\n 2\n 3\n@@ -7,3 +7,2 @@\n 7\n-8\n 9\n"), "");
    // Lines after the last hunk are skipped, as git does.
    expect(&hunks("@@ -4,3 +4,3 @@\n 4\n-5\n+five\n 6\n 7\n"), "");
    expect_off(&edit("src/a.ts").replace('\n', "\r\n"), "");
    let path = "src/no-newline.ts";
    let header = format!("diff --git a/{path} b/{path}\n--- a/{path}\n+++ b/{path}\n");
    let mark = "\\ No newline at end of file\n";
    expect_off(&patch(path, &format!("{header}@@ -1,2 +1,2 @@\n 1\n-2\n{mark}+two\n")), "");
    expect_off(&patch(path, &format!("{header}@@ -1,2 +1,2 @@\n-1\n+one\n 2\n{mark}")), "");
    expect_off(&edit("src/my file.ts"), "");
    expect_off(&delete("src/a.ts"), "");
    expect_off(&edit("src/a.ts").replace("diff --git", "index 1234567..89abcde 100644\ndiff --git"), "");
    expect_off(&edit("src/a.ts").replace("--- a", "index 1234567..89abcde 100644\n--- a"), "");
    expect_off(&patch("src/a.ts", "diff --git a/src/a.ts b/src/a.ts\nold mode 100644\nnew mode 100755\n"), "");
    let moved = "diff --git a/src/a.ts b/src/c.ts\nsimilarity index 90%\nrename from src/a.ts\nrename to src/c.ts\n";
    expect_off(&patch("src/c.ts", moved), "");
    let copied =
        moved.replace("rename", "copy") + "--- a/src/a.ts\n+++ b/src/c.ts\n@@ -4,3 +4,3 @@\n 4\n-5\n+five\n 6\n";
    expect_off(&patch("src/c.ts", &copied), "");
    expect_off(
        &patch(
            "src/empty.ts",
            "diff --git a/src/empty.ts b/src/empty.ts\nnew file mode 100644\nindex 0000000..e69de29\n",
        ),
        "",
    );
    // A file that `mv` moves can be patched at its new path.
    expect_off(&(operations("mv src/a.ts lib/a.ts") + &edit("lib/a.ts")), "");
}

#[test]
fn binary_patches_are_read() {
    let zeros = "0".repeat(40);
    let header = format!(
        "diff --git a/x.bin b/x.bin\nnew file mode 100644\nindex {zeros}..{}\nGIT binary patch\n",
        "1".repeat(40)
    );
    let data = "literal 4\nLcmZQzWMT#Y01f~L\n\nliteral 0\nHcmV?d00001\n\n";
    expect_off(&patch("x.bin", &format!("{header}{data}")), "");
    expect_off(&patch("x.bin", &format!("{header}literal 4\nLcmZQz\n\n")), "0011");
    expect_off(&patch("x.bin", &format!("{header}literal 4\nLcmZQzWMT#Y01f~L\n")), "0011");
    expect_off(&patch("x.bin", &format!("{header}words\n")), "0011");
    expect_off(&patch("x.bin", &format!("{header}{data}").replace(&zeros, "0000000")), "0011");
}

#[test]
fn a_fence_closed_by_a_diff_line_gets_the_remedy_longer_fence() {
    let mut world = World::new();
    world.archive.insert("doc.md".to_owned(), b"a\n```\nb\n```\n".to_vec());
    let diff = "diff --git a/doc.md b/doc.md\n--- a/doc.md\n+++ b/doc.md\n@@ -1,4 +1,4 @@\n-a\n+A\n ```\n b\n ```\n";
    let report =
        world.report(&patch("doc.md", diff), CheckOptions { seen: true, budget: None, ..CheckOptions::default() });
    let finding = report.findings.iter().find(|finding| finding.code == "STAN-REPLY-0011").expect("it does not apply");
    assert!(finding.remedy.contains("longer fence"), "{finding:?}");
    let longer = patch("doc.md", diff).replace("```diff", "````diff").replace("\n```\n\n", "\n````\n\n");
    expect_in(&world, CheckOptions::default(), &(longer + &present(&["doc.md"])), "");
}
