//! Cached results about secrets (clean contents, outlines, the last run) are valid for one version of the rules: after an update,
//! every text is searched again. The cache is in the user's own folder, where files are trusted, so that a test can edit them.
//! Each test also shows that the same edit with the current version is trusted.

mod support;

use stan_engine::Engine;
use stan_engine::config::Config;
use stan_engine::context::reports::{ArchiveMode, RunReport};
use stan_engine::context::{NoProgress, Repository, RunRequest, run};
use stan_engine::graph::GraphRequest;
use stan_engine::outline::{AnswerSize, FindRequest, find};
use stan_engine::tokens::Tokenizer;
use stan_repo::sha256;
use support::disk::{Disk, MemoryDisk};
use support::edits::start;

const SECRET: &[u8] = b"-----BEGIN RSA PRIVATE KEY-----\nMIIEpAIBAAKCAQEA0Z3VS5JJcds3xfn/ygWyF8PbnGy0AHB7\n";

/// The body follows magic bytes, a key and a checksum.
const HEAD: usize = 24;

fn work() -> GraphRequest {
    GraphRequest {
        cache_directory: Some("/cache".to_owned()),
        state_directory: Some("/state".into()),
        ..GraphRequest::default()
    }
}

fn archive(disk: &MemoryDisk, mode: ArchiveMode) -> RunReport {
    disk.wait(3_000_000_000);
    let config = Config::default();
    let repository = Repository { root: disk.root(), config: &config };
    let request = RunRequest { tokens: Some(Tokenizer::Bytes4), ..RunRequest::new(mode, work()) };
    run(&Engine::new(disk.system()), &repository, &request, &mut NoProgress).expect("it can be archived")
}

fn body(disk: &MemoryDisk, name: &str) -> Vec<u8> {
    disk.read(&format!("/cache/{name}")).expect("it is kept")[HEAD..].to_vec()
}

/// Replaces the body of a cache file and updates the checksum.
fn replace(disk: &MemoryDisk, name: &str, body: &[u8]) {
    let path = format!("/cache/{name}");
    let kept = disk.read(&path).expect("it is kept");
    let checksum = xxhash_rust::xxh3::xxh3_64(body).to_le_bytes();
    disk.write(&path, &[&kept[..HEAD - 8], &checksum, body].concat());
}

/// The body with another rules version in the first place where the current one occurs.
fn by_other_rules(body: &[u8]) -> Vec<u8> {
    let (current, other) = (stan_secrets::VERSION.to_le_bytes(), (stan_secrets::VERSION - 1).to_le_bytes());
    let at = body.windows(4).position(|bytes| bytes == current).expect("the version of the rules is kept");
    [&body[..at], &other, &body[at + 4..]].concat()
}

#[test]
fn contents_that_other_rules_found_clean_are_searched_again() {
    let disk = MemoryDisk::new();
    start(&disk);
    disk.write("secret.txt", SECRET);
    assert_eq!(archive(&disk, ArchiveMode::Plain).secrets.len(), 1);
    let old = body(&disk, "clean.data");
    // The version, the length, and the sorted first halves of digests.
    let (version, keys) = (&old[..8], &old[16..]);
    let number = |key: &[u8]| u128::from_le_bytes(key.try_into().expect("16 bytes"));
    let mut keys: Vec<u128> = keys.chunks(16).map(number).collect();
    keys.push(number(&sha256(SECRET).0[..16]));
    keys.sort_unstable();
    let list: Vec<u8> = keys.iter().flat_map(|key| key.to_le_bytes()).collect();
    let forged = [version, &(list.len() as u64).to_le_bytes(), &list].concat();
    replace(&disk, "clean.data", &forged);
    assert_eq!(archive(&disk, ArchiveMode::Plain).secrets.len(), 0, "the user's own list is believed");
    replace(&disk, "clean.data", &by_other_rules(&forged));
    assert_eq!(archive(&disk, ArchiveMode::Plain).secrets.len(), 1);
}

#[test]
fn outlines_that_were_made_with_other_rules_are_made_again() {
    let disk = MemoryDisk::new();
    disk.write("a.ts", b"export function openDoor() {}\n");
    let search = || {
        let config = Config::default();
        let repository = Repository { root: disk.root(), config: &config };
        let request = FindRequest { words: vec!["door".to_owned()], size: AnswerSize::default(), work: work() };
        let found = find(&Engine::new(disk.system()), &repository, &request).unwrap_or_default();
        found.symbols.into_iter().map(|symbol| symbol.name).collect::<Vec<_>>()
    };
    let truth = search();
    let mut forged = body(&disk, "outlines.data");
    let places: Vec<usize> = (0..forged.len() - 8).filter(|at| &forged[*at..at + 8] == b"openDoor").collect();
    places.into_iter().for_each(|at| forged[at] = b'0');
    replace(&disk, "outlines.data", &forged);
    assert_ne!(search(), truth, "the user's own outlines are believed");
    replace(&disk, "outlines.data", &by_other_rules(&forged));
    assert_eq!(search(), truth);
}

#[test]
fn a_run_that_was_searched_by_other_rules_is_not_repeated() {
    let disk = MemoryDisk::new();
    start(&disk);
    disk.write("secret.txt", SECRET);
    disk.write(".stan/context/dependency.state.json", br#"{"v":2,"i":[]}"#);
    for _ in 0..4 {
        archive(&disk, ArchiveMode::Context);
    }
    // Only a run that is not repeated needs the map.
    let is_repeated = || {
        let map = disk.read("/cache/map.data").expect("a run keeps its map");
        disk.system().remove_file("/cache/map.data".as_ref()).expect("it is there");
        archive(&disk, ArchiveMode::Context);
        let is_repeated = disk.read("/cache/map.data").is_none();
        if is_repeated {
            disk.write("/cache/map.data", &map);
        }
        is_repeated
    };
    assert!(is_repeated());
    let kept = body(&disk, "run.data");
    replace(&disk, "run.data", &kept);
    assert!(is_repeated(), "the user's own report is believed");
    replace(&disk, "run.data", &by_other_rules(&kept));
    assert!(!is_repeated());
}
