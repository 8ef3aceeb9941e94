//! Access to the files around a pack: their units, and the targets of their imports. Files are read on demand, so the cost
//! depends on the pack and not on the size of the repository.

use std::rc::Rc;

use stan_model::names::FileUnits;

/// A file, by the number that the caller assigned.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct FileId(pub u32);

/// The target of an import.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ImportTarget {
    /// Usually one file; several if a whole package is imported.
    Files(Vec<FileId>),
    /// A module of the runtime, which no file declares.
    Builtin,
    Missing,
}

/// The files of a project, loaded on demand.
pub trait Modules {
    /// `None` for a file that cannot be read, or whose language has no outlines.
    fn units(&self, file: FileId) -> Option<Rc<FileUnits>>;

    /// The target of a specifier in this file.
    fn resolve(&self, file: FileId, specifier: &str) -> ImportTarget;

    /// Whether the specifier of one name resolves to the module of that name, `target`, rather than to one that exports
    /// it.
    fn is_module_named(&self, _target: FileId, _specifier: &str) -> bool {
        false
    }
}
