//! The laws of the TypeScript and JavaScript extractor: any bytes, in every kind of file.

use std::collections::BTreeSet;

use stan_lang::typescript::extract::Extractor;
use stan_lang::{ExtractOptions, Extraction};
use stan_model::facts::ExportSource;

use crate::room::with_room;

const NAMES: [&str; 8] = ["a.ts", "a.tsx", "a.js", "a.d.ts", "a.jsx", "a.mts", "a.cjs", "a.d.mts"];

/// The first byte selects the kind of file.
pub fn law(bytes: &[u8]) {
    let Some((&kind, contents)) = bytes.split_first() else { return };
    let name = NAMES[usize::from(kind) % NAMES.len()];
    with_room(|| drop(check(name, contents)));
}

/// The facts do not depend on what was parsed before, their indices are valid, their lines exist in the file, and they are no
/// larger than the file allows.
pub(crate) fn check(name: &str, contents: &[u8]) -> Extraction {
    let options = ExtractOptions::default();
    let mut used = Extractor::new();
    let extraction = used.extract(name, contents, &options);
    assert_eq!(extraction, used.extract(name, contents, &options), "memory that is used again changes nothing");
    assert_eq!(extraction, Extractor::new().extract(name, contents, &options), "the same bytes give the same facts");
    let is_text = !contents.starts_with(b"\xff\xfe") && !contents.starts_with(b"\xfe\xff");
    let text = String::from_utf8_lossy(contents.strip_prefix(b"\xef\xbb\xbf").unwrap_or(contents));
    // CR LF is one line end: there is no line between the two.
    let lines: Vec<&str> = text.split("\r\n").flat_map(|part| part.split(['\n', '\r'])).collect();
    for problem in &extraction.problems {
        assert!(!problem.message.is_empty() && !problem.message.contains('\n'), "{problem:?}");
        assert!(
            !is_text || problem.line.is_none_or(|line| (1..=lines.len()).contains(&(line as usize))),
            "{problem:?}"
        );
    }
    let facts = &extraction.facts;
    assert!(facts.is_consistent(contents.len() as u64), "another machine may use them");
    let mut seen = BTreeSet::new();
    let mut size = 0;
    for request in &facts.requests {
        assert!(!request.specifier.is_empty());
        let key = (&request.specifier, request.kind.as_str(), request.form);
        assert!(seen.insert(key), "{request:?} is there twice");
        size += request.specifier.len();
        if is_text {
            let line = (request.line as usize).checked_sub(1).and_then(|line| lines.get(line));
            let line = line.unwrap_or_else(|| panic!("{request:?} is beyond the {} lines", lines.len()));
            // Only escapes and line breaks make a specifier differ from the text of its line.
            let is_plain = !text.contains('\\') && !request.specifier.contains(['\n', '\r']);
            assert!(!is_plain || line.contains(&*request.specifier), "{request:?} is not in {line:?}");
        }
    }
    let count = u32::try_from(facts.requests.len()).expect("few requests");
    assert!(facts.imports.iter().all(|import| import.request < count && !import.name.is_empty()));
    assert!(facts.exports.is_sorted_by(|left, right| left < right), "exports are sorted and unique");
    for export in &facts.exports {
        match &export.source {
            ExportSource::Local => {}
            ExportSource::Name { request, .. } | ExportSource::Namespace { request } => assert!(*request < count),
        }
        size += export.name.len();
    }
    assert!(facts.stars.is_sorted_by(|left, right| left < right) && facts.stars.iter().all(|star| *star < count));
    assert!(facts.globs.iter().all(|glob| !glob.patterns.is_empty() && glob.line >= 1));
    // Allow for more than the file's size: a UTF-16 file grows when it is converted to UTF-8. A component's file also exports a
    // default.
    assert!(size <= 3 * contents.len() + 16, "{size} bytes of names in {} bytes", contents.len());
    if let Some(description) = &facts.description {
        assert!(description.chars().count() <= options.description_limit + 3 && !description.contains('\n'));
    }
    extraction
}
