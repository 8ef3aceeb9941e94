//! A file that is too large for memory: read, scanned, hashed and written in pieces.

use std::io::{self, Read, SeekFrom};

use sha2::{Digest as _, Sha256};
use stan_model::Digest;
use stan_repo::OpenFile;

use super::WriteJob;
use super::group::{GroupItem, check_unchanged, is_executable};
use crate::classify::{TextScan, is_binary};
use crate::entry::{ArchiveEntry, Guard, Secrets};
use crate::error::Error;
use crate::tar::{BLOCK, EntryHeader, append_header, padding};
use crate::transaction::OutputStream;

/// Two pieces: one is hashed and written while the next is read.
const PIECE: usize = 1 << 20;

#[derive(Default)]
pub(super) struct Buffers {
    current: Vec<u8>,
    next: Vec<u8>,
}

/// Writes the whole entry, unless it is binary or contains a secret. The range in the result starts at 0.
pub(super) fn write(
    job: &WriteJob<'_>,
    index: usize,
    entry: &ArchiveEntry,
    mut file: OpenFile,
    buffers: &mut Buffers,
    out: &mut OutputStream,
) -> Result<GroupItem, Error> {
    let unreadable = |reason| Error::Unreadable { name: entry.name.clone(), reason };
    let (size, executable, private) = (file.stat.size, is_executable(entry, &file), file.private);
    let mut left = size;
    read_piece(&mut file.reader, &mut buffers.current, &mut left).map_err(unreadable)?;
    let is_text = !is_binary(&buffers.current);
    let secrets = if is_text { secrets_in(entry, &mut file, &mut left, buffers).map_err(unreadable)? } else { None };
    let is_archived = is_text && secrets.is_none();
    let mut item = GroupItem { index, size, executable, private, range: 0..0, shape: None, secrets, digest: None };
    if !is_archived && !entry.is_proved() {
        return Ok(item);
    }
    let mut header = Vec::new();
    if is_archived {
        append_header(&mut header, &EntryHeader { name: &entry.name, size, executable, modified: job.modified })?;
        out.put(&header)?;
    }
    let (mut hasher, mut text) = (Sha256::new(), TextScan::default());
    let mut total = 0;
    while !buffers.current.is_empty() {
        total += buffers.current.len() as u64;
        let (current, next) = (&buffers.current, &mut buffers.next);
        let (written, ()) = rayon::join(
            || {
                if is_archived {
                    out.put(current)?;
                }
                read_piece(&mut file.reader, next, &mut left).map_err(unreadable)
            },
            || {
                hasher.update(current);
                text.update(current);
            },
        );
        written?;
        std::mem::swap(&mut buffers.current, &mut buffers.next);
    }
    check_unchanged(entry, &file, total)?;
    item.digest = Some(Digest(hasher.finalize().into()));
    if is_archived {
        let fill = [0; BLOCK];
        out.put(fill.get(..padding(size)).unwrap_or_default())?;
        item.range = 0..header.len() as u64 + size + padding(size) as u64;
        item.shape = Some(text.finish());
    }
    Ok(item)
}

/// The reason to leave a text out, if any. Nothing of a text may be written before all of it is scanned, and this one does not
/// fit into memory. So the open file is read twice, the first time only to scan it.
fn secrets_in(
    entry: &ArchiveEntry,
    file: &mut OpenFile,
    left: &mut u64,
    buffers: &mut Buffers,
) -> io::Result<Option<Secrets>> {
    match entry.guard {
        Guard::Open => return Ok(None),
        Guard::Credential(rule) => return Ok(Some(Secrets::Credential(rule))),
        Guard::Scanned => {}
    }
    let mut stream = stan_secrets::Stream::default();
    while !buffers.current.is_empty() {
        stream.update(&buffers.current);
        read_piece(&mut file.reader, &mut buffers.current, left)?;
    }
    *left = file.stat.size;
    file.reader.seek(SeekFrom::Start(0))?;
    read_piece(&mut file.reader, &mut buffers.current, left)?;
    Ok(Secrets::of_hits(stan_secrets::keep_for(&entry.name, stream.finish())))
}

/// The next piece; empty at the end. The size in the file's stat is the end, even if the file has grown.
fn read_piece(reader: &mut dyn Read, piece: &mut Vec<u8>, left: &mut u64) -> io::Result<()> {
    let wanted = usize::try_from(*left).unwrap_or(PIECE).min(PIECE);
    piece.resize(wanted, 0);
    let mut filled = 0;
    while let Some(rest) = piece.get_mut(filled..).filter(|rest| !rest.is_empty()) {
        match reader.read(rest) {
            Ok(0) => break,
            Ok(count) => filled += count,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
    piece.truncate(filled);
    *left -= filled as u64;
    Ok(())
}
