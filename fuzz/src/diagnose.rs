//! The laws of the parser of compilers', linters' and test runners' output.

use stan_diagnose::{Diagnostic, is_foreign, parse};

/// Deterministic; lines are 1-based; paths contain no control characters, are not empty and occur in the log; frames are own
/// code; diagnostics are unique.
pub fn law(bytes: &[u8]) {
    let found = parse(bytes, None);
    assert_eq!(found, parse(bytes, None), "the same twice");
    for (index, diagnostic) in found.iter().enumerate() {
        check(diagnostic);
        let repeated = found.iter().skip(index + 1).take(50).any(|other| other == diagnostic);
        assert!(!repeated, "{diagnostic:?} is listed twice");
    }
}

fn check(diagnostic: &Diagnostic) {
    let related = diagnostic.related.iter().map(|related| &related.place);
    let frames = diagnostic.frames.iter().map(|frame| &frame.place);
    for place in diagnostic.place.iter().chain(related).chain(frames) {
        assert!(place.line > 0, "lines are 1-based: {place:?}");
        assert!(!place.file.is_empty() && !place.file.contains(['\n', '\0', '\\']), "{place:?}");
    }
    for frame in &diagnostic.frames {
        assert!(!is_foreign(&frame.place.file), "{frame:?} is not own code");
    }
    assert!(stan_diagnose::tools().contains(&diagnostic.tool), "{} is not listed", diagnostic.tool);
}
