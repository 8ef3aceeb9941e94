//! A set of `include` or `exclude` patterns: a tree of their components, walked once per path, so that the cost hardly depends on
//! the number of patterns.
//!
//! Literal components are found by hash, and components with one star through [`StarPatterns`]. Components with several wildcards
//! are tried one by one, so their number is limited.

use std::ops::ControlFlow;

use rustc_hash::FxHashMap;

use crate::typescript::star_patterns::{StarPatterns, split_star};

use super::patterns::{Component, Usage, split};

/// The maximum number of different components with several wildcards in a set.
pub(super) const MAX_MANIFOLD: usize = 200;
/// The maximum number of matching patterns that are distinguished.
pub(super) const MAX_FOUND: usize = 256;

/// Patterns, each with the number that the caller assigned.
#[derive(Debug)]
pub(super) struct PatternSet {
    is_include: bool,
    nodes: Vec<Node>,
    /// Patterns that were dropped because the set already had too many components with several wildcards.
    pub(super) refused: Vec<u32>,
}

/// A state of a walk: after the components on the path to it.
#[derive(Debug, Default)]
struct Node {
    literal: FxHashMap<Box<str>, u32>,
    /// After a `**`, so names may be skipped here.
    is_recursive: bool,
    /// The node after a `**`, which may match nothing.
    recursive: Option<u32>,
    wild: Option<Box<Wild>>,
    /// The patterns that end here, ascending.
    ends: Vec<u32>,
}

/// The components with wildcards that may follow.
#[derive(Debug, Default)]
struct Wild {
    /// Their nodes, used while the set is built.
    by_text: FxHashMap<Box<str>, u32>,
    /// Each with the node after it.
    components: Vec<(Component, u32)>,
    texts: Vec<Box<str>>,
    /// The indices of components with one star and no other wildcard.
    one_star: StarPatterns,
    others: Vec<u32>,
}

impl PatternSet {
    /// Patterns as (text, the directory they are relative to, number). Numbers must not decrease.
    pub(super) fn new<'p>(patterns: impl IntoIterator<Item = (&'p str, &'p str, u32)>, usage: Usage) -> Self {
        let mut set = Self { is_include: usage == Usage::Include, nodes: vec![Node::default()], refused: Vec::new() };
        let mut manifold = 0;
        for (spec, base, number) in patterns {
            let Some(names) = split(spec, base, usage) else { continue };
            let new = names.iter().filter(|name| is_manifold(name)).count();
            if new > 0 && manifold + new > MAX_MANIFOLD {
                set.refused.push(number);
                continue;
            }
            manifold += new;
            let end = names.iter().fold(0, |node, name| set.child(node, name, usage));
            if let Some(node) = set.nodes.get_mut(end as usize) {
                node.ends.push(number);
            }
        }
        set.refused.dedup();
        set.nodes.iter_mut().filter_map(|node| node.wild.as_deref_mut()).for_each(Wild::index);
        set
    }

    fn child(&mut self, node: u32, name: &str, usage: Usage) -> u32 {
        let new = u32::try_from(self.nodes.len()).unwrap_or(u32::MAX);
        let Some(parent) = self.nodes.get_mut(node as usize) else { return node };
        let child = match Component::new(name, usage) {
            Component::Recursive => *parent.recursive.get_or_insert(new),
            Component::Literal(literal) => *parent.literal.entry(literal).or_insert(new),
            component => {
                let wild = parent.wild.get_or_insert_default();
                *wild.by_text.entry(name.into()).or_insert_with(|| {
                    wild.components.push((component, new));
                    wild.texts.push(name.into());
                    new
                })
            }
        };
        if child == new {
            self.nodes.push(Node { is_recursive: name == "**", ..Node::default() });
        }
        child
    }

    /// The smallest number of a matching pattern. An `exclude` also matches everything below.
    pub(super) fn first(&self, path: &str) -> Option<u32> {
        self.walk(path).into_iter().filter_map(|node| self.ends(node).first().copied()).min()
    }

    /// The numbers of the matching patterns and of the dropped ones, ascending and unique; only the smallest if there are very
    /// many.
    pub(super) fn all(&self, path: &str) -> Vec<u32> {
        let mut found: Vec<u32> = self.refused.iter().take(MAX_FOUND).copied().collect();
        for node in self.walk(path) {
            found.extend(self.ends(node).iter().take(MAX_FOUND));
        }
        found.sort_unstable();
        found.dedup();
        found.truncate(MAX_FOUND);
        found
    }

    fn ends(&self, node: u32) -> &[u32] {
        self.nodes.get(node as usize).map_or(&[], |node| &node.ends)
    }

    /// The nodes that the whole path reaches. For an `exclude`, also those of the first excluded directory.
    fn walk(&self, path: &str) -> Vec<u32> {
        let mut active = Vec::new();
        self.enter(0, &mut active);
        let mut next = Vec::new();
        let mut names = path.strip_prefix('/').unwrap_or(path).split('/').peekable();
        while let Some(name) = names.next() {
            // An excluded directory excludes everything below it, so the rest of the path does not matter.
            let is_over = !self.is_include && active.iter().any(|node| !self.ends(*node).is_empty());
            if is_over || active.is_empty() {
                break;
            }
            let is_last = names.peek().is_none();
            for node in active.drain(..) {
                self.step(node, name, is_last, &mut next);
            }
            // `**` reaches one node on several paths. Without removing duplicates, deep paths would cost exponential time.
            next.sort_unstable();
            next.dedup();
            std::mem::swap(&mut active, &mut next);
        }
        active
    }

    fn step(&self, at: u32, name: &str, is_last: bool, next: &mut Vec<u32>) {
        let Some(node) = self.nodes.get(at as usize) else { return };
        let include = self.is_include;
        if node.is_recursive && Component::Recursive.accepts(name, is_last, include) {
            next.push(at);
        }
        if let Some(child) = node.literal.get(name) {
            self.enter(*child, next);
        }
        let Some(wild) = &node.wild else { return };
        // The index only compares prefixes and suffixes. `accepts` also applies the default exclusions of `include`.
        let mut try_one = |place: u32| {
            if let Some((component, child)) = wild.components.get(place as usize)
                && component.accepts(name, is_last, include)
            {
                self.enter(*child, next);
            }
        };
        let _: ControlFlow<()> = wild.one_star.matching(name, |place, _| {
            try_one(place);
            ControlFlow::Continue(())
        });
        wild.others.iter().copied().for_each(try_one);
    }

    /// `**` may match nothing, even several in a row.
    fn enter(&self, node: u32, active: &mut Vec<u32>) {
        let mut at = Some(node);
        while let Some(node) = at {
            active.push(node);
            at = self.nodes.get(node as usize).and_then(|node| node.recursive);
        }
    }
}

impl Wild {
    fn index(&mut self) {
        let texts = std::mem::take(&mut self.texts);
        self.by_text = FxHashMap::default();
        let (others, one_star): (Vec<_>, Vec<_>) = (0u32..).zip(&texts).partition(|(_, text)| is_manifold(text));
        self.others = others.into_iter().map(|(place, _)| place).collect();
        self.one_star = StarPatterns::new(one_star.into_iter().filter_map(|(place, text)| {
            let (prefix, suffix) = split_star(text)?;
            Some((prefix, suffix, place))
        }));
    }
}

/// Whether a component has several wildcards, or one that is not a star.
fn is_manifold(name: &str) -> bool {
    name != "**" && name.contains(['*', '?']) && (name.contains('?') || split_star(name).is_none())
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::super::patterns::Pattern;
    use super::*;

    #[test]
    fn refused_patterns_count_as_matches() {
        let patterns: Vec<String> = (0..MAX_MANIFOLD + 2).map(|number| format!("*{number}*a*")).collect();
        let numbered = (0u32..).zip(&patterns).map(|(number, pattern)| (&**pattern, "/r", number));
        let set = PatternSet::new(numbered, Usage::Include);
        assert_eq!(set.refused, [200, 201]);
        assert_eq!((set.first("/r/7a.ts"), set.all("/r/7a.ts")), (Some(7), vec![7, 200, 201]));
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(3000))]

        #[test]
        fn a_set_agrees_with_its_patterns_one_by_one(
            specs in prop::collection::vec("([ab]|[*][*]|[*]|a[*]|[*]a|[*]b[*]|[?]|[.]a|[*].js){1}(/([ab]|[*][*]|[*]|a[*]|[*]a|[?]b|b.min.js|[*].js)){0,3}", 0..6),
            path in "(/(a|b|ab|ba|node_modules|[.]a|b.min.js|a.js)){1,5}",
        ) {
            for usage in [Usage::Include, Usage::Exclude] {
                let patterns: Vec<Option<Pattern>> = specs.iter().map(|spec| Pattern::new(spec, "/", usage)).collect();
                let matches = |pattern: &Option<Pattern>| pattern.as_ref().is_some_and(|pattern| pattern.matches(&path));
                let set = PatternSet::new((0u32..).zip(&specs).map(|(number, spec)| (&**spec, "/", number)), usage);
                prop_assert!(set.refused.is_empty());
                let expected: Vec<u32> =
                    (0u32..).zip(&patterns).filter(|(_, pattern)| matches(pattern)).map(|(number, _)| number).collect();
                if usage == Usage::Include {
                    prop_assert_eq!(set.all(&path), expected.clone());
                    prop_assert_eq!(set.first(&path), expected.first().copied());
                } else {
                    prop_assert_eq!(set.first(&path).is_some(), !expected.is_empty());
                }
            }
        }
    }
}
