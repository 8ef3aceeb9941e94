//! One file: read it once, hash those bytes, and take the facts out of them.

use std::cell::RefCell;
use std::path::Path;

use stan_graph::{FileKey, FileMeta};
use stan_lang::FileFacts;
use stan_lang::typescript::extract::{ExtractOptions, Extractor, is_analysed};
use stan_model::{EdgeKind, Problem};
use stan_repo::{Stat, System};

/// A file of more bytes than this is hashed but not analysed.
const MAX_ANALYSED_BYTES: u64 = 256 << 20;

/// A buffer that grew beyond this is given back after the file that needed it.
const KEPT_BUFFER: usize = 4 << 20;

/// What is known of one file after reading it, and, later, after resolving its requests.
#[derive(Clone, Debug, Default)]
pub(crate) struct Analysed {
    /// Taken from the open file before it was read; `None` when it could not be opened.
    pub(crate) stat: Option<Stat>,
    pub(crate) meta: Option<FileMeta>,
    /// `None` for files that are not analysed.
    pub(crate) facts: Option<Box<FileFacts>>,
    /// What is wrong with the file itself.
    pub(crate) problems: Vec<Problem>,
    /// What is wrong with where its requests lead; filled by resolution.
    pub(crate) request_problems: Vec<Problem>,
    /// The file could not be read or not parsed cleanly.
    pub(crate) incomplete: bool,
    /// Explicit edges, by key; filled by resolution.
    pub(crate) edges: Vec<(u32, EdgeKind)>,
    /// For each request the file that it leads to.
    pub(crate) targets: Vec<Option<FileKey>>,
}

/// What each thread keeps between files: a parser's arena and a buffer for bytes.
#[derive(Default)]
struct Scratch {
    extractor: Option<Extractor>,
    buffer: Vec<u8>,
}

thread_local! {
    static SCRATCH: RefCell<Scratch> = RefCell::default();
}

/// Reads, hashes and (when `with_facts`) analyses the file at `path`; `display` names it in problems.
pub(crate) fn analyse(
    system: &dyn System,
    path: &str,
    display: &str,
    with_facts: bool,
    options: &ExtractOptions,
) -> Analysed {
    SCRATCH.with_borrow_mut(|scratch| {
        let outcome = analyse_with(system, path, display, with_facts, options, scratch);
        if scratch.buffer.capacity() > KEPT_BUFFER {
            scratch.buffer = Vec::new();
        }
        outcome
    })
}

fn analyse_with(
    system: &dyn System,
    path: &str,
    display: &str,
    with_facts: bool,
    options: &ExtractOptions,
    scratch: &mut Scratch,
) -> Analysed {
    let unreadable = |error: &std::io::Error| Analysed {
        problems: vec![Problem::new(display, format!("cannot be read ({}); it has no edges", reason(error)))],
        incomplete: true,
        ..Analysed::default()
    };
    if !(with_facts && is_analysed(display)) {
        return match stan_repo::hash_file(system, Path::new(path)) {
            Ok((stat, digest, size)) => {
                Analysed { stat: Some(stat), meta: Some(FileMeta { digest, size }), ..Analysed::default() }
            }
            Err(error) => unreadable(&error),
        };
    }
    scratch.buffer.clear();
    let stat = match system.read_at_most(Path::new(path), MAX_ANALYSED_BYTES, &mut scratch.buffer) {
        Ok(stat) => stat,
        Err(error) if error.kind() == std::io::ErrorKind::FileTooLarge => {
            let mut analysed = analyse_with(system, path, display, false, options, scratch);
            let message = format!("is larger than {} MiB; it was not analysed", MAX_ANALYSED_BYTES >> 20);
            analysed.problems.push(Problem::new(display, message));
            analysed.incomplete = true;
            return analysed;
        }
        Err(error) => return unreadable(&error),
    };
    let meta = FileMeta { digest: stan_repo::sha256(&scratch.buffer), size: scratch.buffer.len() as u64 };
    let extractor = scratch.extractor.get_or_insert_with(Extractor::new);
    let extraction = extractor.extract(display, &scratch.buffer, options);
    Analysed {
        stat: Some(stat),
        meta: Some(meta),
        facts: Some(Box::new(extraction.facts)),
        problems: extraction.problems,
        incomplete: extraction.incomplete,
        ..Analysed::default()
    }
}

/// Words of our own, because the system's differ between platforms.
fn reason(error: &std::io::Error) -> &'static str {
    match error.kind() {
        std::io::ErrorKind::NotFound => "it has vanished",
        std::io::ErrorKind::PermissionDenied => "permission denied",
        _ => "reading failed",
    }
}
