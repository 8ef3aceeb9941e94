//! Access to this crate's private parsers for the fuzz targets in `fuzz/`. Not part of the interface: nothing else may use it,
//! and it may change at any time.

use crate::git::index::tracked::{IndexFile, TrackedPaths};
use crate::ignore::PatternList;

/// The parsed parts of a git index.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Tracked {
    /// Sorted and unique.
    pub names: Vec<Vec<u8>>,
    /// Sorted.
    pub gitlinks: Vec<Vec<u8>>,
    /// The bytes that the digest of the index covers.
    pub meaning: Vec<u8>,
    /// Whether every name is found, and every parent folder contains a tracked path.
    pub is_consistent: bool,
}

/// Parses an index, and its base if it is a split index.
pub fn tracked(index: &[u8], base: &[u8]) -> Result<Tracked, &'static str> {
    let index = IndexFile::parse(index)?;
    let mut meaning = Vec::new();
    index.meaning(|bytes| meaning.extend_from_slice(bytes));
    let has_base = index.link.as_ref().is_some_and(|link| link.base.is_some());
    let base = if has_base { Some(IndexFile::parse(base)?) } else { None };
    let paths = TrackedPaths::new(index, base).ok_or("its two parts do not fit together")?;
    let names: Vec<Vec<u8>> = paths.names().map(<[u8]>::to_vec).collect();
    let gitlinks: Vec<Vec<u8>> = paths.gitlinks().map(<[u8]>::to_vec).collect();
    let is_known = |name: &Vec<u8>| {
        let folders = name.iter().enumerate().filter(|(_, byte)| **byte == b'/');
        paths.contains(name) && folders.filter_map(|(end, _)| name.get(..end)).all(|folder| paths.any_below(folder))
    };
    let is_consistent = names.iter().all(is_known) && gitlinks.iter().all(|link| paths.is_gitlink(link));
    Ok(Tracked { names, gitlinks, meaning, is_consistent })
}

/// The verdict of an ignore file on a path below its folder: whether it is ignored, and by which line.
pub fn ignore_verdict(rules: &[u8], path: &[u8], is_directory: bool) -> Option<(bool, u32)> {
    let name_start = path.iter().rposition(|&byte| byte == b'/').map_or(0, |slash| slash + 1);
    let verdict = PatternList::parse(rules, 0).verdict(path, name_start, is_directory)?;
    Some((verdict.ignored, verdict.line))
}

/// Git's glob language.
pub fn wildmatch(pattern: &[u8], text: &[u8]) -> bool {
    crate::wildmatch::wildmatch(pattern, text)
}
