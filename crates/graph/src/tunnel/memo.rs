//! Answers of earlier searches, shared by threads. A lookup copies nothing: names are borrowed from the facts.

use std::sync::{Arc, Mutex, PoisonError};

use rustc_hash::FxHashMap;

use super::{FileKey, RequestedName};

const SHARDS: usize = 64;

type Shard<'m> = FxHashMap<RequestedName<'m>, Arc<[FileKey]>>;

pub(super) struct Memo<'m> {
    shards: [Mutex<Shard<'m>>; SHARDS],
}

impl Default for Memo<'_> {
    fn default() -> Self {
        Self { shards: std::array::from_fn(|_| Mutex::default()) }
    }
}

impl<'m> Memo<'m> {
    pub(super) fn get(&self, state: RequestedName<'m>) -> Option<Arc<[FileKey]>> {
        self.with_shard(state, |answers| answers.get(&state).cloned())
    }

    pub(super) fn remember(&self, states: Vec<RequestedName<'m>>, answer: &Arc<[FileKey]>) {
        for state in states {
            self.with_shard(state, |answers| answers.insert(state, Arc::clone(answer)));
        }
    }

    fn with_shard<T>(&self, state: RequestedName<'m>, act: impl FnOnce(&mut Shard<'m>) -> T) -> T {
        let shard = &self.shards[state.file.0 as usize % SHARDS];
        // A map of finished answers is whole even if another thread panicked while it held the lock.
        act(&mut shard.lock().unwrap_or_else(PoisonError::into_inner))
    }
}
