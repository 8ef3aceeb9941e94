//! Every file below one of stan's own folders, ignore rules or not. Links are looked at, never followed out of the
//! root; folders behind links are not entered.

use std::path::Path;

use stan_repo::{EntryKind, System, SystemExt as _};

use super::layout::WorkspaceLayout;
use super::locate::{Located, Locator};

/// A file below the folder: its name, and the real root-relative path of its bytes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Walked {
    pub(crate) path: String,
    pub(crate) real: String,
}

/// The files below the root-relative `folder`, sorted by name. What is left out is said in `warnings`. A folder that
/// does not exist has no files.
pub(crate) fn walk(
    system: &dyn System,
    layout: &WorkspaceLayout,
    locator: &mut Locator<'_>,
    folder: &str,
    warnings: &mut Vec<String>,
) -> Vec<Walked> {
    let mut files = Vec::new();
    let mut pending = vec![folder.to_owned()];
    while let Some(directory) = pending.pop() {
        let entries = match system.read_real_dir(Path::new(&layout.absolute(&directory))) {
            Ok(entries) => entries,
            Err(error) if error.kind() == std::io::ErrorKind::NotFound && directory == folder => continue,
            Err(error) => {
                warnings.push(format!("{directory}: left out, because the folder cannot be listed: {error}"));
                continue;
            }
        };
        for entry in entries {
            let Ok(name) = entry.name.into_string() else {
                warnings.push(format!("{directory}: a file is left out, because its name is not UTF-8"));
                continue;
            };
            let path = [&directory, "/", &name].concat();
            match entry.kind {
                EntryKind::File => files.push(Walked { real: path.clone(), path }),
                EntryKind::Dir => pending.push(path),
                EntryKind::Link => match locator.locate(&path) {
                    Located::File(real) => files.push(Walked { path, real }),
                    Located::NotAFile => warnings.push(format!("{path}: left out, because the link leads to no file")),
                    Located::Missing | Located::Outside => {
                        warnings
                            .push(format!("{path}: left out, because the link leads out of the repository or nowhere"));
                    }
                },
                EntryKind::Other => warnings.push(format!("{path}: left out, because it is no regular file")),
            }
        }
    }
    files.sort_unstable_by(|a, b| a.path.cmp(&b.path));
    files
}
