//! Path mappings, indexed by pattern: `paths` of a tsconfig and `typesVersions` of a package.

use super::star_patterns::{StarPatterns, split_star};

/// Patterns with their targets, in file order.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct PathTable {
    entries: Vec<(Box<str>, Vec<Box<str>>)>,
    /// The positions of the patterns without a star, sorted by pattern.
    exact: Vec<u32>,
    stars: StarPatterns,
}

impl PathTable {
    pub(crate) fn new(entries: Vec<(Box<str>, Vec<Box<str>>)>) -> Self {
        let places = || (0u32..).zip(&entries);
        let mut exact: Vec<u32> =
            places().filter(|(_, (pattern, _))| !pattern.contains('*')).map(|(place, _)| place).collect();
        exact.sort_by(|a, b| entries[*a as usize].0.cmp(&entries[*b as usize].0));
        let stars = StarPatterns::new(places().filter_map(|(place, (pattern, _))| {
            let (prefix, suffix) = split_star(pattern)?;
            Some((prefix, suffix, place))
        }));
        Self { entries, exact, stars }
    }

    pub fn is_empty(&self) -> bool {
        self.entries.is_empty()
    }

    /// In file order, with targets as written.
    pub fn entries(&self) -> &[(Box<str>, Vec<Box<str>>)] {
        &self.entries
    }

    /// The targets for a specifier, and the text that the star matches. An exact pattern wins, then the one with the longest text
    /// before its star.
    pub(crate) fn best<'s>(&self, specifier: &'s str) -> Option<(&[Box<str>], &'s str)> {
        let at = |place: u32| &self.entries[place as usize];
        let start = self.exact.partition_point(|place| *at(*place).0 < *specifier);
        if let Some(place) = self.exact.get(start).filter(|place| *at(**place).0 == *specifier) {
            return Some((&at(*place).1, ""));
        }
        let (place, star) = self.stars.first_of_longest_prefix(specifier)?;
        Some((&at(place).1, &specifier[star]))
    }
}
