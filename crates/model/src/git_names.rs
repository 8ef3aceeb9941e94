//! Which path names some file system treats as git's own folder. Follows the rules by which git refuses such paths
//! (`core.protectHFS`, `core.protectNTFS`).

/// Characters that HFS+ ignores when it compares names.
fn is_ignored_by_hfs(character: char) -> bool {
    matches!(character,
        '\u{200c}'..='\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{206a}'..='\u{206f}' | '\u{feff}')
}

/// Whether one name of a path is `.git` on some file system: in any case, with ignored characters (HFS+), with trailing dots and
/// spaces, as a short name (`git~1`), or with a stream after a colon (NTFS).
pub fn is_git_folder(name: &str) -> bool {
    // The first byte decides for most names, without a copy.
    if name.as_bytes().first().is_none_or(|first| first.is_ascii() && !matches!(first, b'.' | b'g' | b'G')) {
        return false;
    }
    let bare = bare_name(name);
    bare.eq_ignore_ascii_case(".git") || bare.eq_ignore_ascii_case("git~1")
}

/// A name as the most lenient file systems compare it, except for its case: without characters that HFS+ ignores, without a
/// stream, and without the trailing dots and spaces that NTFS drops. `.` and `..` stay.
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
