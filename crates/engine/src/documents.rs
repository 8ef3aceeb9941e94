//! The interface of verbs about single documents: a store to read from and write to, and the kinds of failures. Only the program
//! prints.

use std::io;
use std::path::Path;

use sha2::{Digest as _, Sha256};
use stan_model::Digest;
use stan_model::document::x07::FileDigest;
use stan_repo::{WritableSystem, remove_leftovers};
use stan_slice::{ApplyError, SliceError};

/// Files by the names that the user gave. `-` is standard input and is never written to.
pub trait DocumentStore {
    fn read(&mut self, name: &str) -> io::Result<Vec<u8>>;

    /// Replaces a file atomically, and creates missing parent directories.
    fn write(&mut self, name: &str, bytes: &[u8]) -> io::Result<()>;
}

/// Replaces a file that the user named, atomically. Creates missing parent directories and removes them again on failure. Also
/// removes temporary files that a killed process left for this target.
pub fn write_document(system: &dyn WritableSystem, path: &Path, bytes: &[u8]) -> io::Result<()> {
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty());
    let above = folder.into_iter().flat_map(Path::ancestors).filter(|folder| !folder.as_os_str().is_empty());
    // Deepest first, so that each is empty when it is removed.
    let made: Vec<&Path> = above.take_while(|folder| is_missing(system, folder)).collect();
    if let Some(name) = path.file_name().and_then(|name| name.to_str()).filter(|_| made.is_empty()) {
        remove_leftovers(system, folder.unwrap_or(Path::new(".")), &[name]);
    }
    let written = folder.map_or(Ok(()), |folder| system.create_dir_all(folder));
    let written = written.and_then(|()| system.write_atomic(path, bytes));
    if written.is_err() {
        // `remove_dir` fails on a directory that another process has put a file into, which then stays.
        let _ = made.iter().try_for_each(|folder| system.remove_dir(folder));
    }
    written
}

fn is_missing(system: &dyn WritableSystem, folder: &Path) -> bool {
    system.lstat(folder).is_err_and(|error| error.kind() == io::ErrorKind::NotFound)
}

/// Who is at fault if a verb about documents fails. The program maps it to an exit code.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ExitClass {
    Done,
    /// The input or the output is at fault.
    Input,
    /// The document cannot be sliced as requested.
    Request,
}

/// Why such a verb failed.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum DocumentFailure {
    /// Standard output already carries the report.
    #[error("the output cannot go to standard output")]
    OutIsStandardOutput,
    /// A document cannot be read or written.
    #[error("{0}")]
    Io(String),
    /// A document has the wrong content.
    #[error("{0}")]
    Document(String),
    /// A module cannot be sliced as requested.
    #[error(transparent)]
    Slice(#[from] SliceError),
    /// The entry module of a project cannot be sliced at this pointer.
    #[error("slice entry at {pointer:?}: {error}")]
    Entry { pointer: String, error: SliceError },
    /// The digest does not match: the file changed after it was sliced, or is another file.
    #[error("{name} is not the file that was sliced: its SHA-256 is not {sha256}")]
    OtherFile { name: String, sha256: String },
    /// The metadata does not match a slice of the file.
    #[error("{meta} is not about a slice of {name}")]
    OtherSlice { meta: String, name: String },
    /// An edited slice cannot be merged into its module.
    #[error(transparent)]
    Apply(#[from] ApplyError),
}

/// SHA-256 in hexadecimal.
pub fn content_digest(bytes: &[u8]) -> String {
    Digest(Sha256::digest(bytes).into()).to_string()
}

/// Length and SHA-256 of a document.
pub(crate) fn digest(name: &str, bytes: &[u8]) -> FileDigest {
    let digest = Digest(Sha256::digest(bytes).into());
    FileDigest { path: name.to_owned(), sha256: digest.to_string(), bytes_len: bytes.len() as u64 }
}
