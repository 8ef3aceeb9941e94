//! The files of a repository, with the words of their paths and their imports: independent of the question, so that a cache can keep
//! it. Files are numbered in the order of their paths.

use rustc_hash::FxHashMap;

use crate::fixed::Fixed;
use crate::paths::{FileClass, file_class, name_key, path_keys};
use crate::walk::{Edge, ImportGraph};
use crate::words::{TermKey, key};

/// Files, sorted by path.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Layout {
    paths: String,
    /// Where each path ends; it begins where the one before ends.
    ends: Vec<u32>,
    classes: Vec<FileClass>,
    /// What each file has in common with its test, as a key.
    names: Vec<TermKey>,
    path_words: PathWords,
    pub(crate) graph: ImportGraph,
}

/// Words of paths, and the files whose paths have them.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct PathWords {
    /// Sorted and unique.
    pub keys: Vec<TermKey>,
    /// Where the files of each word end; they begin where those of the word before end.
    pub ends: Vec<u32>,
    /// Sorted for each word.
    pub files: Vec<u32>,
}

/// A layout as a cache keeps it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct LayoutParts {
    pub paths: String,
    pub ends: Vec<u32>,
    /// One letter for each file.
    pub classes: Vec<u8>,
    pub names: Vec<TermKey>,
    pub path_words: PathWords,
    pub graph: ImportGraph,
}

impl Layout {
    /// `paths` are sorted. Edges that name other files are left out.
    pub fn new<'p>(paths: impl Iterator<Item = &'p str>, edges: &[Edge]) -> Self {
        let mut layout = Self::default();
        let mut by_word: Vec<(TermKey, u32)> = Vec::new();
        for (file, path) in (0u32..).zip(paths) {
            layout.paths.push_str(path);
            layout.ends.push(small(layout.paths.len()));
            layout.classes.push(file_class(path));
            layout.names.push(key(&name_key(path)));
            by_word.extend(path_keys(path).into_iter().map(|word| (word, file)));
        }
        by_word.sort_unstable();
        by_word.dedup();
        for same in by_word.chunk_by(|left, right| left.0 == right.0) {
            let words = &mut layout.path_words;
            words.keys.push(same[0].0);
            words.files.extend(same.iter().map(|(_, file)| *file));
            words.ends.push(small(words.files.len()));
        }
        layout.graph = ImportGraph::new(edges, layout.len());
        layout
    }

    /// A layout from a cache; `None` when its parts do not fit together.
    pub fn from_parts(parts: LayoutParts) -> Option<Self> {
        let LayoutParts { paths, ends, classes, names, path_words, graph } = parts;
        let count = ends.len();
        let classes: Vec<FileClass> = classes.into_iter().map(FileClass::from_letter).collect::<Option<_>>()?;
        let is_inside = |file: &u32| (*file as usize) < count;
        let is_whole = ends.is_sorted()
            && ends.last().map_or(0, |end| *end as usize) == paths.len()
            && ends.iter().all(|end| paths.is_char_boundary(*end as usize))
            && classes.len() == count
            && names.len() == count
            && path_words.keys.len() == path_words.ends.len()
            && path_words.keys.is_sorted()
            && path_words.ends.is_sorted()
            && path_words.ends.last().map_or(0, |end| *end as usize) == path_words.files.len()
            && path_words.files.iter().all(is_inside)
            && graph.is_of(count);
        is_whole.then_some(Self { paths, ends, classes, names, path_words, graph })
    }

    pub fn to_parts(&self) -> LayoutParts {
        let Self { paths, ends, classes, names, path_words, graph } = self.clone();
        let classes = classes.into_iter().map(FileClass::letter).collect();
        LayoutParts { paths, ends, classes, names, path_words, graph }
    }

    pub fn len(&self) -> usize {
        self.ends.len()
    }

    pub fn is_empty(&self) -> bool {
        self.ends.is_empty()
    }

    /// The path of a file from the root.
    pub fn path(&self, file: usize) -> &str {
        let start = file.checked_sub(1).and_then(|before| self.ends.get(before)).map_or(0, |end| *end as usize);
        self.ends.get(file).and_then(|end| self.paths.get(start..*end as usize)).unwrap_or_default()
    }

    pub fn paths(&self) -> impl ExactSizeIterator<Item = &str> {
        (0..self.len()).map(|file| self.path(file))
    }

    /// The number of the file with that path.
    pub fn find(&self, path: &str) -> Option<u32> {
        let (mut low, mut high) = (0, self.len());
        while low < high {
            let middle = low + (high - low) / 2;
            match self.path(middle).cmp(path) {
                std::cmp::Ordering::Less => low = middle + 1,
                std::cmp::Ordering::Greater => high = middle,
                std::cmp::Ordering::Equal => return u32::try_from(middle).ok(),
            }
        }
        None
    }

    pub fn class(&self, file: usize) -> FileClass {
        self.classes.get(file).copied().unwrap_or(FileClass::Other)
    }

    pub(crate) fn classes(&self) -> &[FileClass] {
        &self.classes
    }

    /// Whether no file imports another.
    pub fn has_no_imports(&self) -> bool {
        self.graph.is_empty()
    }

    /// What the file and its test have in common.
    pub(crate) fn name(&self, file: usize) -> TermKey {
        self.names.get(file).copied().unwrap_or_default()
    }

    pub(crate) fn names(&self) -> &[TermKey] {
        &self.names
    }

    /// The different words of a path, sorted.
    pub(crate) fn words_of_path(&self, file: usize) -> Vec<TermKey> {
        let mut words = path_keys(self.path(file));
        words.sort_unstable();
        words.dedup();
        words
    }

    /// The files whose paths have a word, sorted.
    pub(crate) fn with_word(&self, word: TermKey) -> &[u32] {
        let PathWords { keys, ends, files } = &self.path_words;
        let Ok(found) = keys.binary_search(&word) else { return &[] };
        let start = found.checked_sub(1).and_then(|before| ends.get(before)).map_or(0, |end| *end as usize);
        ends.get(found).and_then(|end| files.get(start..*end as usize)).unwrap_or_default()
    }

    /// How rare a word is among paths that so many files have.
    pub(crate) fn rarity(&self, having: usize) -> Fixed {
        Fixed::ratio(self.len() as i64, having as i64).ln_1p()
    }

    /// The files by name, of those names that some files have.
    pub(crate) fn mates(&self, of: &[usize]) -> FxHashMap<TermKey, Vec<usize>> {
        let mut mates: FxHashMap<TermKey, Vec<usize>> = of.iter().map(|&file| (self.name(file), Vec::new())).collect();
        for (file, name) in self.names().iter().enumerate() {
            if let Some(mates) = mates.get_mut(name) {
                mates.push(file);
            }
        }
        mates
    }
}

fn small(number: usize) -> u32 {
    u32::try_from(number).unwrap_or(u32::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_layout_survives_a_cache_and_refuses_what_does_not_fit() {
        let edges = [Edge { from: 0, to: 2, weight: Fixed::ONE }, Edge { from: 2, to: 1, weight: Fixed::HALF }];
        let layout = Layout::new(["a/cart.ts", "a/ü.md", "b/cart.test.ts"].into_iter(), &edges);
        assert_eq!(layout.paths().collect::<Vec<_>>(), ["a/cart.ts", "a/ü.md", "b/cart.test.ts"]);
        assert_eq!((layout.find("a/ü.md"), layout.find("a/x")), (Some(1), None));
        assert_eq!(layout.with_word(key("cart")), [0, 2]);
        assert_eq!(layout.name(0), layout.name(2));
        let parts = layout.to_parts();
        assert_eq!(Layout::from_parts(parts.clone()), Some(layout));
        let damage: [fn(&mut LayoutParts); 8] = [
            |parts| parts.ends[0] = 12,
            |parts| parts.ends[0] = 13,
            |parts| parts.classes[1] = b'?',
            |parts| parts.names.truncate(1),
            |parts| parts.path_words.files[0] = 3,
            |parts| parts.path_words.ends.truncate(1),
            |parts| parts.paths.truncate(1),
            |parts| parts.ends.truncate(1),
        ];
        for (number, damage) in damage.into_iter().enumerate() {
            let mut wrong = parts.clone();
            damage(&mut wrong);
            // A shorter path is still a path.
            assert_eq!(Layout::from_parts(wrong).is_none(), number != 1, "{number}");
        }
    }
}
