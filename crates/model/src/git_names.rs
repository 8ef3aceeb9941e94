//! Which names of a path some file system takes for git's own folder. After the rules by which git itself refuses such
//! paths (`core.protectHFS`, `core.protectNTFS`).

/// Characters that HFS+ leaves out when it compares names.
fn is_ignored_by_hfs(character: char) -> bool {
    matches!(character,
        '\u{200c}'..='\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{206a}'..='\u{206f}' | '\u{feff}')
}

/// Whether one name of a path is `.git` on some file system: in any case, with ignored characters (HFS+), with dots and spaces
/// behind it, as a short name (`git~1`), or with a stream behind a colon (NTFS).
pub fn is_git_folder(name: &str) -> bool {
    // Most names are decided by their first byte, without a copy.
    if name.as_bytes().first().is_none_or(|first| first.is_ascii() && !matches!(first, b'.' | b'g' | b'G')) {
        return false;
    }
    let bare = bare_name(name);
    bare.eq_ignore_ascii_case(".git") || bare.eq_ignore_ascii_case("git~1")
}

/// One name of a path as the file systems that fold names most take it, but for its case: without characters that HFS+ ignores,
/// without a stream and without the dots and spaces at its end that NTFS drops. `.` and `..` stay.
pub fn bare_name(name: &str) -> String {
    let visible: String = name.chars().filter(|character| !is_ignored_by_hfs(*character)).collect();
    let without_stream = visible.split(':').next().unwrap_or_default();
    let bare = without_stream.trim_end_matches([' ', '.']);
    if bare.is_empty() { visible } else { bare.to_owned() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ignored_characters_are_removed_from_a_name() {
        for (name, bare) in [
            (".stan", ".stan"),
            (".stan.", ".stan"),
            (".s\u{200c}tan . ", ".stan"),
            ("a:b", "a"),
            ("..", ".."),
            (":", ":"),
        ] {
            assert_eq!(bare_name(name), bare, "{name:?}");
        }
    }

    #[test]
    fn every_spelling_of_git_is_recognised() {
        for name in [
            ".git",
            ".GIT",
            ".Git",
            "git~1",
            "GIT~1",
            ".git.",
            ".git ",
            ".git . .",
            ".g\u{200c}it",
            "\u{feff}.git",
            ".git\u{200d}",
            ".git::$INDEX_ALLOCATION",
            ".git:stream",
            ".git .:x",
            "git~1 ",
        ] {
            assert!(is_git_folder(name), "{name:?}");
        }
        for name in
            ["", "git", ".gitignore", ".gitmodules", ".github", "git~2", "git~10", ".git-x", ".git\u{e4}", "a.git"]
        {
            assert!(!is_git_folder(name), "{name:?}");
        }
    }
}
