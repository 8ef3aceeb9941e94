//! The forms of Python requests. Facts contain them as [`FormCode`], which only the resolver decodes.

use stan_model::facts::FormCode;

/// The syntax of a request, as far as it matters for resolution. Specifiers are dotted names; leading dots have Python's meaning.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Form {
    /// The module itself: `import a.b`, `from .a import *`, `import_module("a.b")`.
    Module,
    /// One name of a `from` import: the last component is a module or an attribute.
    Name,
    /// A data file of a package, `a.b:path/in/package`: adds an edge only if the file exists.
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

/// Splits a dotted name into its level (the number of leading dots; 0 if it is absolute) and the rest.
pub(super) fn split_level(specifier: &str) -> (usize, &str) {
    let rest = specifier.trim_start_matches('.');
    (specifier.len() - rest.len(), rest)
}

/// Whether every part of a dotted name is a valid module name.
pub(super) fn is_dotted_name(name: &str) -> bool {
    let is_identifier = |part: &str| {
        let mut characters = part.chars();
        characters.next().is_some_and(|first| first == '_' || first.is_alphabetic())
            && characters.all(|next| next == '_' || next.is_alphanumeric())
    };
    name.split('.').all(is_identifier)
}

/// Whether `from package import name`, given as `package.name`, resolved to the module `name` itself: the path ends with all
/// parts of the dotted name. Otherwise it resolved to the package, which binds the name.
pub(super) fn is_module_named(path: &str, specifier: &str) -> bool {
    let Some(stem) = path.strip_suffix(".py").or_else(|| path.strip_suffix(".pyi")) else { return false };
    let mut parts = stem.strip_suffix("/__init__").unwrap_or(stem).rsplit('/');
    let (_, dotted) = split_level(specifier);
    !dotted.is_empty() && dotted.rsplit('.').all(|wanted| parts.next() == Some(wanted))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn codes_decode_to_their_forms() {
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
    fn a_name_of_a_package_may_be_a_module() {
        for (path, specifier, expected) in [
            ("src/shop/money.py", "shop.money", true),
            ("src/shop/pay/__init__.py", "shop.pay", true),
            ("src/shop/money.pyi", ".money", true),
            ("src/shop/__init__.py", "shop.Cart", false),
            ("src/shop/__init__.py", "shop.shop", false),
            ("src/shop/cart.py", "shop.cart.Cart", false),
            ("src/shop/cart.so", "shop.cart", false),
        ] {
            assert_eq!(is_module_named(path, specifier), expected, "{path} {specifier}");
        }
    }

    #[test]
    fn dotted_names_are_identifiers_between_dots() {
        for (name, expected) in
            [("a", true), ("a.b_1", true), ("é", true), ("", false), ("a..b", false), ("1a", false), ("a-b", false)]
        {
            assert_eq!(is_dotted_name(name), expected, "{name}");
        }
    }
}
