//! The modules of the repository: which one contains a folder, which versions of other modules it requires, and their hashes in
//! `go.sum`.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use rustc_hash::{FxHashMap, FxHashSet};

use stan_model::{Digest, Ecosystem, Problem, Weight};

use super::manifest::{Manifest, Replacement, compare_versions};
use super::sums::Sums;
use crate::decode::lossy;
use crate::memo::Memo;
use crate::packages::{PackageFolder, PackageVersion};
use crate::paths::{contains, join_plain, parent};
use crate::project::Project;

/// Real manifests are far smaller.
const MAX_MANIFEST_BYTES: usize = 4 << 20;

/// The maximum number of modules that one message names.
const MAX_NAMED_MODULES: usize = 3;

/// A module of the repository.
#[derive(Debug)]
pub(super) struct Module {
    pub(super) folder: Box<str>,
    pub(super) path: Box<str>,
    manifest: Manifest,
    /// The workspace that contains the module.
    work: Option<Arc<GoWork>>,
    /// The hashes of this module alone. If it belongs to a workspace, `GoWork::sums` contains them too.
    sums: OnceLock<Sums>,
}

/// A workspace: `go.work`, with the requirements of all its modules.
#[derive(Debug)]
struct GoWork {
    folder: Box<str>,
    manifest: Manifest,
    /// The highest version that any of its modules requires.
    requires: FxHashMap<Box<str>, Box<str>>,
    /// The folders of its modules.
    members: FxHashSet<String>,
    /// The hashes of all its modules.
    sums: Sums,
}

/// The source of a module.
pub(super) enum Source<'m> {
    /// A folder of the repository.
    Folder(String),
    /// A version in the module cache.
    Version(&'m str, &'m str),
}

/// All modules of a project.
pub(super) struct Modules<'f> {
    project: &'f Project<'f>,
    root: Box<str>,
    by_folder: Memo<String, Option<Arc<Module>>>,
    works: Memo<String, Option<Arc<GoWork>>>,
    all: OnceLock<FxHashMap<Box<str>, Box<str>>>,
    all_sums: OnceLock<Sums>,
    /// Imported modules whose files are unavailable, by manifest and reason.
    absent: Mutex<BTreeMap<(String, Absence), BTreeSet<String>>>,
}

/// Why the files of a module are unavailable.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Absence {
    NotDownloaded,
    NotLocked,
    Forbidden,
}

impl<'f> Modules<'f> {
    pub(super) fn new(project: &'f Project<'f>, root: &str) -> Self {
        Self {
            project,
            root: root.into(),
            by_folder: Memo::new(),
            works: Memo::new(),
            all: OnceLock::new(),
            all_sums: OnceLock::new(),
            absent: Mutex::default(),
        }
    }

    /// The module that contains a folder.
    pub(super) fn around(&self, folder: &str) -> Option<Arc<Module>> {
        self.by_folder.get_or(folder, || {
            if !contains(&self.root, folder) {
                return None;
            }
            let own = self.read_module(folder);
            own.map(Arc::new).or_else(|| (*folder != *self.root).then(|| self.around(parent(folder))).flatten())
        })
    }

    /// The module whose requirements apply to files of the module cache: that of the root, otherwise the first one of the
    /// repository.
    pub(super) fn main(&self) -> Option<Arc<Module>> {
        self.around(&self.root).or_else(|| self.around(self.all().values().min()?))
    }

    /// The folders of the repository's modules, by module path.
    pub(super) fn all(&self) -> &FxHashMap<Box<str>, Box<str>> {
        self.all.get_or_init(|| {
            let folders = self.folders_with("go.mod");
            let modules = folders.filter_map(|folder| Some((self.manifest(&folder, "go.mod")?.path?, folder.into())));
            modules.collect()
        })
    }

    fn folders_with(&self, name: &str) -> impl Iterator<Item = String> {
        let paths = self.project.universe.iter().filter_map(move |path| path.strip_suffix(name));
        let folders = paths.filter(|folder| folder.is_empty() || folder.ends_with('/'));
        folders.map(|folder| join_plain(&self.root, folder))
    }

    fn manifest(&self, folder: &str, name: &str) -> Option<Manifest> {
        let path = join_plain(folder, name);
        if !self.project.files.is_file(&path) {
            return None;
        }
        let bytes = self.project.files.read(&path).filter(|bytes| bytes.len() <= MAX_MANIFEST_BYTES)?;
        Some(Manifest::parse(&lossy(&bytes)))
    }

    fn read_module(&self, folder: &str) -> Option<Module> {
        let manifest = self.manifest(folder, "go.mod")?;
        let path = manifest.path.clone()?;
        let work = self.work_above(folder).filter(|work| work.members.contains(folder));
        Some(Module { folder: folder.into(), path, manifest, work, sums: OnceLock::new() })
    }

    /// The workspace that applies to a folder.
    fn work_above(&self, folder: &str) -> Option<Arc<GoWork>> {
        self.works.get_or(folder, || {
            let own = self.manifest(folder, "go.work").map(|manifest| Arc::new(self.work(folder, manifest)));
            own.or_else(|| (*folder != *self.root).then(|| self.work_above(parent(folder))).flatten())
        })
    }

    fn work(&self, folder: &str, manifest: Manifest) -> GoWork {
        let mut requires: FxHashMap<Box<str>, Box<str>> = FxHashMap::default();
        let mut members = FxHashSet::default();
        let mut sums = Sums::default();
        self.add_sums(&mut sums, folder, "go.work.sum");
        for used in &manifest.uses {
            let member = join_plain(folder, used);
            if !contains(&self.root, &member) || members.contains(&member) {
                continue;
            }
            let Some(required) = self.manifest(&member, "go.mod") else { continue };
            self.add_sums(&mut sums, &member, "go.sum");
            members.insert(member);
            required.requires.into_iter().for_each(|(path, version)| {
                // Independent of the order of modules: the maximum, with ties (different build metadata) broken by text.
                let highest = requires.entry(path).or_insert_with(|| version.clone());
                if compare_versions(&version, highest).then_with(|| version.cmp(highest)).is_gt() {
                    *highest = version;
                }
            });
        }
        GoWork { folder: folder.into(), manifest, requires, members, sums }
    }

    fn add_sums(&self, sums: &mut Sums, folder: &str, name: &str) {
        let path = join_plain(folder, name);
        if self.project.files.is_file(&path)
            && let Some(bytes) = self.project.files.read(&path)
        {
            sums.add(&lossy(&bytes));
        }
    }

    /// The source of a module that `by` uses. Without a requirement, it is the highest version in go.sum.
    pub(super) fn source<'m>(&self, by: &'m Module, path: &'m str) -> Option<Source<'m>> {
        let work = by.work.as_deref();
        let required = work.and_then(|work| work.requires.get(path)).or_else(|| by.manifest.requires.get(path));
        let version = required.map(|version| &**version);
        let replaced = |manifest: &'m Manifest, folder: &str| {
            Some(match manifest.replacement(path, version)? {
                Replacement::Folder(to) => Source::Folder(join_plain(folder, to)),
                Replacement::Module { path, version } => Source::Version(path, version),
            })
        };
        let by_work = work.and_then(|work| replaced(&work.manifest, &work.folder));
        by_work
            .or_else(|| replaced(&by.manifest, &by.folder))
            .or_else(|| version.or_else(|| self.highest(by, path)).map(|version| Source::Version(path, version)))
    }

    /// The highest version of a module in the go.sum of `by`, otherwise in those of its workspace.
    fn highest<'m>(&self, by: &'m Module, path: &str) -> Option<&'m str> {
        let Some(work) = &by.work else { return self.sums(by).highest(path) };
        // Check the workspace first: most looked-up paths are not modules.
        let highest = work.sums.highest(path)?;
        self.sums(by).highest(path).or(Some(highest))
    }

    /// Whether go.sum lists a version with the hash of its contents.
    fn is_locked(&self, by: &Module, path: &str, version: &str) -> bool {
        let sums = by.work.as_ref().map_or_else(|| self.sums(by), |work| &work.sums);
        !sums.hashes(path, version).is_empty()
    }

    fn sums<'m>(&self, module: &'m Module) -> &'m Sums {
        module.sums.get_or_init(|| {
            let mut sums = Sums::default();
            self.add_sums(&mut sums, &module.folder, "go.sum");
            sums
        })
    }

    /// All hashes of a module in the go.sum files of the repository.
    pub(super) fn hashes(&self, path: &str, version: &str) -> &[Digest] {
        let all = self.all_sums.get_or_init(|| {
            let mut all = Sums::default();
            for name in ["go.sum", "go.work.sum"] {
                self.folders_with(name).for_each(|folder| self.add_sums(&mut all, &folder, name));
            }
            all
        });
        all.hashes(path, version)
    }

    /// The folder of a module version in the module cache, if the go.sum of the importing module lists it.
    pub(super) fn cached(&self, by: &Module, path: &str, version: &str) -> Option<PackageFolder<'f>> {
        if !self.is_locked(by, path, version) {
            return None;
        }
        self.project.package(&version_of(path, version))
    }

    /// Records why an import does not resolve, if its module is one that `by` requires.
    pub(super) fn note_absent(&self, by: &Module, import: &str) {
        let required = prefixes(import).find_map(|prefix| match self.source(by, prefix)? {
            Source::Version(path, version) => Some((path, version)),
            Source::Folder(_) => None,
        });
        let Some((path, version)) = required else { return };
        let is_known = self.project.stores.folder(Ecosystem::Go).is_some();
        let absence = match (self.is_locked(by, path, version), is_known, self.project.options.outside_root) {
            (false, ..) => Absence::NotLocked,
            (true, true, _) if self.project.package(&version_of(path, version)).is_some() => return,
            (true, true, _) => Absence::NotDownloaded,
            (true, false, false) => Absence::Forbidden,
            (true, false, true) => return,
        };
        let manifest = self.project.relative(&join_plain(&by.folder, "go.mod")).unwrap_or("go.mod").to_owned();
        let mut absent = self.absent.lock().unwrap_or_else(PoisonError::into_inner);
        absent.entry((manifest, absence)).or_default().insert(format!("{path} {version}"));
    }

    /// The recorded problems, one line per manifest and reason.
    pub(super) fn problems(&self) -> Vec<Problem> {
        let absent = self.absent.lock().unwrap_or_else(PoisonError::into_inner);
        let problem = |((manifest, absence), modules): (&(String, Absence), &BTreeSet<String>)| {
            let named: Vec<&str> = modules.iter().take(MAX_NAMED_MODULES).map(String::as_str).collect();
            let more = modules.len() - named.len();
            let more = if more > 0 { format!(" and {more} more") } else { String::new() };
            let named = format!("{}{more}", named.join(", "));
            let message = match absence {
                Absence::NotDownloaded => {
                    format!(
                        "imports cannot be resolved, because the module cache does not have {named}: `go mod download` fetches it"
                    )
                }
                Absence::NotLocked => {
                    format!("imports cannot be resolved, because go.sum has no hash of {named}: `go mod tidy` adds it")
                }
                Absence::Forbidden => format!(
                    "imports cannot be resolved, because `context.outsideRoot` forbids the module cache, which may have {named}: \
                     --allow-outside DIR allows it"
                ),
            };
            Problem::new(manifest.clone(), message).weighing(Weight::Note)
        };
        absent.iter().map(problem).collect()
    }
}

fn version_of(path: &str, version: &str) -> PackageVersion {
    PackageVersion { ecosystem: Ecosystem::Go, name: path.into(), version: version.into() }
}

/// An import path and its parents, the longest first.
pub(super) fn prefixes(path: &str) -> impl Iterator<Item = &str> {
    std::iter::successors(Some(path), |path| path.rsplit_once('/').map(|(above, _)| above))
}
