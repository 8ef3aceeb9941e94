//! Every crate of ours forbids unsafe code, by the lints of its workspace, the fuzzers included. `forbid` cannot be undone
//! further down, so that one line in each manifest is proof enough.

use std::path::Path;

use toml::{Table, Value};

/// What is wrong with the manifest of a workspace, and with that of a member.
pub(super) fn workspace_fault(path: &Path, text: &str) -> Option<String> {
    let level = value(text, &["workspace", "lints", "rust", "unsafe_code"]);
    let level = match &level {
        Some(Value::String(level)) => Some(level.as_str()),
        Some(Value::Table(table)) => table.get("level").and_then(Value::as_str),
        _ => None,
    };
    (level != Some("forbid"))
        .then(|| format!("{}: set `unsafe_code = \"forbid\"` in [workspace.lints.rust]", path.display()))
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

    use super::{member_fault, workspace_fault};

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
        assert_eq!(member_fault(path, "[lints]\nworkspace = true\n"), None);
        for text in ["", "[lints]\nworkspace = false\n", "[lints.rust]\nunsafe_code = \"allow\"\n"] {
            assert!(member_fault(path, text).is_some(), "{text}");
        }
    }
}
