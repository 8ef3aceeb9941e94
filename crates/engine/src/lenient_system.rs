//! A system that records transient I/O errors (EIO, EMFILE, …), which do not mean that a file is missing. A run that saw one must
//! not be cached. Does not retry: the run continues with the error as its answer.

use std::io;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, PoisonError};

use stan_repo::{System, advice, is_transient};

use crate::observed_system::{ErrorObserver, ObservedSystem};

pub(crate) type LenientSystem<'s> = ObservedSystem<'s, dyn System + 's, TransientErrors>;

#[derive(Default)]
pub(crate) struct TransientErrors {
    failed: AtomicBool,
    /// The path of the first transient error, and what to do about it.
    transient: Mutex<Option<(PathBuf, String)>>,
}

impl ErrorObserver for TransientErrors {
    fn observe(&self, path: &Path, error: &io::Error) {
        if !is_an_answer(error.kind()) {
            self.failed.store(true, Ordering::Relaxed);
        }
        if is_transient(error) {
            let mut first = self.transient.lock().unwrap_or_else(PoisonError::into_inner);
            first.get_or_insert_with(|| (path.to_owned(), advice(error)));
        }
    }
}

impl<'s> LenientSystem<'s> {
    pub(crate) fn new(system: &'s dyn System) -> Self {
        Self::with(system, TransientErrors::default())
    }

    /// Whether the run saw an error that may not recur although no file changed. Then nothing may be cached.
    pub(crate) fn saw_unstable_error(&self) -> bool {
        self.notes.failed.load(Ordering::Relaxed)
    }

    /// The path and advice of the first transient I/O error.
    pub(crate) fn first_transient_error(&self) -> Option<(PathBuf, String)> {
        self.notes.transient.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }
}

/// Whether the error stays the same until the file changes. EACCES does not: another user may be able to read the same file, with
/// the same stat.
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
