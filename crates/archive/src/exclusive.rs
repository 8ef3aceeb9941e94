//! The lock for file systems without file locks: a file whose existence is the lock, created exclusively.
//!
//! The kernel does not release it when its holder is killed, so the file names the process: if that process certainly no longer
//! runs, the lock is abandoned. For a process on another machine this cannot be determined; the file then stays until a user
//! removes it.

use std::ffi::OsString;
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use stan_repo::{Access, SystemExt as _, WritableSystem};

/// Files beside the lock file: the lock itself, and the right to remove an abandoned lock.
pub(crate) const HELD: &str = ".held";
const BREAK: &str = ".break";

/// Larger than a token and any command line worth showing.
const MAX_BYTES: u64 = 64 << 10;

/// A file without a holder that is older than this was left by a process that was killed before it could write its name.
const NAMELESS_FOR: i64 = 60_000_000_000;

/// The contents of a lock file.
#[derive(Default)]
pub(crate) struct Note {
    /// As written by the holder, so it may be any text.
    pub(crate) holder: String,
    /// The time of the last write, in nanoseconds since the epoch.
    pub(crate) written: Option<i64>,
}

pub(crate) struct ExclusiveFile<'s> {
    system: &'s dyn WritableSystem,
    path: PathBuf,
}

impl<'s> ExclusiveFile<'s> {
    /// `lock` is the lock file. `None` if another process holds it.
    pub(crate) fn try_take(system: &'s dyn WritableSystem, lock: &Path, holder: &str) -> io::Result<Option<Self>> {
        let text = format!("{}\n{holder}\n", system.process_token()?);
        let held = with_suffix(lock, HELD);
        if let Some(file) = Self::create(system, &held, &text)? {
            return Ok(Some(file));
        }
        if !is_abandoned(system, &held) {
            return Ok(None);
        }
        // Only one process at a time may remove an abandoned lock: if two see the same abandoned file, the second could remove
        // the new lock of the first.
        let path = with_suffix(lock, BREAK);
        let Some(breaker) = Self::create(system, &path, &text)? else {
            if is_abandoned(system, &path) {
                ignore_absent(system.remove_file(&path))?;
            }
            return Ok(None);
        };
        if is_abandoned(system, &held) {
            ignore_absent(system.remove_file(&held))?;
        }
        drop(breaker);
        Self::create(system, &held, &text)
    }

    /// The holder, as far as the file records it.
    pub(crate) fn note(system: &dyn WritableSystem, lock: &Path) -> Note {
        let mut bytes = Vec::new();
        let stat = system.read_at_most(&with_suffix(lock, HELD), MAX_BYTES, &mut bytes).ok();
        let holder = String::from_utf8_lossy(&bytes).lines().nth(1).unwrap_or_default().to_owned();
        Note { holder, written: stat.map(|stat| stat.mtime) }
    }

    /// `None` if the file already exists.
    fn create(system: &'s dyn WritableSystem, path: &Path, text: &str) -> io::Result<Option<Self>> {
        let mut file = match system.create_new(path, Access::Shared) {
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => return Ok(None),
            created => created?,
        };
        // From here on, dropping it removes the file, also when a later step fails.
        let made = Self { system, path: path.to_owned() };
        file.write_all(text.as_bytes())?;
        Ok(Some(made))
    }
}

impl Drop for ExclusiveFile<'_> {
    fn drop(&mut self) {
        // If it cannot be removed, it counts as abandoned as soon as this process has ended.
        let _ = self.system.remove_file(&self.path);
    }
}

fn is_abandoned(system: &dyn WritableSystem, path: &Path) -> bool {
    let mut bytes = Vec::new();
    let Ok(stat) = system.read_at_most(path, MAX_BYTES, &mut bytes) else { return false };
    let text = String::from_utf8_lossy(&bytes);
    match text.lines().next().filter(|token| !token.is_empty()) {
        Some(token) => system.is_running(token) == Some(false),
        None => system.now().saturating_sub(stat.mtime) > NAMELESS_FOR,
    }
}

fn with_suffix(lock: &Path, suffix: &str) -> PathBuf {
    let mut name = OsString::from(lock);
    name.push(suffix);
    name.into()
}

fn ignore_absent(result: io::Result<()>) -> io::Result<()> {
    match result {
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
        other => other,
    }
}
