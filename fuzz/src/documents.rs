//! What holds for the findings of every strict document reader.

use stan_model::document::{DocumentError, DocumentPlace};

/// As many findings as a reader reports at most, and one line that says how many more there are.
const MAX_FINDINGS: usize = 101;

/// A refusal says something, not endlessly, and about places that the document has.
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
