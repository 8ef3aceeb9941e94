//! A system that remembers whether anything failed in a way that says nothing about the files: a tired disk, too many
//! open files. What such a run saw must not be kept. Not a retry: the run goes on with the failure as its answer.

use std::io;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, PoisonError};

use stan_repo::{System, advice, is_passing};

use crate::observed_system::{ErrorObserver, ObservedSystem};

pub(crate) type LenientSystem<'s> = ObservedSystem<'s, dyn System + 's, TransientErrors>;

#[derive(Default)]
pub(crate) struct TransientErrors {
    failed: AtomicBool,
    /// The first one that may be gone a moment later: its path, and what to do about it.
    passing: Mutex<Option<(PathBuf, String)>>,
}

impl ErrorObserver for TransientErrors {
    fn observe(&self, path: &Path, error: &io::Error) {
        if !is_an_answer(error.kind()) {
            self.failed.store(true, Ordering::Relaxed);
        }
        if is_passing(error) {
            let mut first = self.passing.lock().unwrap_or_else(PoisonError::into_inner);
            first.get_or_insert_with(|| (path.to_owned(), advice(error)));
        }
    }
}

impl<'s> LenientSystem<'s> {
    pub(crate) fn new(system: &'s dyn System) -> Self {
        Self::with(system, TransientErrors::default())
    }

    /// Whether another run may see something else although no file changed.
    pub(crate) fn failed(&self) -> bool {
        self.notes.failed.load(Ordering::Relaxed)
    }

    /// What a transient I/O error hid: its path, and what to do about it.
    pub(crate) fn hidden(&self) -> Option<(PathBuf, String)> {
        self.notes.passing.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }
}

/// Whether the failure tells something that stays as it is until the file changes. A denial does not: the same file,
/// its stat as it was, may be open to the next user.
fn is_an_answer(kind: io::ErrorKind) -> bool {
    matches!(
        kind,
        io::ErrorKind::NotFound
            | io::ErrorKind::NotADirectory
            | io::ErrorKind::IsADirectory
            | io::ErrorKind::InvalidInput
            | io::ErrorKind::InvalidFilename
            | io::ErrorKind::FileTooLarge
    )
}
