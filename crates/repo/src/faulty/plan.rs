//! The faults: which calls they apply to, and when they occur.

use std::io;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};

/// A kind of file system call.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Effect {
    List,
    Stat,
    /// Opening for reading, and reading a whole file.
    Read,
    /// Reading a piece of an open file, or its current stat.
    ReadPiece,
    ReadLink,
    Now,
    Create,
    Write,
    Sync,
    Rename,
    Remove,
    MakeFolder,
    RemoveFolder,
    SyncFolder,
    Lock,
    DescribeLock,
}

/// A kind of fault.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Fault {
    /// ENOSPC: a write takes half of the bytes before it fails.
    NoSpace,
    /// EIO of any call.
    Io,
    /// EACCES of any call.
    Denied,
    /// EMFILE of calls that open something.
    TooManyFiles,
    /// EROFS of calls that change something.
    ReadOnly,
    /// EXDEV of a rename.
    OtherDevice,
    /// A write or a read processes only a part. Not a failure: callers continue.
    Short,
    /// A write takes no bytes and returns 0.
    NothingWritten,
    /// EINTR of writes and of reads of pieces. Not a failure: callers retry.
    Interrupted,
    /// Another process holds the lock.
    LockHeld,
    /// ENOLCK: the file system has no locks. Not a failure: callers use another kind of lock.
    NoLocks,
    /// EINVAL of an fsync that the file system does not support. Not a failure.
    NoSync,
    /// The file is removed after its stat.
    Vanished,
    /// The file is half as long after its stat.
    Shrunk,
    /// The file is longer after its stat.
    Grown,
    /// A listing contains a file that does not exist.
    Ghost,
    /// The clock and the times of files are an hour earlier. Not a failure.
    TimeBack,
}

impl Fault {
    pub const ALL: [Self; 17] = [
        Self::NoSpace,
        Self::Io,
        Self::Denied,
        Self::TooManyFiles,
        Self::ReadOnly,
        Self::OtherDevice,
        Self::Short,
        Self::NothingWritten,
        Self::Interrupted,
        Self::LockHeld,
        Self::NoLocks,
        Self::NoSync,
        Self::Vanished,
        Self::Shrunk,
        Self::Grown,
        Self::Ghost,
        Self::TimeBack,
    ];

    /// Whether the fault applies to the call.
    pub fn applies_to(self, effect: Effect) -> bool {
        use Effect::{
            Create, DescribeLock, List, Lock, MakeFolder, Now, Read, ReadPiece, Remove, RemoveFolder, Rename, Stat,
            Sync, SyncFolder, Write,
        };
        match self {
            Self::Io | Self::Denied => effect != Now,
            Self::NoSpace => matches!(effect, Create | Write | Sync | Rename | MakeFolder | Lock | DescribeLock),
            Self::ReadOnly => {
                matches!(effect, Create | Write | Rename | Remove | MakeFolder | RemoveFolder | Lock | DescribeLock)
            }
            Self::TooManyFiles => matches!(effect, List | Read | Create | SyncFolder | Lock),
            Self::OtherDevice => effect == Rename,
            Self::Short | Self::Interrupted => matches!(effect, Write | ReadPiece),
            Self::NothingWritten => effect == Write,
            Self::LockHeld | Self::NoLocks => effect == Lock,
            Self::NoSync => matches!(effect, Sync | SyncFolder),
            Self::Vanished | Self::Shrunk | Self::Grown => effect == Stat,
            Self::Ghost => effect == List,
            Self::TimeBack => matches!(effect, Stat | Now),
        }
    }

    /// Whether callers see no failure: their results must be the same as without the fault.
    pub fn is_harmless(self) -> bool {
        matches!(self, Self::Short | Self::Interrupted | Self::TimeBack | Self::NoLocks | Self::NoSync)
    }

    fn error(self) -> Option<io::Error> {
        // Uses the real errno if there is one: libraries check more than the kind.
        #[cfg(unix)]
        let number = match self {
            Self::NoSpace => 28,
            Self::Io => 5,
            Self::Denied => 13,
            Self::TooManyFiles => 24,
            Self::ReadOnly => 30,
            Self::OtherDevice => 18,
            Self::Interrupted => 4,
            Self::NoLocks => rustix::io::Errno::NOLCK.raw_os_error(),
            Self::NoSync => 22,
            _ => return None,
        };
        #[cfg(unix)]
        return Some(io::Error::from_raw_os_error(number));
        #[cfg(not(unix))]
        Some(match self {
            Self::NoSpace => io::ErrorKind::StorageFull.into(),
            Self::Io => io::Error::other("input/output error"),
            Self::Denied => io::ErrorKind::PermissionDenied.into(),
            Self::TooManyFiles => io::Error::other("too many open files"),
            Self::ReadOnly => io::ErrorKind::ReadOnlyFilesystem.into(),
            Self::OtherDevice => io::ErrorKind::CrossesDevices.into(),
            Self::Interrupted => io::ErrorKind::Interrupted.into(),
            Self::NoLocks | Self::NoSync => io::ErrorKind::Unsupported.into(),
            _ => return None,
        })
    }
}

/// The result of a call.
pub(super) enum EffectResult {
    Fine,
    Fail(io::Error),
    /// It succeeds in an unusual way, which depends on the fault and the call.
    Odd,
}

pub(super) struct Plan {
    fault: Fault,
    at: usize,
    lasting: bool,
    count: AtomicUsize,
    injected: Mutex<Vec<(Effect, PathBuf)>>,
    /// The files that have vanished, shrunk or grown.
    altered: Mutex<Vec<PathBuf>>,
}

impl Plan {
    pub(super) fn new(fault: Fault, at: usize, lasting: bool) -> Self {
        let (count, injected, altered) = (AtomicUsize::new(0), Mutex::default(), Mutex::default());
        Self { fault, at, lasting, count, injected, altered }
    }

    pub(super) fn positions(&self) -> usize {
        self.count.load(Ordering::Relaxed)
    }

    pub(super) fn injected(&self) -> Vec<(Effect, PathBuf)> {
        locked(&self.injected).clone()
    }

    pub(super) fn fault(&self) -> Fault {
        self.fault
    }

    /// Counts a call, and decides its result.
    pub(super) fn next(&self, effect: Effect, path: &Path) -> EffectResult {
        // Faults that change a file after its stat are counted when the stat is taken.
        if !self.fault.applies_to(effect) || self.changes_files() || !self.is_due() {
            return EffectResult::Fine;
        }
        self.record(effect, path);
        self.fault.error().map_or(EffectResult::Odd, EffectResult::Fail)
    }

    /// Called after the stat of a regular file: from now on it may be changed.
    pub(super) fn after_stat(&self, path: &Path) {
        if self.changes_files() && self.is_due() {
            self.record(Effect::Stat, path);
            locked(&self.altered).push(path.to_owned());
        }
    }

    /// Called when a new file replaces the one at `path`.
    pub(super) fn replaced(&self, path: &Path) {
        locked(&self.altered).retain(|altered| altered != path);
    }

    /// The changed length of a file with this original length.
    pub(super) fn length_of(&self, path: &Path, length: usize) -> io::Result<usize> {
        if !self.changes_files() || !locked(&self.altered).iter().any(|altered| altered == path) {
            return Ok(length);
        }
        match self.fault {
            Fault::Vanished => Err(io::ErrorKind::NotFound.into()),
            Fault::Shrunk => Ok(length / 2),
            _ => Ok(length + 7),
        }
    }

    fn changes_files(&self) -> bool {
        matches!(self.fault, Fault::Vanished | Fault::Shrunk | Fault::Grown)
    }

    fn is_due(&self) -> bool {
        let number = self.count.fetch_add(1, Ordering::Relaxed);
        number == self.at || (self.lasting && number > self.at)
    }

    fn record(&self, effect: Effect, path: &Path) {
        locked(&self.injected).push((effect, path.to_owned()));
    }
}

fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
