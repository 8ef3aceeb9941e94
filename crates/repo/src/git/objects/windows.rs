//! A cache of windows of a large file: objects of one query are close to each other in a pack, and every read opens the file
//! again.

use std::path::Path;

use rustc_hash::FxHashMap;

use super::error::GitError;
use super::place::GitLayout;
use crate::system_ext::SystemExt as _;

/// The size of a window, in bytes.
const WINDOW_BYTES: u64 = 32 << 10;

/// The windows of one file.
pub(super) struct Windows {
    /// The end of the readable part.
    pub(super) end: u64,
    /// The maximum number of cached windows.
    max_windows: usize,
    /// The index in `kept` of each window, by its start.
    places: FxHashMap<u64, usize>,
    /// The oldest window is replaced first, and its memory is reused: allocating costs more than another read of the file.
    kept: Vec<Window>,
    /// The index of the window that is replaced next.
    oldest: usize,
}

struct Window {
    start: u64,
    bytes: Vec<u8>,
}

impl Windows {
    pub(super) fn new(end: u64, max_windows: usize) -> Self {
        Self { end, max_windows, places: FxHashMap::default(), kept: Vec::new(), oldest: 0 }
    }

    /// The bytes from a position to the end of its window; empty after the end of the file.
    pub(super) fn at(&mut self, place: &GitLayout<'_>, path: &str, position: u64) -> Result<&[u8], GitError> {
        let (start, bytes) = self.around(place, path, position)?;
        let skip = usize::try_from(position - start).unwrap_or(usize::MAX);
        Ok(bytes.get(skip..).unwrap_or_default())
    }

    /// The window around a position: its start and its bytes.
    pub(super) fn around(
        &mut self,
        place: &GitLayout<'_>,
        path: &str,
        position: u64,
    ) -> Result<(u64, &[u8]), GitError> {
        let start = position - position % WINDOW_BYTES;
        let at = match self.places.get(&start) {
            Some(&at) => at,
            None => self.read(place, path, start)?,
        };
        Ok((start, self.kept.get(at).map(|window| window.bytes.as_slice()).unwrap_or_default()))
    }

    fn read(&mut self, place: &GitLayout<'_>, path: &str, start: u64) -> Result<usize, GitError> {
        let at = if self.kept.len() < self.max_windows {
            self.kept.push(Window { start, bytes: Vec::new() });
            self.kept.len() - 1
        } else {
            let at = self.oldest;
            self.oldest = (at + 1) % self.max_windows;
            at
        };
        let Some(window) = self.kept.get_mut(at) else { return Ok(at) };
        // A failed read leaves no window behind.
        self.places.remove(&window.start);
        let length = self.end.saturating_sub(start).min(WINDOW_BYTES);
        window.start = start;
        window.bytes.resize(usize::try_from(length).unwrap_or(0), 0);
        if !window.bytes.is_empty() {
            let read = place.system.read_range(Path::new(path), start, &mut window.bytes);
            read.map_err(|error| place.unreadable(path, &error))?;
        }
        self.places.insert(start, at);
        Ok(at)
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
