//! The laws of the findings of every strict document reader.

use stan_model::document::{DocumentError, DocumentPlace};

/// The maximum number of findings of a reader, plus one line with the number of the others.
const MAX_FINDINGS: usize = 101;

/// Refused documents have findings, a limited number of them, at positions that exist in the document.
pub(crate) fn check_findings(bytes: &[u8], errors: &[DocumentError]) {
    assert!(!errors.is_empty(), "a refusal without a reason");
    assert!(errors.len() <= MAX_FINDINGS, "{} findings", errors.len());
    let lines = bytes.iter().filter(|&&byte| byte == b'\n').count() + 1;
    for error in errors {
        assert_eq!(error.file, "file.json");
        assert!(!error.message.is_empty());
        assert!(error.to_string().len() < 4 * bytes.len() + 2_000, "a message longer than the document: {error}");
        match &error.place {
            DocumentPlace::Line { line, column } => {
                assert!((1..=lines).contains(line), "line {line} of {lines}");
                assert!((1..=bytes.len() + 1).contains(column), "column {column}");
            }
            DocumentPlace::Pointer(pointer) => assert!(pointer.is_empty() || pointer.starts_with('/'), "{pointer}"),
            DocumentPlace::Rest => {}
        }
    }
}
