//! Finds the commit whose files equal those on disk, without running git.

use stan_repo::git_changes;

use crate::context::Repository;
use crate::engine::Engine;
use crate::outline::scan;

/// The name for files that belong to no commit: edited or new files, or no git. The next export replaces them.
const WORKTREE: &str = "worktree";

/// The current commit, if every file on disk equals its version there.
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
