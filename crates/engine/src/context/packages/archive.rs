//! Verifies crates of a registry: the archive that Cargo downloaded must have the SHA-256 in Cargo.lock, and the selected files
//! must equal those in the archive. The files that Cargo unpacked are not trusted.

use std::collections::BTreeMap;
use std::io::{self, Read};
use std::path::Path;

use miniz_oxide::inflate::stream::{InflateState, inflate};
use miniz_oxide::{DataFormat, MZFlush, MZStatus};
use sha2::{Digest as _, Sha256};
use stan_archive::{TarKind, read_tar};
use stan_model::Digest;
use stan_repo::{System, SystemExt as _, sha256};

use super::{MAX_BYTES, Proved, WantedFiles};

/// Registries only accept far smaller crates.
const MAX_ARCHIVE_BYTES: u64 = 128 << 20;

/// Verifies files of the crate that was unpacked to `folder`: `…/registry/src/<registry>/<name>-<version>`.
pub(super) fn prove(system: &dyn System, folder: &str, hashes: &[Digest], wanted: &WantedFiles<'_>) -> Proved {
    let Some((archive, top)) = archive_of(folder) else { return Err("its archive has no known place".to_owned()) };
    let mut bytes = Vec::new();
    if let Err(error) = system.read_real(Path::new(&archive), MAX_ARCHIVE_BYTES, &mut bytes) {
        return Err(format!(
            "the archive `{top}.crate`, which proves it, cannot be read in Cargo's registry ({error})"
        ));
    }
    if !hashes.contains(&sha256(&bytes)) {
        return Err(format!("the archive `{top}.crate` does not have the checksum that Cargo.lock names"));
    }
    digests(&bytes, top, wanted).map_err(|error| format!("the archive `{top}.crate` cannot be read ({error})"))
}

/// The archive of a crate's folder, and the folder's name.
fn archive_of(folder: &str) -> Option<(String, &str)> {
    let (registry, top) = folder.rsplit_once('/')?;
    let (source, registry) = registry.rsplit_once('/')?;
    let home = source.strip_suffix("/src")?;
    Some((format!("{home}/cache/{registry}/{top}.crate"), top))
}

/// The digests of wanted files in a compressed archive whose entries are below `top`.
fn digests(bytes: &[u8], top: &str, wanted: &WantedFiles<'_>) -> io::Result<BTreeMap<String, Digest>> {
    let mut found = BTreeMap::new();
    // Bounded, because the crate may be a decompression bomb: the checksum only proves that it is the published one.
    let mut reader = GzipReader::new(bytes)?.take(MAX_BYTES);
    let visited = read_tar(&mut reader, &mut |entry, contents| {
        let name = std::str::from_utf8(&entry.name).ok();
        let path = name.and_then(|name| name.strip_prefix(top)?.strip_prefix('/'));
        let Some(path) = path.filter(|path| entry.kind == TarKind::File && wanted.contains_key(path)) else {
            return Ok(());
        };
        let mut hasher = Sha256::new();
        let mut buffer = [0; 16 << 10];
        loop {
            match contents.read(&mut buffer)? {
                0 => break,
                count => hasher.update(buffer.get(..count).unwrap_or_default()),
            }
        }
        found.insert(path.to_owned(), Digest(hasher.finalize().into()));
        Ok(())
    });
    visited.map(|_| found).map_err(|error| io::Error::other(error.to_string()))
}

/// A streaming gzip reader. Does not check the CRC at the end: the caller has verified the SHA-256 of the whole archive.
struct GzipReader<'b> {
    input: &'b [u8],
    state: Box<InflateState>,
    has_ended: bool,
}

impl<'b> GzipReader<'b> {
    fn new(bytes: &'b [u8]) -> io::Result<Self> {
        let input = skip_header(bytes).ok_or_else(|| io::Error::other("it is not a gzip file"))?;
        Ok(Self { input, state: InflateState::new_boxed(DataFormat::Raw), has_ended: false })
    }
}

impl Read for GzipReader<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        if self.has_ended || buffer.is_empty() {
            return Ok(0);
        }
        loop {
            let result = inflate(&mut self.state, self.input, buffer, MZFlush::None);
            self.input = self.input.get(result.bytes_consumed..).unwrap_or_default();
            self.has_ended = matches!(result.status, Ok(MZStatus::StreamEnd));
            match result.status {
                Ok(_) if result.bytes_written > 0 || self.has_ended => return Ok(result.bytes_written),
                Ok(_) if result.bytes_consumed > 0 => {}
                _ => return Err(io::Error::other("its compressed data is broken")),
            }
        }
    }
}

/// Skips the header of a gzip file (RFC 1952).
fn skip_header(bytes: &[u8]) -> Option<&[u8]> {
    let [0x1f, 0x8b, 8, flags, _, _, _, _, _, _, rest @ ..] = bytes else { return None };
    let mut rest = rest;
    if flags & 4 != 0 {
        let [low, high, extra @ ..] = rest else { return None };
        rest = extra.get(usize::from(u16::from_le_bytes([*low, *high]))..)?;
    }
    // The optional name and comment are NUL-terminated.
    for flag in [8, 16] {
        if flags & flag != 0 {
            rest = rest.get(memchr::memchr(0, rest)? + 1..)?;
        }
    }
    if flags & 2 != 0 { rest.get(2..) } else { Some(rest) }
}
