//! Access to the files around a pack: their units, and what their imports resolve to. A file is read when it is first needed,
//! so the cost depends on the pack and not on the size of the repository.

use std::rc::Rc;

use stan_model::names::FileUnits;

/// A file, by the number that the caller gave it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct FileId(pub u32);

/// What an import resolves to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ImportTarget {
    /// Usually one file; several where a whole package is imported.
    Files(Vec<FileId>),
    /// A module of the runtime. No file declares it.
    Builtin,
    Missing,
}

/// The files of a project, loaded on demand.
pub trait Modules {
    /// `None` for a file that cannot be read or whose language has no outlines.
    fn units(&self, file: FileId) -> Option<Rc<FileUnits>>;

    /// What a specifier of this file resolves to.
    fn resolve(&self, file: FileId, specifier: &str) -> ImportTarget;

    /// Whether the specifier of one name resolves to the module of that name, `target`, rather than to one that exports
    /// it.
    fn is_module_named(&self, _target: FileId, _specifier: &str) -> bool {
        false
    }
}
