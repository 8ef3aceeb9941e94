//! Whether a licence expression can be met with the licences that are allowed.
//!
//! The grammar that manifests use: names, `WITH` exceptions, `AND`, `OR`, parentheses, and the old `/` for `OR`. Names are
//! compared as they are written: who allows a licence copies its name.

use std::collections::BTreeSet;

/// `Err` says what is no licence expression.
pub(super) fn is_met(expression: &str, allowed: &BTreeSet<String>) -> Result<bool, String> {
    let tokens = tokens(expression);
    let mut parser = Parser { tokens: &tokens, allowed };
    let met = parser.alternatives().ok_or_else(|| format!("`{expression}` is no licence expression"))?;
    if parser.tokens.is_empty() { Ok(met) } else { Err(format!("`{expression}` is no licence expression")) }
}

/// The expression as the standard has it: `/` was allowed in manifests once.
pub(super) fn normalised(expression: &str) -> String {
    tokens(expression).join(" ").replace("( ", "(").replace(" )", ")")
}

fn tokens(expression: &str) -> Vec<String> {
    let spaced = expression.replace('/', " OR ").replace('(', " ( ").replace(')', " ) ");
    spaced.split_whitespace().map(str::to_owned).collect()
}

struct Parser<'a> {
    tokens: &'a [String],
    allowed: &'a BTreeSet<String>,
}

impl<'a> Parser<'a> {
    fn take(&mut self, wanted: &str) -> bool {
        let found = self.tokens.first().is_some_and(|token| token == wanted);
        if found {
            self.tokens = self.tokens.get(1..).unwrap_or_default();
        }
        found
    }

    fn name(&mut self) -> Option<&'a String> {
        let (first, rest) = self.tokens.split_first()?;
        if ["AND", "OR", "WITH", "(", ")"].contains(&first.as_str()) {
            return None;
        }
        self.tokens = rest;
        Some(first)
    }

    fn alternatives(&mut self) -> Option<bool> {
        let mut met = self.demands()?;
        while self.take("OR") {
            met |= self.demands()?;
        }
        Some(met)
    }

    fn demands(&mut self) -> Option<bool> {
        let mut met = self.single()?;
        while self.take("AND") {
            met &= self.single()?;
        }
        Some(met)
    }

    fn single(&mut self) -> Option<bool> {
        if self.take("(") {
            let met = self.alternatives()?;
            return self.take(")").then_some(met);
        }
        let licence = self.name()?;
        if self.take("WITH") {
            let exception = self.name()?;
            return Some(self.allowed.contains(&format!("{licence} WITH {exception}")));
        }
        Some(self.allowed.contains(licence))
    }
}

#[cfg(test)]
mod tests {
    use super::{is_met, normalised};

    #[test]
    fn expressions_are_met_or_not() {
        let allowed = ["MIT", "Unicode-3.0", "Apache-2.0 WITH LLVM-exception"].map(str::to_owned).into();
        for (expression, expected) in [
            ("MIT", true),
            ("GPL-3.0", false),
            ("MIT OR GPL-3.0", true),
            ("GPL-3.0/MIT", true),
            ("Apache-2.0 / MIT", true),
            ("MIT AND GPL-3.0", false),
            ("(GPL-3.0 OR MIT) AND Unicode-3.0", true),
            ("GPL-3.0 OR MIT AND Zlib", false),
            ("Apache-2.0", false),
            ("Apache-2.0 WITH LLVM-exception", true),
        ] {
            assert_eq!(is_met(expression, &allowed), Ok(expected), "{expression}");
        }
    }

    #[test]
    fn what_is_no_expression_is_said() {
        for expression in ["", "MIT OR", "(MIT", "MIT)", "AND", "MIT MIT", "MIT WITH"] {
            let expected = format!("`{expression}` is no licence expression");
            assert_eq!(is_met(expression, &["MIT".to_owned()].into()), Err(expected));
        }
    }

    #[test]
    fn old_spellings_become_new_ones() {
        assert_eq!(normalised("MIT/Apache-2.0"), "MIT OR Apache-2.0");
        assert_eq!(normalised("(MIT OR Apache-2.0) AND Unicode-3.0"), "(MIT OR Apache-2.0) AND Unicode-3.0");
    }
}
