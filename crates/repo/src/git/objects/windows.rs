//! A cache of windows of a large file: objects of one query are close to each other in a pack, and every read opens the file
//! again.

use std::path::Path;

use rustc_hash::FxHashMap;

use super::error::GitError;
use super::place::GitLayout;
use crate::system_ext::SystemExt as _;

/// The size of a window, in bytes.
const WINDOW: u64 = 32 << 10;
/// The number of cached windows: 32 MiB per file. An index is accessed at random, so a cache smaller than the index would miss
/// again and again; the index of half a million objects has 480 windows.
/// again and again; that of half a million objects has 480.
const MOST: usize = 1024;

/// The windows of one file.
#[derive(Default)]
pub(super) struct Windows {
    /// The end of the readable part.
    pub(super) end: u64,
    kept: FxHashMap<u64, Vec<u8>>,
}

impl Windows {
    pub(super) fn new(end: u64) -> Self {
        Self { end, kept: FxHashMap::default() }
    }

    /// The bytes from a position to the end of its window; empty after the end of the file.
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

    /// Fills `into` from a position, across windows. Returns the number of bytes, which is smaller only at the end of the file.
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

    /// Copies bytes, across windows; fails if there are not enough.
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
