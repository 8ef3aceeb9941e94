//! Identifies this process, and determines whether another one still runs. For lock files on file systems without locks.
//!
//! A token is `<pid> <start> <boot> <host>`. The start time distinguishes a process from a later one with the same pid, the boot
//! id from one before the last reboot. Processes on another machine cannot be checked.

use std::fs;
use std::io;

/// Replaces a part that the system does not provide.
const UNKNOWN: &str = "-";

pub(super) fn token() -> io::Result<String> {
    let pid = std::process::id();
    Ok(format!("{pid} {} {} {}", start_time(pid), boot_id(), host_name()))
}

pub(super) fn is_running(token: &str) -> Option<bool> {
    let mut fields = token.split_whitespace();
    let (pid, start, boot, host) = (fields.next()?, fields.next()?, fields.next()?, fields.next()?);
    let pid: u32 = pid.parse().ok()?;
    if host != host_name() {
        return None;
    }
    let current_boot = boot_id();
    if boot != UNKNOWN && current_boot != UNKNOWN && boot != current_boot {
        return Some(false);
    }
    if !exists(pid)? {
        return Some(false);
    }
    let current_start = start_time(pid);
    Some(start == UNKNOWN || current_start == UNKNOWN || start == current_start)
}

/// Sends signal 0, which only checks whether the process exists. One of another user exists too.
#[cfg(unix)]
fn exists(pid: u32) -> Option<bool> {
    let pid = rustix::process::Pid::from_raw(i32::try_from(pid).ok()?)?;
    match rustix::process::test_kill_process(pid) {
        Ok(()) | Err(rustix::io::Errno::PERM) => Some(true),
        Err(rustix::io::Errno::SRCH) => Some(false),
        Err(_) => None,
    }
}

#[cfg(not(unix))]
fn exists(_: u32) -> Option<bool> {
    None
}

/// The limit of this process's address space (`ulimit -v`); `None` without a limit.
pub fn address_space() -> Option<u64> {
    #[cfg(unix)]
    let limit = rustix::process::getrlimit(rustix::process::Resource::As).current;
    #[cfg(not(unix))]
    let limit = None;
    limit
}

/// The limit of the main thread's stack (`ulimit -s`); `None` without a limit.
pub fn stack_limit() -> Option<u64> {
    #[cfg(unix)]
    let limit = rustix::process::getrlimit(rustix::process::Resource::Stack).current;
    #[cfg(not(unix))]
    let limit = None;
    limit
}

/// In ticks since the boot, from `/proc`.
fn start_time(pid: u32) -> String {
    let text = fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
    // The second field is the name in parentheses, which may contain anything; the start time is the 20th field after it.
    let behind_name = text.rsplit_once(')').map_or("", |(_, rest)| rest);
    behind_name.split_whitespace().nth(19).unwrap_or(UNKNOWN).to_owned()
}

fn boot_id() -> String {
    let text = fs::read_to_string("/proc/sys/kernel/random/boot_id").unwrap_or_default();
    one_word(&text)
}

#[cfg(unix)]
fn host_name() -> String {
    one_word(&rustix::system::uname().nodename().to_string_lossy())
}

#[cfg(not(unix))]
fn host_name() -> String {
    UNKNOWN.to_owned()
}

fn one_word(text: &str) -> String {
    let word: String = text.split_whitespace().collect();
    if word.is_empty() { UNKNOWN.to_owned() } else { word }
}

#[cfg(all(test, unix))]
mod tests {
    use super::*;

    #[test]
    fn this_process_runs_and_an_ended_one_does_not() {
        let token = token().unwrap();
        assert_eq!(token.split(' ').count(), 4, "{token}");
        assert_eq!(is_running(&token), Some(true));
        let mut fields: Vec<&str> = token.split(' ').collect();
        // Higher than any pid of Linux or macOS.
        fields[0] = "4194399";
        assert_eq!(is_running(&fields.join(" ")), Some(false));
        assert_eq!(is_running("nonsense"), None);
        assert_eq!(is_running(""), None);
    }

    #[test]
    fn a_process_of_another_machine_cannot_be_checked() {
        let token = token().unwrap();
        let mut fields: Vec<&str> = token.split(' ').collect();
        fields[3] = "another.machine.invalid";
        assert_eq!(is_running(&fields.join(" ")), None);
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn a_reused_process_number_is_another_process() {
        let token = token().unwrap();
        for (field, other) in [(1, "1"), (2, "another-boot")] {
            let mut fields: Vec<&str> = token.split(' ').collect();
            fields[field] = other;
            assert_eq!(is_running(&fields.join(" ")), Some(false), "{fields:?}");
        }
    }
}
