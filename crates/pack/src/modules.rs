//! What the pack asks of the outside: the units of files, and where their imports lead. No file is read before it is asked
//! for, so that the cost follows the pack and not the repository.

use std::rc::Rc;

use stan_model::names::FileUnits;

/// A file, by the number that the caller gave it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct FileId(pub u32);

/// Where an import leads.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Leads {
    /// Mostly one file; several where a package is imported as one.
    Files(Vec<FileId>),
    /// A module of the runtime, whose declarations nothing on disk shows.
    Builtin,
    Missing,
}

/// The files of a project, loaded on demand.
pub trait Modules {
    /// `None` for a file that cannot be read or whose language has no outlines.
    fn units(&self, file: FileId) -> Option<Rc<FileUnits>>;

    /// Where a specifier of this file leads.
    fn leads(&self, file: FileId, specifier: &str) -> Leads;

    /// Whether the specifier of one name resolves to the module of that name, `target`, rather than to one that exports
    /// it.
    fn is_module_named(&self, _target: FileId, _specifier: &str) -> bool {
        false
    }
}
