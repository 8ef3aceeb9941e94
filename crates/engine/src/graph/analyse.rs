//! Analyses one file: reads it once, hashes those bytes, and extracts the facts from them.

use std::cell::RefCell;
use std::ops::Range;
use std::path::Path;

use stan_graph::FileMeta;
use stan_lang::documents;
use stan_lang::language::{Extraction, Extractors, SourceFile};
use stan_model::{FileFacts, Problem};
use stan_repo::{DirectoryHandleCache, HashedFile, Stat, System, SystemExt as _, read_failure};

use super::GraphOptions;
use super::compile::ContentObserver;
use super::stages::resolve::ResolvedFile;
use crate::cache::encode::EntryFingerprint;
use crate::shared::{Bundles, Member};

/// Larger files are hashed but not analysed.
const MAX_ANALYSED_BYTES: u64 = 256 << 20;

/// Larger files are not read among their neighbours, which would have to wait for them.
const LARGE: u64 = 128 << 10;

/// A batch ends with the file that makes it larger than this, which leaves room for syntax trees and facts in the processor's
/// cache.
const BATCH: usize = 64 << 10;

/// A group of files that share a bundle ends with the file that makes it larger than this.
const MAX_GROUP_BYTES: usize = 4 << 20;

/// Larger buffers are freed after the file that needed them.
const MAX_KEPT_BUFFER_BYTES: usize = 4 << 20;

/// The analysis of one file: its facts once it is read, and, later, its resolved requests.
#[derive(Clone, Debug, Default)]
pub(crate) struct Analysed {
    /// Taken from the open file before it was read; `None` when it could not be opened.
    pub(crate) stat: Option<Stat>,
    pub(crate) meta: Option<FileMeta>,
    /// `None` for files that are not analysed.
    pub(crate) facts: Option<Box<FileFacts>>,
    /// The description of a document. It is not source code and has no facts.
    pub(crate) heading: Option<Box<str>>,
    /// Problems of the file itself.
    pub(crate) problems: Vec<Problem>,
    /// Problems of resolving its requests; filled by resolution.
    pub(crate) request_problems: Vec<Problem>,
    /// Whether the file could not be read or parsed cleanly.
    pub(crate) incomplete: bool,
    /// Filled by resolution.
    pub(crate) resolved: ResolvedFile,
    /// The fingerprint of the file's cache entry, once that is encoded.
    pub(crate) entry: Option<EntryFingerprint>,
}

impl Analysed {
    /// One line about the file.
    pub(crate) fn description(&self) -> Option<&str> {
        let heading = self.heading.as_deref();
        self.facts.as_ref().map_or(heading, |facts| facts.description.as_deref())
    }
}

/// Reused memory of a thread: its extractors, and a buffer for bytes.
#[derive(Default)]
struct Scratch {
    extractors: Extractors,
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
    options: &GraphOptions,
) -> Analysed {
    if !(with_facts && options.languages.claim(display)) {
        return hashed(system, path, display, options);
    }
    with_scratch(|Scratch { extractors, buffer }| {
        buffer.clear();
        let read = system.read_real(Path::new(path), MAX_ANALYSED_BYTES, buffer);
        let Ok(stat) = read else { return failed(system, path, display, options, read) };
        extracted(extractors, SourceFile { name: display, bytes: buffer }, Some(stat), meta_of(buffer), options)
    })
}

/// As [`analyse`] with facts; `observer` gets the bytes of a file that is analysed.
pub(crate) fn analyse_observed(
    system: &dyn System,
    path: &str,
    display: &str,
    options: &GraphOptions,
    observer: Option<&ContentObserver<'_>>,
) -> Analysed {
    let analysed = analyse(system, path, display, true, options);
    if let (Some(observer), Some(meta)) = (observer.filter(|_| options.languages.claim(display)), &analysed.meta) {
        SCRATCH.with_borrow(|scratch| {
            // If the buffer grew too large, it has been freed.
            if scratch.buffer.len() as u64 == meta.size {
                observer(display, &scratch.buffer, meta);
            }
        });
    }
    analysed
}

/// As [`analyse`] with facts, which are requested in a bundle of their own.
pub(crate) fn analyse_shared(
    system: &dyn System,
    path: &str,
    display: &str,
    options: &GraphOptions,
    bundles: &Bundles,
) -> Analysed {
    if !options.languages.claim(display) {
        return hashed(system, path, display, options);
    }
    with_scratch(|Scratch { extractors, buffer }| {
        buffer.clear();
        let read = system.read_real(Path::new(path), MAX_ANALYSED_BYTES, buffer);
        let Ok(stat) = read else { return failed(system, path, display, options, read) };
        let meta = meta_of(buffer);
        let member = Member { path: display, bytes: buffer, meta };
        let extraction = bundles.extractions(&[member], &mut |member| extract(extractors, member, options)).pop();
        of_extraction(display, Some(stat), meta, extraction)
    })
}

/// Extracts the facts of a file with the extractor of its language.
fn extract(extractors: &mut Extractors, member: &Member<'_>, options: &GraphOptions) -> Extraction {
    let file = SourceFile { name: member.path, bytes: member.bytes };
    extractors.extract(options.languages, file, &options.extract).unwrap_or_default()
}

/// Analyses files of the repository in batches: first all files of a batch are read and hashed, then all are parsed. Alternating
/// between the system and the parser for each file would evict both from the processor's caches. The files are mostly in one
/// directory, which is kept open. Stats are skipped unless they are requested.
pub(crate) struct BatchAnalyser<'a> {
    system: &'a dyn System,
    options: &'a GraphOptions,
    wants_stats: bool,
    observer: Option<&'a ContentObserver<'a>>,
    neighbours: DirectoryHandleCache<'a>,
    batch: Vec<Read<'a>>,
}

/// The result of reading one file of a batch.
enum Read<'a> {
    /// Source code that is still to be parsed, and its range in the buffer.
    Source {
        path: &'a str,
        bytes: Range<usize>,
        stat: Option<Stat>,
        meta: FileMeta,
    },
    /// A complete analysis. Boxed, because most files are source code.
    Done(Box<Analysed>),
    Large,
}

impl<'a> BatchAnalyser<'a> {
    pub(crate) fn new(
        system: &'a dyn System,
        options: &'a GraphOptions,
        wants_stats: bool,
        observer: Option<&'a ContentObserver<'a>>,
    ) -> Self {
        let neighbours = DirectoryHandleCache::to_read(system);
        Self { system, options, wants_stats, observer, neighbours, batch: Vec::new() }
    }

    /// Analyses as many of these files, given by root-relative paths, as make a batch; returns their analyses in order. `None`
    /// for a large file: the caller should call [`analyse`] for it, while this one continues with its neighbours. `root` ends
    /// with a slash; `previous` returns the earlier analysis of an unchanged file, by absolute path.
    pub(crate) fn analyse(
        &mut self,
        root: &str,
        paths: &'a [Box<str>],
        previous: impl Fn(&str) -> Option<Analysed>,
        mut take: impl FnMut(Option<Analysed>),
    ) {
        with_scratch(|Scratch { extractors, buffer }| {
            buffer.clear();
            let mut absolute = root.to_owned();
            for path in paths {
                absolute.truncate(root.len());
                absolute.push_str(path);
                let read = match previous(&absolute) {
                    Some(file) => Read::Done(Box::new(file)),
                    None => self.read(path, &absolute, buffer),
                };
                self.batch.push(read);
                if buffer.len() >= BATCH {
                    break;
                }
            }
            for read in self.batch.drain(..) {
                take(match read {
                    Read::Source { path, bytes, stat, meta } => {
                        let file = SourceFile { name: path, bytes: buffer.get(bytes).unwrap_or_default() };
                        Some(extracted(extractors, file, stat, meta, self.options))
                    }
                    Read::Done(file) => Some(*file),
                    Read::Large => None,
                });
            }
        });
    }

    /// As [`Self::analyse`], for files that share a bundle of facts: all of them, unless they are too large for memory together.
    pub(crate) fn analyse_group(
        &mut self,
        root: &str,
        paths: &'a [Box<str>],
        bundles: &Bundles,
        mut take: impl FnMut(Option<Analysed>),
    ) {
        with_scratch(|Scratch { extractors, buffer }| {
            buffer.clear();
            let mut absolute = root.to_owned();
            for path in paths {
                absolute.truncate(root.len());
                absolute.push_str(path);
                let read = self.read(path, &absolute, buffer);
                self.batch.push(read);
                // Depends on the files alone, so that other machines stop at the same file.
                if buffer.len() >= MAX_GROUP_BYTES {
                    break;
                }
            }
            let members: Vec<Member<'_>> = self
                .batch
                .iter()
                .filter_map(|read| match read {
                    Read::Source { path, bytes, meta, .. } => {
                        Some(Member { path, bytes: buffer.get(bytes.clone()).unwrap_or_default(), meta: *meta })
                    }
                    Read::Done(_) | Read::Large => None,
                })
                .collect();
            let options = self.options;
            let mut facts =
                bundles.extractions(&members, &mut |member| extract(extractors, member, options)).into_iter();
            for read in self.batch.drain(..) {
                take(match read {
                    Read::Source { path, stat, meta, .. } => Some(of_extraction(path, stat, meta, facts.next())),
                    Read::Done(file) => Some(*file),
                    Read::Large => None,
                });
            }
        });
    }

    /// Appends the bytes of a file to the buffer.
    fn read(&mut self, relative: &'a str, absolute: &str, buffer: &mut Vec<u8>) -> Read<'a> {
        let (directory, name) = relative.rsplit_once('/').unwrap_or(("", relative));
        let whole = absolute.len().checked_sub(name.len() + 1).and_then(|end| absolute.get(..end)).unwrap_or_default();
        let start = buffer.len();
        let read = match self.neighbours.handle_for(directory, whole) {
            Some(files) => files.read(name, LARGE, self.wants_stats, buffer),
            None => self.system.read_real(Path::new(absolute), LARGE, buffer).map(Some),
        };
        match read {
            Ok(stat) => {
                let bytes = start..buffer.len();
                let contents = buffer.get(bytes.clone()).unwrap_or_default();
                let meta = meta_of(contents);
                if let Some(observer) = self.observer {
                    observer(relative, contents, &meta);
                }
                if self.options.languages.claim(name) {
                    return Read::Source { path: relative, bytes, stat, meta };
                }
                let file = SourceFile { name: relative, bytes: contents };
                let heading = documents::describe(file, &self.options.extract);
                // These bytes are not needed again.
                buffer.truncate(start);
                Read::Done(Box::new(Analysed { stat, meta: Some(meta), heading, ..Analysed::default() }))
            }
            Err(error) if error.kind() == std::io::ErrorKind::FileTooLarge => Read::Large,
            Err(error) => Read::Done(Box::new(unreadable(relative, &error))),
        }
    }
}

fn with_scratch<T>(work: impl FnOnce(&mut Scratch) -> T) -> T {
    // Take the scratch out of the thread-local: rayon may run another task on this thread while this one waits, and that
    // task must not find the RefCell borrowed.
    let mut scratch = SCRATCH.take();
    let outcome = work(&mut scratch);
    if scratch.buffer.capacity() > MAX_KEPT_BUFFER_BYTES {
        scratch.buffer = Vec::new();
    }
    SCRATCH.set(scratch);
    outcome
}

fn extracted(
    extractors: &mut Extractors,
    file: SourceFile<'_>,
    stat: Option<Stat>,
    meta: FileMeta,
    options: &GraphOptions,
) -> Analysed {
    of_extraction(file.name, stat, meta, extractors.extract(options.languages, file, &options.extract))
}

fn of_extraction(name: &str, stat: Option<Stat>, meta: FileMeta, extraction: Option<Extraction>) -> Analysed {
    let mut analysed = Analysed { stat, meta: Some(meta), ..Analysed::default() };
    if let Some(extraction) = extraction {
        analysed.facts = Some(Box::new(extraction.facts));
        analysed.problems = extraction.problems.into_iter().map(|problem| problem.in_file(name)).collect();
        analysed.incomplete = extraction.incomplete;
    }
    analysed
}

fn meta_of(bytes: &[u8]) -> FileMeta {
    FileMeta { digest: stan_repo::sha256(bytes), size: bytes.len() as u64 }
}

/// A file that is not source code: hashed, and a document is read for its description. Others are not kept in memory.
fn hashed(system: &dyn System, path: &str, display: &str, options: &GraphOptions) -> Analysed {
    if documents::is_document(display) {
        let read = with_scratch(|Scratch { buffer, .. }| {
            buffer.clear();
            let stat = system.read_real(Path::new(path), documents::MAX_DOCUMENT_BYTES, buffer).ok()?;
            let heading = documents::describe(SourceFile { name: display, bytes: buffer }, &options.extract);
            Some(Analysed { stat: Some(stat), meta: Some(meta_of(buffer)), heading, ..Analysed::default() })
        });
        if let Some(read) = read {
            return read;
        }
    }
    match stan_repo::hash_real_file(system, Path::new(path)) {
        Ok(HashedFile { stat, digest, size }) => {
            Analysed { stat: Some(stat), meta: Some(FileMeta { digest, size }), ..Analysed::default() }
        }
        Err(error) => unreadable(display, &error),
    }
}

/// The analysis of a file that should be analysed but could not be read.
fn failed<T>(
    system: &dyn System,
    path: &str,
    display: &str,
    options: &GraphOptions,
    read: std::io::Result<T>,
) -> Analysed {
    match read {
        Err(error) if error.kind() != std::io::ErrorKind::FileTooLarge => unreadable(display, &error),
        _ => {
            let mut analysed = hashed(system, path, display, options);
            let message = format!("is larger than {} MiB; it was not analysed", MAX_ANALYSED_BYTES >> 20);
            analysed.problems.push(Problem::new(display, message));
            analysed.incomplete = true;
            analysed
        }
    }
}

fn unreadable(display: &str, error: &std::io::Error) -> Analysed {
    Analysed {
        problems: vec![Problem::new(display, format!("cannot be read ({}); it has no edges", read_failure(error)))],
        incomplete: true,
        ..Analysed::default()
    }
}
