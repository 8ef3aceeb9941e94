//! Runs the fuzz targets on the seeds and on many random changes to them. Deterministic, and works with any compiler.
#![expect(clippy::disallowed_methods, reason = "the seeds are files, and the environment asks for more changes")]
#![expect(clippy::print_stderr, reason = "a finding must be printed before the test fails")]

use std::path::{Path, PathBuf};

use stan_fuzz::{TARGETS, Target};
use stan_testkit::Random;

/// The maximum length of an input: larger ones find no more, and take longer.
const LONGEST: usize = 1 << 14;

/// One test per target, so that they run in parallel and a failure has a name.
macro_rules! replayed {
    ($($name:ident)*) => {
        $(#[test]
        fn $name() {
            replay(stringify!($name));
        })*

        #[test]
        fn every_target_has_its_test_program_seeds_and_dictionary() {
            let names: Vec<&str> = TARGETS.iter().map(|target| target.name).collect();
            assert_eq!(names, [$(stringify!($name)),*]);
            let programs: Vec<String> = files("fuzz_targets").iter().filter_map(|path| stem(path)).collect();
            assert_eq!(names, programs, "fuzz_targets");
            let manifest = std::fs::read_to_string(here().join("Cargo.toml")).unwrap();
            for name in names {
                assert!(manifest.contains(&format!("path = \"fuzz_targets/{name}.rs\"")), "{name} is not in Cargo.toml");
                assert!(files(&format!("seeds/{name}")).len() >= 4, "{name} has seeds");
                assert!(dictionary(name).len() >= 8, "{name} has a dictionary");
            }
        }
    };
}

replayed! {
    cache components config declare diagnose extract git_index globs go ignore integrity jsonc log mcp meta pack patch_record projects python reply resolve rust secrets
    snapshot state tar verify x07_read x07_slice
}

fn replay(name: &str) {
    let target = TARGETS.iter().find(|target| target.name == name).expect("the target is in the table");
    let seeds: Vec<Vec<u8>> = files(&format!("seeds/{name}")).iter().map(|path| std::fs::read(path).unwrap()).collect();
    let dictionary = dictionary(name);
    let mut random = Random::new(0x9e37_79b9_7f4a_7c15);
    for seed in &seeds {
        call(target, seed);
        let mut input = seed.clone();
        for round in 0..changes(target) / seeds.len().max(1) {
            // Apply a few changes on top of each other, then start again from the seed: more changes would rarely leave a valid
            // document.
            if round % 6 == 0 {
                input.clone_from(seed);
            }
            change(&mut input, &seeds, &dictionary, &mut random);
            call(target, &input);
        }
    }
}

/// Runs a target, and saves the input if it fails.
fn call(target: &Target, input: &[u8]) {
    if let Err(panic) = std::panic::catch_unwind(|| (target.law)(input)) {
        let path = std::env::temp_dir().join(format!("stan-fuzz-{}", target.name));
        std::fs::write(&path, input).expect("the input can be kept");
        eprintln!("the input is in {}; replay it: cargo run --bin {} -- FILE", path.display(), target.name);
        std::panic::resume_unwind(panic);
    }
}

/// `STAN_FUZZ_CHANGES` multiplies the number of changes.
fn changes(target: &Target) -> usize {
    let factor: usize = std::env::var("STAN_FUZZ_CHANGES").ok().and_then(|factor| factor.parse().ok()).unwrap_or(1);
    target.changes * factor
}

fn here() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

fn stem(path: &Path) -> Option<String> {
    Some(path.file_stem()?.to_str()?.to_owned())
}

/// The files of a folder, sorted.
fn files(folder: &str) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(here().join(folder)).unwrap_or_else(|error| panic!("{folder}: {error}"));
    let mut paths: Vec<PathBuf> = entries.map(|entry| entry.unwrap().path()).collect();
    paths.sort();
    paths
}

/// The entries of a target's dictionary.
fn dictionary(name: &str) -> Vec<Vec<u8>> {
    let text = std::fs::read_to_string(here().join(format!("dictionaries/{name}.dict"))).unwrap();
    text.lines().filter(|line| line.starts_with('"')).map(unescaped).collect()
}

/// Parses a line of a dictionary in the fuzzer's notation: `\\`, `\"` and `\xAB` between quotes.
fn unescaped(line: &str) -> Vec<u8> {
    let mut word = Vec::new();
    let mut rest = line.trim_matches('"').bytes();
    while let Some(byte) = rest.next() {
        match (byte, byte == b'\\') {
            (byte, false) => word.push(byte),
            _ => match rest.next() {
                Some(b'x') => {
                    let digits: Vec<u8> = rest.by_ref().take(2).collect();
                    let digits = String::from_utf8(digits).expect("digits are ASCII");
                    word.push(u8::from_str_radix(&digits, 16).expect("two digits follow"));
                }
                Some(other) => word.push(other),
                None => word.push(b'\\'),
            },
        }
    }
    word
}

/// Applies one change: a byte, a bit, a cut, a repetition, a dictionary entry, a piece of another seed.
fn change(input: &mut Vec<u8>, seeds: &[Vec<u8>], dictionary: &[Vec<u8>], random: &mut Random) {
    let from = random.below(input.len() + 1);
    let to = (from + 1 + random.below(16)).min(input.len());
    match random.below(7) {
        0 => {
            if let Some(byte) = input.get_mut(from) {
                *byte = random.next() as u8;
            }
        }
        1 => {
            if let Some(byte) = input.get_mut(from) {
                *byte ^= 1 << random.below(8);
            }
        }
        2 => drop(input.drain(from..to)),
        3 => {
            let piece = input[from..to].to_vec();
            input.splice(from..from, piece);
        }
        4 => {
            let other = &seeds[random.below(seeds.len())];
            let start = random.below(other.len() + 1);
            let end = (start + random.below(64)).min(other.len());
            input.splice(from..to, other[start..end].iter().copied());
        }
        _ => {
            let word = &dictionary[random.below(dictionary.len())];
            let replaced = if random.below(2) == 0 { from } else { to };
            input.splice(from..replaced, word.iter().copied());
        }
    }
    input.truncate(LONGEST);
}
