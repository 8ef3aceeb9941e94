//! Splits a glob into tokens: literal characters, and the braces, commas and brackets that are syntax.
//!
//! All syntax errors are detected here. `translate` gives the tokens their meaning.

use super::translate::{GlobReason, escaped, push_escaped};

#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Token {
    Literal(char),
    /// `?`
    One,
    /// This many `*` in a row.
    Stars(usize),
    Slash,
    /// `[…]`, or a range such as `{1..3}`: as a regular expression, and as written.
    Class {
        expression: String,
        source: String,
    },
    /// Braces and commas are tokens only in alternatives.
    Open,
    Comma,
    Close,
}

pub(super) fn tokens(glob: &str) -> Result<Vec<Token>, GlobReason> {
    let mut found = Vec::new();
    let mut rest = glob.chars();
    while let Some(character) = rest.next() {
        let token = match character {
            '\\' => Token::Literal(escaped_character(rest.next())?),
            '*' => {
                let after = rest.as_str().trim_start_matches('*');
                let more = rest.as_str().len() - after.len();
                rest = after.chars();
                Token::Stars(1 + more)
            }
            '[' => {
                let (token, after) = class(rest.as_str())?;
                rest = after.chars();
                token
            }
            '(' | ')' | '|' => return Err(refused_group(found.last(), character)),
            '"' => return Err("quotes have a meaning of their own to picomatch; write `\\\"`".to_owned()),
            '+' if matches!(found.last(), Some(Token::Class { .. } | Token::Close)) => {
                return Err(
                    "`+` after a bracket or brace has a meaning of its own to picomatch; write `\\+`".to_owned()
                );
            }
            '?' => Token::One,
            '/' => Token::Slash,
            '{' => Token::Open,
            ',' => Token::Comma,
            '}' => Token::Close,
            other => Token::Literal(other),
        };
        found.push(token);
    }
    resolve_braces(found)
}

fn escaped_character(character: Option<char>) -> Result<char, GlobReason> {
    match character {
        None => Err("it ends with a backslash".to_owned()),
        Some(character) if character == '/' || character.is_ascii_alphanumeric() => Err(format!(
            "`\\{character}` escapes nothing; folders are separated by `/`, and a backslash takes the meaning from the \
             character after it"
        )),
        Some(character) => Ok(character),
    }
}

fn refused_group(before: Option<&Token>, character: char) -> GlobReason {
    let is_extended = matches!(before, Some(Token::Literal('!' | '@' | '+') | Token::One | Token::Stars(_)));
    if character == '(' && is_extended {
        "extended globs such as `!(…)` are not supported; write alternatives as `{a,b}`".to_owned()
    } else {
        format!(
            "`{character}` groups alternatives for picomatch; write `{{a,b}}` for those, or `\\{character}` for the character"
        )
    }
}

/// Parses one character class. `rest` starts after the `[`; also returns the text after the `]`.
fn class(rest: &str) -> Result<(Token, &str), GlobReason> {
    const UNCLOSED: &str = "a `[` in it is never closed; write `\\[` for the character";
    let mut members = String::new();
    let mut characters = rest.char_indices().peekable();
    let is_negated = characters.next_if(|(_, character)| *character == '^').is_some();
    if rest.starts_with('!') {
        return Err("`[!…]` means `!` or one of the others to picomatch; write `[^…]` for \"none of these\"".to_owned());
    }
    // The lower end of a possible range.
    let mut low: Option<char> = None;
    let mut is_first = true;
    loop {
        let Some((at, character)) = characters.next() else { return Err(UNCLOSED.to_owned()) };
        let after = rest.get(at..).unwrap_or_default();
        match character {
            ']' if !is_first => {
                low.into_iter().for_each(|low| push_escaped(&mut members, low));
                let content = rest.get(..at).unwrap_or_default();
                let token = finished_class(content, &members, is_negated);
                return Ok((token, rest.get(at + 1..).unwrap_or_default()));
            }
            '[' if after.starts_with("[:") => {
                low.take().into_iter().for_each(|low| push_escaped(&mut members, low));
                let name = posix_name(after)?;
                members.push_str(name);
                // The name is ASCII, so characters equal bytes.
                characters.by_ref().take(name.len() - 1).for_each(drop);
            }
            '-' if low.is_some() && !after.starts_with("-]") => {
                let Some((_, high)) = characters.next() else { return Err(UNCLOSED.to_owned()) };
                let high = class_character(high, characters.next_if(|_| high == '\\'))?;
                let start = low.take().unwrap_or(high);
                if start > high {
                    return Err(format!("the range `{start}-{high}` is empty"));
                }
                push_escaped(&mut members, start);
                members.push('-');
                push_escaped(&mut members, high);
            }
            character => {
                low.into_iter().for_each(|low| push_escaped(&mut members, low));
                low = Some(class_character(character, characters.next_if(|_| character == '\\'))?);
            }
        }
        is_first = false;
    }
}

fn class_character(character: char, next: Option<(usize, char)>) -> Result<char, GlobReason> {
    match character {
        '\\' => escaped_character(next.map(|(_, character)| character)),
        '/' => Err("a `/` inside `[…]` matches nothing, because brackets match within one name".to_owned()),
        other => Ok(other),
    }
}

fn posix_name(text: &str) -> Result<&str, GlobReason> {
    const NAMES: [&str; 14] = [
        "[:alnum:]",
        "[:alpha:]",
        "[:ascii:]",
        "[:blank:]",
        "[:cntrl:]",
        "[:digit:]",
        "[:graph:]",
        "[:lower:]",
        "[:print:]",
        "[:punct:]",
        "[:space:]",
        "[:upper:]",
        "[:word:]",
        "[:xdigit:]",
    ];
    let found = NAMES.into_iter().find(|name| text.starts_with(name));
    found.ok_or_else(|| "it has a `[:…:]` class of an unknown name".to_owned())
}

fn finished_class(content: &str, members: &str, is_negated: bool) -> Token {
    let class = if is_negated { format!("[^/{members}]") } else { format!("[{members}&&[^/]]") };
    // As in picomatch, `[id]` also matches itself literally, if it contains nothing that looks like an expression.
    let is_plain = !content.contains(['-', '*', '+', '?', '.', '^', '$', '{', '}', '(', '|', ')', '[', ']', '\\']);
    let source = format!("[{content}]");
    let expression = if is_plain { format!("(?:{class}|{})", escaped(&source)) } else { class };
    Token::Class { expression, source }
}

/// A brace that is not closed yet.
struct OpenBrace {
    at: usize,
    has_comma: bool,
    has_dots: bool,
}

/// Braces without a comma are literal, commas outside of braces too, and `{a..c}` is a class.
fn resolve_braces(mut tokens: Vec<Token>) -> Result<Vec<Token>, GlobReason> {
    let mut open: Vec<OpenBrace> = Vec::new();
    let mut resolved: Vec<Token> = Vec::with_capacity(tokens.len());
    for token in tokens.drain(..) {
        match (token, open.last_mut()) {
            (Token::Open, _) => {
                open.push(OpenBrace { at: resolved.len(), has_comma: false, has_dots: false });
                resolved.push(Token::Open);
            }
            (Token::Comma, Some(brace)) => {
                brace.has_comma = true;
                resolved.push(Token::Comma);
            }
            (Token::Comma, None) => resolved.push(Token::Literal(',')),
            (Token::Close, None) => resolved.push(Token::Literal('}')),
            (Token::Close, Some(_)) => {
                if let Some(brace) = open.pop() {
                    close(&brace, &mut resolved)?;
                }
            }
            (Token::Literal('.'), Some(brace)) => {
                brace.has_dots |= resolved.last() == Some(&Token::Literal('.'));
                resolved.push(Token::Literal('.'));
            }
            (other, _) => resolved.push(other),
        }
    }
    if open.is_empty() {
        Ok(resolved)
    } else {
        Err("a `{` in it is never closed; write `\\{` for the character".to_owned())
    }
}

fn close(brace: &OpenBrace, resolved: &mut Vec<Token>) -> Result<(), GlobReason> {
    if brace.has_dots {
        let range = match resolved.get(brace.at + 1..) {
            Some([Token::Literal(low), Token::Literal('.'), Token::Literal('.'), Token::Literal(high)])
                if low.is_ascii_alphanumeric() && high.is_ascii_alphanumeric() =>
            {
                (*low.min(high), *low.max(high))
            }
            _ => {
                return Err(
                    "`..` in braces is understood between two single characters only, as in `{1..9}`; write the \
                            alternatives out"
                        .to_owned(),
                );
            }
        };
        resolved.truncate(brace.at);
        let expression = format!("[{}-{}&&[^/]]", range.0, range.1);
        resolved.push(Token::Class { expression, source: format!("{{{}..{}}}", range.0, range.1) });
    } else if brace.has_comma {
        resolved.push(Token::Close);
    } else {
        if let Some(token) = resolved.get_mut(brace.at) {
            *token = Token::Literal('{');
        }
        resolved.push(Token::Literal('}'));
    }
    Ok(())
}
