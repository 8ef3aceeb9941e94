//! `World` on small trees in memory: answers, what is looked at for them, and what is remembered.

use std::path::Path;
use std::sync::Mutex;
use std::{io, path::PathBuf};

use stan_repo::{DirEntry, EntryKind, Files, MemorySystem, ScanOptions, Stat, System, World, real_path, scan, sha256};

const FIXTURE: &str = "
    //- /place/secret
    //- /place/node_modules/up/index.js
    //- /place/lib/x.ts
    //- /place/r/src/a.ts
    A
    //- /place/r/src/b/index.ts
    //- /place/r/node_modules/p/package.json
    {}
    //- link /place/r/node_modules/w -> ../packages/w
    //- /place/r/packages/w/index.ts
    //- link /place/r/packages/w/self -> .
    //- link /place/r/circle -> circle/x
    //- link /place/r/dangling -> gone
    //- link /place/r/chain1 -> chain2
    //- link /place/r/chain2 -> src/a.ts
    //- link /place/r/out -> ../lib
    //- link /place/r/absolute -> /place/r/src
    ";

#[track_caller]
fn check(path: &str, kind: Option<EntryKind>, real: Option<&str>) {
    let system = MemorySystem::from_fixture(FIXTURE);
    system.set_other("/place/r/pipe");
    let universe = scan(&system, Path::new("/place/r"), &ScanOptions::default());
    for universe in [None, Some(&universe)] {
        let world = World::new(&system, "/place/r", universe);
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
    check("/place", directory, Some("/place"));
    check("/place/r", directory, Some("/place/r"));
    check("/place/r/src", directory, Some("/place/r/src"));
    check("/place/r/src/a.ts", file, Some("/place/r/src/a.ts"));
    check("/place/r/src/a.ts/x", None, None);
    check("/place/r/src/none/at/all.ts", None, None);
    check("/place/r/node_modules/w/index.ts", file, Some("/place/r/packages/w/index.ts"));
    check("/place/r/node_modules/w", directory, Some("/place/r/packages/w"));
    check("/place/r/node_modules/w/self/self/self/index.ts", file, Some("/place/r/packages/w/index.ts"));
    check("/place/r/circle", None, None);
    check("/place/r/circle/y", None, None);
    check("/place/r/dangling", None, None);
    check("/place/r/chain1", file, Some("/place/r/src/a.ts"));
    check("/place/r/out/x.ts", file, Some("/place/lib/x.ts"));
    check("/place/r/absolute/b/index.ts", file, Some("/place/r/src/b/index.ts"));
    check("/place/node_modules/up/index.js", file, Some("/place/node_modules/up/index.js"));
    check("/place/node_modules/none/index.js", None, None);
    check("/node_modules/none", None, None);
    check("/place/r/pipe", None, Some("/place/r/pipe"));
}

#[test]
fn lists_follow_links_and_leave_out_what_leads_nowhere() {
    let system = MemorySystem::from_fixture(FIXTURE);
    let world = World::new(&system, "/place/r", None);
    let names =
        |path: &str| world.list(path).into_iter().map(|(name, kind)| format!("{name} {kind:?}")).collect::<Vec<_>>();
    let expected =
        ["absolute Dir", "chain1 File", "chain2 File", "node_modules Dir", "out Dir", "packages Dir", "src Dir"];
    assert_eq!(names("/place/r"), expected);
    assert_eq!(names("/place/r/node_modules"), ["p Dir", "w Dir"]);
    assert_eq!(names("/place/node_modules"), ["up Dir"]);
    assert_eq!(names("/place"), Vec::<String>::new(), "foreign directories are not listed");
    assert_eq!(names("/place/r/none"), Vec::<String>::new());
}

#[test]
fn reading() {
    let system = MemorySystem::from_fixture(FIXTURE);
    system.set_file("/place/r/huge", vec![b' '; (16 << 20) + 1]).set_file("/place/r/large", vec![b' '; 16 << 20]);
    system.set_file("/place/r/closed", "").set_unreadable("/place/r/closed", true);
    let world = World::new(&system, "/place/r", None);
    assert_eq!(world.read("/place/r/chain1").as_deref(), Some(b"A\n".as_slice()));
    assert_eq!(world.read_file("/place/r/chain1").unwrap().digest, sha256(b"A\n"));
    assert_eq!(world.read("/place/r/large").map(|bytes| bytes.len()), Some(16 << 20));
    let reasons =
        ["huge", "closed", "src", "none"].map(|name| world.read_file(&format!("/place/r/{name}")).unwrap_err());
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
    let universe = scan(&system.inner, Path::new("/place/r"), &ScanOptions::default());
    let world = World::new(&system, "/place/r", universe_too.then_some(&universe));
    for _ in 0..2 {
        paths.iter().for_each(|path| _ = world.kind(path));
    }
    drop(world);
    system.asked.into_inner().unwrap()
}

#[test]
fn one_listing_answers_for_a_directory_and_for_missing_ones() {
    let candidates = ["/place/r/src/x.ts", "/place/r/src/x/index.ts", "/place/r/src/x/y/z.ts", "/place/r/src/a.ts"];
    assert_eq!(
        asked_for(false, &candidates),
        ["stat /place/r", "list /place/r", "stat /place/r/src", "list /place/r/src"]
    );
    assert_eq!(asked_for(true, &candidates), Vec::<String>::new());
}

#[test]
fn foreign_directories_are_probed_and_not_listed() {
    let above = ["/place/node_modules/p/index.js", "/node_modules/p/index.js", "/node_modules/q/index.js"];
    assert_eq!(
        asked_for(true, &above),
        ["stat /place/node_modules", "stat /place/node_modules", "list /place/node_modules", "stat /node_modules"]
    );
    assert_eq!(asked_for(true, &["/place/lib/x.ts"]), ["stat /place/lib", "stat /place/lib/x.ts"]);
}

#[test]
fn observations_tell_whether_anything_changed() {
    let system = MemorySystem::from_fixture(FIXTURE);
    let universe = scan(&system, Path::new("/place/r"), &ScanOptions::default());
    let world = World::new(&system, "/place/r", Some(&universe));
    let paths = [
        "/place/r/node_modules/w/index.ts",
        "/place/r/node_modules/p/package.json",
        "/node_modules/p",
        "/place/lib/y.ts",
    ];
    paths.iter().for_each(|path| _ = world.read(path));
    let mut observations = world.observations();
    assert!(observations.directories.iter().all(|directory| directory.path.contains("node_modules")));
    observations.merge(universe.observations("/place/r"));
    assert!(observations.directories.is_sorted_by(|a, b| a.path < b.path));
    assert_eq!(observations.changes(&system, 0), Vec::<&str>::new());
    system
        .set_file("/place/r/node_modules/p/package.json", "{ }")
        .set_file("/place/r/node_modules/p/index.js", "")
        .set_file("/place/r/src/a.ts", "not read before")
        .set_file("/node_modules/p", "")
        .remove("/place/r/node_modules/w")
        .set_link("/place/r/node_modules/w", "../src");
    let expected =
        ["/node_modules", "/place/r/node_modules/p", "/place/r/node_modules/p/package.json", "/place/r/node_modules/w"];
    assert_eq!(observations.changes(&system, 0), expected);
}

#[test]
fn many_threads_get_the_same_answers() {
    use rayon::prelude::*;
    let system = MemorySystem::from_fixture(FIXTURE);
    let world = World::new(&system, "/place/r", None);
    let found: usize = (0..4000usize)
        .into_par_iter()
        .filter(|i| {
            world.is_file(if i % 2 == 0 { "/place/r/node_modules/w/index.ts" } else { "/place/r/absolute/c.ts" })
        })
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

/// A manifest or configuration is read where it lies, in installed packages, and in packages that are linked as a whole. One
/// that is itself a link out of the root would have any file read; so would a name that is no JSON.
#[test]
fn what_lies_outside_is_read_where_it_belongs_alone() {
    let system = MemorySystem::from_fixture(
        "
        //- /homes/secret.json
        {}
        //- /homes/key.pem
        {}
        //- /homes/linked/package.json
        {}
        //- /store/node_modules/p/package.json
        {}
        //- /r/inside.json
        {}
        //- link /r/package.json -> ../homes/secret.json
        //- link /r/tsconfig.json -> inside.json
        //- link /r/node_modules/linked -> ../../homes/linked
        //- link /r/node_modules/p -> /store/node_modules/p
        //- link /r/node_modules/evil/package.json -> /homes/secret.json
        //- link /r/out -> ../home
        ",
    );
    for (path, always, staying_inside) in [
        ("/r/inside.json", true, true),
        ("/r/tsconfig.json", true, true),
        ("/r/node_modules/p/package.json", true, true),
        ("/r/node_modules/linked/package.json", true, false),
        ("/homes/secret.json", true, false),
        ("/r/package.json", false, false),
        ("/r/node_modules/evil/package.json", false, false),
        ("/homes/key.pem", false, false),
        ("/r/out/key.pem", false, false),
    ] {
        let read = |stays: bool| World::new(&system, "/r", None).staying_inside(stays).read(path).is_some();
        assert_eq!((read(false), read(true)), (always, staying_inside), "{path}");
    }
}

/// What was a file when the directory was listed, and is swapped for a link afterwards, is not read through it.
#[cfg(target_os = "linux")]
#[test]
fn a_link_that_appears_meanwhile_is_not_followed() {
    use stan_repo::{OsSystem, WritableSystem};

    let folder = tempfile::tempdir().unwrap();
    let root = real_path(&OsSystem, folder.path()).unwrap();
    let at = |name: &str| folder.path().join(name);
    OsSystem.create_dir_all(&at("secret")).unwrap();
    OsSystem.create_dir_all(&at("below")).unwrap();
    for name in ["secret/package.json", "below/package.json", "package.json"] {
        OsSystem.write_atomic(&at(name), b"{}").unwrap();
    }
    let world = World::new(&OsSystem, &root, None);
    let paths = [format!("{root}/package.json"), format!("{root}/below/package.json")];
    for path in &paths {
        assert_eq!(world.kind(path), Some(EntryKind::File));
        assert!(world.read_file(path).is_ok(), "{path}");
    }
    OsSystem.remove_file(&at("package.json")).unwrap();
    std::os::unix::fs::symlink("secret/package.json", at("package.json")).unwrap();
    OsSystem.rename(&at("below"), &at("before")).unwrap();
    std::os::unix::fs::symlink("secret", at("below")).unwrap();
    for path in &paths {
        assert_eq!(world.kind(path), Some(EntryKind::File), "the listing is of before");
        assert!(world.read_file(path).is_err(), "{path}");
    }
}
