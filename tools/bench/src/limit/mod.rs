//! The physical limits: the minimum work of a correct answer, with the libraries of the product.
//!
//! Each limit runs in a process of its own that `bench` starts like the product, so that both pay for process start. There is no
//! graph, no resolution and no ignore rule: everything beyond this work is overhead that the benchmark measures.

mod parse;
mod read;
mod walk;

use std::fs::File;
use std::io::Write as _;
use std::num::NonZeroUsize;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};

use serde_json::json;
use sha2::{Digest as _, Sha256};

use crate::Result;

#[derive(clap::Subcommand)]
pub(crate) enum Limit {
    /// Walk DIR, read and hash every file, and parse those that stan would analyse.
    Cold {
        dir: PathBuf,
        /// Write the paths of all files and folders to this file, for `warm`.
        #[arg(long)]
        list: Option<PathBuf>,
        /// For Go and Rust, only read tokens and, for Go, the top level.
        #[arg(long)]
        tokens_only: bool,
    },
    /// `lstat` every path of LIST, relative to DIR.
    Warm { dir: PathBuf, list: PathBuf },
    /// Write BYTES bytes to standard output.
    Write { bytes: u64 },
    /// Print the number of nodes in the graph in FILE. Not a limit, but `bench` must stay too small to read it itself.
    Nodes { file: PathBuf },
}

pub(crate) fn run(limit: &Limit) -> Result<()> {
    match limit {
        Limit::Cold { dir, list, tokens_only } => cold(dir, list.as_deref(), *tokens_only),
        Limit::Warm { dir, list } => warm(dir, list),
        Limit::Write { bytes } => write(*bytes),
        Limit::Nodes { file } => nodes(file),
    }
}

/// The machine's number of threads, at least two, as in the product.
fn threads() -> usize {
    std::thread::available_parallelism().map_or(2, NonZeroUsize::get).max(2)
}

#[derive(Default, Clone, Copy)]
struct Totals {
    files: u64,
    bytes: u64,
    parsed: u64,
    parsed_bytes: u64,
    python: u64,
    unreadable: u64,
    statements: u64,
    digest: u8,
}

impl Totals {
    fn add(self, other: Totals) -> Totals {
        Totals {
            files: self.files + other.files,
            bytes: self.bytes + other.bytes,
            parsed: self.parsed + other.parsed,
            parsed_bytes: self.parsed_bytes + other.parsed_bytes,
            python: self.python + other.python,
            unreadable: self.unreadable + other.unreadable,
            statements: self.statements + other.statements,
            digest: self.digest ^ other.digest,
        }
    }
}

fn cold(dir: &Path, list: Option<&Path>, tokens_only: bool) -> Result<()> {
    std::env::set_current_dir(dir)?;
    let found = walk::walk(threads())?;
    let totals = on_threads(&found.files, || {
        let mut parser = parse::Parser::new(tokens_only);
        let mut reader = read::FileReader::default();
        move |path: &PathBuf, totals: &mut Totals| process(path, &mut reader, &mut parser, totals)
    });
    if let Some(list) = list {
        let mut text = Vec::new();
        for path in found.files.iter().chain(&found.folders) {
            text.extend_from_slice(path.as_os_str().as_encoded_bytes());
            text.push(0);
        }
        std::fs::write(list, text)?;
    }
    let report = json!({
        "files": totals.files,
        "folders": found.folders.len(),
        "bytes": totals.bytes,
        "parsed": totals.parsed,
        "parsedBytes": totals.parsed_bytes,
        "python": totals.python,
        "unreadable": totals.unreadable,
        // Printed so that the compiler cannot optimise the work away.
        "statements": totals.statements,
        "digest": totals.digest,
    });
    println!("{report}");
    Ok(())
}

fn process(path: &Path, reader: &mut read::FileReader, parser: &mut parse::Parser, totals: &mut Totals) {
    let Ok(bytes) = reader.read(path) else {
        totals.unreadable += 1;
        return;
    };
    totals.files += 1;
    totals.bytes += bytes.len() as u64;
    totals.digest ^= Sha256::digest(bytes).first().copied().unwrap_or_default();
    if parse::is_analysed(path) {
        totals.parsed += 1;
        totals.parsed_bytes += bytes.len() as u64;
        totals.python += u64::from(parse::is_python(path));
        totals.statements += parser.parse(path, bytes);
    }
}

fn warm(dir: &Path, list: &Path) -> Result<()> {
    let text = std::fs::read(list)?;
    std::env::set_current_dir(dir)?;
    let paths: Vec<&[u8]> = text.split(|byte| *byte == 0).filter(|path| !path.is_empty()).collect();
    let totals = on_threads(&paths, || {
        |path: &&[u8], totals: &mut Totals| {
            let metadata = std::str::from_utf8(path).ok().and_then(|path| std::fs::symlink_metadata(path).ok());
            match metadata {
                Some(metadata) => {
                    totals.files += 1;
                    totals.bytes += metadata.len();
                }
                None => totals.unreadable += 1,
            }
        }
    });
    println!("{}", json!({ "stats": totals.files, "bytes": totals.bytes, "unreadable": totals.unreadable }));
    Ok(())
}

fn write(bytes: u64) -> Result<()> {
    let block = vec![b' '; 1 << 16];
    let mut out = stdout_file()?;
    let mut left = bytes;
    while left > 0 {
        let part = usize::try_from(left).unwrap_or(usize::MAX).min(block.len());
        out.write_all(&block[..part])?;
        left -= part as u64;
    }
    Ok(())
}

fn nodes(file: &Path) -> Result<()> {
    let result: serde_json::Value = serde_json::from_slice(&std::fs::read(file)?)?;
    let nodes = result.pointer("/graph/nodes").and_then(|nodes| nodes.as_object()).ok_or("no graph in the output")?;
    println!("{}", nodes.len());
    Ok(())
}

/// The standard output without the line buffer of `std`, which would add a copy.
fn stdout_file() -> Result<File> {
    use std::os::fd::AsFd as _;
    Ok(File::from(std::io::stdout().as_fd().try_clone_to_owned()?))
}

/// Runs a worker per thread over `items`, handed out in small portions so that one heavy file delays no thread.
fn on_threads<T: Sync, W: FnMut(&T, &mut Totals)>(items: &[T], new_worker: impl Fn() -> W + Sync) -> Totals {
    const PORTION: usize = 16;
    let next = AtomicUsize::new(0);
    let run_worker = || {
        let mut worker = new_worker();
        let mut totals = Totals::default();
        loop {
            let start = next.fetch_add(PORTION, Ordering::Relaxed);
            let Some(rest) = items.get(start..) else { return totals };
            if rest.is_empty() {
                return totals;
            }
            for item in rest.iter().take(PORTION) {
                worker(item, &mut totals);
            }
        }
    };
    std::thread::scope(|scope| {
        let handles: Vec<_> = (0..threads())
            .filter_map(|_| std::thread::Builder::new().stack_size(64 << 20).spawn_scoped(scope, run_worker).ok())
            .collect();
        handles.into_iter().filter_map(|handle| handle.join().ok()).fold(Totals::default(), Totals::add)
    })
}

#[cfg(test)]
mod tests {
    use super::on_threads;

    #[test]
    fn every_item_is_seen_once() {
        for count in [0, 1, 15, 16, 17, 1000] {
            let items: Vec<u64> = (0..count).collect();
            let totals = on_threads(&items, || {
                |item: &u64, totals: &mut super::Totals| {
                    totals.files += 1;
                    totals.bytes += item;
                }
            });
            assert_eq!((totals.files, totals.bytes), (count, (0..count).sum()), "{count}");
        }
    }
}
