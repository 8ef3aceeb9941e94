//! A run's exclusive access to a workspace: the lock, and transactions that require it.

use std::path::Path;

use stan_archive::{Holder, Lock, Transaction};
use stan_repo::WritableSystem;

use super::layout::WorkspaceLayout;
use super::progress::Progress;
use crate::error::{EngineError, EngineErrorKind};

/// Folders where killed runs leave temporary files. Another program may write the cache without the lock; removing its temporary
/// file only costs that cache entry.
const WRITTEN: [&str; 5] = ["cache", "context", "diff", "imports", "output"];

pub(crate) struct Session<'s> {
    system: &'s dyn WritableSystem,
    lock: Lock<'s>,
}

impl<'s> Session<'s> {
    /// Waits for the lock of the workspace.
    pub(crate) fn open(
        system: &'s dyn WritableSystem,
        layout: &WorkspaceLayout,
        progress: &mut dyn Progress,
    ) -> Result<Self, EngineError> {
        let (process, command) = progress.holder();
        let holder = Holder { process, command };
        let progress = std::cell::RefCell::new(progress);
        let lock = Lock::acquire(
            system,
            Path::new(layout.root()),
            layout.stan_path(),
            &holder,
            &mut || progress.borrow_mut().pause(),
            &mut |other| progress.borrow_mut().waits_for(other),
        )
        .map_err(refuse)?;
        // Before anything else: a killed `apply` may have left files with half old and half new contents.
        if let Some(recovered) =
            stan_archive::recover_patches(system, Path::new(layout.root()), &lock).map_err(refuse)?
        {
            progress.borrow_mut().notice(&crate::reply::recovered_notice(&recovered));
        }
        Ok(Self { system, lock })
    }

    /// The lock, as permission to write.
    pub(crate) fn lock(&self) -> &Lock<'s> {
        &self.lock
    }

    /// Starts a transaction, after removing temporary files of killed runs.
    pub(crate) fn begin(&self, layout: &WorkspaceLayout) -> Result<Transaction<'_>, EngineError> {
        Transaction::begin(self.system, Path::new(layout.root()), &self.lock, &WRITTEN).map_err(refuse)
    }
}

/// Converts an error of the archive crate: only a mismatch of bytes counts as failed verification.
pub(crate) fn refuse(error: stan_archive::Error) -> EngineError {
    use stan_archive::Error;
    match error {
        Error::Mismatches(mismatches) => {
            EngineError::verification("installed files (externals) are not what the map says; nothing was changed")
                .details(mismatches.0.iter().map(ToString::to_string))
                .hint(super::map::REBUILD)
        }
        Error::ChangedAfterProof { .. } => EngineError::verification(error.to_string()).hint(super::map::REBUILD),
        Error::Locked { ref lock, .. } if lock.ends_with(".held") => EngineError::new(EngineErrorKind::Locked, error.to_string())
            .hint("this file system has no locks: if that run was on another machine and is gone, remove the file"),
        Error::Locked { .. } => EngineError::new(EngineErrorKind::Locked, error.to_string()).hint(
            "`--wait SECONDS` waits longer; a run that was stopped (Ctrl-Z) goes on with `fg`, or with `kill -CONT` and its pid",
        ),
        Error::DuplicateName { .. } => EngineError::new(EngineErrorKind::Internal, error.to_string()),
        _ => EngineError::input(error.to_string()),
    }
}
