//! `stan apply` with interference: planted symlinks, and several processes at once. Also replies whose text was damaged on its
//! way from the model.

use std::fs;
use std::os::unix::fs::symlink;
use std::path::Path;
use std::process::{Child, Stdio};

use crate::apply::{
    EDIT, Expected, TEN, check_landing, check_refused, diff, fenced, file, ops, patch, repository, search, tree,
};
use crate::support::Repository;

fn landing() -> Vec<(&'static str, String, Vec<Expected>)> {
    let titled = file("lib/x.ts", "new\n").replacen("~~~~\n", "~~~~ts title=\"lib/x.ts\"\n", 1);
    let renamed = "diff --git a/src/a.ts b/src/c.ts\nsimilarity index 90%\nrename from src/a.ts\nrename to src/c.ts\n";
    let program = "diff --git a/lib/x.ts b/lib/x.ts\nold mode 100644\nnew mode 100755\n--- a/lib/x.ts\n+++ b/lib/x.ts\n@@ -1 +1 @@\n-x\n+z\n";
    vec![
        ("a title behind the language", titled, vec![("lib/x.ts", Some("644 new\n"))]),
        ("a mode and a text", fenced(program), vec![("lib/x.ts", Some("755 z\n"))]),
        (
            "a rename under its old name",
            format!("### Patch: src/a.ts\n\n{}", fenced(renamed)),
            vec![("src/a.ts", None), ("src/c.ts", Some("644 1\n2\n3\n4\n5\n6\n7\n8\n9\n10\n"))],
        ),
        (
            "a line behind an open end",
            patch("open.txt", "@@ -1,2 +1,3 @@\n one\n two\n+three\n"),
            vec![("open.txt", Some("644 one\ntwo\nthree"))],
        ),
        (
            "mv, and a new file at the old place",
            ops("mv lib/x.ts lib/z.ts") + &file("lib/x.ts", "new\n"),
            vec![("lib/x.ts", Some("644 new\n")), ("lib/z.ts", Some("644 x\n"))],
        ),
        ("another case", ops("mv lib/x.ts lib/X.ts"), vec![("lib/x.ts", None), ("lib/X.ts", Some("644 x\n"))]),
        (
            "a block that searches for what the one before it wrote",
            format!("### Patch: src/a.ts\n\n{}{}", search("5\n", "five\n"), search("five\n", "fünf\n")),
            vec![("src/a.ts", Some("644 1\n2\n3\n4\nfünf\n6\n7\n8\n9\n10\n"))],
        ),
        ("the same bytes", file("src/a.ts", TEN), vec![]),
        (
            "a tool call in JSON is not a patch",
            "```json\n{\"path\":\"src/a.ts\",\"old\":\"5\",\"new\":\"6\"}\n```\n".to_owned(),
            vec![],
        ),
    ]
}

fn refused() -> Vec<(&'static str, String, &'static str)> {
    let a = |hunk: &str| patch("src/a.ts", hunk);
    vec![
        ("a line of context is missing", a("@@ -2,4 +2,4 @@\n 2\n 4\n-5\n+five\n"), "0011"),
        ("context with line numbers", a("@@ -4,2 +4,2 @@\n 4|4\n-5|5\n+5|five\n"), "0011"),
        ("context with an elision", a("@@ -1,6 +1,6 @@\n 1\n ...\n-5\n+five\n"), "0011"),
        ("entities of HTML", a("@@ -4,2 +4,2 @@\n 4&nbsp;\n-5\n+five\n"), "0011"),
        ("a space that does not break", a("@@ -4,2 +4,2 @@\n 4\u{a0}\n-5\n+five\n"), "0011"),
        ("tabs for spaces", a("@@ -4,2 +4,2 @@\n\t4\n-5\n+five\n"), "0011"),
        ("carriage returns in the hunk alone", a(&EDIT.replace('\n', "\r\n")), "0011"),
        ("the same hunk twice", a(&format!("{EDIT}{EDIT}")), "0011"),
        (
            "a combined diff",
            fenced("diff --cc src/a.ts\n--- a/src/a.ts\n+++ b/src/a.ts\n@@@ -5,1 -5,1 +5,1 @@@\n- 5\n -5\n++five\n"),
            "0013",
        ),
        ("the rest of a file in words", file("src/a.ts", "1\n# (rest of the file remains unchanged)\n"), "0011"),
        ("other lines in words", file("src/a.ts", "five\n// existing code here\n"), "0011"),
        ("a patch and its removal", patch("src/a.ts", EDIT) + &ops("rm src/a.ts"), "0011"),
        (
            "a new file without signs",
            fenced(&diff("n.ts", "@@ -0,0 +1 @@\nn\n").replace("--- a/n.ts", "--- /dev/null")),
            "0011",
        ),
    ]
}

#[test]
fn replies_with_one_meaning_are_applied() {
    check_landing(&landing());
}

#[test]
fn replies_that_were_damaged_on_the_way_change_nothing() {
    check_refused(&refused());
}

#[test]
fn tabs_of_files_are_shown_as_tabs() {
    let repository = Repository::new(&[("Makefile", "all:\n\techo one\n\techo two\n")]);
    fs::write(
        repository.root().join("../reply.md"),
        patch("Makefile", "@@ -1,2 +1,2 @@\n all:\n-    echo one\n+\techo 1\n"),
    )
    .unwrap();
    let said = repository.stan(&["apply", "../reply.md"]);
    assert!(said.starts_with("exit 1") && said.contains("\techo one"), "{said}");
    fs::write(
        repository.root().join("../reply.md"),
        patch("Makefile", "@@ -1,2 +1,2 @@\n all:\n-\techo one\n+\techo 1\n"),
    )
    .unwrap();
    let said = repository.stan(&["apply", "--dry-run", "../reply.md"]);
    assert!(said.contains("-\techo one") && said.contains("+\techo 1"), "{said}");
    let said = repository.stan(&["read", "Makefile:2"]);
    assert!(said.contains("\n\techo one\n"), "{said}");
}

/// The files outside, which must not change.
fn outside(repository: &Repository) -> std::path::PathBuf {
    let folder = repository.root().join("../outside");
    fs::create_dir_all(&folder).unwrap();
    fs::write(folder.join("a.ts"), TEN).unwrap();
    fs::write(folder.join("b.ts"), TEN).unwrap();
    folder
}

#[test]
fn links_that_are_planted_between_apply_and_undo_are_not_written_through() {
    let plant_file = |root: &Path| {
        fs::remove_file(root.join("src/a.ts")).unwrap();
        symlink("../../outside/a.ts", root.join("src/a.ts")).unwrap();
    };
    let plant_folder = |root: &Path| {
        fs::rename(root.join("src"), root.join("moved")).unwrap();
        symlink("../outside", root.join("src")).unwrap();
    };
    let plant_store = |root: &Path| {
        fs::rename(root.join(".stan/patch"), root.join("patch")).unwrap();
        symlink("../patch", root.join(".stan/patch")).unwrap();
    };
    for plant in [&plant_file as &dyn Fn(&Path), &plant_folder, &plant_store] {
        let repository = repository();
        let outside = outside(&repository);
        fs::write(repository.root().join("../reply.md"), patch("src/a.ts", EDIT) + &patch("src/b.ts", EDIT)).unwrap();
        assert!(repository.stan(&["apply", "../reply.md"]).starts_with("exit 0"));
        plant(repository.root());
        let before = tree(repository.root());
        let said = repository.stan(&["apply", "--undo"]);
        assert!(said.starts_with("exit 1"), "{said}");
        assert_eq!(tree(repository.root()), before, "{said}");
        for name in ["a.ts", "b.ts"] {
            assert_eq!(fs::read_to_string(outside.join(name)).unwrap(), TEN);
        }
    }
}

#[test]
fn links_that_are_planted_before_apply_are_not_written_through() {
    let repository = repository();
    let outside = outside(&repository);
    fs::rename(repository.root().join("src"), repository.root().join("moved")).unwrap();
    symlink("../outside", repository.root().join("src")).unwrap();
    let before = tree(repository.root());
    for reply in [patch("src/a.ts", EDIT), file("src/n.ts", "n\n"), ops("rm src/a.ts"), ops("mkdirp src/new")] {
        fs::write(repository.root().join("../reply.md"), reply).unwrap();
        let said = repository.stan(&["apply", "../reply.md"]);
        assert!(said.starts_with("exit 1"), "{said}");
    }
    assert_eq!(tree(repository.root()), before);
    assert_eq!(fs::read_dir(outside).unwrap().count(), 2);
}

/// Replies, undos, baselines, runs and readers at once: each change is atomic, in any order.
fn at_once(rounds: usize) -> [usize; 2] {
    let names: Vec<String> = (0..12).map(|number| format!("src/f{number}.ts")).collect();
    let files: Vec<(&str, &str)> = names.iter().map(|name| (name.as_str(), "zero\n")).collect();
    let repository = Repository::new(&files);
    for word in ["one", "two"] {
        let reply: String = names.iter().map(|name| file(name, &format!("{word}\n"))).collect();
        fs::write(repository.root().join(format!("../{word}.md")), reply).unwrap();
    }
    let start = |arguments: &[&str]| -> Child {
        repository.command(arguments).stdout(Stdio::null()).stderr(Stdio::piped()).spawn().unwrap()
    };
    let mut ended = [0; 2];
    for round in 0..rounds {
        let commands: [&[&str]; 7] = [
            &["apply", "--no-archive", "../one.md"],
            &["apply", "--no-archive", "../two.md"],
            &["apply", "--undo"],
            &["run"],
            &["snap"],
            &["snap", "undo"],
            &["graph"],
        ];
        let children: Vec<Child> =
            (0..commands.len()).map(|at| start(commands[(at + round) % commands.len()])).collect();
        for child in children {
            let output = child.wait_with_output().unwrap();
            let said = String::from_utf8_lossy(&output.stderr).into_owned();
            let is_told = output.status.success()
                || said.contains("no applied reply")
                || said.contains("no older baseline")
                || said.contains("no baseline yet");
            assert!(is_told, "round {round}: {said}");
            ended[usize::from(output.status.success())] += 1;
        }
        let texts: Vec<String> =
            names.iter().map(|name| fs::read_to_string(repository.root().join(name)).unwrap()).collect();
        assert!(texts.iter().all(|text| *text == texts[0]), "round {round}: {texts:?}");
        assert!(!repository.root().join(".stan/patch/pending.json").exists(), "round {round}");
    }
    ended
}

#[test]
fn concurrent_writers_are_serialised() {
    at_once(4);
}

#[test]
#[ignore = "takes minutes"]
fn fifty_rounds_of_concurrent_writers_are_serialised() {
    let [refused, done] = at_once(50);
    println!("writers at once: {done} done, {refused} had nothing to take back");
}
