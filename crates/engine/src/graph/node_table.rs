//! Node keys: a dense number for everything that may become a node.
//!
//! Keys below the universe's length are its files, in order. Everything else that resolution finds gets the next free key, in an
//! order that depends on thread scheduling. So keys never reach an output; ids do.

use std::borrow::Cow;
use std::cell::Cell;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use rustc_hash::{FxHashMap, FxHashSet};
use stan_lang::Target;
use stan_lang::language::{Answer, TargetTable};
use stan_lang::packages::file_of_id;
use stan_lang::packages::vendored::VendoredCrates;
use stan_model::{FileKey, NodeKind, is_external};
use stan_repo::{AbsPath, Files, normal_path};

use super::GraphOptions;
use super::analyse::Analysed;
use super::excluded::ExcludedFiles;

/// The number of files after the last one found that are compared before the map is used. Most differ in length, which is cheap
/// to compare.
const NEIGHBOURS: usize = 8;

thread_local! {
    /// The key after that of the last file found on this thread. Only a hint where to search first, so any value is correct, also
    /// one of another run.
    static NEXT_FILE: Cell<u32> = const { Cell::new(0) };
}

/// The node of a key beyond the universe.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) enum NodeName {
    /// Absolute real path.
    File(Arc<str>),
    Builtin(Box<str>),
    Missing(Box<str>),
}

/// A key beyond the universe; a file is loaded when its contents are needed.
pub(crate) struct LazyNode {
    pub(crate) name: NodeName,
    pub(crate) loaded: OnceLock<Analysed>,
    /// False for files that tunnelling read and that are not nodes. Known after all edges are.
    is_node: AtomicBool,
}

/// All keys of one run.
pub(crate) struct NodeTable<'u> {
    options: &'u GraphOptions,
    universe: &'u [Box<str>],
    by_path: FxHashMap<&'u str, FileKey>,
    slots: boxcar::Vec<LazyNode>,
    by_name: Mutex<FxHashMap<NodeName, FileKey>>,
    excluded: &'u ExcludedFiles,
    vendored: VendoredCrates<'u>,
    /// Ids of nodes in stores. Computed on first use, which must be after all nodes are marked.
    stored_ids: OnceLock<FxHashSet<String>>,
}

impl<'u> NodeTable<'u> {
    pub(crate) fn new(
        options: &'u GraphOptions,
        files: &'u dyn Files,
        universe: &'u [Box<str>],
        excluded: &'u ExcludedFiles,
    ) -> Self {
        let by_path = universe.iter().zip(0..).map(|(path, key)| (&**path, FileKey(key))).collect();
        Self {
            options,
            universe,
            by_path,
            slots: boxcar::Vec::new(),
            by_name: Mutex::default(),
            excluded,
            vendored: VendoredCrates::new(files, &options.root),
            stored_ids: OnceLock::new(),
        }
    }

    pub(crate) fn universe_len(&self) -> u32 {
        u32::try_from(self.universe.len()).unwrap_or(u32::MAX)
    }

    /// The key of a file by its absolute real path; `None` for one that is excluded.
    pub(crate) fn key_of_file(&self, path: &Arc<str>) -> Option<FileKey> {
        let listed = self.relative(path).and_then(|inside| self.key_of_listed(inside));
        listed.or_else(|| (!self.excluded.cover(path)).then(|| self.intern(NodeName::File(path.clone()))))
    }

    /// The key of a file of the universe. Index files import their neighbours one after the other, so the files after the last
    /// one found are compared first: they are likely in the processor's cache, while a lookup in the map of all paths is a cache
    /// miss.
    fn key_of_listed(&self, inside: &str) -> Option<FileKey> {
        let next = NEXT_FILE.get();
        let following = self.universe.get(next as usize..).unwrap_or_default().iter().take(NEIGHBOURS).zip(next..);
        let neighbour = following.into_iter().find(|(path, _)| ***path == *inside).map(|(_, key)| FileKey(key));
        let found = neighbour.or_else(|| self.by_path.get(inside).copied())?;
        NEXT_FILE.set(found.0 + 1);
        Some(found)
    }

    fn intern(&self, name: NodeName) -> FileKey {
        let mut by_name = self.by_name.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(&key) = by_name.get(&name) {
            return key;
        }
        let index =
            self.slots.push(LazyNode { name: name.clone(), loaded: OnceLock::new(), is_node: AtomicBool::new(false) });
        let key = FileKey(self.universe_len() + u32::try_from(index).unwrap_or(u32::MAX));
        by_name.insert(name, key);
        key
    }

    /// The slot of a key beyond the universe.
    pub(crate) fn slot(&self, key: FileKey) -> Option<&LazyNode> {
        self.slots.get(key.0.checked_sub(self.universe_len())? as usize)
    }

    /// Marks a key as a node. Must be called for all nodes before the first call of [`Self::node`], because the id of a missing
    /// module depends on which files are nodes.
    pub(crate) fn mark_node(&self, key: FileKey) {
        if let Some(slot) = self.slot(key) {
            slot.is_node.store(true, Ordering::Relaxed);
        }
    }

    pub(crate) fn is_node(&self, key: FileKey) -> bool {
        self.slot(key).is_none_or(|slot| slot.is_node.load(Ordering::Relaxed))
    }

    /// The number of keys given out so far.
    pub(crate) fn len(&self) -> u32 {
        self.universe_len() + u32::try_from(self.slots.count()).unwrap_or(u32::MAX)
    }

    /// The keys beyond the universe given out so far.
    pub(crate) fn beyond(&self) -> impl Iterator<Item = FileKey> + use<> {
        (self.universe_len()..self.len()).map(FileKey)
    }

    /// The key of a file by its absolute real path, if one was assigned.
    pub(crate) fn find(&self, path: &str) -> Option<FileKey> {
        let inside = self.relative(path).and_then(|inside| self.by_path.get(inside).copied());
        inside.or_else(|| {
            let by_name = self.by_name.lock().unwrap_or_else(PoisonError::into_inner);
            by_name.get(&NodeName::File(path.into())).copied()
        })
    }

    /// Absolute path of a key that is a file.
    pub(crate) fn absolute(&self, key: FileKey) -> Option<String> {
        match self.universe.get(key.index()) {
            Some(path) => Some(self.absolute_of(path)),
            None => match &self.slot(key)?.name {
                NodeName::File(path) => Some(path.to_string()),
                _ => None,
            },
        }
    }

    /// The root with a slash at its end.
    pub(crate) fn root_prefix(&self) -> String {
        AbsPath::new(&self.options.root).prefix()
    }

    /// The absolute path of a path below the root.
    pub(crate) fn absolute_of(&self, relative: &str) -> String {
        AbsPath::new(&self.options.root).join(relative)
    }

    /// The part of an absolute path below the root.
    pub(crate) fn relative<'p>(&self, path: &'p str) -> Option<&'p str> {
        AbsPath::new(&self.options.root).below(path)
    }

    /// See [`GraphOptions::display`].
    pub(crate) fn display<'p>(&self, path: &'p str) -> Cow<'p, str> {
        self.options.display(path)
    }

    /// Whether a file beyond the universe belongs to the repository.
    pub(crate) fn is_own(&self, path: &str) -> bool {
        !is_external(self.relative(path)) && self.vendored.folder_of(path).is_none()
    }

    /// Id and kind of the node of a key.
    pub(crate) fn node(&self, key: FileKey) -> (Box<str>, NodeKind) {
        if let Some(path) = self.universe.get(key.index()) {
            return (path.clone(), NodeKind::Source);
        }
        match self.slot(key).map(|slot| &slot.name) {
            Some(NodeName::File(path)) => {
                let kind = if self.is_own(path) { NodeKind::Source } else { NodeKind::External };
                (self.display(path).into_owned().into(), kind)
            }
            Some(NodeName::Builtin(id)) => (id.clone(), NodeKind::Builtin),
            Some(NodeName::Missing(id)) => (missing_id(id, self.is_file_id(id)), NodeKind::Missing),
            None => ("".into(), NodeKind::Missing),
        }
    }

    /// Whether an unresolved specifier is spelled like the id of another file's node.
    fn is_file_id(&self, id: &str) -> bool {
        if self.by_path.contains_key(id) {
            return true;
        }
        if file_of_id(id).is_some() {
            return self.stored_ids.get_or_init(|| self.ids_in_stores()).contains(id);
        }
        let absolute = normal_path(&self.options.root, id);
        if *self.display(&absolute) != *id {
            return false;
        }
        let by_name = self.by_name.lock().unwrap_or_else(PoisonError::into_inner);
        let key = by_name.get(&NodeName::File(absolute.into())).copied();
        key.and_then(|key| self.slot(key)).is_some_and(|slot| slot.is_node.load(Ordering::Relaxed))
    }
}

impl NodeTable<'_> {
    /// The ids of nodes that are files of package managers.
    fn ids_in_stores(&self) -> FxHashSet<String> {
        let nodes = self.slots.iter().map(|(_, slot)| slot).filter(|slot| slot.is_node.load(Ordering::Relaxed));
        let ids = nodes.filter_map(|slot| match &slot.name {
            NodeName::File(path) => self.options.stores.id_at(path),
            NodeName::Builtin(_) | NodeName::Missing(_) => None,
        });
        ids.collect()
    }
}

/// The id of the node for an unresolved specifier. A prefix distinguishes it from a file with the same id.
pub(crate) fn missing_id(id: &str, is_file_id: bool) -> Box<str> {
    if is_file_id { format!("missing:{id}").into() } else { id.into() }
}

impl TargetTable for NodeTable<'_> {
    fn answer(&self, target: &Target) -> Answer {
        match target {
            Target::File(path) => self.key_of_file(path).map_or(Answer::Excluded, Answer::File),
            Target::Files(paths) => Answer::Files(paths.iter().filter_map(|path| self.key_of_file(path)).collect()),
            Target::Builtin(id) => Answer::Other(self.intern(NodeName::Builtin(id.clone()))),
            Target::Missing { id, .. } => Answer::Other(self.intern(NodeName::Missing(id.clone()))),
            Target::Nothing => Answer::Nothing,
        }
    }

    fn listed(&self, index: usize) -> FileKey {
        FileKey(u32::try_from(index).unwrap_or(u32::MAX))
    }
}
