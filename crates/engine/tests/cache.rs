//! Caches that a run did not write: damaged, foreign, outdated, incomplete, or forged.

mod support;

use proptest::strategy::{Strategy, ValueTree};
use proptest::test_runner::{Config, RngAlgorithm, TestRng, TestRunner};
use stan_engine::Engine;
use stan_engine::config::Config as StanConfig;
use stan_engine::context::{JsonStyle, Repository, build_map};
use stan_engine::graph::{CacheUse, GraphOptions, GraphRequest};
use stan_repo::{MemorySystem, System, SystemExt as _, WritableSystem};
use stan_testkit::Random;
use support::disk::{Disk, MemoryDisk};
use support::edits::{CACHE_FILES, corruption, start};
use support::{cold, json, run};
use xxhash_rust::xxh3::xxh3_64;

const CACHE: &str = "/r/.stan/cache";
const STATE: &str = "/state";
/// A folder of the user's own, where no seal is needed.
const OUTSIDE: &str = "/c";

fn request(stats_only: bool) -> GraphRequest {
    GraphRequest {
        cache_directory: Some(CACHE.into()),
        state_directory: Some(STATE.into()),
        stats_only,
        ..GraphRequest::default()
    }
}

fn request_outside(stats_only: bool) -> GraphRequest {
    GraphRequest { cache_directory: Some(OUTSIDE.into()), ..request(stats_only) }
}

fn warm_disk() -> (MemoryDisk, GraphOptions, String) {
    let disk = MemoryDisk::new();
    start(&disk);
    let options = GraphOptions::new(disk.root());
    let answer = json(&run(disk.system(), &options, &request(false)));
    (disk, options, answer)
}

#[test]
fn a_damaged_cache_never_changes_the_answer() {
    let rng = TestRng::from_seed(RngAlgorithm::ChaCha, &[3; 32]);
    let mut runner = TestRunner::new_with_rng(Config::default(), rng);
    let (disk, options, expected) = warm_disk();
    for _ in 0..150 {
        let damage = corruption().new_tree(&mut runner).expect("nothing is filtered").current();
        disk.corrupt(".stan/cache", damage);
        let first = run(disk.system(), &options, &request(false));
        assert_eq!(json(&first), expected, "{damage:?}");
        for file in CACHE_FILES {
            if disk.read(&format!(".stan/cache/{file}")).is_none() {
                disk.remove(&format!(".stan/cache/{file}"));
            }
        }
        assert_eq!(json(&run(disk.system(), &options, &request(false))), expected, "after {damage:?}");
        assert_eq!(run(disk.system(), &options, &request(false)).work, CacheUse::Unchanged, "the cache is repaired");
    }
}

#[test]
fn a_cache_serves_only_the_options_it_was_made_with() {
    let (disk, options, plain) = warm_disk();
    let changes: &[fn(&mut GraphOptions)] = &[
        |options| options.external_depth = 1,
        |options| options.max_errors = 1,
        |options| options.scan.excludes.push("src/**".into()),
        |options| options.scan.includes.push("gen/**".into()),
        |options| options.resolve.outside_root = false,
        |options| options.extract.description_tags.clear(),
        |options| options.extract.description_limit = 3,
    ];
    for change in changes {
        let mut other = options.clone();
        change(&mut other);
        let outcome = run(disk.system(), &other, &request(false));
        assert!(matches!(outcome.work, CacheUse::Compiled(_)));
        assert_eq!(json(&outcome), json(&cold(disk.system(), &other)));
    }
    assert_eq!(json(&run(disk.system(), &options, &request(false))), plain);
}

/// A cache that was copied along with the repository contains paths of another place.
#[test]
fn a_cache_serves_only_the_place_it_was_made_at() {
    let system = MemorySystem::from_fixture("//- /one/a.ts\nimport './b';\n//- /two/a.ts\n");
    let at = |root: &str| {
        run(&system, &GraphOptions::new(root), &GraphRequest { cache_directory: Some("/c".into()), ..request(false) })
    };
    assert_eq!(at("/one").summary.edge_count(), 1);
    assert_eq!(at("/two").summary.edge_count(), 0);
    assert_eq!(at("/one").summary.edge_count(), 1);
}

#[test]
fn a_folder_that_cannot_be_a_cache_is_ignored() {
    let system = MemorySystem::from_fixture("//- /r/a.ts\n//- /file\n");
    for directory in ["/file", "/file/below", "/r/a.ts"] {
        let outcome = run(
            &system,
            &GraphOptions::new("/r"),
            &GraphRequest { cache_directory: Some(directory.into()), ..request(false) },
        );
        assert_eq!(outcome.summary.node_count(), 1, "{directory}");
    }
}

/// Only stan's own folders get an ignore file; a sibling whose name starts with theirs does not.
#[test]
fn only_stans_own_folder_hides_itself() {
    let system = MemorySystem::from_fixture("//- /r/a.ts\n");
    for (directory, hides) in [("/r/.stan/cache", true), ("/r/.stan-not/cache", false), ("/elsewhere", false)] {
        run(
            &system,
            &GraphOptions::new("/r"),
            &GraphRequest { cache_directory: Some(directory.into()), ..request(false) },
        );
        let ignore_file = format!("{directory}/.gitignore");
        assert_eq!(system.lstat(ignore_file.as_ref()).is_ok(), hides, "{directory}");
    }
}

/// A cache in the user's own folder is trusted if its checksums match. Its contents may be wrong, but must cause neither a panic
/// nor an error.
#[test]
fn forged_caches_do_not_change_the_answer() {
    let (disk, options, _) = warm_disk();
    let system = disk.system();
    run(system, &options, &request_outside(false));
    let (index, data) = both_files(system, OUTSIDE);
    // The forger knows the format: re-encoding an unmodified cache must give the same bytes.
    let mut unchanged = index.clone();
    forge(system, OUTSIDE, &mut unchanged, &data);
    assert_eq!(unchanged, index);
    assert_eq!(run(system, &options, &request_outside(false)).work, CacheUse::Unchanged, "the forger knows the layout");
    let mut random = Random::new(11);
    for round in 0..1_500 {
        let (mut index, mut data) = (index.clone(), data.clone());
        for _ in 0..1 + random.below(3) {
            let target = if random.below(2) == 0 { &mut index } else { &mut data };
            let at = 96 + random.below(target.len() - 96);
            target[at] = [0, 1, 0x7f, 0x80, 0xfe, 0xff, random.below(256) as u8][random.below(7)];
        }
        if random.below(4) == 0 {
            data.truncate(random.below(data.len()));
        }
        forge(system, OUTSIDE, &mut index, &data);
        run(system, &options, &request_outside(round % 3 == 0));
        // An edit makes the run read the parts of the cache that an unchanged run does not need.
        disk.write("src/a.ts", format!("export const a = {round}; import './b'; export * from './lib';").as_bytes());
        forge(system, OUTSIDE, &mut index, &data);
        run(system, &options, &request_outside(round % 3 == 1));
    }
}

fn both_files(system: &dyn WritableSystem, directory: &str) -> (Vec<u8>, Vec<u8>) {
    let read = |name: &str| {
        let mut bytes = Vec::new();
        system.read_into(format!("{directory}/{name}").as_ref(), &mut bytes).expect("a run has left it");
        bytes
    };
    (read("graph.index"), read("graph.data"))
}

/// The strongest attack that a repository can contain: the whole cache of another checkout of the same repository at the same
/// path, with its seals, for another graph. The index is real, so that only the seal distinguishes it from ours.
#[test]
fn a_cache_shipped_with_the_repository_is_not_trusted() {
    let ours = |system: &MemorySystem, state: &str| GraphRequest {
        state_directory: Some(state.to_owned()),
        ..request(system.now() == 0)
    };
    let tree = || MemorySystem::from_fixture("//- /r/.git/HEAD\n//- /r/a.ts\nimport './b';\n//- /r/b.ts\n");
    let options = GraphOptions::new("/r");
    // The attacker's checkout: equal stats, different text.
    let theirs = tree();
    theirs.set_now(100_000_000_000);
    run(&theirs, &options, &ours(&theirs, "/theirs"));
    let mut evil = both_files(&theirs, CACHE);
    let victim = |state: &str, later: i64| {
        let system = tree();
        system.set_now(100_000_000_000);
        // Written in the same order, so that even the inodes are equal.
        run(&system, &options, &ours(&system, state));
        system.set_now(100_000_000_000 + later);
        for entry in theirs.read_dir(CACHE.as_ref()).unwrap() {
            let path = format!("{CACHE}/{}", entry.name.to_str().unwrap());
            let mut bytes = Vec::new();
            theirs.read_into(path.as_ref(), &mut bytes).unwrap();
            system.set_file(path, bytes);
        }
        run(&system, &options, &ours(&system, state)).work
    };
    assert_eq!(victim("/theirs", 0), CacheUse::Unchanged, "the same user, inode and time: what is shipped is complete");
    assert!(matches!(victim("/theirs", 1), CacheUse::Compiled(_)), "written at another time");
    assert!(matches!(victim("/mine-elsewhere", 1), CacheUse::Compiled(_)));

    // Forged over our own cache, with our own seals still in place.
    let system = tree();
    system.set_now(100_000_000_000);
    let truth = json(&run(&system, &options, &request(false)));
    system.set_now(200_000_000_000);
    assert_eq!(run(&system, &options, &request(false)).work, CacheUse::Unchanged);
    forge(&system, CACHE, &mut evil.0, &evil.1);
    let outcome = run(&system, &options, &request(false));
    assert!(matches!(outcome.work, CacheUse::Compiled(_)));
    assert_eq!(json(&outcome), truth);
    assert_eq!(run(&system, &options, &request(false)).work, CacheUse::Unchanged, "it was written again");
}

/// Only `map.data` replaces ours.
#[test]
fn a_map_from_the_repository_is_not_trusted() {
    let disk = MemoryDisk::new();
    start(&disk);
    let config = StanConfig::default();
    let repository = Repository { root: disk.root(), config: &config };
    let work = request(false);
    let document = || {
        let mut bytes = Vec::new();
        build_map(&Engine::new(disk.system()), &repository, &work)
            .expect("a map can be made")
            .write(&mut bytes, JsonStyle::Minified)
            .unwrap();
        bytes
    };
    let truth = document();
    let kept = disk.read(".stan/cache/map.data").expect("a run keeps its map");
    disk.wait(3_000_000_000);
    // The last bytes belong to the map: replace it by one of the same length, with a valid checksum.
    let mut evil = kept.clone();
    let at = evil.windows(4).rposition(|window| window == b"a.ts").expect("it is a node");
    evil[at] = b'z';
    let checksum = xxh3_64(&evil[24..]).to_le_bytes();
    evil[16..24].copy_from_slice(&checksum);
    disk.write(".stan/cache/map.data", &evil);
    assert_eq!(document(), truth);
    assert_eq!(disk.read(".stan/cache/map.data"), Some(kept), "it was written again");
}

#[test]
fn without_a_place_for_the_key_a_cache_in_the_repository_is_not_used() {
    for state in [None, Some("/r/state"), Some("/r/.stan/state")] {
        let system = MemorySystem::from_fixture("//- /r/a.ts\n");
        let request = GraphRequest { state_directory: state.map(str::to_owned), ..request(false) };
        for _ in 0..2 {
            let outcome = run(&system, &GraphOptions::new("/r"), &request);
            assert!(matches!(outcome.work, CacheUse::Compiled(1)), "{state:?}");
        }
        assert!(system.lstat("/r/.stan".as_ref()).is_err(), "{state:?}");
    }
}

/// CI stores the folder and restores it later on another disk.
#[test]
fn a_folder_outside_the_repository_serves_after_it_was_restored() {
    let (disk, options, expected) = warm_disk();
    disk.wait(3_000_000_000);
    run(disk.system(), &options, &request_outside(false));
    disk.wait(3_000_000_000);
    for name in ["graph.data", "graph.index"] {
        let path = format!("{OUTSIDE}/{name}");
        let mut bytes = Vec::new();
        disk.system().read_into(path.as_ref(), &mut bytes).unwrap();
        disk.system().remove_file(path.as_ref()).unwrap();
        disk.system().write_atomic(path.as_ref(), &bytes).unwrap();
    }
    let outcome = run(disk.system(), &options, &request_outside(false));
    assert_eq!((outcome.work, json(&outcome)), (CacheUse::Unchanged, expected));
}

#[test]
fn an_index_that_does_not_know_the_listing_of_the_root_is_refused() {
    let system = MemorySystem::from_fixture("//- /r/a.ts\n");
    system.set_now(100_000_000_000);
    let options = GraphOptions::new("/r");
    run(&system, &options, &request_outside(false));
    assert_eq!(run(&system, &options, &request_outside(false)).work, CacheUse::Unchanged);
    let (mut index, data) = both_files(&system, OUTSIDE);
    // Changes the path of the listed root: the length, then the two bytes.
    let at = index.windows(3).position(|window| window == [2, b'/', b'r']).expect("the root was listed");
    index[at + 2] = b'q';
    system.set_dir("/q").set_times("/q", 0, 0);
    forge(&system, OUTSIDE, &mut index, &data);
    assert!(matches!(run(&system, &options, &request_outside(false)).work, CacheUse::Compiled(_)));
}

/// Writes both files: 24 bytes of magic, key and checksum, then the index: a time, and the length and checksum of each of the
/// data's four parts.
fn forge(system: &dyn WritableSystem, directory: &str, index: &mut [u8], data: &[u8]) {
    let mut rest = data;
    for at in (32..96).step_by(16) {
        let length = u64::from_le_bytes(index[at..at + 8].try_into().expect("eight bytes")) as usize;
        let (part, after) = rest.split_at(length.min(rest.len()));
        let (first, second) = part.split_at(part.len() / 2);
        let checksum = xxh3_64(first).rotate_left(1) ^ xxh3_64(second);
        index[at..at + 8].copy_from_slice(&(part.len() as u64).to_le_bytes());
        index[at + 8..at + 16].copy_from_slice(&checksum.to_le_bytes());
        rest = after;
    }
    let checksum = xxh3_64(&index[24..]);
    index[16..24].copy_from_slice(&checksum.to_le_bytes());
    for (name, bytes) in CACHE_FILES.iter().zip([&*index, data]) {
        system.write_atomic(format!("{directory}/{name}").as_ref(), bytes).expect("memory is writable");
    }
}

/// The names of externals come from manifests that resolution may not have read.
#[test]
fn a_kept_map_does_not_outlive_the_manifests_that_named_its_externals() {
    let disk = MemoryDisk::new();
    disk.write("src/a.ts", b"import '../node_modules/p/data/x.txt'; import '../node_modules/p/sub/y.js';");
    disk.write("node_modules/p/data/x.txt", b"x");
    disk.write("node_modules/p/sub/y.js", b"exports.y = 1;");
    disk.write("node_modules/p/package.json", br#"{"name":"p","version":"1.0.0"}"#);
    let config = StanConfig::default();
    let repository = Repository { root: disk.root(), config: &config };
    let ids = |cache: Option<&str>| -> Vec<String> {
        let request = GraphRequest {
            cache_directory: cache.map(str::to_owned),
            state_directory: Some(STATE.into()),
            ..GraphRequest::default()
        };
        let map = build_map(&Engine::new(disk.system()), &repository, &request).expect("a map can be made").map;
        map.indices().map(|index| map.id(index).to_owned()).filter(|id| id.contains("npm")).collect()
    };
    let check = |expected: &[&str]| {
        disk.wait(3_000_000_000);
        for cache in [Some(CACHE), Some(CACHE), None] {
            assert_eq!(ids(cache), expected, "{cache:?}");
        }
        disk.wait(3_000_000_000);
    };
    let npm = ".stan/context/npm";
    check(&[&format!("{npm}/p/1.0.0/data/x.txt"), &format!("{npm}/p/1.0.0/sub/y.js")]);
    disk.write("node_modules/p/package.json", br#"{"name":"p","version":"2.0.0"}"#);
    check(&[&format!("{npm}/p/2.0.0/data/x.txt"), &format!("{npm}/p/2.0.0/sub/y.js")]);
    disk.write("node_modules/p/data/package.json", br#"{"name":"inner","version":"3.0.0"}"#);
    // A manifest inside a package does not name a package.
    check(&[&format!("{npm}/p/2.0.0/data/x.txt"), &format!("{npm}/p/2.0.0/sub/y.js")]);
    disk.remove("node_modules/p/data/package.json");
    check(&[&format!("{npm}/p/2.0.0/data/x.txt"), &format!("{npm}/p/2.0.0/sub/y.js")]);
}

/// An unchanged run uses the cached map only if it belongs to the graph in the cache.
#[test]
fn an_unchanged_run_uses_the_stored_map_and_no_other() {
    let disk = MemoryDisk::new();
    start(&disk);
    let config = StanConfig::default();
    let repository = Repository { root: disk.root(), config: &config };
    let document = |cache: Option<&str>| -> Vec<u8> {
        disk.wait(3_000_000_000);
        let request = GraphRequest {
            cache_directory: cache.map(str::to_owned),
            state_directory: Some(STATE.into()),
            ..GraphRequest::default()
        };
        let mut bytes = Vec::new();
        build_map(&Engine::new(disk.system()), &repository, &request)
            .expect("a map can be made")
            .write(&mut bytes, JsonStyle::Minified)
            .unwrap();
        bytes
    };
    let (map_file, data_file) = (".stan/cache/map.data", ".stan/cache/graph.data");
    let first = document(Some(CACHE));
    let kept = disk.read(map_file).expect("a run keeps its map");

    // Without the data no graph can be loaded: a run that needed one would rebuild it and write the data again.
    disk.remove(data_file);
    assert_eq!(document(Some(CACHE)), first);
    assert!(disk.read(data_file).is_none(), "the kept map was enough");

    // The map of an earlier run is valid, but belongs to another graph.
    disk.write("src/new.ts", b"export const later = 1;");
    let second = document(Some(CACHE));
    assert_ne!(second, first);
    assert_ne!(disk.read(map_file).as_ref(), Some(&kept));
    disk.write(map_file, &kept);
    assert_eq!(document(Some(CACHE)), second, "not the map of another run");
    assert_ne!(disk.read(map_file), Some(kept), "and it was replaced");
    assert_eq!(document(None), second);
}

/// In a hostile repository, stan's folder or its cache is a symlink: the target must not change.
#[test]
fn nothing_is_written_or_read_through_a_link() {
    for links in ["//- link /r/.stan -> /out\n", "//- link /r/.stan/cache -> /out\n", "//- link /r/.stan -> nowhere\n"]
    {
        let system = MemorySystem::from_fixture(&format!("//- /r/a.ts\n//- /out/secret\n{links}"));
        let outcome = run(&system, &GraphOptions::new("/r"), &request(false));
        assert_eq!(outcome.summary.node_count(), 1, "{links}");
        assert_eq!(system.read_dir("/out".as_ref()).unwrap().len(), 1, "{links}");
    }
    let (disk, options, expected) = warm_disk();
    let index = disk.read(".stan/cache/graph.index").expect("a run has left it");
    disk.system().write_atomic("/elsewhere".as_ref(), &index).unwrap();
    disk.remove(".stan/cache/graph.index");
    disk.link(".stan/cache/graph.index", "/elsewhere");
    let outcome = run(disk.system(), &options, &request(false));
    assert!(matches!(outcome.work, CacheUse::Compiled(_)), "an index behind a link is not believed");
    assert_eq!(json(&outcome), expected);
}
