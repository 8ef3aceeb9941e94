//! A file that is too large to be held: read, hashed and written in pieces, so that its size costs no memory.

use std::io::{self, Read};

use sha2::{Digest as _, Sha256};
use stan_model::Digest;
use stan_repo::OpenFile;

use super::Context;
use super::group::{Item, check_unchanged, is_executable};
use crate::classify::{TextScan, is_binary};
use crate::entry::ArchiveEntry;
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

/// Writes the whole entry, unless it is a binary. The range of the result starts at 0.
pub(super) fn write(
    context: &Context<'_>,
    (index, entry): (usize, &ArchiveEntry),
    mut file: OpenFile,
    buffers: &mut Buffers,
    out: &mut OutputStream,
) -> Result<Item, Error> {
    let unreadable = |reason| Error::Unreadable { name: entry.name.clone(), reason };
    let (size, executable, private) = (file.stat.size, is_executable(entry, &file), file.private);
    let mut left = size;
    read_piece(&mut file.reader, &mut buffers.current, &mut left).map_err(unreadable)?;
    let is_text = !is_binary(&buffers.current);
    if !is_text && !entry.is_proved() {
        return Ok(Item { index, size, executable, private, range: 0..0, shape: None, digest: None });
    }
    let mut header = Vec::new();
    if is_text {
        append_header(&mut header, &EntryHeader { name: &entry.name, size, executable, modified: context.modified })?;
        out.put(&header)?;
    }
    let (mut hasher, mut text) = (Sha256::new(), TextScan::default());
    let mut total = 0;
    while !buffers.current.is_empty() {
        total += buffers.current.len() as u64;
        let (current, next) = (&buffers.current, &mut buffers.next);
        let (written, ()) = rayon::join(
            || {
                if is_text {
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
    let digest = Some(Digest(hasher.finalize().into()));
    if !is_text {
        return Ok(Item { index, size, executable, private, range: 0..0, shape: None, digest });
    }
    let fill = [0; BLOCK];
    out.put(fill.get(..padding(size)).unwrap_or_default())?;
    let length = header.len() as u64 + size + padding(size) as u64;
    Ok(Item { index, size, executable, private, range: 0..length, shape: Some(text.finish()), digest })
}

/// The next piece; empty at the end, which is where the file's stat says, even if the file goes on.
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
