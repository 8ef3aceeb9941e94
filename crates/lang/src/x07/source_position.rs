//! The position of a check in the file, and the error that names it. Pointers are only built for an error.

use std::fmt::Write;

use stan_model::jcs::escape_pointer_token;

/// An error in an x07AST file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct X07Error {
    pub message: String,
    /// JSON Pointer into the file as written; empty for the whole document.
    pub pointer: String,
}

impl std::fmt::Display for X07Error {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.message)?;
        if self.pointer.is_empty() { Ok(()) } else { write!(f, " at {}", self.pointer) }
    }
}

impl std::error::Error for X07Error {}

/// A position in the file, as a linked list of steps on the stack.
#[derive(Clone, Copy)]
pub(super) struct SourcePosition<'p> {
    parent: Option<&'p SourcePosition<'p>>,
    step: PointerStep<'p>,
}

#[derive(Clone, Copy)]
enum PointerStep<'p> {
    Root,
    Key(&'p str),
    Index(usize),
}

impl<'p> SourcePosition<'p> {
    pub(super) const ROOT: SourcePosition<'static> = SourcePosition { parent: None, step: PointerStep::Root };

    pub(super) fn key(&'p self, key: &'p str) -> SourcePosition<'p> {
        SourcePosition { parent: Some(self), step: PointerStep::Key(key) }
    }

    pub(super) fn index(&'p self, index: usize) -> SourcePosition<'p> {
        SourcePosition { parent: Some(self), step: PointerStep::Index(index) }
    }

    pub(super) fn error(&self, message: impl Into<String>) -> X07Error {
        X07Error { message: message.into(), pointer: self.pointer() }
    }

    pub(super) fn pointer(&self) -> String {
        let mut pointer = self.parent.map(SourcePosition::pointer).unwrap_or_default();
        match self.step {
            PointerStep::Root => {}
            PointerStep::Key(key) => {
                pointer.push('/');
                pointer.push_str(&escape_pointer_token(key));
            }
            PointerStep::Index(index) => {
                // Writing to a string cannot fail.
                let _ = write!(pointer, "/{index}");
            }
        }
        pointer
    }
}
