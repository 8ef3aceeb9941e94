//! The seeds, and many random changes to them, through the same functions that the fuzzer calls. Deterministic, and
//! for any compiler.

use std::path::{Path, PathBuf};

/// How many changed inputs are made of each seed; `STAN_FUZZ_ROUNDS` asks for more.
const ROUNDS: usize = 4_000;

#[test]
fn seeds_and_changes_to_them_keep_the_laws() {
    let dictionary = dictionary();
    for (directory, target) in
        [("x07_read", stan_fuzz::x07_read as fn(&[u8])), ("x07_slice", stan_fuzz::x07_slice as fn(&[u8]))]
    {
        let seeds = seeds(directory);
        assert!(seeds.len() >= 4, "{directory} has seeds");
        let mut random = Random(0x9e37_79b9_7f4a_7c15);
        for seed in &seeds {
            target(seed);
            let mut input = seed.clone();
            for round in 0..rounds() {
                // A few changes on top of each other, then a fresh start: most of them leave a module a module.
                if round % 6 == 0 {
                    input.clone_from(seed);
                }
                change(&mut input, &seeds, &dictionary, &mut random);
                target(&input);
            }
        }
    }
}

fn rounds() -> usize {
    std::env::var("STAN_FUZZ_ROUNDS").ok().and_then(|rounds| rounds.parse().ok()).unwrap_or(ROUNDS)
}

fn seeds(directory: &str) -> Vec<Vec<u8>> {
    let directory = Path::new(env!("CARGO_MANIFEST_DIR")).join("seeds").join(directory);
    let mut paths: Vec<PathBuf> = std::fs::read_dir(directory).unwrap().map(|entry| entry.unwrap().path()).collect();
    paths.sort();
    paths.iter().map(|path| std::fs::read(path).unwrap()).collect()
}

/// The words of the dictionary, in the fuzzer's notation without escapes but `\"` and `\\`.
fn dictionary() -> Vec<Vec<u8>> {
    let words = include_str!("../dictionaries/x07.dict").lines().filter(|line| line.starts_with('"'));
    words.map(|line| line.trim_matches('"').replace("\\\"", "\"").replace("\\\\", "\\").into_bytes()).collect()
}

/// One change: a byte, a cut, a repetition, a word, a piece of another seed.
fn change(input: &mut Vec<u8>, seeds: &[Vec<u8>], dictionary: &[Vec<u8>], random: &mut Random) {
    let from = random.below(input.len() + 1);
    let to = (from + 1 + random.below(16)).min(input.len());
    match random.below(6) {
        0 => {
            if let Some(byte) = input.get_mut(from) {
                *byte = random.next() as u8;
            }
        }
        1 => drop(input.drain(from..to)),
        2 => {
            let piece = input[from..to].to_vec();
            input.splice(from..from, piece);
        }
        3 => {
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
    input.truncate(1 << 14);
}

/// The generator xorshift64*: the same numbers everywhere.
struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 ^= self.0 >> 12;
        self.0 ^= self.0 << 25;
        self.0 ^= self.0 >> 27;
        self.0.wrapping_mul(0x2545_f491_4f6c_dd1d) >> 24
    }

    fn below(&mut self, limit: usize) -> usize {
        (self.next() % limit.max(1) as u64) as usize
    }
}
