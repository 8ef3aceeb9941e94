//! Writes an archive in one pass: every file is opened once, and the hashed bytes are the written bytes.
//!
//! Small files are read, hashed and framed in parallel, in groups, while earlier groups are written; the result does not depend
//! on the number of threads. Large files are written in pieces. Memory is bounded by the number of groups, not by the selection.
//! A text is scanned for secrets before its first byte is written, and left out if it contains one.

mod group;
mod large;
mod memory;

use rayon::prelude::*;
use stan_model::Digest;
use stan_repo::System;

use crate::classify::{LARGE_BYTES, LARGE_LINES, TextShape};
use crate::entry::{ArchiveEntry, ArchivedFile, ExcludedBinary, Guard, HeldBack, LargeText, Source, Written};
use crate::error::Error;
use crate::tar::append_end;
use crate::transaction::OutputStream;
use group::{FileGroup, GroupItem};
use large::Buffers;

/// The number of consecutive files that one thread reads and frames.
const FILES_PER_GROUP: usize = 64;

/// The maximum number of groups in memory. More do not make it faster, on any number of threads.
const MAX_GROUPS: usize = 32;

/// Writes an archive of `entries`, sorted by name, with `modified` (seconds since the epoch) as the time of every entry.
///
/// The error is that of the first entry, by name, that cannot be read or changes while it is read.
pub fn write_archive(
    system: &dyn System,
    entries: Vec<ArchiveEntry>,
    modified: u64,
    out: &mut OutputStream,
) -> Result<Written, Error> {
    write_archive_knowing(system, entries, modified, out, &|_| false)
}

/// Whether contents with this digest are known to contain no secret.
pub type KnownClean<'k> = dyn Fn(&Digest) -> bool + Sync + 'k;

/// As [`write_archive`], without scanning contents that are known to contain no secret.
pub fn write_archive_knowing(
    system: &dyn System,
    mut entries: Vec<ArchiveEntry>,
    modified: u64,
    out: &mut OutputStream,
    is_clean: &KnownClean<'_>,
) -> Result<Written, Error> {
    entries.sort_by(|left, right| left.name.cmp(&right.name));
    let repeated = entries.windows(2).find(|pair| matches!(pair, [left, right] if left.name == right.name));
    if let Some([first, ..]) = repeated {
        return Err(Error::DuplicateName { name: first.name.clone() });
    }
    let job = WriteJob { system, entries: &entries, modified, is_clean };
    let mut writer = ArchiveWriter { out, written: Written::default(), buffers: Buffers::default() };
    writer.written.files.reserve(entries.len());
    let width = (rayon::current_num_threads() * 4).clamp(1, MAX_GROUPS);
    let mut starts = (0..entries.len()).step_by(FILES_PER_GROUP);
    let (mut reading, mut writing) = (Vec::new(), Vec::new());
    loop {
        next_groups(&mut reading, &mut starts, width, entries.len());
        let (written, ()) = rayon::join(
            || writing.iter_mut().try_for_each(|group| writer.write_group(&job, group)),
            || reading.par_iter_mut().for_each(|group: &mut FileGroup| group.fill(&job)),
        );
        written?;
        if reading.is_empty() {
            return writer.finish();
        }
        std::mem::swap(&mut reading, &mut writing);
    }
}

/// State that all threads share, read-only.
struct WriteJob<'a> {
    system: &'a dyn System,
    entries: &'a [ArchiveEntry],
    modified: u64,
    is_clean: &'a KnownClean<'a>,
}

/// Assigns the next files to the groups, which reuse their memory.
fn next_groups(groups: &mut Vec<FileGroup>, starts: &mut impl Iterator<Item = usize>, width: usize, total: usize) {
    let mut used = 0;
    for start in starts.by_ref().take(width) {
        if used == groups.len() {
            groups.push(FileGroup::default());
        }
        if let Some(group) = groups.get_mut(used) {
            group.restart(start..(start + FILES_PER_GROUP).min(total));
        }
        used += 1;
    }
    groups.truncate(used);
}

struct ArchiveWriter<'a> {
    out: &'a mut OutputStream,
    written: Written,
    buffers: Buffers,
}

impl ArchiveWriter<'_> {
    /// Writes the buffer of a group, then resumes the group until it has no more files.
    fn write_group(&mut self, job: &WriteJob<'_>, group: &mut FileGroup) -> Result<(), Error> {
        loop {
            self.out.put(group.bytes())?;
            let start = self.written.size;
            self.written.size += group.bytes().len() as u64;
            for item in group.take_items() {
                self.record(job, item, start)?;
            }
            if let Some((index, file)) = group.take_large() {
                let (entry, start) = (job.entry(index)?, self.written.size);
                let item = large::write(job, index, entry, file, &mut self.buffers, self.out)?;
                self.written.size += item.length();
                self.record(job, item, start)?;
            }
            if let Some(error) = group.take_error() {
                return Err(error);
            }
            if group.is_done() {
                return Ok(());
            }
            group.fill(job);
        }
    }

    /// Records the index entry of a file. `start` is the offset that the item's range is relative to.
    fn record(&mut self, job: &WriteJob<'_>, item: GroupItem, start: u64) -> Result<(), Error> {
        let entry = job.entry(item.index)?;
        let name = entry.name.clone();
        if let Some(digest) = item.digest {
            check_proof(entry, item.size, digest)?;
        }
        if let Some(secrets) = item.secrets {
            self.written.held_back.push(HeldBack { name, size: item.size, secrets });
            return Ok(());
        }
        let (Some(TextShape { lines, is_utf8 }), Some(digest)) = (item.shape, item.digest) else {
            self.written.binaries.push(ExcludedBinary { name, size: item.size });
            return Ok(());
        };
        if item.private {
            self.out.keep_private();
            self.written.private = true;
        }
        if item.size > LARGE_BYTES || lines > LARGE_LINES {
            self.written.large.push(LargeText { name: name.clone(), size: item.size, lines });
        }
        if !is_utf8 {
            self.written.not_utf8.push(name.clone());
        }
        self.written.files.push(ArchivedFile {
            is_clean: entry.guard == Guard::Scanned && !stan_secrets::is_example(&name),
            name,
            size: item.size,
            digest,
            executable: item.executable,
            range: start + item.range.start..start + item.range.end,
        });
        Ok(())
    }

    fn finish(mut self) -> Result<Written, Error> {
        let mut end = Vec::new();
        append_end(&mut end, self.written.size);
        self.out.put(&end)?;
        self.written.size += end.len() as u64;
        Ok(self.written)
    }
}

impl<'a> WriteJob<'a> {
    fn entry(&self, index: usize) -> Result<&'a ArchiveEntry, Error> {
        // Groups are ranges of these entries, so this cannot happen; report an error rather than panic.
        let missing = || Error::DuplicateName { name: format!("entry {index}") };
        self.entries.get(index).ok_or_else(missing)
    }
}

/// Checks that the archived bytes are the verified ones.
fn check_proof(entry: &ArchiveEntry, size: u64, digest: Digest) -> Result<(), Error> {
    match &entry.source {
        Source::Proved { size: expected_size, digest: expected, .. }
            if size != *expected_size || digest != *expected =>
        {
            Err(Error::ChangedAfterProof {
                name: entry.name.clone(),
                expected: format!("{expected_size} bytes with SHA-256 {expected}"),
                actual: format!("{size} bytes with SHA-256 {digest}"),
            })
        }
        _ => Ok(()),
    }
}

#[cfg(test)]
mod tests;
