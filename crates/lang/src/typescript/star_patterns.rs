//! Many patterns with one star (`@app/*`, `./features/*.js`), indexed so that the cost of a match depends on the text and hardly
//! on the number of patterns.
//!
//! Prefixes are sorted, and each refers to the longest other prefix that it starts with. A binary search for a text finds the
//! prefix before it, and all other prefixes of the text follow by these references. Suffixes of patterns with the same prefix are
//! indexed in the same way, reversed.

use std::ops::{ControlFlow, Range};

const NONE: u32 = u32::MAX;

/// Sorted texts, each with a reference to the longest other text that it starts with.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
struct Prefixes {
    texts: Vec<Box<[u8]>>,
    shorter: Vec<u32>,
}

impl Prefixes {
    /// `texts` are sorted and unique.
    fn new(texts: Vec<Box<[u8]>>) -> Self {
        let mut shorter = Vec::with_capacity(texts.len());
        // The texts that the next one may start with. Each starts with the previous one.
        let mut stack: Vec<u32> = Vec::new();
        for (index, text) in (0..).zip(&texts) {
            while stack.last().is_some_and(|top| !text.starts_with(&texts[*top as usize])) {
                stack.pop();
            }
            shorter.push(stack.last().copied().unwrap_or(NONE));
            stack.push(index);
        }
        Self { texts, shorter }
    }

    /// All texts that are prefixes of `whole`, longest first.
    fn of<'s>(&'s self, whole: &[u8]) -> impl Iterator<Item = usize> + use<'s> {
        let last = self.texts.partition_point(|text| **text <= *whole).checked_sub(1);
        let common = last.map_or(0, |last| self.texts[last].iter().zip(whole).take_while(|(a, b)| a == b).count());
        let step = |index: &usize| Some(self.shorter[*index]).filter(|next| *next != NONE).map(|next| next as usize);
        std::iter::successors(last, step).filter(move |index| self.texts[*index].len() <= common)
    }
}

/// Patterns, each with the number that the caller assigned.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct StarPatterns {
    prefixes: Prefixes,
    /// The reversed suffixes of each prefix.
    suffixes: Vec<Suffixes>,
}

#[derive(Clone, Debug, Default, PartialEq, Eq)]
struct Suffixes {
    texts: Prefixes,
    /// The pattern numbers of each suffix, ascending.
    numbers: Vec<Vec<u32>>,
}

impl StarPatterns {
    /// Patterns as (before the star, after the star, number). Numbers must not decrease.
    pub(crate) fn new<'p>(patterns: impl IntoIterator<Item = (&'p str, &'p str, u32)>) -> Self {
        type Reversed = Box<[u8]>;
        let reversed = |suffix: &str| suffix.bytes().rev().collect::<Reversed>();
        let mut all: Vec<(Box<[u8]>, Reversed, u32)> = patterns
            .into_iter()
            .map(|(prefix, suffix, number)| (prefix.as_bytes().into(), reversed(suffix), number))
            .collect();
        all.sort_unstable();
        let (mut prefixes, mut suffixes) = (Vec::new(), Vec::new());
        for group in all.chunk_by(|a, b| a.0 == b.0) {
            let (mut texts, mut numbers) = (Vec::new(), Vec::new());
            for same in group.chunk_by(|a, b| a.1 == b.1) {
                texts.extend(same.first().map(|(_, suffix, _)| suffix.clone()));
                numbers.push(same.iter().map(|(.., number)| *number).collect());
            }
            prefixes.extend(group.first().map(|(prefix, ..)| prefix.clone()));
            suffixes.push(Suffixes { texts: Prefixes::new(texts), numbers });
        }
        Self { prefixes: Prefixes::new(prefixes), suffixes }
    }

    /// Calls `act` for each matching pattern, with its number and the range that the star matches: longest prefixes first, and
    /// for the same prefix, longest suffixes first.
    pub(crate) fn matching<B>(
        &self,
        text: &str,
        mut act: impl FnMut(u32, Range<usize>) -> ControlFlow<B>,
    ) -> ControlFlow<B> {
        let mut reversed: Option<Vec<u8>> = None;
        for index in self.prefixes.of(text.as_bytes()) {
            let before = self.prefixes.texts[index].len();
            let group = &self.suffixes[index];
            let reversed = reversed.get_or_insert_with(|| text.bytes().rev().collect());
            for suffix in group.texts.of(reversed) {
                let after = group.texts.texts[suffix].len();
                if before + after > text.len() {
                    continue;
                }
                for number in &group.numbers[suffix] {
                    act(*number, before..text.len() - after)?;
                }
            }
        }
        ControlFlow::Continue(())
    }

    /// The accepted pattern with the longest prefix, and among these the longest suffix.
    pub(crate) fn longest(&self, text: &str, accept: impl Fn(u32) -> bool) -> Option<(u32, Range<usize>)> {
        let found = self.matching(text, |number, star| match accept(number) {
            true => ControlFlow::Break((number, star)),
            false => ControlFlow::Continue(()),
        });
        found.break_value()
    }

    /// The pattern with the smallest number among those with the longest prefix.
    pub(crate) fn first_of_longest_prefix(&self, text: &str) -> Option<(u32, Range<usize>)> {
        let mut best: Option<(u32, Range<usize>)> = None;
        let _: ControlFlow<()> = self.matching(text, |number, star| {
            match &best {
                Some((_, longest)) if star.start < longest.start => return ControlFlow::Break(()),
                Some((first, _)) if number > *first => {}
                _ => best = Some((number, star)),
            }
            ControlFlow::Continue(())
        });
        best
    }
}

/// Splits a pattern with exactly one star.
pub(crate) fn split_star(pattern: &str) -> Option<(&str, &str)> {
    pattern.split_once('*').filter(|(_, suffix)| !suffix.contains('*'))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn pattern() -> impl Strategy<Value = (String, String)> {
        ("[ab/é]{0,4}", "[ab/é]{0,3}")
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(2000))]

        #[test]
        fn the_index_agrees_with_trying_every_pattern(
            patterns in prop::collection::vec(pattern(), 0..12),
            text in "[ab/é]{0,7}",
        ) {
            let numbered = || (0u32..).zip(&patterns).map(|(number, (prefix, suffix))| (&**prefix, &**suffix, number));
            let index = StarPatterns::new(numbered());
            let mut expected: Vec<(usize, usize, u32)> = numbered()
                .filter(|(prefix, suffix, _)| {
                    text.len() >= prefix.len() + suffix.len() && text.starts_with(prefix) && text.ends_with(suffix)
                })
                .map(|(prefix, suffix, number)| (prefix.len(), suffix.len(), number))
                .collect();
            expected.sort_unstable_by_key(|(prefix, suffix, number)| (std::cmp::Reverse((*prefix, *suffix)), *number));
            let mut found = Vec::new();
            let _: ControlFlow<()> = index.matching(&text, |number, star| {
                found.push((star.start, text.len() - star.end, number));
                ControlFlow::Continue(())
            });
            prop_assert_eq!(&found, &expected);
            let first = expected.iter().filter(|one| one.0 == expected[0].0).map(|one| one.2).min();
            prop_assert_eq!(index.first_of_longest_prefix(&text).map(|(number, _)| number), first);
            prop_assert_eq!(index.longest(&text, |_| true).map(|(number, _)| number), expected.first().map(|one| one.2));
        }
    }
}
