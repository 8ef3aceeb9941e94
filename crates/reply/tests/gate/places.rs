//! STAN-REPLY-0009 and 0012: where a reply may write.

use crate::common::*;

#[test]
fn r0009_is_reported_when_broken() {
    let zod = patch(
        ZOD_COPY,
        &format!(
            "diff --git a/{ZOD_COPY} b/{ZOD_COPY}\n--- a/{ZOD_COPY}\n+++ b/{ZOD_COPY}\n@@ -1 +1 @@\n-zod\n+mine\n"
        ),
    );
    expect_off(&zod, "0009");
    expect(&(zod + &present(&[ZOD_COPY])), "0009");
    expect_off(&create(".stan/imports/x/new.md"), "0009");
    expect_off(&operations(&format!("rm {ZOD_COPY}")), "0009");
    expect_off(&operations(&format!("mv {ZOD_COPY} docs/x.md")), "0009");
    expect_off(&operations("cp src/a.ts .stan/imports/a.ts"), "0009");
    expect_off(&operations("mkdirp .stan/imports/x"), "0009");
    expect_off(&operations("rmdir .stan/imports/zod"), "0009");
    expect_off(&operations("rm .stan/imports"), "0009");
    expect_off("### File Ops (optional)\n\n- `rm .stan/imports/zod/index.d.ts`\n", "0009");
    let renamed = format!("diff --git a/{ZOD_COPY} b/docs/x.md\nrename from {ZOD_COPY}\nrename to docs/x.md\n");
    expect_off(&patch("docs/x.md", &renamed), "0009");
    expect_off(&create("./.stan//imports/x.md"), "0009");
}

#[test]
fn r0009_is_not_reported_for_near_misses() {
    expect_off(&operations(&format!("cp {ZOD_COPY} docs/zod.md")), "");
    let copied = format!("diff --git a/{ZOD_COPY} b/docs/x.md\ncopy from {ZOD_COPY}\ncopy to docs/x.md\n");
    expect_off(&patch("docs/x.md", &copied), "");
    expect_off(&create(".stan/system/imports/x.md"), "");
    expect_off(&create(".stan/imports.md"), "");
    expect_off(&create("imports/x.md"), "");
    expect_off("```\nrm .stan/imports/x\n```\n", "");
}

#[test]
fn every_spelling_of_gits_folder_is_reserved() {
    for path in [
        "git~1/config",
        ".git./hooks/x",
        ".git /x",
        ".g\u{200c}it/config",
        ".git::$INDEX_ALLOCATION/x",
        "sub/.GIT\u{feff}/x",
    ] {
        expect_off(&create(path), "0012");
    }
}

/// For a path that may not be used at all, checklist, archive and diff report nothing further.
#[test]
fn a_reserved_path_is_reported_once() {
    let map = ".stan/context/dependency.map.json";
    let edit = format!("diff --git a/{map} b/{map}\n--- a/{map}\n+++ b/{map}\n@@ -1 +1 @@\n-a\n+b\n");
    let report = World::new().report(&patch(map, &edit), Default::default());
    let codes: Vec<&str> = report.findings.iter().map(|finding| finding.code).collect();
    assert_eq!(codes.iter().filter(|code| code.ends_with("0012")).count(), 1, "{codes:?}");
    assert!(!codes.iter().any(|code| ["0005", "0008", "0011"].iter().any(|end| code.ends_with(end))), "{codes:?}");
}

#[test]
fn files_that_run_code_are_named() {
    for path in [
        ".vscode/tasks.json",
        "sub/.vscode/launch.json",
        ".envrc",
        "packages/a/.npmrc",
        ".husky/pre-commit",
        "node_modules/p/index.js",
        ".yarnrc.yml",
        ".VSCode/Tasks.json",
        ".mcp.json",
        ".vscode/mcp.json",
        ".cursor/mcp.json",
        ".claude/settings.local.json",
        ".gemini/settings.json",
        ".codex/config.toml",
        "crates/a/.cargo/config.toml",
    ] {
        expect_off(&create(path), "0105");
    }
    for path in [".vscode/settings.json", "src/tasks.json", "docs/.envrc.md", ".github/workflows/ci.yml"] {
        expect_off(&create(path), "");
    }
    expect_off(&operations("mkdirp .husky"), "");
}

#[test]
fn r0012_is_reported_when_broken() {
    for path in
        ["/etc/x", "../x", "src/../../x", "src/../b.ts", "C:/x", "c:\\x", "~/x", ".git/hooks/x", "sub/.git/config"]
    {
        expect_off(&create(path), "0012");
        expect_off(&operations(&format!("mkdirp {path}")).replace('\\', "/"), "0012");
        expect_off(&operations(&format!("cp src/a.ts {path}")).replace('\\', "/"), "0012");
    }
    for path in [
        ".stan/output/x.txt",
        ".stan/diff/x",
        ".stan/patch/x",
        ".stan/context/notes.md",
        ".stan/context/npm/a/1.0.0/x.ts",
        ".stan./cache/x",
        ".s\u{200c}tan/patch/x",
        ".stan/cache./x",
        ".STAN::$INDEX_ALLOCATION/output/x",
    ] {
        expect_off(&create(path), "0012");
    }
    let meta = patch(
        META,
        &format!(
            "diff --git a/{META} b/{META}\n--- a/{META}\n+++ b/{META}\n@@ -1 +1 @@\n-{{\"v\":2,\"n\":{{}}}}\n+{{}}\n"
        ),
    );
    expect(&(meta + &present(&[META])), "0012");
    expect_off(&operations("cp /etc/passwd src/x"), "0012");
    expect_off(&operations("cp .stan/context/dependency.map.json src/x"), "0012");
    expect_off(&operations("rm .stan/output/archive.tar"), "0012");
    // In a heading, without a prefix, quoted, in the second line of the header.
    expect_off(&patch("../x", &create_diff("src/x.ts", "x")), "0012 0013");
    expect_off(
        &patch(
            "x",
            "diff --git \"a/\\056\\056/x\" \"b/\\056\\056/x\"\nnew file mode 100644\n--- /dev/null\n+++ \"b/../x\"\n@@ -0,0 +1 @@\n+x\n",
        ),
        "0012 0013",
    );
    expect_off(
        &patch("src/a.ts", "diff --git a/src/a.ts b/src/a.ts\n--- a/src/a.ts\n+++ b/../x\n@@ -1 +1 @@\n-1\n+x\n"),
        "0012 0013",
    );
    let link = "diff --git a/l b/l\nnew file mode 120000\n--- /dev/null\n+++ b/l\n@@ -0,0 +1 @@\n+/etc\n\\ No newline at end of file\n";
    expect_off(&patch("l", link), "0012");
    expect_off(&patch("l", &link.replace("/etc", "../x")), "0012");
}

#[test]
fn r0012_is_not_reported_for_near_misses() {
    for path in [
        ".gitignore",
        ".github/x.yml",
        "src/a..b.ts",
        "..x/y",
        ".stan/outputs/x",
        ".stan/contexts/x",
        "output/x",
        "src/.stan/output/x",
    ] {
        expect_off(&create(path), "");
    }
    expect_off(&state(r#"{"v":2,"i":[]}"#), "");
    expect_off(&operations(&format!("cp {META} docs/map.json")), "");
    let link = "diff --git a/src/l b/src/l\nnew file mode 120000\n--- /dev/null\n+++ b/src/l\n@@ -0,0 +1 @@\n+../README.md\n\\ No newline at end of file\n";
    expect_off(&patch("src/l", link), "");
}

#[test]
fn folders_that_hold_others() {
    expect_off(&operations("rm .stan"), "0012");
    expect_off(&operations("mv .stan old"), "0012");
    // A reserved path is reported once, whatever else is below it.
    expect_off(&operations("rm ."), "0012");
    expect_off(&operations("mkdirp .stan"), "");
}
