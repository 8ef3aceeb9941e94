//! The manifests of the workspace, read once for the checks that judge them, and the rules that each takes the shared
//! lints and that these forbid unsafe code.

use toml::{Table, Value};

use super::{Finding, tree::Tree};

/// One member of the workspace.
pub(super) struct Manifest<'a> {
    /// Path of its `Cargo.toml`.
    pub(super) path: &'a str,
    pub(super) package: String,
    table: Table,
}

/// How a dependency is used: what only tests use may come from further below.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Use {
    Product,
    Tests,
}

impl Manifest<'_> {
    /// Names of all dependencies, those under `[target.…]` included; a renamed one goes by its real name.
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

/// Every manifest with a `[package]`, by path, and findings for those that are not TOML.
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
    findings.extend(workspaces_without_forbid(tree));
    findings.extend(unsafe_code_of_the_addon(tree));
    findings
}

/// The addon of Node: what napi generates allows unsafe code for itself, which `forbid` refuses. There the level is `deny`, and
/// no file may have the keyword.
const ADDON: &str = "packages/node/native/";

fn unsafe_code_of_the_addon(tree: &Tree) -> Vec<Finding> {
    let mut findings = Vec::new();
    for (path, text) in tree.texts_ending(".rs").filter(|(path, _)| path.starts_with(ADDON)) {
        for (index, line) in text.lines().enumerate() {
            let code = line.split("//").next().unwrap_or_default();
            if code.split(|c: char| !c.is_alphanumeric() && c != '_').any(|word| word == "unsafe") {
                findings.push(Finding::at(path, index + 1, "unsafe code that is written by hand"));
            }
        }
    }
    findings
}

/// `forbid` cannot be undone further down, so that one line in each workspace (the fuzzers have their own) is proof enough.
fn workspaces_without_forbid(tree: &Tree) -> Vec<Finding> {
    let manifests = tree.texts().filter(|(path, _)| *path == "Cargo.toml" || path.ends_with("/Cargo.toml"));
    manifests
        .filter(|(path, text)| {
            let workspace = text.parse::<Table>().ok().and_then(|table| table.get("workspace").cloned());
            workspace.is_some_and(|workspace| !refuses_unsafe_code(&workspace, wanted_level(path)))
        })
        .map(|(path, _)| {
            Finding::of_file(path, format!("set `unsafe_code = \"{}\"` in [workspace.lints.rust]", wanted_level(path)))
        })
        .collect()
}

fn wanted_level(path: &str) -> &'static str {
    if path.starts_with(ADDON) { "deny" } else { "forbid" }
}

fn refuses_unsafe_code(workspace: &Value, wanted: &str) -> bool {
    let lint = ["lints", "rust", "unsafe_code"].iter().try_fold(workspace, |value, key| value.get(key));
    let level = lint.and_then(|lint| lint.as_str().or_else(|| lint.get("level")?.as_str()));
    level == Some(wanted)
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
    fn each_workspace_forbids_unsafe_code() {
        for (lints, is_fine) in [
            ("unsafe_code = \"forbid\"", true),
            ("unsafe_code = { level = \"forbid\", priority = -1 }", true),
            ("unsafe_code = \"deny\"", false),
            ("", false),
        ] {
            let text = format!("[workspace]\n[workspace.lints.rust]\n{lints}\n");
            let expected = "fuzz/Cargo.toml: set `unsafe_code = \"forbid\"` in [workspace.lints.rust]";
            let lines = check_lines(super::check, &[("fuzz/Cargo.toml", text.as_str())]);
            assert_eq!(lines, if is_fine { Vec::new() } else { vec![expected] }, "{lints}");
        }
    }

    #[test]
    fn the_addon_may_generate_unsafe_code_and_not_write_it() {
        let manifest = "[workspace]\n[workspace.lints.rust]\nunsafe_code = \"deny\"\n";
        let check = |source: &str| {
            let files = [("packages/node/native/Cargo.toml", manifest), ("packages/node/native/src/lib.rs", source)];
            check_lines(super::check, &files)
        };
        assert_eq!(check("#[deny(unsafe_code)]\n// unsafe\nfn f() {}\n"), [""; 0]);
        let expected = "packages/node/native/src/lib.rs:2: unsafe code that is written by hand";
        assert_eq!(check("fn f() {\n    unsafe { g() }\n}\n"), [expected]);
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
