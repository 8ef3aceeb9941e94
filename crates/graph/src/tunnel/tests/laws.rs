//! Random module graphs: compared with ECMA-262's own algorithm, and with every shortcut against none.

use std::collections::BTreeSet;

use proptest::prelude::*;
use stan_model::facts::ExportSource;

use super::fixture::{Fixture, Sketch, Source};
use crate::tunnel::stars::{Limits, StarTables};
use crate::tunnel::{FileKey, Modules, Tunneller};

const NAMES: [&str; 5] = ["a", "b", "c", "default", "export="];
const MODULES: u32 = 7;

/// `ResolveExport` of ECMA-262 §16.2.1.7.2.2, recursive as it is there, except that an ambiguous name gives all its
/// modules instead of a failure, and a module that does not exist gives nothing.
fn resolve_export(
    fixture: &Fixture,
    module: FileKey,
    name: &str,
    resolve_set: &mut Vec<(FileKey, String)>,
) -> BTreeSet<FileKey> {
    if resolve_set.contains(&(module, name.to_owned())) {
        return BTreeSet::new();
    }
    resolve_set.push((module, name.to_owned()));
    let Some(record) = fixture.module(module) else { return BTreeSet::new() };
    let target = |request: u32| record.targets[request as usize];
    for entry in &record.facts.exports {
        if *entry.name != *name {
            continue;
        }
        return match &entry.source {
            ExportSource::Local => BTreeSet::from([module]),
            ExportSource::Namespace { request } => target(*request).into_iter().collect(),
            ExportSource::Name { request, name } => {
                target(*request).map(|target| resolve_export(fixture, target, name, resolve_set)).unwrap_or_default()
            }
        };
    }
    if name == "default" {
        return BTreeSet::new();
    }
    let mut resolutions = BTreeSet::new();
    for star in &record.facts.stars {
        if let Some(target) = target(*star) {
            resolutions.extend(resolve_export(fixture, target, name, resolve_set));
        }
    }
    resolutions
}

fn file(count: u32) -> impl Strategy<Value = Option<u32>> {
    prop_oneof![8 => (0..count).prop_map(Some), 1 => Just(None)]
}

fn source(count: u32, names: usize) -> impl Strategy<Value = Source> {
    prop_oneof![
        2 => Just(Source::Local),
        4 => (file(count), 0..names).prop_map(|(file, name)| Source::Name(file, NAMES[name].to_owned())),
        1 => file(count).prop_map(Source::Namespace),
    ]
}

fn exports(count: u32, names: usize, most: usize) -> impl Strategy<Value = Vec<(String, Source)>> {
    let export = (0..names, source(count, names)).prop_map(|(name, source)| (NAMES[name].to_owned(), source));
    prop::collection::vec(export, 0..=most)
}

/// Only ECMAScript: unique names, no `export =`, and at least one export in every module.
fn ecmascript_modules() -> impl Strategy<Value = Fixture> {
    let module = (exports(MODULES, 4, 2), prop::collection::vec(file(MODULES), 0..3));
    prop::collection::vec(module, MODULES as usize).prop_map(|modules| {
        let mut fixture = Fixture::default();
        for (number, (mut exports, stars)) in modules.into_iter().enumerate() {
            exports.sort_by(|(a, _), (b, _)| a.cmp(b));
            exports.dedup_by(|(a, _), (b, _)| a == b);
            exports.push(("own".to_owned(), Source::Local));
            fixture.push(number.to_string(), Sketch { exports, stars, ..Sketch::default() });
        }
        fixture
    })
}

/// Everything: `export =`, several sources of a name, empty modules, files that cannot be analysed, packages.
fn any_modules() -> impl Strategy<Value = Fixture> {
    let count = MODULES + 2;
    let module = (exports(count, 5, 2), prop::collection::vec(file(count), 0..4), 0..6u8);
    prop::collection::vec(module, MODULES as usize).prop_map(|modules| {
        let mut fixture = Fixture::default();
        for (number, (exports, stars, package)) in modules.into_iter().enumerate() {
            let name = if package < 2 { format!("{package}/{number}") } else { number.to_string() };
            fixture.push(name, Sketch { exports, stars, ..Sketch::default() });
        }
        fixture.names.extend(["0/opaque".to_owned(), "opaque".to_owned()]);
        fixture
    })
}

fn tunneller(fixture: &Fixture, follow: u32, entries: usize) -> Tunneller<'_> {
    let mut tunneller = Tunneller::new(fixture);
    tunneller.stars = StarTables::new(Limits { follow, entries });
    tunneller
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(1500))]

    #[test]
    fn definers_are_those_of_ecmascript(fixture in ecmascript_modules()) {
        let shared = Tunneller::new(&fixture);
        for module in (0..MODULES).map(FileKey) {
            for name in &NAMES[..4] {
                let expected: Vec<FileKey> =
                    resolve_export(&fixture, module, name, &mut Vec::new()).into_iter().collect();
                prop_assert_eq!(&*shared.definers(module, name), expected.as_slice(), "{:?} {}", module, name);
            }
        }
    }

    #[test]
    fn memoised_answers_and_tables_do_not_change_an_answer(
        fixture in any_modules(),
        questions in Just((0..MODULES).flat_map(|module| NAMES.map(|name| (module, name))).collect::<Vec<_>>())
            .prop_shuffle(),
    ) {
        let remembering = tunneller(&fixture, u32::MAX, 0);
        let always_tables = tunneller(&fixture, 0, usize::MAX);
        let some_tables = tunneller(&fixture, 3, 12);
        let mut components = tunneller(&fixture, u32::MAX, 0);
        components.walk_limit = 0;
        let mut components_and_tables = tunneller(&fixture, 3, usize::MAX);
        components_and_tables.walk_limit = 2;
        let mut forgetting = tunneller(&fixture, u32::MAX, 0);
        (forgetting.walk_limit, forgetting.max_closed) = (0, 3);
        for (module, name) in questions {
            let module = FileKey(module);
            let expected = tunneller(&fixture, u32::MAX, 0).definers(module, name);
            prop_assert!(expected.is_sorted_by(|a, b| a < b));
            for (way, tunneller) in [
                ("memory", &remembering),
                ("tables", &always_tables),
                ("some tables", &some_tables),
                ("components", &components),
                ("components and tables", &components_and_tables),
                ("forgetting", &forgetting),
            ] {
                prop_assert_eq!(&tunneller.definers(module, name), &expected, "{}: {:?} {}", way, module, name);
            }
        }
    }

    #[test]
    fn a_definer_is_never_outside_of_an_external_barrels_package(fixture in any_modules()) {
        for module in (0..MODULES).map(FileKey) {
            for name in NAMES {
                for definer in &*Tunneller::new(&fixture).definers(module, name) {
                    prop_assert!(fixture.may_enter(module, *definer));
                }
            }
        }
    }
}
