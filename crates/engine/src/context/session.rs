//! One run's hold on a workspace: the lock, and transactions under it.

use std::path::Path;

use stan_archive::{Holder, Lock, Transaction};
use stan_repo::WritableSystem;

use super::patience::Patience;
use super::place::Place;
use super::refusal::{Refusal, RefusalKind};

/// Folders in which runs leave temporary files when they are killed. Another program may be writing the cache without the
/// lock; taking its temporary file away costs it that cache and nothing else.
const WRITTEN: [&str; 5] = ["cache", "context", "diff", "imports", "output"];

pub(crate) struct Session<'s> {
    system: &'s dyn WritableSystem,
    lock: Lock<'s>,
}

impl<'s> Session<'s> {
    /// Waits for its turn in the workspace.
    pub(crate) fn open(
        system: &'s dyn WritableSystem,
        place: &Place,
        patience: &mut dyn Patience,
    ) -> Result<Self, Refusal> {
        let (process, command) = patience.holder();
        let holder = Holder { process, command };
        let patience = std::cell::RefCell::new(patience);
        let lock = Lock::acquire(
            system,
            Path::new(place.root()),
            place.stan_path(),
            &holder,
            &mut || patience.borrow_mut().pause(),
            &mut |other| patience.borrow_mut().waits_for(other),
        )
        .map_err(refuse)?;
        Ok(Self { system, lock })
    }

    /// Starts to write, after clearing away what killed runs left.
    pub(crate) fn begin(&self, place: &Place) -> Result<Transaction<'_>, Refusal> {
        Transaction::begin(self.system, Path::new(place.root()), &self.lock, &WRITTEN).map_err(refuse)
    }
}

/// An error of the archive crate as a refusal: only bytes that are not what they should be are a failed verification.
pub(crate) fn refuse(error: stan_archive::Error) -> Refusal {
    use stan_archive::Error;
    match error {
        Error::Mismatches(mismatches) => {
            Refusal::verification("installed files (externals) are not what the map says; nothing was changed")
                .details(mismatches.0.iter().map(ToString::to_string))
                .hint(super::map::REBUILD)
        }
        Error::ChangedAfterProof { .. } => Refusal::verification(error.to_string()).hint(super::map::REBUILD),
        Error::Locked { ref lock, .. } if lock.ends_with(".held") => Refusal::input(error.to_string())
            .hint("this file system has no locks: if that run was on another machine and is gone, remove the file"),
        Error::Locked { .. } => Refusal::input(error.to_string()).hint(
            "`--wait SECONDS` waits longer; a run that was stopped (Ctrl-Z) goes on with `fg`, or with `kill -CONT` and its pid",
        ),
        Error::DuplicateName { .. } => Refusal::new(RefusalKind::Internal, error.to_string()),
        _ => Refusal::input(error.to_string()),
    }
}
