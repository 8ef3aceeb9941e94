//! Answers that clients may have: each has a digest, and a client that names it gets only what changed. Kept in memory,
//! bounded; a digest that is no longer known costs a full answer.

use std::collections::{BTreeMap, VecDeque};

use stan_engine::content_digest;

/// How many answers are remembered, and how many bytes of them.
const MOST_ANSWERS: usize = 256;
const MOST_BYTES: usize = 16 << 20;

/// How many digits of the SHA-256 name an answer.
const DIGITS: usize = 16;

/// The answers that were given last.
#[derive(Default)]
pub(crate) struct Answers {
    texts: BTreeMap<String, String>,
    order: VecDeque<String>,
    bytes: usize,
}

/// What is sent for an answer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Sent {
    pub(crate) text: String,
    pub(crate) digest: String,
}

impl Answers {
    /// Remembers an answer and says what a client that has `since` needs.
    pub(crate) fn send(&mut self, text: String, since: Option<&str>) -> Sent {
        let digest = content_digest(text.as_bytes()).chars().take(DIGITS).collect::<String>();
        let sent = match since {
            None => text.clone(),
            Some(since) if since == digest => "unchanged\n".to_owned(),
            Some(since) => match self.texts.get(since) {
                None => format!("the digest {since} is not known any more; the full answer:\n{text}"),
                Some(old) => {
                    let changes = changes(old, &text);
                    if changes.len() < text.len() { changes } else { text.clone() }
                }
            },
        };
        self.remember(&digest, text);
        Sent { text: sent, digest }
    }

    fn remember(&mut self, digest: &str, text: String) {
        if self.texts.contains_key(digest) {
            return;
        }
        self.bytes += text.len();
        self.texts.insert(digest.to_owned(), text);
        self.order.push_back(digest.to_owned());
        while self.order.len() > MOST_ANSWERS || self.bytes > MOST_BYTES {
            let Some(oldest) = self.order.pop_front() else { break };
            self.bytes -= self.texts.remove(&oldest).map_or(0, |text| text.len());
        }
    }
}

/// Lines that are gone with `-`, lines that are new with `+`, each in its order. Not a patch: lines that only moved are not
/// told. Linear.
fn changes(old: &str, new: &str) -> String {
    let mut counts: BTreeMap<&str, i64> = BTreeMap::new();
    new.lines().for_each(|line| *counts.entry(line).or_default() += 1);
    let mut text = String::new();
    for line in old.lines() {
        let count = counts.entry(line).or_default();
        *count -= 1;
        if *count < 0 {
            text.extend(["- ", line, "\n"]);
        }
    }
    // What is left over is new; from the end, so that the last of equal lines are the new ones.
    let mut added: Vec<&str> = Vec::new();
    for line in new.lines().rev() {
        if let Some(count) = counts.get_mut(line).filter(|count| **count > 0) {
            *count -= 1;
            added.push(line);
        }
    }
    added.iter().rev().for_each(|line| text.extend(["+ ", line, "\n"]));
    if text.is_empty() { "only the order of lines changed\n".to_owned() } else { text }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_client_that_names_a_digest_gets_what_changed() {
        let mut answers = Answers::default();
        let old: String = (0..50).map(|number| format!("line {number}\n")).collect();
        let first = answers.send(old.clone(), None);
        assert_eq!(first.text, old);
        assert_eq!(answers.send(old.clone(), Some(&first.digest)).text, "unchanged\n");
        let new = old.replace("line 7\n", "line seven\n").replace("line 9\n", "");
        assert_eq!(answers.send(new, Some(&first.digest)).text, "- line 7\n- line 9\n+ line seven\n");
        assert!(answers.send(old, Some("0000")).text.starts_with("the digest 0000 is not known any more"));
    }

    #[test]
    fn a_change_that_is_longer_than_the_answer_is_the_answer() {
        let mut answers = Answers::default();
        let first = answers.send("a\nb\n".to_owned(), None);
        assert_eq!(answers.send("c\n".to_owned(), Some(&first.digest)).text, "c\n");
    }

    #[test]
    fn equal_lines_are_counted() {
        assert_eq!(changes("x\n", "x\nx\n"), "+ x\n");
        assert_eq!(changes("x\nx\ny\n", "y\nx\n"), "- x\n");
        assert_eq!(changes("a\nb\n", "b\na\n"), "only the order of lines changed\n");
    }

    #[test]
    fn memory_is_bounded() {
        let mut answers = Answers::default();
        for number in 0..2_000 {
            answers.send(format!("{number} {}", "x".repeat(100_000)), None);
        }
        assert!(answers.bytes <= MOST_BYTES && answers.order.len() <= MOST_ANSWERS);
        assert_eq!(answers.texts.len(), answers.order.len());
    }
}
