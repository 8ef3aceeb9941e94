//! `stan apply` on replies of all kinds that models write: valid ones are applied, all others change nothing, and undo restores
//! bytes and permissions.

use std::collections::BTreeMap;
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::process::Stdio;
use std::time::Duration;

use stan_testkit::Random;

use crate::support::Repository;

pub(crate) const TEN: &str = "1\n2\n3\n4\n5\n6\n7\n8\n9\n10\n";

pub(crate) fn repository() -> Repository {
    let repository = Repository::new(&[
        ("src/a.ts", TEN),
        ("src/b.ts", TEN),
        ("src/my file.ts", TEN),
        ("src/twice.ts", "x\n1\n2\ny\n1\n2\nz\n"),
        ("crlf.txt", "one\r\ntwo\r\nthree\r\n"),
        ("bom.txt", "\u{feff}one\ntwo\nthree\n"),
        ("open.txt", "one\ntwo"),
        ("empty.txt", ""),
        ("run.sh", "#!/bin/sh\necho hi\n"),
        ("secret.txt", "old\n"),
        ("ünï.txt", "eins\n"),
        ("lib/x.ts", "x\n"),
        ("lib/deep/y.ts", "y\n"),
        ("doc.md", "a\n```\nb\n```\nc\n"),
        (".gitignore", "node_modules\n"),
    ]);
    let mode =
        |path: &str, mode| fs::set_permissions(repository.root().join(path), fs::Permissions::from_mode(mode)).unwrap();
    mode("run.sh", 0o755);
    mode("secret.txt", 0o600);
    std::os::unix::fs::symlink("src/a.ts", repository.root().join("link.ts")).unwrap();
    std::os::unix::fs::symlink("lib", repository.root().join("linked")).unwrap();
    repository
}

/// Bytes and permissions of every file, and the folders, except stan's own.
pub(crate) fn tree(root: &Path) -> BTreeMap<String, String> {
    fn walk(root: &Path, folder: &Path, found: &mut BTreeMap<String, String>) {
        for entry in fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            let name = path.strip_prefix(root).unwrap().to_string_lossy().into_owned();
            if name == ".stan" {
                continue;
            }
            let metadata = fs::symlink_metadata(&path).unwrap();
            if metadata.is_dir() {
                found.insert(name, "folder".to_owned());
                walk(root, &path, found);
            } else if metadata.is_symlink() {
                found.insert(name, format!("link {}", fs::read_link(&path).unwrap().display()));
            } else {
                let text = String::from_utf8_lossy(&fs::read(&path).unwrap()).into_owned();
                found.insert(name, format!("{:o} {text}", metadata.permissions().mode() & 0o7777));
            }
        }
    }
    let mut found = BTreeMap::new();
    walk(root, root, &mut found);
    found
}

pub(crate) fn diff(path: &str, hunks: &str) -> String {
    format!("diff --git a/{path} b/{path}\n--- a/{path}\n+++ b/{path}\n{hunks}")
}

pub(crate) fn fenced(text: &str) -> String {
    format!("~~~~diff\n{text}~~~~\n\n")
}

pub(crate) fn patch(path: &str, hunks: &str) -> String {
    format!("### Patch: {path}\n\n{}", fenced(&diff(path, hunks)))
}

pub(crate) fn new_file(path: &str, text: &str) -> String {
    let lines: String = text.lines().map(|line| format!("+{line}\n")).collect();
    let count = text.lines().count();
    let header = format!("diff --git a/{path} b/{path}\nnew file mode 100644\n--- /dev/null\n+++ b/{path}\n");
    format!("### Patch: {path}\n\n{}", fenced(&format!("{header}@@ -0,0 +1,{count} @@\n{lines}")))
}

pub(crate) fn search(search: &str, replace: &str) -> String {
    format!("~~~~\n<<<<<<< SEARCH\n{search}=======\n{replace}>>>>>>> REPLACE\n~~~~\n\n")
}

pub(crate) fn file(path: &str, text: &str) -> String {
    format!("### File: {path}\n\n~~~~\n{text}~~~~\n\n")
}

pub(crate) fn ops(lines: &str) -> String {
    format!("### File Ops\n\n~~~~\n{lines}\n~~~~\n\n")
}

pub(crate) const EDIT: &str = "@@ -4,3 +4,3 @@\n 4\n-5\n+five\n 6\n";

/// The expected contents and permissions of a file; `None` if it is deleted.
pub(crate) type Expected = (&'static str, Option<&'static str>);

/// Replies that are applied.
fn landing() -> Vec<(&'static str, String, Vec<Expected>)> {
    const FIVE: &str = "644 1\n2\n3\n4\nfive\n6\n7\n8\n9\n10\n";
    let a = |text| vec![("src/a.ts", Some(text))];
    vec![
        ("a diff", patch("src/a.ts", EDIT), a(FIVE)),
        ("a bare fence", fenced(&diff("src/a.ts", EDIT)), a(FIVE)),
        ("backticks", patch("src/a.ts", EDIT).replace("~~~~", "```"), a(FIVE)),
        ("CRLF in the reply", patch("src/a.ts", EDIT).replace('\n', "\r\n"), a(FIVE)),
        ("a byte order mark before the reply", format!("\u{feff}{}", patch("src/a.ts", EDIT)), a(FIVE)),
        ("counts too large", patch("src/a.ts", &EDIT.replace("-4,3 +4,3", "-4,30 +4,30")), a(FIVE)),
        ("counts too small", patch("src/a.ts", &EDIT.replace("-4,3 +4,3", "-4,1 +4,1")), a(FIVE)),
        ("counts of nothing", patch("src/a.ts", &EDIT.replace("-4,3 +4,3", "-4,0 +4,0")), a(FIVE)),
        ("a drifted position", patch("src/a.ts", &EDIT.replace("-4,3 +4,3", "-90,3 +90,3")), a(FIVE)),
        ("drifted to the start", patch("src/a.ts", &EDIT.replace("-4,3 +4,3", "-1,3 +1,3")), a(FIVE)),
        ("no numbers", patch("src/a.ts", &EDIT.replace("@@ -4,3 +4,3 @@", "@@ ... @@")), a(FIVE)),
        ("a bare `@@`", patch("src/a.ts", &EDIT.replace("@@ -4,3 +4,3 @@", "@@")), a(FIVE)),
        ("no context", patch("src/a.ts", "@@ -5 +5 @@\n-5\n+five\n"), a(FIVE)),
        ("a blank line at the end", patch("src/a.ts", &format!("{EDIT}\n\n")), a(FIVE)),
        ("no `---` lines", fenced(&format!("diff --git a/src/a.ts b/src/a.ts\n{EDIT}")), a(FIVE)),
        ("no prefixes", fenced(&diff("src/a.ts", EDIT).replace("a/src", "src").replace("b/src", "src")), a(FIVE)),
        (
            "two hunks with wrong counts",
            patch("src/a.ts", "@@ -1,9 +1,9 @@\n 1\n-2\n+two\n+2b\n 3\n@@ -7,1 +7,1 @@\n 7\n-8\n 9\n"),
            a("644 1\ntwo\n2b\n3\n4\n5\n6\n7\n9\n10\n"),
        ),
        (
            "two fences under one heading",
            patch("src/a.ts", EDIT) + &fenced(&diff("src/b.ts", EDIT)),
            vec![("src/a.ts", Some(FIVE)), ("src/b.ts", Some(FIVE))],
        ),
        ("a name with a space", patch("src/my file.ts", EDIT), vec![("src/my file.ts", Some(FIVE))]),
        ("a name that is not ASCII", patch("ünï.txt", "@@ -1 +1 @@\n-eins\n+zwei\n"), vec![("ünï.txt", Some("644 zwei\n"))]),
        (
            "the stated one of two places",
            patch("src/twice.ts", "@@ -5,2 +5,2 @@\n 1\n-2\n+two\n"),
            vec![("src/twice.ts", Some("644 x\n1\n2\ny\n1\ntwo\nz\n"))],
        ),
        ("CRLF is kept", patch("crlf.txt", "@@ -1,3 +1,4 @@\n one\n-two\n+TWO\n+more\n three\n"), vec![("crlf.txt", Some("644 one\r\nTWO\r\nmore\r\nthree\r\n"))]),
        ("a byte order mark is kept", patch("bom.txt", "@@ -1,2 +1,2 @@\n-one\n+ONE\n two\n"), vec![("bom.txt", Some("644 \u{feff}ONE\ntwo\nthree\n"))]),
        ("a missing newline is kept", patch("open.txt", "@@ -1,2 +1,2 @@\n one\n-two\n+TWO\n"), vec![("open.txt", Some("644 one\nTWO"))]),
        ("a mode is kept", patch("run.sh", "@@ -1,2 +1,2 @@\n #!/bin/sh\n-echo hi\n+echo ho\n"), vec![("run.sh", Some("755 #!/bin/sh\necho ho\n"))]),
        ("a private mode is kept", patch("secret.txt", "@@ -1 +1 @@\n-old\n+new\n"), vec![("secret.txt", Some("600 new\n"))]),
        ("a new file", new_file("new/deep/n.ts", "n\n"), vec![("new/deep/n.ts", Some("644 n\n"))]),
        ("a new file without its mode line", new_file("n.ts", "n\n").replace("new file mode 100644\n", ""), vec![("n.ts", Some("644 n\n"))]),
        ("a new file with wrong counts", new_file("n.ts", "n\nm\n").replace("+1,2", "+1,77"), vec![("n.ts", Some("644 n\nm\n"))]),
        ("a new program", new_file("n.sh", "n\n").replace("100644", "100755"), vec![("n.sh", Some("755 n\n"))]),
        ("a change of mode", fenced("diff --git a/src/a.ts b/src/a.ts\nold mode 100644\nnew mode 100755\n"), vec![("src/a.ts", Some("755 1\n2\n3\n4\n5\n6\n7\n8\n9\n10\n"))]),
        ("a deletion", fenced("diff --git a/lib/x.ts b/lib/x.ts\ndeleted file mode 100644\n--- a/lib/x.ts\n+++ /dev/null\n@@ -1 +0,0 @@\n-x\n"), vec![("lib/x.ts", None)]),
        ("a rename with an edit", fenced(&format!("diff --git a/run.sh b/bin/go.sh\nrename from run.sh\nrename to bin/go.sh\n--- a/run.sh\n+++ b/bin/go.sh\n{}", "@@ -1,2 +1,2 @@\n #!/bin/sh\n-echo hi\n+echo ho\n")), vec![("run.sh", None), ("bin/go.sh", Some("755 #!/bin/sh\necho ho\n"))]),
        ("an empty file filled", patch("empty.txt", "@@ -0,0 +1 @@\n+x\n"), vec![("empty.txt", Some("644 x\n"))]),
        ("search and replace", format!("### Patch: src/a.ts\n\n{}", search("4\n5\n", "4\nfive\n")), a(FIVE)),
        ("the path above the fence", format!("src/a.ts\n{}", search("5\n", "five\n")), a(FIVE)),
        ("the path in bold above the fence", format!("**`src/a.ts`**\n\n{}", search("5\n", "five\n")), a(FIVE)),
        ("two blocks in one fence", "### Patch: src/a.ts\n\n~~~~\n<<<<<<< SEARCH\n1\n=======\none\n>>>>>>> REPLACE\n\n<<<<<<< SEARCH\none\n2\n=======\ntwo\n>>>>>>> REPLACE\n~~~~\n".to_owned(), a("644 two\n3\n4\n5\n6\n7\n8\n9\n10\n")),
        ("blocks in two fences", format!("### Patch: src/a.ts\n\n{}{}", search("4\n5\n", "4\n"), search("9\n10\n", "ten\n")), a("644 1\n2\n3\n4\n6\n7\n8\nten\n")),
        ("search in CRLF", format!("crlf.txt\n{}", search("two\n", "2\n2b\n")), vec![("crlf.txt", Some("644 one\r\n2\r\n2b\r\nthree\r\n"))]),
        ("search at an open end", format!("open.txt\n{}", search("two\n", "2\n3\n")), vec![("open.txt", Some("644 one\n2\n3"))]),
        ("search for nothing makes a file", format!("n.ts\n{}", search("", "n\n")), vec![("n.ts", Some("644 n\n"))]),
        ("a whole file", file("src/a.ts", "all\n"), a("644 all\n")),
        ("a whole new file", file("docs/n.md", "# n\n\n```sh\nls\n```\n"), vec![("docs/n.md", Some("644 # n\n\n```sh\nls\n```\n"))]),
        ("a whole file in CRLF with a mark", file("crlf.txt", "1\n2\n") + &file("bom.txt", "1\n") + &file("open.txt", "1\n2\n"), vec![("crlf.txt", Some("644 1\r\n2\r\n")), ("bom.txt", Some("644 \u{feff}1\n")), ("open.txt", Some("644 1\n2"))]),
        ("a whole program", file("run.sh", "#!/bin/sh\n"), vec![("run.sh", Some("755 #!/bin/sh\n"))]),
        ("mv", ops("mv run.sh bin/run.sh"), vec![("run.sh", None), ("bin/run.sh", Some("755 #!/bin/sh\necho hi\n"))]),
        ("mv and a patch of the new place", ops("mv src/a.ts src/c.ts") + &patch("src/c.ts", EDIT), vec![("src/a.ts", None), ("src/c.ts", Some(FIVE))]),
        ("mv of a folder", ops("mv lib kit"), vec![("lib/x.ts", None), ("lib", None), ("kit", Some("folder")), ("kit/deep/y.ts", Some("644 y\n"))]),
        ("a swap", ops("mv lib/x.ts lib/t.ts\nmv lib/deep/y.ts lib/x.ts\nmv lib/t.ts lib/deep/y.ts"), vec![("lib/x.ts", Some("644 y\n")), ("lib/deep/y.ts", Some("644 x\n")), ("lib/t.ts", None)]),
        ("cp", ops("cp run.sh copy.sh"), vec![("run.sh", Some("755 #!/bin/sh\necho hi\n")), ("copy.sh", Some("755 #!/bin/sh\necho hi\n"))]),
        ("rm", ops("rm lib/x.ts"), vec![("lib/x.ts", None), ("lib", Some("folder"))]),
        ("rm of a folder", ops("rm lib"), vec![("lib", None)]),
        ("rm and rmdir", ops("rm lib/deep/y.ts\nrmdir lib/deep"), vec![("lib/deep", None), ("lib/x.ts", Some("644 x\n"))]),
        ("mkdirp", ops("mkdirp a/b/c"), vec![("a/b/c", Some("folder"))]),
        ("several files", patch("src/a.ts", EDIT) + &new_file("n.ts", "n\n") + &ops("rm empty.txt"), vec![("src/a.ts", Some(FIVE)), ("n.ts", Some("644 n\n")), ("empty.txt", None)]),
        ("a longer fence around a fence", format!("### Patch: doc.md\n\n````diff\n{}````\n", diff("doc.md", "@@ -1,5 +1,5 @@\n a\n ```\n-b\n+B\n ```\n c\n")), vec![("doc.md", Some("644 a\n```\nB\n```\nc\n"))]),
        ("words and listings around it", format!("Sure!\n\n```ts\nlet x;\n```\n\n{}Done.\n", patch("src/a.ts", EDIT)), a(FIVE)),
        ("in a list", format!("1. First\n\n{}", patch("src/a.ts", EDIT).lines().map(|line| format!("   {line}\n")).collect::<String>()), a(FIVE)),
        ("nothing to do", "Just words.\n".to_owned(), vec![]),
        ("an empty reply", "\n".to_owned(), vec![]),
    ]
}

/// Replies that change nothing, with the code that says why.
fn refused() -> Vec<(&'static str, String, &'static str)> {
    let good = || patch("src/b.ts", EDIT);
    vec![
        ("other lines", patch("src/a.ts", &EDIT.replace(" 4\n", " four\n")), "0011"),
        ("trailing space", patch("src/a.ts", &EDIT.replace("-5\n", "-5 \n")), "0011"),
        ("two places", patch("src/twice.ts", "@@ -9,2 +9,2 @@\n 1\n-2\n+two\n"), "0011"),
        ("two places for a search", format!("src/twice.ts\n{}", search("1\n2\n", "one\n")), "0011"),
        ("a search for nothing in a file", format!("src/a.ts\n{}", search("", "n\n")), "0011"),
        ("a search that is not there", format!("src/a.ts\n{}", search("eleven\n", "11\n")), "0011"),
        (
            "one bad among good",
            good() + &patch("src/a.ts", &EDIT.replace("-5\n", "-V\n")) + &new_file("n.ts", "n\n"),
            "0011",
        ),
        ("one bad operation among good", good() + &ops("rm nowhere.ts"), "0011"),
        ("cut off in a diff", good() + patch("src/a.ts", EDIT).trim_end().trim_end_matches('~'), "0011"),
        ("cut off in a file", "### File: src/a.ts\n\n```ts\n1\n2\n".to_owned(), "0011"),
        (
            "cut off by its own fence",
            format!(
                "### Patch: doc.md\n\n```diff\n{}```\n",
                diff("doc.md", "@@ -1,5 +1,5 @@\n-a\n+A\n ```\n b\n ```\n-c\n+C\n")
            ),
            "0011",
        ),
        ("a file that is not there", patch("src/none.ts", EDIT), "0011"),
        ("a new file that is there", new_file("src/a.ts", "n\n"), "0011"),
        ("a new file that is a folder", new_file("lib", "n\n"), "0011"),
        ("a new file below a file", new_file("src/a.ts/n.ts", "n\n"), "0011"),
        (
            "a deletion that leaves lines",
            fenced(
                "diff --git a/src/a.ts b/src/a.ts\ndeleted file mode 100644\n--- a/src/a.ts\n+++ /dev/null\n@@ -1 +0,0 @@\n-1\n",
            ),
            "0011",
        ),
        (
            "a binary patch",
            fenced(&format!(
                "diff --git a/x.bin b/x.bin\nnew file mode 100644\nindex {}..{}\nGIT binary patch\nliteral 4\nLcmZQzWMT#Y01f~L\n\nliteral 0\nHcmV?d00001\n\n",
                "0".repeat(40),
                "1".repeat(40)
            )),
            "0011",
        ),
        ("mv onto a file", ops("mv src/a.ts src/b.ts"), "0011"),
        ("cp onto a file", ops("cp src/a.ts src/b.ts"), "0011"),
        ("mv into itself", ops("mv lib lib/deep/lib"), "0011"),
        ("rmdir of a full folder", ops("rmdir lib"), "0011"),
        ("mkdirp over a file", ops("mkdirp src/a.ts/x"), "0011"),
        ("a patch of what was moved away", ops("mv src/a.ts src/c.ts") + &patch("src/a.ts", EDIT), "0011"),
        ("two diffs in a fence", fenced(&(diff("src/a.ts", EDIT) + &diff("src/b.ts", EDIT))), "0013"),
        ("one file twice", good() + &good(), "0013"),
        ("another path in the heading", format!("### Patch: src/b.ts\n\n{}", fenced(&diff("src/a.ts", EDIT))), "0013"),
        ("no header", fenced(&diff("src/a.ts", EDIT).replace("diff --git a/src/a.ts b/src/a.ts\n", "")), "0013"),
        ("an unknown operation", ops("chmod src/a.ts"), "0013"),
        ("two fences under one file", file("doc.md", "a\n") + "~~~~\nb\n~~~~\n", "0013"),
        ("a search without a file", search("5\n", "five\n"), "0013"),
        ("out of the repository", new_file("../out.ts", "n\n"), "0012"),
        ("an absolute path", file("/etc/out", "n\n"), "0012"),
        ("a drive", file("C:\\out", "n\n"), "0012"),
        ("git's hooks", new_file(".git/hooks/pre-commit", "n\n"), "0012"),
        ("git's hooks, spelled otherwise", file(".GIT/hooks/pre-commit", "n\n"), "0012"),
        ("a short name of git's folder", file("git~1/config", "n\n"), "0012"),
        ("an archive", file(".stan/output/archive.tar", "n\n"), "0012"),
        ("the way back", file(".stan/patch/pending.json", "{}\n"), "0012"),
        ("stan's folder", ops("rm .stan"), "0012"),
        ("an import", file(".stan/imports/x/y.ts", "n\n"), "0009"),
        ("a link", patch("link.ts", EDIT), "0012"),
        ("behind a link", file("linked/x.ts", "n\n"), "0012"),
        ("rm of a link", ops("rm link.ts"), "0012"),
        ("a new link", new_file("n.ts", "src/a.ts\n").replace("100644", "120000"), "0012"),
        ("a submodule", new_file("sub", "x\n").replace("100644", "160000"), "0012"),
    ]
}

/// Applies replies, each in its own repository: checks that they change what they should and nothing else, and that undo restores
/// everything.
pub(crate) fn check_landing(cases: &[(&'static str, String, Vec<Expected>)]) {
    for (name, reply, expected) in cases {
        let repository = repository();
        let old = tree(repository.root());
        fs::write(repository.root().join("../reply.md"), reply).unwrap();
        let dry = repository.stan(&["apply", "--dry-run", "../reply.md"]);
        assert!(dry.starts_with("exit 0"), "{name}: {dry}\n{reply}");
        assert_eq!(tree(repository.root()), old, "{name}: a dry run");
        let said = repository.stan(&["apply", "../reply.md"]);
        assert!(said.starts_with("exit 0"), "{name}: {said}\n{reply}");
        let new = tree(repository.root());
        for (path, text) in expected {
            assert_eq!(new.get(*path).map(String::as_str), *text, "{name}: {path}\n{reply}");
        }
        let touched = |path: &String| {
            expected.iter().any(|(known, _)| path.starts_with(known) || known.starts_with(path.as_str()))
        };
        for (path, text) in &old {
            assert!(new.get(path) == Some(text) || touched(path), "{name}: {path} was changed as well");
        }
        for path in new.keys() {
            assert!(old.contains_key(path) || touched(path), "{name}: {path} was made as well");
        }
        if new != old {
            let said = repository.stan(&["apply", "--undo"]);
            assert!(said.starts_with("exit 0"), "{name}: {said}");
            assert_eq!(tree(repository.root()), old, "{name}: taken back");
        }
    }
}

/// Checks that replies change nothing and say why.
pub(crate) fn check_refused(cases: &[(&'static str, String, &'static str)]) {
    let repository = repository();
    let old = tree(repository.root());
    for (name, reply, code) in cases {
        fs::write(repository.root().join("../reply.md"), reply).unwrap();
        let said = repository.stan(&["apply", "../reply.md"]);
        assert!(said.starts_with("exit 1") && said.contains(&format!("STAN-REPLY-{code}")), "{name}: {said}\n{reply}");
        assert!(said.contains("nothing was changed"), "{name}: {said}");
        assert_eq!(tree(repository.root()), old, "{name}");
    }
    let said = repository.stan(&["apply", "--undo"]);
    assert!(said.starts_with("exit 1") && said.contains("no applied reply to undo"), "{said}");
}

#[test]
fn valid_replies_are_applied_and_can_be_undone() {
    check_landing(&landing());
}

#[test]
fn refused_replies_change_nothing() {
    check_refused(&refused());
}

#[test]
fn strict_is_as_exact_as_git() {
    let repository = repository();
    let old = tree(repository.root());
    for reply in [
        patch("src/a.ts", &EDIT.replace("-4,3 +4,3", "-4,30 +4,30")),
        patch("src/a.ts", &EDIT.replace("-4,3 +4,3", "-1,3 +1,3")),
        patch("crlf.txt", "@@ -1,3 +1,3 @@\n one\n-two\n+TWO\n three\n"),
        new_file("n.ts", "n\n").replace("new file mode 100644\n", ""),
    ] {
        fs::write(repository.root().join("../reply.md"), &reply).unwrap();
        let said = repository.stan(&["apply", "--strict", "../reply.md"]);
        assert!(said.starts_with("exit 1") && said.contains("STAN-REPLY-0011"), "{said}\n{reply}");
        assert_eq!(tree(repository.root()), old);
    }
    fs::write(repository.root().join("../reply.md"), patch("src/a.ts", EDIT)).unwrap();
    assert!(repository.stan(&["apply", "--strict", "../reply.md"]).starts_with("exit 0"));
}

#[test]
fn feedback_quotes_the_lines_of_the_file() {
    let repository = repository();
    fs::write(repository.root().join("../reply.md"), patch("src/a.ts", &EDIT.replace("-5\n", "-V\n"))).unwrap();
    let said = repository.stan(&["apply", "../reply.md"]);
    for words in [
        "STAN-REPLY-0011 (line 7 of the reply)",
        "The patch expects in `src/a.ts`:\n  | 4\n  | V\n  | 6\n",
        "`src/a.ts` has from line 4:\n  | 4\n  | 5\n  | 6\n",
    ] {
        assert!(said.contains(words), "{said}");
    }
    let output = repository.output(&["apply", "--json", "../reply.md"], &[]);
    let report: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!((output.status.code(), &report["accepted"]), (Some(1), &serde_json::json!(false)));
    assert!(report["feedback"].as_str().unwrap().contains("has from line 4"));
}

#[test]
fn wrong_arguments_of_apply_exit_with_2_and_missing_files_with_1() {
    let repository = repository();
    for arguments in [&["apply"][..], &["apply", "--undo", "x.md"], &["apply", "a", "b"]] {
        assert!(repository.stan(arguments).starts_with("exit 2"), "{arguments:?}");
    }
    assert!(repository.stan(&["apply", "nowhere.md"]).starts_with("exit 1"));
    let below = repository.stan(&["-C", "src", "apply", "--stan-path", "../x", "-"]);
    assert!(below.starts_with("exit 1"), "{below}");
}

/// Missing ceremony is a warning, files that the assistant has not seen are an error, and bytes that changed since are reported.
#[test]
fn after_a_context_run() {
    let repository = Repository::new(&[("src/a.ts", TEN), ("src/far.ts", TEN), ("top.ts", "1\n")]);
    assert!(repository.stan(&["run", "--context", "--meta"]).starts_with("exit 0"));
    repository.write(".stan/context/dependency.state.json", "{\"v\":2,\"i\":[\"src/a.ts\"]}");
    assert!(repository.stan(&["run", "--context"]).starts_with("exit 0"));
    let apply = |reply: &str, more: &[&str]| {
        fs::write(repository.root().join("../reply.md"), reply).unwrap();
        repository.stan(&[&["apply", "../reply.md"][..], more].concat())
    };
    let said = apply(&patch("src/far.ts", EDIT), &[]);
    assert!(said.starts_with("exit 1") && said.contains("STAN-REPLY-0008"), "{said}");
    let said = apply(&patch("src/far.ts", EDIT), &["--no-archive", "--dry-run"]);
    assert!(said.starts_with("exit 0"), "{said}");
    let said = apply(&patch("src/a.ts", EDIT), &["--strict"]);
    assert!(said.starts_with("exit 1") && said.contains("STAN-REPLY-0001"), "{said}");
    repository.write("src/a.ts", &TEN.replace("10\n", "10\n11\n"));
    let said = apply(&patch("src/a.ts", EDIT), &[]);
    assert!(said.starts_with("exit 0") && said.contains("warning[STAN-REPLY-0001]"), "{said}");
    assert!(said.contains("`src/a.ts` is not what the archive has"), "{said}");
    assert_eq!(
        fs::read_to_string(repository.root().join("src/a.ts")).unwrap(),
        "1\n2\n3\n4\nfive\n6\n7\n8\n9\n10\n11\n"
    );
}

/// After an apply is killed at a random moment, the next command completes or reverts it.
fn kill(count: usize, seed: u64) -> [usize; 2] {
    let names: Vec<String> = (0..40).map(|number| format!("src/f{number}.ts")).collect();
    let files: Vec<(&str, &str)> = names.iter().map(|name| (name.as_str(), TEN)).collect();
    let reply: String = names.iter().map(|name| patch(name, EDIT)).collect::<String>() + &new_file("new/n.ts", "n\n");
    let repository = Repository::new(&files);
    let root = repository.root();
    fs::write(root.join("../reply.md"), &reply).unwrap();
    let old = tree(root);
    let started = std::time::Instant::now();
    assert!(repository.stan(&["apply", "../reply.md"]).starts_with("exit 0"));
    let longest = usize::try_from(started.elapsed().as_micros()).unwrap_or(usize::MAX).max(10_000);
    let new = tree(root);
    assert!(repository.stan(&["apply", "--undo"]).starts_with("exit 0"));
    let mut random = Random::new(seed);
    let mut ended = [0; 2];
    for round in 0..count {
        let is_new = tree(root) == new;
        let arguments: &[&str] = if is_new { &["apply", "--undo"] } else { &["apply", "../reply.md"] };
        let mut child = repository.command(arguments).stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
        std::thread::sleep(Duration::from_micros(random.below(longest) as u64));
        child.kill().unwrap();
        child.wait().unwrap();
        // Any command completes an interrupted apply.
        let said = repository.stan(&["graph"]);
        assert!(said.starts_with("exit 0"), "round {round}: {said}");
        let found = tree(root);
        assert!(
            found == old || found == new,
            "round {round}: {:?}",
            found.iter().filter(|(path, text)| old.get(*path) != Some(text)).count()
        );
        ended[usize::from(found == new)] += 1;
        if found == new {
            assert!(repository.stan(&["apply", "--undo"]).starts_with("exit 0"), "round {round}");
            assert_eq!(tree(root), old, "round {round}");
        }
    }
    ended
}

#[test]
fn a_reply_is_whole_after_twenty_kills() {
    kill(20, 5);
}

#[test]
#[ignore = "takes minutes"]
fn killed_two_hundred_times() {
    let [old, new] = kill(200, 6);
    println!("apply: {old} ended with the old files, {new} with the new ones");
}

#[test]
fn a_full_disk_changes_nothing() {
    let directory = tempfile::tempdir().unwrap();
    let mounted = std::process::Command::new("mount")
        .args(["-t", "tmpfs", "-o", "size=400k", "tmpfs"])
        .arg(directory.path())
        .output();
    if !mounted.is_ok_and(|output| output.status.success()) {
        println!("no file system can be mounted here: skipped");
        return;
    }
    let root = directory.path().join("r");
    fs::create_dir_all(&root).unwrap();
    fs::write(root.join("big.ts"), "x\n".repeat(100_000)).unwrap();
    fs::write(root.join("a.ts"), TEN).unwrap();
    fs::write(directory.path().join("reply.md"), patch("a.ts", EDIT) + "big.ts\n" + &file("big.ts", &"y\n".repeat(10)))
        .unwrap();
    let old = tree(&root);
    let output = std::process::Command::new(env!("CARGO_BIN_EXE_stan"))
        .current_dir(&root)
        .args(["apply", "../reply.md"])
        .output()
        .unwrap();
    let found = tree(&root);
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    let _ = std::process::Command::new("umount").arg("-l").arg(directory.path()).status();
    assert_eq!(output.status.code(), Some(1), "{said}");
    assert!(said.contains("no space is left"), "{said}");
    assert_eq!(found, old);
}
