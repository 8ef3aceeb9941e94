//! Plans which files the `imports` of a configuration stage, and where to.
//!
//! Only a plan: nothing is written and no file is opened. Outside the root, only folders that the command line allows are read. A
//! link that leaves the folder in which its glob starts is not followed, nor is any link to a folder, so that the walk ends and
//! visits each folder once.

use std::collections::{BTreeMap, BTreeSet};
use std::io;
use std::path::Path;

use stan_repo::{
    AbsPath, AllowedFolder, DirEntry, EntryKind, Files, GlobError, Reach, RootedGlob, System, SystemExt as _,
    WalkGlobs, World, normal_path, read_failure, real_path, relative_path,
};

use crate::config::{label_refusal, visible};

/// With more files than this, the glob is assumed to be mistyped.
const MAX_FILES: usize = 100_000;
/// A glob like `/**` would otherwise walk the whole machine.
const MAX_ENTRIES: usize = 1_000_000;

/// Further warnings about the same label are dropped.
const MAX_WARNINGS: usize = 100;

/// One file to stage.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct ImportFile {
    /// Root-relative: `<stanPath>/imports/<label>/<path below the glob's parent>`.
    pub target: String,
    pub label: String,
    /// Absolute real path.
    pub source: String,
}

/// The files that the imports resolve to.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ImportPlan {
    /// Sorted by target, each target once.
    pub files: Vec<ImportFile>,
    /// Sorted: globs that matched nothing, links and folders that were left out.
    pub warnings: Vec<String>,
    /// Labels with an unreadable folder: the set of their files is incomplete.
    pub unread: BTreeSet<String>,
}

/// The configured imports cannot be staged.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ImportError {
    #[error("the import label `{}` cannot be used, because {reason}", visible(label))]
    Label { label: String, reason: &'static str },
    #[error("import `{label}`: {error}")]
    Glob { label: String, error: GlobError },
    #[error("import `{label}`: {first} and {second} would both be staged as {target}; give them labels of their own")]
    Collision { label: String, target: String, first: String, second: String },
    #[error(
        "import `{label}`: {file} would be staged as {target}, where {other} needs a folder; give them labels of their own"
    )]
    FileAndFolder { label: String, target: String, file: String, other: String },
    #[error("import `{label}`: the glob `{glob}` reads from {folder}, where imports are staged; import from elsewhere")]
    Itself { label: String, glob: String, folder: String },
    #[error(
        "import `{label}`: the glob `{glob}` leads outside the root, where nothing is read without consent; \
         `--allow-outside DIR` allows a folder"
    )]
    Outside { label: String, glob: String },
    #[error("import `{label}`: more than {limit} {what} below {parent}; start the glob in a deeper folder")]
    TooMany { label: String, limit: usize, what: &'static str, parent: String },
}

/// Plans the imports of the repository at `root`, an absolute real path. Files outside it need consent: `allowed`.
pub fn plan(
    system: &dyn System,
    root: &str,
    stan_path: &str,
    imports: &BTreeMap<String, Vec<String>>,
    allowed: &[AllowedFolder],
) -> Result<ImportPlan, ImportError> {
    let stan_folder = join(root, stan_path);
    let world = World::new(system, root, None).prefer_probe().within(Reach::by_consent(root, allowed));
    let mut planner = Planner { system, world, root, staging: join(&stan_folder, "imports"), stan_folder, entries: 0 };
    let mut plan = ImportPlan::default();
    for (label, globs) in imports {
        let is_inside_other =
            label.match_indices('/').filter_map(|(at, _)| label.get(..at)).any(|outer| imports.contains_key(outer));
        let nested = is_inside_other.then_some("its folder is inside that of another label");
        if let Some(reason) = label_refusal(label).or(nested) {
            return Err(ImportError::Label { label: label.clone(), reason });
        }
        let mut found = LabelFiles::new(label, format!("{stan_path}/imports/{label}"));
        planner.label(globs, &mut found)?;
        found.refuse_files_as_folders()?;
        plan.warnings.extend(found.warnings);
        plan.unread.extend(found.is_unread.then(|| label.clone()));
        if found.are_warnings_cut {
            plan.warnings.push(format!("import `{label}`: there are more warnings than {MAX_WARNINGS}"));
        }
        for (path, source) in found.sources {
            let target = [&found.folder, "/", &path].concat();
            plan.files.push(ImportFile { target, label: label.clone(), source });
        }
    }
    plan.files.sort_unstable();
    plan.warnings.sort_unstable();
    Ok(plan)
}

/// The files of one label.
struct LabelFiles<'l> {
    label: &'l str,
    /// Where its files are staged, relative to the root.
    folder: String,
    /// Source paths by path below the label's folder.
    sources: BTreeMap<String, String>,
    warnings: BTreeSet<String>,
    are_warnings_cut: bool,
    /// A folder exists, or may exist, but cannot be read.
    is_unread: bool,
}

impl<'l> LabelFiles<'l> {
    fn new(label: &'l str, folder: String) -> Self {
        let (sources, warnings) = (BTreeMap::new(), BTreeSet::new());
        Self { label, folder, sources, warnings, are_warnings_cut: false, is_unread: false }
    }

    fn warn(&mut self, message: String) {
        if self.warnings.len() == MAX_WARNINGS {
            self.are_warnings_cut = true;
            return;
        }
        self.warnings.insert(format!("import `{}`: {message}", self.label));
    }

    fn add(&mut self, path: String, source: String, parent: &str) -> Result<(), ImportError> {
        match self.sources.get(&path) {
            Some(first) if *first != source => {
                let (first, second, target) = (first.clone(), source, join(&self.folder, &path));
                return Err(ImportError::Collision { label: self.label.to_owned(), target, first, second });
            }
            Some(_) => {}
            None => drop(self.sources.insert(path, source)),
        }
        if self.sources.len() > MAX_FILES {
            return Err(self.too_many(MAX_FILES, "files match", parent));
        }
        Ok(())
    }

    fn too_many(&self, limit: usize, what: &'static str, parent: &str) -> ImportError {
        ImportError::TooMany { label: self.label.to_owned(), limit, what, parent: parent.to_owned() }
    }

    fn refuse_files_as_folders(&self) -> Result<(), ImportError> {
        for (path, other) in &self.sources {
            let above = path.match_indices('/').filter_map(|(at, _)| path.get(..at));
            for target in above {
                if let Some(file) = self.sources.get(target) {
                    return Err(ImportError::FileAndFolder {
                        label: self.label.to_owned(),
                        target: join(&self.folder, target),
                        file: file.clone(),
                        other: other.clone(),
                    });
                }
            }
        }
        Ok(())
    }
}

struct Planner<'s> {
    system: &'s dyn System,
    /// Decides which paths may be read.
    world: World<'s>,
    root: &'s str,
    stan_folder: String,
    /// The folder that imports are staged in.
    staging: String,
    /// How many directory entries were visited, for all labels.
    entries: usize,
}

/// One glob, and whether it has matched anything.
struct Sought<'g> {
    glob: &'g str,
    globs: WalkGlobs,
    is_found: bool,
}

/// The globs of a label that start in the same folder, so that it is walked once.
#[derive(Default)]
struct GlobGroup<'g> {
    sought: Vec<Sought<'g>>,
    patterns: Vec<String>,
}

impl Planner<'_> {
    fn label(&mut self, globs: &[String], found: &mut LabelFiles<'_>) -> Result<(), ImportError> {
        let mut groups: BTreeMap<String, GlobGroup<'_>> = BTreeMap::new();
        for glob in globs {
            let refused = |error| ImportError::Glob { label: found.label.to_owned(), error };
            let RootedGlob { parent, pattern } = RootedGlob::new(glob).map_err(refused)?;
            let parent = normal_path(self.root, &parent);
            if self.is_refused(&parent) {
                return Err(ImportError::Outside { label: found.label.to_owned(), glob: glob.clone() });
            }
            let parent = self.world.real_spelling(&parent);
            let parent = match real_path(self.system, Path::new(&*parent)) {
                Ok(parent) => parent,
                Err(error) => {
                    let why = if is_absent(&error) { "does not exist" } else { "cannot be read" };
                    found.is_unread |= !is_absent(&error);
                    found.warn(format!("the glob `{glob}` matched nothing, because the folder it starts in {why}"));
                    continue;
                }
            };
            if is_at_or_below(&parent, &self.staging) {
                let (label, glob) = (found.label.to_owned(), glob.clone());
                return Err(ImportError::Itself { label, glob, folder: self.shown(&self.staging) });
            }
            let globs = WalkGlobs::new(&[&pattern]).map_err(refused)?;
            let group = groups.entry(parent).or_default();
            group.sought.push(Sought { glob, globs, is_found: false });
            group.patterns.push(pattern);
        }
        for (parent, mut group) in groups {
            let refused = |error| ImportError::Glob { label: found.label.to_owned(), error };
            let all = WalkGlobs::new(&group.patterns).map_err(refused)?;
            ImportWalk { planner: self, parent: &parent, all: &all, group: &mut group }.run(found)?;
            for Sought { glob, is_found, .. } in group.sought {
                if !is_found {
                    found.warn(format!("the glob `{glob}` matched nothing below {}", self.shown(&parent)));
                }
            }
        }
        Ok(())
    }

    /// Whether a path, or the target of a link on it, may not be read.
    fn is_refused(&self, path: &str) -> bool {
        let refusals = self.world.refusals();
        self.world.real_path(path).is_none() && self.world.refusals() != refusals
    }

    /// A path for messages, which users may share: relative to the root.
    fn shown(&self, path: &str) -> String {
        relative_path(self.root, path)
    }

    /// Whether a folder must not be imported: the staging folder never, stan's own folder only by a glob that starts in it.
    fn is_stans_own(&self, folder: &str, parent: &str) -> bool {
        is_at_or_below(folder, &self.staging) || (folder == self.stan_folder && !is_at_or_below(parent, folder))
    }
}

struct ImportWalk<'w, 's, 'g> {
    planner: &'w mut Planner<'s>,
    /// Absolute real path.
    parent: &'w str,
    all: &'w WalkGlobs,
    group: &'w mut GlobGroup<'g>,
}

impl ImportWalk<'_, '_, '_> {
    fn run(&mut self, found: &mut LabelFiles<'_>) -> Result<(), ImportError> {
        let mut pending = vec![String::new()];
        while let Some(below) = pending.pop() {
            let folder = join(self.parent, &below);
            let entries = match self.planner.system.read_dir(Path::new(&folder)) {
                Ok(mut entries) => {
                    // Sorted, so that the order of the file system does not decide which warnings exceed the limit.
                    entries.sort_unstable_by(|a, b| a.name.cmp(&b.name));
                    entries
                }
                Err(error) => {
                    found.is_unread |= !is_absent(&error);
                    let folder = self.planner.shown(&folder);
                    found.warn(format!("{folder} was left out: {}", read_failure(&error)));
                    continue;
                }
            };
            // Over all labels and globs, so that many small globs cannot exceed the limit together.
            self.planner.entries += entries.len();
            if self.planner.entries > MAX_ENTRIES {
                return Err(found.too_many(MAX_ENTRIES, "files and folders lie", self.parent));
            }
            for DirEntry { name, kind } in entries {
                let Ok(name) = name.into_string() else {
                    let folder = self.planner.shown(&folder);
                    found.warn(format!("a name in {folder} was left out, because it is not UTF-8"));
                    continue;
                };
                let path = if below.is_empty() { name } else { [&below, "/", &name].concat() };
                match kind {
                    EntryKind::File => self.file(path, found)?,
                    EntryKind::Link => self.link(path, found)?,
                    EntryKind::Dir => {
                        if self.all.could_match_below(&path)
                            && !self.planner.is_stans_own(&join(self.parent, &path), self.parent)
                        {
                            pending.push(path);
                        }
                    }
                    EntryKind::Other => {}
                }
            }
        }
        Ok(())
    }

    fn matches(&mut self, path: &str) -> bool {
        let mut is_match = false;
        for sought in &mut self.group.sought {
            let is_found = sought.globs.is_match(path);
            sought.is_found |= is_found;
            is_match |= is_found;
        }
        is_match
    }

    fn file(&mut self, path: String, found: &mut LabelFiles<'_>) -> Result<(), ImportError> {
        if self.matches(&path) {
            let source = join(self.parent, &path);
            found.add(path, source, self.parent)?;
        }
        Ok(())
    }

    /// A link to a file in the same parent folder is staged like that file.
    fn link(&mut self, path: String, found: &mut LabelFiles<'_>) -> Result<(), ImportError> {
        let link = join(self.parent, &path);
        let is_match = self.all.is_match(&path);
        if !is_match && !self.all.could_match_below(&path) {
            return Ok(());
        }
        let is_refused = self.planner.is_refused(&link);
        let target = if is_refused { None } else { real_path(self.planner.system, Path::new(&link)).ok() };
        let kind = target.as_ref().and_then(|target| self.planner.system.lstat(Path::new(target)).ok());
        let left_out = match (target, kind.map(|stat| stat.kind)) {
            // Whether something below would have matched is unknown, but the user should hear of a skipped folder.
            (Some(_), Some(EntryKind::Dir)) => "links to folders are not followed",
            _ if !is_match => return Ok(()),
            _ if is_refused => "it leads out of the folder that the glob starts in",
            (Some(target), _) if !is_at_or_below(&target, self.parent) => {
                "it leads out of the folder that the glob starts in"
            }
            (Some(target), _) if is_at_or_below(&target, &self.planner.staging) => {
                "it points into the folder where imports are staged"
            }
            (Some(target), Some(EntryKind::File)) => {
                self.matches(&path);
                return found.add(path, target, self.parent);
            }
            (Some(_), Some(_)) => return Ok(()),
            _ => "it is a dangling or circular link",
        };
        found.warn(format!("the link {} was left out, because {left_out}", self.planner.shown(&link)));
        Ok(())
    }
}

fn is_absent(error: &io::Error) -> bool {
    matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::NotADirectory)
}

fn join(folder: &str, below: &str) -> String {
    if below.is_empty() { folder.to_owned() } else { AbsPath::new(folder).join(below) }
}

fn is_at_or_below(path: &str, folder: &str) -> bool {
    AbsPath::new(folder).holds(path)
}
