//! Lists the files from outside the root that an archive includes: for the report, and to announce them before anything is
//! written.

use stan_repo::relative_path;

use super::assemble::ContextInputs;
use super::layout::WorkspaceLayout;
use super::progress::Progress;
use super::reports::{ExternalsReport, OutsideFile};

/// The selected externals that belong to no installed package, and the imports from outside the root.
pub(crate) fn from_outside(
    layout: &WorkspaceLayout,
    inputs: Option<&ContextInputs>,
    mut imported: Vec<OutsideFile>,
) -> ExternalsReport {
    let unnamed = layout.own("context/abs/");
    let file = |inputs: &ContextInputs, id: &str| {
        let node = inputs.externals_lock.nodes.get(id)?;
        Some(OutsideFile { path: relative_path(layout.root(), &node.locator), archived_as: id.to_owned() })
    };
    let mut outside: Vec<OutsideFile> = Vec::new();
    if let Some(inputs) = inputs {
        let ids = inputs.externals().map(|index| inputs.map.id(index)).filter(|id| id.starts_with(&unnamed));
        outside.extend(ids.filter_map(|id| file(inputs, id)));
    }
    outside.sort_unstable();
    imported.sort_unstable();
    ExternalsReport { outside, imported }
}

/// Announces every file, without a limit: the one that matters could be the last.
pub(crate) fn announce(externals: &ExternalsReport, progress: &mut dyn Progress) {
    let ExternalsReport { outside, imported } = externals;
    let sorts = [
        ("imported", "from outside the root", imported),
        ("archived as `context/abs/`", "that no installed package has", outside),
    ];
    for (what, which, files) in sorts {
        if !files.is_empty() {
            let unit = if files.len() == 1 { "file" } else { "files" };
            let paths: Vec<&str> = files.iter().map(|file| file.path.as_str()).collect();
            progress.notice(&format!("{what} {} {unit} {which}: {}", files.len(), paths.join(", ")));
        }
    }
}
