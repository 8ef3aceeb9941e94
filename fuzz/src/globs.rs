//! The laws of the globs in configurations (picomatch's language, compiled to automata).

use stan_repo::{PathGlobs, RootedGlob, WalkGlobs};

/// The first line is a glob, the other lines are paths.
pub fn law(bytes: &[u8]) {
    let Ok(text) = std::str::from_utf8(bytes) else { return };
    let (glob, paths) = text.split_once('\n').unwrap_or((text, ""));
    let checked = PathGlobs::check(glob);
    let globs = PathGlobs::new(&[glob]);
    if let Err(error) = &checked {
        assert!(!error.reason.is_empty() && globs.is_err(), "refused and used: {glob:?}");
        return;
    }
    // Only the size of the whole automaton is checked later, when it is compiled.
    let Ok(globs) = globs else { return };
    let plain = glob.strip_prefix("./").unwrap_or(glob);
    assert!(globs.is_match(plain), "a path that is spelled like the glob matches: {glob:?}");
    let Ok(directories) = PathGlobs::directories(&[glob]) else { return };
    let Ok(walk) = WalkGlobs::new(&[plain]) else { return };
    // More globs than fit one automaton; one of them is the input.
    let mut many: Vec<String> = (0..40).map(|number| format!("nobody/{number}")).collect();
    many.push(glob.to_owned());
    let Ok(many) = PathGlobs::new(&many) else { return };
    let rooted = RootedGlob::new(glob).ok();
    for path in paths.split('\n').take(8).chain([plain]) {
        // Paths are never empty and have no empty components.
        if path.split('/').any(|part| matches!(part, "" | "." | "..")) {
            continue;
        }
        let matches = globs.is_match(path);
        assert_eq!(
            many.is_match(path),
            matches || path.starts_with("nobody/") && many.is_match(path),
            "{glob:?} {path:?}"
        );
        assert!(!walk.is_match(path) || matches, "a walk finds what the glob matches: {glob:?} {path:?}");
        if matches {
            check_folders(glob, path, &directories, &walk);
        }
        if let Some(rooted) = &rooted {
            check_rooted(glob, path, rooted, &globs);
        }
    }
}

/// Every folder on the path to a match is one that a walk enters.
fn check_folders(glob: &str, path: &str, directories: &PathGlobs, walk: &WalkGlobs) {
    let is_found = walk.is_match(path);
    for end in path.match_indices('/').map(|(at, _)| at).chain([0]) {
        let folder = &path[..end];
        assert!(directories.is_match(folder), "{glob:?} matches {path:?}, but nothing below {folder:?}");
        assert!(!is_found || walk.could_match_below(folder), "{glob:?} is walked to {path:?}, but not into {folder:?}");
    }
}

/// Splitting a glob where its wildcards start does not add matches.
fn check_rooted(glob: &str, path: &str, rooted: &RootedGlob, globs: &PathGlobs) {
    let Ok(pattern) = PathGlobs::new(&[&rooted.pattern]) else { return };
    let rest = match rooted.parent.as_str() {
        "" => Some(path),
        parent => path.strip_prefix(parent).and_then(|rest| rest.strip_prefix('/')),
    };
    if let Some(rest) = rest
        && pattern.is_match(rest)
    {
        assert!(globs.is_match(path), "{glob:?} as {rooted:?} gains {path:?}");
    }
}
