//! Caches that are not what a run left behind: damaged, foreign, older, half of a pair, or made to look right.

mod support;

use proptest::strategy::{Strategy, ValueTree};
use proptest::test_runner::{Config, RngAlgorithm, TestRng, TestRunner};
use stan_engine::graph::{GraphOptions, GraphRequest, Work};
use stan_repo::{MemorySystem, System, WritableSystem};
use support::disk::{Disk, MemoryDisk};
use support::edits::{CACHE_FILES, corruption, start};
use support::random::Random;
use support::{cold, json, run};
use xxhash_rust::xxh3::xxh3_64;

const CACHE: &str = "/r/.stan/cache";

fn request(figures_only: bool) -> GraphRequest {
    GraphRequest { threads: Some(2), cache_directory: Some(CACHE.into()), figures_only, leaves_memory: false }
}

fn warm_disk() -> (MemoryDisk, GraphOptions, String) {
    let disk = MemoryDisk::new();
    start(&disk);
    let options = GraphOptions::new(disk.root());
    let answer = json(&run(disk.system(), &options, &request(false)));
    (disk, options, answer)
}

#[test]
fn damage_is_noticed() {
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
        assert_eq!(run(disk.system(), &options, &request(false)).work, Work::Unchanged, "it mends itself");
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
        assert!(matches!(outcome.work, Work::Compiled(_)));
        assert_eq!(json(&outcome), json(&cold(disk.system(), &other)));
    }
    assert_eq!(json(&run(disk.system(), &options, &request(false))), plain);
}

/// A cache that was copied along with the repository speaks of paths elsewhere.
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
fn a_folder_that_cannot_be_a_cache_is_no_error() {
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

/// Only folders of stan's own get an ignore file, and a neighbour with a longer name is not one.
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

/// Whoever writes a repository can also write its cache, with checksums that fit. Such a cache may lie, but a run that
/// believes it must neither panic nor fail.
#[test]
fn caches_made_to_look_right_do_no_harm() {
    let (disk, options, _) = warm_disk();
    let system = disk.system();
    let read = |name: &str| disk.read(&format!(".stan/cache/{name}")).expect("a run has left it");
    let (index, data) = (read("graph.index"), read("graph.data"));
    // The forger knows the format: what a run left, forged, is what it left.
    let mut unchanged = index.clone();
    forge(system, &mut unchanged, &data);
    assert_eq!(unchanged, index);
    let mut random = Random::new(11);
    for round in 0..1_500 {
        let (mut index, mut data) = (index.clone(), data.clone());
        for _ in 0..1 + random.below(3) {
            let target = if random.below(2) == 0 { &mut index } else { &mut data };
            let at = 40 + random.below(target.len() - 40);
            target[at] = [0, 1, 0x7f, 0x80, 0xfe, 0xff, random.below(256) as u8][random.below(7)];
        }
        if random.below(4) == 0 {
            data.truncate(random.below(data.len()));
        }
        forge(system, &mut index, &data);
        run(system, &options, &request(round % 3 == 0));
        // An edit makes the run look into the parts that an unchanged one does not need.
        disk.write("src/a.ts", format!("export const a = {round}; import './b'; export * from './lib';").as_bytes());
        forge(system, &mut index, &data);
        run(system, &options, &request(round % 3 == 1));
    }
}

/// Writes both files: 24 bytes of magic, key and checksum, then the index, whose second and third number are the data's
/// checksum (of its halves) and length.
fn forge(system: &dyn WritableSystem, index: &mut [u8], data: &[u8]) {
    let (first, second) = data.split_at(data.len() / 2);
    let checksum = xxh3_64(first).rotate_left(1) ^ xxh3_64(second);
    index[32..40].copy_from_slice(&checksum.to_le_bytes());
    index[40..48].copy_from_slice(&(data.len() as u64).to_le_bytes());
    let checksum = xxh3_64(&index[24..]);
    index[16..24].copy_from_slice(&checksum.to_le_bytes());
    for (name, bytes) in CACHE_FILES.iter().zip([&*index, data]) {
        system.write_atomic(format!("{CACHE}/{name}").as_ref(), bytes).expect("memory is writable");
    }
}
