//! The manifests of the workspace, parsed once for all checks, and the rule that each crate uses the shared lints.

use toml::Table;

use super::{Finding, tree::Tree};

/// One member of the workspace.
pub(super) struct Manifest<'a> {
    /// The path of its `Cargo.toml`.
    pub(super) path: &'a str,
    pub(super) package: String,
    table: Table,
}

/// How a dependency is used. Dependencies of tests may point in the other direction.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Use {
    Product,
    Tests,
}

impl Manifest<'_> {
    /// The names of all dependencies, including those under `[target.…]`; the real name of a renamed one.
    pub(super) fn dependencies(&self) -> Vec<(String, Use)> {
        let mut found = Vec::new();
        collect_dependencies(&self.table, &mut found);
        for target in self.table.get("target").and_then(|targets| targets.as_table()).into_iter().flatten() {
            if let Some(table) = target.1.as_table() {
                collect_dependencies(table, &mut found);
            }
        }
        found
    }
}

fn collect_dependencies(table: &Table, found: &mut Vec<(String, Use)>) {
    for (section, used_by) in
        [("dependencies", Use::Product), ("build-dependencies", Use::Product), ("dev-dependencies", Use::Tests)]
    {
        for (key, value) in table.get(section).and_then(|section| section.as_table()).into_iter().flatten() {
            let name = value.get("package").and_then(|name| name.as_str()).unwrap_or(key);
            found.push((name.to_owned(), used_by));
        }
    }
}

/// Every manifest with a `[package]`, by path, and findings for files that are not TOML.
pub(super) fn read<'a>(tree: &'a Tree) -> (Vec<Manifest<'a>>, Vec<Finding>) {
    let (mut manifests, mut findings) = (Vec::new(), Vec::new());
    for (path, text) in tree.texts().filter(|(path, _)| *path == "Cargo.toml" || path.ends_with("/Cargo.toml")) {
        match text.parse::<Table>() {
            Err(error) => findings.push(Finding::of_file(path, format!("not TOML: {}", error.message()))),
            Ok(table) => {
                let name = table.get("package").and_then(|package| package.get("name")).and_then(|name| name.as_str());
                if let Some(package) = name.map(str::to_owned) {
                    manifests.push(Manifest { path, package, table });
                }
            }
        }
    }
    (manifests, findings)
}

pub(super) fn check(tree: &Tree) -> Vec<Finding> {
    let (manifests, mut findings) = read(tree);
    for manifest in &manifests {
        let lints = manifest.table.get("lints").and_then(|lints| lints.get("workspace")).and_then(|on| on.as_bool());
        if lints != Some(true) {
            findings.push(Finding::of_file(manifest.path, "add `[lints] workspace = true`"));
        }
    }
    findings
}

#[cfg(test)]
mod tests {
    use super::{Use, read};
    use crate::tidy::{check_lines, tree::Tree};

    #[test]
    fn each_crate_takes_the_shared_lints() {
        let files = [
            ("Cargo.toml", "[workspace]\n[workspace.lints.rust]\nunsafe_code = \"forbid\"\n"),
            ("crates/good/Cargo.toml", "[package]\nname = \"good\"\n[lints]\nworkspace = true\n"),
            ("crates/none/Cargo.toml", "[package]\nname = \"none\"\n"),
            ("crates/own/Cargo.toml", "[package]\nname = \"own\"\n[lints.clippy]\ntodo = \"warn\"\n"),
            ("crates/odd/Cargo.toml", "[package\n"),
        ];
        let lines = check_lines(super::check, &files);
        assert_eq!(lines.len(), 3, "{lines:?}");
        assert_eq!(lines[0], "crates/none/Cargo.toml: add `[lints] workspace = true`");
        assert!(lines[1].starts_with("crates/odd/Cargo.toml: not TOML: "), "{lines:?}");
        assert_eq!(lines[2], "crates/own/Cargo.toml: add `[lints] workspace = true`");
    }

    #[test]
    fn dependencies_of_every_section_are_seen() {
        let text = "[package]\nname = \"x\"\n[dependencies]\na = \"1\"\n[dependencies.b]\nversion = \"1\"\n\
                    [dev-dependencies]\nc = { workspace = true }\n[build-dependencies]\nd = \"1\"\n\
                    [target.'cfg(unix)'.dependencies]\ne = { version = \"1\", package = \"real\" }\n";
        let tree = Tree::of(&[("Cargo.toml", text)]);
        let (manifests, _) = read(&tree);
        let expected =
            [("a", Use::Product), ("b", Use::Product), ("d", Use::Product), ("c", Use::Tests), ("real", Use::Product)];
        assert_eq!(manifests[0].dependencies(), expected.map(|(name, used_by)| (name.to_owned(), used_by)));
    }
}
