//! Cached outlines: every search finds the same as without a cache, and a second search parses nothing.

mod support;

use stan_engine::Engine;
use stan_engine::config::Config;
use stan_engine::context::Repository;
use stan_engine::graph::GraphRequest;
use stan_engine::outline::{AnswerSize, FindReport, FindRequest, find};
use support::disk::{Disk, MemoryDisk};

const KEPT: &str = ".stan/cache/outlines.data";

/// Empty if no declaration has the words.
fn search(disk: &MemoryDisk, words: &str, with_cache: bool) -> FindReport {
    let config = Config::default();
    let repository = Repository { root: disk.root(), config: &config };
    let work = GraphRequest {
        cache_directory: with_cache.then(|| "/r/.stan/cache".to_owned()),
        state_directory: Some("/state".into()),
        ..GraphRequest::default()
    };
    let request = FindRequest { words: vec![words.to_owned()], size: AnswerSize::default(), work };
    find(&Engine::new(disk.system()), &repository, &request).unwrap_or_default()
}

fn repository() -> MemoryDisk {
    let disk = MemoryDisk::new();
    disk.write("a.ts", b"export function openDoor() {}\nexport class Door { open() {} }\n");
    disk.write("b.py", b"def close_door():\n    pass\n");
    disk.write("notes.md", "The DOOR is open, die T\u{dc}R auch.\n".as_bytes());
    disk.write("kelvin.md", "\u{212a}elvin and \u{130}stanbul\r\nDoor\n".as_bytes());
    disk.write("k.ts", b"export const doorKey = 'AKIAIOSFODNN7EXAMPLQ';\n");
    disk
}

#[test]
fn searches_find_the_same_with_and_without_kept_outlines() {
    let disk = repository();
    for words in
        ["door", "open door", "close", "t\u{fc}r", "kelvin", "istanbul", "\u{69}\u{307}stanbul", "open missing"]
    {
        let expected = search(&repository(), words, false);
        for _ in 0..2 {
            assert_eq!(search(&disk, words, true), expected, "{words}");
        }
    }
    assert!(disk.read(KEPT).is_some());
    let lines = |words: &str| search(&disk, words, true).lines.len();
    assert_eq!(
        (lines("kelvin"), lines("t\u{fc}r"), lines("istanbul")),
        (1, 1, 0),
        "letters are as Unicode makes them small"
    );
}

#[test]
fn a_changed_file_is_read_again() {
    let disk = repository();
    assert_eq!(search(&disk, "openDoor", true).symbols.len(), 1);
    disk.write("a.ts", b"export function openDoor() {}\nexport function openDoors() {}\n");
    assert_eq!(search(&disk, "openDoor", true).symbols.len(), 2);
    assert_eq!(search(&disk, "openDoor", true), search(&disk, "openDoor", false));
}

/// A repository cannot supply cached outlines.
#[test]
fn outlines_from_the_repository_are_not_trusted() {
    let disk = repository();
    let expected = search(&disk, "door", true);
    let kept = disk.read(KEPT).expect("outlines are kept");
    let at = kept.windows(8).position(|bytes| bytes == b"openDoor").expect("its name is in there");
    let mut forged = kept.clone();
    forged[at] = b'0';
    let checksum = xxhash_rust::xxh3::xxh3_64(&forged[24..]).to_le_bytes();
    forged[16..24].copy_from_slice(&checksum);
    disk.wait(1_000_000_000);
    disk.write(KEPT, &forged);
    assert_eq!(search(&disk, "door", true), expected);
}
