//! The top level of a Go file: its package, imports and declarations, each with its token range. Bodies are not parsed here but
//! scanned by `names.rs`. A broken file gives a partial result: an unmatched bracket extends to the end of the file.

use super::keyword::Keyword;
use super::lexer::{Comment, Kind, Lexed, Token, lex};

/// The maximum number of tokens between the parameters of a function and its body.
const MAX_RESULT_TOKENS: usize = 64;

/// A parsed file.
pub(super) struct File<'t> {
    pub(super) text: &'t str,
    pub(super) tokens: Vec<Token>,
    /// For each opening bracket, the token that closes it.
    pairs: Vec<u32>,
    pub(super) comments: Vec<Comment>,
    /// See [`Lexed`].
    pub(super) structure: Vec<u32>,
    pub(super) names: Vec<u32>,
    pub(super) package: Option<&'t str>,
    pub(super) imports: Vec<Import<'t>>,
    pub(super) declarations: Vec<Declaration<'t>>,
    /// The offset of the first token that is not part of a declaration.
    pub(super) error: Option<u32>,
}

/// One import of a file.
#[derive(Clone, Copy, Debug)]
pub(super) struct Import<'t> {
    /// `.`, `_` or an alias.
    pub(super) alias: Option<&'t str>,
    pub(super) path: &'t str,
    pub(super) position: u32,
    pub(super) end: u32,
}

/// The kind of a top-level declaration.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum What {
    Function,
    Method,
    Type,
    Variable,
    Constant,
}

/// One declaration: a function, or one line of a group.
#[derive(Clone, Debug)]
pub(super) struct Declaration<'t> {
    pub(super) what: What,
    pub(super) names: Vec<(&'t str, Token)>,
    /// The token range of the declaration. Starts at the keyword, unless the declaration is in a group.
    pub(super) from: usize,
    pub(super) to: usize,
    /// The start of the signature, type or value.
    pub(super) rest: usize,
    /// The token range of the receiver list of a method.
    pub(super) receiver: Option<(usize, usize)>,
}

impl<'t> File<'t> {
    pub(super) fn read(text: &'t str) -> Self {
        let Lexed { tokens, comments, structure, names } = lex(text);
        let pairs = pairs(&tokens);
        let mut file = Self {
            text,
            tokens,
            pairs,
            comments,
            structure,
            names,
            package: None,
            imports: Vec::new(),
            declarations: Vec::new(),
            error: None,
        };
        file.top_level();
        file
    }

    pub(super) fn word(&self, at: usize) -> &'t str {
        match self.tokens.get(at) {
            Some(token) if token.kind == Kind::Word => self.text_of(token),
            _ => "",
        }
    }

    /// The keyword at a token, `No` for anything else.
    pub(super) fn keyword(&self, at: usize) -> Keyword {
        self.tokens.get(at).map_or(Keyword::No, |token| token.keyword)
    }

    pub(super) fn text_of(&self, token: &Token) -> &'t str {
        self.text.get(token.start as usize..token.end as usize).unwrap_or_default()
    }

    /// The index of a token of this file.
    pub(super) fn token_index(&self, token: &Token) -> usize {
        self.tokens.partition_point(|one| one.start < token.start)
    }

    pub(super) fn kind(&self, at: usize) -> Option<Kind> {
        self.tokens.get(at).map(|token| token.kind)
    }

    pub(super) fn is_mark(&self, at: usize, mark: u8) -> bool {
        self.kind(at) == Some(Kind::Mark(mark))
    }

    /// The token after the bracket that closes the one at `at`; the end of the file if it is unclosed.
    pub(super) fn behind_bracket(&self, at: usize) -> usize {
        self.pairs.get(at).map_or(self.tokens.len(), |close| (*close as usize + 1).min(self.tokens.len()))
    }

    /// The semicolon that ends the construct at `at`, or the closing bracket around it, or the end of the file. Skips bracketed
    /// parts.
    pub(super) fn end_of(&self, mut at: usize) -> usize {
        while let Some(kind) = self.kind(at) {
            match kind {
                Kind::Mark(b'(' | b'[' | b'{') => at = self.behind_bracket(at),
                Kind::Mark(b')' | b']' | b'}') | Kind::End => return at,
                _ => at += 1,
            }
        }
        self.tokens.len()
    }

    /// The brace that opens the body of `if`, `for`, `switch` or `select`. Go requires parentheses around a composite literal in
    /// a header, so it is the first brace that does not belong to a function or type.
    pub(super) fn header(&self, keyword: usize) -> usize {
        let mut at = keyword + 1;
        while let Some(kind) = self.kind(at) {
            match kind {
                Kind::Mark(b'{' | b')' | b']' | b'}') => break,
                Kind::Mark(b'(' | b'[') => at = self.behind_bracket(at),
                Kind::Word if self.keyword(at) == Keyword::Func => at = self.function_body(at + 1).1,
                Kind::Word
                    if matches!(self.keyword(at), Keyword::Struct | Keyword::Interface)
                        && self.is_mark(at + 1, b'{') =>
                {
                    at = self.behind_bracket(at + 1);
                }
                // Cannot occur in a header. Stop here, otherwise a broken file would be scanned once per keyword, in quadratic
                // time.
                Kind::Word
                    if matches!(
                        self.keyword(at),
                        Keyword::If | Keyword::For | Keyword::Switch | Keyword::Select | Keyword::Case | Keyword::Else
                    ) =>
                {
                    break;
                }
                _ => at += 1,
            }
        }
        at
    }

    /// The end of a statement whose body opens at `body`, including all `else` branches.
    pub(super) fn end_of_branches(&self, body: usize) -> usize {
        if !self.is_mark(body, b'{') {
            return body;
        }
        let mut end = self.behind_bracket(body);
        while self.keyword(end) == Keyword::Else {
            let next = if self.keyword(end + 1) == Keyword::If { self.header(end + 1) } else { end + 1 };
            if !self.is_mark(next, b'{') {
                break;
            }
            end = self.behind_bracket(next);
        }
        end
    }

    /// The token range of a function's body, found from the start of its parameters. Empty for a function type: both ends are
    /// after the signature.
    pub(super) fn function_body(&self, parameters: usize) -> (usize, usize) {
        let mut at = if self.is_mark(parameters, b'(') { self.behind_bracket(parameters) } else { parameters };
        // Bounded, so that broken files cannot make this quadratic. Real result lists are short.
        for _ in 0..MAX_RESULT_TOKENS {
            match self.kind(at) {
                Some(Kind::Mark(b'{')) => return (at, self.behind_bracket(at)),
                Some(Kind::Mark(b'(' | b'[')) => at = self.behind_bracket(at),
                Some(Kind::Word)
                    if matches!(self.keyword(at), Keyword::Struct | Keyword::Interface)
                        && self.is_mark(at + 1, b'{') =>
                {
                    at = self.behind_bracket(at + 1);
                }
                Some(Kind::Mark(b'*' | b'.') | Kind::Operator | Kind::Dots | Kind::Word) => at += 1,
                _ => break,
            }
        }
        (at, at)
    }

    fn top_level(&mut self) {
        let mut at = 0;
        while at < self.tokens.len() {
            at = match self.keyword(at) {
                Keyword::Package => {
                    self.package = Some(self.word(at + 1)).filter(|name| !name.is_empty());
                    self.end_of(at)
                }
                Keyword::Import => self.group(at, Self::import),
                Keyword::Func => self.function(at),
                Keyword::Type => self.group(at, |file, at, from| file.values(at, from, What::Type)),
                Keyword::Var => self.group(at, |file, at, from| file.values(at, from, What::Variable)),
                Keyword::Const => self.group(at, |file, at, from| file.values(at, from, What::Constant)),
                _ if self.kind(at) == Some(Kind::End) => at + 1,
                _ => {
                    let start = self.tokens.get(at).map(|token| token.start);
                    self.error = self.error.or(start);
                    self.end_of(at).max(at + 1)
                }
            };
        }
    }

    /// Parses one line, or the lines in parentheses. `read` gets the start of the line and of its declaration.
    fn group(&mut self, keyword: usize, mut read: impl FnMut(&mut Self, usize, usize) -> usize) -> usize {
        if !self.is_mark(keyword + 1, b'(') {
            return read(self, keyword + 1, keyword).max(keyword + 1);
        }
        let end = self.behind_bracket(keyword + 1);
        let mut at = keyword + 2;
        while at + 1 < end {
            if self.kind(at) == Some(Kind::End) {
                at += 1;
            } else {
                at = read(self, at, at).max(at + 1);
            }
        }
        end
    }

    fn import(&mut self, at: usize, _: usize) -> usize {
        let (alias, path) = match self.kind(at) {
            Some(Kind::Text) => (None, at),
            Some(Kind::Mark(b'.')) => (Some("."), at + 1),
            _ => (Some(self.word(at)).filter(|alias| !alias.is_empty()), at + 1),
        };
        if let Some(token) = self.tokens.get(path).filter(|token| token.kind == Kind::Text) {
            let literal = self.text_of(token);
            let path = literal.trim_matches(['"', '`']);
            if !path.is_empty() && !path.contains(['\\', '\n', '"', ' ']) {
                self.imports.push(Import { alias, path, position: token.start, end: token.end });
            }
        }
        self.end_of(at)
    }

    fn function(&mut self, keyword: usize) -> usize {
        let receiver = self.is_mark(keyword + 1, b'(').then(|| (keyword + 1, self.behind_bracket(keyword + 1)));
        let name = receiver.map_or(keyword + 1, |(_, end)| end);
        let end = self.end_of(keyword + 1);
        if let Some(token) = self.tokens.get(name).copied().filter(|token| token.kind == Kind::Word) {
            let what = if receiver.is_some() { What::Method } else { What::Function };
            let names = vec![(self.text_of(&token), token)];
            self.declarations.push(Declaration { what, names, from: keyword, to: end, rest: name + 1, receiver });
        } else {
            self.error = self.error.or(self.tokens.get(keyword).map(|token| token.start));
        }
        end
    }

    /// Parses `a, b T = 1, 2`, or `A T` for types.
    fn values(&mut self, at: usize, from: usize, what: What) -> usize {
        let mut names = Vec::new();
        let mut next = at;
        while let Some(token) = self.tokens.get(next).copied().filter(|token| token.kind == Kind::Word) {
            names.push((self.text_of(&token), token));
            next += 1;
            if what == What::Type || !self.is_mark(next, b',') {
                break;
            }
            next += 1;
        }
        let end = self.end_of(at);
        if names.is_empty() {
            self.error = self.error.or(self.tokens.get(at).map(|token| token.start));
        } else {
            self.declarations.push(Declaration { what, names, from, to: end, rest: next, receiver: None });
        }
        end
    }
}

/// Pairs of brackets. Brackets of different kinds match each other, so that errors in broken files stay local.
fn pairs(tokens: &[Token]) -> Vec<u32> {
    let mut pairs = vec![u32::MAX; tokens.len()];
    let mut open = Vec::new();
    for (index, token) in tokens.iter().enumerate() {
        match token.kind {
            Kind::Mark(b'(' | b'[' | b'{') => open.push(index),
            Kind::Mark(b')' | b']' | b'}') => {
                if let Some(opened) = open.pop() {
                    pairs[opened] = index as u32;
                }
            }
            _ => {}
        }
    }
    pairs
}
