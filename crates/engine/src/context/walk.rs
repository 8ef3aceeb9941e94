//! Lists all files below one of stan's own folders, regardless of ignore rules. Links to files are resolved, but never out of the
//! root; linked folders are not entered.

use std::path::Path;

use stan_repo::{EntryKind, System, UnlistedFolder, entries_below, read_failure};

use super::layout::WorkspaceLayout;
use super::locate::{Located, Locator};

/// A file below the folder: its name, and the root-relative real path of its bytes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Walked {
    pub(crate) path: String,
    pub(crate) real: String,
}

/// The files below the root-relative `folder`, sorted by name. Files that are left out are added to `warnings`. A missing folder
/// has no files.
pub(crate) fn walk(
    system: &dyn System,
    layout: &WorkspaceLayout,
    locator: &mut Locator<'_>,
    folder: &str,
    warnings: &mut Vec<String>,
) -> Vec<Walked> {
    let mut files = Vec::new();
    let top = layout.absolute(folder);
    let shown = |path: &Path| {
        let path = path.to_string_lossy();
        layout.relative(&path).map_or_else(|| path.to_string(), str::to_owned)
    };
    let mut entries = entries_below(system, Path::new(&top));
    while let Some(entry) = entries.next() {
        let entry = match entry {
            Ok(entry) => entry,
            Err(UnlistedFolder { folder, error }) => {
                if error.kind() != std::io::ErrorKind::NotFound || folder != Path::new(&top) {
                    let (folder, reason) = (shown(&folder), read_failure(&error));
                    warnings.push(format!("{folder}: left out, because the folder cannot be listed: {reason}"));
                }
                continue;
            }
        };
        if entry.name().is_none() {
            // Every path below such a folder contains its name, so none could be archived.
            let folder = shown(&entry.folder);
            warnings.push(format!("{folder}: a file is left out, because its name is not UTF-8"));
            if entry.kind == EntryKind::Dir {
                entries.skip_folder();
            }
            continue;
        }
        let path = shown(&entry.path());
        match entry.kind {
            EntryKind::File => files.push(Walked { real: path.clone(), path }),
            EntryKind::Dir => {}
            EntryKind::Link => match locator.locate(&path) {
                Located::File(real) => files.push(Walked { path, real }),
                Located::NotAFile => {
                    warnings.push(format!("{path}: left out, because the link does not point to a file"))
                }
                Located::Missing | Located::Outside => {
                    warnings.push(format!("{path}: left out, because the link leads out of the repository or nowhere"));
                }
            },
            EntryKind::Other => warnings.push(format!("{path}: left out, because it is not a regular file")),
        }
    }
    files.sort_unstable_by(|a, b| a.path.cmp(&b.path));
    files
}
