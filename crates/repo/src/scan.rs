//! Scans a root into a `Universe`: a parallel walk that applies git's rules without running git.
//!
//! Links are never followed while walking, so the walk sees every directory at most once and always by its
//! real path. Not done here: reading the files themselves.

use std::collections::BTreeSet;
use std::ffi::OsString;
use std::io;
use std::path::Path;
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use rayon::Scope;
use stan_model::{CRATE_CHECKSUMS, CRATE_MANIFEST, Problem};

use crate::git::directory::{Checkout, is_repository};
use crate::git::index::tracked::TrackedPaths;
use crate::globs::{FORBIDDEN, Globs};
use crate::hash::listing_hash;
use crate::ignore::PatternList;
use crate::links::{Destination, destination};
use crate::observations::{DigestScope, Observations, Recorder, Unread, sorted_entries};
use crate::paths::{Root, escape_bytes, real_path};
use crate::system::{DirEntry, EntryKind, Stat, System};
use crate::universe::{ScanOptions, ScannedDirectory, Universe};

/// Git does not read larger pattern files either.
pub(crate) const MAX_PATTERN_FILE: u64 = 100 << 20;

/// Lists the files of the repository at `root`, which must be an absolute path.
///
/// Runs on the current rayon pool. Never fails: what cannot be read is a problem in the result.
pub fn scan(system: &dyn System, root: &Path, options: &ScanOptions) -> Universe {
    walk(system, root, options, Reach::Everything)
}

/// As [`scan`], but only the files that lie in the root itself and in the given folders. A folder is found only if those
/// above it are given too.
pub fn scan_folders(system: &dyn System, root: &Path, options: &ScanOptions, folders: &BTreeSet<String>) -> Universe {
    walk(system, root, options, Reach::Only(folders))
}

/// As [`scan`], but only the files that lie in the root itself.
pub fn scan_top(system: &dyn System, root: &Path, options: &ScanOptions) -> Universe {
    walk(system, root, options, Reach::Only(&BTreeSet::new()))
}

/// Whether git tracks a file of the repository at `root`, by its path from there. Nothing is tracked where git's index
/// cannot be read.
pub fn is_tracked(system: &dyn System, root: &str, path: &str) -> bool {
    let mut recorder = Recorder::new(system);
    let Ok(real) = real_path(system, Path::new(root)) else { return false };
    let root = Root::new(&real);
    let checkout = Checkout::find(&mut recorder, &root);
    let tracked = checkout.tracked_paths(&mut recorder, &root);
    let from_top = match checkout.top.relative(root.path()) {
        None | Some("") => path.to_owned(),
        Some(below) => [below, "/", path].concat(),
    };
    tracked.contains(from_top.as_bytes())
}

/// How far a walk goes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Reach<'a> {
    Everything,
    /// Only these folders, beside the root.
    Only(&'a BTreeSet<String>),
}

fn walk(system: &dyn System, root: &Path, options: &ScanOptions, reach: Reach<'_>) -> Universe {
    let mut recorder = Recorder::new(system);
    let given = root.to_str().map(Root::new);
    let (Some(alias), Ok(real)) = (given, real_path(system, root)) else {
        let name = escape_bytes(root.as_os_str().as_encoded_bytes());
        let problems =
            vec![Problem::new(name, "the root cannot be scanned, because it does not exist or is not UTF-8")];
        return Universe { problems, ..Universe::default() };
    };
    let root = Root::new(&real);
    let checkout = Checkout::find(&mut recorder, &root);
    let prefix = match checkout.top.relative(root.path()) {
        None | Some("") => String::new(),
        Some(below) => [below, "/"].concat(),
    };
    let walk = ScanWalk {
        system,
        checkout,
        index: OnceLock::new(),
        globs: Globs::new(&options.includes, &options.excludes, &mut recorder.problems),
        stan_path: options.stan_path.trim_start_matches("./").trim_matches('/').to_owned(),
        prefix,
        root,
        alias,
        reach,
        visited: Mutex::default(),
    };
    let list = || Listed::new(system, walk.root.path());
    let listed = match reach {
        // The index of a large repository takes as long to read as its root takes to list.
        Reach::Everything => rayon::join(|| walk.tracked(), list).1,
        // Few ask for it.
        Reach::Only(_) => list(),
    };
    let (rules, mode) = walk.rules_above_root(&mut recorder);
    let first = Task { path: String::new(), rules, mode, listed: Some(listed) };
    let imports = if reach == Reach::Everything { walk.imports(&mut recorder) } else { None };
    rayon::scope(|scope| {
        if let Some(imports) = imports {
            scope.spawn(|scope| walk.directory(scope, imports));
        }
        walk.directory(scope, first);
    });
    walk.finish(recorder)
}

/// The tracked paths, and what was read to find them.
struct ReadIndex {
    tracked: TrackedPaths,
    observations: Observations,
    problems: Vec<Problem>,
}

/// Rules from the weakest list to the strongest.
type Rules = Arc<[Arc<PatternList>]>;

/// What git would show of a directory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum ListingMode {
    /// Tracked files, and others that no rule ignores.
    Everything,
    /// The directory is ignored, so only tracked files.
    TrackedOnly,
    /// Another repository, or a name that is always out: only what `includes` adds.
    IncludesOnly,
    /// What stan staged from elsewhere: all of it, although git ignores it.
    Imported,
}

struct Task {
    /// Root-relative.
    path: String,
    rules: Rules,
    mode: ListingMode,
    /// If it was listed already.
    listed: Option<Listed>,
}

/// A directory's stat, taken first, and its entries.
struct Listed {
    stat: io::Result<Stat>,
    entries: io::Result<Vec<DirEntry>>,
}

impl Listed {
    fn new(system: &dyn System, path: &str) -> Self {
        let path = Path::new(path);
        let stat = system.lstat(path);
        let entries = match &stat {
            Ok(stat) if stat.kind == EntryKind::Dir => sorted_entries(system, path),
            _ => Ok(Vec::new()),
        };
        Self { stat, entries }
    }
}

struct ScanWalk<'a> {
    system: &'a dyn System,
    root: Root,
    /// The root as the caller spelled it.
    alias: Root,
    /// From the top of the checkout to the root, with a trailing slash; empty when they are the same.
    prefix: String,
    checkout: Checkout,
    /// Read on first use.
    index: OnceLock<ReadIndex>,
    globs: Globs,
    stan_path: String,
    reach: Reach<'a>,
    visited: Mutex<Vec<Visited>>,
}

/// A directory that is there: its stat, taken first, and its entries.
struct Opened {
    stat: Stat,
    entries: Vec<DirEntry>,
}

/// The contribution of one directory to the result.
struct Visited {
    path: String,
    directory: Option<ScannedDirectory>,
    files: Vec<Box<str>>,
    aliases: Vec<(Box<str>, Box<str>)>,
    observations: Observations,
    problems: Vec<Problem>,
}

impl<'a> ScanWalk<'a> {
    fn directory<'s>(&'s self, scope: &Scope<'s>, task: Task) {
        let mut visit = Visit {
            walk: self,
            recorder: Recorder::new(self.system),
            path_from_top: [self.prefix.as_str(), &task.path, if task.path.is_empty() { "" } else { "/" }]
                .concat()
                .into(),
            files: Vec::new(),
            aliases: Vec::new(),
            children: Vec::new(),
            task,
        };
        let directory = visit.open().map(|opened| {
            // Folders first, so that other threads can list them meanwhile.
            visit.folders(&opened.entries);
            for child in std::mem::take(&mut visit.children) {
                scope.spawn(move |scope| self.directory(scope, child));
            }
            let Opened { stat, entries } = opened;
            let listing = listing_hash(&entries);
            let entries = visit.rest(entries);
            ScannedDirectory { path: visit.task.path.as_str().into(), stat, listing, entries }
        });
        let Recorder { observations, problems, .. } = visit.recorder;
        let Visit { task, files, aliases, .. } = visit;
        let visited = Visited { path: task.path, directory, files, aliases, observations, problems };
        self.visited.lock().unwrap_or_else(PoisonError::into_inner).push(visited);
    }

    fn is_imports(&self, path: &str) -> bool {
        let below = path.strip_prefix(&self.stan_path).and_then(|rest| rest.strip_prefix('/'));
        !self.stan_path.is_empty() && below == Some("imports")
    }

    /// The folder of imported files, if it exists and is not reached through a link.
    fn imports(&self, recorder: &mut Recorder<'_>) -> Option<Task> {
        if self.stan_path.is_empty() || self.globs.prunes(&self.stan_path) {
            return None;
        }
        let path = [&self.stan_path, "/imports"].concat();
        let ends = path.match_indices('/').map(|(at, _)| at).chain([path.len()]);
        let folders = ends.filter_map(|end| path.get(..end));
        for folder in folders {
            if recorder.probe(&self.root.absolute(folder)) != Some(EntryKind::Dir) {
                return None;
            }
        }
        Some(Task { path, rules: Arc::new([]), mode: ListingMode::Imported, listed: None })
    }

    fn tracked(&self) -> &TrackedPaths {
        let read = || {
            let mut recorder = Recorder::new(self.system);
            let tracked = self.checkout.tracked_paths(&mut recorder, &self.root);
            ReadIndex { tracked, observations: recorder.observations, problems: recorder.problems }
        };
        &self.index.get_or_init(read).tracked
    }

    /// The rules that hold in the root before its own ignore file is read, and what may be shown of the root.
    fn rules_above_root(&self, recorder: &mut Recorder<'_>) -> (Rules, ListingMode) {
        let checkout = &self.checkout;
        let mut rules = Vec::new();
        if let Some(path) = checkout.info_exclude() {
            read_rules(recorder, &self.root, &path, 0, &mut rules);
        }
        // Each directory above the root is asked about first and then adds its own rules, from the top down.
        let ends = self.prefix.match_indices('/').map(|(index, _)| index);
        let mut mode = ListingMode::Everything;
        let mut start = 0;
        for end in ends {
            let above = self.prefix.get(..start).unwrap_or_default();
            let ignore_file = checkout.top.absolute(&[above, ".gitignore"].concat());
            if recorder.probe(&ignore_file) == Some(EntryKind::File) {
                read_rules(recorder, &self.root, &ignore_file, start, &mut rules);
            }
            let directory = self.prefix.get(..end).unwrap_or_default().as_bytes();
            if self.tracked().is_gitlink(directory) {
                return (rules.into(), ListingMode::IncludesOnly);
            }
            if is_ignored(&rules, directory, start, true) {
                mode = ListingMode::TrackedOnly;
                let message = "the root is in a directory that git ignores, so only tracked files are listed";
                recorder.problem(self.root.path(), message);
                break;
            }
            start = end + 1;
        }
        (rules.into(), mode)
    }

    fn finish(self, recorder: Recorder<'_>) -> Universe {
        let Recorder { mut observations, mut problems, .. } = recorder;
        let mut files = Vec::new();
        let mut aliases = Vec::new();
        let mut directories = Vec::new();
        if let Some(read) = self.index.into_inner() {
            observations.extend(read.observations);
            problems.extend(read.problems);
        }
        let mut all = self.visited.into_inner().unwrap_or_else(PoisonError::into_inner);
        all.sort_unstable_by(|a, b| a.path.cmp(&b.path));
        for visited in all {
            files.extend(visited.files);
            aliases.extend(visited.aliases);
            directories.extend(visited.directory);
            observations.extend(visited.observations);
            problems.extend(visited.problems);
        }
        // Each directory's files are sorted already, and so are directories: a stable sort makes use of that.
        files.sort();
        files.dedup();
        aliases.sort_unstable();
        problems.sort_unstable();
        problems.dedup();
        observations.sort();
        let Observations { files: inputs, links, probes, .. } = observations;
        Universe { files, aliases, directories, inputs, links, probes, problems }
    }

    /// Whether the path lies below stan's own directory and is not one of the parts that are scanned.
    fn is_stans_own(&self, path: &str, is_directory: bool) -> bool {
        if self.stan_path.is_empty() {
            return false;
        }
        let Some(below) = path.strip_prefix(&self.stan_path).and_then(|rest| rest.strip_prefix('/')) else {
            return false;
        };
        let (first, is_folder) = match below.split_once('/') {
            Some((first, _)) => (first, true),
            None => (below, is_directory),
        };
        match first {
            "system" | "imports" if is_folder => false,
            "context" | "output" | "diff" | "patch" | "cache" if is_folder => true,
            // Anything else is the repository's own, if git tracks it.
            first if first.starts_with(".lock") || first.starts_with(".stan-tmp-") => true,
            _ => {
                let from_top = [self.prefix.as_str(), path].concat();
                let is_tracked = match is_directory {
                    true => self.tracked().any_below(from_top.as_bytes()),
                    false => self.tracked().contains(from_top.as_bytes()),
                };
                !is_tracked
            }
        }
    }

    /// Whether the target of a link may be in the universe: ignore rules do not count, the other rules do.
    fn is_allowed_target(&self, path: &str) -> bool {
        !self.globs.excludes(path)
            && !self.is_stans_own(path, false)
            && (!path.split('/').any(|part| FORBIDDEN.contains(&part)) || self.globs.includes(path))
    }
}

/// The work on one directory.
struct Visit<'w, 'a> {
    walk: &'w ScanWalk<'a>,
    recorder: Recorder<'a>,
    task: Task,
    /// The directory's path from the top of the checkout with a trailing slash; entries are appended to it in turn.
    path_from_top: Vec<u8>,
    files: Vec<Box<str>>,
    aliases: Vec<(Box<str>, Box<str>)>,
    children: Vec<Task>,
}

impl Visit<'_, '_> {
    /// Lists the directory, and reads the rules that hold in it.
    fn open(&mut self) -> Option<Opened> {
        let absolute = self.walk.root.absolute(&self.task.path);
        let listed = self.task.listed.take();
        let Listed { stat, entries } = listed.unwrap_or_else(|| Listed::new(self.walk.system, &absolute));
        let stat = match stat {
            Ok(stat) if stat.kind == EntryKind::Dir => stat,
            Ok(_) => return self.unlisted("it changed while it was scanned"),
            Err(error) => return self.unlisted(Unread::of(&error).reason()),
        };
        let entries = match entries {
            Ok(entries) => entries,
            Err(error) => {
                self.unlisted(Unread::of(&error).reason());
                Vec::new()
            }
        };
        self.look_for_packages(&entries);
        self.look_for_repository(&entries, &absolute);
        self.read_ignore_file(&entries, &absolute);
        Some(Opened { stat, entries })
    }

    fn unlisted(&mut self, reason: &str) -> Option<Opened> {
        let name = if self.task.path.is_empty() { "." } else { &self.task.path };
        self.recorder.problems.push(Problem::new(name, format!("directory skipped, because {reason}")));
        None
    }

    /// A virtual environment of Python holds installed packages, as `node_modules` does; a crate that `cargo vendor` copied is
    /// one.
    fn look_for_packages(&mut self, entries: &[DirEntry]) {
        let has = |name: &str| find(entries, name) == Some(EntryKind::File);
        let is_installed = has("pyvenv.cfg") || (has(CRATE_CHECKSUMS) && has(CRATE_MANIFEST));
        if !self.task.path.is_empty() && is_installed {
            self.task.mode = ListingMode::IncludesOnly;
        }
    }

    fn look_for_repository(&mut self, entries: &[DirEntry], absolute: &str) {
        let Some(top) = self.path_from_top.strip_suffix(b"/") else { return };
        if self.task.mode == ListingMode::Everything
            && !self.task.path.is_empty()
            && find(entries, ".git").is_some()
            && !self.walk.tracked().any_below(top)
            && is_repository(&mut self.recorder, absolute)
        {
            self.task.mode = ListingMode::IncludesOnly;
        }
    }

    fn read_ignore_file(&mut self, entries: &[DirEntry], absolute: &str) {
        // Git reads no ignore file through a link.
        if self.task.mode == ListingMode::Everything && find(entries, ".gitignore") == Some(EntryKind::File) {
            let path = Root::new(absolute).absolute(".gitignore");
            let mut rules = self.task.rules.to_vec();
            read_rules(&mut self.recorder, &self.walk.root, &path, self.path_from_top.len(), &mut rules);
            self.task.rules = rules.into();
        }
    }

    fn folders(&mut self, entries: &[DirEntry]) {
        let only = match self.walk.reach {
            Reach::Everything => None,
            Reach::Only(folders) if folders.is_empty() => return,
            Reach::Only(folders) => Some(folders),
        };
        let length = self.path_from_top.len();
        for entry in entries.iter().filter(|entry| entry.kind == EntryKind::Dir) {
            if let Some(name) = entry.name.to_str()
                && only.is_none_or(|folders| folders.contains(&*self.relative(name)))
            {
                self.path_from_top.truncate(length);
                self.path_from_top.extend_from_slice(name.as_bytes());
                self.entry(name, entry.kind, length);
            }
        }
        self.path_from_top.truncate(length);
    }

    /// Everything but the folders; returns all entries that have a name.
    fn rest(&mut self, entries: Vec<DirEntry>) -> Vec<(Box<str>, EntryKind)> {
        let length = self.path_from_top.len();
        let mut named = Vec::with_capacity(entries.len());
        for DirEntry { name, kind } in entries {
            self.path_from_top.truncate(length);
            self.path_from_top.extend_from_slice(name.as_encoded_bytes());
            match name.into_string() {
                Ok(name) => {
                    if kind != EntryKind::Dir {
                        self.entry(&name, kind, length);
                    }
                    named.push((name.into_boxed_str(), kind));
                }
                Err(name) => self.unnamed(&name, kind, length),
            }
        }
        named
    }

    fn entry(&mut self, name: &str, kind: EntryKind, name_start: usize) {
        if kind == EntryKind::Other {
            return;
        }
        let forbidden = FORBIDDEN.contains(&name);
        if forbidden && !self.walk.globs.has_includes() {
            return;
        }
        if kind == EntryKind::Dir {
            let mode = if forbidden { ListingMode::IncludesOnly } else { self.mode_of_child(name_start) };
            self.child(name, mode);
        } else if !forbidden && self.git_shows(name_start) {
            self.add(self.relative(name), kind);
        } else if self.walk.globs.has_includes() {
            let path = self.relative(name);
            if self.walk.globs.includes(&path) {
                self.add(path, kind);
            }
        }
    }

    fn child(&mut self, name: &str, mode: ListingMode) {
        let walk = self.walk;
        let wanted = match mode {
            ListingMode::Everything | ListingMode::Imported => true,
            ListingMode::TrackedOnly => walk.tracked().any_below(&self.path_from_top),
            ListingMode::IncludesOnly => false,
        };
        if !wanted && !walk.globs.has_includes() {
            return;
        }
        let path = self.relative(name);
        if (wanted || walk.globs.could_include_below(&path))
            && !walk.is_stans_own(&path, true)
            // It is walked by itself.
            && !(walk.reach == Reach::Everything && walk.is_imports(&path))
            && !walk.globs.prunes(&path)
        {
            self.children.push(Task { path: path.into_string(), rules: self.task.rules.clone(), mode, listed: None });
        }
    }

    fn mode_of_child(&self, name_start: usize) -> ListingMode {
        if self.task.mode == ListingMode::Imported {
            ListingMode::Imported
        } else if self.task.mode == ListingMode::IncludesOnly || self.walk.tracked().is_gitlink(&self.path_from_top) {
            ListingMode::IncludesOnly
        } else if self.task.mode == ListingMode::TrackedOnly
            || is_ignored(&self.task.rules, &self.path_from_top, name_start, true)
        {
            ListingMode::TrackedOnly
        } else {
            ListingMode::Everything
        }
    }

    /// Whether git would show the file or link at `path_from_top`.
    fn git_shows(&self, name_start: usize) -> bool {
        match self.task.mode {
            ListingMode::IncludesOnly => false,
            ListingMode::Imported => true,
            ListingMode::Everything if !is_ignored(&self.task.rules, &self.path_from_top, name_start, false) => true,
            ListingMode::Everything | ListingMode::TrackedOnly => self.walk.tracked().contains(&self.path_from_top),
        }
    }

    fn add(&mut self, path: Box<str>, kind: EntryKind) {
        let walk = self.walk;
        if walk.is_stans_own(&path, false) || walk.globs.excludes(&path) {
            return;
        }
        if kind == EntryKind::File {
            self.files.push(path);
            return;
        }
        match destination(&mut self.recorder, &walk.root, &walk.alias, &path) {
            Destination::File(target) if walk.is_allowed_target(&target) => {
                let target = target.into_boxed_str();
                self.aliases.push((path, target.clone()));
                self.files.push(target);
            }
            other => {
                if let Some(message) = other.problem() {
                    self.recorder.problem(&path, message);
                }
            }
        }
    }

    /// A name that is not UTF-8 is reported if git would show it, or look into it.
    fn unnamed(&mut self, name: &OsString, kind: EntryKind, name_start: usize) {
        let shown = match kind {
            EntryKind::Other => false,
            EntryKind::Dir => self.mode_of_child(name_start) == ListingMode::Everything,
            EntryKind::File | EntryKind::Link => self.git_shows(name_start),
        };
        let path = self.relative(&escape_bytes(name.as_encoded_bytes()));
        if shown && !self.walk.is_stans_own(&path, false) {
            self.recorder.problem(&path, "skipped, because its name is not UTF-8");
        }
    }

    fn relative(&self, name: &str) -> Box<str> {
        if self.task.path.is_empty() { name.into() } else { [&self.task.path, "/", name].concat().into() }
    }
}

fn find(entries: &[DirEntry], name: &str) -> Option<EntryKind> {
    let index = entries.binary_search_by(|entry| entry.name.as_encoded_bytes().cmp(name.as_bytes())).ok()?;
    entries.get(index).map(|entry| entry.kind)
}

/// The strongest list that has an opinion decides.
fn is_ignored(rules: &[Arc<PatternList>], path_from_top: &[u8], name_start: usize, is_directory: bool) -> bool {
    rules
        .iter()
        .rev()
        .find_map(|list| list.verdict(path_from_top, name_start, is_directory))
        .is_some_and(|verdict| verdict.ignored)
}

fn read_rules(recorder: &mut Recorder<'_>, root: &Root, path: &str, base: usize, rules: &mut Vec<Arc<PatternList>>) {
    match recorder.read(path, DigestScope::Bytes, MAX_PATTERN_FILE) {
        Ok(bytes) => {
            let list = PatternList::parse(&bytes, base);
            if !list.is_empty() {
                rules.push(Arc::new(list));
            }
        }
        Err(Unread::Absent) => {}
        Err(unread) => {
            let message = format!("its rules do not apply, because {}", unread.reason());
            recorder.problem(root.relative(path).unwrap_or(path), message);
        }
    }
}
