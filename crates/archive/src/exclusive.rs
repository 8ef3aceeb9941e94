//! The lock for file systems without file locks: a file whose existence is the lock, created exclusively.
//!
//! The kernel does not release it when its holder is killed, so the file names the process: when that process certainly
//! no longer runs, the lock is abandoned. For a process on another machine this cannot be determined: the file stays
//! until a user removes it.

use std::ffi::OsString;
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use stan_repo::{Access, SystemExt as _, WritableSystem};

/// Beside the lock's file: the lock itself, and the right to clear away an abandoned one.
pub(crate) const HELD: &str = ".held";
const BREAK: &str = ".break";

/// More than a token and a command line that is worth showing.
const LONGEST: u64 = 64 << 10;

/// A file that names no holder for longer than this was left by a process that was killed before it could write its name.
const NAMELESS_FOR: i64 = 60_000_000_000;

/// What a lock file records about its holder.
#[derive(Default)]
pub(crate) struct Note {
    /// In the holder's own words, which may be anything.
    pub(crate) holder: String,
    /// When, in nanoseconds since the epoch.
    pub(crate) written: Option<i64>,
}

pub(crate) struct ExclusiveFile<'s> {
    system: &'s dyn WritableSystem,
    path: PathBuf,
}

impl<'s> ExclusiveFile<'s> {
    /// `lock` is the lock's file. `None` when another process holds it.
    pub(crate) fn try_take(system: &'s dyn WritableSystem, lock: &Path, holder: &str) -> io::Result<Option<Self>> {
        let text = format!("{}\n{holder}\n", system.process_token()?);
        let held = beside(lock, HELD);
        if let Some(file) = Self::make(system, &held, &text)? {
            return Ok(Some(file));
        }
        if !is_abandoned(system, &held) {
            return Ok(None);
        }
        // Only one at a time clears away: of two that saw the same abandoned file, the second would remove the new one of
        // the first.
        let path = beside(lock, BREAK);
        let Some(breaker) = Self::make(system, &path, &text)? else {
            if is_abandoned(system, &path) {
                ignore_absent(system.remove_file(&path))?;
            }
            return Ok(None);
        };
        if is_abandoned(system, &held) {
            ignore_absent(system.remove_file(&held))?;
        }
        drop(breaker);
        Self::make(system, &held, &text)
    }

    /// Who holds it, as far as the file records it.
    pub(crate) fn note(system: &dyn WritableSystem, lock: &Path) -> Note {
        let mut bytes = Vec::new();
        let stat = system.read_at_most(&beside(lock, HELD), LONGEST, &mut bytes).ok();
        let holder = String::from_utf8_lossy(&bytes).lines().nth(1).unwrap_or_default().to_owned();
        Note { holder, written: stat.map(|stat| stat.mtime) }
    }

    /// `None` when the file exists already.
    fn make(system: &'s dyn WritableSystem, path: &Path, text: &str) -> io::Result<Option<Self>> {
        let mut file = match system.create_new(path, Access::Shared) {
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => return Ok(None),
            created => created?,
        };
        // From here on it is removed again, whatever fails.
        let made = Self { system, path: path.to_owned() };
        file.write_all(text.as_bytes())?;
        Ok(Some(made))
    }
}

impl Drop for ExclusiveFile<'_> {
    fn drop(&mut self) {
        // One that stays is taken over as soon as this process has ended.
        let _ = self.system.remove_file(&self.path);
    }
}

fn is_abandoned(system: &dyn WritableSystem, path: &Path) -> bool {
    let mut bytes = Vec::new();
    let Ok(stat) = system.read_at_most(path, LONGEST, &mut bytes) else { return false };
    let text = String::from_utf8_lossy(&bytes);
    match text.lines().next().filter(|token| !token.is_empty()) {
        Some(token) => system.is_running(token) == Some(false),
        None => system.now().saturating_sub(stat.mtime) > NAMELESS_FOR,
    }
}

fn beside(lock: &Path, suffix: &str) -> PathBuf {
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
