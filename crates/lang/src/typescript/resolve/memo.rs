//! A map shared by threads that remembers answers of pure functions. Two threads may compute the same answer;
//! both get the same one, so timing never shows.

use std::hash::{BuildHasher, Hash};
use std::sync::{Mutex, MutexGuard, PoisonError};

use rustc_hash::{FxBuildHasher, FxHashMap};

const SHARDS: usize = 32;

pub(crate) struct Memo<K, V> {
    shards: [Mutex<FxHashMap<K, V>>; SHARDS],
}

impl<K: Hash + Eq, V: Clone> Memo<K, V> {
    pub(crate) fn new() -> Self {
        Self { shards: std::array::from_fn(|_| Mutex::new(FxHashMap::default())) }
    }

    /// The remembered answer, or the one that `compute` gives. No lock is held while computing, so `compute` may
    /// come back here.
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

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    // A panic elsewhere cannot leave a half-made entry behind: inserts are whole.
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
