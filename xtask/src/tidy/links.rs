//! Relative links between Markdown files resolve. Links to other sites are not checked.

use super::{Finding, markdown, tree::Tree};

pub(super) fn check(tree: &Tree) -> Vec<Finding> {
    let mut findings = Vec::new();
    for (path, text) in tree.texts_ending(".md") {
        for (number, line) in markdown::prose_lines(text) {
            for target in markdown::link_targets(line) {
                if is_elsewhere(target) {
                    continue;
                }
                if !resolve(path, target).is_some_and(|resolved| tree.exists(&resolved)) {
                    findings.push(Finding::at(path, number, format!("broken link: {target}")));
                }
            }
        }
    }
    findings
}

/// Whether the target is on another site (has a scheme), or on the same page.
fn is_elsewhere(target: &str) -> bool {
    target.starts_with('#')
        || target.split_once(':').is_some_and(|(scheme, _)| scheme.chars().all(|c| c.is_ascii_alphanumeric()))
}

/// The root-relative path of `target` in the page `from`; `None` if it leaves the root.
fn resolve(from: &str, target: &str) -> Option<String> {
    let target = target.split(['#', '?']).next().unwrap_or_default().replace("%20", " ");
    let mut parts: Vec<&str> = if target.starts_with('/') { Vec::new() } else { from.split('/').collect() };
    parts.pop();
    for part in target.split('/') {
        match part {
            "" | "." => {}
            ".." => {
                parts.pop()?;
            }
            name => parts.push(name),
        }
    }
    Some(parts.join("/"))
}

#[cfg(test)]
mod tests {
    use crate::tidy::check_lines;

    fn check(link: &str, expected: &[&str]) {
        let page = format!("# Title\n\nSee {link}.\n");
        let files = [("docs/page.md", page.as_str()), ("docs/other.md", ""), ("README.md", ""), ("src/a b.rs", "")];
        assert_eq!(check_lines(super::check, &files), expected, "{link}");
    }

    #[test]
    fn a_link_to_a_missing_file_is_reported() {
        check("[x](other.md)", &[]);
        check("[x](./other.md#part)", &[]);
        check("[x](../README.md)", &[]);
        check("[x](../src)", &[]);
        check("[x](../src/)", &[]);
        check("[x](../src/a%20b.rs)", &[]);
        check("[x](/README.md)", &[]);
        check("[x](#part)", &[]);
        check("[x](https://example.com/gone.md)", &[]);
        check("[x](mailto:a@example.com)", &[]);
        check("`[x](gone.md)`", &[]);
        check("[x](gone.md)", &["docs/page.md:3: broken link: gone.md"]);
        check("[x](README.md)", &["docs/page.md:3: broken link: README.md"]);
        check("[x](../../README.md)", &["docs/page.md:3: broken link: ../../README.md"]);
    }
}
