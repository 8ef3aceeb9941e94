//! What is wrong with a document from an untrusted source, and where. Not for files that cannot be opened.

use std::fmt;

/// One finding about one document. `Display` is a whole line for a user: file, position, expectation, entry.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, thiserror::Error)]
pub struct DocumentError {
    /// The document as the reader knows it, usually relative to the repository.
    pub file: String,
    pub place: DocumentPlace,
    /// What is wrong: `expected a depth of 0 or more, found -1`.
    pub message: String,
    /// The entry around the position as minified JSON, truncated if it is long.
    pub shown: Option<String>,
}

/// A position in a document.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum DocumentPlace {
    /// A JSON Pointer; empty for the whole document.
    Pointer(String),
    /// Where parsing as JSON failed: both 1-based, the column in bytes.
    Line { line: usize, column: usize },
    /// The list of findings was truncated, so there is no single position.
    Rest,
}

impl DocumentError {
    /// The JSON Pointer, if the document is JSON.
    pub fn pointer(&self) -> Option<&str> {
        match &self.place {
            DocumentPlace::Pointer(pointer) => Some(pointer),
            DocumentPlace::Line { .. } | DocumentPlace::Rest => None,
        }
    }
}

impl fmt::Display for DocumentError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "`{}`", self.file)?;
        match &self.place {
            DocumentPlace::Pointer(pointer) if pointer.is_empty() => {}
            DocumentPlace::Pointer(pointer) => write!(f, " at {pointer}")?,
            DocumentPlace::Line { line, column } => write!(f, " at line {line} column {column}")?,
            DocumentPlace::Rest => {}
        }
        write!(f, ": {}", self.message)?;
        self.shown.iter().try_for_each(|shown| write!(f, " in {shown}"))
    }
}
