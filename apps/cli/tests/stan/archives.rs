//! The contents of an archive, for tests that compare them with what they wrote.

use std::collections::BTreeMap;
use std::path::Path;

use stan_archive::{TarKind, read_tar};

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
