//! Externals in: each source is read once, proved against the map and the meta, copied below `<stanPath>/context`, and
//! proved again as it came back from the disk. [`Staged`] is made here and nowhere else, so that unproved bytes cannot
//! reach an archive. Which externals are selected is decided elsewhere.

mod proof;
mod sweep;

use std::io;
use std::path::{Path, PathBuf};

use rayon::prelude::*;
use stan_model::{Digest, Ecosystem};
use stan_repo::{Access, EntryKind, HashedFile, System, SystemExt as _, hash_open_file, hash_real_file};

use crate::classify::LARGE_BYTES;
use crate::entry::ArchiveEntry;
use crate::error::Error;
use crate::mismatch::{Mismatch, MismatchKind, Mismatches};
use crate::names::check_name;
use crate::transaction::{Prepared, Transaction};
use proof::{Promise, Read, read_small, stream_large};

/// A selected external and what is promised about its bytes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct External {
    /// Its canonical path, below `<stanPath>/context/{npm,abs}/`.
    pub id: String,
    /// Where it is installed, absolute.
    pub source: PathBuf,
    /// Size and SHA-256 from the private map; `None` when it is not in there.
    pub map: Option<(u64, Digest)>,
    /// Size and the first half of the SHA-256 from the meta; `None` when it has no hash there.
    pub meta: Option<(u64, [u8; 16])>,
}

/// Externals that are proved, and staged once the transaction is committed.
#[derive(Debug)]
pub struct Staged {
    files: Vec<StagedFile>,
}

#[derive(Debug)]
struct StagedFile {
    id: String,
    /// Where the proved bytes are before the commit.
    path: PathBuf,
    size: u64,
    digest: Digest,
}

impl Staged {
    /// The externals as entries of an archive, sorted by id. Their bytes are proved once more while they are archived,
    /// which has to happen before the commit.
    pub fn entries(&self) -> impl ExactSizeIterator<Item = ArchiveEntry> + '_ {
        self.files.iter().map(|file| ArchiveEntry::proved(file.id.clone(), file.path.clone(), file.size, file.digest))
    }

    pub fn len(&self) -> usize {
        self.files.len()
    }

    pub fn is_empty(&self) -> bool {
        self.files.is_empty()
    }

    /// How many bytes they have together.
    pub fn size(&self) -> u64 {
        self.files.iter().map(|file| file.size).sum()
    }
}

/// How many small files are in memory at once.
const BATCH: usize = 64;

/// Proves and prepares the externals. After the commit exactly they are below `npm/` and `abs/`.
///
/// The error [`Error::Mismatches`] lists every external that is not what it should be. Whatever the error, the staged
/// files are as they were once the transaction is dropped.
pub fn stage(transaction: &mut Transaction<'_>, mut externals: Vec<External>) -> Result<Staged, Error> {
    externals.sort_by(|left, right| left.id.cmp(&right.id));
    externals.dedup();
    let (promised, mismatches) = promises(&externals, transaction.lock().stan_path());
    let mut work = StagingJob { transaction, files: Vec::with_capacity(externals.len()), mismatches };
    for batch in promised.chunks(BATCH) {
        work.stage_batch(batch)?;
    }
    let StagingJob { transaction, files, mismatches } = work;
    if !mismatches.is_empty() {
        return Err(Error::Mismatches(Mismatches(mismatches)));
    }
    sweep::remove_others(transaction, &files)?;
    Ok(Staged { files })
}

/// Proves externals where they are installed, for plans and snapshots that stage nothing. The entries are proved once
/// more when they are read for an archive.
pub fn prove(system: &dyn System, stan_path: &str, mut externals: Vec<External>) -> Result<Vec<ArchiveEntry>, Error> {
    externals.sort_by(|left, right| left.id.cmp(&right.id));
    externals.dedup();
    let (promised, mut mismatches) = promises(&externals, stan_path);
    let found: Vec<Vec<Mismatch>> = promised
        .par_iter()
        .map(|promise| match hash_real_file(system, &promise.external.source) {
            Ok(found) => promise.check(found.size, Some(found.digest)),
            Err(error) => vec![promise.unreadable(&error)],
        })
        .collect();
    mismatches.extend(found.into_iter().flatten());
    if !mismatches.is_empty() {
        mismatches.sort_by(|left, right| (&left.id, left.kind).cmp(&(&right.id, right.kind)));
        return Err(Error::Mismatches(Mismatches(mismatches)));
    }
    let entry = |promise: &Promise<'_>| {
        let External { id, source, .. } = promise.external;
        ArchiveEntry::proved(id.clone(), source.clone(), promise.map.0, promise.map.1)
    };
    Ok(promised.iter().map(entry).collect())
}

struct StagingJob<'w, 's> {
    transaction: &'w mut Transaction<'s>,
    files: Vec<StagedFile>,
    mismatches: Vec<Mismatch>,
}

/// The result of the parallel half of the work for one external.
enum StagingCheck {
    /// The staged file is already right, and so is the source.
    Kept,
    /// The source is right, and these are its bytes and who may read a copy of them.
    Small(Vec<u8>, Access),
    /// Too large to be held: it is proved while it is copied.
    Large,
    Wrong(Vec<Mismatch>),
}

/// The externals that have a good id and two promises; the others are mismatches already.
fn promises<'e>(externals: &'e [External], stan_path: &str) -> (Vec<Promise<'e>>, Vec<Mismatch>) {
    let mut promised: Vec<Promise<'e>> = Vec::with_capacity(externals.len());
    let mut mismatches = Vec::new();
    let folders = Ecosystem::ALL.map(|ecosystem| format!("{stan_path}/{}/", ecosystem.context_folder()));
    for external in externals {
        let wrong = |kind, expected: &str, actual: &str| Mismatch {
            id: external.id.clone(),
            source: external.source.clone(),
            kind,
            expected: expected.to_owned(),
            actual: actual.to_owned(),
        };
        let is_below = |folder: &String| external.id.starts_with(folder.as_str());
        if check_name(&external.id).is_err() || !folders.iter().any(is_below) {
            let expected = format!("a path below {}", folders.join(" or "));
            mismatches.push(wrong(MismatchKind::Id, &expected, &external.id));
        } else if promised.last().is_some_and(|last| last.external.id == external.id) {
            mismatches.push(wrong(MismatchKind::Duplicate, "one source for the id", "a second one"));
        } else if let (Some(map), Some(meta)) = (external.map, external.meta) {
            promised.push(Promise { external, map, meta });
        } else if external.map.is_none() {
            mismatches.push(wrong(MismatchKind::MapMissing, "size and SHA-256", "nothing"));
        } else {
            mismatches.push(wrong(MismatchKind::MetaMissing, "size and hash", "nothing"));
        }
    }
    (promised, mismatches)
}

impl StagingJob<'_, '_> {
    fn stage_batch(&mut self, batch: &[Promise<'_>]) -> Result<(), Error> {
        let mut has_folder = Vec::with_capacity(batch.len());
        for promise in batch {
            let folder = promise.external.id.rsplit_once('/').map_or("", |(folder, _)| folder);
            has_folder.push(self.transaction.folder_exists(folder)?);
        }
        let (system, transaction) = (self.transaction.system(), &*self.transaction);
        let targets: Vec<PathBuf> = batch.iter().map(|promise| transaction.absolute(&promise.external.id)).collect();
        let found: Vec<StagingCheck> = batch
            .par_iter()
            .zip(&targets)
            .zip(&has_folder)
            .map(|((promise, target), &has_folder)| examine(system, promise, has_folder.then_some(target)))
            .collect();
        let mut prepared: Vec<(&Promise<'_>, Prepared)> = Vec::new();
        for ((promise, target), found) in batch.iter().zip(targets).zip(found) {
            if let Some(copy) = self.prepare(promise, target, found)? {
                prepared.push((promise, copy));
            }
        }
        let read_back: Vec<Option<Mismatch>> =
            prepared.par_iter().map(|(promise, copy)| promise.check_copy(system, copy.path())).collect();
        self.mismatches.extend(read_back.into_iter().flatten());
        self.mismatches.sort_by(|left, right| (&left.id, left.kind).cmp(&(&right.id, right.kind)));
        Ok(())
    }

    /// Writes what has to be written. Once something is wrong nothing is any more, and the rest is only examined.
    fn prepare<'e>(
        &mut self,
        promise: &Promise<'e>,
        target: PathBuf,
        found: StagingCheck,
    ) -> Result<Option<Prepared>, Error> {
        let id = &promise.external.id;
        let may_write = self.mismatches.is_empty();
        let copy = match found {
            StagingCheck::Wrong(mismatches) => {
                self.mismatches.extend(mismatches);
                return Ok(None);
            }
            StagingCheck::Kept => {
                self.add(promise, target);
                return Ok(None);
            }
            StagingCheck::Small(bytes, access) if may_write => self.transaction.write(id, &bytes, access)?,
            StagingCheck::Small(..) => return Ok(None),
            StagingCheck::Large => {
                let mut out = if may_write { Some(self.transaction.stream(id, Access::Undecided)?) } else { None };
                match stream_large(self.transaction.system(), promise, out.as_mut())? {
                    Read::Wrong(mismatches) => {
                        self.mismatches.extend(mismatches);
                        return Ok(None);
                    }
                    Read::Right(()) => match out {
                        Some(out) => self.transaction.finish(out)?,
                        None => return Ok(None),
                    },
                }
            }
        };
        self.add(promise, copy.path().to_owned());
        Ok(Some(copy))
    }

    fn add(&mut self, promise: &Promise<'_>, path: PathBuf) {
        let (size, digest) = promise.map;
        self.files.push(StagedFile { id: promise.external.id.clone(), path, size, digest });
    }
}

/// What a file's bytes are, and whether other users may not read them.
struct Hashed {
    digest: Digest,
    size: u64,
    private: bool,
}

fn hashed(system: &dyn System, path: &Path) -> io::Result<Hashed> {
    let file = system.open_real(path)?;
    let private = file.private;
    let HashedFile { digest, size, .. } = hash_open_file(file)?;
    Ok(Hashed { digest, size, private })
}

/// Hashes the staged file first: when it matches, the source need not be held in memory.
fn examine(system: &dyn System, promise: &Promise<'_>, target: Option<&PathBuf>) -> StagingCheck {
    let (size, digest) = promise.map;
    let staged = target.and_then(|path| {
        system.lstat(path).ok().filter(|stat| stat.kind == EntryKind::File && stat.size == size)?;
        hashed(system, path).ok().filter(|staged| staged.digest == digest && staged.size == size)
    });
    if let Some(staged) = staged {
        let (read, is_private) = match hashed(system, &promise.external.source) {
            Ok(source) => (promise.check(source.size, Some(source.digest)), source.private),
            Err(error) => (vec![promise.unreadable(&error)], false),
        };
        if !read.is_empty() {
            return StagingCheck::Wrong(read);
        }
        // A copy that more users may read than its source is made again.
        if staged.private || !is_private {
            return StagingCheck::Kept;
        }
    }
    if size > LARGE_BYTES {
        return StagingCheck::Large;
    }
    match read_small(system, promise) {
        Read::Right((bytes, private)) => {
            StagingCheck::Small(bytes, if private { Access::Private } else { Access::Shared })
        }
        Read::Wrong(mismatches) => StagingCheck::Wrong(mismatches),
    }
}
