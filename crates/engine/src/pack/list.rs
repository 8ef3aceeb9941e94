//! `stan pack --list`: the diagnostics found in logs, without a pack.

use std::path::Path;

use stan_model::document::pack::DiagnosticsReport;
use stan_repo::System;

use super::diagnostics::{place, written};
use super::places::Locator;
use crate::context::{EngineError, NamedBytes, Repository};
use crate::engine::Engine;
use crate::outline::absolute;

/// The diagnostics of logs. Paths are as in the logs; `found` says whether the file exists.
pub fn list_diagnostics(
    engine: &Engine<'_>,
    repository: &Repository<'_>,
    logs: &[NamedBytes],
    from: Option<&str>,
) -> Result<DiagnosticsReport, EngineError> {
    let system = engine.system();
    check_tool(from)?;
    let universe = crate::outline::scan(system, repository);
    let is_file = |path: &str| is_file(system, repository.root, path);
    let locator = Locator::new(repository.root, &universe.files, &is_file);
    let mut report = DiagnosticsReport::default();
    for log in logs {
        for one in place(stan_diagnose::parse(&log.bytes, from), &locator) {
            let mut diagnostic = written(&one.diagnostic, None, false);
            diagnostic.found = one.file().is_some();
            report.diagnostics.push(diagnostic);
        }
    }
    Ok(report)
}

/// Whether a path relative to the root is a regular file.
pub(super) fn is_file(system: &dyn System, root: &str, path: &str) -> bool {
    // A path with `..` may leave the root, so it is not stat'ed.
    let is_inside = !path.split('/').any(|part| part == "..");
    is_inside
        && !stan_repo::escapes_root(system, root, &absolute(root, path))
        && system.lstat(Path::new(&absolute(root, path))).is_ok_and(|stat| stat.kind == stan_repo::EntryKind::File)
}

/// Fails for a tool whose output format is unknown.
pub(super) fn check_tool(from: Option<&str>) -> Result<(), EngineError> {
    let tools = stan_diagnose::tools();
    match from {
        Some(tool) if !tools.contains(&tool) => {
            let near = crate::config::nearest(tool, &tools);
            let near = near.map_or_else(String::new, |near| format!("; did you mean `{near}`?"));
            Err(EngineError::input(format!("no log format is called `{tool}`{near}"))
                .hint(format!("one of {}", tools.join(", "))))
        }
        _ => Ok(()),
    }
}
