//! `World` on small trees in memory: answers, what is looked at for them, and what is remembered.

use std::path::Path;
use std::sync::Mutex;
use std::{io, path::PathBuf};

use stan_repo::{DirEntry, EntryKind, Files, MemorySystem, ScanOptions, Stat, System, World, real_path, scan, sha256};

const FIXTURE: &str = "
    //- /home/secret
    //- /home/node_modules/up/index.js
    //- /home/lib/x.ts
    //- /home/r/src/a.ts
    A
    //- /home/r/src/b/index.ts
    //- /home/r/node_modules/p/package.json
    {}
    //- link /home/r/node_modules/w -> ../packages/w
    //- /home/r/packages/w/index.ts
    //- link /home/r/packages/w/self -> .
    //- link /home/r/circle -> circle/x
    //- link /home/r/dangling -> gone
    //- link /home/r/chain1 -> chain2
    //- link /home/r/chain2 -> src/a.ts
    //- link /home/r/out -> ../lib
    //- link /home/r/absolute -> /home/r/src
    ";

#[track_caller]
fn check(path: &str, kind: Option<EntryKind>, real: Option<&str>) {
    let system = MemorySystem::from_fixture(FIXTURE);
    system.set_other("/home/r/pipe");
    let universe = scan(&system, Path::new("/home/r"), &ScanOptions::default());
    for universe in [None, Some(&universe)] {
        let world = World::new(&system, "/home/r", universe);
        for _ in 0..2 {
            assert_eq!(world.kind(path), kind, "{path}");
            assert_eq!(world.real_path(path).as_deref(), real, "{path}");
        }
        if let Some(expected) = real {
            assert_eq!(real_path(&system, Path::new(path)).unwrap(), expected);
        }
    }
}

#[test]
fn kinds_and_real_paths() {
    let file = Some(EntryKind::File);
    let directory = Some(EntryKind::Dir);
    check("/", directory, Some("/"));
    check("/home", directory, Some("/home"));
    check("/home/r", directory, Some("/home/r"));
    check("/home/r/src", directory, Some("/home/r/src"));
    check("/home/r/src/a.ts", file, Some("/home/r/src/a.ts"));
    check("/home/r/src/a.ts/x", None, None);
    check("/home/r/src/none/at/all.ts", None, None);
    check("/home/r/node_modules/w/index.ts", file, Some("/home/r/packages/w/index.ts"));
    check("/home/r/node_modules/w", directory, Some("/home/r/packages/w"));
    check("/home/r/node_modules/w/self/self/self/index.ts", file, Some("/home/r/packages/w/index.ts"));
    check("/home/r/circle", None, None);
    check("/home/r/circle/y", None, None);
    check("/home/r/dangling", None, None);
    check("/home/r/chain1", file, Some("/home/r/src/a.ts"));
    check("/home/r/out/x.ts", file, Some("/home/lib/x.ts"));
    check("/home/r/absolute/b/index.ts", file, Some("/home/r/src/b/index.ts"));
    check("/home/node_modules/up/index.js", file, Some("/home/node_modules/up/index.js"));
    check("/home/node_modules/none/index.js", None, None);
    check("/node_modules/none", None, None);
    check("/home/r/pipe", None, Some("/home/r/pipe"));
}

#[test]
fn lists_follow_links_and_leave_out_what_leads_nowhere() {
    let system = MemorySystem::from_fixture(FIXTURE);
    let world = World::new(&system, "/home/r", None);
    let names =
        |path: &str| world.list(path).into_iter().map(|(name, kind)| format!("{name} {kind:?}")).collect::<Vec<_>>();
    let expected =
        ["absolute Dir", "chain1 File", "chain2 File", "node_modules Dir", "out Dir", "packages Dir", "src Dir"];
    assert_eq!(names("/home/r"), expected);
    assert_eq!(names("/home/r/node_modules"), ["p Dir", "w Dir"]);
    assert_eq!(names("/home/node_modules"), ["up Dir"]);
    assert_eq!(names("/home"), Vec::<String>::new(), "foreign directories are not listed");
    assert_eq!(names("/home/r/none"), Vec::<String>::new());
}

#[test]
fn reading() {
    let system = MemorySystem::from_fixture(FIXTURE);
    system.set_file("/home/r/huge", vec![b' '; (16 << 20) + 1]).set_file("/home/r/large", vec![b' '; 16 << 20]);
    system.set_file("/home/r/closed", "").set_unreadable("/home/r/closed", true);
    let world = World::new(&system, "/home/r", None);
    assert_eq!(world.read("/home/r/chain1").as_deref(), Some(b"A\n".as_slice()));
    assert_eq!(world.read_file("/home/r/chain1").unwrap().digest, sha256(b"A\n"));
    assert_eq!(world.read("/home/r/large").map(|bytes| bytes.len()), Some(16 << 20));
    let reasons =
        ["huge", "closed", "src", "none"].map(|name| world.read_file(&format!("/home/r/{name}")).unwrap_err());
    let expected = ["it is too large", "permission denied", "it is not a regular file", "it does not exist"];
    assert_eq!(reasons, expected);
}

/// Counts what is asked of the system.
struct Counting {
    inner: MemorySystem,
    asked: Mutex<Vec<String>>,
}

impl Counting {
    fn note(&self, what: &str, path: &Path) {
        self.asked.lock().unwrap().push(format!("{what} {}", path.display()));
    }
}

impl System for Counting {
    fn read_dir(&self, path: &Path) -> io::Result<Vec<DirEntry>> {
        self.note("list", path);
        self.inner.read_dir(path)
    }
    fn lstat(&self, path: &Path) -> io::Result<Stat> {
        self.note("stat", path);
        self.inner.lstat(path)
    }
    fn read_into(&self, path: &Path, buffer: &mut Vec<u8>) -> io::Result<Stat> {
        self.note("read", path);
        self.inner.read_into(path, buffer)
    }
    fn read_link(&self, path: &Path) -> io::Result<PathBuf> {
        self.note("link", path);
        self.inner.read_link(path)
    }
    fn now(&self) -> i64 {
        self.inner.now()
    }
}

fn asked_for(universe_too: bool, paths: &[&str]) -> Vec<String> {
    let system = Counting { inner: MemorySystem::from_fixture(FIXTURE), asked: Mutex::default() };
    let universe = scan(&system.inner, Path::new("/home/r"), &ScanOptions::default());
    let world = World::new(&system, "/home/r", universe_too.then_some(&universe));
    for _ in 0..2 {
        paths.iter().for_each(|path| _ = world.kind(path));
    }
    drop(world);
    system.asked.into_inner().unwrap()
}

#[test]
fn one_listing_answers_for_a_directory_and_for_missing_ones() {
    let candidates = ["/home/r/src/x.ts", "/home/r/src/x/index.ts", "/home/r/src/x/y/z.ts", "/home/r/src/a.ts"];
    assert_eq!(asked_for(false, &candidates), ["stat /home/r", "list /home/r", "stat /home/r/src", "list /home/r/src"]);
    assert_eq!(asked_for(true, &candidates), Vec::<String>::new());
}

#[test]
fn foreign_directories_are_probed_and_not_listed() {
    let above = ["/home/node_modules/p/index.js", "/node_modules/p/index.js", "/node_modules/q/index.js"];
    assert_eq!(
        asked_for(true, &above),
        ["stat /home/node_modules", "stat /home/node_modules", "list /home/node_modules", "stat /node_modules"]
    );
    assert_eq!(asked_for(true, &["/home/lib/x.ts"]), ["stat /home/lib", "stat /home/lib/x.ts"]);
}

#[test]
fn observations_tell_whether_anything_changed() {
    let system = MemorySystem::from_fixture(FIXTURE);
    let universe = scan(&system, Path::new("/home/r"), &ScanOptions::default());
    let world = World::new(&system, "/home/r", Some(&universe));
    let paths =
        ["/home/r/node_modules/w/index.ts", "/home/r/node_modules/p/package.json", "/node_modules/p", "/home/lib/y.ts"];
    paths.iter().for_each(|path| _ = world.read(path));
    let mut observations = world.observations();
    assert!(observations.directories.iter().all(|directory| directory.path.contains("node_modules")));
    observations.merge(universe.observations("/home/r"));
    assert!(observations.directories.is_sorted_by(|a, b| a.path < b.path));
    assert_eq!(observations.changes(&system, 0), Vec::<&str>::new());
    system
        .set_file("/home/r/node_modules/p/package.json", "{ }")
        .set_file("/home/r/node_modules/p/index.js", "")
        .set_file("/home/r/src/a.ts", "not read before")
        .set_file("/node_modules/p", "")
        .remove("/home/r/node_modules/w")
        .set_link("/home/r/node_modules/w", "../src");
    let expected =
        ["/home/r/node_modules/p", "/home/r/node_modules/p/package.json", "/home/r/node_modules/w", "/node_modules"];
    assert_eq!(observations.changes(&system, 0), expected);
}

#[test]
fn many_threads_get_the_same_answers() {
    use rayon::prelude::*;
    let system = MemorySystem::from_fixture(FIXTURE);
    let world = World::new(&system, "/home/r", None);
    let found: usize = (0..4000usize)
        .into_par_iter()
        .filter(|i| world.is_file(if i % 2 == 0 { "/home/r/node_modules/w/index.ts" } else { "/home/r/absolute/c.ts" }))
        .count();
    assert_eq!(found, 2000);
    assert_eq!(world.observations(), world.observations());
}

#[test]
fn deep_paths_need_no_stack() {
    let system = MemorySystem::new();
    let deep = "/d".repeat(1000);
    system.set_file(format!("{deep}/f"), "");
    let world = World::new(&system, "/", None);
    assert!(world.is_file(&format!("{deep}/f")));
    assert!(!world.is_file(&format!("{}/f", "/e".repeat(20_000))));
}
