//! No absolute path of a developer's machine is committed: it is useless elsewhere, and it leaks information.

use super::{Finding, tree::Tree};

/// Split, so that this file does not violate its own rule.
const FOLDERS: &[&str] = &[concat!("/", "work/"), concat!("/", "root/"), concat!("/", "home/")];

pub(super) fn check(tree: &Tree) -> Vec<Finding> {
    let mut findings = Vec::new();
    for (path, text) in tree.texts() {
        for (index, line) in text.lines().enumerate() {
            if let Some(folder) = FOLDERS.iter().find(|folder| names_folder(line, folder)) {
                findings.push(Finding::at(path, index + 1, format!("a path of one machine: {folder}…")));
            }
        }
    }
    findings
}

/// Whether `folder` starts an absolute path in the line, also after `file://`, and not inside a longer path.
fn names_folder(line: &str, folder: &str) -> bool {
    line.match_indices(folder).any(|(at, _)| {
        let before = &line[..at];
        before.ends_with("://") || !before.ends_with(|c: char| c.is_alphanumeric() || "._-/~*@$)}]>".contains(c))
    })
}

#[cfg(test)]
mod tests {
    use crate::tidy::check_lines;

    fn check(line: &str, expected: &[&str]) {
        // `~~` is replaced by the slash, so that these inputs are not findings themselves.
        let text = line.replace("~~", "/");
        assert_eq!(check_lines(super::check, &[("notes.txt", text.as_str())]), expected, "{text}");
    }

    #[test]
    fn absolute_paths_of_a_machine_are_found() {
        let root = ["notes.txt:1: a path of one machine: /", "root/…"].concat();
        for line in ["~~root/x", "see ~~root/x", "\"~~root/x\"", "path=~~root/x", "file://~~root/x", "(~~root/)"] {
            check(line, &[&root]);
        }
        let second_line = ["notes.txt:2: a path of one machine: /", "home/…"].concat();
        check("fine\n~~home/me", &[&second_line]);
    }

    #[test]
    fn parts_of_longer_paths_are_not_reported() {
        for line in
            ["src~~home/page.ts", "..~~root/x", "~~~~home/x", "$HOME~~work/x", "~~rooted/x", "~~work", "a.b~~work/c"]
        {
            check(line, &[]);
        }
    }
}
