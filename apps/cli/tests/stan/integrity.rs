//! Corruption between a context run and a frozen one, with the real program: exit code 3 (1 if a document can no longer be
//! parsed), a message with the node, the expected and the actual value, and all outputs unchanged. A thousand more cases run in
//! memory, in `crates/engine/tests/context_integrity.rs`.

use std::fs;

use stan_testkit::Random;

use crate::project::{EXTERNAL, MAP, META, NODE, everything, succeeds, thread};

const FROZEN: &[&str] = &["run", "--context", "--frozen"];

/// Replaces the character at a random position after `key` by another one of `alphabet`.
fn with_other_character(text: &str, key: &str, length: usize, alphabet: &[u8], random: &mut Random) -> String {
    let start = text.find(key).unwrap() + key.len();
    let mut bytes = text.as_bytes().to_vec();
    let at = start + random.below(length);
    let others: Vec<u8> = alphabet.iter().copied().filter(|other| *other != bytes[at]).collect();
    bytes[at] = others[random.below(others.len())];
    String::from_utf8(bytes).unwrap()
}

/// The corrupted contents of a file; `None` deletes it.
fn corrupted(round: usize, texts: &[String; 3], random: &mut Random) -> (&'static str, Option<Vec<u8>>) {
    let [external, meta, map] = texts;
    let mut bytes = external.clone().into_bytes();
    let document = |text: String| Some(text.into_bytes());
    let of_node = meta.find(NODE).map(|at| meta.split_at(at)).unwrap();
    let in_meta = |rest: String| document([of_node.0, &rest].concat());
    match round % 8 {
        0 => {
            let at = random.below(bytes.len());
            bytes[at] ^= 1 << random.below(8);
            (EXTERNAL, Some(bytes))
        }
        1 => (EXTERNAL, Some(bytes[..random.below(bytes.len())].to_vec())),
        2 => (EXTERNAL, Some([bytes, vec![b'\n'; 1 + random.below(5)]].concat())),
        3 => (EXTERNAL, None),
        4 => (META, in_meta(with_other_character(of_node.1, "\"s\":", 2, b"123456789", random))),
        5 => (META, in_meta(with_other_character(of_node.1, "\"h\":\"", 21, b"AZaz09-_", random))),
        6 => (MAP, document(with_other_character(map, "\"size\":", 2, b"123456789", random))),
        _ => (MAP, document(with_other_character(map, "\"sha256\":\"", 64, b"0123456789abcdef", random))),
    }
}

#[test]
fn forty_random_corruptions_are_all_found() {
    let repository = thread();
    succeeds(&repository, FROZEN);
    let texts = [EXTERNAL, META, MAP].map(|file| fs::read_to_string(repository.root().join(file)).unwrap());
    let mut random = Random::new(7);
    for round in 0..40 {
        let (file, bytes) = corrupted(round, &texts, &mut random);
        let path = repository.root().join(file);
        let saved = fs::read(&path).unwrap();
        match &bytes {
            Some(bytes) => fs::write(&path, bytes).unwrap(),
            None => fs::remove_file(&path).unwrap(),
        }
        let before = everything(repository.root());
        let output = repository.output(FROZEN, &[]);
        let said = String::from_utf8_lossy(&output.stderr);
        let what = format!("round {round}, {file}: {said}");
        assert_eq!(output.status.code(), Some(3), "{what}");
        assert!(said.contains(NODE) && said.contains("expected") && said.contains("found"), "{what}");
        assert!(everything(repository.root()) == before, "{what}");
        fs::write(&path, saved).unwrap();
    }
    succeeds(&repository, FROZEN);
}

#[test]
fn a_frozen_run_hands_on_no_promise_that_does_not_hold() {
    // Neither file is selected, but the archived map describes both.
    let repository = thread();
    repository.write(".stan/context/dependency.state.json", "{\"v\":2,\"i\":[\"src/helper.ts\"]}\n");
    succeeds(&repository, FROZEN);
    for (file, named) in [(EXTERNAL, NODE), ("src/index.ts", "src/index.ts")] {
        let saved = fs::read_to_string(repository.root().join(file)).unwrap();
        repository.write(file, "export {};\n");
        let before = everything(repository.root());
        let output = repository.output(FROZEN, &[]);
        let said = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(3), "{said}");
        assert!(said.contains(named), "{said}");
        assert!(everything(repository.root()) == before);
        repository.write(file, &saved);
    }
}
