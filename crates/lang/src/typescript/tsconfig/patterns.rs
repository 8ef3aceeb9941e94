//! The `include` and `exclude` patterns of a tsconfig: what their components mean. Whole sets are in `pattern_set.rs`.
//!
//! TypeScript turns a pattern into a regular expression and walks the disk; the same language is decided here
//! component by component, without a walk and in time that no pattern can blow up. Paths are compared with case.

use super::paths;

/// What a pattern is for: the wildcards of the two differ.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Usage {
    /// `*` and `**` skip dot names, package folders and `.min.js`; the whole path must match.
    Include,
    /// Wildcards match anything; whatever lies below a match is matched too.
    Exclude,
}

/// Folders that wildcards of `include` do not enter.
const PACKAGE_FOLDERS: [&str; 3] = ["node_modules", "bower_components", "jspm_packages"];

/// The components of a pattern, made absolute. `None` for a pattern that matches nothing: an empty one, or an `include`
/// that ends in `**`.
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

/// One pattern by itself: what a set of patterns must agree with.
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
    /// A `?` in front: no dot.
    NotDot,
    /// `*`
    Star,
    /// A `*` in front: nothing, or a character other than a dot and then the [`Token::Star`] that follows.
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
                    // A recursive component stays where it is, to take the next name too.
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
                // Two stars in a row are as good as one, and shorter.
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
            // A regular expression's `.` does not match the end of a line, and file names may contain one.
            Self::Recursive => !name.contains(['\n', '\r', '\u{2028}', '\u{2029}']),
            Self::Wild(_) if include && PACKAGE_FOLDERS.contains(&name) => false,
            Self::Wild(tokens) => {
                let minified = include && is_last && name.ends_with(".min.js");
                wild_matches(tokens, name, minified.then(|| name.len() - ".min.js".len()))
            }
        }
    }
}

/// Whether the tokens match the whole name. No star may take the dot at `forbidden`.
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

/// Why TypeScript refuses a pattern of `include` or `exclude`, if it does.
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
