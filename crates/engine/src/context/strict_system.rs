//! A system that records transient I/O errors (EIO, EMFILE, …). Much of what a verb reads is optional: a folder that cannot be
//! listed is left out with a warning. But what a transient error hides must be missing neither from an archive nor from a
//! baseline, so a verb that writes calls `ensure_no_transient_errors` before it puts anything in place. Does not retry: the user
//! runs the command again.

use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

use stan_repo::{WritableSystem, advice, is_transient};

use crate::error::EngineError;
use crate::graph::GraphRequest;
use crate::observed_system::{ErrorObserver, ObservedSystem};

pub(crate) type StrictSystem<'s> = ObservedSystem<'s, dyn WritableSystem + 's, FirstTransientError>;

#[derive(Default)]
pub(crate) struct FirstTransientError {
    /// Folders in which an unreadable file is regenerated without a message: the cache, and the folder with its key.
    remade: Vec<PathBuf>,
    /// The path of the first transient error, and what to do about it.
    first: Mutex<Option<(PathBuf, String)>>,
}

impl ErrorObserver for FirstTransientError {
    fn observe(&self, path: &Path, error: &io::Error) {
        let is_remade = || self.remade.iter().any(|folder| path.starts_with(folder));
        if is_transient(error) && !is_remade() {
            let mut first = self.first.lock().unwrap_or_else(PoisonError::into_inner);
            first.get_or_insert_with(|| (path.to_owned(), advice(error)));
        }
    }
}

impl<'s> StrictSystem<'s> {
    pub(crate) fn new(system: &'s dyn WritableSystem, work: &GraphRequest) -> Self {
        let remade = work.cache_directory.iter().chain(&work.state_directory).map(PathBuf::from).collect();
        Self::with(system, FirstTransientError { remade, ..FirstTransientError::default() })
    }

    /// Fails if a transient error occurred.
    pub(crate) fn ensure_no_transient_errors(&self) -> Result<(), EngineError> {
        match &*self.notes.first.lock().unwrap_or_else(PoisonError::into_inner) {
            None => Ok(()),
            Some((path, advice)) => {
                Err(EngineError::input(format!("`{}` could not be read: {advice}", path.display()))
                    .hint("nothing was changed, because it might be missing from what is written"))
            }
        }
    }
}
