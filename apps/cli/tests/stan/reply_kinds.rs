//! More kinds of replies than the protocol describes, as models of different vendors write them: those with a clear meaning are
//! applied, all others change nothing. The common ones are in `apply.rs`.

use std::fs;

use crate::apply::{
    EDIT, Expected, check_landing, check_refused, diff, fenced, file, new_file, ops, patch, repository, search, tree,
};

const FIVE: &str = "644 1\n2\n3\n4\nfive\n6\n7\n8\n9\n10\n";

fn a(text: &'static str) -> Vec<Expected> {
    vec![("src/a.ts", Some(text))]
}

fn envelope(text: &str) -> String {
    format!("```\n*** Begin Patch\n{text}*** End Patch\n```\n")
}

fn indented(text: &str, by: usize) -> String {
    text.lines().map(|line| format!("{}{line}\n", " ".repeat(by))).collect()
}

fn landing() -> Vec<(&'static str, String, Vec<Expected>)> {
    let aider = "```ts\nsrc/a.ts\n<<<<<<< SEARCH\n4\n5\n=======\n4\nfive\n>>>>>>> REPLACE\n```\n";
    vec![
        ("aider: the path is the first line of the fence", aider.to_owned(), a(FIVE)),
        (
            "aider: several fences, each with its path",
            format!("{aider}\nand\n\n{}", aider.replace("src/a.ts", "src/b.ts")),
            vec![("src/a.ts", Some(FIVE)), ("src/b.ts", Some(FIVE))],
        ),
        (
            "Cline: dashes and pluses",
            "### Patch: src/a.ts\n\n```\n------- SEARCH\n5\n=======\nfive\n+++++++ REPLACE\n```\n".to_owned(),
            a(FIVE),
        ),
        (
            "ORIGINAL and UPDATED",
            "### Patch: src/a.ts\n\n```\n<<<<<<< ORIGINAL\n5\n=======\nfive\n>>>>>>> UPDATED\n```\n".to_owned(),
            a(FIVE),
        ),
        ("GPT: an update", envelope("*** Update File: src/a.ts\n@@\n 4\n-5\n+five\n 6\n"), a(FIVE)),
        (
            "GPT: words behind the at signs",
            envelope("*** Update File: src/a.ts\n@@ class Four\n 4\n-5\n+five\n"),
            a(FIVE),
        ),
        ("GPT: no at signs", envelope("*** Update File: src/a.ts\n 4\n-5\n+five\n 6\n"), a(FIVE)),
        (
            "GPT: two hunks and the end of the file",
            envelope("*** Update File: src/a.ts\n@@\n-1\n+one\n 2\n@@\n 9\n-10\n+ten\n*** End of File\n"),
            a("644 one\n2\n3\n4\n5\n6\n7\n8\n9\nten\n"),
        ),
        (
            "GPT: several files",
            envelope(
                "*** Update File: src/a.ts\n@@\n-5\n+five\n*** Add File: new/n.ts\n+n\n+\n+m\n*** Delete File: lib/x.ts\n",
            ),
            vec![("src/a.ts", Some(FIVE)), ("new/n.ts", Some("644 n\n\nm\n")), ("lib/x.ts", None)],
        ),
        (
            "GPT: a move with an edit",
            envelope("*** Update File: run.sh\n*** Move to: bin/go.sh\n@@\n-echo hi\n+echo ho\n"),
            vec![("run.sh", None), ("bin/go.sh", Some("755 #!/bin/sh\necho ho\n"))],
        ),
        (
            "GPT: under a heading, without the outer lines",
            "### Patch: src/a.ts\n\n```patch\n*** Update File: src/a.ts\n@@\n-5\n+five\n```\n".to_owned(),
            a(FIVE),
        ),
        (
            "GPT: CRLF in the file",
            envelope("*** Update File: crlf.txt\n@@\n one\n-two\n+2\n"),
            vec![("crlf.txt", Some("644 one\r\n2\r\nthree\r\n"))],
        ),
        (
            "the path in a code span, with words behind it that a diff makes plain",
            format!("### Patch: `src/a.ts`\n\n{}", fenced(&diff("src/a.ts", EDIT))),
            a(FIVE),
        ),
        ("the path in bold", "### File: **src/a.ts**\n\n```\nall\n```\n".to_owned(), a("644 all\n")),
        ("the path with `./`", file("./src/a.ts", "all\n"), a("644 all\n")),
        (
            "a diff that is indented as a whole",
            format!("```diff\n{}```\n", indented(&diff("src/a.ts", EDIT), 2)),
            a(FIVE),
        ),
        (
            "a search that is indented as a whole",
            format!(
                "### Patch: src/a.ts\n\n```\n{}```\n",
                indented("<<<<<<< SEARCH\n4\n5\n=======\n4\nfive\n>>>>>>> REPLACE\n", 4)
            ),
            a(FIVE),
        ),
        (
            "wrong counts in a list",
            format!("- First\n\n{}", indented(&patch("src/a.ts", &EDIT.replace("-4,3 +4,3", "-4,9 +4,9")), 2)),
            a(FIVE),
        ),
        (
            "an index line",
            fenced(&diff("src/a.ts", EDIT).replace("--- a", "index 83db48f..bf269f4 100644\n--- a")),
            a(FIVE),
        ),
        (
            "mnemonic prefixes",
            fenced(&diff("src/a.ts", EDIT).replace("a/src", "i/src").replace("b/src", "w/src")),
            a(FIVE),
        ),
        (
            "a date behind the name",
            fenced(&diff("src/a.ts", EDIT).replace("--- a/src/a.ts", "--- a/src/a.ts\t2026-01-01 00:00:00")),
            a(FIVE),
        ),
        ("a function behind the range", patch("src/a.ts", &EDIT.replace("@@\n", "@@ function four()\n")), a(FIVE)),
        ("a range without its end", patch("src/a.ts", &EDIT.replace(" @@\n", "\n")), a(FIVE)),
        (
            "hunks in the wrong order",
            patch("src/a.ts", "@@ -8,2 +8,2 @@\n 8\n-9\n+nine\n@@ -1,2 +1,2 @@\n 1\n-2\n+two\n"),
            a("644 1\ntwo\n3\n4\n5\n6\n7\n8\nnine\n10\n"),
        ),
        (
            "a blank line that lost its space",
            new_file("n.ts", "x\n") + &patch("doc.md", "@@ -1,2 +1,3 @@\n a\n+\n ```\n"),
            vec![("n.ts", Some("644 x\n")), ("doc.md", Some("644 a\n\n```\nb\n```\nc\n"))],
        ),
        (
            "a quoted name",
            fenced(
                "diff --git \"a/\\303\\274n\\303\\257.txt\" \"b/\\303\\274n\\303\\257.txt\"\n--- \"a/\\303\\274n\\303\\257.txt\"\n+++ \"b/\\303\\274n\\303\\257.txt\"\n@@ -1 +1 @@\n-eins\n+zwei\n",
            ),
            vec![("ünï.txt", Some("644 zwei\n"))],
        ),
        (
            "a newline that is added",
            patch("open.txt", "@@ -1,2 +1,2 @@\n one\n-two\n\\ No newline at end of file\n+two\n"),
            vec![("open.txt", Some("644 one\ntwo\n"))],
        ),
        (
            "a newline that is taken off",
            patch("src/b.ts", "@@ -9,2 +9,2 @@\n 9\n-10\n+10\n\\ No newline at end of file\n"),
            vec![("src/b.ts", Some("644 1\n2\n3\n4\n5\n6\n7\n8\n9\n10"))],
        ),
        (
            "an empty new file",
            fenced("diff --git a/e.ts b/e.ts\nnew file mode 100644\nindex 0000000..e69de29\n"),
            vec![("e.ts", Some("644 "))],
        ),
        (
            "a file that is removed and made again",
            ops("rm lib/x.ts") + &new_file("lib/x.ts", "n\n"),
            vec![("lib/x.ts", Some("644 n\n"))],
        ),
        (
            "a copy with an edit",
            fenced(&format!(
                "diff --git a/src/a.ts b/src/c.ts\ncopy from src/a.ts\ncopy to src/c.ts\n--- a/src/a.ts\n+++ b/src/c.ts\n{EDIT}"
            )),
            vec![("src/c.ts", Some(FIVE))],
        ),
        (
            "a chain: mv, patch, cp",
            ops("mv src/a.ts src/c.ts\ncp src/c.ts src/d.ts") + &patch("src/c.ts", EDIT),
            vec![
                ("src/a.ts", None),
                ("src/c.ts", Some(FIVE)),
                ("src/d.ts", Some("644 1\n2\n3\n4\n5\n6\n7\n8\n9\n10\n")),
            ],
        ),
        (
            "mv into a folder",
            ops("mkdirp bin\nmv run.sh bin/"),
            vec![("run.sh", None), ("bin/run.sh", Some("755 #!/bin/sh\necho hi\n"))],
        ),
        (
            "operations in a list",
            "### File Ops\n\n- mv lib/x.ts lib/z.ts\n- `rm empty.txt`\n".to_owned(),
            vec![("lib/x.ts", None), ("lib/z.ts", Some("644 x\n")), ("empty.txt", None)],
        ),
        (
            "a patch and a listing under one heading",
            format!("{}Afterwards:\n\n```ts\nlet x;\n```\n", patch("src/a.ts", EDIT)),
            a(FIVE),
        ),
        ("in a comment nothing is a patch", format!("<!--\n{}-->\n", patch("src/a.ts", EDIT)), vec![]),
        ("an example in a fence of Markdown is none", format!("~~~~~md\n{}~~~~~\n", patch("src/a.ts", EDIT)), vec![]),
        (
            "a whole file with an ellipsis of code",
            file("src/a.ts", "f(...rest);\n[\n  ...remaining,\n];\n"),
            a("644 f(...rest);\n[\n  ...remaining,\n];\n"),
        ),
        (
            "a whole file of its own marks",
            file("doc.md", "<<<<<<< HEAD\na\n=======\nb\n>>>>>>> main\n"),
            vec![("doc.md", Some("644 <<<<<<< HEAD\na\n=======\nb\n>>>>>>> main\n"))],
        ),
        (
            "a long reply",
            (0..60).map(|number| new_file(&format!("many/f{number}.ts"), "x\n")).collect(),
            vec![("many/f0.ts", Some("644 x\n")), ("many/f59.ts", Some("644 x\n")), ("many", Some("folder"))],
        ),
    ]
}

fn refused() -> Vec<(&'static str, String, &'static str)> {
    let good = || patch("src/b.ts", EDIT);
    let bare = "<<<<<<< SEARCH\n5\n=======\nfive\n>>>>>>> REPLACE\n";
    vec![
        ("a diff outside of a fence", diff("src/a.ts", EDIT), "0013"),
        ("a search outside of a fence beside a good patch", format!("{}src/a.ts\n{bare}", good()), "0013"),
        (
            "an envelope outside of a fence",
            "*** Begin Patch\n*** Update File: src/a.ts\n-5\n+five\n*** End Patch\n".to_owned(),
            "0013",
        ),
        (
            "Cline: tags around the blocks",
            format!("<replace_in_file>\n<path>src/a.ts</path>\n<diff>\n{bare}</diff>\n</replace_in_file>\n"),
            "0013",
        ),
        (
            "tags around the blocks in a fence",
            format!("```xml\n<path>src/a.ts</path>\n<diff>\n{bare}</diff>\n```\n"),
            "0013",
        ),
        ("GPT: two places", envelope("*** Update File: src/twice.ts\n@@\n 1\n-2\n+two\n"), "0011"),
        ("GPT: a file that is there", envelope("*** Add File: src/a.ts\n+x\n"), "0011"),
        ("GPT: a file that is not there", envelope("*** Delete File: nowhere.ts\n"), "0011"),
        (
            "GPT: one bad file among good ones",
            envelope("*** Update File: src/a.ts\n@@\n-5\n+five\n*** Update File: src/b.ts\n@@\n-V\n+five\n"),
            "0011",
        ),
        ("GPT: lines without a sign", envelope("*** Add File: n.ts\nx\n"), "0013"),
        ("GPT: out of the repository", envelope("*** Add File: ../n.ts\n+x\n"), "0012"),
        ("GPT: git's folder", envelope("*** Add File: .git/hooks/x\n+x\n"), "0012"),
        ("GPT: cut off", "```\n*** Begin Patch\n*** Update File: src/a.ts\n@@\n-5\n+five\n".to_owned(), "0011"),
        (
            "GPT: one file twice",
            envelope("*** Update File: src/a.ts\n@@\n-5\n+five\n*** Update File: src/a.ts\n@@\n-6\n+six\n"),
            "0013",
        ),
        ("a file with lines left out", file("src/a.ts", "1\n// ... rest of the code unchanged ...\n"), "0011"),
        ("a file with existing code left out", file("src/a.ts", "one\n# ...existing code...\nten\n"), "0011"),
        (
            "a replacement with lines left out",
            format!("src/a.ts\n{}", search("5\n", "five\n// ... remaining lines ...\n")),
            "0011",
        ),
        ("words behind the path", "### File: src/n.ts (new file)\n\n```\nx\n```\n".to_owned(), "0013"),
        ("words behind the code span", "### File: `src/n.ts` - new\n\n```\nx\n```\n".to_owned(), "0013"),
        ("a link instead of a path", "### File: [src/n.ts](src/n.ts)\n\n```\nx\n```\n".to_owned(), "0013"),
        ("backslashes", file("src\\n.ts", "x\n"), "0012"),
        ("backslashes to git's folder", file(".git\\hooks\\x", "x\n"), "0012"),
        ("a share", file("\\\\host\\share\\x", "x\n"), "0012"),
        ("a home directory", file("~/x", "x\n"), "0012"),
        (
            "an escape sequence in a name",
            fenced(
                "diff --git \"a/\\033[31m.ts\" \"b/\\033[31m.ts\"\nnew file mode 100644\n--- /dev/null\n+++ \"b/\\033[31m.ts\"\n@@ -0,0 +1 @@\n+x\n",
            ),
            "0012",
        ),
        ("letters composed otherwise", file("u\u{308}ni\u{308}.txt", "x\n"), "0012"),
        ("inner dots", file("src/../../x", "x\n"), "0012"),
        ("dots that stay inside", file("src/../x", "x\n"), "0012"),
        ("an absolute path in a diff", fenced(&diff("/etc/passwd", EDIT)), "0012"),
        ("ignorable letters in git's name", file(".g\u{200c}it/config", "x\n"), "0012"),
        ("a dot behind git's name", file(".git./config", "x\n"), "0012"),
        ("git's folder of a folder below", file("lib/.git/config", "x\n"), "0012"),
        ("a stream", file(".git::$INDEX_ALLOCATION/config", "x\n"), "0012"),
        ("mv out of git's folder", ops("mv .git/config x"), "0012"),
        ("cp into git's folder", ops("cp src/a.ts .git/hooks/x"), "0012"),
        ("mv of everything", ops("mv . x"), "0012"),
        ("the lock", file(".stan/.lock", "x\n"), "0012"),
        ("the map", file(".stan/context/dependency.meta.json", "{}\n"), "0012"),
        ("a staged file", file(".stan/context/npm/x/1.0.0/x.js", "x\n"), "0012"),
        ("a snapshot", file(".stan/diff/.archive.snapshot.json", "{}\n"), "0012"),
        ("an import by mv", ops("mv src/a.ts .stan/imports/a.ts"), "0009"),
        ("cp through a link", ops("cp src/a.ts linked/a.ts"), "0012"),
        ("mv of a link", ops("mv link.ts l.ts"), "0012"),
        ("cp of a folder onto a folder", ops("cp src lib"), "0011"),
        ("mv onto what a patch makes", ops("mv src/a.ts n.ts") + &new_file("n.ts", "x\n"), "0011"),
        ("rm twice", ops("rm src/a.ts\nrm src/a.ts"), "0011"),
        ("options", ops("rm -rf src"), "0013"),
        ("another program", ops("git mv src/a.ts src/c.ts"), "0013"),
        ("a pattern", ops("rm src/*.ts"), "0011"),
        ("two paths for rm", ops("rm src/a.ts src/b.ts"), "0013"),
        (
            "a rename without its lines",
            fenced(&format!("diff --git a/src/a.ts b/src/z.ts\n--- a/src/a.ts\n+++ b/src/z.ts\n{EDIT}")),
            "0013",
        ),
        (
            "a rename onto a file",
            fenced("diff --git a/src/a.ts b/src/b.ts\nrename from src/a.ts\nrename to src/b.ts\n"),
            "0011",
        ),
        ("a deletion without lines", fenced("diff --git a/src/a.ts b/src/a.ts\ndeleted file mode 100644\n"), "0011"),
        (
            "a deletion and an edit of one file",
            fenced(
                "diff --git a/lib/x.ts b/lib/x.ts\ndeleted file mode 100644\n--- a/lib/x.ts\n+++ /dev/null\n@@ -1 +0,0 @@\n-x\n",
            ) + &patch("lib/x.ts", "@@ -1 +1 @@\n-x\n+y\n"),
            "0013",
        ),
        ("a file and a patch of it", file("src/a.ts", "x\n") + &patch("src/a.ts", EDIT), "0013"),
        ("context that lost its space", patch("src/a.ts", "@@ -4,3 +4,3 @@\n4\n-5\n+five\n6\n"), "0011"),
        (
            "hunks that overlap",
            patch("src/a.ts", "@@ -1,3 +1,3 @@\n 1\n-2\n+two\n 3\n@@ -3,3 +3,3 @@\n 3\n-4\n+four\n 5\n"),
            "0011",
        ),
        ("an insertion without context", patch("src/a.ts", "@@ -2,0 +3 @@\n+x\n"), "0011"),
        ("a hunk that was applied before", patch("src/a.ts", "@@ -4,3 +4,3 @@\n 4\n-five\n+5\n 6\n"), "0011"),
        ("a position far away, found twice", patch("src/twice.ts", "@@ -900 +900 @@\n-1\n+one\n"), "0011"),
        ("a huge position", patch("src/twice.ts", "@@ -99999999999999999999,2 +1,2 @@\n 1\n-2\n+two\n"), "0011"),
        (
            "huge hunks",
            patch("src/a.ts", &format!("@@ -1,20000 +1,20000 @@\n{}", "-5\n+five\n".repeat(20_000))),
            "0011",
        ),
        (
            "a binary file that differs",
            fenced("diff --git a/x.png b/x.png\nBinary files a/x.png and b/x.png differ\n"),
            "0011",
        ),
        (
            "a search without its divider",
            format!("### Patch: src/a.ts\n\n```\n{}```\n", bare.replace("=======\n", "")),
            "0013",
        ),
        (
            "a search that is not closed",
            format!("### Patch: src/a.ts\n\n```\n{}```\n", bare.replace(">>>>>>> REPLACE\n", "")),
            "0013",
        ),
        ("a search with less indentation", format!("src/a.ts\n{}", search("4 \n", "four\n")), "0011"),
        (
            "a nested fence that closes the file",
            "### File: doc.md\n\n```md\n# n\n```sh\nls\n```\nend\n```\n".to_owned(),
            "0013",
        ),
        ("a fence of tildes in a fence of tildes", "### File: doc.md\n\n~~~\na\n~~~\nb\n~~~\n".to_owned(), "0013"),
        ("no path", "### File:\n\n```\nx\n```\n".to_owned(), "0012"),
        ("a folder as a file", file("src/", "x\n"), "0011"),
        ("the root as a file", file(".", "x\n"), "0011"),
    ]
}

#[test]
fn reply_kinds_with_one_meaning_are_applied() {
    check_landing(&landing());
}

#[test]
fn ambiguous_or_hostile_reply_kinds_change_nothing() {
    check_refused(&refused());
}

#[test]
fn a_reply_that_is_not_utf8_changes_nothing() {
    let repository = repository();
    let old = tree(repository.root());
    let latin = b"### File: n.txt\n\n```\ncaf\xe9\n```\n".to_vec();
    let utf16: Vec<u8> =
        [0xff, 0xfe].into_iter().chain("### File: n.txt\n".encode_utf16().flat_map(u16::to_le_bytes)).collect();
    for (reply, hint) in [(latin, "line 4"), (utf16, "UTF-16")] {
        fs::write(repository.root().join("../reply.md"), reply).unwrap();
        let said = repository.stan(&["apply", "../reply.md"]);
        assert!(said.starts_with("exit 1") && said.contains("is not UTF-8") && said.contains(hint), "{said}");
        assert_eq!(tree(repository.root()), old);
    }
}

#[test]
fn files_that_are_not_utf8_keep_their_bytes() {
    let repository = repository();
    let path = repository.root().join("latin.txt");
    fs::write(&path, b"caf\xe9\none\ntwo\n").unwrap();
    fs::write(repository.root().join("../reply.md"), patch("latin.txt", "@@ -2,2 +2,2 @@\n one\n-two\n+2\n")).unwrap();
    let said = repository.stan(&["apply", "../reply.md"]);
    assert!(said.starts_with("exit 0"), "{said}");
    assert_eq!(fs::read(&path).unwrap(), b"caf\xe9\none\n2\n");
}

#[test]
fn heading_levels_that_are_not_read_are_reported() {
    let repository = repository();
    let old = tree(repository.root());
    for level in ["##", "####"] {
        fs::write(repository.root().join("../reply.md"), format!("{level} File: n.ts\n\n```\nx\n```\n")).unwrap();
        let said = repository.stan(&["apply", "../reply.md"]);
        assert!(said.starts_with("exit 0") && said.contains("with three `#`"), "{said}");
        assert_eq!(tree(repository.root()), old);
    }
}
