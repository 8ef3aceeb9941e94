//! The contents of an archive as a sorted map of path → SHA-256, to be stored and compared. Which snapshot is the baseline, and
//! when it is replaced, is decided by the caller.

use std::collections::BTreeMap;

use stan_model::Digest;
use stan_model::json::{JsonKind, JsonTree};
use stan_model::untrusted::write_json_string;

use crate::error::Error;
use crate::names::check_name;

/// Path → SHA-256 of all files in an archive.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Snapshot {
    pub files: BTreeMap<String, Digest>,
}

/// The differences between two snapshots. Every list is sorted.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Changes {
    pub added: Vec<String>,
    pub changed: Vec<String>,
    pub removed: Vec<String>,
}

impl Snapshot {
    /// One JSON object, one line per file, sorted by the bytes of the path, so that any diff tool can compare two snapshots.
    pub fn encode(&self) -> Vec<u8> {
        let mut out = Vec::with_capacity(self.files.len() * 120 + 4);
        out.extend_from_slice(b"{");
        for (index, (path, digest)) in self.files.iter().enumerate() {
            out.extend_from_slice(if index == 0 { b"\n" } else { b",\n" });
            write_json_string(path, &mut out);
            out.extend_from_slice(b":\"");
            out.extend_from_slice(&digest.hex());
            out.push(b'"');
        }
        out.extend_from_slice(b"\n}\n");
        out
    }

    /// Parses the output of [`Snapshot::encode`], with any spacing and order. `file` is for the error message.
    pub fn decode(bytes: &[u8], file: &str) -> Result<Self, Error> {
        let refuse = |reason: String| Error::Snapshot { file: file.to_owned(), reason };
        let tree = JsonTree::parse(bytes).map_err(|error| refuse(format!("it is not JSON: {error}")))?;
        if tree.kind(tree.root()) != JsonKind::Object {
            return Err(refuse("it is not an object of path → SHA-256".to_owned()));
        }
        let mut files = BTreeMap::new();
        for (key, value) in tree.fields(tree.root()) {
            let path = tree.string(key).unwrap_or_default().into_owned();
            if check_name(&path).is_err() {
                return Err(refuse(format!("{path:?} is not a path of an archive")));
            }
            let digest = tree.string(value).as_deref().and_then(parse_digest);
            let Some(digest) = digest else {
                return Err(refuse(format!("the value of {path:?} is not a SHA-256 in lower-case hex")));
            };
            if files.contains_key(&path) {
                return Err(refuse(format!("{path:?} is in it twice")));
            }
            files.insert(path, digest);
        }
        Ok(Self { files })
    }

    /// The changes since `old`; without it, everything is added.
    pub fn changes_since(&self, old: Option<&Self>) -> Changes {
        let nothing = BTreeMap::new();
        let old = old.map_or(&nothing, |old| &old.files);
        let mut changes = Changes::default();
        for (path, digest) in &self.files {
            match old.get(path) {
                None => changes.added.push(path.clone()),
                Some(before) if before != digest => changes.changed.push(path.clone()),
                Some(_) => {}
            }
        }
        changes.removed = old.keys().filter(|path| !self.files.contains_key(*path)).cloned().collect();
        changes
    }
}

impl FromIterator<(String, Digest)> for Snapshot {
    fn from_iter<I: IntoIterator<Item = (String, Digest)>>(files: I) -> Self {
        Self { files: files.into_iter().collect() }
    }
}

impl Changes {
    pub fn is_empty(&self) -> bool {
        self.added.is_empty() && self.changed.is_empty() && self.removed.is_empty()
    }

    /// The document `archive.diff.json` of a diff archive.
    pub fn encode(&self) -> Vec<u8> {
        let mut out = b"{\n".to_vec();
        let lists = [("added", &self.added), ("changed", &self.changed), ("removed", &self.removed)];
        for (index, (key, paths)) in lists.into_iter().enumerate() {
            out.extend_from_slice(if index == 0 { b"" } else { b",\n" });
            write_json_string(key, &mut out);
            out.extend_from_slice(b":[");
            for (index, path) in paths.iter().enumerate() {
                out.extend_from_slice(if index == 0 { b"\n" } else { b",\n" });
                write_json_string(path, &mut out);
            }
            out.extend_from_slice(if paths.is_empty() { b"]" } else { b"\n]" });
        }
        out.extend_from_slice(b"\n}\n");
        out
    }
}

/// 64 lower-case hexadecimal digits.
fn parse_digest(text: &str) -> Option<Digest> {
    let digit = |byte: u8| match byte {
        b'0'..=b'9' => Some(byte - b'0'),
        b'a'..=b'f' => Some(byte - b'a' + 10),
        _ => None,
    };
    let (pairs, rest) = text.as_bytes().as_chunks::<2>();
    if pairs.len() != 32 || !rest.is_empty() {
        return None;
    }
    let mut bytes = [0; 32];
    for (byte, &[high, low]) in bytes.iter_mut().zip(pairs) {
        *byte = digit(high)? << 4 | digit(low)?;
    }
    Some(Digest(bytes))
}

#[cfg(test)]
mod tests {
    use expect_test::{Expect, expect};
    use proptest::prelude::*;

    use super::*;

    fn snapshot(files: &[(&str, u8)]) -> Snapshot {
        files.iter().map(|&(path, seed)| (path.to_owned(), Digest([seed; 32]))).collect()
    }

    #[test]
    fn written_sorted_and_read_back() {
        let files = snapshot(&[("b", 1), ("a/\"ä\n", 0xab)]);
        let text = String::from_utf8(files.encode()).unwrap();
        assert_eq!(text, format!("{{\n\"a/\\\"ä\\n\":\"{}\",\n\"b\":\"{}\"\n}}\n", "ab".repeat(32), "01".repeat(32)));
        assert_eq!(Snapshot::decode(text.as_bytes(), "s").unwrap(), files);
        assert_eq!(Snapshot::decode(&Snapshot::default().encode(), "s").unwrap(), Snapshot::default());
    }

    fn check_refused(text: &str, expected: Expect) {
        expected.assert_eq(&Snapshot::decode(text.as_bytes(), ".stan/diff/x.json").unwrap_err().to_string());
    }

    #[test]
    fn invalid_snapshots_are_rejected() {
        let digest = "0".repeat(64);
        check_refused(
            "",
            expect![
                "the snapshot `.stan/diff/x.json` cannot be used: it is not JSON: EOF while parsing a value at line 1 column 1; make a new one with `stan snap`"
            ],
        );
        check_refused(
            "[]",
            expect![[
                r#"the snapshot `.stan/diff/x.json` cannot be used: it is not an object of path → SHA-256; make a new one with `stan snap`"#
            ]],
        );
        check_refused(
            r#"{"a":1}"#,
            expect![[
                r#"the snapshot `.stan/diff/x.json` cannot be used: the value of "a" is not a SHA-256 in lower-case hex; make a new one with `stan snap`"#
            ]],
        );
        check_refused(
            r#"{"v":1,"files":{}}"#,
            expect![[
                r#"the snapshot `.stan/diff/x.json` cannot be used: the value of "v" is not a SHA-256 in lower-case hex; make a new one with `stan snap`"#
            ]],
        );
        check_refused(
            &format!(r#"{{"../a":"{digest}"}}"#),
            expect![[
                r#"the snapshot `.stan/diff/x.json` cannot be used: "../a" is not a path of an archive; make a new one with `stan snap`"#
            ]],
        );
        check_refused(
            &format!(r#"{{"a":"{digest}","a":"{digest}"}}"#),
            expect![[
                r#"the snapshot `.stan/diff/x.json` cannot be used: "a" is in it twice; make a new one with `stan snap`"#
            ]],
        );
        for text in [
            format!(r#"{{"a":"{}A"}}"#, &digest[1..]),
            format!(r#"{{"a":"{digest}0"}}"#),
            format!(r#"{{"a":"{digest}""#),
        ] {
            assert!(Snapshot::decode(text.as_bytes(), "s").is_err(), "{text}");
        }
    }

    #[test]
    fn changes_list_added_changed_and_removed_files() {
        let (old, new) = (snapshot(&[("a", 1), ("b", 1), ("c", 1)]), snapshot(&[("b", 2), ("c", 1), ("d", 1)]));
        let changes = new.changes_since(Some(&old));
        let text = String::from_utf8(changes.encode()).unwrap();
        assert_eq!(text, "{\n\"added\":[\n\"d\"\n],\n\"changed\":[\n\"b\"\n],\n\"removed\":[\n\"a\"\n]\n}\n");
        assert_eq!(new.changes_since(None).added, ["b", "c", "d"]);
        assert!(new.changes_since(Some(&new)).is_empty());
        let nothing = String::from_utf8(Changes::default().encode()).unwrap();
        assert_eq!(nothing, "{\n\"added\":[],\n\"changed\":[],\n\"removed\":[]\n}\n");
    }

    proptest! {
        #[test]
        fn no_path_is_lost(paths in proptest::collection::btree_map("[^/\0]{1,8}", any::<[u8; 32]>(), 0..20)) {
            let files: Snapshot = paths.into_iter().filter(|(p, _)| check_name(p).is_ok())
                .map(|(path, bytes)| (path, Digest(bytes))).collect();
            prop_assert_eq!(Snapshot::decode(&files.encode(), "s").unwrap(), files);
        }
    }
}
