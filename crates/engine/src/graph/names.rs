//! Node keys: a dense number for everything that may become a node.
//!
//! Keys below the universe's length are its files, in order. Everything that resolution meets beyond them gets
//! the next free key, in an order that depends on threads: keys are therefore never shown, stored ids are.

use std::borrow::Cow;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use rustc_hash::FxHashMap;
use stan_lang::typescript::resolve::Target;
use stan_model::{NodeKind, is_external};
use stan_repo::{normal_path, relative_path};

use super::analyse::Analysed;

/// What a key beyond the universe stands for.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Name {
    /// Absolute real path.
    File(Arc<str>),
    Builtin(Box<str>),
    Missing(Box<str>),
}

/// A key beyond the universe; files are loaded when somebody needs their contents.
pub(crate) struct Slot {
    pub(crate) name: Name,
    pub(crate) loaded: OnceLock<Analysed>,
    /// Set once it is known which files are nodes; others were looked through only.
    is_node: AtomicBool,
}

/// All keys of one run.
pub(crate) struct Names<'u> {
    /// Absolute path of the repository, without a trailing slash.
    root: &'u str,
    universe: &'u [Box<str>],
    by_path: FxHashMap<&'u str, u32>,
    slots: boxcar::Vec<Slot>,
    by_name: Mutex<FxHashMap<Name, u32>>,
}

impl<'u> Names<'u> {
    pub(crate) fn new(root: &'u str, universe: &'u [Box<str>]) -> Self {
        let by_path = universe.iter().zip(0..).map(|(path, key)| (&**path, key)).collect();
        Self { root, universe, by_path, slots: boxcar::Vec::new(), by_name: Mutex::default() }
    }

    pub(crate) fn universe_len(&self) -> u32 {
        u32::try_from(self.universe.len()).unwrap_or(u32::MAX)
    }

    /// The key of a target; `None` for what makes no edge.
    pub(crate) fn key_of(&self, target: &Target) -> Option<u32> {
        match target {
            Target::File(path) => Some(self.key_of_file(path)),
            Target::Builtin(id) => Some(self.intern(Name::Builtin(id.clone()))),
            Target::Missing { id, .. } => Some(self.intern(Name::Missing(id.clone()))),
            Target::Nothing => None,
        }
    }

    /// The key of a file by its absolute real path.
    pub(crate) fn key_of_file(&self, path: &Arc<str>) -> u32 {
        let inside = self.relative(path);
        inside
            .and_then(|inside| self.by_path.get(inside).copied())
            .unwrap_or_else(|| self.intern(Name::File(path.clone())))
    }

    fn intern(&self, name: Name) -> u32 {
        let mut by_name = self.by_name.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(&key) = by_name.get(&name) {
            return key;
        }
        let index =
            self.slots.push(Slot { name: name.clone(), loaded: OnceLock::new(), is_node: AtomicBool::new(false) });
        let key = self.universe_len() + u32::try_from(index).unwrap_or(u32::MAX);
        by_name.insert(name, key);
        key
    }

    /// The slot of a key beyond the universe.
    pub(crate) fn slot(&self, key: u32) -> Option<&Slot> {
        self.slots.get(key.checked_sub(self.universe_len())? as usize)
    }

    /// Says that a key is a node. To be called for all of them before the first id is asked for.
    pub(crate) fn mark_node(&self, key: u32) {
        if let Some(slot) = self.slot(key) {
            slot.is_node.store(true, Ordering::Relaxed);
        }
    }

    pub(crate) fn is_node(&self, key: u32) -> bool {
        self.slot(key).is_none_or(|slot| slot.is_node.load(Ordering::Relaxed))
    }

    /// The number of keys given out so far.
    pub(crate) fn len(&self) -> u32 {
        self.universe_len() + u32::try_from(self.slots.count()).unwrap_or(u32::MAX)
    }

    /// Absolute path of a key that is a file.
    pub(crate) fn absolute(&self, key: u32) -> Option<String> {
        match self.universe.get(key as usize) {
            Some(path) => Some([self.root.trim_end_matches('/'), "/", path].concat()),
            None => match &self.slot(key)?.name {
                Name::File(path) => Some(path.to_string()),
                _ => None,
            },
        }
    }

    /// The part of an absolute path below the root.
    pub(crate) fn relative<'p>(&self, path: &'p str) -> Option<&'p str> {
        path.strip_prefix(self.root.trim_end_matches('/'))?.strip_prefix('/')
    }

    /// The name of a file in ids and messages: its path from the root, which starts with `../` outside.
    pub(crate) fn display<'p>(&self, path: &'p str) -> Cow<'p, str> {
        match self.relative(path) {
            Some(inside) => Cow::Borrowed(inside),
            None => Cow::Owned(relative_path(self.root, path)),
        }
    }

    /// Whether a file beyond the universe belongs to the repository. The path alone decides.
    pub(crate) fn is_own(&self, path: &str) -> bool {
        !is_external(self.relative(path))
    }

    /// Id and kind of the node that a key stands for.
    pub(crate) fn node(&self, key: u32) -> (Box<str>, NodeKind) {
        if let Some(path) = self.universe.get(key as usize) {
            return (path.clone(), NodeKind::Source);
        }
        match self.slot(key).map(|slot| &slot.name) {
            Some(Name::File(path)) => {
                let kind = if self.is_own(path) { NodeKind::Source } else { NodeKind::External };
                (self.display(path).into_owned().into(), kind)
            }
            Some(Name::Builtin(id)) => (id.clone(), NodeKind::Builtin),
            Some(Name::Missing(id)) if self.is_file_id(id) => (format!("missing:{id}").into(), NodeKind::Missing),
            Some(Name::Missing(id)) => (id.clone(), NodeKind::Missing),
            None => ("".into(), NodeKind::Missing),
        }
    }

    /// Whether a specifier that leads nowhere is spelled like a file that is a node of its own.
    fn is_file_id(&self, id: &str) -> bool {
        if self.by_path.contains_key(id) {
            return true;
        }
        let absolute = normal_path(self.root, id);
        if *self.display(&absolute) != *id {
            return false;
        }
        let by_name = self.by_name.lock().unwrap_or_else(PoisonError::into_inner);
        let key = by_name.get(&Name::File(absolute.into())).copied();
        key.and_then(|key| self.slot(key)).is_some_and(|slot| slot.is_node.load(Ordering::Relaxed))
    }
}
