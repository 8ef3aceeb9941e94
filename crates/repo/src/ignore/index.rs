//! An index of long ignore files: generated ones may have as many lines as there are files.
//!
//! Returns every line that may match, by the literal text that a path must equal, start with or end with. Whether a line matches
//! is decided elsewhere.

use rustc_hash::{FxHashMap, FxHashSet};

use super::{Pattern, Shape};

#[derive(Debug, Default)]
pub(super) struct Index {
    names: Literals,
    name_ends: Literals,
    name_starts: Literals,
    path_starts: Literals,
}

/// Literal texts with the indices of their patterns, ascending.
#[derive(Debug, Default)]
struct Literals {
    by_text: FxHashMap<Box<[u8]>, Vec<u32>>,
    lengths: Vec<usize>,
}

impl Index {
    pub(super) fn new(file: &[u8], patterns: &[Pattern]) -> Self {
        let mut index = Self::default();
        for (place, pattern) in (0u32..).zip(patterns) {
            let text = pattern.text(file);
            let literal = text.get(..pattern.literal as usize).unwrap_or_default();
            match pattern.shape {
                Shape::Name => index.names.add(text, place),
                Shape::NameSuffix => index.name_ends.add(text, place),
                Shape::NameGlob => index.name_starts.add(literal, place),
                Shape::Path => index.path_starts.add(literal, place),
            }
        }
        for literals in [&mut index.names, &mut index.name_ends, &mut index.name_starts, &mut index.path_starts] {
            literals.finish();
        }
        index
    }

    /// The indices of the patterns that may match, ascending.
    pub(super) fn candidates(&self, name: &[u8], below: &[u8]) -> Vec<u32> {
        let mut found = Vec::new();
        found.extend(self.names.by_text.get(name).into_iter().flatten());
        let ends = self.name_ends.lengths.iter().filter_map(|length| name.get(name.len().checked_sub(*length)?..));
        ends.for_each(|end| found.extend(self.name_ends.by_text.get(end).into_iter().flatten()));
        for (literals, text) in [(&self.name_starts, name), (&self.path_starts, below)] {
            let starts = literals.lengths.iter().map_while(|length| text.get(..*length));
            starts.for_each(|start| found.extend(literals.by_text.get(start).into_iter().flatten()));
        }
        found.sort_unstable();
        found
    }
}

impl Literals {
    fn add(&mut self, text: &[u8], place: u32) {
        self.by_text.entry(text.into()).or_default().push(place);
    }

    fn finish(&mut self) {
        let lengths: FxHashSet<usize> = self.by_text.keys().map(|text| text.len()).collect();
        self.lengths = lengths.into_iter().collect();
        self.lengths.sort_unstable();
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::super::PatternList;

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(1000))]

        #[test]
        fn matching_with_an_index_gives_the_same_verdicts(
            lines in prop::collection::vec("!?/?[ab*]{1,3}(/[ab*?]{1,2}){0,2}/?", 33..60),
            path in "[ab]{1,3}(/[ab]{1,3}){0,3}",
            is_directory: bool,
        ) {
            let list = PatternList::parse(lines.join("\n").as_bytes(), 0);
            prop_assert!(list.index.is_some());
            let plain = PatternList { index: None, ..PatternList::parse(lines.join("\n").as_bytes(), 0) };
            let name_start = path.rfind('/').map_or(0, |slash| slash + 1);
            let verdict = |list: &PatternList| list.verdict(path.as_bytes(), name_start, is_directory);
            prop_assert_eq!(verdict(&list), verdict(&plain));
        }
    }
}
