//! The files of a repository with the words of their paths and their imports. Independent of the query, so that a cache can store
//! it. Files are numbered in path order.

use rustc_hash::FxHashMap;

use crate::fixed::Fixed;
use crate::flat::{Flat, SharedBytes};
use crate::paths::{FileClass, file_class, name_key, path_keys};
use crate::walk::{Edge, Files, ImportGraph};
use crate::words::{TermKey, key};

/// Files, sorted by path.
#[derive(Clone, Debug, Default)]
pub struct Layout {
    /// All paths concatenated; valid UTF-8.
    paths: SharedBytes,
    /// The end of each path; it starts at the end of the previous one.
    ends: Flat<4>,
    classes: Vec<FileClass>,
    /// The name key of each file, which it shares with its test.
    names: Flat<8>,
    path_words: PathWords,
    pub(crate) graph: ImportGraph,
}

/// Words of paths, with the files whose paths contain them.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct PathWords {
    /// Sorted, without duplicates.
    pub keys: Flat<8>,
    /// The end of each word's files; they start at the end of the previous word's.
    pub ends: Flat<4>,
    /// Sorted within each word.
    pub files: Flat<4>,
}

/// A layout as stored in a cache.
#[derive(Clone, Debug, Default)]
pub struct LayoutParts {
    pub paths: SharedBytes,
    pub ends: Flat<4>,
    /// One letter per file.
    pub classes: Flat<1>,
    pub names: Flat<8>,
    pub path_words: PathWords,
    pub graph: ImportGraph,
}

impl Layout {
    /// `paths` are sorted. Drops edges of unknown files.
    pub fn new<'p>(paths: impl Iterator<Item = &'p str>, edges: &[Edge]) -> Self {
        let (mut all, mut ends, mut classes) = (String::new(), Vec::new(), Vec::new());
        let mut names: Vec<TermKey> = Vec::new();
        let mut by_word: Vec<(TermKey, u32)> = Vec::new();
        for (file, path) in (0u32..).zip(paths) {
            all.push_str(path);
            ends.push(small(all.len()));
            classes.push(file_class(path));
            names.push(key(&name_key(path)));
            by_word.extend(path_keys(path).into_iter().map(|word| (word, file)));
        }
        by_word.sort_unstable();
        by_word.dedup();
        let same_word = || by_word.chunk_by(|left, right| left.0 == right.0);
        let mut end = 0;
        let word_end = |same: &[_]| {
            end += same.len();
            small(end)
        };
        Self {
            graph: ImportGraph::new(edges, ends.len()),
            paths: SharedBytes::new(all.into_bytes()),
            ends: ends.into_iter().collect(),
            classes,
            names: names.into_iter().collect(),
            path_words: PathWords {
                keys: same_word().map(|same| same[0].0).collect(),
                ends: same_word().map(word_end).collect(),
                files: by_word.iter().map(|(_, file)| *file).collect(),
            },
        }
    }

    /// A layout from a cache; `None` if its parts are inconsistent.
    pub fn from_parts(parts: LayoutParts) -> Option<Self> {
        let LayoutParts { paths, ends, classes, names, path_words, graph } = parts;
        let count = ends.len();
        let letters = classes.chunks().iter();
        let classes: Vec<FileClass> = letters.map(|[letter]| FileClass::from_letter(*letter)).collect::<Option<_>>()?;
        let text = std::str::from_utf8(paths.bytes()).ok()?;
        let is_whole = ends.ends_of(text.len())
            && ends.iter().all(|end| text.is_char_boundary(end as usize))
            && classes.len() == count
            && names.len() == count
            && path_words.keys.len() == path_words.ends.len()
            && path_words.keys.iter().is_sorted()
            && path_words.ends.ends_of(path_words.files.len())
            && path_words.files.iter().all(|file| (file as usize) < count)
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
        let bytes = self.paths.bytes().get(self.ends.part(file)).unwrap_or_default();
        std::str::from_utf8(bytes).unwrap_or_default()
    }

    /// All paths, concatenated.
    pub fn path_bytes(&self) -> &[u8] {
        self.paths.bytes()
    }

    pub fn paths(&self) -> impl ExactSizeIterator<Item = &str> {
        (0..self.len()).map(|file| self.path(file))
    }

    /// The range of files whose paths start with `prefix`.
    pub fn beginning_with(&self, prefix: &str) -> std::ops::Range<usize> {
        let first = |is_before: &dyn Fn(&str) -> bool| {
            let (mut low, mut high) = (0, self.len());
            while low < high {
                let middle = low + (high - low) / 2;
                if is_before(self.path(middle)) { low = middle + 1 } else { high = middle }
            }
            low
        };
        first(&|path| path < prefix)..first(&|path| path < prefix || path.starts_with(prefix))
    }

    /// The number of the file with this path.
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

    /// The name key that the file shares with its test.
    pub(crate) fn name(&self, file: usize) -> TermKey {
        self.names.get(file).unwrap_or_default()
    }

    /// The words of a path, sorted, without duplicates.
    pub(crate) fn words_of_path(&self, file: usize) -> Vec<TermKey> {
        let mut words = path_keys(self.path(file));
        words.sort_unstable();
        words.dedup();
        words
    }

    /// The files whose paths have a word, sorted.
    pub(crate) fn with_word(&self, word: TermKey) -> Files<'_> {
        let PathWords { keys, ends, files } = &self.path_words;
        keys.find(word).map_or(&[], |found| files.slice(ends.part(found)))
    }

    /// The rarity of a path word that `having` files have.
    pub(crate) fn rarity(&self, having: usize) -> Fixed {
        Fixed::ratio(self.len() as i64, having as i64).ln_1p()
    }

    /// The files by name key, for the keys of the files `of`.
    pub(crate) fn mates(&self, of: &[usize]) -> FxHashMap<TermKey, Vec<usize>> {
        let mut mates: FxHashMap<TermKey, Vec<usize>> = of.iter().map(|&file| (self.name(file), Vec::new())).collect();
        for (file, name) in self.names.iter().enumerate() {
            if let Some(mates) = mates.get_mut(&name) {
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
    use crate::flat::numbers;

    #[test]
    fn a_layout_survives_a_cache_and_inconsistent_parts_are_rejected() {
        let edges = [Edge { from: 0, to: 2, weight: Fixed::ONE }, Edge { from: 2, to: 1, weight: Fixed::HALF }];
        let layout = Layout::new(["a/cart.ts", "a/ü.md", "b/cart.test.ts"].into_iter(), &edges);
        assert_eq!(layout.paths().collect::<Vec<_>>(), ["a/cart.ts", "a/ü.md", "b/cart.test.ts"]);
        assert_eq!((layout.find("a/ü.md"), layout.find("a/x")), (Some(1), None));
        assert_eq!(
            ["a/", "b", "", "c", "a/ü"].map(|prefix| layout.beginning_with(prefix)),
            [0..2, 2..3, 0..3, 3..3, 1..2]
        );
        assert_eq!(numbers(layout.with_word(key("cart"))).collect::<Vec<_>>(), [0, 2]);
        assert_eq!(layout.name(0), layout.name(2));
        let parts = layout.to_parts();
        let again = Layout::from_parts(parts.clone()).unwrap();
        assert_eq!(again.paths().collect::<Vec<_>>(), layout.paths().collect::<Vec<_>>());
        assert_eq!((again.names, again.path_words, again.graph), (layout.names, layout.path_words, layout.graph));
        let ends = |first: u32, count: usize| [first, 16, 30].into_iter().take(count).collect::<Flat<4>>();
        let parts = LayoutParts { ends: ends(9, 3), ..parts };
        let damage: [&dyn Fn(&mut LayoutParts); 8] = [
            &|parts| parts.ends = ends(12, 3),
            &|parts| parts.ends = ends(13, 3),
            &|parts| parts.classes = b"c?c".iter().copied().collect(),
            &|parts| parts.names = parts.names.iter().take(1).collect(),
            &|parts| parts.path_words.files = parts.path_words.files.iter().map(|file| file + 1).collect(),
            &|parts| parts.path_words.ends = parts.path_words.ends.iter().take(1).collect(),
            &|parts| parts.paths = parts.paths.part(0..1).unwrap(),
            &|parts| parts.ends = ends(9, 1),
        ];
        for (number, damage) in damage.into_iter().enumerate() {
            let mut wrong = parts.clone();
            damage(&mut wrong);
            // A truncated path is still a valid path.
            assert_eq!(Layout::from_parts(wrong).is_none(), number != 1, "{number}");
        }
    }
}
