//! Finds the commit that the files on disk are equal to, without running git.

use stan_repo::git_changes;

use crate::context::Repository;
use crate::engine::Engine;
use crate::outline::scan;

/// Files that are in no commit: edited, new, or without git. The next export replaces them.
const WORKTREE: &str = "worktree";

/// The commit when every file is as the commit has it.
pub(super) fn current(engine: &Engine<'_>, repository: &Repository<'_>, warnings: &mut Vec<String>) -> String {
    let universe = scan(engine.system(), repository);
    let files: Vec<&str> = universe.files.iter().map(|file| &**file).collect();
    let changes = engine.share(|| git_changes(engine.system(), repository.root, &files, Some("HEAD")));
    let Ok(changes) = changes else { return WORKTREE.to_owned() };
    let count = changes.changed.len() + changes.added.len() + changes.deleted.len();
    match changes.commit {
        Some(commit) if count == 0 => commit,
        Some(commit) => {
            let short = commit.get(..12).unwrap_or(&commit);
            let files = if count == 1 { "1 file differs".to_owned() } else { format!("{count} files differ") };
            warnings.push(format!("{files} from commit {short}: exported as `{WORKTREE}`"));
            WORKTREE.to_owned()
        }
        None => WORKTREE.to_owned(),
    }
}
