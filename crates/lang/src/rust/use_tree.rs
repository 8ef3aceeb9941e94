//! Flattens the tree of a `use` declaration into a list of names with full paths.

use super::lexer::{Kind, Lexed};

/// Longer paths are dropped: the prefix is repeated for each name of a list, and this bound keeps the work linear in the text.
const MAX_SEGMENTS: usize = 64;

/// One name of a `use` declaration.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct UseLeaf<'t> {
    /// A leading `::` is an empty first segment.
    pub(super) path: Vec<&'t str>,
    pub(super) alias: Option<&'t str>,
    pub(super) is_glob: bool,
    /// The first token of the last path segment.
    pub(super) token: usize,
    /// The token of the bound name.
    pub(super) name_token: usize,
}

impl<'t> UseLeaf<'t> {
    /// The name that the declaration binds.
    pub(super) fn name(&self) -> Option<&'t str> {
        let name = self.alias.or_else(|| self.path.last().copied()).filter(|_| !self.is_glob)?;
        (!matches!(name, "_" | "")).then_some(name)
    }
}

/// The names of the declaration whose tree starts at a token, and the token after it.
pub(super) fn leaves<'t>(lexed: &Lexed<'t>, start: usize) -> (Vec<UseLeaf<'t>>, usize) {
    let mut reader =
        UseTreeReader { lexed, found: Vec::new(), path: Vec::new(), prefixes: Vec::new(), leaf: Leaf::default() };
    let mut at = start;
    loop {
        match lexed.kind(at) {
            None => break,
            Some(Kind::Mark(b';')) => {
                at += 1;
                break;
            }
            Some(Kind::Separator) if reader.path.is_empty() => reader.path.push(""),
            Some(Kind::Separator) => {}
            Some(Kind::Word) if lexed.text_at(at) == "as" && reader.leaf.token.is_some() => {
                reader.leaf.alias = Some(lexed.word(at + 1)).filter(|alias| !alias.is_empty());
                reader.leaf.name_token = at + 1;
                at += 1;
            }
            Some(Kind::Word) => {
                reader.leaf.token.get_or_insert(at);
                reader.leaf.name_token = at;
                reader.path.push(lexed.text_at(at));
            }
            Some(Kind::Mark(b'*')) => {
                reader.leaf.token.get_or_insert(at);
                reader.leaf.is_glob = true;
            }
            Some(Kind::Mark(b'{')) => {
                reader.prefixes.push(reader.path.len());
                reader.leaf = Leaf::default();
            }
            Some(Kind::Mark(b',')) => reader.end_leaf(),
            Some(Kind::Mark(b'}')) => {
                reader.end_leaf();
                if reader.prefixes.pop().is_none() {
                    // An unclosed declaration: this bracket closes the enclosing block.
                    return (reader.found, at);
                }
            }
            // A macro variable, whose value is unknown.
            Some(_) => reader.leaf.is_broken = true,
        }
        at += 1;
    }
    reader.end_leaf();
    (reader.found, at)
}

#[derive(Default)]
struct Leaf<'t> {
    token: Option<usize>,
    name_token: usize,
    alias: Option<&'t str>,
    is_glob: bool,
    is_broken: bool,
}

struct UseTreeReader<'l, 't> {
    lexed: &'l Lexed<'t>,
    found: Vec<UseLeaf<'t>>,
    path: Vec<&'t str>,
    /// The length of the path at each open brace.
    prefixes: Vec<usize>,
    leaf: Leaf<'t>,
}

impl UseTreeReader<'_, '_> {
    fn end_leaf(&mut self) {
        let Leaf { token, name_token, alias, is_glob, is_broken } = std::mem::take(&mut self.leaf);
        let prefix = self.prefixes.last().copied().unwrap_or(0);
        if let Some(token) = token.filter(|_| !is_broken && self.path.len() <= MAX_SEGMENTS) {
            let mut path = self.path.clone();
            if path.len() > 1 && path.last() == Some(&"self") {
                path.pop();
            }
            let has_name = path.iter().any(|segment| !segment.is_empty());
            if has_name && !self.lexed.text.is_empty() {
                self.found.push(UseLeaf { path, alias, is_glob, token, name_token });
            }
        }
        self.path.truncate(prefix);
    }
}

#[cfg(test)]
mod tests {
    use super::super::lexer::lex;
    use super::*;

    fn check(text: &str, expected: &[&str]) {
        let lexed = lex(text);
        let (leaves, _) = leaves(&lexed, 1);
        let shown: Vec<String> = leaves
            .iter()
            .map(|leaf| {
                let star = if leaf.is_glob { "::*" } else { "" };
                let alias = leaf.alias.map(|alias| format!(" as {alias}")).unwrap_or_default();
                format!("{}{star}{alias}", leaf.path.join("::"))
            })
            .collect();
        assert_eq!(shown, expected, "{text}");
    }

    #[test]
    fn use_trees_are_flattened_to_whole_paths() {
        check("use a;", &["a"]);
        check(
            "use a::b::{self, c, d::{e as f, *}, g};",
            &["a::b", "a::b::c", "a::b::d::e as f", "a::b::d::*", "a::b::g"],
        );
        check("use ::a::b; ", &["::a::b"]);
        check("use {a, b::c as _};", &["a", "b::c as _"]);
        check("use super::*;", &["super::*"]);
        check("use self::a::b;", &["self::a::b"]);
        check("use a::{};", &[]);
        check("use a::{b, c", &["a::b", "a::c"]);
        check("use r#a::r#type;", &["a::type"]);
        check("use a::$b;", &[]);
    }

    #[test]
    fn deep_use_trees_do_not_overflow_the_stack() {
        let text = format!("use {}x;", "a::{".repeat(100_000));
        assert!(leaves(&lex(&text), 1).0.is_empty());
    }
}
