//! A directory as it was when it was first read: what may be read of it, and its listing.

use std::hash::BuildHasher;
use std::sync::{Arc, OnceLock};

use rustc_hash::{FxBuildHasher, FxHashMap};

use crate::system::{EntryKind, Stat};

pub(super) struct Directory<'a> {
    pub(super) real: Box<str>,
    /// The real folder of the linked package that the directory belongs to; `None` inside the reach.
    pub(super) package: Option<Arc<str>>,
    pub(super) access: Access,
    pub(super) listable: bool,
    pub(super) listing: OnceLock<Listing<'a>>,
    /// The index of each name in the listing, by hash; `AMBIGUOUS` if two names share one.
    pub(super) names: OnceLock<FxHashMap<u64, u32>>,
}

/// Which entries of a directory may be read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Access {
    /// All: the directory is below the root.
    Inside,
    /// All except `.git`.
    Outside,
    /// Only entries on the path to something that may be read.
    Above,
}

const AMBIGUOUS: u32 = u32::MAX;
/// Shorter listings are searched without hashes.
const FEW_ENTRIES: usize = 8;

impl Directory<'_> {
    pub(super) fn entry(&self, entries: &[(Box<str>, EntryKind)], name: &str) -> Option<EntryKind> {
        let search = || entries.binary_search_by(|(entry, _)| entry.as_ref().cmp(name)).ok();
        let index = if entries.len() <= FEW_ENTRIES {
            search()?
        } else {
            match *self.names.get_or_init(|| hashed_names(entries)).get(&FxBuildHasher.hash_one(name))? {
                AMBIGUOUS => search()?,
                index => index as usize,
            }
        };
        entries.get(index).filter(|(entry, _)| **entry == *name).map(|(_, kind)| *kind)
    }
}

fn hashed_names(entries: &[(Box<str>, EntryKind)]) -> FxHashMap<u64, u32> {
    let mut names = FxHashMap::with_capacity_and_hasher(entries.len(), FxBuildHasher);
    for ((name, _), index) in entries.iter().zip(0..) {
        names.entry(FxBuildHasher.hash_one(&**name)).and_modify(|other| *other = AMBIGUOUS).or_insert(index);
    }
    names
}

pub(super) enum Listing<'a> {
    Scanned(&'a [(Box<str>, EntryKind)]),
    Own { stat: Option<Stat>, hash: u64, entries: Vec<(Box<str>, EntryKind)> },
}

impl Listing<'_> {
    pub(super) fn entries(&self) -> &[(Box<str>, EntryKind)] {
        match self {
            Self::Scanned(entries) => entries,
            Self::Own { entries, .. } => entries,
        }
    }
}
