//! The lints of each workspace forbid unsafe code. `forbid` cannot be relaxed by a crate, so one line per workspace is enough;
//! the check of the manifests ensures that crates inherit it.
//!
//! The Node addon is the one exception: the functions that napi generates call Node's C interface. Its level is `deny`, and none
//! of our files may use the keyword.

use toml::{Table, Value};

use super::{Finding, tree::Tree};

/// The only workspace with generated unsafe code.
const ADDON: &str = "packages/node/native/";

pub(super) fn check(tree: &Tree) -> Vec<Finding> {
    let manifests = tree.texts().filter(|(path, _)| *path == "Cargo.toml" || path.ends_with("/Cargo.toml"));
    let mut findings: Vec<Finding> = manifests.filter_map(|(path, text)| workspace_fault(path, text)).collect();
    for (path, text) in tree.texts_ending(".rs").filter(|(path, _)| path.starts_with(ADDON)) {
        let lines = text.lines().enumerate().filter(|(_, line)| has_keyword(line));
        findings.extend(lines.map(|(index, _)| Finding::at(path, index + 1, "unsafe code written by hand")));
    }
    findings
}

fn workspace_fault(path: &str, text: &str) -> Option<Finding> {
    // Errors of parsing are reported by the check of the manifests.
    let workspace = text.parse::<Table>().ok()?.get("workspace").cloned()?;
    let wanted = if path.starts_with(ADDON) { "deny" } else { "forbid" };
    let lint = ["lints", "rust", "unsafe_code"].iter().try_fold(&workspace, |value, key| value.get(key));
    let level = lint.and_then(|lint| lint.as_str().or_else(|| lint.get("level").and_then(Value::as_str)));
    (level != Some(wanted))
        .then(|| Finding::of_file(path, format!("set `unsafe_code = \"{wanted}\"` in [workspace.lints.rust]")))
}

fn has_keyword(line: &str) -> bool {
    let code = line.split("//").next().unwrap_or_default();
    code.split(|c: char| !c.is_alphanumeric() && c != '_').any(|word| word == "unsafe")
}

#[cfg(test)]
mod tests {
    use crate::tidy::check_lines;

    #[test]
    fn each_workspace_forbids_unsafe_code() {
        for (lints, is_fine) in [
            ("unsafe_code = \"forbid\"", true),
            ("unsafe_code = { level = \"forbid\", priority = -1 }", true),
            ("unsafe_code = \"deny\"", false),
            ("", false),
        ] {
            let text = format!("[workspace]\n[workspace.lints.rust]\n{lints}\n");
            let expected = "Cargo.toml: set `unsafe_code = \"forbid\"` in [workspace.lints.rust]";
            let lines = check_lines(super::check, &[("Cargo.toml", text.as_str())]);
            assert_eq!(lines, if is_fine { Vec::new() } else { vec![expected] }, "{lints}");
        }
        assert!(check_lines(super::check, &[("crates/a/Cargo.toml", "[package]\nname = \"a\"\n")]).is_empty());
    }

    #[test]
    fn the_addon_of_node_has_no_unsafe_code_written_by_hand() {
        let manifest = "[workspace]\n[workspace.lints.rust]\nunsafe_code = \"deny\"\n";
        let files = [
            ("packages/node/native/Cargo.toml", manifest),
            ("packages/node/native/src/lib.rs", "#![expect(unsafe_code)]\n// unsafe\nunsafe { g() }\n"),
        ];
        let expected = ["packages/node/native/src/lib.rs:3: unsafe code written by hand"];
        assert_eq!(check_lines(super::check, &files), expected);
    }
}
