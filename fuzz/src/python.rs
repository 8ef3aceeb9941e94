//! The laws of Python: any bytes as a module, with its facts, outline and names.

use std::collections::BTreeSet;

use stan_lang::language::Declare as _;
use stan_lang::python::{Python, extract::extract};
use stan_lang::{ExtractOptions, Extraction};
use stan_model::facts::ExportSource;

use crate::declare::{check_names, check_outline};
use crate::room::with_room;

/// The first byte selects module or stub.
pub fn law(bytes: &[u8]) {
    let Some((&kind, contents)) = bytes.split_first() else { return };
    let name = if kind % 2 == 0 { "a.py" } else { "a.pyi" };
    with_room(|| {
        check_facts(&extract(name, contents, &ExtractOptions::default()), name, contents);
        let Some(text) = Python.text_of(contents) else { return };
        let units = Python.declare(name, &text);
        assert_eq!(units.outline, Python.outline(name, &text), "the outline does not depend on names");
        check_outline(&text, &units.outline);
        check_names(&text, &units.names, units.outline.units.len());
    });
}

/// The facts are deterministic, their indices are valid, their lines exist in the file, and they are no larger than it allows.
fn check_facts(extraction: &Extraction, name: &str, contents: &[u8]) {
    let options = ExtractOptions::default();
    assert_eq!(*extraction, extract(name, contents, &options), "the same bytes give the same facts");
    let most_lines = contents.iter().filter(|byte| matches!(byte, b'\n' | b'\r')).count() + 1;
    let is_place = |line: u32| (1..=most_lines).contains(&(line as usize));
    for problem in &extraction.problems {
        assert!(!problem.message.is_empty() && !problem.message.contains('\n') && problem.line.is_none_or(is_place));
    }
    let facts = &extraction.facts;
    assert!(facts.is_consistent(contents.len() as u64), "another machine may use them");
    let mut seen = BTreeSet::new();
    let mut size = 0;
    for request in &facts.requests {
        assert!(!request.specifier.is_empty() && is_place(request.line), "{request:?}");
        assert!(seen.insert((&request.specifier, request.kind.as_str(), request.form)), "{request:?} is there twice");
        size += request.specifier.len();
    }
    let count = u32::try_from(facts.requests.len()).expect("few requests");
    assert!(facts.imports.iter().all(|import| import.request < count && !import.name.is_empty()));
    assert!(facts.exports.is_sorted_by(|left, right| left < right), "exports are sorted and unique");
    for export in &facts.exports {
        match &export.source {
            ExportSource::Local => {}
            ExportSource::Name { request, .. } | ExportSource::Namespace { request } => assert!(*request < count),
        }
    }
    assert!(facts.stars.is_sorted_by(|left, right| left < right) && facts.stars.iter().all(|star| *star < count));
    assert!(!facts.is_linked_by_name());
    assert!(size <= 16 * contents.len() + (1 << 17), "{size} bytes of specifiers in {} bytes", contents.len());
    if let Some(description) = &facts.description {
        assert!(description.chars().count() <= options.description_limit + 3 && !description.contains('\n'));
    }
}
