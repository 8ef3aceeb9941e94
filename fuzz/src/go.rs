//! The laws of Go: any bytes as a file, with its facts, outline and names.

use std::collections::BTreeSet;

use stan_lang::go::{Go, extract::extract};
use stan_lang::language::Declare as _;

use crate::declare::{check_names, check_outline};
use crate::room::with_room;

pub fn law(bytes: &[u8]) {
    with_room(|| {
        check_facts(bytes);
        let Some(text) = Go.text_of(bytes) else { return };
        let units = Go.declare("a.go", &text);
        assert_eq!(units.outline, Go.outline("a.go", &text), "the outline does not depend on names");
        check_outline(&text, &units.outline);
        check_names(&text, &units.names, units.outline.units.len());
    });
}

/// The facts are deterministic, sorted where they are searched, and no larger than the file.
fn check_facts(bytes: &[u8]) {
    let extraction = extract(bytes);
    assert_eq!(extraction, extract(bytes), "the same bytes give the same facts");
    let facts = &extraction.facts;
    assert!(facts.is_consistent(bytes.len() as u64), "another machine may use them");
    let mut seen = BTreeSet::new();
    for request in &facts.requests {
        assert!(!request.specifier.is_empty() && request.line >= 1 && seen.insert(&request.specifier), "{request:?}");
    }
    let count = u32::try_from(facts.requests.len()).expect("few requests");
    assert!(facts.imports.iter().all(|import| import.request < count && !import.name.is_empty()));
    for list in [&facts.declares, &facts.uses] {
        assert!(list.is_sorted_by(|left, right| left < right), "names are sorted and unique");
        assert!(list.iter().map(|name| name.len()).sum::<usize>() <= 3 * bytes.len() + 16);
    }
    assert!(facts.uses.iter().all(|name| facts.declares.binary_search(name).is_err()));
}
