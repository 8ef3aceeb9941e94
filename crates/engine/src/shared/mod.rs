//! Facts that machines share: the results of extraction, by the hash of a file's bytes, in bundles on a server. Read-through:
//! what the server lacks is extracted here and uploaded.
//!
//! A server can cost time but never change an answer. Values are bounded, checked and, if readers and writers share a secret,
//! authenticated; otherwise one file of each bundle is extracted again and compared. After the first wrong facts, the server is
//! not used any more, and the run is repeated without it. The reasons are in `docs/decisions/0103-shared-facts.md`.

mod bundle;
mod groups;

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use stan_graph::FileMeta;
use stan_lang::Languages;
use stan_lang::language::{ExtractOptions, Extraction};
use stan_repo::ByteStore;
use stan_secrets::{credential_file, scan_file};

use self::bundle::BundleName;
pub(crate) use self::groups::groups;

/// After this many damaged bundles, the server is not used any more.
const MAX_DAMAGED: u64 = 3;

/// A shared cache, or none. Clones share it.
#[derive(Clone, Default)]
pub struct SharedCache(Option<Arc<Inner>>);

struct Inner {
    store: Box<dyn ByteStore>,
    secret: Option<Vec<u8>>,
    /// Selects the files that are extracted again. Random, so that a server cannot predict them.
    seed: u64,
    is_off: AtomicBool,
    is_read_only: AtomicBool,
    gave_wrong_facts: AtomicBool,
    damaged: AtomicU64,
    problem: Mutex<Option<String>>,
    counts: Counts,
}

#[derive(Default)]
struct Counts {
    bundles_read: AtomicU64,
    files_read: AtomicU64,
    bytes_read: AtomicU64,
    bundles_missing: AtomicU64,
    bundles_written: AtomicU64,
    bytes_written: AtomicU64,
}

/// Statistics about the use of a shared cache.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SharedUsage {
    pub bundles_read: u64,
    /// Files whose facts came from the server.
    pub files_read: u64,
    pub bytes_read: u64,
    pub bundles_missing: u64,
    pub bundles_written: u64,
    pub bytes_written: u64,
    /// Why the server was abandoned.
    pub problem: Option<String>,
}

impl std::fmt::Debug for SharedCache {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_tuple("SharedCache").field(&self.0.is_some()).finish()
    }
}

impl SharedCache {
    /// `secret`: known to all readers and writers. `seed`: random.
    pub fn new(store: Box<dyn ByteStore>, secret: Option<Vec<u8>>, seed: u64) -> Self {
        Self(Some(Arc::new(Inner {
            store,
            secret,
            seed,
            is_off: AtomicBool::new(false),
            is_read_only: AtomicBool::new(false),
            gave_wrong_facts: AtomicBool::new(false),
            damaged: AtomicU64::new(0),
            problem: Mutex::default(),
            counts: Counts::default(),
        })))
    }

    /// `None` if there is no shared cache.
    pub fn usage(&self) -> Option<SharedUsage> {
        let inner = self.0.as_ref()?;
        let get = |count: &AtomicU64| count.load(Ordering::Relaxed);
        let counts = &inner.counts;
        Some(SharedUsage {
            bundles_read: get(&counts.bundles_read),
            files_read: get(&counts.files_read),
            bytes_read: get(&counts.bytes_read),
            bundles_missing: get(&counts.bundles_missing),
            bundles_written: get(&counts.bundles_written),
            bytes_written: get(&counts.bytes_written),
            problem: inner.problem.lock().unwrap_or_else(PoisonError::into_inner).clone(),
        })
    }

    /// Whether the server returned wrong facts for a file.
    pub(crate) fn gave_wrong_facts(&self) -> bool {
        self.0.as_ref().is_some_and(|inner| inner.gave_wrong_facts.load(Ordering::Relaxed))
    }

    /// The bundles of one run; `None` if there is no cache or it is unusable.
    pub(crate) fn bundles(&self, languages: Languages, options: &ExtractOptions) -> Option<Bundles> {
        let inner = self.0.as_ref().filter(|inner| !inner.is_off.load(Ordering::Relaxed))?;
        let base = bundle::base(&languages.versions(), options, inner.secret.as_deref());
        Some(Bundles { inner: Arc::clone(inner), base })
    }
}

impl Inner {
    /// Stops using the server; only the first reason is kept.
    fn give_up(&self, reason: String) {
        self.is_off.store(true, Ordering::Relaxed);
        self.keep_problem(reason);
    }

    fn keep_problem(&self, reason: String) {
        self.problem.lock().unwrap_or_else(PoisonError::into_inner).get_or_insert(reason);
    }
}

/// A file whose facts are wanted.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Member<'m> {
    /// Root-relative path. Only its basename is part of the key.
    pub(crate) path: &'m str,
    pub(crate) bytes: &'m [u8],
    pub(crate) meta: FileMeta,
}

/// The bundles of one run.
pub(crate) struct Bundles {
    inner: Arc<Inner>,
    /// Hash of languages, options and secret.
    base: [u8; 32],
}

impl Bundles {
    /// The extraction of each member, from the server if possible, otherwise by `extract`.
    pub(crate) fn extractions(
        &self,
        members: &[Member<'_>],
        extract: &mut dyn FnMut(&Member<'_>) -> Extraction,
    ) -> Vec<Extraction> {
        if members.is_empty() || self.inner.is_off.load(Ordering::Relaxed) {
            return members.iter().map(extract).collect();
        }
        let name = BundleName::of(&self.base, members);
        match self.fetch(&name, members) {
            Fetched::Found(found) => self.checked(&name, members, found, extract),
            Fetched::Failed => members.iter().map(extract).collect(),
            Fetched::Missing => {
                let made: Vec<Extraction> = members.iter().map(extract).collect();
                self.send(&name, members, &made);
                made
            }
        }
    }

    fn fetch(&self, name: &BundleName, members: &[Member<'_>]) -> Fetched {
        let inner = &*self.inner;
        let bytes = match inner.store.get(&name.path(), bundle::largest(members)) {
            Ok(Some(bytes)) => bytes,
            Ok(None) => {
                inner.counts.bundles_missing.fetch_add(1, Ordering::Relaxed);
                return Fetched::Missing;
            }
            Err(error) => {
                inner.give_up(error.to_string());
                return Fetched::Failed;
            }
        };
        inner.counts.bytes_read.fetch_add(bytes.len() as u64, Ordering::Relaxed);
        match bundle::decode(name, &bytes, members, inner.secret.as_deref()) {
            Some(found) => {
                inner.counts.bundles_read.fetch_add(1, Ordering::Relaxed);
                Fetched::Found(found)
            }
            None => {
                let damaged = inner.damaged.fetch_add(1, Ordering::Relaxed) + 1;
                let reason = "a value that it gave was damaged or not authentic, and was dropped".to_owned();
                if damaged >= MAX_DAMAGED {
                    inner.give_up(reason)
                } else {
                    inner.keep_problem(reason)
                }
                Fetched::Failed
            }
        }
    }

    /// Extracts the files that the bundle lacks and, if bundles are not authenticated, one more as a check.
    fn checked(
        &self,
        name: &BundleName,
        members: &[Member<'_>],
        found: Vec<Option<Extraction>>,
        extract: &mut dyn FnMut(&Member<'_>) -> Extraction,
    ) -> Vec<Extraction> {
        let inner = &*self.inner;
        let sample = if inner.secret.is_none() { name.sample(inner.seed, members.len()) } else { None };
        let known = found.iter().flatten().count() as u64;
        let mut is_true = true;
        let mut all = Vec::with_capacity(members.len());
        for (index, (member, found)) in members.iter().zip(found).enumerate() {
            all.push(match found {
                Some(found) if sample == Some(index) => {
                    let own = extract(member);
                    is_true &= own == found;
                    own
                }
                Some(found) => found,
                None => extract(member),
            });
        }
        if is_true {
            inner.counts.files_read.fetch_add(known, Ordering::Relaxed);
        } else {
            inner.gave_wrong_facts.store(true, Ordering::Relaxed);
            inner.give_up("it gave facts that are not those of the files; everything was computed here".to_owned());
        }
        all
    }

    fn send(&self, name: &BundleName, members: &[Member<'_>], made: &[Extraction]) {
        let inner = &*self.inner;
        if inner.is_off.load(Ordering::Relaxed) || inner.is_read_only.load(Ordering::Relaxed) {
            return;
        }
        let shared = members.iter().zip(made).map(|(member, made)| may_leave(member).then_some(made));
        let Some(bytes) = bundle::encode(name, &shared.collect::<Vec<_>>(), inner.secret.as_deref()) else { return };
        if bytes.len() as u64 > bundle::largest(members) {
            return;
        }
        match inner.store.put(&name.path(), &bytes) {
            Ok(()) => {
                inner.counts.bundles_written.fetch_add(1, Ordering::Relaxed);
                inner.counts.bytes_written.fetch_add(bytes.len() as u64, Ordering::Relaxed);
            }
            Err(error) => {
                // A cache may be writable for few and readable for many.
                inner.is_read_only.store(true, Ordering::Relaxed);
                inner.keep_problem(format!("nothing was stored in it, because {error}"));
            }
        }
    }
}

enum Fetched {
    Found(Vec<Option<Extraction>>),
    Missing,
    Failed,
}

/// Whether facts of this file may be uploaded: in a file with secrets, names may be secrets too.
fn may_leave(member: &Member<'_>) -> bool {
    credential_file(member.path).is_none() && scan_file(member.path, member.bytes).is_empty()
}

#[cfg(test)]
mod tests;
