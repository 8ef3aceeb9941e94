//! Validates the folder names that users choose and the program then owns: stan's own folder, and the labels of imports.

use super::error::visible;

/// The folder as a root-relative path of plain names, or why it cannot be stan's own.
pub(super) fn stan_path(given: &str) -> Result<String, String> {
    let refused = |reason: &str| Err(format!("`stanPath` cannot be `{}`, because {reason}", visible(given)));
    if given.trim().is_empty() {
        return refused("it is empty; leave it out for `.stan`");
    }
    if given.contains('\\') {
        return refused("it contains a backslash; folders are separated by `/`");
    }
    if given.starts_with('/') || is_drive(given) {
        return refused("it is absolute; it must be a folder below the root");
    }
    if given.contains(char::is_control) {
        return refused("it contains a control character");
    }
    let names: Vec<&str> = given.split('/').filter(|name| !name.is_empty() && *name != ".").collect();
    if names.contains(&"..") {
        return refused("it leaves the root; it must be a folder below the root");
    }
    if names.is_empty() {
        return refused("it is the root itself; it must be a folder below the root");
    }
    if names.iter().any(|name| name.eq_ignore_ascii_case(".git")) {
        return refused("it is in git's own folder");
    }
    let path = names.join("/");
    // The dot of `./C:/x` has been removed here, so the drive is recognised.
    if is_drive(&path) { refused("it is absolute; it must be a folder below the root") } else { Ok(path) }
}

/// Why a label cannot name a folder below `<stanPath>/imports`.
pub(crate) fn label_refusal(label: &str) -> Option<&'static str> {
    let names = || label.split('/');
    Some(if label.is_empty() {
        "it is empty"
    } else if label.contains('\\') {
        "it contains a backslash; nested folders are separated by `/`"
    } else if label.starts_with('/') || is_drive(label) {
        "it is absolute; it names a folder below `<stanPath>/imports`"
    } else if label.contains(char::is_control) {
        "it contains a control character"
    } else if names().any(|name| name == "..") {
        "it contains `..`, which would leave `<stanPath>/imports`"
    } else if names().any(|name| name.is_empty() || name == ".") {
        "it contains an empty name or `.`"
    } else if names().any(|name| name.len() > 200) {
        "a name in it is longer than 200 bytes"
    } else {
        return None;
    })
}

/// A drive such as `C:`, which starts an absolute path on some systems.
fn is_drive(path: &str) -> bool {
    matches!(path.as_bytes(), [letter, b':', ..] if letter.is_ascii_alphabetic())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn stan_paths_are_normalised_or_refused_with_a_reason() {
        for (given, expected) in
            [(".stan", ".stan"), ("./.stan/", ".stan"), ("tools//stan", "tools/stan"), ("a/./b", "a/b"), ("..a", "..a")]
        {
            assert_eq!(stan_path(given).as_deref(), Ok(expected), "{given}");
        }
        for (given, reason) in [
            ("", "it is empty"),
            (" ", "it is empty"),
            (".", "the root itself"),
            ("./", "the root itself"),
            ("/", "it is absolute"),
            ("/tmp/stan", "it is absolute"),
            ("C:/stan", "it is absolute"),
            ("./C:/stan", "it is absolute"),
            (".//c:", "it is absolute"),
            ("..", "it leaves the root"),
            ("a/../..", "it leaves the root"),
            (".git", "git's own folder"),
            (".GIT/stan", "git's own folder"),
            ("a/.git", "git's own folder"),
            ("a\\b", "a backslash"),
            ("a\0b", "a control character"),
        ] {
            assert!(stan_path(given).is_err_and(|message| message.contains(reason)), "{given:?}");
        }
    }

    #[test]
    fn labels_of_imports_are_paths_that_stay_inside() {
        for label in ["docs", "@scope/name", "a.b", "a b", "...", "ä"] {
            assert_eq!(label_refusal(label), None, "{label}");
        }
        for label in ["", ".", "..", "a/..", "a//b", "/a", "a/", "a\\b", "a\0", "C:x", &"x".repeat(201)] {
            assert!(label_refusal(label).is_some(), "{label:?}");
        }
    }
}
