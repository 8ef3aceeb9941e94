//! Reads objects by id, from loose files, packs and alternates, and verifies each by its hash.
//!
//! For commits, tags and trees; the contents of files are never needed here. A damaged copy of an object is skipped if there is
//! an intact one.

use std::collections::BTreeSet;
use std::path::Path;
use std::rc::Rc;

use super::error::GitError;
use super::id::{ObjectId, ObjectKind};
use super::inflate::{Inflater, Source};
use super::pack::{MAX_OBJECT_BYTES, Object, Pack};
use super::pack_index::Prefix;
use super::place::GitLayout;
use crate::paths::{join, real_path};
use crate::system::{EntryKind, Owner};
use crate::system_ext::SystemExt as _;

/// Git's own limit for the depth of alternates.
const MAX_ALTERNATE_DEPTH: usize = 5;
const MAX_FOLDERS: usize = 64;
/// No repository has as many packs, and each costs an open file.
const MAX_PACKS: usize = 20_000;
/// The maximum total of inflated bytes per query.
const MAX_INFLATED_BYTES: u64 = 8 << 30;

pub(crate) struct ObjectStore<'p, 's> {
    place: &'p GitLayout<'s>,
    folders: Vec<Folder>,
    /// Alternates that do not exist, as written.
    absent: Vec<String>,
    inflater: Inflater,
    inflated: u64,
}

/// An object folder.
struct Folder {
    path: String,
    /// `None` until the first request.
    packs: Option<Vec<Pack>>,
    /// The error of the first unusable pack: it may contain an object that is not found elsewhere.
    broken: Option<GitError>,
}

impl<'p, 's> ObjectStore<'p, 's> {
    pub(crate) fn open(place: &'p GitLayout<'s>) -> Result<Self, GitError> {
        let mut store = Self { place, folders: Vec::new(), absent: Vec::new(), inflater: Inflater::new(), inflated: 0 };
        store.add_folder(join(&place.common, "objects"), 0)?;
        Ok(store)
    }

    /// The object with this id, which must be of kind `wanted`.
    pub(crate) fn read_as(&mut self, id: &ObjectId, wanted: ObjectKind) -> Result<Rc<Vec<u8>>, GitError> {
        let (found, bytes) = self.read(id)?;
        if found == wanted {
            return Ok(bytes);
        }
        Err(GitError::WrongKind { id: id.to_string(), found: found.name(), wanted: wanted.name() })
    }

    /// The object with this id, verified.
    pub(crate) fn read(&mut self, id: &ObjectId) -> Result<(ObjectKind, Rc<Vec<u8>>), GitError> {
        let mut first_error = None;
        for folder in 0..self.folders.len() {
            match self.read_from(folder, id) {
                Ok(Some(object)) => return Ok((object.kind, object.bytes)),
                Ok(None) => {}
                Err(error) => first_error = first_error.or(Some(error)),
            }
        }
        Err(first_error.unwrap_or_else(|| self.missing(id)))
    }

    /// The kind of the object, without verifying its hash; `None` if it cannot be read.
    pub(crate) fn kind(&mut self, id: &ObjectId) -> Option<ObjectKind> {
        let place = self.place;
        for folder in &mut self.folders {
            for pack in folder.packs(place).ok()? {
                if let Ok(Some(offset)) = pack.index.find(place, id) {
                    return pack.kind(place, offset).ok();
                }
            }
            if let Ok(Some(compressed)) = place.read(&loose_path(&folder.path, id), MAX_OBJECT_BYTES) {
                let mut source = LooseSource { bytes: &compressed, shown: String::new() };
                let (head, _) = self.inflater.inflate(&mut source, 0, 32).ok()?;
                return ObjectKind::of_name(head.split(|&byte| byte == b' ').next()?);
            }
        }
        None
    }

    /// All objects whose ids start with these digits.
    pub(crate) fn starting_with(&mut self, digits: &str) -> Result<BTreeSet<ObjectId>, GitError> {
        let mut found = BTreeSet::new();
        let place = self.place;
        let Some(prefix) = Prefix::parse(digits, place.format.hash.length() * 2) else { return Ok(found) };
        for folder in &mut self.folders {
            for pack in folder.packs(place)? {
                pack.index.collect(place, &prefix, &mut found)?;
            }
            // An unreadable pack may contain another object with this prefix, so the answer could be ambiguous.
            if let Some(error) = &folder.broken {
                return Err(error.clone());
            }
            let first = format!("{:02x}", prefix.first_byte());
            let entries = place.system.read_dir(Path::new(&join(&folder.path, &first))).unwrap_or_default();
            let ids = entries.iter().filter_map(|entry| {
                let digits = [first.as_str(), entry.name.to_str()?].concat();
                ObjectId::from_hex(digits.as_bytes(), place.format.hash)
            });
            found.extend(ids.filter(|id| prefix.matches(id.as_bytes())));
        }
        Ok(found)
    }

    fn read_from(&mut self, folder: usize, id: &ObjectId) -> Result<Option<Object>, GitError> {
        let Self { place, folders, inflater, inflated, .. } = self;
        let Some(folder) = folders.get_mut(folder) else { return Ok(None) };
        let mut spend = |bytes: u64| {
            *inflated = inflated.saturating_add(bytes);
            let what = || "what the question needs from the repository".to_owned();
            if *inflated > MAX_INFLATED_BYTES {
                Err(GitError::TooMuch { what: what(), limit: MAX_INFLATED_BYTES })
            } else {
                Ok(())
            }
        };
        let mut first_error = None;
        let mut tried = |outcome: Result<Option<Object>, GitError>, file: &str| match outcome {
            Ok(Some(object)) if place.format.hash.object_id(object.kind, &object.bytes) == *id => Some(object),
            Ok(Some(_)) => {
                let reason = format!("what it holds as {id} is something else");
                first_error.get_or_insert(GitError::damaged(&place.shown(file), reason));
                None
            }
            Ok(None) => None,
            Err(error) => {
                first_error.get_or_insert(error);
                None
            }
        };
        for pack in folder.packs(place)? {
            let outcome = match pack.index.find(place, id) {
                Ok(Some(offset)) => pack.read(place, inflater, offset, &mut spend).map(Some),
                Ok(None) => Ok(None),
                Err(error) => Err(error),
            };
            if let Some(object) = tried(outcome, pack.path()) {
                return Ok(Some(object));
            }
        }
        // Most objects are in a pack, so build the path of the loose file only if no pack has it.
        let path = loose_path(&folder.path, id);
        let outcome = read_loose(place, inflater, &path, &mut spend);
        match tried(outcome, &path) {
            Some(object) => Ok(Some(object)),
            None => first_error.or_else(|| folder.broken.clone()).map_or(Ok(None), Err),
        }
    }

    fn missing(&self, id: &ObjectId) -> GitError {
        GitError::MissingObject { id: id.to_string(), looked_for: self.absent.clone() }
    }

    /// Adds a folder and its alternates, unless it was added before.
    fn add_folder(&mut self, path: String, depth: usize) -> Result<(), GitError> {
        if self.folders.iter().any(|folder| folder.path == path) {
            return Ok(());
        }
        if self.folders.len() >= MAX_FOLDERS || depth > MAX_ALTERNATE_DEPTH {
            return Err(GitError::TooMuch {
                what: "the alternates of alternates".to_owned(),
                limit: MAX_FOLDERS as u64,
            });
        }
        let list = join(&path, "info/alternates");
        self.folders.push(Folder { path: path.clone(), packs: None, broken: None });
        let Some(bytes) = self.place.read_small(&list)? else { return Ok(()) };
        for line in String::from_utf8_lossy(&bytes).lines() {
            let name = unquoted(line);
            if name.is_empty() || line.starts_with('#') {
                continue;
            }
            let full = if name.starts_with('/') { name.clone() } else { join(&path, &name) };
            match real_path(self.place.system, Path::new(&full)) {
                // Do not trust objects in a folder of another user.
                Ok(real) if self.is_folder(&real) && !self.is_anothers(&real) => self.add_folder(real, depth + 1)?,
                _ => self.absent.push(format!("`{name}`")),
            }
        }
        Ok(())
    }

    fn is_anothers(&self, path: &str) -> bool {
        matches!(self.place.system.owner(Path::new(path)), Ok(Owner::Other))
    }

    fn is_folder(&self, path: &str) -> bool {
        self.place.system.lstat(Path::new(path)).is_ok_and(|stat| stat.kind == EntryKind::Dir)
    }
}

impl Folder {
    /// The packs of the folder, sorted by name. Ignores an index without its pack.
    fn packs(&mut self, place: &GitLayout<'_>) -> Result<&mut Vec<Pack>, GitError> {
        let packs = match self.packs.take() {
            Some(packs) => packs,
            None => self.open_packs(place)?,
        };
        Ok(self.packs.insert(packs))
    }

    fn open_packs(&mut self, place: &GitLayout<'_>) -> Result<Vec<Pack>, GitError> {
        let folder = join(&self.path, "pack");
        let entries = place.system.read_dir(Path::new(&folder)).unwrap_or_default();
        let names: BTreeSet<&str> = entries.iter().filter_map(|entry| entry.name.to_str()).collect();
        let indexes = names.iter().filter_map(|name| name.strip_suffix(".idx"));
        let whole: Vec<&str> = indexes.filter(|stem| names.contains(format!("{stem}.pack").as_str())).collect();
        if whole.len() > MAX_PACKS {
            return Err(GitError::TooMuch { what: "the number of packs".to_owned(), limit: MAX_PACKS as u64 });
        }
        let mut packs = Vec::new();
        for stem in whole {
            match Pack::open(place, &join(&folder, &format!("{stem}.idx"))) {
                Ok(pack) => packs.push(pack),
                Err(error) => self.broken = self.broken.take().or(Some(error)),
            }
        }
        Ok(packs)
    }
}

fn loose_path(folder: &str, id: &ObjectId) -> String {
    let digits = id.to_string();
    let (first, rest) = digits.split_at_checked(2).unwrap_or((&digits, ""));
    join(folder, &format!("{first}/{rest}"))
}

fn read_loose(
    place: &GitLayout<'_>,
    inflater: &mut Inflater,
    path: &str,
    spend: &mut dyn FnMut(u64) -> Result<(), GitError>,
) -> Result<Option<Object>, GitError> {
    let Some(compressed) = place.read(path, MAX_OBJECT_BYTES)? else { return Ok(None) };
    let mut source = LooseSource { bytes: &compressed, shown: place.shown(path) };
    let (head, _) = inflater.inflate(&mut source, 0, 32)?;
    let parsed = LooseHeader::parse(&head).ok_or_else(|| source.damaged("it does not say what it is"))?;
    let LooseHeader { kind, length, size } = parsed;
    if size > MAX_OBJECT_BYTES {
        return Err(GitError::TooMuch { what: format!("the object `{}`", place.shown(path)), limit: MAX_OBJECT_BYTES });
    }
    spend(size)?;
    let size = usize::try_from(size).unwrap_or(usize::MAX);
    let mut bytes = inflater.inflate_exactly(&mut source, 0, length.saturating_add(size))?;
    bytes.drain(..length);
    Ok(Some(Object { kind, bytes: Rc::new(bytes) }))
}

/// The header of a loose object: `tree 123` and a zero byte.
struct LooseHeader {
    kind: ObjectKind,
    /// The length of the header itself.
    length: usize,
    size: u64,
}

impl LooseHeader {
    fn parse(head: &[u8]) -> Option<Self> {
        let end = head.iter().position(|&byte| byte == 0)?;
        let text = std::str::from_utf8(head.get(..end)?).ok()?;
        let (kind, size) = text.split_once(' ')?;
        Some(Self { kind: ObjectKind::of_name(kind.as_bytes())?, length: end + 1, size: size.parse().ok()? })
    }
}

struct LooseSource<'b> {
    bytes: &'b [u8],
    shown: String,
}

impl Source for LooseSource<'_> {
    fn bytes_at(&mut self, position: u64) -> Result<&[u8], GitError> {
        let start = usize::try_from(position).unwrap_or(usize::MAX);
        Ok(self.bytes.get(start..).unwrap_or_default())
    }

    fn damaged(&self, reason: &str) -> GitError {
        GitError::damaged(&self.shown, reason)
    }
}

/// A line of `alternates`: plain, or quoted as in C. Decodes only escapes of `"` and `\`: UTF-8 paths need no others except octal
/// bytes, which stay as written; such a path is then not found.
fn unquoted(line: &str) -> String {
    let line = line.trim_end_matches('\r');
    let inner = line.strip_prefix('"').and_then(|rest| rest.strip_suffix('"'));
    inner.map_or_else(|| line.to_owned(), |inner| inner.replace("\\\"", "\"").replace("\\\\", "\\"))
}
