//! Reads single entries of a pack (`.pack`) and resolves their deltas, bounded in size, number and depth.
//!
//! Does not verify hashes: the store does that for each object.

use std::path::Path;
use std::rc::Rc;

use rustc_hash::FxHashMap;

use super::delta;
use super::error::GitError;
use super::id::{ObjectId, ObjectKind};
use super::inflate::{Inflater, Source};
use super::pack_index::PackIndex;
use super::place::GitLayout;
use super::windows::Windows;
use crate::system_ext::SystemExt as _;

/// The maximum size of a commit, tag or tree.
pub(super) const MAX_OBJECT_BYTES: u64 = 128 << 20;
/// Git itself creates chains of at most 4095 deltas.
const MAX_DELTAS: usize = 4096;
/// The maximum total size of a delta chain.
const MAX_CHAIN_BYTES: u64 = 1 << 30;
/// The maximum total size of cached delta bases.
const MAX_CACHED_BYTES: usize = 32 << 20;

/// The maximum number of cached windows of a pack, 4 MiB: objects that are read together lie together.
const MAX_WINDOWS: usize = 128;

/// An object as stored in a pack or a loose file.
#[derive(Clone, Debug)]
pub(super) struct Object {
    pub(super) kind: ObjectKind,
    pub(super) bytes: Rc<Vec<u8>>,
}

pub(super) struct Pack {
    pub(super) index: PackIndex,
    path: String,
    shown: String,
    /// The windows of the file, up to the checksum at its end.
    windows: Windows,
    /// Cached delta bases, by their offset.
    kept: FxHashMap<u64, Object>,
    kept_bytes: usize,
}

/// The header of an entry.
struct Entry {
    kind: EntryKind,
    /// The inflated size of the object or the delta.
    size: usize,
    /// The offset of the compressed bytes.
    data: u64,
}

enum EntryKind {
    Whole(ObjectKind),
    /// A delta against the object at this offset.
    Delta(u64),
}

impl Pack {
    pub(super) fn open(place: &GitLayout<'_>, index_path: &str) -> Result<Self, GitError> {
        let index = PackIndex::open(place, index_path)?;
        let path = format!("{}.pack", index_path.trim_end_matches(".idx"));
        let shown = place.shown(&path);
        let size = place.system.open(Path::new(&path)).map_err(|error| place.unreadable(&path, &error))?.stat.size;
        let mut head = [0; 12];
        place.system.read_range(Path::new(&path), 0, &mut head).map_err(|error| place.unreadable(&path, &error))?;
        let [p, a, c, k, _, _, _, version, n0, n1, n2, n3] = head;
        if [p, a, c, k] != *b"PACK" || !matches!(version, 2 | 3) {
            return Err(GitError::damaged(&shown, "it does not start as a pack of version 2 or 3"));
        }
        if u32::from_be_bytes([n0, n1, n2, n3]) != index.count() {
            return Err(GitError::damaged(&shown, "it has another number of objects than its index"));
        }
        let end = size.saturating_sub(place.format.hash.length() as u64);
        Ok(Self {
            index,
            path,
            shown,
            windows: Windows::new(end, MAX_WINDOWS),
            kept: FxHashMap::default(),
            kept_bytes: 0,
        })
    }

    /// The object whose entry starts at the offset. Calls `spend` with the size of everything that is inflated or built.
    pub(super) fn read(
        &mut self,
        place: &GitLayout<'_>,
        inflater: &mut Inflater,
        offset: u64,
        spend: &mut dyn FnMut(u64) -> Result<(), GitError>,
    ) -> Result<Object, GitError> {
        // Collects deltas down to a whole object or a cached base, then applies them in reverse order. Not recursive: a hostile
        // chain is as long as the limit allows.
        let mut deltas = Vec::new();
        let mut at = offset;
        let mut held = 0u64;
        let mut object = loop {
            if let Some(object) = self.kept.get(&at) {
                break object.clone();
            }
            let entry = self.entry(place, at)?;
            held = held.saturating_add(entry.size as u64);
            if deltas.len() > MAX_DELTAS || held > MAX_CHAIN_BYTES {
                let what = format!("a chain of deltas in `{}`", self.shown);
                let limit = if held > MAX_CHAIN_BYTES { MAX_CHAIN_BYTES } else { MAX_DELTAS as u64 };
                return Err(GitError::TooMuch { what, limit });
            }
            spend(entry.size as u64)?;
            let bytes = inflater.inflate_exactly(&mut PackSource { place, pack: self }, entry.data, entry.size)?;
            match entry.kind {
                EntryKind::Whole(kind) => break Object { kind, bytes: Rc::new(bytes) },
                EntryKind::Delta(base) => {
                    deltas.push((at, bytes));
                    at = base;
                }
            }
        };
        self.keep(at, &object);
        for (at, delta) in deltas.into_iter().rev() {
            spend(delta::result_size(&delta).unwrap_or(0))?;
            let made = delta::apply(&object.bytes, &delta, MAX_OBJECT_BYTES as usize);
            let bytes = made.map_err(|reason| GitError::damaged(&self.shown, reason))?;
            object = Object { kind: object.kind, bytes: Rc::new(bytes) };
            self.keep(at, &object);
        }
        Ok(object)
    }

    pub(super) fn path(&self) -> &str {
        &self.path
    }

    /// The kind of the object at the offset, without reading its contents.
    pub(super) fn kind(&mut self, place: &GitLayout<'_>, offset: u64) -> Result<ObjectKind, GitError> {
        let mut at = offset;
        for _ in 0..=MAX_DELTAS {
            match self.entry(place, at)?.kind {
                EntryKind::Whole(kind) => return Ok(kind),
                EntryKind::Delta(base) => at = base,
            }
        }
        Err(GitError::TooMuch { what: format!("a chain of deltas in `{}`", self.shown), limit: MAX_DELTAS as u64 })
    }

    fn keep(&mut self, offset: u64, object: &Object) {
        // A single large object must not displace all others.
        if object.bytes.len() > MAX_CACHED_BYTES / 8 {
            return;
        }
        if self.kept_bytes.saturating_add(object.bytes.len()) > MAX_CACHED_BYTES {
            self.kept.clear();
            self.kept_bytes = 0;
        }
        if self.kept.insert(offset, object.clone()).is_none() {
            self.kept_bytes += object.bytes.len();
        }
    }

    fn entry(&mut self, place: &GitLayout<'_>, offset: u64) -> Result<Entry, GitError> {
        let mut head = [0; MAX_HEADER_BYTES];
        let length = self.windows.fill(place, &self.path, offset, &mut head)?;
        let mut reader = HeadReader { pack: self.shown.as_str(), head: head.get(..length).unwrap_or_default(), at: 0 };
        let (kind, size) = reader.kind_and_size()?;
        let kind = match kind {
            1 => EntryKind::Whole(ObjectKind::Commit),
            2 => EntryKind::Whole(ObjectKind::Tree),
            3 => EntryKind::Whole(ObjectKind::Blob),
            4 => EntryKind::Whole(ObjectKind::Tag),
            6 => {
                let back = reader.distance()?;
                // A base must precede its delta, so that no chain is a cycle, and follow the pack's header of 12 bytes.
                let base = offset.checked_sub(back).filter(|&base| back > 0 && base >= 12);
                EntryKind::Delta(base.ok_or_else(|| reader.damaged("the base of a delta lies outside"))?)
            }
            7 => {
                // A base named by id may come after its delta, so chains can be cyclic here; `MAX_DELTAS` ends them.
                let id = reader.id(place.format.hash.length())?;
                let base = self.index.find(place, &id)?;
                EntryKind::Delta(base.ok_or_else(|| reader.damaged("the base of a delta is in another pack"))?)
            }
            _ => return Err(reader.damaged("an entry has a kind that does not exist")),
        };
        if size > MAX_OBJECT_BYTES {
            return Err(GitError::TooMuch { what: format!("an object in `{}`", self.shown), limit: MAX_OBJECT_BYTES });
        }
        Ok(Entry { kind, size: usize::try_from(size).unwrap_or(usize::MAX), data: offset + reader.at as u64 })
    }
}

/// Fits the header of any entry: a size of ten bytes, and either a distance of ten bytes or an id.
const MAX_HEADER_BYTES: usize = 64;

/// Parses the header of an entry.
struct HeadReader<'p> {
    /// The name in errors.
    pack: &'p str,
    head: &'p [u8],
    at: usize,
}

impl HeadReader<'_> {
    fn damaged(&self, reason: &str) -> GitError {
        GitError::damaged(self.pack, reason)
    }

    fn byte(&mut self) -> Result<u8, GitError> {
        let byte = self.head.get(self.at).copied();
        self.at += 1;
        byte.ok_or_else(|| self.damaged("an entry starts behind its end"))
    }

    /// Three bits of kind; the size has four bits in the first byte, then groups of seven bits, least significant first.
    fn kind_and_size(&mut self) -> Result<(u8, u64), GitError> {
        let mut byte = self.byte()?;
        let kind = byte >> 4 & 7;
        let mut size = u64::from(byte & 15);
        let mut shift = 4;
        while byte & 0x80 != 0 {
            byte = self.byte()?;
            if shift > 56 {
                return Err(self.damaged("the size of an entry has too many digits"));
            }
            size |= u64::from(byte & 0x7f) << shift;
            shift += 7;
        }
        Ok((kind, size))
    }

    /// Seven bits per byte, most significant first; each continuation adds one.
    fn distance(&mut self) -> Result<u64, GitError> {
        let mut byte = self.byte()?;
        let mut value = u64::from(byte & 0x7f);
        while byte & 0x80 != 0 {
            byte = self.byte()?;
            let next = value.checked_add(1).and_then(|value| value.checked_mul(128));
            value = next.ok_or_else(|| self.damaged("the base of a delta lies outside"))? + u64::from(byte & 0x7f);
        }
        Ok(value)
    }

    fn id(&mut self, length: usize) -> Result<ObjectId, GitError> {
        let bytes = self.head.get(self.at..).and_then(|rest| rest.get(..length));
        let bytes = bytes.ok_or_else(|| self.damaged("an entry starts behind its end"))?;
        let id = ObjectId::from_bytes(bytes).ok_or_else(|| self.damaged("the base of a delta has no name"))?;
        self.at += length;
        Ok(id)
    }
}

/// A pack as a source of bytes.
struct PackSource<'r, 's> {
    place: &'r GitLayout<'s>,
    pack: &'r mut Pack,
}

impl Source for PackSource<'_, '_> {
    fn bytes_at(&mut self, position: u64) -> Result<&[u8], GitError> {
        let Pack { windows, path, .. } = &mut *self.pack;
        windows.at(self.place, path, position)
    }

    fn damaged(&self, reason: &str) -> GitError {
        GitError::damaged(&self.pack.shown, reason)
    }
}
