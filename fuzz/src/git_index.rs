//! The laws of the reader of git's index.

use stan_repo::fuzzing::tracked;

/// No name is longer than this on any system that git runs on, and an entry takes at least this divided by
/// [`GROWTH`] bytes: version 4 says only what differs from the name before.
const GROWTH: usize = 64;

/// Input: two bytes with the length of the shared index, the shared index, the index. Names are sorted, unique and found by
/// lookup, grow at most by a factor of the file, and parsing is deterministic.
pub fn law(bytes: &[u8]) {
    let Some((length, rest)) = bytes.split_first_chunk::<2>() else { return };
    let (base, index) = rest.split_at(usize::from(u16::from_le_bytes(*length)).min(rest.len()));
    let read = tracked(index, base);
    assert_eq!(read, tracked(index, base));
    let read = match read {
        Ok(read) => read,
        Err(reason) => return assert!(!reason.is_empty()),
    };
    assert!(read.names.is_sorted_by(|left, right| left < right), "sorted and unique");
    assert!(read.gitlinks.is_sorted(), "sorted");
    assert!(read.gitlinks.iter().all(|link| read.names.binary_search(link).is_ok()), "a submodule is tracked");
    assert!(read.is_consistent, "what is listed is found");
    let size: usize = read.names.iter().map(|name| name.len() + 1).sum();
    assert!(size <= GROWTH * bytes.len(), "{size} bytes of names in {} bytes", bytes.len());
    let meaning = read.meaning.len();
    assert!(meaning <= GROWTH * bytes.len(), "{meaning} bytes of meaning in {} bytes", bytes.len());
}
