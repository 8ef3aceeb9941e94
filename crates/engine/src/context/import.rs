//! Stages the files that the configuration imports, so that the map sees them: exactly the planned ones below each configured
//! label. Removes the labels that an earlier run staged and that are no longer configured. Other folders below `imports/` are
//! left alone.

use std::collections::BTreeSet;
use std::io::{Read, Write};
use std::path::Path;

use stan_repo::{
    Access, EntryKind, OpenFile, System, SystemExt as _, advice, entries_below, hash_file, real_path, relative_path,
};

use super::Repository;
use super::allow::{Allowed, Allowlist, Origin};
use super::layout::{Artefact, WorkspaceLayout};
use super::read_only::{StagedImport, StagedImports};
use super::reports::OutsideFile;
use super::session::{Session, refuse};
use super::strict_system::StrictSystem;
use super::workspace_files::read_if_there;
use crate::config::{Config, label_refusal};
use crate::error::EngineError;
use crate::imports::{ImportFile, ImportPlan, plan};

/// The result of staging.
#[derive(Debug, Default)]
pub(crate) struct Imported {
    pub(crate) written: Vec<String>,
    pub(crate) removed: Vec<String>,
    pub(crate) warnings: Vec<String>,
    pub(crate) outside: Vec<OutsideFile>,
}

/// Plans the imports of the configuration.
pub(crate) fn planned(system: &dyn System, repository: &Repository<'_>) -> Result<ImportPlan, EngineError> {
    let Config { stan_path, imports, allowed_outside, .. } = repository.config;
    Ok(plan(system, repository.root, stan_path, imports, allowed_outside)?)
}

/// The planned files outside the root, by their path relative to it.
fn outside(repository: &Repository<'_>, plan: &ImportPlan) -> Vec<OutsideFile> {
    let shown = |file: &ImportFile| OutsideFile {
        path: relative_path(repository.root, &file.source),
        archived_as: file.target.clone(),
    };
    plan.files.iter().map(shown).filter(|file| file.path.starts_with("../")).collect()
}

/// Updates the staged imports. Unchanged files are not written.
pub(crate) fn refresh(
    system: &StrictSystem<'_>,
    repository: &Repository<'_>,
    layout: &WorkspaceLayout,
    session: &Session<'_>,
) -> Result<Imported, EngineError> {
    let earlier = staged_labels(system, layout);
    if repository.config.imports.is_empty() && earlier.is_empty() {
        return Ok(Imported::default());
    }
    let plan = planned(system, repository)?;
    let outside = outside(repository, &plan);
    let ImportPlan { files, warnings, unread } = plan;
    let mut imported = Imported { warnings, outside, ..Imported::default() };
    let targets: BTreeSet<&str> = files.iter().map(|file| file.target.as_str()).collect();
    let mut transaction = session.begin(layout)?;
    for file in files.iter().filter(|file| !is_staged(system, layout, file)) {
        let source = system.open(Path::new(&file.source)).map_err(|error| not_copied(file, &error))?;
        let access = if source.private { Access::Private } else { Access::Shared };
        let mut stream = transaction.stream(&file.target, access).map_err(refuse)?;
        copy(file, source, &mut stream)?;
        transaction.finish(stream).map_err(refuse)?;
        imported.written.push(file.target.clone());
    }
    for label in &unread {
        imported
            .warnings
            .push(format!("import `{label}`: what was staged before stays, because not all could be read"));
    }
    let labels: BTreeSet<&String> = repository.config.imports.keys().chain(&earlier).collect();
    // Never remove files of a label with an unreadable folder: they may still be wanted.
    for label in labels.into_iter().filter(|label| !unread.contains(*label)) {
        for path in everything_below(system, layout, &layout.own(&["imports/", label].concat())) {
            if !targets.contains(path.as_str()) {
                transaction.remove(&path).map_err(refuse)?;
                imported.removed.push(path);
            }
        }
    }
    let configured: BTreeSet<String> = repository.config.imports.keys().cloned().collect();
    if configured != earlier {
        let document = serde_json::to_vec(&configured).map_err(|error| EngineError::internal(error.to_string()))?;
        transaction.write(&layout.artefact(Artefact::ImportLabels), &document, Access::Shared).map_err(refuse)?;
    }
    // A file hidden by a transient error must not be treated as removed.
    system.ensure_no_transient_errors()?;
    transaction.commit().map_err(refuse)?;
    Ok(imported)
}

/// The imports that a run would stage; nothing if they are up to date.
pub(crate) fn to_be_staged(
    system: &dyn System,
    repository: &Repository<'_>,
    layout: &WorkspaceLayout,
) -> Result<StagedImports, EngineError> {
    let earlier = staged_labels(system, layout);
    if repository.config.imports.is_empty() && earlier.is_empty() {
        return Ok(StagedImports::default());
    }
    let ImportPlan { files, unread, .. } = planned(system, repository)?;
    let labels: BTreeSet<&String> = repository.config.imports.keys().chain(&earlier).collect();
    let folders = labels.into_iter().filter(|label| !unread.contains(*label));
    let folders: Vec<String> = folders.map(|label| layout.own(&["imports/", label].concat())).collect();
    let targets: BTreeSet<&str> = files.iter().map(|file| file.target.as_str()).collect();
    let is_superfluous = |path: &String| !targets.contains(path.as_str());
    let superfluous = folders.iter().any(|folder| everything_below(system, layout, folder).iter().any(is_superfluous));
    if !superfluous && files.iter().all(|file| is_staged(system, layout, file)) {
        return Ok(StagedImports::default());
    }
    let files =
        files.into_iter().map(|file| StagedImport { target: layout.absolute(&file.target), source: file.source });
    let folders = folders.iter().map(|folder| layout.absolute(folder)).collect();
    Ok(StagedImports::new(repository.root, folders, files.collect()))
}

/// For a plan: replaces the staged imports in the allowlist by those that a run would stage, and announces files outside the
/// root.
pub(crate) fn plan_imports(
    system: &dyn System,
    repository: &Repository<'_>,
    layout: &WorkspaceLayout,
    allowlist: &mut Allowlist,
    warnings: &mut Vec<String>,
) -> Result<Vec<OutsideFile>, EngineError> {
    let earlier = staged_labels(system, layout);
    if repository.config.imports.is_empty() && earlier.is_empty() {
        return Ok(Vec::new());
    }
    let plan = planned(system, repository)?;
    let outside = outside(repository, &plan);
    warnings.extend(plan.warnings);
    let mut selected = BTreeSet::new();
    for label in repository.config.imports.keys().chain(&earlier) {
        let folder = layout.own(&["imports/", label, "/"].concat());
        let below = allowlist.files.iter().filter(|(path, _)| path.starts_with(&folder));
        selected.extend(below.filter(|(_, allowed)| allowed.in_closure).map(|(path, _)| path.clone()));
        allowlist.files.retain(|path, _| !path.starts_with(&folder));
    }
    for file in plan.files {
        if allowlist.refuses_name(&file.target) {
            continue;
        }
        // Archives are made from real paths; a path that does not resolve is reported when it is read.
        let source = real_path(system, Path::new(&file.source)).unwrap_or(file.source);
        let in_closure = selected.contains(&file.target);
        let allowed = Allowed { origin: Origin::Elsewhere(source), in_base: true, in_closure };
        allowlist.files.insert(file.target, allowed);
    }
    // The imports were added after the list was sorted and its warnings were taken.
    warnings.append(&mut allowlist.warnings);
    allowlist.left_out.sort_unstable();
    allowlist.left_out.dedup();
    Ok(outside)
}

/// The labels that an earlier run staged, so that those no longer configured can be removed. Files below `imports/` that
/// something else created do not count. A broken record lists no labels.
fn staged_labels(system: &dyn System, layout: &WorkspaceLayout) -> BTreeSet<String> {
    let bytes = read_if_there(system, layout, &layout.artefact(Artefact::ImportLabels)).ok().flatten();
    let labels: BTreeSet<String> = bytes.and_then(|bytes| serde_json::from_slice(&bytes).ok()).unwrap_or_default();
    labels.into_iter().filter(|label| label_refusal(label).is_none()).collect()
}

fn is_staged(system: &dyn System, layout: &WorkspaceLayout, file: &ImportFile) -> bool {
    let target = layout.absolute(&file.target);
    let is_file = system.lstat(Path::new(&target)).is_ok_and(|stat| stat.kind == EntryKind::File);
    let digest = |path: &str| hash_file(system, Path::new(path)).map(|file| file.digest);
    let is_private = |path: &str| system.open(Path::new(path)).is_ok_and(|file| file.private);
    is_file
        && digest(&target).is_ok_and(|staged| digest(&file.source).is_ok_and(|source| source == staged))
        && (is_private(&target) || !is_private(&file.source))
}

fn not_copied(file: &ImportFile, error: &std::io::Error) -> EngineError {
    EngineError::input(format!("the import `{}` cannot be copied: {}", file.target, advice(error)))
}

fn copy(file: &ImportFile, source: OpenFile, out: &mut dyn Write) -> Result<(), EngineError> {
    let failed = |error: std::io::Error| not_copied(file, &error);
    let mut source = source.reader;
    let mut buffer = vec![0; 256 << 10];
    loop {
        match source.read(&mut buffer) {
            Ok(0) => return Ok(()),
            Ok(count) => out.write_all(buffer.get(..count).unwrap_or_default()).map_err(failed)?,
            Err(error) if error.kind() == std::io::ErrorKind::Interrupted => {}
            Err(error) => return Err(failed(error)),
        }
    }
}

/// All files and links below a folder, by root-relative path. Does not enter linked folders.
fn everything_below(system: &dyn System, layout: &WorkspaceLayout, folder: &str) -> Vec<String> {
    let top = layout.absolute(folder);
    if !system.lstat(Path::new(&top)).is_ok_and(|stat| stat.kind == EntryKind::Dir) {
        return Vec::new();
    }
    let entries = entries_below(system, Path::new(&top)).flatten().filter(|entry| entry.kind != EntryKind::Dir);
    let mut found: Vec<String> =
        entries.filter_map(|entry| Some(layout.relative(entry.path().to_str()?)?.to_owned())).collect();
    found.sort_unstable();
    found
}
