//! The contents of an archive, for tests that compare them with what they wrote.

use std::collections::BTreeMap;
use std::path::Path;

use serde_json::Value;
use stan_archive::{TarKind, read_tar};

use crate::support::Repository;

/// Name → contents of every file; panics on anything else, because our archives hold nothing else.
pub(crate) fn contents(path: &Path) -> BTreeMap<String, Vec<u8>> {
    let mut file = std::fs::File::open(path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    let mut contents = BTreeMap::new();
    let end = read_tar(&mut file, &mut |entry, bytes| {
        assert_eq!(entry.kind, TarKind::File);
        let name = entry.safe_name().expect("names are safe").to_owned();
        let mut buffer = Vec::new();
        bytes.read_to_end(&mut buffer)?;
        assert!(contents.insert(name, buffer).is_none(), "no name is there twice");
        Ok(())
    })
    .expect("the archive can be read");
    assert!(end.is_marked && !end.has_trailing_bytes);
    contents
}

pub(crate) fn names(path: &Path) -> Vec<String> {
    contents(path).into_keys().collect()
}

/// The answer of a command that must succeed.
pub(crate) fn json(repository: &Repository, arguments: &[&str]) -> Value {
    let output = repository.output(arguments, &[]);
    assert!(output.status.success(), "{arguments:?}: {}", String::from_utf8_lossy(&output.stderr));
    serde_json::from_slice(&output.stdout).unwrap()
}

/// The names in the archive of the last run, without stan's own files.
pub(crate) fn archived(repository: &Repository) -> Vec<String> {
    names(&repository.root().join(".stan/output/archive.tar"))
        .into_iter()
        .filter(|name| !name.starts_with(".stan/"))
        .collect()
}
