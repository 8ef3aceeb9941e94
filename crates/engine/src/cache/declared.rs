//! Names that files declare, by contents, so that overviews parse a file only once. Stored in a separate file, which only
//! overviews read.

use stan_model::Digest;
use xxhash_rust::xxh3::Xxh3;

use super::Cache;
use super::kept_blobs::{BlobFile, BlobView, KeptBlobs};

pub(super) const FILE: &str = "declared.data";

/// Raise the version when other names are chosen for the same contents.
const NAMES: BlobFile = BlobFile { name: FILE, magic: b"standecl", version: 2, max_bytes: 256 << 20 };

/// The stored names of earlier runs, and the new names of this run.
pub(crate) struct KeptNames<'c>(KeptBlobs<'c>);

impl<'c> KeptNames<'c> {
    pub(crate) fn load(cache: Option<Cache<'c>>) -> Self {
        Self(KeptBlobs::load(NAMES, cache))
    }

    /// A view for lookups from many threads.
    pub(crate) fn view(&self) -> NamesView<'_> {
        NamesView(self.0.view())
    }

    /// Stores the new names, and those of the earlier runs whose keys are in `used` (sorted).
    pub(crate) fn save(self, used: &[u128]) {
        self.0.save(WORTH_WRITING, |key| used.binary_search(&key).is_ok());
    }
}

/// The file is rewritten only if at least one in this many entries is new.
const WORTH_WRITING: usize = 64;

/// See [`KeptNames::view`].
pub(crate) struct NamesView<'k>(BlobView<'k>);

impl NamesView<'_> {
    pub(crate) fn find(&self, key: u128) -> Option<Vec<Box<str>>> {
        self.0.find(key)
    }

    /// Adds the names of a file, to be stored by [`KeptNames::save`].
    pub(crate) fn add(&self, key: u128, names: &[Box<str>]) {
        self.0.add(key, names);
    }
}

/// The key of a file's names: the contents, and the extension of the path, which selects the parser.
pub(crate) fn names_key(path: &str, digest: &Digest) -> u128 {
    let ending = path.rsplit('/').next().and_then(|name| name.split_once('.')).map_or("", |(_, ending)| ending);
    let mut hasher = Xxh3::new();
    hasher.update(&digest.0);
    hasher.update(ending.as_bytes());
    hasher.digest128()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_key_of_names_depends_on_contents_and_extension() {
        let (one, other) = (Digest([1; 32]), Digest([2; 32]));
        assert_eq!(names_key("a/x.ts", &one), names_key("b/y.ts", &one));
        assert_ne!(names_key("a/x.ts", &one), names_key("a/x.ts", &other));
        assert_ne!(names_key("a/x.ts", &one), names_key("a/x.tsx", &one));
        assert_ne!(names_key("a/x.ts", &one), names_key("a/x.d.ts", &one));
    }
}
