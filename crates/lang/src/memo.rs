//! A concurrent memo table for pure functions. Two threads may compute the same answer, but all callers get the one that was
//! stored first, so that timing is never visible.

use std::hash::{BuildHasher, Hash};
use std::sync::{Mutex, MutexGuard, PoisonError};

use rustc_hash::{FxBuildHasher, FxHashMap};

const SHARDS: usize = 32;

pub(crate) struct Memo<K, V> {
    shards: [Mutex<FxHashMap<K, V>>; SHARDS],
}

impl<K: Hash + Eq, V: Clone> Default for Memo<K, V> {
    fn default() -> Self {
        Self::new()
    }
}

impl<K: Hash + Eq, V: Clone> Memo<K, V> {
    pub(crate) fn new() -> Self {
        Self { shards: std::array::from_fn(|_| Mutex::new(FxHashMap::default())) }
    }

    /// The cached answer, otherwise that of `compute`. No lock is held while computing, so `compute` may call this function
    /// again.
    pub(crate) fn get_or<Q>(&self, key: &Q, compute: impl FnOnce() -> V) -> V
    where
        Q: Hash + Eq + ToOwned<Owned = K> + ?Sized,
        K: std::borrow::Borrow<Q>,
    {
        let hash = FxBuildHasher.hash_one(key);
        let shard = &self.shards[(hash >> 57) as usize % SHARDS];
        if let Some(value) = lock(shard).get(key) {
            return value.clone();
        }
        let value = compute();
        lock(shard).entry(key.to_owned()).or_insert(value).clone()
    }
}

impl<K: Hash + Eq, V: Clone> Memo<K, V> {
    /// The cached answer.
    pub(crate) fn get(&self, key: &K) -> Option<V> {
        lock(self.shard(key)).get(key).cloned()
    }

    /// Caches an answer. Any other computation for this key must give the same one.
    pub(crate) fn insert(&self, key: K, value: V) {
        lock(self.shard(&key)).insert(key, value);
    }

    fn shard(&self, key: &K) -> &Mutex<FxHashMap<K, V>> {
        &self.shards[(FxBuildHasher.hash_one(key) >> 57) as usize % SHARDS]
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    // Safe after a panic on another thread: an insert is never half done.
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
