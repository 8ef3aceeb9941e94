//! The components of `include` and `exclude` patterns of a tsconfig. Sets of patterns are in `pattern_set.rs`.
//!
//! TypeScript turns a pattern into a regular expression and walks the disk. Here, the same language is decided component by
//! component, without a walk and in linear time for any pattern. Paths are case-sensitive.

use super::paths;

/// The use of a pattern, which determines the meaning of its wildcards.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Usage {
    /// `*` and `**` skip dot names, package folders and `.min.js`; the whole path must match.
    Include,
    /// Wildcards match anything, and a match includes everything below it.
    Exclude,
}

/// Folders that wildcards of `include` do not match.
const PACKAGE_FOLDERS: [&str; 3] = ["node_modules", "bower_components", "jspm_packages"];

/// The components of a pattern as an absolute path. `None` for a pattern that matches nothing: an empty one, or an `include` that
/// ends with `**`.
pub(super) fn split(spec: &str, base: &str, usage: Usage) -> Option<Vec<String>> {
    if spec.is_empty() {
        return None;
    }
    let absolute = paths::normalize(spec, base);
    let mut names: Vec<String> = absolute.split('/').filter(|name| !name.is_empty()).map(str::to_owned).collect();
    let last = names.last().map(String::as_str).unwrap_or_default();
    if usage == Usage::Include && last == "**" {
        return None;
    }
    if !last.contains(['.', '*', '?']) {
        names.extend(["**".to_owned(), "*".to_owned()]);
    }
    Some(names)
}

/// A single pattern: the reference that a set of patterns is tested against.
#[cfg(test)]
#[derive(Debug)]
pub(super) struct Pattern {
    usage_is_include: bool,
    /// The leading components without wildcards, as one path.
    prefix: Box<str>,
    components: Vec<Component>,
}

#[derive(Debug)]
pub(super) enum Component {
    /// `**`
    Recursive,
    Literal(Box<str>),
    Wild(Vec<Token>),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Token {
    Char(char),
    /// `?`
    Any,
    /// A `?` at the start: any character but a dot.
    NotDot,
    /// `*`
    Star,
    /// A `*` at the start: nothing, or any character but a dot and then the [`Token::Star`] that follows.
    LeadingStar,
}

#[cfg(test)]
impl Pattern {
    pub(super) fn new(spec: &str, base: &str, usage: Usage) -> Option<Self> {
        let names = split(spec, base, usage)?;
        let literal = names.iter().take_while(|name| !name.contains(['*', '?'])).count();
        let (leading, rest) = names.split_at(literal);
        let mut prefix = String::new();
        for name in leading {
            prefix.push('/');
            prefix.push_str(name);
        }
        let components = rest.iter().map(|name| Component::new(name, usage)).collect();
        Some(Self { usage_is_include: usage == Usage::Include, prefix: prefix.into(), components })
    }

    pub(super) fn matches(&self, path: &str) -> bool {
        let Some(rest) = path.strip_prefix(&*self.prefix) else { return false };
        if !rest.is_empty() && !rest.starts_with('/') {
            return false;
        }
        if self.components.is_empty() {
            return !self.usage_is_include || rest.is_empty();
        }
        let mut states = vec![false; self.components.len() + 1];
        let mut next = states.clone();
        states[0] = true;
        self.close(&mut states);
        let mut names = rest.split('/').skip(1).peekable();
        while let Some(name) = names.next() {
            if !self.usage_is_include && self.accepts(&states) {
                return true;
            }
            let is_last = names.peek().is_none();
            next.fill(false);
            for (index, component) in self.components.iter().enumerate() {
                if states[index] && component.accepts(name, is_last, self.usage_is_include) {
                    // A recursive component stays active, because it may match the next name too.
                    next[if matches!(component, Component::Recursive) { index } else { index + 1 }] = true;
                }
            }
            self.close(&mut next);
            std::mem::swap(&mut states, &mut next);
        }
        self.accepts(&states)
    }

    /// `**` may match nothing.
    fn close(&self, states: &mut [bool]) {
        for (index, component) in self.components.iter().enumerate() {
            if states[index] && matches!(component, Component::Recursive) {
                states[index + 1] = true;
            }
        }
    }

    fn accepts(&self, states: &[bool]) -> bool {
        states.last().copied().unwrap_or(false)
    }
}

impl Component {
    pub(super) fn new(name: &str, usage: Usage) -> Self {
        if name == "**" {
            return Self::Recursive;
        }
        if !name.contains(['*', '?']) {
            return Self::Literal(name.into());
        }
        let mut tokens = Vec::with_capacity(name.len() + 1);
        for (index, character) in name.chars().enumerate() {
            let leading = index == 0 && usage == Usage::Include;
            match character {
                '*' if leading => tokens.extend([Token::LeadingStar, Token::Star]),
                '?' if leading => tokens.push(Token::NotDot),
                // Two adjacent stars match the same as one.
                '*' if tokens.last() == Some(&Token::Star) && index > 1 => {}
                '*' => tokens.push(Token::Star),
                '?' => tokens.push(Token::Any),
                other => tokens.push(Token::Char(other)),
            }
        }
        Self::Wild(tokens)
    }

    pub(super) fn accepts(&self, name: &str, is_last: bool, include: bool) -> bool {
        match self {
            Self::Literal(literal) => **literal == *name,
            Self::Recursive if include => !name.starts_with('.') && !PACKAGE_FOLDERS.contains(&name),
            // The `.` of a regular expression matches no line terminator, which file names may contain.
            Self::Recursive => !name.contains(['\n', '\r', '\u{2028}', '\u{2029}']),
            Self::Wild(_) if include && PACKAGE_FOLDERS.contains(&name) => false,
            Self::Wild(tokens) => {
                let minified = include && is_last && name.ends_with(".min.js");
                wild_matches(tokens, name, minified.then(|| name.len() - ".min.js".len()))
            }
        }
    }
}

/// Whether the tokens match the whole name. Stars do not match the dot at `forbidden`.
fn wild_matches(tokens: &[Token], name: &str, forbidden: Option<usize>) -> bool {
    let mut states = vec![false; tokens.len() + 1];
    let mut next = states.clone();
    states[0] = true;
    close_tokens(tokens, &mut states);
    for (at, character) in name.char_indices() {
        next.fill(false);
        for (index, token) in tokens.iter().enumerate() {
            if !states[index] {
                continue;
            }
            match token {
                Token::Char(expected) => next[index + 1] |= *expected == character,
                Token::Any => next[index + 1] = true,
                Token::NotDot | Token::LeadingStar => next[index + 1] |= character != '.',
                Token::Star => next[index] |= Some(at) != forbidden,
            }
        }
        close_tokens(tokens, &mut next);
        std::mem::swap(&mut states, &mut next);
    }
    states.last().copied().unwrap_or(false)
}

/// A star may match nothing.
fn close_tokens(tokens: &[Token], states: &mut [bool]) {
    for (index, token) in tokens.iter().enumerate() {
        let skip = match token {
            Token::Star => 1,
            Token::LeadingStar => 2,
            _ => continue,
        };
        if states[index]
            && let Some(state) = states.get_mut(index + skip)
        {
            *state = true;
        }
    }
}

/// Why TypeScript rejects a pattern of `include` or `exclude`; `None` if it accepts it.
pub(super) fn refusal(spec: &str, usage: Usage) -> Option<&'static str> {
    let stem = spec.strip_suffix('/').unwrap_or(spec);
    if usage == Usage::Include && (stem == "**" || stem.ends_with("/**")) {
        return Some("it ends in `**`");
    }
    let wildcard = if spec.starts_with("**/") { Some(0) } else { spec.find("/**/") };
    let parent = if spec.ends_with("/..") { Some(spec.len()) } else { spec.rfind("/../") };
    match (wildcard, parent) {
        (Some(wildcard), Some(parent)) if parent > wildcard => Some("it has `..` after `**`"),
        _ => None,
    }
}
