//! The laws of the cache: with damaged files, files of other origin, or files forged by an attacker who can compute checksums.
//!
//! Inside the repository, only files written by this user's runs are trusted, so no input changes the answer. In a folder of the
//! user's own there are only checksums: forged files may give a run wrong data, but it must end without a panic.

use std::path::Path;
use std::sync::OnceLock;

use stan_engine::graph::{CacheUse, GraphOptions, GraphRequest};
use stan_repo::{MemorySystem, System, SystemExt as _};
use xxhash_rust::xxh3::xxh3_64;

use crate::room::with_room;
use crate::tree::{ROOT, graph_of, json};

const INSIDE: &str = "/r/.stan/cache";
const OUTSIDE: &str = "/c";
const STATE: &str = "/state";

fn index_in(directory: &str) -> String {
    format!("{directory}/graph.index")
}

fn data_in(directory: &str) -> String {
    format!("{directory}/graph.data")
}

/// What precedes the body of an index: magic, key and checksum.
const HEADER: usize = 24;

/// The number of parts of the data. After a timestamp, an index has the length and the checksum of each.
const PARTS: usize = 4;

const TREE: &str = "\
//- /r/package.json
{\"name\": \"self\"}
//- /r/src/a.ts
import {b} from './b'; import type {T} from 'dep'; import './gone'; import 'node:fs';
//- /r/src/b.ts
/** Words. @module */
export * from './c'; export {c as d} from './c';
//- /r/src/c.ts
export const b = 1, c = 2;
//- /r/src/broken.ts
import {a from './b'; (((
//- /r/node_modules/dep/index.d.ts
export interface T {}
";

/// The files that a run writes, and the answers of that run and of the run after an edit without a cache.
struct Genuine {
    index: Vec<u8>,
    data: Vec<u8>,
    cold: [String; 2],
}

/// The first byte selects whether the rest is the two files themselves, or changes to those of a real run; and in which folder
/// they are.
pub fn law(bytes: &[u8]) {
    static GENUINE: OnceLock<Genuine> = OnceLock::new();
    let Some((&mode, rest)) = bytes.split_first() else { return };
    with_room(|| {
        let genuine = GENUINE.get_or_init(Genuine::make);
        let (mut index, mut data) = (genuine.index.clone(), genuine.data.clone());
        match mode % 6 {
            0 => index = rest.to_vec(),
            1 => data = rest.to_vec(),
            2 => change(&mut index, &mut data, rest),
            3 => index.splice(HEADER.., rest.iter().copied()).for_each(drop),
            4 => data = rest.to_vec(),
            _ => change(&mut index, &mut data, rest),
        }
        if mode % 6 >= 3 {
            forge(&mut index, &data);
        }
        let directory = if mode & 0x80 != 0 { INSIDE } else { OUTSIDE };
        check(genuine, directory, &index, &data, mode & 0x40 != 0);
    });
}

/// Applies changes given as triples: an offset and the new byte. Offsets after the index are in the data; the highest one
/// truncates the data.
fn change(index: &mut [u8], data: &mut Vec<u8>, changes: &[u8]) {
    for change in changes.chunks_exact(3) {
        let place = usize::from(u16::from_le_bytes([change[0], change[1]]));
        let in_data = place.checked_sub(index.len());
        match in_data {
            None => index[place] = change[2],
            Some(_) if place == 0xffff => data.truncate(usize::from(change[2]) * 8),
            Some(place) => data.iter_mut().skip(place).take(1).for_each(|byte| *byte = change[2]),
        }
    }
}

fn check(genuine: &Genuine, directory: &str, index: &[u8], data: &[u8], edits: bool) {
    let system = tree();
    if directory == INSIDE {
        // Real seals exist, for files that are replaced afterwards.
        answer(&system, Some(INSIDE), 2);
        system.set_now(system.now() + 1);
    }
    system.set_file(index_in(directory), index).set_file(data_in(directory), data);
    if edits {
        edit(&system);
    }
    let answer = answer(&system, Some(directory), 2);
    if directory == INSIDE || !is_believable(genuine, index) {
        assert_eq!(answer, genuine.cold[usize::from(edits)], "a cache cannot change an answer");
    }
}

/// Whether the index looks like one of ours. It contains the checksum of the data.
fn is_believable(genuine: &Genuine, index: &[u8]) -> bool {
    index != genuine.index
        && index.get(..16) == genuine.index.get(..16)
        && index.get(16..HEADER) == Some(&checksum(index).to_le_bytes())
}

fn checksum(index: &[u8]) -> u64 {
    xxh3_64(index.get(HEADER..).unwrap_or_default())
}

/// Writes the lengths and checksums of the data's parts into the index, and then the index's own checksum.
fn forge(index: &mut [u8], data: &[u8]) {
    let mut rest = data;
    for part in 0..PARTS {
        let start = HEADER + 8 + part * 16;
        let Some(place) = index.get_mut(start..start + 16) else { break };
        let (length, sum_place) = place.split_at_mut(8);
        let wanted = length.iter().rev().fold(0usize, |sum, byte| sum << 8 | usize::from(*byte));
        let (bytes, after) = rest.split_at(if part + 1 == PARTS { rest.len() } else { wanted.min(rest.len()) });
        let (first, second) = bytes.split_at(bytes.len() / 2);
        length.copy_from_slice(&(bytes.len() as u64).to_le_bytes());
        sum_place.copy_from_slice(&(xxh3_64(first).rotate_left(1) ^ xxh3_64(second)).to_le_bytes());
        rest = after;
    }
    let sum = checksum(index).to_le_bytes();
    if let Some(place) = index.get_mut(16..HEADER) {
        place.copy_from_slice(&sum);
    }
}

impl Genuine {
    fn make() -> Self {
        let system = tree();
        let cold = answer(&system, None, 2);
        assert_eq!(answer(&system, Some(OUTSIDE), 2), cold);
        let [index, data] = [index_in(OUTSIDE), data_in(OUTSIDE)].map(|path| {
            let mut bytes = Vec::new();
            system.read_into(Path::new(&path), &mut bytes).expect("a run leaves it");
            bytes
        });
        let mut forged = index.clone();
        forge(&mut forged, &data);
        assert_eq!(forged, index, "checksums are made here as the engine makes them");
        let again = tree();
        again.set_file(index_in(OUTSIDE), &*index).set_file(data_in(OUTSIDE), &*data);
        let request = GraphRequest { cache_directory: Some(OUTSIDE.to_owned()), ..GraphRequest::default() };
        let work = graph_of(2, &again, &GraphOptions::new(ROOT), &request).work;
        assert_eq!(work, CacheUse::Unchanged, "what a run leaves is believed, so that changes to it matter");
        edit(&system);
        let edited = answer(&system, None, 2);
        Self { index, data, cold: [cold, edited] }
    }
}

/// The clock is far ahead of the files, so that none is too recent to be trusted.
fn tree() -> MemorySystem {
    let system = MemorySystem::from_fixture(TREE);
    system.set_dir(INSIDE).set_file("/r/.stan/cache/.gitignore", "*\n").set_dir(OUTSIDE).set_now(1 << 50);
    system
}

/// Makes the next run read the parts that an unchanged run does not need.
fn edit(system: &MemorySystem) {
    system.set_file("/r/src/b.ts", "export * from './c'; import 'dep'; export const e = 1;");
}

fn answer(system: &MemorySystem, cache: Option<&str>, threads: usize) -> String {
    let request = GraphRequest {
        cache_directory: cache.map(str::to_owned),
        state_directory: Some(STATE.to_owned()),
        ..GraphRequest::default()
    };
    json(&graph_of(threads, system, &GraphOptions::new(ROOT), &request))
}
