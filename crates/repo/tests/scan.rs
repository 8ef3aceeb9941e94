//! The scan on small trees in memory: every rule of the universe that does not come from git.

use std::path::Path;

use stan_repo::{EntryKind, MemorySystem, ScanOptions, System, Universe, scan, scan_top};

fn options(includes: &[&str], excludes: &[&str]) -> ScanOptions {
    let owned = |globs: &[&str]| globs.iter().map(|glob| (*glob).to_owned()).collect();
    ScanOptions { includes: owned(includes), excludes: owned(excludes), ..ScanOptions::default() }
}

fn scan_with(fixture: &str, options: &ScanOptions) -> Universe {
    scan(&MemorySystem::from_fixture(fixture), Path::new("/"), options)
}

fn files(universe: &Universe) -> Vec<&str> {
    universe.files.iter().map(AsRef::as_ref).collect()
}

fn problems(universe: &Universe) -> Vec<String> {
    universe.problems.iter().map(ToString::to_string).collect()
}

/// Files and problems of a tree at `/`.
#[track_caller]
fn check(fixture: &str, expected_files: &[&str], expected_problems: &[&str]) {
    let universe = scan_with(fixture, &ScanOptions::default());
    assert_eq!(files(&universe), expected_files);
    assert_eq!(problems(&universe), expected_problems);
}

#[track_caller]
fn check_globs(fixture: &str, includes: &[&str], excludes: &[&str], expected: &[&str]) {
    assert_eq!(files(&scan_with(fixture, &options(includes, excludes))), expected);
}

#[test]
fn ignore_rules_apply_without_a_repository() {
    check(
        "
        //- /.gitignore
        dist/
        *.log
        //- /a.log
        //- /dist/x.js
        //- /src/.gitignore
        !keep.log
        //- /src/keep.log
        //- /src/a.ts
        ",
        &[".gitignore", "src/.gitignore", "src/a.ts", "src/keep.log"],
        &[],
    );
}

#[test]
fn git_and_node_modules_are_out_at_any_depth() {
    let fixture = "
        //- /.git/config
        //- /a/node_modules/p/index.js
        //- /node_modules/p/index.js
        //- /node_modules/p/README.md
        //- /x.js
        ";
    check(fixture, &["x.js"], &[".git: not a git directory, so tracked files that a rule ignores are left out"]);
    check_globs(fixture, &["**/*.js"], &[], &["x.js"]);
    check_globs(fixture, &["node_modules/**"], &[], &["node_modules/p/README.md", "node_modules/p/index.js", "x.js"]);
    check_globs(fixture, &["**/node_modules/p/*.js"], &["node_modules/**"], &["a/node_modules/p/index.js", "x.js"]);
    check_globs(fixture, &[".git/config"], &[], &[".git/config", "x.js"]);
}

#[test]
fn includes_add_and_excludes_remove() {
    let fixture = "
        //- /.gitignore
        dist
        *.log
        //- /a.log
        //- /b.ts
        //- /dist/.hidden/x.js
        //- /dist/y.js
        ";
    check_globs(fixture, &["dist/**"], &[], &[".gitignore", "b.ts", "dist/.hidden/x.js", "dist/y.js"]);
    check_globs(fixture, &["*.log"], &["b.*"], &[".gitignore", "a.log"]);
    check_globs(fixture, &["dist/**"], &["dist/**"], &[".gitignore", "b.ts"]);
    check_globs(fixture, &[], &["**"], &[]);
}

#[test]
fn ignored_directories_are_not_entered() {
    let fixture = "
        //- /.gitignore
        dist
        //- /dist/a/b/c.js
        //- /src/a.ts
        ";
    let listed = |options: &ScanOptions| -> Vec<String> {
        scan_with(fixture, options).directories.iter().map(|directory| directory.path.to_string()).collect()
    };
    assert_eq!(listed(&ScanOptions::default()), ["", "src"]);
    assert_eq!(listed(&options(&["dist/a/*.js"], &[])), ["", "dist", "dist/a", "src"]);
    assert_eq!(listed(&options(&[], &["src/**"])), [""]);
}

#[test]
fn listings_hold_ignored_entries_too() {
    let universe = scan_with("//- /.gitignore\ndist\n//- /dist/a\n//- link /l -> b\n//- /b\n", &ScanOptions::default());
    let entries: Vec<(&str, EntryKind)> =
        universe.directories[0].entries.iter().map(|(name, kind)| (name.as_ref(), *kind)).collect();
    let expected =
        [(".gitignore", EntryKind::File), ("b", EntryKind::File), ("dist", EntryKind::Dir), ("l", EntryKind::Link)];
    assert_eq!(entries, expected);
}

#[test]
fn only_two_folders_of_stans_own_are_scanned() {
    let fixture = "
        //- /.stan/system/stan.system.md
        //- /.stan/imports/a/b.md
        //- /.stan/output/archive.tar
        //- /.stan/context/x.ts
        //- /.stan/config.yml
        //- link /.stan/x -> ../a.ts
        //- link /cached -> .stan/output/archive.tar
        //- /.standard/a
        //- /sub/.stan/output/x
        //- /a.ts
        ";
    let expected = [".stan/imports/a/b.md", ".stan/system/stan.system.md", ".standard/a", "a.ts", "sub/.stan/output/x"];
    check(fixture, &expected, &[]);
    check_globs(fixture, &["**", ".stan/**"], &[], &expected);
}

#[test]
fn links_to_files_and_folders_are_followed_inside_the_root() {
    check(
        "
        //- /.gitignore
        ignored
        hidden-link
        //- /ignored
        //- /src/a.ts
        //- /z/node_modules/x.js
        //- link /l -> ignored
        //- link /m -> src/a.ts
        //- link /n -> m
        //- link /absolute -> /src/a.ts
        //- link /directory -> src
        //- link /src/through -> ../directory/./through2
        //- link /src/through2 -> ../src/../directory/a.ts
        //- link /module -> z/node_modules/x.js
        //- link /hidden-link -> /nowhere
        ",
        &[".gitignore", "ignored", "src/a.ts"],
        &[],
    );
}

#[test]
fn links_keep_their_own_names_beside() {
    let universe = scan_with("//- /a/b.ts\n//- link /l.ts -> a/b.ts\n//- link /d -> a\n", &ScanOptions::default());
    assert_eq!(universe.aliases, [("l.ts".into(), "a/b.ts".into())]);
}

#[test]
fn only_the_top_folder_is_listed() {
    let fixture = "//- /.gitignore\n*.log\n//- /a.ts\n//- /b.log\n//- /src/c.ts\n//- link /l -> src/c.ts\n";
    let universe = scan_top(&MemorySystem::from_fixture(fixture), Path::new("/"), &options(&["b.log"], &["a.ts"]));
    assert_eq!(files(&universe), [".gitignore", "b.log", "src/c.ts"]);
    assert_eq!(universe.aliases, [("l".into(), "src/c.ts".into())]);
    assert_eq!(universe.directories.len(), 1, "no folder is listed");
}

#[test]
fn the_top_alone_needs_the_index_only_when_a_rule_ignores_a_file() {
    let fixture = "//- /.git/HEAD\nref: refs/heads/main\n//- /.git/objects/x\n//- /.git/refs/x\n//- /.git/index\ndamaged\n//- /.gitignore\n*.log\n/dist/\n//- /a.ts\n//- /dist/b.ts\n";
    let system = MemorySystem::from_fixture(fixture);
    let top = |system: &MemorySystem| scan_top(system, Path::new("/"), &ScanOptions::default());
    let is_told = |universe: &Universe| universe.problems.iter().any(|problem| problem.message.contains("git index"));
    let everything = scan(&system, Path::new("/"), &ScanOptions::default());
    assert!(is_told(&everything), "{:?}", everything.problems);
    assert_eq!(files(&top(&system)), [".gitignore", "a.ts"]);
    assert!(!is_told(&top(&system)), "it was not requested");
    system.set_file("/b.log", b"");
    assert_eq!(files(&top(&system)), [".gitignore", "a.ts"]);
    assert!(is_told(&top(&system)), "an ignored file may be tracked");
}

#[test]
fn links_that_do_not_resolve_inside_the_root_are_problems() {
    let fixture = "
        //- /secret
        //- /r/a
        //- link /r/circle -> circle2
        //- link /r/circle2 -> circle
        //- link /r/dangling -> gone
        //- link /r/dangling2 -> a/b
        //- link /r/outside -> ../secret
        //- link /r/outside2 -> up/secret
        //- link /r/up -> ..
        //- link /r/return -> ../r/a
        //- link /r/self -> self/x
        //- link /r/etc -> /etc/passwd
        //- link /r/back -> d/../a
        ";
    let universe = scan(&MemorySystem::from_fixture(fixture), Path::new("/r"), &ScanOptions::default());
    assert_eq!(files(&universe), ["a"]);
    let expected = [
        "back: link skipped, because its target does not exist",
        "circle: link skipped, because it leads in a circle",
        "circle2: link skipped, because it leads in a circle",
        "dangling: link skipped, because its target does not exist",
        "dangling2: link skipped, because its target does not exist",
        "etc: link skipped, because it leads out of the root",
        "outside: link skipped, because it leads out of the root",
        "outside2: link skipped, because it leads out of the root",
        "self: link skipped, because it leads in a circle",
        "up: link skipped, because it leads out of the root",
    ];
    assert_eq!(problems(&universe), expected);
    let outside =
        universe.probes.iter().filter(|probe| !probe.path.starts_with("/r/") && !probe.path.ends_with(".git"));
    assert_eq!(outside.collect::<Vec<_>>(), Vec::<&stan_repo::ObservedProbe>::new(), "nothing outside is read");
}

#[test]
fn a_root_reached_through_a_link_is_its_real_self() {
    let system = MemorySystem::from_fixture("//- /real/a\n//- link /alias -> real\n//- link /real/l -> /alias/a\n");
    let universe = scan(&system, Path::new("/alias"), &ScanOptions::default());
    assert_eq!((files(&universe), problems(&universe)), (vec!["a"], vec![]));
}

#[cfg(unix)]
#[test]
fn names_that_are_not_utf8_are_reported_and_left_out() {
    use std::os::unix::ffi::OsStringExt;
    let name = |bytes: &[u8]| Path::new("/").join(std::ffi::OsString::from_vec(bytes.to_vec()));
    let system = MemorySystem::new();
    for file in ["a b", "it's", "\"q\"", "new\nline", "ä", "a\u{308}", "-rf", "*", "\\", "\u{202e}x", "tab\t"] {
        system.set_file(Path::new("/").join(file), "");
    }
    system.set_file("/.gitignore", &b"\xfe\nignored*\n"[..]);
    system.set_file(name(b"\xff.ts"), "").set_file(name(b"\xfe"), "").set_file(name(b"ignored\xff"), "");
    system.set_file(name(b"d\xff/x"), "").set_link(name(b"l"), name(b"\xff.ts")).set_other(name(b"pipe\xff"));
    let universe = scan(&system, Path::new("/"), &ScanOptions::default());
    let expected =
        ["\"q\"", "*", "-rf", ".gitignore", "\\", "a b", "a\u{308}", "it's", "new\nline", "tab\t", "ä", "\u{202e}x"];
    assert_eq!(files(&universe), expected);
    let expected = [
        "\\xff.ts: skipped, because its name is not UTF-8",
        "d\\xff: skipped, because its name is not UTF-8",
        "l: link skipped, because its target cannot be read as UTF-8",
    ];
    assert_eq!(problems(&universe), expected);
}

#[test]
fn unreadable_files_and_folders_are_problems() {
    let system = MemorySystem::from_fixture("//- /a/.gitignore\nx\n//- /a/x\n//- /b/y\n//- /c\n");
    system.set_unreadable("/a/.gitignore", true).set_unreadable("/b", true).set_other("/pipe");
    let universe = scan(&system, Path::new("/"), &ScanOptions::default());
    assert_eq!(files(&universe), ["a/.gitignore", "a/x", "c"]);
    let expected = [
        "a/.gitignore: its rules do not apply, because permission denied",
        "b: directory skipped, because permission denied",
    ];
    assert_eq!(problems(&universe), expected);
    let nothing = scan(&system, Path::new("/nowhere"), &ScanOptions::default());
    assert_eq!(nothing.problems.len(), 1);
    assert_eq!(files(&nothing), Vec::<&str>::new());
}

#[test]
fn broken_repositories_are_problems() {
    check(
        "
        //- /.git/HEAD
        ref: refs/heads/main
        //- /.git/index
        garbage
        //- dir /.git/objects
        //- dir /.git/refs
        //- /.git/info/exclude
        x
        //- /x
        //- /y
        ",
        &["y"],
        &[".git/index: the git index was not used, because it is too short; \
             tracked files that a rule ignores are left out"],
    );
    check(
        "//- /.git\ngitdir: /nowhere\n//- /y\n",
        &["y"],
        &[".git: not a valid git file, so tracked files that a rule ignores are left out"],
    );
}

#[test]
fn globs_that_mean_nothing_are_problems() {
    let universe = scan_with("//- /a\n", &options(&["!(a)"], &["{"]));
    assert_eq!(files(&universe), ["a"]);
    let problems = problems(&universe);
    assert!(problems[0].starts_with("!(a): glob in `includes` has no effect"), "{problems:?}");
    assert!(problems[1].starts_with("{: glob in `excludes` has no effect"), "{problems:?}");
}

#[test]
fn the_order_of_listings_and_the_number_of_threads_change_nothing() {
    let system = MemorySystem::new();
    for i in 0..300 {
        system.set_file(format!("/d{}/e{}/f{i}.ts", i % 7, i % 3), "");
    }
    system.set_file("/.gitignore", "*1.ts\n").set_link("/l", "d1/e1/f1.ts").set_link("/m", "gone");
    let scan_on = |threads: usize, seed: u64| {
        system.set_order(seed);
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        pool.install(|| scan(&system, Path::new("/"), &ScanOptions::default()))
    };
    let first = scan_on(1, 0);
    assert!(first.contains("d1/e1/f1.ts") && !first.contains("d4/e2/f11.ts"));
    for seed in 1..20 {
        assert_eq!(scan_on(1 + seed as usize % 4, seed), first);
    }
}

#[test]
fn deep_trees_need_no_stack() {
    let system = MemorySystem::new();
    let deep = "/d".repeat(1500);
    system.set_file(format!("{deep}/f"), "").set_file("/.gitignore", "x\n");
    // A recursive walk would overflow such a stack.
    let pool = rayon::ThreadPoolBuilder::new().num_threads(1).stack_size(128 << 10).build().unwrap();
    let universe = pool.install(|| scan(&system, Path::new("/"), &ScanOptions::default()));
    assert_eq!(universe.files.len(), 2);
    assert_eq!(universe.directories.len(), 1501);
}

#[test]
fn nothing_changed_means_no_changes() {
    let fixture = "
        //- /.gitignore
        x
        //- /a/b.ts
        //- link /l -> a/b.ts
        //- link /gone -> nowhere
        ";
    let system = MemorySystem::from_fixture(fixture);
    let long_after = 10_000_000_000;
    let universe = scan(&system, Path::new("/"), &ScanOptions::default());
    let observations = universe.observations("/");
    assert_eq!(observations.changes(&system, long_after), Vec::<&str>::new());
    let check = |change: &dyn Fn(&MemorySystem), expected: &[&str]| {
        for (now, observed_at) in [(long_after, long_after), (0, 0)] {
            // With a stopped clock, stats never change: only the contents do.
            let system = MemorySystem::from_fixture(fixture);
            change(system.set_now(now));
            assert_eq!(observations.changes(&system, observed_at), expected, "at {now}");
        }
    };
    check(&|_| {}, &[]);
    check(&|system| _ = system.lstat(Path::new("/")), &[]);
    check(&|system| _ = system.set_file("/.gitignore", "x\n"), &[]);
    check(&|system| _ = system.set_file("/.gitignore", "y\n"), &["/.gitignore"]);
    check(&|system| _ = system.set_file("/a/b.ts", "changed"), &[]);
    check(&|system| _ = system.set_file("/a/c.ts", ""), &["/a"]);
    check(&|system| _ = system.set_file("/nowhere", ""), &["/", "/nowhere"]);
    check(&|system| _ = system.set_file("/.git/HEAD", ""), &["/", "/.git"]);
    check(&|system| _ = system.remove("/l").set_link("/l", "a"), &["/l"]);
}
