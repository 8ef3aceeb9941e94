//! Scans a root into a `Universe`: a parallel walk that applies git's rules without running git.
//!
//! The walk never follows symlinks, so it sees every directory at most once and always by its real path. The files themselves are
//! not read here.

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

/// Git rejects larger pattern files too.
pub(crate) const MAX_PATTERN_FILE: u64 = 100 << 20;

/// Lists the files of the repository at `root`, which must be an absolute path.
///
/// Runs on the current rayon pool. Never fails: unreadable paths become problems in the result.
pub fn scan(system: &dyn System, root: &Path, options: &ScanOptions) -> Universe {
    walk(system, root, options, Reach::Everything)
}

/// As [`scan`], but only the files directly in the root and in the given folders. A folder is found only if its parents are given
/// too.
pub fn scan_folders(system: &dyn System, root: &Path, options: &ScanOptions, folders: &BTreeSet<String>) -> Universe {
    walk(system, root, options, Reach::Only(folders))
}

/// As [`scan`], but only the files directly in the root.
pub fn scan_top(system: &dyn System, root: &Path, options: &ScanOptions) -> Universe {
    walk(system, root, options, Reach::Only(&BTreeSet::new()))
}

/// Whether git tracks a file of the repository at `root`, by its root-relative path. False if git's index cannot be read.
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

/// The extent of a walk.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Reach<'a> {
    Everything,
    /// Only these folders, besides the root.
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
        // Reading the index of a large repository takes as long as listing its root, so do both at once.
        Reach::Everything => rayon::join(|| walk.tracked(), list).1,
        // Few such walks need the index.
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

/// The tracked paths, and the observations of reading them.
struct ReadIndex {
    tracked: TrackedPaths,
    observations: Observations,
    problems: Vec<Problem>,
}

/// Lists of rules, the strongest one last.
type Rules = Arc<[Arc<PatternList>]>;

/// Which files of a directory git would show.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum ListingMode {
    /// Tracked files, and others that no rule ignores.
    Everything,
    /// The directory is ignored, so only tracked files.
    TrackedOnly,
    /// Another repository, or a name that is always skipped: only files that `includes` adds.
    IncludesOnly,
    /// Files that stan staged from elsewhere: all of them, although git ignores them.
    Imported,
}

struct Task {
    /// Root-relative.
    path: String,
    rules: Rules,
    mode: ListingMode,
    /// The listing, if it was read in advance.
    listed: Option<Listed>,
}

/// A directory's stat, taken first, and its entries, or the errors.
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
    /// The path from the top of the checkout to the root, with a trailing slash; empty if they are the same.
    prefix: String,
    checkout: Checkout,
    /// Read on first use.
    index: OnceLock<ReadIndex>,
    globs: Globs,
    stan_path: String,
    reach: Reach<'a>,
    visited: Mutex<Vec<Visited>>,
}

/// A directory that could be read: its stat, taken first, and its entries.
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
            // Folders first, so that other threads can list them in the meantime.
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

    /// The folder of imported files, if it exists and its path contains no symlink.
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

    /// The rules that apply to the root before its own ignore file is read, and which files of the root git would show.
    fn rules_above_root(&self, recorder: &mut Recorder<'_>) -> (Rules, ListingMode) {
        let checkout = &self.checkout;
        let mut rules = Vec::new();
        if let Some(path) = checkout.info_exclude() {
            read_rules(recorder, &self.root, &path, 0, &mut rules);
        }
        // From the top down: each parent directory of the root is checked against the rules so far, and then adds its own.
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
        // The files of each directory and the directories are sorted, which makes a stable sort fast.
        files.sort();
        files.dedup();
        aliases.sort_unstable();
        problems.sort_unstable();
        problems.dedup();
        observations.sort();
        let Observations { files: inputs, links, probes, .. } = observations;
        Universe { files, aliases, directories, inputs, links, probes, problems }
    }

    /// Whether the path is in stan's own directory, except the parts that are scanned.
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
            // Anything else belongs to the repository, if git tracks it.
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

    /// Whether the target of a symlink may be in the universe: all rules apply, except ignore rules.
    fn is_allowed_target(&self, path: &str) -> bool {
        !self.globs.excludes(path)
            && !self.is_stans_own(path, false)
            && (!path.split('/').any(|part| FORBIDDEN.contains(&part)) || self.globs.includes(path))
    }
}

/// The visit of one directory.
struct Visit<'w, 'a> {
    walk: &'w ScanWalk<'a>,
    recorder: Recorder<'a>,
    task: Task,
    /// The directory's path from the top of the checkout, with a trailing slash. The names of entries are appended in turn.
    path_from_top: Vec<u8>,
    files: Vec<Box<str>>,
    aliases: Vec<(Box<str>, Box<str>)>,
    children: Vec<Task>,
}

impl Visit<'_, '_> {
    /// Lists the directory, and reads its ignore file.
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

    /// A Python virtual environment contains installed packages, like `node_modules`; so does a crate that `cargo vendor` copied.
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
        // Git does not follow a symlink to an ignore file.
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

    /// Processes everything but the folders; returns all entries with UTF-8 names.
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
            // The folder of imports is walked separately.
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

    /// Reports a name that is not UTF-8 if git would show it, or would enter it.
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

/// The last list with a matching rule decides.
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
