//! Shortens a reference to a file to the shortest unambiguous suffix of its path.
//!
//! A name without a slash is the code file with that name in the same folder, or else the only code file of the repository whose
//! path ends with it. The extension is omitted if that stays unambiguous. `./` and `../` start a path relative to the folder,
//! where the extension of a code file may be omitted as well. `/` starts a full path from the root. Files that are not code have
//! no lines, so their references are always full paths.

use std::borrow::Cow;

use rustc_hash::FxHashMap;
use stan_model::split_extension;

use super::OverviewFile;

/// Longer suffixes are not tried: the full path is used.
const MAX_SEGMENTS: usize = 6;
const AMBIGUOUS: u32 = u32::MAX;

pub(super) struct References<'f> {
    files: Vec<&'f str>,
    code: Vec<bool>,
    endings: FxHashMap<&'f str, u32>,
    /// By folder and name.
    local: FxHashMap<(&'f str, &'f str), u32>,
}

impl<'f> References<'f> {
    pub(super) fn of(files: &'f [OverviewFile]) -> Self {
        let paths = files.iter().map(|file| (file.path.as_str(), file.is_code));
        Self::new(paths.clone().map(|(path, _)| path).collect(), paths.map(|(_, is_code)| is_code).collect())
    }

    pub(super) fn new(files: Vec<&'f str>, code: Vec<bool>) -> Self {
        let mut endings = FxHashMap::default();
        let mut local = FxHashMap::default();
        let is_code = |index: u32| code.get(index as usize).copied().unwrap_or(false);
        for (index, path) in (0u32..).zip(&files).filter(|(index, _)| is_code(*index)) {
            let (folder, name) = split(path);
            let stem = split_extension(path).map(|(stem, _)| stem).filter(|stem| !stem.is_empty());
            for ending in endings_of(path).chain(stem.into_iter().flat_map(endings_of)) {
                endings.entry(ending).and_modify(|known| *known = AMBIGUOUS).or_insert(index);
            }
            let stem = split_extension(name).map(|(stem, _)| stem).filter(|stem| !stem.is_empty());
            for name in [Some(name), stem].into_iter().flatten() {
                local.entry((folder, name)).and_modify(|known| *known = AMBIGUOUS).or_insert(index);
            }
        }
        Self { files, code, endings, local }
    }

    /// The code file that a reference resolves to from a folder.
    fn find(&self, folder: &str, name: &str) -> Option<u32> {
        let local = if name.contains('/') { None } else { self.local.get(&(folder, name)) };
        local.or_else(|| self.endings.get(name)).copied().filter(|found| *found != AMBIGUOUS)
    }

    /// The path that a reference resolves to from a folder.
    pub(super) fn resolve(&self, folder: &str, name: &str) -> Option<String> {
        if let Some(path) = name.strip_prefix('/') {
            return Some(path.to_owned());
        }
        if name.starts_with("./") || name.starts_with("../") {
            let path = joined(folder, name)?;
            let found = self.local.get(&split(&path)).filter(|found| **found != AMBIGUOUS);
            let known = found.and_then(|found| self.files.get(*found as usize)).map(|path| (*path).to_owned());
            return Some(known.unwrap_or(path));
        }
        self.find(folder, name).and_then(|found| self.files.get(found as usize)).map(|path| (*path).to_owned())
    }

    /// The shortest reference to a file from a folder.
    pub(super) fn name(&self, folder: &str, target: u32) -> Cow<'f, str> {
        let path: &'f str = self.files.get(target as usize).copied().unwrap_or_default();
        if !self.code.get(target as usize).copied().unwrap_or(false) {
            // The full path would resolve to a code file of that name.
            let is_taken = self.local.contains_key(&split(path));
            return Cow::Owned(if is_taken { format!("/{path}") } else { spelled(folder, path) });
        }
        let stem = split_extension(path).map(|(stem, _)| stem).filter(|stem| !stem.is_empty());
        let with_extension = endings_of(path);
        let without = stem.into_iter().flat_map(endings_of);
        let mut candidates: Vec<&'f str> = without.chain(with_extension).collect();
        candidates.sort_by_key(|candidate| (slashes(candidate), candidate.len()));
        let ending = candidates.into_iter().find(|candidate| self.find(folder, candidate) == Some(target));
        let relative =
            spelled(folder, stem.filter(|stem| self.local.get(&split(stem)) == Some(&target)).unwrap_or(path));
        let is_relative = relative.starts_with('.') && self.resolve(folder, &relative).as_deref() == Some(path);
        match ending {
            // A suffix shows where the file is, so a relative path is used only if it is shorter by a segment.
            Some(ending) if !is_relative || slashes(ending) <= slashes(&relative) => Cow::Borrowed(ending),
            _ if is_relative => Cow::Owned(relative),
            _ => Cow::Owned(spelled(folder, path)),
        }
    }
}

fn slashes(name: &str) -> usize {
    name.matches('/').count()
}

/// The last one, two, … segments of a path.
fn endings_of(path: &str) -> impl Iterator<Item = &str> {
    let starts = path.rmatch_indices('/').map(|(at, _)| at + 1).take(MAX_SEGMENTS);
    let whole = (path.matches('/').count() < MAX_SEGMENTS).then_some(0);
    starts.chain(whole).filter_map(|start| path.get(start..)).filter(|ending| !ending.is_empty())
}

/// Splits a path into its folder, without the trailing slash, and its name.
pub(super) fn split(path: &str) -> (&str, &str) {
    path.rsplit_once('/').unwrap_or(("", path))
}

/// The shorter of the paths from the folder and from the root.
fn spelled(folder: &str, path: &str) -> String {
    let from_root = format!("/{path}");
    let common = common_segments(folder, split(path).0);
    let ups = segments(folder).count() - common;
    let rest = path.split('/').skip(common).collect::<Vec<_>>().join("/");
    let relative = if ups == 0 { format!("./{rest}") } else { format!("{}{rest}", "../".repeat(ups)) };
    if relative.len() < from_root.len() { relative } else { from_root }
}

fn segments(folder: &str) -> impl Iterator<Item = &str> {
    folder.split('/').filter(|segment| !segment.is_empty())
}

pub(super) fn common_segments(one: &str, other: &str) -> usize {
    segments(one).zip(segments(other)).take_while(|(one, other)| one == other).count()
}

/// `None` if the path leaves the root.
fn joined(folder: &str, name: &str) -> Option<String> {
    let mut path: Vec<&str> = segments(folder).collect();
    for segment in name.split('/') {
        match segment {
            "." => {}
            ".." => {
                path.pop()?;
            }
            other => path.push(other),
        }
    }
    Some(path.join("/"))
}
