//! Parts of a large file, read once and kept: objects that are asked for together lie near each other in a pack, and each
//! read of a file opens it.

use std::path::Path;

use rustc_hash::FxHashMap;

use super::error::GitError;
use super::place::GitLayout;
use crate::system_ext::SystemExt as _;

/// How much is read at once.
const WINDOW: u64 = 32 << 10;
/// How many windows are kept: 32 MiB for each file. An index is asked all over, so that with fewer windows than it has most are read
/// again and again; that of half a million objects has 480.
const MOST: usize = 1024;

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

    /// Fills `into` with the bytes from a position on, which may lie in several windows; how many there are, fewer only at the end
    /// of the file.
    pub(super) fn fill(
        &mut self,
        place: &GitLayout<'_>,
        path: &str,
        position: u64,
        into: &mut [u8],
    ) -> Result<usize, GitError> {
        let mut filled = 0;
        while let Some(rest) = into.get_mut(filled..).filter(|rest| !rest.is_empty()) {
            let next = self.at(place, path, position.saturating_add(filled as u64))?;
            let length = next.len().min(rest.len());
            let (Some(to), Some(from)) = (rest.get_mut(..length), next.get(..length)) else { break };
            if length == 0 {
                break;
            }
            to.copy_from_slice(from);
            filled += length;
        }
        Ok(filled)
    }

    /// A copy of some bytes, which may lie in several windows; fails when there are not as many.
    pub(super) fn copy(
        &mut self,
        place: &GitLayout<'_>,
        path: &str,
        offset: u64,
        length: usize,
    ) -> Result<Vec<u8>, GitError> {
        let mut bytes = vec![0; length];
        if self.fill(place, path, offset, &mut bytes)? < length {
            return Err(GitError::damaged(&place.shown(path), "it ends too early"));
        }
        Ok(bytes)
    }
}
