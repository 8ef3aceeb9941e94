//! A set of globs, compiled to few automata: matching a path costs nearly the same for one glob and for a hundred.

use regex_automata::meta::{Config, Regex};
use regex_automata::nfa::thompson::WhichCaptures;
use regex_automata::util::syntax;

use super::translate::{GlobReason, directories_expression, expression};

/// Larger automata are refused: real lists of globs are far from this size.
const MAX_AUTOMATON: usize = 32 << 20;

/// Globs per automaton. States of a lazy automaton are sets of positions in the globs: with too many globs, there are more states
/// than fit into its cache, and they are recomputed over and over.
const GLOBS_PER_AUTOMATON: usize = 32;
/// The maximum cache of one automaton; memory is allocated as needed.
const MAX_REMEMBERED: usize = 16 << 20;

/// picomatch globs over `/`-separated relative paths; wildcards match dotfiles.
#[derive(Clone, Debug, Default)]
pub struct PathGlobs {
    automata: Vec<Regex>,
}

/// A text that is not a glob, or not a supported one.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the glob `{glob}` cannot be used, because {reason}")]
pub struct GlobError {
    pub glob: String,
    /// A clause after "because".
    pub reason: String,
}

impl PathGlobs {
    /// Compiles globs; a path must match any one of them. Fails at the first invalid one.
    pub fn new<S: AsRef<str>>(globs: &[S]) -> Result<Self, GlobError> {
        compile(globs, expression)
    }

    /// Checks whether a glob is valid; cheaper than compiling it.
    pub fn check(glob: &str) -> Result<(), GlobError> {
        let refused = |reason: String| GlobError { glob: glob.to_owned(), reason };
        expression(glob).map_err(refused)?;
        // Only deep nesting needs compilation to be detected.
        if glob.matches('{').count() > 64 { compile(&[glob], expression).map(drop) } else { Ok(()) }
    }

    /// Globs that match every directory below which one of `globs` could match; the root is the empty path.
    pub fn directories<S: AsRef<str>>(globs: &[S]) -> Result<Self, GlobError> {
        compile(globs, directories_expression)
    }

    pub fn is_match(&self, path: &str) -> bool {
        self.automata.iter().any(|automaton| automaton.is_match(path))
    }

    /// Whether there are no globs, so nothing matches.
    pub fn is_empty(&self) -> bool {
        self.automata.is_empty()
    }
}

fn compile<S: AsRef<str>>(
    globs: &[S],
    translate: fn(&str) -> Result<String, GlobReason>,
) -> Result<PathGlobs, GlobError> {
    let automata = globs.chunks(GLOBS_PER_AUTOMATON).map(|globs| automaton(globs, translate));
    Ok(PathGlobs { automata: automata.collect::<Result<_, _>>()? })
}

fn automaton<S: AsRef<str>>(
    globs: &[S],
    translate: fn(&str) -> Result<String, GlobReason>,
) -> Result<Regex, GlobError> {
    let refused = |glob: &str, reason: String| GlobError { glob: glob.to_owned(), reason };
    let mut expressions = Vec::with_capacity(globs.len());
    for glob in globs {
        let glob = glob.as_ref();
        let inner = translate(glob).map_err(|reason| refused(glob, reason))?;
        expressions.push(format!("^(?:{inner})$"));
    }
    let config = Config::new()
        .nfa_size_limit(Some(MAX_AUTOMATON))
        .hybrid_cache_capacity(MAX_REMEMBERED)
        // Paths are short, and these would cost more to build than they save.
        .onepass(false)
        .auto_prefilter(false)
        // The matched part of a path is never needed.
        .which_captures(WhichCaptures::None);
    // The dot matches newlines, because file names may contain them.
    let builder = syntax::Config::new().dot_matches_new_line(true).unicode(true);
    Regex::builder().configure(config).syntax(builder).build_many(&expressions).map_err(|error| {
        let at = error.pattern().and_then(|pattern| globs.get(pattern.as_usize())).or(globs.last());
        let reason = if error.size_limit().is_some() { "it is too large" } else { "it nests too deeply" };
        refused(at.map(AsRef::as_ref).unwrap_or_default(), reason.to_owned())
    })
}
