//! Decides from the text which parts of a syntax tree must be walked: a file without the word `require` does not call it. In
//! doubt, the tree is walked.

use std::sync::LazyLock;

use memchr::memmem::{self, Finder};
use oxc_ast::ast::{Program, Statement};
use oxc_span::GetSpan as _;

/// The nodes to walk below module statements.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct WalkScope {
    /// Expressions: `import()`, `import.meta`, `require`, mocks.
    pub(super) expressions: bool,
    /// Types: `import('x')` in type position.
    pub(super) types: bool,
    /// `createRequire` occurs, so any called name may be a `require`.
    pub(super) create_require: bool,
}

/// Prepared once: most files are so small that preparing a search costs as much as the search.
struct Finders {
    escape: Finder<'static>,
    import: Finder<'static>,
    equire: Finder<'static>,
    ock: Finder<'static>,
}

static FINDERS: LazyLock<Finders> = LazyLock::new(|| Finders {
    escape: Finder::new("\\u"),
    import: Finder::new("import"),
    // `require`, `createRequire` and `requireActual`.
    equire: Finder::new("equire"),
    // `mock` and `Mock`.
    ock: Finder::new("ock"),
});

impl WalkScope {
    pub(super) fn of(text: &str) -> Self {
        let bytes = text.as_bytes();
        // An escape can spell any identifier (`\u0072equire`), so the absence of a word proves nothing.
        if memchr::memchr(b'\\', bytes).is_some()
            && FINDERS.escape.find(bytes).is_some()
            && has_escaped_identifier(bytes)
        {
            return Self { expressions: true, types: true, create_require: true };
        }
        let imports = import_followed_by(bytes);
        let (require, create_require) = requires(bytes);
        let expressions = imports.call || imports.other || create_require || require || has_mock(bytes);
        Self { expressions, types: imports.call, create_require }
    }
}

/// Whether an import statement may be inside another statement. Only module blocks may contain one, but Meteor and TypeScript's
/// parser accept it everywhere.
pub(super) fn has_inner_import(program: &Program<'_>) -> bool {
    let bytes = program.source_text.as_bytes();
    FINDERS.import.find_iter(bytes).any(|at| {
        let (before, after) = (bytes.get(..at).unwrap_or_default(), bytes.get(at + 6..).unwrap_or_default());
        may_be_statement(before, after) && is_inner(program, at)
    })
}

fn may_be_statement(before: &[u8], after: &[u8]) -> bool {
    let starts = before.iter().rev().find(|byte| !matches!(byte, b' ' | b'\t'));
    let starts = starts.is_none_or(|byte| matches!(byte, b'\n' | b'\r' | b'{' | b'}' | b';' | b')' | b'/' | 0x80..));
    let goes_on = after
        .first()
        .is_some_and(|byte| byte.is_ascii_whitespace() || matches!(byte, b'{' | b'*' | b'\'' | b'"' | b'/' | 0x80..));
    starts && goes_on
}

/// Whether a position is inside a top-level statement that would not be walked otherwise.
fn is_inner(program: &Program<'_>, at: usize) -> bool {
    let after = program.body.partition_point(|statement| statement.span().start as usize <= at);
    let Some(statement) = after.checked_sub(1).and_then(|index| program.body.get(index)) else { return false };
    let span = statement.span();
    let is_walked = matches!(
        statement,
        Statement::ImportDeclaration(_)
            | Statement::TSExternalModuleDeclaration(_)
            | Statement::TSNamespaceDeclaration(_)
            | Statement::TSGlobalDeclaration(_)
    );
    !is_walked && (span.start as usize) < at && at < span.end as usize
}

fn has_mock(bytes: &[u8]) -> bool {
    FINDERS.ock.find_iter(bytes).any(|at| at > 0 && matches!(bytes[at - 1], b'm' | b'M'))
}

/// Whether `require` or `requireActual` may be called, and whether `createRequire` occurs.
fn requires(bytes: &[u8]) -> (bool, bool) {
    let (mut require, mut create) = (false, false);
    for at in FINDERS.equire.find_iter(bytes) {
        let (before, after) = (bytes.get(..at).unwrap_or_default(), bytes.get(at + 6..).unwrap_or_default());
        match before.strip_suffix(b"r") {
            Some(before) => require |= is_call(before, after) || after.starts_with(b"Actual"),
            None => create |= before.ends_with(b"createR"),
        }
    }
    (require, create)
}

/// Whether `require` is a whole word (not `required`) and is followed by the start of a call or of `.resolve`. Comments often
/// contain the English word.
fn is_call(before: &[u8], after: &[u8]) -> bool {
    let in_word = before.last().is_some_and(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'$'));
    let after = after.iter().find(|byte| !byte.is_ascii_whitespace());
    // `<` for type arguments, `/` for a comment, and non-ASCII white space.
    !in_word && matches!(after, Some(b'(' | b'.' | b'?' | b'<' | b'/' | 0x80..))
}

/// Whether an escape spells an ASCII letter or digit, as in an escaped `require`. Files full of `'\u00e9'` and `[\u0000-\u001f]`
/// need not be walked because of these.
fn has_escaped_identifier(bytes: &[u8]) -> bool {
    memmem::find_iter(bytes, b"\\u").any(|at| {
        let rest = bytes.get(at + 2..).unwrap_or_default();
        let digits = match rest.strip_prefix(b"{") {
            Some(rest) => rest.split(|byte| *byte == b'}').next().unwrap_or_default(),
            None => rest.get(..4).unwrap_or_default(),
        };
        let value = std::str::from_utf8(digits).ok().and_then(|hex| u32::from_str_radix(hex, 16).ok());
        // An invalid escape is an error or part of a regular expression; in doubt, walk.
        value.is_none_or(|value| u8::try_from(value).is_ok_and(|byte| byte.is_ascii_alphanumeric()))
    })
}

/// The kinds of text that follow the word `import` anywhere in a file.
#[derive(Default)]
struct Imports {
    /// `(`: a call, or a type.
    call: bool,
    /// `.`, or the rest of `importActual`.
    other: bool,
}

/// White space and comments may be in between.
fn import_followed_by(bytes: &[u8]) -> Imports {
    let mut found = Imports::default();
    for at in FINDERS.import.find_iter(bytes) {
        let rest = bytes.get(at + 6..).unwrap_or_default();
        match rest.iter().find(|byte| !byte.is_ascii_whitespace()) {
            Some(b'(') => found.call = true,
            Some(b'.') => found.other = true,
            Some(b'A') if rest.starts_with(b"Actual") => found.other = true,
            // A comment may hide either, unusual white space is non-ASCII, and `import<T>()` is an error that the parser recovers
            // from.
            Some(b'/' | b'<' | 0x80..) => (found.call, found.other) = (true, true),
            _ => {}
        }
        if found.call && found.other {
            break;
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::WalkScope;

    #[test]
    fn words_of_the_text_decide_which_nodes_are_walked() {
        let check = |text: &str, expressions: bool, types: bool, create_require: bool| {
            assert_eq!(WalkScope::of(text), WalkScope { expressions, types, create_require }, "{text}");
        };
        check("import a from 'a'; f(a)", false, false, false);
        check("import ( 'a' )", true, true, false);
        check("import /* x */ ('a')", true, true, false);
        check("import\u{a0}('a')", true, true, false);
        check("import.meta.url", true, false, false);
        check("require('a')", true, false, false);
        check("required(), $require(), require a, 'require'", false, false, false);
        check("require /* x */ ('a')", true, false, false);
        check("require?.('a')", true, false, false);
        check("require<A>('a')", true, false, false);
        check("require\n.resolve('a')", true, false, false);
        check("createRequire(u)('a')", true, false, true);
        check("\\u0072equire('a')", true, true, true);
        check("re\\u{71}uire('a')", true, true, true);
        check("'\\u00e9\\u2028'", false, false, false);
        check("vi.mock('a')", true, false, false);
        check("vi.importActual('a')", true, false, false);
        check("jest.requireActual('a')", true, false, false);
        check("importActually; theActual('a')", true, false, false);
        check("theActual('a'); Require('a'); preRequire('a')", false, false, false);
    }
}
