//! Which parts of a syntax tree are worth walking, told from the text alone: a file without the word `require`
//! has no call of it. Errs towards walking, never towards skipping.

use std::sync::LazyLock;

use memchr::memmem::{self, Finder};

/// What the walk must look into below the level of module statements.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Needs {
    /// Expressions: `import()`, `import.meta`, `require`, mocks.
    pub(super) expressions: bool,
    /// Types: `import('x')` in type position.
    pub(super) types: bool,
    /// `createRequire` occurs, so that any called name may be a `require`.
    pub(super) create_require: bool,
}

/// Searches are prepared once: most files are so small that preparing costs as much as searching.
struct Finders {
    escape: Finder<'static>,
    import: Finder<'static>,
    require: Finder<'static>,
    create_require: Finder<'static>,
    ock: Finder<'static>,
    actual: Finder<'static>,
}

static FINDERS: LazyLock<Finders> = LazyLock::new(|| Finders {
    escape: Finder::new("\\u"),
    import: Finder::new("import"),
    require: Finder::new("require"),
    create_require: Finder::new("createRequire"),
    // `mock` and `Mock`.
    ock: Finder::new("ock"),
    actual: Finder::new("Actual"),
});

impl Needs {
    pub(super) fn of(text: &str) -> Self {
        let bytes = text.as_bytes();
        let finders = &*FINDERS;
        let has = |finder: &Finder<'_>| finder.find(bytes).is_some();
        // An escape can spell any identifier (`\u0072equire`), so that the words prove nothing.
        if has(&finders.escape) && has_escaped_identifier(bytes) {
            return Self { expressions: true, types: true, create_require: true };
        }
        let (call, member) = import_followed_by(bytes);
        let create_require = has(&finders.create_require);
        let expressions =
            call || member || create_require || has_require(bytes) || has_mock(bytes) || has(&finders.actual);
        Self { expressions, types: call, create_require }
    }
}

fn has_mock(bytes: &[u8]) -> bool {
    FINDERS.ock.find_iter(bytes).any(|at| at > 0 && matches!(bytes[at - 1], b'm' | b'M'))
}

/// Whether `require` occurs on its own (not as `required`) and is followed by what its call or `.resolve` can start
/// with. Comments often have the English word.
fn has_require(bytes: &[u8]) -> bool {
    FINDERS.require.find_iter(bytes).any(|at| {
        let before = at.checked_sub(1).and_then(|before| bytes.get(before));
        let in_word = before.is_some_and(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'$'));
        let after = bytes.get(at + 7..).unwrap_or_default().iter().find(|byte| !byte.is_ascii_whitespace());
        // `<` for type arguments, `/` for a comment between, and white space that is not ASCII.
        !in_word && matches!(after, Some(b'(' | b'.' | b'?' | b'<' | b'/' | 0x80..))
    })
}

/// Whether an escape spells an ASCII letter or digit, as an identifier of ours would need. Files full of
/// `'\u00e9'` and `[\u0000-\u001f]` do not have to be walked for that.
fn has_escaped_identifier(bytes: &[u8]) -> bool {
    memmem::find_iter(bytes, b"\\u").any(|at| {
        let rest = bytes.get(at + 2..).unwrap_or_default();
        let digits = match rest.strip_prefix(b"{") {
            Some(rest) => rest.split(|byte| *byte == b'}').next().unwrap_or_default(),
            None => rest.get(..4).unwrap_or_default(),
        };
        let value = std::str::from_utf8(digits).ok().and_then(|hex| u32::from_str_radix(hex, 16).ok());
        // What is no escape at all is an error or part of a regular expression; walking is the safe answer.
        value.is_none_or(|value| u8::try_from(value).is_ok_and(|byte| byte.is_ascii_alphanumeric()))
    })
}

/// Whether `import` occurs before `(`, and before `.`; white space and comments may lie between.
fn import_followed_by(bytes: &[u8]) -> (bool, bool) {
    let (mut call, mut member) = (false, false);
    for at in FINDERS.import.find_iter(bytes) {
        let rest = bytes.get(at + 6..).unwrap_or_default();
        match rest.iter().find(|byte| !byte.is_ascii_whitespace()) {
            Some(b'(') => call = true,
            Some(b'.') => member = true,
            // A comment may hide either; exotic white space is not ASCII; `import<T>()` is an error that recovers.
            Some(b'/' | b'<' | 0x80..) => (call, member) = (true, true),
            _ => {}
        }
        if call && member {
            break;
        }
    }
    (call, member)
}

#[cfg(test)]
mod tests {
    use super::Needs;

    #[test]
    fn words_decide() {
        let check = |text: &str, expressions: bool, types: bool, create_require: bool| {
            assert_eq!(Needs::of(text), Needs { expressions, types, create_require }, "{text}");
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
    }
}
