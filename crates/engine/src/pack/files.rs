//! The files that a pack reaches, and the resolved targets of their imports. Each file is read, hashed and parsed once, on first
//! request. Answers depend only on the files, never on the order of requests.

use std::cell::{OnceCell, RefCell};
use std::collections::BTreeMap;
use std::path::Path;
use std::rc::Rc;

use rustc_hash::FxHashMap;
use stan_lang::language::{Answer, Extractors, Resolved, Wanted};
use stan_lang::packages::file_of_id;
use stan_lang::packages::vendored::{VendoredCrates, name_and_version};
use stan_lang::project::Worker;
use stan_lang::{ProjectResolvers, SourceFile, Target};
use stan_model::document::externals_lock::PackageFile;
use stan_model::document::pack::PackPackage;
use stan_model::names::FileUnits;
use stan_model::outline::LineStarts;
use stan_model::{CRATE_MANIFEST, Digest, PACKAGE_FOLDER, is_installed};
use stan_pack::{FileId, ImportTarget, Modules};
use stan_repo::{Files, System, SystemExt as _};

use crate::graph::{FoundTargets, GraphOptions};

/// The specifier of the file's own package, for names that other files of it declare.
const OWN_PACKAGE: &str = ".";

/// A bound against hostile input: no real environment has this many distributions in one folder.
const MAX_DISTRIBUTIONS: usize = 4096;

/// Larger files are not shown.
const MAX_BYTES: u64 = 16 << 20;

/// A loaded file.
pub(super) struct LoadedFile {
    /// Relative to the root; a file outside starts with `../`.
    pub(super) id: String,
    pub(super) text: String,
    pub(super) starts: LineStarts,
    pub(super) digest: Digest,
    pub(super) bytes: u64,
    pub(super) units: Rc<FileUnits>,
    /// Whether the file's language has outlines.
    pub(super) has_outline: bool,
}

/// All files of one pack.
pub(super) struct PackFiles<'p> {
    system: &'p dyn System,
    options: &'p GraphOptions,
    table: &'p FoundTargets<'p>,
    worker: RefCell<Worker<'p>>,
    extractors: RefCell<Extractors>,
    slots: RefCell<Vec<Rc<FileSlot>>>,
    by_path: RefCell<FxHashMap<String, FileId>>,
    packages: RefCell<BTreeMap<String, Option<PackPackage>>>,
    vendored: VendoredCrates<'p>,
}

struct FileSlot {
    path: String,
    loaded: OnceCell<Option<Rc<LoadedFile>>>,
    targets: OnceCell<FxHashMap<Box<str>, ImportTarget>>,
}

impl<'p> PackFiles<'p> {
    pub(super) fn new(
        system: &'p dyn System,
        world: &'p dyn Files,
        options: &'p GraphOptions,
        resolvers: &'p ProjectResolvers<'p>,
        table: &'p FoundTargets<'p>,
    ) -> Self {
        Self {
            system,
            options,
            table,
            worker: RefCell::new(resolvers.worker(table)),
            extractors: RefCell::default(),
            slots: RefCell::default(),
            by_path: RefCell::default(),
            packages: RefCell::default(),
            vendored: VendoredCrates::new(world, &options.root),
        }
    }

    /// The id of a file, by its absolute or root-relative path.
    pub(super) fn id_of(&self, path: &str) -> FileId {
        let path = crate::outline::path_of(&self.options.root, path);
        if let Some(id) = self.by_path.borrow().get(&path) {
            return *id;
        }
        let mut slots = self.slots.borrow_mut();
        let id = FileId(slots.len() as u32);
        slots.push(Rc::new(FileSlot { path: path.clone(), loaded: OnceCell::new(), targets: OnceCell::new() }));
        self.by_path.borrow_mut().insert(path, id);
        id
    }

    fn slot(&self, file: FileId) -> Option<Rc<FileSlot>> {
        self.slots.borrow().get(file.0 as usize).cloned()
    }

    /// The file, unless it is unreadable or not text.
    pub(super) fn load(&self, file: FileId) -> Option<Rc<LoadedFile>> {
        let slot = self.slot(file)?;
        slot.loaded.get_or_init(|| self.read(&slot.path).map(Rc::new)).clone()
    }

    /// Whether the configuration excludes a file. Excluded files are in no pack.
    pub(super) fn is_excluded(&self, path: &str) -> bool {
        self.table.is_excluded(&crate::outline::absolute(&self.options.root, path))
    }

    fn read(&self, path: &str) -> Option<LoadedFile> {
        if self.is_excluded(path) {
            return None;
        }
        let mut bytes = Vec::new();
        self.system.read_real(Path::new(path), MAX_BYTES, &mut bytes).ok()?;
        let id = self.options.display(path).into_owned();
        let language = self.options.languages.declarations(&id);
        let text = match language {
            Some(language) => language.text_of(&bytes)?.into_owned(),
            None => plain_text(&bytes)?,
        };
        let units = language.map(|language| language.declare(&id, &text)).unwrap_or_default();
        Some(LoadedFile {
            starts: LineStarts::new(&text),
            digest: stan_repo::sha256(&bytes),
            bytes: bytes.len() as u64,
            units: Rc::new(units),
            has_outline: language.is_some(),
            id,
            text,
        })
    }

    /// All files read so far.
    pub(super) fn all_loaded(&self) -> Vec<Rc<LoadedFile>> {
        self.slots.borrow().iter().filter_map(|slot| slot.loaded.get()?.clone()).collect()
    }

    /// The installed package of a file.
    pub(super) fn package_of(&self, id: &str) -> Option<PackPackage> {
        if let Some(PackageFile { name, version, .. }) = file_of_id(id) {
            return Some(PackPackage { name, version });
        }
        if !is_installed(id) {
            return self.vendored_crate(id);
        }
        if let Some((site, path)) = id.rsplit_once("/site-packages/") {
            let mut packages = self.packages.borrow_mut();
            let read = || self.read_distribution(&format!("{site}/site-packages"), path);
            return packages.entry(id.to_owned()).or_insert_with(read).clone();
        }
        let folder = package_folder(id)?;
        let mut packages = self.packages.borrow_mut();
        packages.entry(folder.to_owned()).or_insert_with(|| self.read_package(folder)).clone()
    }

    /// The vendored crate that an external file belongs to.
    fn vendored_crate(&self, id: &str) -> Option<PackPackage> {
        let folder = self.vendored.folder_of(&crate::outline::absolute(&self.options.root, id))?;
        let mut packages = self.packages.borrow_mut();
        let read = || {
            let mut bytes = Vec::new();
            let path = format!("{folder}/{CRATE_MANIFEST}");
            self.system.read_real(Path::new(&path), MAX_BYTES, &mut bytes).ok()?;
            let (name, version) = name_and_version(&bytes)?;
            Some(PackPackage { name, version })
        };
        packages.entry(folder.to_string()).or_insert_with(read).clone()
    }

    /// Whether a file belongs to an installed package.
    pub(super) fn is_installed(&self, id: &str) -> bool {
        is_installed(id) || file_of_id(id).is_some() || self.vendored_crate(id).is_some()
    }

    fn read_package(&self, folder: &str) -> Option<PackPackage> {
        let path = crate::outline::path_of(&self.options.root, &format!("{folder}/package.json"));
        let mut bytes = Vec::new();
        self.system.read_real(Path::new(&path), MAX_BYTES, &mut bytes).ok()?;
        let manifest: serde_json::Value = serde_json::from_slice(&bytes).ok()?;
        let field = |name: &str| manifest.get(name).and_then(|value| value.as_str()).map(str::to_owned);
        Some(PackPackage { name: field("name")?, version: field("version").unwrap_or_default() })
    }

    /// The Python distribution whose `RECORD` lists a file.
    fn read_distribution(&self, site: &str, path: &str) -> Option<PackPackage> {
        let site = crate::outline::absolute(&self.options.root, site);
        let entries = self.system.read_real_dir(Path::new(&site)).ok()?;
        let mut folders: Vec<String> = entries.into_iter().filter_map(|entry| entry.name.into_string().ok()).collect();
        folders.sort_unstable();
        let mut bytes = Vec::new();
        for folder in folders.iter().filter(|folder| folder.ends_with(".dist-info")).take(MAX_DISTRIBUTIONS) {
            let Some((name, version)) = folder.strip_suffix(".dist-info").and_then(|stem| stem.rsplit_once('-')) else {
                continue;
            };
            bytes.clear();
            let record = format!("{site}/{folder}/RECORD");
            if self.system.read_real(Path::new(&record), MAX_BYTES, &mut bytes).is_err() {
                continue;
            }
            let lists = |line: &[u8]| line.strip_prefix(path.as_bytes()).is_some_and(|rest| rest.starts_with(b","));
            if bytes.split(|byte| *byte == b'\n').any(lists) {
                return Some(PackPackage { name: name.to_owned(), version: version.to_owned() });
            }
        }
        None
    }

    /// Resolves all requests of a file at once, because they share most of the work.
    fn resolve_imports(&self, slot: &FileSlot, text: &str) -> FxHashMap<Box<str>, ImportTarget> {
        let file = SourceFile { name: &slot.path, bytes: text.as_bytes() };
        let extraction = self.extractors.borrow_mut().extract(self.options.languages, file, &self.options.extract);
        let facts = extraction.unwrap_or_default().facts;
        let mut found = Resolved::default();
        self.worker.borrow_mut().resolve(&slot.path, &facts, Wanted::Requests, &mut found);
        let mut targets: FxHashMap<Box<str>, ImportTarget> = FxHashMap::default();
        for (request, answer) in facts.requests.iter().zip(&found.answers) {
            let answer = self.answered(answer);
            let known = targets.get(&request.specifier);
            if known.is_none_or(|known| !matches!(known, ImportTarget::Files(_))) {
                targets.insert(request.specifier.clone(), answer);
            }
        }
        let siblings = self.worker.borrow().package_files(&slot.path);
        if !siblings.is_empty() {
            let files = siblings.iter().map(|path| self.id_of(path)).collect();
            targets.insert(OWN_PACKAGE.into(), ImportTarget::Files(files));
        }
        targets
    }

    fn answered(&self, answer: &Answer) -> ImportTarget {
        match answer {
            Answer::Nothing | Answer::Excluded => ImportTarget::Missing,
            Answer::File(key) | Answer::Other(key) => match self.table.get(*key) {
                Some(Target::File(path)) => ImportTarget::Files(vec![self.id_of(&path)]),
                Some(Target::Builtin(_)) => ImportTarget::Builtin,
                _ => ImportTarget::Missing,
            },
            Answer::Files(keys) => match keys.first().and_then(|key| self.table.get(*key)) {
                Some(Target::Files(paths)) => ImportTarget::Files(
                    paths.iter().filter(|path| !self.is_excluded(path)).map(|path| self.id_of(path)).collect(),
                ),
                _ => ImportTarget::Missing,
            },
        }
    }
}

impl Modules for PackFiles<'_> {
    fn units(&self, file: FileId) -> Option<Rc<FileUnits>> {
        Some(Rc::clone(&self.load(file)?.units))
    }

    fn resolve(&self, file: FileId, specifier: &str) -> ImportTarget {
        let Some((slot, loaded)) = self.slot(file).zip(self.load(file)) else { return ImportTarget::Missing };
        let targets = slot.targets.get_or_init(|| self.resolve_imports(&slot, &loaded.text));
        targets.get(specifier).cloned().unwrap_or(ImportTarget::Missing)
    }

    fn is_module_named(&self, target: FileId, specifier: &str) -> bool {
        let Some(slot) = self.slot(target) else { return false };
        let language = self.options.languages.declarations(&slot.path);
        language.is_some_and(|language| language.is_module_named(&slot.path, specifier))
    }
}

/// The text of a file whose language has no outlines.
fn plain_text(bytes: &[u8]) -> Option<String> {
    let bytes = bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(bytes);
    if memchr::memchr(0, bytes.get(..8192).unwrap_or(bytes)).is_some() {
        return None;
    }
    Some(String::from_utf8_lossy(bytes).into_owned())
}

/// The folder of the innermost installed package in a path.
fn package_folder(id: &str) -> Option<&str> {
    let start = id.rfind(&format!("{PACKAGE_FOLDER}/"))? + PACKAGE_FOLDER.len() + 1;
    let rest = id.get(start..)?;
    let parts = if rest.starts_with('@') { 2 } else { 1 };
    let end = rest.match_indices('/').nth(parts - 1).map_or(rest.len(), |(at, _)| at);
    id.get(..start + end)
}
