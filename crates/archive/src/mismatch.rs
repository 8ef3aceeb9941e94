//! Reports on externals that differ from the map or the meta: node, expected and actual value.

use std::fmt;
use std::path::PathBuf;

/// One failed check of an external.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Mismatch {
    /// The canonical id, below `<stanPath>/context/`.
    pub id: String,
    pub source: PathBuf,
    pub kind: MismatchKind,
    pub expected: String,
    pub actual: String,
}

/// The property that differs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum MismatchKind {
    /// The id is not below `<stanPath>/context/{npm,abs}/`.
    Id,
    /// Two sources have the same id.
    Duplicate,
    MapMissing,
    MetaMissing,
    Unreadable,
    MapSize,
    MapHash,
    MetaSize,
    MetaHash,
    /// The bytes read back from the disk differ from the written ones.
    ReadBack,
}

impl MismatchKind {
    /// The code for machine-readable reports.
    pub fn code(self) -> &'static str {
        match self {
            Self::Id => "id",
            Self::Duplicate => "duplicate",
            Self::MapMissing => "map-missing",
            Self::MetaMissing => "meta-missing",
            Self::Unreadable => "unreadable",
            Self::MapSize => "map-size",
            Self::MapHash => "map-hash",
            Self::MetaSize => "meta-size",
            Self::MetaHash => "meta-hash",
            Self::ReadBack => "read-back",
        }
    }

    fn words(self) -> &'static str {
        match self {
            Self::Id => "its id",
            Self::Duplicate => "its source",
            Self::MapMissing => "its entry in dependency.map.json",
            Self::MetaMissing => "its size and hash in dependency.meta.json",
            Self::Unreadable => "its source",
            Self::MapSize => "its size in dependency.map.json",
            Self::MapHash => "its SHA-256 in dependency.map.json",
            Self::MetaSize => "its size (s) in dependency.meta.json",
            Self::MetaHash => "its hash (h) in dependency.meta.json",
            Self::ReadBack => "the staged copy, read back",
        }
    }
}

impl fmt::Display for Mismatch {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { id, source, kind, expected, actual } = self;
        f.write_str(id)?;
        // Without an entry in the private map, its source is unknown.
        if !source.as_os_str().is_empty() {
            write!(f, " (from {})", source.display())?;
        }
        write!(f, ": {}: expected {expected}, found {actual}", kind.words())
    }
}

/// All mismatches of a run, sorted by id; never empty.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Mismatches(pub Vec<Mismatch>);

impl fmt::Display for Mismatches {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("externals are not what the map says; nothing was changed:\n")?;
        self.0.iter().try_for_each(|mismatch| writeln!(f, "  {mismatch}"))?;
        f.write_str("rebuild the map: stan run --context")
    }
}
