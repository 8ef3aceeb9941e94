//! One run at a time per workspace: an advisory lock on `<stanPath>/.lock`, whose text names the holder.
//!
//! The file stays after the lock is released, and its existence means nothing: the lock is the kernel's. On file systems without
//! locks, the existence of a second file is the lock (`exclusive.rs`). Nothing here sleeps; the caller does.

use std::fmt;
use std::io;
use std::path::Path;

use stan_repo::{Access, EntryKind, HeldLock, SystemExt as _, WritableSystem, is_unsupported};

use crate::error::Error;
use crate::exclusive::{self, ExclusiveFile, Note};
use crate::folders::Folders;

/// Who takes the lock, as shown to waiting users.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Holder {
    pub process: u32,
    /// The command as typed, such as `stan run --context`.
    pub command: String,
}

impl fmt::Display for Holder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "pid {}: {}", self.process, self.command)
    }
}

/// The right to write below `<stanPath>`, released on drop.
pub struct Lock<'s> {
    stan_path: String,
    process: u32,
    _held: Held<'s>,
}

enum Held<'s> {
    ByKernel { _lock: Box<dyn HeldLock> },
    ByFile { _file: ExclusiveFile<'s> },
}

/// Larger than any command line worth showing.
const MAX_HOLDER_BYTES: u64 = 64 << 10;

/// How many consecutive reads of the lock file must agree on a holder before it is reported.
const READS: u32 = 2;

/// As [`READS`], while the file names no holder: on a busy machine, the holder may take a while to write its name.
const READS_WITHOUT_NAME: u32 = 20;

const NAMELESS: &str = "a process that did not say who it is";

impl<'s> Lock<'s> {
    /// Takes the lock, and creates `<stanPath>` if it is missing.
    ///
    /// While another run holds it, `pause` is called in a loop: it sleeps, and returns `false` to give up. `on_wait` is called
    /// once for each holder, after the first pause, or some pauses later if the file names no holder.
    pub fn acquire(
        system: &'s dyn WritableSystem,
        root: &Path,
        stan_path: &str,
        holder: &Holder,
        pause: &mut dyn FnMut() -> bool,
        on_wait: &mut dyn FnMut(&str),
    ) -> Result<Self, Error> {
        check_stan_path(stan_path)?;
        let mut folders = Folders::new(root);
        folders.ensure(system, stan_path, Access::Shared)?;
        let name = [stan_path, "/.lock"].concat();
        let path = folders.absolute(&name);
        if system.lstat(&path).is_ok_and(|stat| stat.kind != EntryKind::File) {
            return Err(Error::NotALock { path: name });
        }
        let mut reported: Option<String> = None;
        let mut seen: Option<String> = None;
        let mut looks = 0;
        loop {
            let attempt = attempt(system, &path, holder).map_err(|error| Error::io("lock", &path, error))?;
            let (file, note) = match attempt {
                Attempt::Taken(held) => {
                    return Ok(Self { stan_path: stan_path.to_owned(), process: holder.process, _held: held });
                }
                Attempt::HeldByKernel => (name.clone(), read_note(system, &path)),
                Attempt::HeldByFile => ([&name, exclusive::HELD].concat(), ExclusiveFile::note(system, &path)),
            };
            let (other, seconds) = who(system, note);
            // A process writes its name shortly after it takes the lock. Until then the file names no holder, or the previous
            // one, so a name is reported only after several reads agree on it.
            looks = if seen.as_ref() == Some(&other) { looks + 1 } else { 1 };
            let enough = if other == NAMELESS { READS_WITHOUT_NAME } else { READS };
            if looks >= enough && reported.as_ref() != Some(&other) {
                on_wait(&other);
                reported = Some(other.clone());
            }
            seen = Some(other.clone());
            if !pause() {
                return Err(Error::Locked { lock: file, holder: other, seconds });
            }
        }
    }

    pub fn stan_path(&self) -> &str {
        &self.stan_path
    }

    pub(crate) fn process(&self) -> u32 {
        self.process
    }
}

enum Attempt<'s> {
    Taken(Held<'s>),
    HeldByKernel,
    HeldByFile,
}

fn attempt<'s>(system: &'s dyn WritableSystem, path: &Path, holder: &Holder) -> io::Result<Attempt<'s>> {
    match system.try_lock(path) {
        Ok(None) => Ok(Attempt::HeldByKernel),
        Ok(Some(mut lock)) => {
            // Errors are ignored, because the name only informs waiting runs; the run itself reports a full disk.
            let _ = lock.describe(&format!("{holder}\n"));
            Ok(Attempt::Taken(Held::ByKernel { _lock: lock }))
        }
        Err(error) if is_unsupported(&error) => Ok(match ExclusiveFile::try_take(system, path, &holder.to_string())? {
            Some(file) => Attempt::Taken(Held::ByFile { _file: file }),
            None => Attempt::HeldByFile,
        }),
        Err(error) => Err(error),
    }
}

/// Rejects a stanPath that is the repository itself, leaves it, or is git's folder.
pub fn check_stan_path(stan_path: &str) -> Result<(), Error> {
    let refuse = |reason| Err(Error::BadStanPath { stan_path: stan_path.to_owned(), reason });
    if let Err(Error::BadName { reason, .. }) = crate::names::check_name(stan_path) {
        return refuse(reason);
    }
    if stan_path.split('/').any(|component| component.eq_ignore_ascii_case(".git")) {
        return refuse("it is git's own folder");
    }
    Ok(())
}

/// The holder's name in the lock file, and when it was written.
fn read_note(system: &dyn WritableSystem, path: &Path) -> Note {
    let mut bytes = Vec::new();
    // Windows does not let other processes read a locked file. The holder is then unknown.
    let stat = system.read_at_most(path, MAX_HOLDER_BYTES, &mut bytes).ok();
    let holder = String::from_utf8_lossy(&bytes).lines().next().unwrap_or_default().to_owned();
    Note { holder, written: stat.map(|stat| stat.mtime) }
}

/// The holder in a printable form, and for how many seconds it has held the lock, if known.
fn who(system: &dyn WritableSystem, note: Note) -> (String, Option<u64>) {
    let holder: String = note.holder.chars().filter(|c| !c.is_control()).take(300).collect();
    if holder.trim().is_empty() {
        return (NAMELESS.to_owned(), None);
    }
    // The holder wrote its name when it took the lock.
    let held_for = note.written.and_then(|written| u64::try_from(system.now().saturating_sub(written)).ok());
    (holder, held_for.map(|nanoseconds| nanoseconds / 1_000_000_000).filter(|seconds| *seconds > 0))
}

#[cfg(test)]
mod tests {
    use stan_repo::{Fault, FaultySystem, MemorySystem, System};

    use super::*;

    fn acquire<'s>(
        system: &'s dyn WritableSystem,
        command: &str,
        waits: usize,
    ) -> (Result<Lock<'s>, Error>, Vec<String>) {
        let mut reported = Vec::new();
        let mut left = waits;
        let mut pause = || {
            left = left.saturating_sub(1);
            left > 0
        };
        let holder = Holder { process: 7, command: command.to_owned() };
        let lock = Lock::acquire(system, Path::new("/r"), ".stan", &holder, &mut pause, &mut |who| {
            reported.push(who.to_owned())
        });
        (lock, reported)
    }

    #[test]
    fn the_holder_is_reported_to_a_waiting_run() {
        let system = MemorySystem::new();
        system.set_dir("/r");
        let (first, reported) = acquire(&system, "stan run", 0);
        assert!(reported.is_empty());
        let (second, reported) = acquire(&system, "stan snap", 5);
        assert_eq!(reported, ["pid 7: stan run"], "once, not at every pause");
        let message = second.err().unwrap().to_string();
        assert_eq!(
            message,
            "another run holds `.stan/.lock` (pid 7: stan run); wait for it to end, or end it, and run again"
        );
        drop(first);
        let (third, reported) = acquire(&system, "stan snap", 0);
        assert!(third.is_ok() && reported.is_empty(), "a file without a holder is simply taken");
        let mut text = Vec::new();
        system.read_into(Path::new("/r/.stan/.lock"), &mut text).unwrap();
        assert_eq!(text, b"pid 7: stan snap\n");
    }

    #[test]
    fn a_refused_run_reports_for_how_long_the_lock_is_held() {
        for (seconds, expected) in [(0, ""), (42, ", for 42 s"), (600, ", for 10 min"), (30_000, ", for 8 h")] {
            let system = MemorySystem::new();
            system.set_dir("/r").set_now(1_000);
            let _first = acquire(&system, "stan run", 0).0.unwrap();
            system.set_now(1_000 + seconds * 1_000_000_000);
            let message = acquire(&system, "stan snap", 0).0.err().unwrap().to_string();
            assert!(message.contains(&format!("(pid 7: stan run{expected})")), "{message}");
        }
    }

    /// As on Lustre and some FUSE and SMB mounts.
    #[test]
    fn a_lock_file_is_used_where_locks_are_not_supported() {
        let memory = MemorySystem::new();
        memory.set_dir("/r");
        let system = FaultySystem::new(&memory, Fault::NoLocks, 0, true);
        let held = Path::new("/r/.stan/.lock.held");
        let (first, _) = acquire(&system, "stan run", 0);
        assert!(first.is_ok() && memory.lstat(held).is_ok());
        let (second, reported) = acquire(&system, "stan snap", 5);
        assert_eq!(reported, ["pid 7: stan run"]);
        let message = second.err().unwrap().to_string();
        assert!(message.contains("`.stan/.lock.held` (pid 7: stan run)"), "{message}");
        drop(first);
        assert!(memory.lstat(held).is_err(), "it goes with the lock");
        assert!(acquire(&system, "stan snap", 0).0.is_ok());
    }

    #[test]
    fn without_locks_only_the_file_of_an_ended_process_is_replaced() {
        const OTHER: &str = "9 5 boot memory";
        for (text, running, age, is_taken) in [
            (format!("{OTHER}\npid 9: stan run\n"), Some(false), 0, true),
            (format!("{OTHER}\npid 9: stan run\n"), Some(true), 10_000, false),
            (format!("{OTHER}\npid 9: stan run\n"), None, 10_000, false),
            // Killed between creating the file and writing to it.
            (String::new(), None, 10_000, true),
            (String::new(), None, 1, false),
        ] {
            let memory = MemorySystem::new();
            memory.set_file("/r/.stan/.lock.held", &*text).set_now(age * 1_000_000_000);
            if let Some(running) = running {
                memory.set_running(OTHER, running);
            }
            let system = FaultySystem::new(&memory, Fault::NoLocks, 0, true);
            let (lock, _) = acquire(&system, "stan snap", 3);
            assert_eq!(lock.is_ok(), is_taken, "{text:?} {running:?} {age}");
            drop(lock);
            assert_eq!(memory.lstat(Path::new("/r/.stan/.lock.held")).is_ok(), !is_taken);
            assert!(memory.lstat(Path::new("/r/.stan/.lock.break")).is_err());
        }
    }

    #[test]
    fn without_locks_two_that_find_an_abandoned_file_do_not_both_get_the_lock() {
        const OTHER: &str = "9 5 boot memory";
        let memory = MemorySystem::new();
        memory.set_file("/r/.stan/.lock.held", format!("{OTHER}\n")).set_running(OTHER, false);
        let system = FaultySystem::new(&memory, Fault::NoLocks, 0, true);
        // Another process is just removing it.
        memory.set_file("/r/.stan/.lock.break", "1 0 boot memory\n");
        assert!(acquire(&system, "stan snap", 3).0.is_err());
        // A process that was killed while it removed a lock does not block others permanently.
        memory.set_file("/r/.stan/.lock.break", format!("{OTHER}\n"));
        assert!(acquire(&system, "stan snap", 3).0.is_ok());
    }

    #[test]
    fn waiting_ends_when_the_holder_does() {
        let system = MemorySystem::new();
        system.set_dir("/r");
        let mut first = acquire(&system, "stan run", 0).0.ok();
        let mut pauses = 0;
        let mut pause = || {
            pauses += 1;
            if pauses == 3 {
                first.take();
            }
            true
        };
        let holder = Holder { process: 8, command: "x".to_owned() };
        Lock::acquire(&system, Path::new("/r"), ".stan", &holder, &mut pause, &mut |_| {}).unwrap();
        assert_eq!(pauses, 3);
    }

    #[test]
    fn a_waiting_run_names_a_holder_that_writes_its_name_late() {
        let system = MemorySystem::new();
        system.set_dir("/r/.stan");
        let mut held = system.try_lock(Path::new("/r/.stan/.lock")).unwrap().unwrap();
        let (mut pauses, mut reported) = (0, Vec::new());
        let mut pause = || {
            pauses += 1;
            // As on a busy machine: the lock is taken, and the process does not run again for a while.
            if pauses == 5 {
                held.describe("pid 7: stan run\n").unwrap();
            }
            pauses < 10
        };
        let holder = Holder { process: 8, command: "x".to_owned() };
        let lock = Lock::acquire(&system, Path::new("/r"), ".stan", &holder, &mut pause, &mut |who| {
            reported.push(who.to_owned());
        });
        assert!(lock.is_err());
        assert_eq!(reported, ["pid 7: stan run"]);
    }

    #[test]
    fn a_hostile_lock_file_is_sanitised_in_messages() {
        let system = MemorySystem::new();
        system.set_dir("/r/.stan");
        let _held = system.try_lock(Path::new("/r/.stan/.lock")).unwrap().unwrap();
        for (text, expected) in [("", "a process that did"), ("\x1b[2Jevil\nmore", "[2Jevil"), ("ok\n", "ok")] {
            system.set_file("/r/.stan/.lock", text);
            let reported = acquire(&system, "x", 30).1;
            assert!(reported[0].starts_with(expected) && reported.len() == 1, "{reported:?}");
        }
        system.set_dir("/s").set_link("/s/.stan", "/r/.stan");
        let holder = Holder { process: 8, command: "x".to_owned() };
        let lock = Lock::acquire(&system, Path::new("/s"), ".stan", &holder, &mut || false, &mut |_| {});
        assert!(lock.err().unwrap().to_string().starts_with("`.stan` is a link in place of a folder"));
    }

    #[test]
    fn a_stan_path_stays_inside_the_root_and_out_of_git() {
        for good in [".stan", "tools/stan", "a.git"] {
            assert!(check_stan_path(good).is_ok(), "{good}");
        }
        for bad in ["", ".", "..", "/x", "a/../..", ".git", ".git/stan", ".GIT", "a//b", "a/"] {
            assert!(check_stan_path(bad).is_err(), "{bad}");
        }
    }
}
