//! Limits the number of dependencies, so that adding some is a decision and not an accident.

use toml::Table;

use super::{Finding, tree::Tree};

/// A little above the count when this was last set (341). The TypeScript parser, the tokenizers, the property tests and the JSON
/// Schema oracle of the tests add most of them; many are only for other platforms or for tests. A change that needs more raises
/// the limit here, where reviewers see it. Forty are ruff's parser for Python and its dependencies; 24 are HTTP and TLS for the
/// shared cache, ten of those for Windows; 36 are `object_store`, which only the feature `s3` builds. Our own crates do not
/// count.
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
