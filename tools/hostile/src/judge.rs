//! Checks the promises of SECURITY.md for one run: what it printed, opened, changed and left behind.
//!
//! Each breach is one sentence. The promises are the same for all trees, apart from a few outside files that a tree declares
//! readable.

use std::collections::BTreeSet;
use std::io::Read as _;
use std::path::Path;
use std::time::Duration;

use stan_model::untrusted::is_hidden;

use super::archives;
use super::process::Ran;
use super::site::{CANARY, Site};
use super::steps::{HostileStep, Writes};
use super::trace::Traced;
use super::walk::{Listing, changes};

/// A run that needs more processor time counts as unbounded.
const MAX_TIME: Duration = Duration::from_secs(60);
/// A run that needs more memory counts as unbounded.
const MAX_MEMORY: u64 = 1 << 30;

/// Files that the dynamic loader, the allocator and the detection of the number of processors read. None is chosen by a
/// repository.
const SYSTEM_FILES: &[&str] = &[
    "/etc/ld.so.cache",
    "/etc/ld.so.preload",
    "/lib/",
    "/lib64/",
    "/usr/lib/",
    "/usr/lib64/",
    "/proc/sys/vm/overcommit_memory",
    "/sys/kernel/mm/transparent_hugepage/enabled",
    "/sys/devices/system/cpu/",
    "/sys/devices/system/node/",
    "/sys/fs/cgroup/",
    "/dev/null",
    "/dev/urandom",
];

/// Relative to the site's folder: the folder of the user's key.
const STATE: &str = "state/stan";

/// Relative to the site's folder: the tables of the tokenizers.
const TABLES: &str = "cache/stan";

/// Files below `/proc/self` that the standard library reads.
const OWN_PROCESS: &[&str] = &["maps", "cgroup", "mountinfo", "auxv"];

/// The place of one run.
pub(super) struct Scene<'a> {
    pub(super) site: &'a Site,
    /// Root-relative folder of stan itself.
    pub(super) stan_path: &'a str,
    pub(super) step: &'a HostileStep,
}

impl Scene<'_> {
    /// Checks the exit and the output of the run.
    pub(super) fn of_output(&self, ran: &Ran) -> Vec<String> {
        let mut breaches = Vec::new();
        if ran.timed_out {
            breaches.push(format!("was still running after {} s", ran.wall.as_secs()));
        } else if let Some(signal) = ran.signal {
            breaches.push(format!("was ended by signal {signal}"));
        } else if !ran.code.is_some_and(|code| self.step.allows(code)) {
            breaches.push(format!("ended with the code {:?}: {}", ran.code, first_line(&ran.stderr)));
        }
        if ran.processor > MAX_TIME {
            breaches.push(format!("needed {} s of processor time", ran.processor.as_secs()));
        }
        if ran.peak_bytes > MAX_MEMORY {
            breaches.push(format!("needed {} MB of memory", ran.peak_bytes >> 20));
        }
        if holds(&ran.stderr, b"panicked at") {
            breaches.push(format!("panicked: {}", first_line(&ran.stderr)));
        }
        for (name, bytes) in [("standard output", &ran.stdout), ("standard error", &ran.stderr)] {
            if holds(bytes, CANARY.as_bytes()) {
                breaches.push(format!("a secret is on {name}: {}", around_canary(bytes)));
            }
            // x07 documents are RFC 8785, which does not escape these characters; completion scripts contain tabs.
            let is_canonical = name == "standard output" && self.step.is_x07 && self.step.prints_json();
            let is_bad = |character: char| !matches!(character, '\n' | '\t') && is_hidden(character);
            if !is_canonical && String::from_utf8_lossy(bytes).contains(is_bad) {
                breaches.push(format!("control characters are on {name}"));
            }
        }
        if self.step.prints_json()
            && !ran.stdout.is_empty()
            && !ran.timed_out
            && let Err(error) = serde_json::from_slice::<serde::de::IgnoredAny>(&ran.stdout)
        {
            breaches.push(format!("standard output is not JSON: {error}"));
        }
        breaches
    }

    /// Checks its system calls.
    pub(super) fn of_trace(&self, traced: &Traced) -> Vec<String> {
        let mut breaches: Vec<String> = traced.forbidden.iter().map(|call| format!("called {call}")).collect();
        let outside = traced.opened.iter().filter(|path| !self.may_open(path));
        breaches.extend(outside.map(|path| format!("opened {}", self.shown(path))));
        let elsewhere = traced.changed.iter().filter(|(_, path)| !self.may_change(path));
        breaches.extend(elsewhere.map(|(call, path)| format!("called {call} on {}", self.shown(path))));
        let unique: BTreeSet<String> = breaches.into_iter().collect();
        unique.into_iter().collect()
    }

    /// Checks forbidden changes on disk, and the contents of new files.
    pub(super) fn of_disk(&self, before: &Listing, after: &Listing) -> Vec<String> {
        let mut breaches = Vec::new();
        for (path, what) in changes(before, after) {
            let shown = String::from_utf8_lossy(&path).into_owned();
            let only_times = before.get(&path).zip(after.get(&path)).is_some_and(|(a, b)| a.differs_in_times_alone(b));
            let is_folder = after.get(&path).is_some_and(|entry| entry.kind == 'd');
            let is_parent = is_folder && (only_times || what == "new");
            if !(self.may_differ(&shown) || (is_parent && self.is_above_own(&shown))) {
                breaches.push(format!("{shown} is {what}"));
            }
            if after.get(&path).is_some_and(|entry| entry.kind == 'f') {
                breaches.extend(self.of_contents(&shown));
            }
        }
        let left = after.keys().filter(|path| !before.contains_key(*path) && holds(path, b".stan-tmp-"));
        breaches.extend(left.map(|path| format!("left {} behind", String::from_utf8_lossy(path))));
        breaches
    }

    /// Checks the contents of a written file.
    fn of_contents(&self, relative: &str) -> Vec<String> {
        let Ok(mut file) = std::fs::File::open(self.site.path(relative)) else { return Vec::new() };
        let mut breaches = Vec::new();
        let (mut secret, mut has_path) = (None, false);
        let folder = self.site.folder().as_os_str().as_encoded_bytes();
        // In pieces: files may have gigabytes, and the peak memory of this process counts for the programs that it starts.
        let read = in_pieces(&mut file, folder.len().max(CANARY.len() + 90), |piece| {
            if secret.is_none() && holds(piece, CANARY.as_bytes()) {
                secret = Some(around_canary(piece));
            }
            has_path |= holds(piece, folder);
        });
        if let Err(error) = read {
            breaches.push(format!("{relative} cannot be read: {error}"));
        }
        breaches.extend(secret.map(|secret| format!("a secret is in {relative}: {secret}")));
        let is_archive = relative.ends_with(".tar");
        let is_shared =
            is_archive || relative.ends_with("dependency.meta.json") || relative.ends_with("archive.diff.json");
        if is_shared && has_path {
            breaches.push(format!("an absolute path of this machine is in {relative}"));
        }
        if is_archive {
            let faults = archives::faults(&mut file).unwrap_or_else(|error| vec![error.to_string()]);
            breaches.extend(faults.iter().map(|fault| format!("{relative}: {fault}")));
        }
        breaches
    }

    fn may_open(&self, path: &[u8]) -> bool {
        let path = self.absolute(path);
        let folder = self.site.folder();
        let is_below = |place: &Path| starts_at(&path, place.as_os_str().as_encoded_bytes());
        is_below(&self.site.repository())
            || is_below(&self.site.path("given"))
            || [STATE, TABLES].iter().any(|own| is_below(&self.site.path(own)))
            || self.site.readable.iter().any(|readable| match readable.strip_suffix('/') {
                Some(folder) => is_below(&self.site.path(folder)),
                None => path == self.site.path(readable).as_os_str().as_encoded_bytes(),
            })
            || folder.ancestors().any(|above| is_below(&above.join("node_modules")))
            || SYSTEM_FILES.iter().any(|file| path.starts_with(file.as_bytes()))
            || is_own_process(&path)
    }

    fn may_change(&self, path: &[u8]) -> bool {
        let path = self.absolute(path);
        let folder = self.site.folder().as_os_str().as_encoded_bytes();
        let below = path.strip_prefix(folder).and_then(|rest| rest.strip_prefix(b"/"));
        below.is_some_and(|below| {
            let below = String::from_utf8_lossy(below);
            self.may_differ(&below) || self.is_temporary_twin(&below) || self.is_above_own(&below)
        })
    }

    /// `init` writes through temporary files beside its own.
    fn is_temporary_twin(&self, below: &str) -> bool {
        self.step.writes == Writes::Setup && below.starts_with("repo/.stan-tmp-")
    }

    /// Whether the step may change this path, which is relative to the site's folder.
    fn may_differ(&self, path: &str) -> bool {
        let own = format!("repo/{}/", self.stan_path);
        // The key of the cache and the token tables are created once, by the first command that uses them.
        let is_below = |folder: &str| starts_at(path.as_bytes(), folder.as_bytes());
        if matches!(path, "state" | "cache") || is_below(STATE) || is_below(TABLES) {
            return true;
        }
        if path == format!("{own}.lock") && self.has_note() {
            return true;
        }
        match self.step.writes {
            Writes::Nothing => false,
            Writes::Own => path.starts_with(&own),
            Writes::Setup => {
                path.starts_with(&format!("{own}system"))
                    || matches!(path, "repo/stan.config.yml" | "repo/.gitignore" | "repo/AGENTS.md")
            }
            Writes::Named => path.starts_with("given/"),
            Writes::NamedAndOwn => path.starts_with("given/") || path.starts_with(&own),
            Writes::Reply => path.starts_with("repo/") && !starts_at(path.as_bytes(), b"repo/.git"),
        }
    }

    /// Whether a note exists that a reply is being applied: then every command takes the lock to check it.
    fn has_note(&self) -> bool {
        self.site.repository().join(self.stan_path).join("patch/pending.json").exists()
    }

    /// Folders whose times change when something is created in them: the parents of stan's folder, and that folder itself, which
    /// the first run creates.
    fn is_above_own(&self, path: &str) -> bool {
        match self.step.writes {
            Writes::Nothing if !self.has_note() => false,
            Writes::Named | Writes::NamedAndOwn if path == "given" => true,
            Writes::Named if !self.has_note() => false,
            Writes::Reply => path == "repo",
            Writes::Nothing | Writes::Own | Writes::Setup | Writes::Named | Writes::NamedAndOwn => {
                let own = format!("repo/{}", self.stan_path);
                own == path || own.strip_prefix(path).is_some_and(|rest| rest.starts_with('/'))
            }
        }
    }

    /// The absolute path, with `.` and `..` resolved lexically.
    fn absolute(&self, path: &[u8]) -> Vec<u8> {
        let start = if path.starts_with(b"/") {
            Vec::new()
        } else {
            self.site.repository().into_os_string().into_encoded_bytes()
        };
        let mut parts: Vec<&[u8]> = Vec::new();
        for part in start.split(|byte| *byte == b'/').chain(path.split(|byte| *byte == b'/')) {
            match part {
                b"" | b"." => {}
                b".." => {
                    parts.pop();
                }
                part => parts.push(part),
            }
        }
        parts.iter().flat_map(|part| [b"/".as_slice(), part]).collect::<Vec<_>>().concat()
    }

    fn shown(&self, path: &[u8]) -> String {
        let folder = self.site.folder().as_os_str().as_encoded_bytes();
        match path.strip_prefix(folder) {
            Some(below) => format!("…{}", String::from_utf8_lossy(below)),
            None => String::from_utf8_lossy(path).into_owned(),
        }
    }
}

/// Whether `path` is `place` or below it.
fn starts_at(path: &[u8], place: &[u8]) -> bool {
    path.strip_prefix(place).is_some_and(|rest| rest.is_empty() || rest.starts_with(b"/"))
}

fn is_own_process(path: &[u8]) -> bool {
    let Some(rest) = path.strip_prefix(b"/proc/") else { return false };
    let Some(slash) = rest.iter().position(|byte| *byte == b'/') else { return false };
    let (process, file) = rest.split_at(slash);
    let is_process = process == b"self" || process.iter().all(u8::is_ascii_digit);
    is_process && OWN_PROCESS.iter().any(|own| file.get(1..) == Some(own.as_bytes()))
}

/// Reads a file in pieces that overlap by `overlap` bytes, so that a word of that length cannot be missed.
fn in_pieces(file: &mut std::fs::File, overlap: usize, mut take: impl FnMut(&[u8])) -> std::io::Result<()> {
    let mut buffer = vec![0; (1 << 20).max(2 * overlap)];
    let mut kept = 0;
    loop {
        let count = file.read(&mut buffer[kept..])?;
        if count == 0 {
            return Ok(());
        }
        let end = kept + count;
        take(&buffer[..end]);
        kept = end.min(overlap);
        buffer.copy_within(end - kept..end, 0);
    }
}

pub(super) fn holds(bytes: &[u8], word: &[u8]) -> bool {
    !word.is_empty() && bytes.windows(word.len()).any(|window| window == word)
}

fn around_canary(bytes: &[u8]) -> String {
    let at = bytes.windows(CANARY.len()).position(|window| window == CANARY.as_bytes()).unwrap_or(0);
    let end = (at + CANARY.len() + 30).min(bytes.len());
    String::from_utf8_lossy(&bytes[at.saturating_sub(60)..end]).escape_debug().to_string()
}

fn first_line(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).lines().next().unwrap_or_default().chars().take(160).collect()
}
