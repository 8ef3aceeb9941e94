//! An index of the keys of an `exports` or `imports` map, which may have as many keys as there are imports.

use crate::jsonc::Value;

use super::star_patterns::StarPatterns;

/// The index of one map. It contains positions in that map, so both must be used together.
#[derive(Clone, Debug, Default)]
pub(crate) struct PackageMap {
    /// The positions of all keys, sorted by key.
    sorted: Vec<u32>,
    /// Keys with a star, split at the first one.
    patterns: StarPatterns,
    /// Keys without a star that end with a slash.
    folders: StarPatterns,
    /// Whether some key, or every key, is a subpath (`./x`) or an import (`#x`).
    pub(crate) has_subpaths: bool,
    pub(crate) all_subpaths: bool,
    /// The same for keys that start with a dot.
    pub(crate) has_dots: bool,
    pub(crate) all_dots: bool,
}

/// The value of a key that matches a name.
pub(crate) struct Mapped<'m, 's> {
    pub(crate) target: &'m Value,
    /// The part of the name that matches the star or follows the folder key; empty for an exact key.
    pub(crate) rest: &'s str,
    pub(crate) is_pattern: bool,
}

impl PackageMap {
    pub(crate) fn new(map: &Value) -> Self {
        let entries = map.entries();
        let places = || (0u32..).zip(entries.iter().map(|(key, _)| &**key));
        let mut sorted: Vec<u32> = places().map(|(place, _)| place).collect();
        sorted.sort_by(|a, b| entries[*a as usize].0.cmp(&entries[*b as usize].0));
        let patterns = places().filter_map(|(place, key)| {
            let (prefix, suffix) = key.split_once('*')?;
            Some((prefix, suffix, place))
        });
        let folders = places().filter(|(_, key)| key.ends_with('/') && !key.contains('*'));
        Self {
            sorted,
            patterns: StarPatterns::new(patterns),
            folders: StarPatterns::new(folders.map(|(place, key)| (key, "", place))),
            has_subpaths: places().any(|(_, key)| key.starts_with(['.', '#'])),
            all_subpaths: places().all(|(_, key)| key.starts_with(['.', '#'])),
            has_dots: places().any(|(_, key)| key.starts_with('.')),
            all_dots: places().all(|(_, key)| key.starts_with('.')),
        }
    }

    /// The value of a key.
    pub(crate) fn get<'m>(&self, map: &'m Value, key: &str) -> Option<&'m Value> {
        let entries = map.entries();
        let name = |place: u32| entries.get(place as usize).map_or("", |(name, _)| name);
        let start = self.sorted.partition_point(|place| name(*place) < key);
        let place = self.sorted.get(start).filter(|place| name(**place) == key)?;
        entries.get(*place as usize).map(|(_, value)| value)
    }

    /// TypeScript's rule: an exact key first, otherwise the key with the longest text before its star (or its end, for a folder),
    /// a pattern before a folder, and the longer pattern first.
    pub(crate) fn by_typescript<'m, 's>(&self, map: &'m Value, name: &'s str) -> Option<Mapped<'m, 's>> {
        if !name.ends_with('/')
            && !name.contains('*')
            && let Some(target) = self.get(map, name)
        {
            return Some(Mapped { target, rest: "", is_pattern: false });
        }
        let entries = map.entries();
        let has_one_star = |place: u32| {
            entries.get(place as usize).is_some_and(|(key, _)| key.bytes().filter(|byte| *byte == b'*').count() == 1)
        };
        let pattern = self.patterns.longest(name, has_one_star);
        let folder = self.folders.longest(name, |_| true);
        let (place, star, is_pattern) = match (pattern, folder) {
            (Some((place, star)), Some((_, rest))) if star.start + 1 >= rest.start => (place, star, true),
            (Some((place, star)), None) => (place, star, true),
            (_, Some((place, rest))) => (place, rest, false),
            (None, None) => return None,
        };
        let (_, target) = entries.get(place as usize)?;
        Some(Mapped { target, rest: &name[star], is_pattern })
    }

    /// Node's rule: an exact key first, otherwise the pattern with the longest text before its star, then the longest pattern.
    pub(crate) fn by_node<'m, 's>(&self, map: &'m Value, name: &'s str) -> Option<Mapped<'m, 's>> {
        if let Some(target) = self.get(map, name) {
            return Some(Mapped { target, rest: "", is_pattern: false });
        }
        let (place, star) = self.patterns.longest(name, |_| true)?;
        let (_, target) = map.entries().get(place as usize)?;
        Some(Mapped { target, rest: &name[star], is_pattern: true })
    }
}

#[cfg(test)]
mod tests {
    use std::cmp::Ordering;

    use proptest::prelude::*;

    use super::*;

    /// TypeScript's own implementation of the rule: sorts the patterns and takes the first match.
    fn by_sorting<'s>(keys: &[String], name: &'s str) -> Option<(String, &'s str, bool)> {
        if !name.ends_with('/') && !name.contains('*') && keys.iter().any(|key| key == name) {
            return Some((name.to_owned(), "", false));
        }
        let base = |key: &str| key.find('*').map_or(key.len(), |at| at + 1);
        let mut patterns: Vec<&String> =
            keys.iter().filter(|key| key.matches('*').count() == 1 || key.ends_with('/')).collect();
        patterns.sort_by(|a, b| {
            base(b).cmp(&base(a)).then_with(|| match (a.contains('*'), b.contains('*')) {
                (false, _) => Ordering::Greater,
                (_, false) => Ordering::Less,
                _ => b.len().cmp(&a.len()),
            })
        });
        patterns.into_iter().find_map(|key| match key.split_once('*') {
            Some((prefix, suffix)) => {
                (name.len() >= prefix.len() + suffix.len() && name.starts_with(prefix) && name.ends_with(suffix))
                    .then(|| (key.clone(), &name[prefix.len()..name.len() - suffix.len()], true))
            }
            None => name.strip_prefix(key.as_str()).map(|rest| (key.clone(), rest, false)),
        })
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(2000))]

        #[test]
        fn the_index_gives_the_key_that_sorting_gives(
            keys in prop::collection::btree_set("[.][/][ab/]{0,4}[*]?[ab/*]{0,3}", 0..10),
            name in "[.][/][ab/*]{0,6}",
        ) {
            let keys: Vec<String> = keys.into_iter().collect();
            let entries = keys.iter().map(|key| (key.as_str().into(), Value::String(key.as_str().into()))).collect();
            let map = Value::Object(entries);
            let index = PackageMap::new(&map);
            let found = index.by_typescript(&map, &name);
            let found = found.map(|one| (one.target.as_str().unwrap().to_owned(), one.rest, one.is_pattern));
            // A key with several stars that ends in a slash is neither a pattern nor a folder worth distinguishing.
            prop_assume!(!keys.iter().any(|key| key.matches('*').count() > 1 && key.ends_with('/')));
            prop_assert_eq!(found, by_sorting(&keys, &name));
        }
    }
}
