//! Stages externals: each source is read once, verified against the map and the meta, copied below `<stanPath>/context`, and
//! verified again after reading the copy back. [`Staged`] is created here and nowhere else, so that unverified bytes cannot reach
//! an archive. Which externals are selected is decided elsewhere.

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

/// A selected external and the expected properties of its bytes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct External {
    /// Its canonical path, below `<stanPath>/context/{npm,abs}/`.
    pub id: String,
    /// The absolute path where it is installed.
    pub source: PathBuf,
    /// Size and SHA-256 from the private map; `None` if the map does not have it.
    pub map: Option<(u64, Digest)>,
    /// Size and the first half of the SHA-256 from the meta; `None` if the meta has no hash for it.
    pub meta: Option<(u64, [u8; 16])>,
}

/// Verified externals. They are in place once the transaction is committed.
#[derive(Debug)]
pub struct Staged {
    files: Vec<StagedFile>,
}

#[derive(Debug)]
struct StagedFile {
    id: String,
    /// The path of the verified bytes before the commit.
    path: PathBuf,
    size: u64,
    digest: Digest,
}

impl Staged {
    /// The externals as archive entries, sorted by id. Their bytes are verified once more while they are archived, which must
    /// happen before the commit.
    pub fn entries(&self) -> impl ExactSizeIterator<Item = ArchiveEntry> + '_ {
        self.files.iter().map(|file| ArchiveEntry::proved(file.id.clone(), file.path.clone(), file.size, file.digest))
    }

    pub fn len(&self) -> usize {
        self.files.len()
    }

    pub fn is_empty(&self) -> bool {
        self.files.is_empty()
    }

    /// The total number of bytes.
    pub fn size(&self) -> u64 {
        self.files.iter().map(|file| file.size).sum()
    }
}

/// The number of small files in memory at a time.
const BATCH: usize = 64;

/// Verifies and prepares the externals. After the commit, `npm/` and `abs/` contain exactly these.
///
/// The error [`Error::Mismatches`] lists every external that differs. After any error, dropping the transaction leaves the staged
/// files as they were.
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

/// Verifies externals where they are installed, for plans and snapshots, which stage nothing. The entries are verified once more
/// when they are read for an archive.
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

/// The result of the parallel part of the work for one external.
enum StagingCheck {
    /// Both the staged file and the source are already correct.
    Kept,
    /// The source is correct: its bytes, and the access rights for a copy.
    Small(Vec<u8>, Access),
    /// Too large for memory: verified while it is copied.
    Large,
    Wrong(Vec<Mismatch>),
}

/// The externals with a valid id and both promises; the others are already mismatches.
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

    /// Writes the files that must be written. After the first mismatch nothing more is written, and the rest is only examined.
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

/// The hash of a file, and whether other users may not read it.
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

/// Hashes the staged file first: if it matches, the source need not be held in memory.
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
        // A copy that more users may read than its source is replaced.
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
