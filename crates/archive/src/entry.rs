//! The entries of an archive, and the metadata recorded once they are written. The writing is in `archive.rs`.

use std::ops::Range;
use std::path::PathBuf;
use std::sync::Arc;

use stan_model::Digest;
use stan_secrets::{Hit, credential_file};

use crate::snapshot::Snapshot;

/// One file for an archive.
#[derive(Clone, Debug)]
pub struct ArchiveEntry {
    pub(crate) name: String,
    pub(crate) source: Source,
    pub(crate) executable: Option<bool>,
    pub(crate) guard: Guard,
}

/// Whether an entry is kept out of the archive when it holds a secret.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Guard {
    /// Made by this run, or allowed on the command line.
    Open,
    /// The text is scanned.
    Scanned,
    /// Kept out whatever it holds, by this rule about its name.
    Credential(&'static str),
}

impl Guard {
    fn of<'p>(mut paths: impl Iterator<Item = &'p str>) -> Self {
        paths.find_map(credential_file).map_or(Self::Scanned, Self::Credential)
    }
}

#[derive(Clone, Debug)]
pub(crate) enum Source {
    /// Its real path: a link in it, which must have been added later, is an error.
    File(PathBuf),
    Bytes(Arc<Vec<u8>>),
    /// A file whose bytes were proved, and are proved again.
    Proved {
        path: PathBuf,
        size: u64,
        digest: Digest,
    },
}

impl ArchiveEntry {
    /// Name, bytes and whether it is executable, of an entry whose bytes are in memory.
    pub fn in_memory(&self) -> Option<(&str, &[u8], bool)> {
        match &self.source {
            Source::Bytes(bytes) => Some((&self.name, bytes, self.executable.unwrap_or(false))),
            Source::File(_) | Source::Proved { .. } => None,
        }
    }

    /// A file on disk, by its absolute path.
    pub fn file(name: impl Into<String>, path: impl Into<PathBuf>) -> Self {
        let (name, path) = (name.into(), path.into());
        let guard = Guard::of([Some(name.as_str()), path.to_str()].into_iter().flatten());
        Self { name, source: Source::File(path), executable: None, guard }
    }

    pub fn bytes(name: impl Into<String>, bytes: impl Into<Vec<u8>>) -> Self {
        Self::shared(name, Arc::new(bytes.into()))
    }

    /// Bytes with other users: maps are large.
    pub fn shared(name: impl Into<String>, bytes: Arc<Vec<u8>>) -> Self {
        Self { name: name.into(), source: Source::Bytes(bytes), executable: Some(false), guard: Guard::Open }
    }

    /// A file whose bytes are proved when they are archived.
    pub(crate) fn proved(name: String, path: PathBuf, size: u64, digest: Digest) -> Self {
        Self { name, source: Source::Proved { path, size, digest }, executable: Some(false), guard: Guard::Scanned }
    }

    /// Says where a proved file comes from, because the name of its copy does not show that it is a credential file.
    #[must_use]
    pub fn installed_at(mut self, path: &str) -> Self {
        self.guard = Guard::of([self.name.as_str(), path].into_iter());
        self
    }

    /// Archives the file whatever secrets it holds.
    #[must_use]
    pub fn allow_secrets(mut self) -> Self {
        self.guard = Guard::Open;
        self
    }

    /// Says whether the file can be run, instead of asking the file system.
    #[must_use]
    pub fn executable(mut self, executable: bool) -> Self {
        self.executable = Some(executable);
        self
    }

    pub(crate) fn is_proved(&self) -> bool {
        matches!(self.source, Source::Proved { .. })
    }

    pub fn name(&self) -> &str {
        &self.name
    }

    /// The size of its contents, as far as it is known before they are read.
    pub fn known_size(&self) -> u64 {
        match &self.source {
            Source::Bytes(bytes) => bytes.len() as u64,
            Source::Proved { size, .. } => *size,
            Source::File(_) => 0,
        }
    }
}

/// One file that is in an archive.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ArchivedFile {
    pub name: String,
    pub size: u64,
    pub digest: Digest,
    pub executable: bool,
    /// Its text was searched, and holds no secret whatever the file is called.
    pub is_clean: bool,
    /// The bytes of the archive that are this file: headers, contents and padding.
    pub range: Range<u64>,
}

/// A file that is not in the archive, because it is binary.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ExcludedBinary {
    pub name: String,
    pub size: u64,
}

/// A text that is not in the archive, because it holds a secret or is a credential file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HeldBack {
    pub name: String,
    pub size: u64,
    pub secrets: Secrets,
}

/// Why a text is held back.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Secrets {
    /// The rule about its name.
    Credential(&'static str),
    /// What the text holds; not empty.
    Hits(Vec<Hit>),
}

impl Secrets {
    /// What a guard says about a whole text.
    pub(crate) fn of(entry: &ArchiveEntry, text: &[u8]) -> Option<Self> {
        match entry.guard {
            Guard::Open => None,
            Guard::Credential(rule) => Some(Self::Credential(rule)),
            Guard::Scanned => Self::of_hits(stan_secrets::scan_file(&entry.name, text)),
        }
    }

    pub(crate) fn of_hits(hits: Vec<Hit>) -> Option<Self> {
        (!hits.is_empty()).then_some(Self::Hits(hits))
    }
}

/// A text of more than 1 MiB or 3,000 lines. It is in the archive.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LargeText {
    pub name: String,
    pub size: u64,
    pub lines: u64,
}

/// What an archive holds and what was noticed on the way. Every list is sorted by name.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Written {
    pub files: Vec<ArchivedFile>,
    pub binaries: Vec<ExcludedBinary>,
    pub held_back: Vec<HeldBack>,
    pub large: Vec<LargeText>,
    /// Texts that are archived as they are although they are not UTF-8.
    pub not_utf8: Vec<String>,
    /// The size of the archive itself.
    pub size: u64,
    /// Whether other users may not read one of the archived files: then they may not read the archive either.
    pub private: bool,
}

impl Written {
    pub fn snapshot(&self) -> Snapshot {
        self.files.iter().map(|file| (file.name.clone(), file.digest)).collect()
    }

    /// Finds a file by its name.
    pub fn file(&self, name: &str) -> Option<&ArchivedFile> {
        let found = self.files.binary_search_by(|file| file.name.as_str().cmp(name)).ok()?;
        self.files.get(found)
    }
}
