//! The laws of Rust: any bytes as a file, with its facts, outline and names.

use std::collections::BTreeSet;

use stan_lang::ExtractOptions;
use stan_lang::language::Declare as _;
use stan_lang::rust::{Rust, extract::extract};
use stan_model::facts::Bound;

use crate::declare::{check_names, check_outline};
use crate::room::with_room;

pub fn law(bytes: &[u8]) {
    with_room(|| {
        check_facts(bytes);
        let Some(text) = Rust.text_of(bytes) else { return };
        let units = Rust.declare("a.rs", &text);
        assert_eq!(units.outline, Rust.outline("a.rs", &text), "the outline does not depend on names");
        check_outline(&text, &units.outline);
        check_names(&text, &units.names, units.outline.units.len());
    });
}

/// The facts are deterministic, sorted where they are searched, and proportional to the file.
fn check_facts(bytes: &[u8]) {
    let options = ExtractOptions::default();
    let extraction = extract(bytes, &options);
    assert_eq!(extraction, extract(bytes, &options), "the same bytes give the same facts");
    let facts = &extraction.facts;
    assert!(facts.is_consistent(bytes.len() as u64), "another machine may use them");
    let mut seen = BTreeSet::new();
    for request in &facts.requests {
        let is_new = seen.insert((&request.specifier, request.form));
        assert!(!request.specifier.is_empty() && request.line >= 1 && is_new, "{request:?}");
    }
    let written: usize = facts.requests.iter().map(|request| request.specifier.len()).sum();
    assert!(written <= 12 * bytes.len() + (1 << 16), "{written} bytes of specifiers");
    let count = u32::try_from(facts.requests.len()).expect("few requests");
    assert!(facts.imports.iter().all(|import| import.request < count && !import.name.is_empty()));
    let scopes = u32::try_from(facts.scopes.len()).expect("few modules");
    for scope in &facts.scopes {
        assert!(scope.bindings.is_sorted_by(|left, right| left < right), "bindings are sorted and unique");
        assert!(scope.globs.iter().all(|(request, _)| *request < count));
        for binding in &scope.bindings {
            let is_known = match binding.bound {
                Bound::Scope(scope) | Bound::Expansion(scope) => 0 < scope && scope < scopes,
                Bound::Request(request) => request < count,
                Bound::Item | Bound::Macro => true,
            };
            assert!(is_known && !binding.name.is_empty(), "{binding:?}");
        }
    }
    for list in [&facts.declares, &facts.uses] {
        assert!(list.is_sorted_by(|left, right| left < right), "names are sorted and unique");
    }
}
