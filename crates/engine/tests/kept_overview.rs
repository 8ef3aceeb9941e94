//! The overview and the map's token count in the cache: an unchanged run uses them, and every run gives the same result as
//! without a cache.

mod support;

use stan_engine::Engine;
use stan_engine::config::Config;
use stan_engine::context::reports::{ArchiveMode, RunReport};
use stan_engine::context::{Artefact, NoProgress, Repository, RunRequest, run};
use stan_engine::graph::GraphRequest;
use stan_engine::tokens::Tokenizer;
use support::disk::{Disk, MemoryDisk};
use support::edits::start;
use xxhash_rust::xxh3::xxh3_64;

const CACHE: &str = "/r/.stan/cache";
/// The user's own folder, where no seal is needed.
const OUTSIDE: &str = "/c";
const KEPT: &str = ".stan/cache/overview.data";
const DECLARED: &str = ".stan/cache/declared.data";
const GRAPH: &str = ".stan/cache/graph.data";

/// The outputs of a run for its reader.
#[derive(Debug, PartialEq, Eq)]
struct RunResult {
    archive: Vec<u8>,
    overview: Vec<u8>,
    map: Vec<u8>,
    report: String,
}

/// A repository whose map is too large for its archives, so that its tokens are counted.
fn large_map() -> Config {
    let mut config = Config::default();
    config.context.meta_tokens = 10;
    config
}

fn repository() -> MemoryDisk {
    let disk = MemoryDisk::new();
    start(&disk);
    disk.write("src/z.ts", b"import 'p'; export const zebra = 1;");
    disk.write("node_modules/p/index.js", b"exports.p = 1;");
    disk.write("node_modules/p/package.json", br#"{"name":"p","version":"1.0.0"}"#);
    // The very first run writes the snapshot that later ones are compared with.
    outcome(&disk, &Config::default(), ArchiveMode::Context, None);
    disk
}

fn outcome(disk: &MemoryDisk, config: &Config, mode: ArchiveMode, cache: Option<&str>) -> RunResult {
    disk.wait(3_000_000_000);
    // A run that repeats the last one does not read the overview: see `kept_run.rs`.
    for kept in ["/r/.stan/cache/run.data", "/c/run.data"] {
        let _ = disk.system().remove_file(kept.as_ref());
    }
    let repository = Repository { root: disk.root(), config };
    let work = GraphRequest {
        cache_directory: cache.map(str::to_owned),
        state_directory: Some("/state".into()),
        ..GraphRequest::default()
    };
    let request = RunRequest { tokens: Some(Tokenizer::O200k), ..RunRequest::new(mode, work) };
    let report = run(&Engine::new(disk.system()), &repository, &request, &mut NoProgress).expect("it can be archived");
    let read = |artefact| disk.read(&repository.layout().artefact(artefact)).expect("it was written");
    // Which errors are new depends on the cache; which files are written and removed depends on the previous run.
    let report = RunReport { errors_are_known: false, written: Vec::new(), removed: Vec::new(), ..report };
    RunResult {
        archive: read(Artefact::Archive),
        overview: read(Artefact::Overview),
        map: read(Artefact::Meta),
        report: format!("{report:?}"),
    }
}

/// Runs with the cache, then once without: the results must be equal.
fn check(disk: &MemoryDisk, config: &Config, mode: ArchiveMode) -> RunResult {
    let warm = [(); 3].map(|()| outcome(disk, config, mode, Some(CACHE)));
    let cold = outcome(disk, config, mode, None);
    for warm in warm {
        assert_eq!(warm.report, cold.report);
        assert!(warm == cold, "the bytes differ");
    }
    cold
}

#[test]
fn an_unchanged_run_equals_one_without_cache_and_needs_no_graph() {
    let disk = repository();
    for config in [Config::default(), large_map()] {
        for mode in [ArchiveMode::Context, ArchiveMode::Meta] {
            let expected = check(&disk, &config, mode);
            // Computing an overview would need the data and write it again.
            let data = disk.read(GRAPH).expect("a run keeps its graph");
            disk.remove(GRAPH);
            assert_eq!(outcome(&disk, &config, mode, Some(CACHE)), expected);
            assert_eq!(disk.read(GRAPH), None, "the kept overview was enough");
            disk.write(GRAPH, &data);
        }
    }
}

#[test]
fn a_stored_overview_is_not_used_after_its_inputs_change() {
    let disk = repository();
    let config = large_map();
    let first = check(&disk, &config, ArchiveMode::Context);
    assert!(
        String::from_utf8_lossy(&first.overview).contains("p 1.0.0"),
        "{}",
        String::from_utf8_lossy(&first.overview)
    );
    disk.write("node_modules/p/package.json", br#"{"name":"p","version":"2.0.0"}"#);
    let second = check(&disk, &config, ArchiveMode::Context);
    assert_ne!(second.overview, first.overview);
    disk.write("src/z.ts", b"import 'p'; export const walrus = 1;");
    let third = check(&disk, &config, ArchiveMode::Context);
    assert!(String::from_utf8_lossy(&third.overview).contains("walrus"));
    disk.remove("src/z.ts");
    let fourth = check(&disk, &config, ArchiveMode::Context);
    assert!(!String::from_utf8_lossy(&fourth.overview).contains("walrus"));
    let mut shorter = large_map();
    shorter.context.overview_tokens = 150;
    assert_ne!(check(&disk, &shorter, ArchiveMode::Context).overview, fourth.overview);
    assert_ne!(check(&disk, &Config::default(), ArchiveMode::Context).overview, fourth.overview);
    assert_eq!(check(&disk, &config, ArchiveMode::Context), fourth);
}

/// Changes one byte of an overview and updates the checksum.
fn forged(kept: &[u8]) -> Vec<u8> {
    let mut evil = kept.to_vec();
    let at = evil.windows(5).rposition(|window| window == b"zebra").expect("it is an exported name");
    evil[at] = b'c';
    let checksum = xxh3_64(&evil[24..]).to_le_bytes();
    evil[16..24].copy_from_slice(&checksum);
    evil
}

#[test]
fn an_overview_from_the_repository_is_not_trusted() {
    let disk = repository();
    let config = large_map();
    let truth = check(&disk, &config, ArchiveMode::Context);
    let kept = disk.read(KEPT).expect("a run keeps its overview");
    disk.write(KEPT, &forged(&kept));
    assert_eq!(outcome(&disk, &config, ArchiveMode::Context, Some(CACHE)), truth);
    assert_eq!(disk.read(KEPT), Some(kept), "it was written again");
}

#[test]
fn damage_to_a_kept_overview_is_noticed() {
    let disk = repository();
    let config = large_map();
    // Outside the repository there is no seal: only the checksum detects a change.
    let truth = outcome(&disk, &config, ArchiveMode::Context, Some(OUTSIDE));
    let file = format!("{OUTSIDE}/overview.data");
    let read = || {
        let mut bytes = Vec::new();
        stan_repo::SystemExt::read_into(disk.system(), file.as_ref(), &mut bytes).expect("it is there");
        bytes
    };
    let kept = read();
    let mut flipped = kept.clone();
    *flipped.last_mut().expect("it is not empty") ^= 1;
    for damaged in [&kept[..kept.len() - 1], &kept[..30], &kept[..10], b"", &flipped] {
        disk.system().write_atomic(file.as_ref(), damaged).expect("memory is writable");
        assert_eq!(outcome(&disk, &config, ArchiveMode::Context, Some(OUTSIDE)), truth);
        assert_eq!(read(), kept, "it was written again");
    }
    // The overview of another graph is valid but must not be used.
    disk.write("src/z.ts", b"import 'p'; export const walrus = 1;");
    let later = outcome(&disk, &config, ArchiveMode::Context, None);
    for _ in 0..3 {
        disk.system().write_atomic(file.as_ref(), &kept).expect("memory is writable");
        assert_eq!(outcome(&disk, &config, ArchiveMode::Context, Some(OUTSIDE)), later);
    }
}

#[test]
fn names_that_are_not_exported_are_shown_and_kept_by_contents() {
    let disk = repository();
    disk.write("src/z.ts", b"import 'p'; export const zebra = 1; class Herd { gallop() {} }");
    let shown = |overview: &[u8]| String::from_utf8_lossy(overview).contains("zebra : Herd, gallop");
    let first = check(&disk, &Config::default(), ArchiveMode::Context);
    assert!(shown(&first.overview), "{}", String::from_utf8_lossy(&first.overview));
    let kept = disk.read(DECLARED).expect("a run keeps the names");
    // An edit of another file needs a new overview: the names of this file come either from the cache or from its bytes.
    disk.write("src/a.ts", b"export const walrus = 2;");
    assert!(shown(&check(&disk, &Config::default(), ArchiveMode::Context).overview));
    // Names that no run of this user wrote are not trusted.
    let at = kept.windows(6).position(|window| window == b"gallop").expect("it is a method");
    let mut evil = kept;
    evil[at] = b'w';
    let checksum = xxh3_64(&evil[24..]).to_le_bytes();
    evil[16..24].copy_from_slice(&checksum);
    disk.write(DECLARED, &evil);
    disk.write("src/a.ts", b"export const seal = 3;");
    assert!(shown(&check(&disk, &Config::default(), ArchiveMode::Context).overview));
}
