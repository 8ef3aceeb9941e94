//! `World` on small trees in memory: its answers, what is read for them, and what is recorded.

use std::path::Path;
use std::sync::Mutex;
use std::{io, path::PathBuf};

use stan_repo::{
    AllowedFolder, DirEntry, EntryKind, Files, Links, MemorySystem, Reach, ScanOptions, Stat, System, SystemLayer,
    World, real_path, scan, sha256,
};

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
    check("/place/lib/x.ts", None, None);
    check("/place/r/absolute/b/index.ts", file, Some("/place/r/src/b/index.ts"));
    check("/place/node_modules/up/index.js", file, Some("/place/node_modules/up/index.js"));
    check("/place/node_modules/none/index.js", None, None);
    check("/node_modules/none", None, None);
    check("/place/r/pipe", None, Some("/place/r/pipe"));
}

#[test]
fn lists_follow_links_and_leave_out_dangling_ones() {
    let system = MemorySystem::from_fixture(FIXTURE);
    let world = World::new(&system, "/place/r", None);
    let names =
        |path: &str| world.list(path).into_iter().map(|(name, kind)| format!("{name} {kind:?}")).collect::<Vec<_>>();
    let expected = ["absolute Dir", "chain1 File", "chain2 File", "node_modules Dir", "packages Dir", "src Dir"];
    assert_eq!(names("/place/r"), expected);
    assert_eq!(names("/place/r/node_modules"), ["p Dir", "w Dir"]);
    assert_eq!(names("/place/node_modules"), ["up Dir"]);
    assert_eq!(names("/place"), Vec::<String>::new(), "foreign directories are not listed");
    assert_eq!(names("/place/r/none"), Vec::<String>::new());
}

#[test]
fn files_are_read_through_links_up_to_the_size_limit() {
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

/// Counts the calls of the system.
struct Counting {
    inner: MemorySystem,
    asked: Mutex<Vec<String>>,
}

impl Counting {
    fn note(&self, what: &str, path: &Path) {
        self.asked.lock().unwrap().push(format!("{what} {}", path.display()));
    }
}

impl SystemLayer for Counting {
    type Inner = MemorySystem;
    fn inner(&self) -> &MemorySystem {
        &self.inner
    }
    fn list_dir(&self, path: &Path, links: Links) -> io::Result<Vec<DirEntry>> {
        self.note("list", path);
        self.inner.list_dir(path, links)
    }
    fn lstat(&self, path: &Path) -> io::Result<Stat> {
        self.note("stat", path);
        self.inner.lstat(path)
    }
    fn read_file(&self, path: &Path, links: Links, limit: u64, buffer: &mut Vec<u8>) -> io::Result<Stat> {
        self.note("read", path);
        self.inner.read_file(path, links, limit, buffer)
    }
    fn read_link(&self, path: &Path) -> io::Result<PathBuf> {
        self.note("link", path);
        self.inner.read_link(path)
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
    let outside = ["/place/lib/x.ts", "/place/secret", "/etc/passwd", "/place/r/out/x.ts"];
    assert_eq!(asked_for(true, &outside), ["link /place/r/out"], "nothing is read without consent");
}

#[test]
fn observations_detect_every_change() {
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

/// A manifest or configuration is read in the repository, in installed packages, and in packages that are linked as a whole. If
/// the file itself is a symlink out of the root, it could expose any file; so could a name that is not JSON.
#[test]
fn manifests_behind_links_out_of_the_root_are_not_read() {
    let system = MemorySystem::from_fixture(
        "
        //- /homes/secret.json
        {}
        //- /homes/key.pem
        {}
        //- /homes/linked/package.json
        {\"name\": \"linked\"}
        //- /store/node_modules/p/package.json
        {\"name\": \"p\"}
        //- /r/inside.json
        {}
        //- link /r/package.json -> ../homes/secret.json
        //- link /r/tsconfig.json -> inside.json
        //- link /r/node_modules/linked -> ../../homes/linked
        //- link /r/node_modules/wrong -> ../../homes/linked
        //- link /r/node_modules/p -> /store/node_modules/p
        //- link /r/node_modules/evil/package.json -> /homes/secret.json
        //- link /r/out -> ../home
        ",
    );
    let allowed = [AllowedFolder { spelled: "/homes".to_owned(), real: "/homes".to_owned() }];
    for (path, unasked, allowing, inside) in [
        ("/r/inside.json", true, true, true),
        ("/r/tsconfig.json", true, true, true),
        ("/r/node_modules/p/package.json", true, true, false),
        ("/r/node_modules/linked/package.json", true, true, false),
        ("/r/node_modules/wrong/package.json", false, true, false),
        ("/homes/secret.json", false, true, false),
        ("/r/package.json", false, false, false),
        ("/r/node_modules/evil/package.json", false, false, false),
        ("/homes/key.pem", false, false, false),
        ("/r/out/key.pem", false, false, false),
    ] {
        let read = |reach: Reach| World::new(&system, "/r", None).within(reach).read(path).is_some();
        let answers = (
            read(Reach::new("/r")),
            read(Reach::find(&system, "/r", true, &allowed)),
            read(Reach::find(&system, "/r", false, &[])),
        );
        assert_eq!(answers, (unasked, allowing, inside), "{path}");
    }
}

const LINKED: &str = r#"
    //- /r/src/a.ts
    //- link /r/node_modules/linked -> ../../src/linked
    //- link /r/node_modules/@s/scoped -> /src/scoped
    //- link /r/node_modules/chain -> /global/node_modules/chain
    //- link /global/node_modules/chain -> /src/chain
    //- link /r/node_modules/other -> /src/linked
    //- link /r/node_modules/home -> ../..
    //- link /r/node_modules/up -> ../..
    //- link /r/node_modules/nowhere -> /src/nowhere
    //- link /r/node_modules/file -> /src/linked/main.js
    //- link /r/lib -> ../src/linked
    //- /r/node_modules/real/package.json
    //- link /r/node_modules/real/lib -> /src/linked
    //- /package.json
    {"name": "up"}
    //- /src/linked/package.json
    {"name": "linked"}
    //- /src/linked/main.js
    //- link /src/linked/inner -> main.js
    //- link /src/linked/out -> ../secret.js
    //- link /src/linked/node_modules/dep -> /src/dep
    //- /src/dep/package.json
    {"name": "dep"}
    //- /src/dep/index.js
    //- /src/scoped/package.json
    {"name": "@s/scoped"}
    //- /src/chain/package.json
    {"name": "chain"}
    //- /src/secret.js
"#;

#[test]
fn packages_are_followed_only_by_their_own_name() {
    let system = MemorySystem::from_fixture(LINKED);
    for (path, expected) in [
        ("/r/node_modules/linked/main.js", Ok("/src/linked/main.js")),
        ("/r/node_modules/linked/inner", Ok("/src/linked/main.js")),
        ("/r/node_modules/linked/out", Err(true)),
        ("/r/node_modules/linked/node_modules/dep/index.js", Ok("/src/dep/index.js")),
        ("/r/node_modules/linked/gone.js", Err(false)),
        ("/r/node_modules/@s/scoped", Ok("/src/scoped")),
        ("/r/node_modules/chain", Ok("/src/chain")),
        ("/r/node_modules/other/main.js", Err(true)),
        ("/r/node_modules/home/src/secret.js", Err(true)),
        ("/r/node_modules/up/package.json", Err(true)),
        ("/r/node_modules/nowhere", Err(false)),
        ("/r/node_modules/file", Err(true)),
        ("/r/node_modules/real/lib/main.js", Err(true)),
        ("/r/lib/main.js", Err(true)),
        // Followed or not, the package's own folder is only reached through the symlink.
        ("/src/linked/main.js", Err(true)),
    ] {
        let world = World::new(&system, "/r", None);
        for _ in 0..2 {
            let refusals = world.refusals();
            let real = world.real_path(path).ok_or_else(|| world.refusals() != refusals);
            assert_eq!(real.as_deref().map_err(|refused| *refused), expected, "{path}");
            world.kind("/r/node_modules/linked/main.js");
        }
    }
    let world = World::new(&system, "/r", None);
    world.kind("/r/node_modules/linked/node_modules/dep/index.js");
    assert_eq!(world.alias("/src/linked/main.js"), "/r/node_modules/linked/main.js");
    assert_eq!(world.alias("/src/dep/index.js"), "/r/node_modules/linked/node_modules/dep/index.js");
    assert_eq!(world.alias("/src/secret.js"), "/src/secret.js");
    assert_eq!(world.alias("/r/src/a.ts"), "/r/src/a.ts");
    assert!(world.is_in_linked_package("/r/node_modules/linked") && !world.is_in_linked_package("/r/src"));
}

#[test]
fn the_manifest_of_a_link_is_read_and_nothing_beside_it() {
    let system = Counting { inner: MemorySystem::from_fixture(LINKED), asked: Mutex::default() };
    let world = World::new(&system, "/r", None);
    for _ in 0..2 {
        world.kind("/r/node_modules/other/config.json");
    }
    let observations = world.observations();
    let mut asked = system.asked.lock().unwrap().clone();
    asked.retain(|asked| !asked.contains(" /r"));
    let expected = [
        "stat /src",
        "stat /src/linked",
        "stat /src/linked/package.json",
        "stat /src/linked/package.json",
        "read /src/linked/package.json",
    ];
    assert_eq!(asked, expected);
    assert_eq!(observations.changes(&system.inner, 0), Vec::<&str>::new());
    system.inner.set_file("/src/linked/package.json", r#"{"name": "other"}"#);
    assert_eq!(observations.changes(&system.inner, 0), ["/src/linked/package.json"]);
}

/// A file that was listed and is then replaced by a symlink is not read through it.
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
