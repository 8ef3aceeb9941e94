//! The laws that must hold after any fault.

use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::path::{Path, PathBuf};

use stan_engine::context::{Repository, verify};
use stan_repo::{Effect, EntryKind, Fault, FaultySystem, MemorySystem, System, SystemExt as _, target_of_temporary};

use crate::paths::{Done, WritePath, engine, found};

/// The outcomes of injecting a fault at many positions.
#[derive(Clone, Debug, Default)]
pub(crate) struct Tally {
    pub(crate) positions: usize,
    pub(crate) injected: usize,
    /// The run did its work and reported success.
    pub(crate) succeeded: usize,
    /// Inputs were unreadable or changed during the run: it continued without them, and its outputs are consistent.
    pub(crate) degraded: usize,
    pub(crate) refused: usize,
    /// Some outputs were already in place, and the message said so.
    pub(crate) half_done: usize,
    /// Violated laws.
    pub(crate) broken: Vec<String>,
}

impl Tally {
    pub(crate) fn add(&mut self, other: &Self) {
        self.positions += other.positions;
        self.injected += other.injected;
        self.succeeded += other.succeeded;
        self.degraded += other.degraded;
        self.refused += other.refused;
        self.half_done += other.half_done;
        self.broken.extend_from_slice(&other.broken);
    }
}

impl fmt::Display for Tally {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { positions, injected, succeeded, degraded, refused, half_done, .. } = self;
        write!(
            f,
            "{positions} positions, injected at {injected}: {succeeded} as if nothing had happened, {degraded} without "
        )?;
        write!(f, "what could not be read, {refused} refused, {half_done} half done and said so")
    }
}

/// Every file with its bytes, and every folder and link with its kind. The lock's text, the cache and its key, and the copies of
/// applied replies are not outputs.
type Tree = BTreeMap<String, Vec<u8>>;

fn tree(system: &MemorySystem) -> Tree {
    let mut found = Tree::new();
    let mut pending = vec!["/".to_owned()];
    while let Some(folder) = pending.pop() {
        for entry in system.read_dir(Path::new(&folder)).unwrap() {
            let path = format!("{}/{}", folder.trim_end_matches('/'), entry.name.to_str().unwrap());
            let is_ours_alone = ["/r/.stan/.lock", "/r/.stan/cache", "/r/.stan/patch"].contains(&path.as_str())
                || path.starts_with("/r/.stan/patch/")
                || path.starts_with("/state");
            let mut bytes = Vec::new();
            match entry.kind {
                EntryKind::Dir => pending.push(path.clone()),
                _ => drop(system.read_into(Path::new(&path), &mut bytes)),
            }
            if !is_ours_alone && !path.starts_with("/r/.stan/cache/") {
                found.insert(path, bytes);
            }
        }
    }
    found
}

/// Temporary files anywhere, including the cache.
fn leftovers(system: &MemorySystem) -> Vec<String> {
    let mut found = Vec::new();
    let mut pending = vec!["/".to_owned()];
    while let Some(folder) = pending.pop() {
        for entry in system.read_dir(Path::new(&folder)).unwrap() {
            let name = entry.name.to_str().unwrap();
            let path = format!("{}/{name}", folder.trim_end_matches('/'));
            match entry.kind {
                EntryKind::Dir => pending.push(path),
                _ if target_of_temporary(name).is_some() => found.push(path),
                _ => {}
            }
        }
    }
    found
}

fn difference<'t>(left: &'t Tree, right: &'t Tree, ignored: &[&str]) -> Vec<&'t str> {
    let paths: BTreeSet<&String> = left.keys().chain(right.keys()).collect();
    let is_different = |path: &&String| left.get(*path) != right.get(*path);
    let is_ignored = |path: &&String| ignored.iter().any(|part| path.contains(part));
    paths.into_iter().filter(is_different).filter(|path| !is_ignored(path)).map(String::as_str).collect()
}

/// The trees before and after a write path without faults.
struct Reference {
    before: MemorySystem,
    old: Tree,
    new: Tree,
    /// After a second run, whose baseline may have been written by the first one.
    twice: Tree,
    answer: Done,
    second_answer: Done,
}

impl Reference {
    fn of(path: &WritePath) -> Self {
        let before = (path.before)();
        let old = tree(&before);
        let system = before.duplicate();
        let answer = (path.act)(&system).unwrap_or_else(|error| panic!("{}: {error}", path.name));
        let new = tree(&system);
        let second_answer = (path.act)(&system).unwrap_or_else(|error| panic!("{}, again: {error}", path.name));
        Self { before, old, new, twice: tree(&system), answer, second_answer }
    }
}

/// One run, and everything that its checks need.
struct FaultRun<'a> {
    path: &'a WritePath,
    reference: &'a Reference,
    fault: Fault,
    lasting: bool,
    what: String,
    injected: Vec<(Effect, PathBuf)>,
    /// All violated laws.
    broken: RefCell<Vec<String>>,
}

/// Injects the fault at the positions `offset`, `offset + stride` and so on.
pub(crate) fn drive(path: &WritePath, fault: Fault, lasting: bool, stride: usize, offset: usize) -> Tally {
    let reference = Reference::of(path);
    let mut tally = Tally::default();
    let mut at = offset;
    loop {
        let system = reference.before.duplicate();
        let faulty = FaultySystem::new(&system, fault, at, lasting);
        let result = (path.act)(&faulty);
        let positions = faulty.positions();
        tally.positions = tally.positions.max(positions);
        let injected = faulty.injected();
        let how = if lasting { "for good" } else { "once" };
        let what = format!("{}: {fault:?} {how} at {at} {:?}", path.name, injected.first());
        let run = FaultRun { path, reference: &reference, fault, lasting, what, injected, broken: RefCell::default() };
        tally.injected += usize::from(!run.injected.is_empty());
        run.check(&system, result, &mut tally);
        tally.broken.append(&mut run.broken.borrow_mut());
        if positions <= at {
            return tally;
        }
        at += stride;
    }
}

impl FaultRun<'_> {
    fn require(&self, law: &str, holds: bool, but: impl FnOnce() -> String) {
        if !holds {
            self.broken.borrow_mut().push(format!("{law}. {}: {}", self.what, but()));
        }
    }

    fn check(&self, system: &MemorySystem, result: Result<Done, String>, tally: &mut Tally) {
        let after = tree(system);
        self.inputs_are_untouched(&after);
        let mut degraded = false;
        match &result {
            Ok(done) => {
                degraded = self.success(system, &after, done);
                *(if degraded { &mut tally.degraded } else { &mut tally.succeeded }) += 1;
            }
            Err(message) => {
                let is_half_done = message.contains("already");
                *(if is_half_done { &mut tally.half_done } else { &mut tally.refused }) += 1;
                self.refusal(&after, message, is_half_done);
            }
        }
        self.outputs_are_whole(&after, degraded);
        self.baselines_come_last(&after);
        self.restore(system);
        self.next_run(system, degraded);
    }

    /// Files that are not outputs must not change.
    fn inputs_are_untouched(&self, after: &Tree) {
        let Reference { old, new, .. } = self.reference;
        let inputs = old.iter().filter(|(path, bytes)| new.get(*path) == Some(bytes) && !path.starts_with("/r/.stan/"));
        for (path, bytes) in inputs {
            self.require("inputs stay as they are", after.get(path) == Some(bytes), || path.clone());
        }
    }

    /// A run that reports success must have succeeded. Returns `true` if it continued without some inputs.
    fn success(&self, system: &MemorySystem, after: &Tree, done: &Done) -> bool {
        let different = difference(after, &self.reference.new, &[]);
        if (different.is_empty() || self.is_left_alone(&different)) && done.answer == self.reference.answer.answer {
            return false;
        }
        self.require("nothing that failed is called a success", self.may_see_less(done), || {
            format!("{different:?}, said {:?}", done.said)
        });
        if self.path.is_a_run {
            let found = found(system).expect("the configuration is sound");
            let report = verify(&engine(system), &Repository { root: &found.root, config: &found.config }, None);
            // Files that could not be seen may be missing from the archive, but nothing else may be wrong.
            let is_consistent = report.as_ref().is_ok_and(|report| report.differ.is_empty()) || self.changes_inputs();
            self.require("an archive agrees with its map", is_consistent, || format!("{report:?}"));
        }
        true
    }

    /// An undo must not restore a file that another process has changed meanwhile.
    fn is_left_alone(&self, different: &[&str]) -> bool {
        let is_affected = |path: &&str| self.injected.iter().any(|(_, injected)| injected == Path::new(*path));
        self.path.name == "apply --undo" && self.changes_inputs() && different.iter().all(is_affected)
    }

    fn changes_inputs(&self) -> bool {
        matches!(self.fault, Fault::Vanished | Fault::Shrunk | Fault::Grown | Fault::Ghost)
    }

    /// Whether a run may continue without a file: access was denied, it was removed, or the run reports that it could not be
    /// read.
    fn may_see_less(&self, done: &Done) -> bool {
        let reads = [Effect::List, Effect::Stat, Effect::Read, Effect::ReadPiece, Effect::ReadLink];
        let is_read = self.injected.iter().any(|(effect, _)| reads.contains(effect));
        let is_said = done.said.len() > self.reference.answer.said.len();
        is_read && (self.fault == Fault::Denied || self.changes_inputs() || (self.path.tells_what_it_missed && is_said))
    }

    fn refusal(&self, after: &Tree, message: &str, is_half_done: bool) {
        // A clock that goes back looks like a copied folder, and the journal of a copy is never trusted.
        let is_copy = self.fault == Fault::TimeBack && message.contains("it was not written here");
        self.require("a harmless fault is not an error", is_copy || !self.fault.is_harmless(), || message.to_owned());
        if is_copy {
            return;
        }
        self.names_the_file(message);
        // Imports and the record of their labels are updated before all other outputs, because the map must see them.
        let imports = ["/r/.stan/imports", "/r/.stan/diff/.imports.json"];
        let mut different = difference(after, &self.reference.old, &imports);
        different.retain(|path| *path != "/r/.stan/diff");
        let is_old = self.lasting || is_half_done || different.is_empty();
        self.require("a refused run changes nothing", is_old, || format!("{different:?} ({message})"));
    }

    /// The message must name the file or its folder, and tell what to do.
    fn names_the_file(&self, message: &str) {
        let is_named = self.injected.iter().any(|(_, path)| {
            let name = path.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
            let folder = path.parent().and_then(Path::file_name).map(|name| name.to_string_lossy().into_owned());
            message.contains(target_of_temporary(&name).unwrap_or(&name))
                || folder.is_some_and(|folder| message.contains(&folder))
        });
        self.require("a message names the file", is_named, || message.to_owned());
        let advice =
            ["again", "check", "make", "fix", "move", "remove", "see who", "wait", "rebuild", "name ", "writes"];
        let is_of_help = advice.iter().any(|word| message.contains(word));
        self.require("a message says what to do", is_of_help, || message.to_owned());
    }

    fn outputs_are_whole(&self, after: &Tree, degraded: bool) {
        let Reference { old, new, .. } = self.reference;
        let is_temporary = |path: &str| path.rsplit('/').next().is_some_and(|name| target_of_temporary(name).is_some());
        for (path, bytes) in after.iter().filter(|(path, _)| !is_temporary(path)) {
            let is_folder = bytes.is_empty();
            let is_whole = degraded || is_folder || Some(bytes) == old.get(path) || Some(bytes) == new.get(path);
            self.require("each file is the old or the new one", is_whole, || path.clone());
        }
        for path in old.keys().filter(|path| new.contains_key(*path)) {
            self.require("nothing is gone", degraded || after.contains_key(path), || path.clone());
        }
    }

    /// A baseline newer than the archives would hide changes from the reader of the next diff.
    fn baselines_come_last(&self, after: &Tree) {
        let Reference { old, new, .. } = self.reference;
        let is_new = |path: &&String| old.get(*path) != new.get(*path) && after.get(*path) == new.get(*path);
        let is_ahead = new.keys().filter(|path| path.contains("/.archive.snapshot.")).any(|path| is_new(&path));
        let archives = new.keys().filter(|path| path.ends_with(".tar"));
        let late: Vec<&String> = archives.filter(|path| after.get(*path) != new.get(*path)).collect();
        self.require("baselines come last", !is_ahead || late.is_empty(), || format!("{late:?}"));
    }

    /// Restores files that changed during the run, but not removed ones, whose contents no other process could know.
    fn restore(&self, system: &MemorySystem) {
        if !self.changes_inputs() || self.fault == Fault::Ghost {
            return;
        }
        for path in self.injected.iter().filter_map(|(_, path)| path.to_str()) {
            if let Some(bytes) = self.reference.old.get(path).filter(|_| system.lstat(Path::new(path)).is_ok()) {
                system.set_file(path, bytes.clone());
            }
        }
    }

    /// The next run must succeed, produce what it would have produced anyway, and leave no temporary files.
    fn next_run(&self, system: &MemorySystem, degraded: bool) {
        let done = match (self.path.act)(system) {
            Ok(done) => done,
            Err(message) => return self.require("the next run succeeds", false, || message),
        };
        let after = tree(system);
        // A first run that saw fewer files wrote a baseline without them.
        let ignored: &[&str] = if degraded { &["/r/.stan/diff", "archive.diff"] } else { &[] };
        let different = difference(&after, &self.reference.new, ignored);
        let is_right = different.is_empty()
            || difference(&after, &self.reference.twice, ignored).is_empty()
            || self.is_left_alone(&different);
        self.require("the next run makes what it would have made anyway", is_right, || format!("{different:?}"));
        let answers = [&self.reference.answer.answer, &self.reference.second_answer.answer];
        self.require("the next run answers as it would have", answers.contains(&&done.answer), String::new);
        let left = leftovers(system);
        self.require("the next run leaves nothing behind", left.is_empty(), || format!("{left:?}"));
    }
}
