//! Parts of a large file, read once and kept: objects that are asked for together lie near each other in a pack, and each
//! read of a file opens it.

use std::path::Path;

use rustc_hash::FxHashMap;

use super::error::GitError;
use super::place::GitLayout;
use crate::system_ext::SystemExt as _;

/// How much is read at once.
const WINDOW: u64 = 32 << 10;
/// How many windows are kept: 8 MiB for each file.
const MOST: usize = 256;

/// The windows of one file.
#[derive(Default)]
pub(super) struct Windows {
    /// Where the part that may be read ends.
    pub(super) end: u64,
    kept: FxHashMap<u64, Vec<u8>>,
}

impl Windows {
    pub(super) fn new(end: u64) -> Self {
        Self { end, kept: FxHashMap::default() }
    }

    /// The bytes from a position to the end of its window; none behind the end of the file.
    pub(super) fn at(&mut self, place: &GitLayout<'_>, path: &str, position: u64) -> Result<&[u8], GitError> {
        let start = position - position % WINDOW;
        if !self.kept.contains_key(&start) {
            let length = self.end.saturating_sub(start).min(WINDOW);
            let mut bytes = vec![0; usize::try_from(length).unwrap_or(0)];
            if !bytes.is_empty() {
                let read = place.system.read_range(Path::new(path), start, &mut bytes);
                read.map_err(|error| place.unreadable(path, &error))?;
            }
            if self.kept.len() >= MOST {
                self.kept.clear();
            }
            self.kept.insert(start, bytes);
        }
        let skip = usize::try_from(position - start).unwrap_or(usize::MAX);
        Ok(self.kept.get(&start).and_then(|bytes| bytes.get(skip..)).unwrap_or_default())
    }

    /// A copy of some bytes, which may lie in several windows; fails when there are not as many.
    pub(super) fn copy(
        &mut self,
        place: &GitLayout<'_>,
        path: &str,
        offset: u64,
        length: usize,
    ) -> Result<Vec<u8>, GitError> {
        let mut bytes = Vec::with_capacity(length);
        while bytes.len() < length {
            let next = self.at(place, path, offset.saturating_add(bytes.len() as u64))?;
            if next.is_empty() {
                return Err(GitError::damaged(&place.shown(path), "it ends too early"));
            }
            bytes.extend_from_slice(next.get(..length - bytes.len()).unwrap_or(next));
        }
        Ok(bytes)
    }
}
