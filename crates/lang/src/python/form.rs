//! The forms of Python requests. Facts carry them as a [`FormCode`], which nothing but the resolver reads.

use stan_model::facts::FormCode;

/// The syntax of a request, as far as resolution cares. Specifiers are dotted names; leading dots count as in Python.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Form {
    /// The module itself: `import a.b`, `from .a import *`, `import_module("a.b")`.
    Module,
    /// One name of a `from` import: the last component is the name, which is a module or an attribute.
    Name,
    /// A data file of a package, `a.b:path/in/package`: an edge only when the file exists.
    Resource,
}

const FORMS: [Form; 3] = [Form::Module, Form::Name, Form::Resource];

impl Form {
    pub(super) fn code(self) -> FormCode {
        FormCode(self as u8)
    }

    pub(super) fn decode(code: FormCode) -> Self {
        FORMS.get(usize::from(code.0)).copied().unwrap_or(Self::Module)
    }
}

/// A dotted name with its level: 0 for an absolute one, else the number of leading dots.
pub(super) fn split_level(specifier: &str) -> (usize, &str) {
    let rest = specifier.trim_start_matches('.');
    (specifier.len() - rest.len(), rest)
}

/// Whether every part of a dotted name could be the name of a module.
pub(super) fn is_dotted_name(name: &str) -> bool {
    let is_identifier = |part: &str| {
        let mut characters = part.chars();
        characters.next().is_some_and(|first| first == '_' || first.is_alphabetic())
            && characters.all(|next| next == '_' || next.is_alphanumeric())
    };
    name.split('.').all(is_identifier)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn codes_decode_to_what_they_were_made_of() {
        for form in FORMS {
            assert_eq!(Form::decode(form.code()), form);
        }
    }

    #[test]
    fn levels_are_leading_dots() {
        assert_eq!(split_level("a.b"), (0, "a.b"));
        assert_eq!(split_level("..a.b"), (2, "a.b"));
        assert_eq!(split_level("."), (1, ""));
    }

    #[test]
    fn dotted_names() {
        for (name, expected) in
            [("a", true), ("a.b_1", true), ("é", true), ("", false), ("a..b", false), ("1a", false), ("a-b", false)]
        {
            assert_eq!(is_dotted_name(name), expected, "{name}");
        }
    }
}
