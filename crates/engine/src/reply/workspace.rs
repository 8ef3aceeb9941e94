//! The facts that the reply gate asks for, from the archive, the map, the selection and the working tree.

use std::borrow::Cow;
use std::cell::{OnceCell, RefCell};
use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::rc::Rc;
use std::sync::Arc;

use rustc_hash::{FxHashMap, FxHashSet};
use stan_graph::{Map, SelectOptions, Selection, select};
use stan_model::NodeKind;
use stan_model::document::externals_lock::ExternalsLock;
use stan_model::document::state::{Entry, State};
use stan_reply::{ChangedFiles, ClosureSize, IgnoredFile};
use stan_repo::{EntryKind, PathGlobs, ScanOptions, System, SystemExt as _, entries_below, hash_file};

use super::archive::ArchiveIndex;
use super::tree::WorkingTree;
use crate::config::Config;
use crate::context::gate::{
    Documents, Located, Locator, Origin, Rules, excludes, ignored_by_git, load_map, read_if_there,
    readable_externals_lock, selected, top_of, walk,
};
use crate::context::{Artefact, EngineError, Repository, WorkspaceLayout};
use crate::secrets::{Judged, secrets_of, secrets_on_disk};
use crate::tokens::{MAX_COUNTED_BYTES, Tokenizer};

/// Folders with more files are not searched completely.
const MAX_LISTED: usize = 200_000;

/// After this many lookups of names in one folder, it is listed.
const MAX_ASKED: usize = 256;

enum Folder {
    Absent,
    /// A link or something else: each name is looked up separately.
    Other,
    Asked(usize),
    Listed(FxHashSet<String>),
}

pub(super) struct Workspace<'a> {
    system: &'a dyn System,
    layout: &'a WorkspaceLayout,
    archive: &'a ArchiveIndex<'a>,
    map: Option<Map>,
    meta_bytes: Arc<Vec<u8>>,
    externals_lock: Option<ExternalsLock>,
    state: Option<Vec<u8>>,
    scan: ScanOptions,
    excludes: PathGlobs,
    config: Config,
    tokenizer: Tokenizer,
    locator: RefCell<Locator<'a>>,
    /// The locations of names. A reply may look up each of a hundred thousand several times.
    located: RefCell<FxHashMap<String, Located>>,
    /// The state of folders in which names were looked up.
    folders: RefCell<FxHashMap<String, Folder>>,
    /// Path of every staged import by the first half of its SHA-256.
    imports: OnceCell<BTreeMap<[u8; 16], String>>,
    /// Bytes and tokens of nodes, memoised.
    counted: RefCell<BTreeMap<String, ClosureSize>>,
    /// The working tree, if patches are applied to it.
    tree: Option<WorkingTree<'a>>,
}

impl<'a> Workspace<'a> {
    pub(super) fn open(
        system: &'a dyn System,
        repository: &Repository<'_>,
        layout: &'a WorkspaceLayout,
        archive: &'a ArchiveIndex<'a>,
        tokenizer: Tokenizer,
    ) -> Result<Self, EngineError> {
        let state_file = layout.artefact(Artefact::State);
        let on_disk = read_if_there(system, layout, &state_file)?;
        let meta_file = layout.artefact(Artefact::Meta);
        let (map, meta_bytes) = match load_map(system, layout)? {
            Some((map, bytes)) => (Some(map), bytes),
            // The assistant used the map in the archive, so that one serves if the workspace has none.
            None => match archive.bytes(&meta_file) {
                Some(bytes) => (Map::decode(&bytes, &meta_file).ok(), bytes),
                None => (None, Vec::new()),
            },
        };
        let externals_lock = readable_externals_lock(system, repository, map.as_ref())?;
        Ok(Self {
            system,
            layout,
            archive,
            map,
            meta_bytes: Arc::new(meta_bytes),
            externals_lock,
            state: on_disk.or_else(|| archive.bytes(&state_file)),
            scan: repository.config.graph_options(repository.root).scan,
            excludes: excludes(repository)?,
            config: repository.config.clone(),
            tokenizer,
            locator: RefCell::new(Locator::new(system, layout)),
            located: RefCell::default(),
            folders: RefCell::default(),
            imports: OnceCell::new(),
            counted: RefCell::default(),
            tree: None,
        })
    }

    /// Applies patches to the working tree from now on.
    pub(super) fn on_tree(mut self) -> Self {
        self.tree = Some(WorkingTree::new(self.system, self.layout));
        self
    }

    /// The working tree, with the digests of the files that were read.
    pub(super) fn tree(&self) -> Option<&WorkingTree<'a>> {
        self.tree.as_ref()
    }

    /// Whether the archive has different bytes for a path.
    pub(super) fn differs_from_archive(&self, path: &str, bytes: &[u8]) -> bool {
        self.archive.bytes(path).is_some_and(|archived| archived != bytes)
    }

    fn select(&self, state: &State) -> Option<(&Map, Selection)> {
        let map = self.map.as_ref()?;
        // With default options, no policy can fail.
        let selection = select(map, state, &SelectOptions::default()).ok()?;
        Some((map, selection))
    }

    /// The bytes of a repository file or an external, if it can be read.
    fn read(&self, absolute: &str) -> Vec<u8> {
        let mut bytes = Vec::new();
        // An unreadable file is not archived either, so it counts as empty.
        let _ = self.system.read_real(Path::new(absolute), MAX_COUNTED_BYTES, &mut bytes);
        bytes
    }

    /// The location of a name, looked up once per name.
    fn locate(&self, path: &str) -> Located {
        if let Some(known) = self.located.borrow().get(path) {
            return known.clone();
        }
        let located = if self.is_nowhere(path) { Located::Missing } else { self.locator.borrow_mut().locate(path) };
        self.located.borrow_mut().insert(path.to_owned(), located.clone());
        located
    }

    /// Whether a name certainly does not exist: its folder does not exist, or was listed without it. A folder is listed after so
    /// many lookups that listing is faster than an lstat per name.
    fn is_nowhere(&self, path: &str) -> bool {
        let (folder, name) = path.rsplit_once('/').unwrap_or(("", path));
        let mut folders = self.folders.borrow_mut();
        let known = match folders.get_mut(folder) {
            Some(known) => known,
            None => folders.entry(folder.to_owned()).or_insert(self.look_at(folder)),
        };
        match known {
            Folder::Absent => true,
            Folder::Other => false,
            // A file system may treat other spellings of a non-ASCII name as equal (NFC, case folding), so only ASCII names are
            // certain.
            Folder::Listed(names) => name.is_ascii() && !names.contains(&name.to_ascii_lowercase()),
            Folder::Asked(times) => {
                *times += 1;
                if *times > MAX_ASKED {
                    *known = self.list(folder);
                }
                false
            }
        }
    }

    fn look_at(&self, folder: &str) -> Folder {
        match self.system.lstat(Path::new(&self.layout.absolute(folder))) {
            Ok(stat) if stat.kind == EntryKind::Dir => Folder::Asked(0),
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => Folder::Absent,
            _ => Folder::Other,
        }
    }

    /// Names in lower case: on a case-insensitive file system, another spelling may exist, so it needs an lstat.
    fn list(&self, folder: &str) -> Folder {
        // By real path, so that a folder behind a link out of the root is not listed.
        let real = self.locator.borrow_mut().directory(folder);
        let entries = real.map(|real| self.system.read_real_dir(Path::new(&self.layout.absolute(&real))));
        let Some(Ok(entries)) = entries else { return Folder::Other };
        let names = entries.into_iter().filter_map(|entry| entry.name.into_string().ok());
        Folder::Listed(names.map(|name| name.to_ascii_lowercase()).collect())
    }

    fn bytes_of(&self, path: &str) -> Vec<u8> {
        let external = self.externals_lock.as_ref().and_then(|externals_lock| externals_lock.nodes.get(path));
        match external {
            Some(node) => self.read(&node.locator),
            None => match self.locator.borrow_mut().locate(path) {
                Located::File(real) => self.read(&self.layout.absolute(&real)),
                _ => Vec::new(),
            },
        }
    }

    fn size_of(&self, path: &str) -> ClosureSize {
        if let Some(size) = self.counted.borrow().get(path) {
            return *size;
        }
        let bytes = self.bytes_of(path);
        // A file with a secret is not archived, so it counts as empty.
        let is_held_back = secrets_of(&self.config, path, &bytes).is_some();
        let size = if is_held_back { ClosureSize::default() } else { self.measure(&bytes) };
        self.counted.borrow_mut().insert(path.to_owned(), size);
        size
    }

    /// Binary files are never archived, so they count as empty.
    fn measure(&self, bytes: &[u8]) -> ClosureSize {
        let start = bytes.get(..stan_archive::BINARY_PREFIX).unwrap_or(bytes);
        if start.contains(&0) {
            return ClosureSize::default();
        }
        ClosureSize { bytes: bytes.len() as u64, tokens: self.tokenizer.count(bytes) }
    }

    fn import_digests(&self) -> &BTreeMap<[u8; 16], String> {
        self.imports.get_or_init(|| {
            let folder = self.layout.own("imports");
            let mut locator = Locator::new(self.system, self.layout);
            let files = walk(self.system, self.layout, &mut locator, &folder, &mut Vec::new());
            let mut digests = BTreeMap::new();
            for file in files {
                let absolute = self.layout.absolute(&file.real);
                if let Ok(hashed) = hash_file(self.system, Path::new(&absolute)) {
                    digests.entry(hashed.digest.prefix()).or_insert(file.path);
                }
            }
            digests
        })
    }

    /// The rules about what goes into an archive.
    fn rules(&self) -> Rules<'_> {
        Rules {
            system: self.system,
            layout: self.layout,
            scan: &self.scan,
            excludes: &self.excludes,
            root_tokens: self.config.context.root_tokens,
        }
    }
}

impl stan_reply::ReplyFacts for Workspace<'_> {
    fn stan_path(&self) -> &str {
        self.layout.stan_path()
    }

    fn archived(&self, path: &str) -> Option<Cow<'_, [u8]>> {
        self.archive.bytes(path).map(Cow::Owned)
    }

    fn has_archive(&self) -> bool {
        self.archive.is_there()
    }

    fn base(&self, path: &str) -> Option<Cow<'_, [u8]>> {
        match &self.tree {
            Some(tree) => tree.read(path).map(Cow::Owned),
            None => self.archived(path),
        }
    }

    fn obstacle(&self, path: &str) -> Option<String> {
        self.tree.as_ref()?.obstacle(path)
    }

    fn files_below(&self, folder: &str) -> Option<Result<Vec<String>, String>> {
        self.tree.as_ref()?.files_below(folder)
    }

    fn mapped_kind(&self, id: &str) -> Option<NodeKind> {
        let map = self.map.as_ref()?;
        map.find(id).map(|index| map.kind(index))
    }

    fn is_archived(&self, path: &str) -> bool {
        self.archive.contains(path)
    }

    fn has_archived_below(&self, folder: &str) -> bool {
        self.archive.contains_below(folder)
    }

    fn exists(&self, path: &str) -> bool {
        matches!(self.locate(path), Located::File(_))
    }

    fn first_unarchived_below(&self, folder: &str) -> Option<String> {
        if matches!(self.locate(folder), Located::File(_) | Located::Missing) {
            return None;
        }
        let top = self.layout.absolute(folder);
        if !self.system.lstat(Path::new(&top)).is_ok_and(|stat| stat.kind == EntryKind::Dir) {
            return None;
        }
        let mut found: Option<String> = None;
        let mut listed = 0;
        let mut entries = entries_below(self.system, Path::new(&top));
        while let Some(entry) = entries.next() {
            let Ok(entry) = entry else { continue };
            listed += 1;
            if listed > MAX_LISTED && found.is_some() {
                break;
            }
            if entry.kind == EntryKind::Dir && entry.name() == Some(".git") {
                entries.skip_folder();
            }
            let path = entry.path();
            let Some(path) = path.to_str().and_then(|path| self.layout.relative(path)) else { continue };
            let is_first = found.as_ref().is_none_or(|best| path < best.as_str());
            if entry.kind == EntryKind::File && is_first && !self.archive.contains(path) {
                found = Some(path.to_owned());
            }
        }
        found
    }

    fn is_mapped(&self, id: &str) -> bool {
        let Some(map) = &self.map else { return false };
        map.find(id).is_some_and(|index| matches!(map.kind(index), NodeKind::Source | NodeKind::External))
    }

    fn state(&self) -> Option<Cow<'_, [u8]>> {
        self.state.as_deref().map(Cow::Borrowed)
    }

    fn selected(&self, state: &State) -> Vec<String> {
        let Some((map, selection)) = self.select(state) else { return Vec::new() };
        selection.selected.iter().map(|&index| map.id(index).to_owned()).collect()
    }

    fn closure_size(&self, entry: &Entry) -> ClosureSize {
        let state = State { include: vec![entry.clone()], exclude: Vec::new() };
        let Some((map, selection)) = self.select(&state) else { return ClosureSize::default() };
        let mut total = ClosureSize::default();
        for &index in &selection.selected {
            let size = self.size_of(map.id(index));
            total.bytes += size.bytes;
            total.tokens += size.tokens;
        }
        total
    }

    fn imported_copy(&self, external: &str) -> Option<String> {
        let map = self.map.as_ref()?;
        let hash = map.hash(map.find(external)?)?;
        self.import_digests().get(hash).cloned()
    }

    fn ignored(&self, paths: &BTreeSet<&str>) -> Vec<IgnoredFile> {
        let rules = self.rules();
        let existing = paths.iter().copied().filter(|path| stan_archive::check_name(path).is_ok() && self.exists(path));
        let judge = |path: String| {
            let Located::File(real) = self.locate(&path) else { return None };
            let judged =
                secrets_on_disk(self.system, &self.config, &[path.as_str(), &real], &self.layout.absolute(&real));
            let secret = match judged {
                Ok(Judged::Held(file)) => Some(file.reason()),
                // Key stores are binary, so they are never archived even if the selection names them.
                _ if self.config.allowed_secrets.contains(&path) => None,
                _ => stan_secrets::credential_file(&path).map(|rule| format!("it is a credential file ({rule})")),
            };
            Some(IgnoredFile { path, secret })
        };
        ignored_by_git(&rules, existing).into_iter().filter_map(judge).collect()
    }

    fn tokens_after(&self, state: &State, changed: &ChangedFiles) -> u64 {
        let Some((map, selection)) = self.select(state) else { return 0 };
        let rules = self.rules();
        // For documents, the current archive tells which ones the next archive will contain.
        let held = |artefact: Artefact| self.archive.bytes(&self.layout.artefact(artefact)).map(Arc::new);
        let meta = self.archive.contains(&self.layout.artefact(Artefact::Meta)).then(|| Arc::clone(&self.meta_bytes));
        let documents = Documents { meta, overview: held(Artefact::Overview), state: Arc::new(state.encode()) };
        let allowlist = selected(&rules, documents, top_of(&rules), map, &selection);
        let state_file = self.layout.artefact(Artefact::State);
        // Copies share their bytes, so the address identifies contents that were counted before.
        let mut counted: BTreeMap<*const u8, u64> = BTreeMap::new();
        let mut count =
            |bytes: &Rc<Vec<u8>>| *counted.entry(bytes.as_ptr()).or_insert_with(|| self.measure(bytes).tokens);
        let mut tokens = 0;
        for (path, allowed) in &allowlist.files {
            tokens += match (changed.get(path), &allowed.origin) {
                // The selection file is counted in the form that the reply gives it, which is in `state`.
                (Some(bytes), _) if *path != state_file => bytes.as_ref().map_or(0, &mut count),
                (_, Origin::Bytes(bytes)) => self.tokenizer.count(bytes),
                _ => self.size_of(path).tokens,
            };
        }
        let unselected = changed.iter().filter(|(path, _)| !allowlist.files.contains_key(*path));
        for (path, bytes) in unselected {
            if let (Some(bytes), true) = (bytes, is_base(self.layout, path) || selection.unknown.contains(path)) {
                tokens += count(bytes);
            }
        }
        tokens
    }
}

/// Whether the location of a new file puts it into every archive.
fn is_base(layout: &WorkspaceLayout, path: &str) -> bool {
    match layout.below_stan_path(path) {
        Some(below) => below.starts_with("system/") && below != "system/.docs.meta.json",
        None => !path.contains('/'),
    }
}
