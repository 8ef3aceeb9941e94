//! Groups the files by folder: which files are in each, and the contents of its summary line. Folders without code are counted
//! together with everything below them.

use std::collections::BTreeMap;

use rustc_hash::FxHashMap;
use stan_model::facts::{DEFAULT_EXPORT, EXPORT_EQUALS};
use stan_model::split_extension;

use super::references::split;
use super::{OverviewFile, OverviewInput};

/// The number of names in a summary line.
pub(super) const TOP_NAMES: usize = 5;

/// Files whose names start with at least `MIN_DIGITS` digits are a numbered series, if a folder has at least `MIN_SERIES` of
/// them.
const MIN_DIGITS: usize = 3;
const MIN_SERIES: usize = 10;

/// A folder, without the trailing slash; the root is empty and comes first.
#[derive(Debug, Default)]
pub(super) struct Folder<'f> {
    pub(super) path: &'f str,
    pub(super) parent: usize,
    pub(super) depth: usize,
    /// Sorted by path.
    pub(super) children: Vec<usize>,
    /// Code files directly in it.
    pub(super) files: Vec<u32>,
    /// Those of `files` that belong to a numbered series.
    pub(super) series: Vec<u32>,
    /// Other files directly in it by extension; in a folder without code below it, all files below it.
    pub(super) others: BTreeMap<&'f str, u64>,
    pub(super) description: Option<&'f str>,
    /// The number of code files below it.
    pub(super) file_count: u64,
    pub(super) tokens: u64,
    /// The exported names below it with the most uses in other folders.
    pub(super) top: Vec<(u32, &'f str)>,
}

pub(super) struct Folders<'f> {
    pub(super) all: Vec<Folder<'f>>,
}

impl<'f> Folders<'f> {
    pub(super) fn of(input: &'f OverviewInput) -> Self {
        let mut folders = Self { all: vec![Folder::default()] };
        let mut by_path: FxHashMap<&str, usize> = FxHashMap::default();
        by_path.insert("", 0);
        for (index, file) in (0u32..).zip(&input.files) {
            let at = folders.open(split(&file.path).0, &mut by_path);
            let Some(folder) = folders.all.get_mut(at) else { continue };
            if file.is_code {
                folder.files.push(index);
                folder.file_count += 1;
                folder.tokens += file.tokens;
                let names = file.exports.iter().filter(|(_, uses)| *uses > 0);
                folder.top.extend(names.take(TOP_NAMES).map(|(name, uses)| (*uses, &**name)));
            } else {
                *folder.others.entry(extension(&file.path)).or_default() += 1;
            }
        }
        for (path, description) in &input.folders {
            if let Some(folder) = by_path.get(path.as_str()).and_then(|at| folders.all.get_mut(*at)) {
                folder.description = Some(description);
            }
        }
        for folder in &mut folders.all {
            folder.series = series(&input.files, &folder.files);
        }
        folders.sum_up();
        folders
    }

    /// Returns the folder of a path, creating it and its parents.
    fn open(&mut self, path: &'f str, by_path: &mut FxHashMap<&'f str, usize>) -> usize {
        let mut missing = Vec::new();
        let mut at = path;
        let mut parent = loop {
            if let Some(known) = by_path.get(at) {
                break *known;
            }
            missing.push(at);
            at = split(at).0;
        };
        for path in missing.into_iter().rev() {
            let depth = self.all.get(parent).map_or(0, |folder| folder.depth) + 1;
            let index = self.all.len();
            self.all.push(Folder { path, parent, depth, ..Folder::default() });
            by_path.insert(path, index);
            if let Some(folder) = self.all.get_mut(parent) {
                folder.children.push(index);
            }
            parent = index;
        }
        parent
    }

    /// Sums up what is below each folder. A folder comes after its parent.
    fn sum_up(&mut self) {
        for index in (0..self.all.len()).rev() {
            let Some(folder) = self.all.get_mut(index) else { continue };
            keep_top(&mut folder.top);
            let (count, tokens, parent, top) = (folder.file_count, folder.tokens, folder.parent, folder.top.clone());
            if index > 0
                && let Some(parent) = self.all.get_mut(parent)
            {
                parent.file_count += count;
                parent.tokens += tokens;
                parent.top.extend(top);
            }
        }
        self.lift_others();
    }

    /// Moves counts of files below a folder without code to the topmost such folder.
    fn lift_others(&mut self) {
        for index in (1..self.all.len()).rev() {
            let Some(folder) = self.all.get(index) else { continue };
            let parent = folder.parent;
            let has_no_code = |at: usize| self.all.get(at).is_some_and(|folder| folder.file_count == 0);
            if parent == 0 || !has_no_code(index) || !has_no_code(parent) {
                continue;
            }
            let others = self.all.get_mut(index).map(|folder| std::mem::take(&mut folder.others)).unwrap_or_default();
            if let Some(folder) = self.all.get_mut(parent) {
                for (extension, count) in others {
                    *folder.others.entry(extension).or_default() += count;
                }
            }
        }
    }

    pub(super) fn get(&self, index: usize) -> Option<&Folder<'f>> {
        self.all.get(index)
    }
}

/// The files of a numbered series without importers, such as migrations: their names differ in numbers and dates.
fn series(files: &[OverviewFile], of_folder: &[u32]) -> Vec<u32> {
    let is_numbered = |file: &&u32| {
        files.get(**file as usize).is_some_and(|file| {
            let digits = split(&file.path).1.bytes().take_while(u8::is_ascii_digit).count();
            digits >= MIN_DIGITS && file.importers == 0
        })
    };
    let series: Vec<u32> = of_folder.iter().filter(is_numbered).copied().collect();
    if series.len() >= MIN_SERIES { series } else { Vec::new() }
}

/// Keeps the most used names, without duplicates.
pub(super) fn keep_top(names: &mut Vec<(u32, &str)>) {
    names.sort_by(|one, other| one.1.cmp(other.1).then(other.0.cmp(&one.0)));
    names.dedup_by(|one, other| one.1 == other.1);
    // Names without information are not worth their tokens.
    names.retain(|(_, name)| !matches!(*name, DEFAULT_EXPORT | EXPORT_EQUALS));
    names.sort_by(|one, other| other.0.cmp(&one.0).then(one.1.cmp(other.1)));
    names.truncate(TOP_NAMES);
}

/// The extension by which other files are counted.
fn extension(path: &str) -> &str {
    match split_extension(split(path).1) {
        Some((stem, extension)) if !stem.is_empty() && !extension.is_empty() => extension,
        _ => "other",
    }
}
