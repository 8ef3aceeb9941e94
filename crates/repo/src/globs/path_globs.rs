//! A set of globs, compiled to one automaton: asking about a path costs the same for one glob and for a hundred.

use regex_automata::meta::{Config, Regex};
use regex_automata::util::syntax;

use super::translate::{Refusal, directories_expression, expression};

/// Beyond this an automaton is refused rather than built: no list of globs that people write comes near it.
const MAX_AUTOMATON: usize = 32 << 20;

/// picomatch globs over `/`-separated relative paths, dotfiles matched.
#[derive(Clone, Debug, Default)]
pub struct PathGlobs {
    /// `None` matches nothing.
    automaton: Option<Regex>,
}

/// A text that is not a glob, or not one that is supported.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the glob `{glob}` cannot be used, because {reason}")]
pub struct GlobError {
    pub glob: String,
    /// A clause that follows "because".
    pub reason: String,
}

impl PathGlobs {
    /// Compiles globs, of which a path has to match any one. Fails at the first that cannot be used.
    pub fn new<S: AsRef<str>>(globs: &[S]) -> Result<Self, GlobError> {
        compile(globs, expression)
    }

    /// What matches every directory below which one of the globs could match something; the root is the empty path.
    pub fn directories<S: AsRef<str>>(globs: &[S]) -> Result<Self, GlobError> {
        compile(globs, directories_expression)
    }

    pub fn is_match(&self, path: &str) -> bool {
        self.automaton.as_ref().is_some_and(|automaton| automaton.is_match(path))
    }

    /// Whether there are no globs, so that nothing matches.
    pub fn is_empty(&self) -> bool {
        self.automaton.is_none()
    }
}

fn compile<S: AsRef<str>>(globs: &[S], translate: fn(&str) -> Result<String, Refusal>) -> Result<PathGlobs, GlobError> {
    let Some(last) = globs.last() else { return Ok(PathGlobs::default()) };
    let refused = |glob: &str, reason: String| GlobError { glob: glob.to_owned(), reason };
    let mut expressions = Vec::with_capacity(globs.len());
    for glob in globs {
        let glob = glob.as_ref();
        let inner = translate(glob).map_err(|reason| refused(glob, reason))?;
        expressions.push(format!("^(?:{inner})$"));
    }
    let config = Config::new()
        .nfa_size_limit(Some(MAX_AUTOMATON))
        // Which part of a path matches is never asked for.
        .which_captures(regex_automata::nfa::thompson::WhichCaptures::None);
    let automaton = Regex::builder()
        .configure(config)
        .syntax(syntax::Config::new().dot_matches_new_line(true).unicode(true))
        .build_many(&expressions)
        .map_err(|error| {
            let at = error.pattern().and_then(|pattern| globs.get(pattern.as_usize())).unwrap_or(last);
            let reason = if error.size_limit().is_some() { "it is too large" } else { "it nests too deeply" };
            refused(at.as_ref(), reason.to_owned())
        })?;
    Ok(PathGlobs { automaton: Some(automaton) })
}
