//! Every crate of ours forbids unsafe code, by the lints of its workspace, the fuzzers included. `forbid` cannot be undone
//! further down, so that one line in each manifest is proof enough.
//!
//! The addon of Node is the one exception: the functions that napi generates call Node's C interface. There the level is
//! `deny`, and no file of ours may have the keyword.

use std::path::Path;

use toml::{Table, Value};

use super::ADDON;

/// What is wrong with the manifest of a workspace, and with that of a member.
pub(super) fn workspace_fault(path: &Path, text: &str) -> Option<String> {
    let wanted = if path == Path::new(ADDON) { "deny" } else { "forbid" };
    let level = value(text, &["workspace", "lints", "rust", "unsafe_code"]);
    let level = match &level {
        Some(Value::String(level)) => Some(level.as_str()),
        Some(Value::Table(table)) => table.get("level").and_then(Value::as_str),
        _ => None,
    };
    (level != Some(wanted))
        .then(|| format!("{}: set `unsafe_code = \"{wanted}\"` in [workspace.lints.rust]", path.display()))
}

/// The lines of a source file that have unsafe code, in the workspace where the compiler does not refuse it.
pub(super) fn unsafe_lines(path: &Path, text: &str) -> Vec<String> {
    let has_keyword = |line: &str| {
        let code = line.split("//").next().unwrap_or_default();
        code.split(|c: char| !c.is_alphanumeric() && c != '_').any(|word| word == "unsafe")
    };
    let lines = text.lines().enumerate().filter(|(_, line)| has_keyword(line));
    lines.map(|(index, _)| format!("{}:{}: unsafe code written by hand", path.display(), index + 1)).collect()
}

pub(super) fn member_fault(path: &Path, text: &str) -> Option<String> {
    (value(text, &["lints", "workspace"]) != Some(Value::Boolean(true)))
        .then(|| format!("{}: add `[lints] workspace = true`, or unsafe code is not forbidden here", path.display()))
}

fn value(text: &str, keys: &[&str]) -> Option<Value> {
    let table: Table = text.parse().ok()?;
    keys.iter().try_fold(Value::Table(table), |value, key| value.get(key).cloned())
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::super::ADDON;
    use super::{member_fault, unsafe_lines, workspace_fault};

    #[test]
    fn only_forbid_is_enough() {
        let path = Path::new("Cargo.toml");
        for (lints, fine) in [
            ("unsafe_code = \"forbid\"", true),
            ("unsafe_code = { level = \"forbid\", priority = -1 }", true),
            ("unsafe_code = \"deny\"", false),
            ("", false),
        ] {
            let fault = workspace_fault(path, &format!("[workspace.lints.rust]\n{lints}\n"));
            assert_eq!(fault.is_none(), fine, "{lints}");
        }
        assert!(workspace_fault(path, "[workspace").is_some());
        let denied = "[workspace.lints.rust]\nunsafe_code = \"deny\"\n";
        assert_eq!(workspace_fault(Path::new(ADDON), denied), None);
        assert!(workspace_fault(Path::new("other/Cargo.toml"), denied).is_some());
        assert_eq!(unsafe_lines(path, "#![expect(unsafe_code)]\n// unsafe\n"), [""; 0]);
        assert_eq!(unsafe_lines(path, "fn f() {\n    unsafe { g() }\n}\n").len(), 1);
        assert_eq!(member_fault(path, "[lints]\nworkspace = true\n"), None);
        for text in ["", "[lints]\nworkspace = false\n", "[lints.rust]\nunsafe_code = \"allow\"\n"] {
            assert!(member_fault(path, text).is_some(), "{text}");
        }
    }
}
