//! Detects which words of a text are names that it defines, from the previous word and the next character. A guess without a
//! parser that works in every language. Errors are harmless, because names that many files define count nothing.

/// The language whose rules detect definitions.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Syntax {
    TypeScript,
    Python,
    Go,
    Rust,
    Other,
}

const TYPESCRIPT: [&str; 10] = ["ts", "tsx", "js", "jsx", "mjs", "cjs", "mts", "cts", "vue", "svelte"];
const TYPESCRIPT_KEYWORDS: [&str; 9] =
    ["class", "const", "enum", "function", "interface", "let", "namespace", "type", "var"];
/// Words that can be in the position of a name but are not names.
const NO_NAMES: [&str; 18] = [
    "await", "case", "catch", "default", "delete", "do", "else", "export", "for", "if", "import", "new", "return",
    "switch", "throw", "typeof", "while", "yield",
];
const TYPESCRIPT_MODIFIERS: [&str; 8] = ["async", "get", "private", "protected", "public", "readonly", "set", "static"];
const RUST_KEYWORDS: [&str; 8] = ["const", "enum", "fn", "mod", "static", "struct", "trait", "type"];
const OTHER_KEYWORDS: [&str; 21] = [
    "class",
    "def",
    "defmodule",
    "defp",
    "enum",
    "fn",
    "fun",
    "func",
    "function",
    "interface",
    "macro",
    "module",
    "namespace",
    "object",
    "proc",
    "protocol",
    "record",
    "struct",
    "sub",
    "trait",
    "type",
];

/// Takes every word of a text in order, and returns which ones are definitions.
pub(crate) struct Finder<'t> {
    syntax: Syntax,
    text: &'t [u8],
    /// The range of the previous word.
    last: (usize, usize),
    /// Whether the previous word was the first of its line, or preceded only by modifiers.
    is_line_start: bool,
    /// Set while the receiver of a Go method is skipped: `func (s *Server) Start`.
    is_method: bool,
}

impl<'t> Finder<'t> {
    pub(crate) fn new(path: &str, text: &'t [u8]) -> Self {
        let syntax = match path.rsplit_once('.').map_or("", |(_, extension)| extension) {
            extension if TYPESCRIPT.contains(&extension) => Syntax::TypeScript,
            "py" | "pyi" => Syntax::Python,
            "go" => Syntax::Go,
            "rs" => Syntax::Rust,
            _ => Syntax::Other,
        };
        Self { syntax, text, last: (0, 0), is_line_start: true, is_method: false }
    }

    /// Whether the word in this range is defined here.
    pub(crate) fn word(&mut self, start: usize, end: usize) -> bool {
        let before = self.slice(self.last.1, start);
        // `a.b`, `(a`: most words follow another one without a space, and are not definitions.
        if let ([between], Syntax::TypeScript) = (before, self.syntax)
            && self.last.1 != 0
            && !matches!(between, b'*' | b'\n')
        {
            let previous = self.slice(self.last.0, self.last.1);
            self.last = (start, end);
            if between.is_ascii_whitespace() {
                return self.typescript(previous, before, false, true, start, end);
            }
            self.is_line_start = false;
            return false;
        }
        let is_new_line = self.last.1 == 0 || before.contains(&b'\n');
        let indentation = before.iter().rev().take_while(|byte| **byte != b'\n');
        let is_first = is_new_line && indentation.clone().all(u8::is_ascii_whitespace);
        let is_unindented = is_first && indentation.count() == 0;
        let is_beside = !before.is_empty() && before.iter().all(u8::is_ascii_whitespace);
        let previous = self.slice(self.last.0, self.last.1);
        let is_defined = match self.syntax {
            Syntax::TypeScript => self.typescript(previous, before, is_first, is_beside, start, end),
            Syntax::Python => {
                let is_after_keyword = matches!(previous, b"def" | b"class") && is_beside && self.is_line_start;
                self.is_line_start = is_first || (self.is_line_start && previous == b"async");
                is_after_keyword
                    || (is_unindented && is_constant(self.slice(start, end)) && self.next(end) == Some(b'='))
            }
            Syntax::Go => {
                let is_after_keyword = is_beside && self.is_line_start;
                self.is_line_start = is_first;
                self.go(previous, before, is_unindented, is_after_keyword, start, end)
            }
            Syntax::Rust => {
                (is_one_of(&RUST_KEYWORDS, previous) && is_beside)
                    || (previous == b"macro_rules" && before.starts_with(b"!"))
            }
            Syntax::Other => is_one_of(&OTHER_KEYWORDS, previous) && is_beside,
        };
        self.last = (start, end);
        is_defined
    }

    fn typescript(
        &mut self,
        previous: &[u8],
        before: &[u8],
        is_first: bool,
        is_beside: bool,
        start: usize,
        end: usize,
    ) -> bool {
        let is_after_modifiers = self.is_line_start && before == b" " && is_one_of(&TYPESCRIPT_MODIFIERS, previous);
        self.is_line_start = is_first || is_after_modifiers;
        let is_after_keyword = is_one_of(&TYPESCRIPT_KEYWORDS, previous)
            && (is_beside || (previous == b"function" && before.trim_ascii() == b"*"));
        if !(is_after_keyword || self.is_line_start) || self.is_keyword(start, end) {
            return false;
        }
        match self.next(end) {
            Some(b'=' | b'(' | b':' | b'<' | b'{') => true,
            Some(b'e' | b'i') => {
                let rest = self.text.get(end..).unwrap_or_default().trim_ascii_start();
                start < end && (rest.starts_with(b"extends ") || rest.starts_with(b"implements "))
            }
            _ => false,
        }
    }

    fn go(
        &mut self,
        previous: &[u8],
        before: &[u8],
        is_unindented: bool,
        is_after_keyword: bool,
        start: usize,
        end: usize,
    ) -> bool {
        let word = self.slice(start, end);
        if is_unindented && word == b"func" {
            // Skip the words of the receiver; the name follows its closing parenthesis.
            let rest = self.text.get(end..).unwrap_or_default().trim_ascii_start();
            self.is_method = rest.starts_with(b"(");
            return false;
        }
        if self.is_method {
            let is_name = before.contains(&b')');
            self.is_method = !is_name && !before.contains(&b'\n');
            return is_name;
        }
        is_after_keyword && matches!(previous, b"func" | b"type" | b"var" | b"const")
    }

    fn is_keyword(&self, start: usize, end: usize) -> bool {
        let word = self.slice(start, end);
        is_one_of(&TYPESCRIPT_KEYWORDS, word) || is_one_of(&NO_NAMES, word)
    }

    fn slice(&self, start: usize, end: usize) -> &'t [u8] {
        self.text.get(start..end).unwrap_or_default()
    }

    /// The next byte that is not white space.
    fn next(&self, end: usize) -> Option<u8> {
        // Bounded: otherwise, a hostile text of spaces would be scanned again for each word.
        self.text.get(end..)?.iter().take(64).copied().find(|byte| !byte.is_ascii_whitespace())
    }
}

fn is_one_of(words: &[&str], word: &[u8]) -> bool {
    // Most words differ in their first letter, and comparing that is cheaper than a call.
    let Some(&first) = word.first() else { return false };
    words.iter().any(|one| one.as_bytes().first() == Some(&first) && one.as_bytes() == word)
}

/// `MAX_SIZE`.
fn is_constant(word: &[u8]) -> bool {
    word.iter().all(|byte| matches!(byte, b'A'..=b'Z' | b'0'..=b'9' | b'_'))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn defined(path: &str, text: &str) -> String {
        let mut finder = Finder::new(path, text.as_bytes());
        let ranges: Vec<(usize, usize)> = crate::words::ranges(text.as_bytes()).collect();
        let found = ranges.into_iter().filter(|&(start, end)| finder.word(start, end));
        found.map(|(start, end)| &text[start..end]).collect::<Vec<_>>().join(" ")
    }

    #[test]
    fn names_that_typescript_declares_are_definitions() {
        for (text, expected) in [
            ("export const parse = 1;\nlet other;", "parse"),
            ("function* walk() {}", "walk"),
            ("export class Base extends Other {}", "Base"),
            ("class Sub\n  implements Thing {}", "Sub"),
            ("interface Shape<T> { size: number }", "Shape"),
            ("class Of {\n  private static async load(x: T) {}\n  name: string;\n}", "Of load name"),
            ("const { taken } = other; x = done;", ""),
            ("import { thing } from 'place';", ""),
        ] {
            assert_eq!(defined("a.ts", text), expected, "{text}");
        }
    }

    #[test]
    fn names_that_other_languages_declare_are_definitions() {
        for (path, text, expected) in [
            (
                "a.py",
                "class Spider:\n    async def crawl(self):\n        limit = 1\nMAX_SIZE = 2\n",
                "Spider crawl MAX_SIZE",
            ),
            (
                "a.go",
                "func Run(x int) {}\nfunc (s *Server) Start(y int) {}\ntype Server struct{}\nvar count = 1",
                "Run Start Server count",
            ),
            ("a.rs", "pub(crate) fn walk<T>() {}\nstruct Node;\nmacro_rules! node { () => {} }", "walk Node node"),
            ("a.rb", "class Cart\n  def total\n  end\nend", "Cart total"),
            ("README.md", "The class of functions", "of"),
        ] {
            assert_eq!(defined(path, text), expected, "{text}");
        }
    }
}
