//! Collects the specifiers of a file that resolve to paths which may not be read without consent, for one problem about all of
//! them.

use rustc_hash::FxHashSet;
use stan_model::FileProblem;
use stan_model::facts::Request;

use super::{FORBIDDEN, NEEDS_CONSENT};

#[derive(Default)]
pub(super) struct Refused<'r> {
    first: Option<(&'r Request, Box<str>)>,
    specifiers: FxHashSet<&'r str>,
}

impl<'r> Refused<'r> {
    /// Takes the problem of a request; returns it if it is of another kind.
    pub(super) fn take(&mut self, request: &'r Request, problem: &str) -> Option<FileProblem> {
        if ![NEEDS_CONSENT, FORBIDDEN].contains(&problem) {
            return Some(FileProblem::at(request.line, format!("`{}` {problem}", request.specifier)));
        }
        self.specifiers.insert(&request.specifier);
        if self.first.is_none() {
            self.first = Some((request, problem.into()));
        }
        None
    }

    /// One problem for all of them.
    pub(super) fn problem(self) -> Option<FileProblem> {
        let (request, problem) = self.first?;
        let others = match self.specifiers.len() - 1 {
            0 => String::new(),
            1 => " (as does another specifier of this file)".to_owned(),
            more => format!(" (as do {more} other specifiers of this file)"),
        };
        Some(FileProblem::at(request.line, format!("`{}` {problem}{others}", request.specifier)))
    }
}
