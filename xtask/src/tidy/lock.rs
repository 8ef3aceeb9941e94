//! The number of packages we build on is a decision, not an accident.

use toml::Table;

use super::{Finding, tree::Tree};

/// A little above the count when this was last set (341): the TypeScript parser, the tokenizers, the property tests and the
/// JSON Schema oracle of the tests bring most of them, and many are for other platforms or for tests only. A change that needs more
/// raises it here, where a reviewer sees it. Forty of them are ruff's parser for Python and what it is built with; 24 are
/// HTTP and TLS for the shared cache, ten of those for Windows; 36 are
/// `object_store`, which only the feature `s3` builds. Our own crates are not counted.
const MAX_PACKAGES: usize = 344;

pub(super) fn check(tree: &Tree) -> Vec<Finding> {
    check_against(tree, MAX_PACKAGES)
}

fn check_against(tree: &Tree, most: usize) -> Vec<Finding> {
    const PATH: &str = "Cargo.lock";
    let message = match tree.text(PATH).map(str::parse::<Table>) {
        None => "is missing: commit it, so that every build has the same dependencies".to_owned(),
        Some(Err(error)) => format!("not TOML: {}", error.message()),
        Some(Ok(lock)) => {
            let packages = lock.get("package").and_then(|packages| packages.as_array()).into_iter().flatten();
            let packages = packages.filter(|package| package.get("source").is_some()).count();
            if packages <= most {
                return Vec::new();
            }
            format!("{packages} packages, at most {most}: drop a dependency, or raise the ceiling with a reason")
        }
    };
    vec![Finding::of_file(PATH, message)]
}

#[cfg(test)]
mod tests {
    use super::check_against;
    use crate::tidy::{Finding, tree::Tree};

    fn check(files: &[(&str, &str)], expected: &[&str]) {
        let lines: Vec<String> = check_against(&Tree::of(files), 2).iter().map(Finding::render).collect();
        assert_eq!(lines, expected);
    }

    #[test]
    fn packages_are_counted() {
        let (ours, package) = ("[[package]]\nname = \"x\"\n", "[[package]]\nname = \"y\"\nsource = \"registry\"\n");
        check(&[("Cargo.lock", &[ours, package, package, ours].concat())], &[]);
        check(
            &[("Cargo.lock", &package.repeat(3))],
            &["Cargo.lock: 3 packages, at most 2: drop a dependency, or raise the ceiling with a reason"],
        );
        check(&[], &["Cargo.lock: is missing: commit it, so that every build has the same dependencies"]);
    }
}
