//! Which of a module's exported names may resolve differently after an edit. A superfluous name only costs time: the implicit
//! edges of every file that takes it are recomputed. A missing name would leave wrong edges. So every approximation here adds
//! names.

use std::collections::BTreeSet;

use rustc_hash::{FxHashMap, FxHashSet};
use stan_model::FileFacts;
use stan_model::facts::{EXPORT_EQUALS, Export, ExportSource};

use super::record::name_hash;
use crate::cache::RecordId;
use crate::cache::data::ANY_NAME;

/// A set of export names, as 32-bit hashes.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct ChangedNames {
    /// The set contains every name.
    all: bool,
    hashes: FxHashSet<u32>,
}

/// Facts, and for each request the file that it resolves to.
type Surface<'f> = (&'f FileFacts, &'f [RecordId]);

impl ChangedNames {
    fn all() -> Self {
        Self { all: true, hashes: FxHashSet::default() }
    }

    pub(super) fn is_empty(&self) -> bool {
        !self.all && self.hashes.is_empty()
    }

    pub(super) fn has(&self, hash: u32) -> bool {
        self.all || self.hashes.contains(&hash)
    }

    /// As [`Self::has`]; also true for [`ANY_NAME`].
    pub(super) fn concern(&self, hash: u32) -> bool {
        hash == ANY_NAME || self.has(hash)
    }

    /// Returns true if the set grew.
    pub(super) fn add(&mut self, other: Self) -> bool {
        let before = (self.all, self.hashes.len());
        self.all |= other.all;
        self.hashes.extend(other.hashes);
        before != (self.all, self.hashes.len())
    }

    /// The names that an edited file itself exports differently.
    pub(super) fn between(old: Option<Surface<'_>>, new: Option<Surface<'_>>) -> Self {
        let (old, new) = match (old, new) {
            (None, None) => return Self::default(),
            (Some(old), Some(new)) => (old, new),
            _ => return Self::all(),
        };
        let is_opaque = |(facts, _): Surface<'_>| facts.exports.is_empty() && facts.stars.is_empty();
        if is_opaque(old) != is_opaque(new) || stars(old) != stars(new) {
            return Self::all();
        }
        let (old, new) = (exports(old), exports(new));
        let mut names = Self::default();
        for export in old.symmetric_difference(&new) {
            names.all |= export.name == EXPORT_EQUALS;
            names.hashes.insert(name_hash(export.name));
        }
        names
    }

    /// The names of a module that re-export changed names of others.
    pub(super) fn passed_on(
        facts: &FileFacts,
        targets: &[RecordId],
        changes: &FxHashMap<RecordId, ChangedNames>,
    ) -> Self {
        let changes_of = |request: u32| changes.get(&target(targets, request));
        let mut names = Self::default();
        for request in &facts.stars {
            // Stars do not forward `default`, but adding it is harmless.
            if let Some(changed) = changes_of(*request) {
                names.add(changed.clone());
            }
        }
        for export in &facts.exports {
            let changed = match &export.source {
                ExportSource::Local => false,
                ExportSource::Name { request, name } => changes_of(*request)
                    .is_some_and(|changed| &*export.name == EXPORT_EQUALS || changed.has(name_hash(name))),
                // A namespace resolves to the module itself, whatever that exports, except for members of `export =`.
                ExportSource::Namespace { request } => &*export.name == EXPORT_EQUALS && changes_of(*request).is_some(),
            };
            if changed {
                names.all |= &*export.name == EXPORT_EQUALS;
                names.hashes.insert(name_hash(&export.name));
            }
        }
        names
    }
}

fn target(targets: &[RecordId], request: u32) -> RecordId {
    targets.get(request as usize).copied().unwrap_or(RecordId::NONE)
}

fn stars((facts, targets): Surface<'_>) -> Vec<RecordId> {
    facts.stars.iter().map(|request| target(targets, *request)).collect()
}

/// An exported name and its origin.
#[derive(PartialEq, Eq, PartialOrd, Ord)]
struct ResolvedExport<'f> {
    name: &'f str,
    /// The file that the name resolves to; `UNKNOWN` for the module itself.
    file: RecordId,
    /// The name in that file; `None` for all of the file.
    original: Option<&'f str>,
}

fn exports<'f>((facts, targets): Surface<'f>) -> BTreeSet<ResolvedExport<'f>> {
    let origin = |source: &'f ExportSource| match source {
        ExportSource::Local => (RecordId::UNKNOWN, None),
        ExportSource::Name { request, name } => (target(targets, *request), Some(&**name)),
        ExportSource::Namespace { request } => (target(targets, *request), None),
    };
    let resolved = |export: &'f Export| {
        let (file, original) = origin(&export.source);
        ResolvedExport { name: &export.name, file, original }
    };
    facts.exports.iter().map(resolved).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// `a`, `a=2` (all of 2), `a=2.b`, `*2`: exports of a module, with the files that they resolve to.
    fn facts(text: &str) -> (FileFacts, Vec<RecordId>) {
        let (mut facts, mut targets) = (FileFacts::default(), Vec::new());
        for word in text.split_whitespace() {
            let request = targets.len() as u32;
            let (name, source) = match word.rsplit_once('=') {
                _ if word.starts_with('*') => ("", word.trim_start_matches('*')),
                Some((name, source)) if !source.is_empty() => (name, source),
                _ => (word, ""),
            };
            let (file, there) = source.split_once('.').unwrap_or((source, ""));
            if let Ok(file) = file.parse() {
                targets.push(RecordId(file));
            }
            let source = match (source, there) {
                ("", _) => ExportSource::Local,
                (_, "") => ExportSource::Namespace { request },
                (_, there) => ExportSource::Name { request, name: there.into() },
            };
            if name.is_empty() {
                facts.stars.push(request);
            } else {
                facts.exports.push(Export { name: name.into(), source });
            }
        }
        facts.exports.sort();
        (facts, targets)
    }

    fn named(names: &str) -> ChangedNames {
        if names == "ALL" {
            return ChangedNames::all();
        }
        ChangedNames { all: false, hashes: names.split_whitespace().map(name_hash).collect() }
    }

    #[test]
    fn an_edit_changes_the_names_that_differ() {
        let check = |old: &str, new: &str, expected: &str| {
            let (old_facts, old_targets) = facts(old);
            let (new_facts, new_targets) = facts(new);
            let names = ChangedNames::between(Some((&old_facts, &old_targets)), Some((&new_facts, &new_targets)));
            assert_eq!((names.all, &names.hashes), (named(expected).all, &named(expected).hashes), "{old} -> {new}");
        };
        check("a b", "a b", "");
        check("a b", "a b c", "c");
        check("a b", "a", "b");
        check("a=2.x b", "a=3.x b", "a");
        check("a=2.x b", "a=2.y b", "a");
        check("a=2", "a=2.a", "a");
        check("a", "a=2.a", "a");
        check("a *2", "a *3", "ALL");
        check("a", "", "ALL");
        check("", "a", "ALL");
        check("*2", "a *2", "a");
    }

    #[test]
    fn a_file_without_facts_may_have_changed_any_name() {
        let (facts, targets) = facts("a");
        assert_eq!(ChangedNames::between(None, None), named(""));
        assert_eq!(ChangedNames::between(Some((&facts, &targets)), None), named("ALL"));
    }

    #[test]
    fn re_exported_names_are_passed_on_under_their_new_names() {
        let check = |module: &str, changed: &str, expected: &str| {
            let (facts, targets) = facts(module);
            let names =
                ChangedNames::passed_on(&facts, &targets, &FxHashMap::from_iter([(RecordId(2), named(changed))]));
            assert_eq!(names, named(expected), "{module} of {changed}");
        };
        check("b=2.a c=2.d e=3.a", "a", "b");
        check("b=2.a", "ALL", "b");
        check("b=2", "a", "");
        check("*2 x", "a b", "a b");
        check("*2", "ALL", "ALL");
        check("*3 b=3.a", "a", "");
    }
}
