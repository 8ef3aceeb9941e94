//! The laws of snapshots, the baselines of diff archives.

use std::collections::BTreeSet;

use serde_json::Value;
use stan_archive::{Changes, Snapshot, check_name};

/// A line `---` separates two snapshots. A valid snapshot survives writing and parsing. The differences between them contain each
/// path once, also as JSON.
pub fn law(bytes: &[u8]) {
    const SEPARATOR: &[u8] = b"\n---\n";
    let at = bytes.windows(SEPARATOR.len()).position(|window| window == SEPARATOR);
    let (old, new) = at.map_or((bytes, &bytes[..0]), |at| (&bytes[..at], &bytes[at + SEPARATOR.len()..]));
    let [old, new] = [old, new].map(read);
    let Some(old) = old else { return };
    assert!(old.changes_since(Some(&old)).is_empty());
    let new = new.unwrap_or_default();
    let changes = new.changes_since(Some(&old));
    let paths = [&changes.added, &changes.changed, &changes.removed].map(|list| list.iter().collect::<BTreeSet<_>>());
    let expected: BTreeSet<&String> =
        old.files.keys().chain(new.files.keys()).filter(|path| old.files.get(*path) != new.files.get(*path)).collect();
    assert_eq!(paths.iter().map(BTreeSet::len).sum::<usize>(), expected.len(), "each path is reported once");
    assert!(paths.iter().flatten().all(|path| expected.contains(*path)));
    check_document(&changes);
}

fn read(bytes: &[u8]) -> Option<Snapshot> {
    match Snapshot::decode(bytes, "file.json") {
        Ok(snapshot) => {
            assert!(snapshot.files.keys().all(|path| check_name(path).is_ok()));
            let document = snapshot.encode();
            assert_eq!(
                Snapshot::decode(&document, "file.json").ok().as_ref(),
                Some(&snapshot),
                "what is written is read"
            );
            assert_eq!(document.iter().filter(|&&byte| byte == b'\n').count(), snapshot.files.len() + 2);
            Some(snapshot)
        }
        Err(error) => {
            assert!(error.to_string().contains("file.json"), "{error}");
            None
        }
    }
}

fn check_document(changes: &Changes) {
    let document: Value = serde_json::from_slice(&changes.encode()).expect("a list of changes is JSON");
    for (key, list) in [("added", &changes.added), ("changed", &changes.changed), ("removed", &changes.removed)] {
        assert_eq!(document[key], Value::from(list.as_slice()), "{key}");
    }
}
