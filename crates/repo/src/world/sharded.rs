//! A concurrent map keyed by paths; entries are never removed.

use std::hash::BuildHasher;
use std::sync::{PoisonError, RwLock};

use rustc_hash::{FxBuildHasher, FxHashMap};

const SHARDS: usize = 64;

type Shard<V> = RwLock<FxHashMap<Box<str>, V>>;

/// A concurrent map keyed by paths: the first value for a path stays.
pub(super) struct Sharded<V> {
    /// On the heap: worlds are moved, and under a small limit of address space the stack of the main thread cannot grow.
    shards: Box<[Shard<V>]>,
}

impl<V> Default for Sharded<V> {
    fn default() -> Self {
        Self { shards: (0..SHARDS).map(|_| RwLock::default()).collect() }
    }
}

impl<V: Clone> Sharded<V> {
    pub(super) fn get(&self, path: &str) -> Option<V> {
        self.shard(path).read().unwrap_or_else(PoisonError::into_inner).get(path).cloned()
    }

    /// `make` runs without a lock, possibly on two threads at once; both get the value that was stored first.
    pub(super) fn get_or_insert(&self, path: &str, make: impl FnOnce() -> V) -> V {
        if let Some(found) = self.get(path) {
            return found;
        }
        let made = make();
        let mut shard = self.shard(path).write().unwrap_or_else(PoisonError::into_inner);
        shard.entry(path.into()).or_insert(made).clone()
    }

    /// In no particular order.
    pub(super) fn for_each(&self, mut visit: impl FnMut(&str, &V)) {
        for shard in &*self.shards {
            let shard = shard.read().unwrap_or_else(PoisonError::into_inner);
            shard.iter().for_each(|(path, value)| visit(path, value));
        }
    }

    fn shard(&self, path: &str) -> &Shard<V> {
        // The map uses the low bits of the same hash, so the shard is chosen by others.
        let index = (FxBuildHasher.hash_one(path) >> 40) as usize % SHARDS;
        &self.shards[index]
    }
}
