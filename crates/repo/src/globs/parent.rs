//! Splits a glob that may start with `../` or `/` into its folder and a glob below that folder.

use super::path_globs::{GlobError, PathGlobs};
use super::tokens::{Token, tokens};

/// A glob, split where its wildcards start.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RootedGlob {
    /// The longest prefix of whole names without wildcards, unescaped: relative, absolute, or empty. For a plain path, its
    /// folder.
    pub parent: String,
    /// The rest, relative to the parent.
    pub pattern: String,
}

impl RootedGlob {
    /// Splits a glob that may start with `../` or `/`, unlike other globs.
    pub fn new(glob: &str) -> Result<Self, GlobError> {
        let refused = |reason: &str| GlobError { glob: glob.to_owned(), reason: reason.to_owned() };
        if glob.starts_with("~/") || glob == "~" {
            return Err(refused("`~` is not expanded; write the whole path"));
        }
        let (mut parent, mut rest) = match glob.strip_prefix('/') {
            Some(rest) => ("/".to_owned(), rest),
            None => (String::new(), glob),
        };
        while let Some((step @ ("." | ".."), after)) = rest.split_once('/') {
            if step == ".." {
                push(&mut parent, step);
            }
            rest = after;
        }
        if matches!(rest, "" | "." | "..") {
            return Err(refused("it names a folder; write what is wanted in it, such as `**/*.md`"));
        }
        PathGlobs::check(rest).map_err(|error| refused(&error.reason))?;
        let mut is_split = false;
        while let Some((name, after)) = rest.split_once('/') {
            let Some(literal) = literal(name) else { break };
            push(&mut parent, &literal);
            rest = after;
            is_split = true;
        }
        // Beside other characters, `**` means `*`, but not at the start of a glob: without this, `src/**.ts` would match more
        // below `src` when it is split there.
        let beside = rest.trim_start_matches('*');
        let pattern = match rest.starts_with("**") && !beside.is_empty() && !beside.starts_with('/') {
            true if is_split => ["*", beside].concat(),
            _ => rest.to_owned(),
        };
        Ok(Self { parent, pattern })
    }
}

fn push(parent: &mut String, name: &str) {
    if !parent.is_empty() && !parent.ends_with('/') {
        parent.push('/');
    }
    parent.push_str(name);
}

/// The only name that a component of a glob matches, if there is only one.
fn literal(part: &str) -> Option<String> {
    let character = |token: &Token| if let Token::Literal(character) = token { Some(*character) } else { None };
    tokens(part).ok()?.iter().map(character).collect()
}
