//! Translates one picomatch glob (with dotfiles) into a regular expression over root-relative paths.
//!
//! Follows picomatch, including its corner cases (`picomatch.txt` has recorded results). Refuses, with a reason, what picomatch
//! interprets in an unintended way (`[!a]`, `{1..12}`, parentheses) or what can never match a path, so that no glob silently has
//! no effect. Matching is done elsewhere.

use super::tokens::{Token, tokens};

/// Real globs are shorter, and every byte costs memory in the automaton.
const MAX_LENGTH: usize = 4096;

/// Limits nesting: otherwise groups would nest as deep as the glob has folders.
const MAX_COMPONENTS: usize = 32;

/// Why a glob is refused, as a clause after "because".
pub(super) type GlobReason = String;

/// The expression for the whole glob, not anchored.
pub(super) fn expression(glob: &str) -> Result<String, GlobReason> {
    let glob = relative(glob)?;
    let translated = emit(&tokens(glob)?);
    // As in picomatch, a path spelled exactly like the glob matches too: `[...slug].ts` is also a file name.
    Ok(format!("(?:{translated}|{})", escaped(glob)))
}

/// An expression that matches every directory below which the glob could match, including the root.
pub(super) fn directories_expression(glob: &str) -> Result<String, GlobReason> {
    let glob = relative(glob)?;
    let tokens = tokens(glob)?;
    let mut opened = String::new();
    let mut closed = String::new();
    let mut components = components(&tokens).into_iter().peekable();
    let mut taken = 0;
    while let Some(component) = components.next() {
        let any_depth = component.iter().any(|token| matches!(token, Token::Stars(2..) | Token::Slash));
        if any_depth || taken == MAX_COMPONENTS {
            opened.push_str(if taken == 0 { ".*" } else { "(?:/.*)?" });
            break;
        }
        // The last component is the file, not a directory.
        if components.peek().is_none() {
            break;
        }
        opened.push_str(if taken == 0 { "(?:" } else { "(?:/" });
        opened.push_str(&emit(component));
        closed.push_str(")?");
        taken += 1;
    }
    Ok(format!("(?:{opened}{closed}|{})", literal_directories(glob)))
}

/// The directories of the path that is spelled exactly like the glob, with its braces and backslashes taken literally.
fn literal_directories(glob: &str) -> String {
    let mut names = glob.split('/');
    // The last component is the file.
    names.next_back();
    let mut opened = String::new();
    let mut closed = String::new();
    for (taken, name) in names.enumerate() {
        if taken == MAX_COMPONENTS {
            opened.push_str("(?:/.*)?");
            break;
        }
        opened.push_str(if taken == 0 { "(?:" } else { "(?:/" });
        opened.push_str(&escaped(name));
        closed.push_str(")?");
    }
    opened + &closed
}

/// Validates that a glob is relative to the root and contains only valid names; removes a leading `./`.
fn relative(glob: &str) -> Result<&str, GlobReason> {
    let glob = glob.strip_prefix("./").unwrap_or(glob);
    let refusal = if glob.is_empty() {
        "it is empty".to_owned()
    } else if glob.len() > MAX_LENGTH {
        format!("it is longer than {MAX_LENGTH} bytes")
    } else if glob.contains('\0') {
        "it contains a NUL character".to_owned()
    } else if glob.starts_with("!(") {
        "extended globs such as `!(…)` are not supported; write alternatives as `{a,b}`".to_owned()
    } else if glob.starts_with('!') {
        "negated globs are not supported; `includes` adds files, and `excludes` takes files out".to_owned()
    } else if glob.starts_with('/') {
        format!("globs are relative to the root; write `{}`", glob.trim_start_matches('/'))
    } else if glob.ends_with('/') {
        format!("it ends with `/`, and only files are matched; write `{glob}**` for all that is below the folder")
    } else if glob.split('/').any(|name| name == "..") {
        "`..` in it would leave the root or match nothing".to_owned()
    } else if glob.split('/').any(|name| name.is_empty() || name == ".") {
        "a `.` or nothing between two `/` matches no path; leave it out".to_owned()
    } else {
        return Ok(glob);
    };
    Err(refusal)
}

/// The tokens between slashes outside of braces.
fn components(tokens: &[Token]) -> Vec<&[Token]> {
    let mut depth = 0usize;
    tokens
        .split(|token| {
            match token {
                Token::Open => depth += 1,
                Token::Close => depth = depth.saturating_sub(1),
                _ => {}
            }
            *token == Token::Slash && depth == 0
        })
        .collect()
}

/// The previous token, as far as the next one depends on it.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Previous {
    Start,
    Slash,
    Brace,
    Star,
    /// A dot within braces.
    Dot,
    Other,
}

fn emit(tokens: &[Token]) -> String {
    if is_globstar_with_extension(tokens) {
        return format!(".*{}", tokens.iter().skip(1).map(literal_of).collect::<String>());
    }
    let mut emitter = Emitter { out: String::new(), previous: Previous::Start, is_star_before_slash: false, braces: 0 };
    let mut rest = tokens;
    while let Some((token, after)) = rest.split_first() {
        rest = emitter.token(token, after);
    }
    emitter.out
}

struct Emitter {
    out: String,
    previous: Previous,
    /// Whether the token before the last slash was a wildcard.
    is_star_before_slash: bool,
    /// The number of open braces.
    braces: usize,
}

impl Emitter {
    /// Writes one token; returns the remaining ones.
    fn token<'t>(&mut self, token: &Token, mut rest: &'t [Token]) -> &'t [Token] {
        self.previous = match token {
            Token::Literal(character) => {
                push_escaped(&mut self.out, *character);
                if *character == '.' && self.braces > 0 { Previous::Dot } else { Previous::Other }
            }
            Token::One => {
                self.out.push_str("[^/]");
                Previous::Other
            }
            Token::Class { expression, .. } => {
                self.out.push_str(expression);
                Previous::Other
            }
            Token::Open => {
                self.braces += 1;
                self.out.push_str("(?:");
                Previous::Brace
            }
            Token::Comma => {
                self.out.push('|');
                Previous::Brace
            }
            Token::Close => {
                self.braces = self.braces.saturating_sub(1);
                self.out.push(')');
                Previous::Other
            }
            Token::Slash => {
                self.is_star_before_slash = self.previous == Previous::Star;
                self.out.push('/');
                Previous::Slash
            }
            Token::Stars(2) if self.is_globstar(rest) => {
                rest = strip_repeated_globstars(rest);
                return self.globstar(rest);
            }
            Token::Stars(_) => {
                self.star(rest);
                Previous::Star
            }
        };
        rest
    }

    fn star(&mut self, rest: &[Token]) {
        let ends_name = matches!(rest.first(), None | Some(Token::Slash));
        let ends_part = ends_name || matches!(rest.first(), Some(Token::Comma | Token::Close));
        self.out.push_str(match self.previous {
            Previous::Start | Previous::Slash if ends_name => "[^/]+",
            // A quirk of picomatch: within braces, `a.*` requires at least one more character after the dot.
            Previous::Dot if ends_part => r"(?:[^/.][^/]*|\.[^/]+)",
            _ => "[^/]*",
        });
    }

    /// `**` crosses folders only as a whole component, or as a whole alternative.
    fn is_globstar(&self, rest: &[Token]) -> bool {
        matches!(self.previous, Previous::Start | Previous::Slash | Previous::Brace)
            && match rest.first() {
                None | Some(Token::Slash | Token::Open | Token::Comma | Token::Close) => true,
                Some(Token::Class { source, .. }) => source.starts_with('{'),
                _ => false,
            }
    }

    fn globstar<'t>(&mut self, rest: &'t [Token]) -> &'t [Token] {
        let (next, after) = (rest.first(), rest.get(1..).unwrap_or_default());
        match (self.previous, next) {
            (Previous::Slash, None) if !self.is_star_before_slash => {
                self.out.pop();
                self.out.push_str("(?:/.*|$)");
            }
            (Previous::Slash, Some(Token::Slash)) => {
                self.out.pop();
                // Only alternatives can be empty, so only before them the end of the path is accepted.
                let end = if after.first() == Some(&Token::Open) { "|$" } else { "" };
                self.out.push_str(&format!("(?:/.*/|/{end})"));
                return self.after_folders(after);
            }
            (Previous::Start, Some(Token::Slash)) => {
                self.out.push_str("(?:.*/)?");
                return self.after_folders(after);
            }
            _ => self.out.push_str(".*"),
        }
        self.previous = Previous::Star;
        rest
    }

    fn after_folders<'t>(&mut self, rest: &'t [Token]) -> &'t [Token] {
        self.previous = Previous::Slash;
        self.is_star_before_slash = true;
        rest
    }
}

/// `**/**/a` is `**/a`.
fn strip_repeated_globstars(mut rest: &[Token]) -> &[Token] {
    while let [Token::Slash, Token::Stars(2), after @ ..] = rest {
        if !matches!(after.first(), None | Some(Token::Slash)) {
            break;
        }
        rest = after;
    }
    rest
}

/// `**.js`, which picomatch treats as `**/*.js`, although `a/**.js` is `a/*.js`.
fn is_globstar_with_extension(tokens: &[Token]) -> bool {
    let [Token::Stars(2), rest @ ..] = tokens else { return false };
    let mut was_dot = None;
    let is_word = |token: &Token| matches!(token, Token::Literal(c) if c.is_ascii_alphanumeric() || *c == '_');
    for token in rest {
        let is_dot = *token == Token::Literal('.');
        if !(is_dot && was_dot != Some(true) || was_dot.is_some() && is_word(token)) {
            return false;
        }
        was_dot = Some(is_dot);
    }
    was_dot == Some(false)
}

fn literal_of(token: &Token) -> String {
    let mut out = String::new();
    if let Token::Literal(character) = token {
        push_escaped(&mut out, *character);
    }
    out
}

pub(super) fn escaped(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    text.chars().for_each(|character| push_escaped(&mut out, character));
    out
}

/// Escapes only regular expression syntax: escaping other characters could have a meaning.
pub(super) fn push_escaped(out: &mut String, character: char) {
    if matches!(
        character,
        '\\' | '.' | '+' | '*' | '?' | '(' | ')' | '|' | '[' | ']' | '{' | '}' | '^' | '$' | '#' | '&' | '-' | '~'
    ) {
        out.push('\\');
    }
    out.push(character);
}
