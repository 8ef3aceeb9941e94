//! Which names are valid in an archive or below the repository's root: relative, `/`-separated UTF-8, without `.` and `..`. No
//! file access.

use crate::error::Error;

/// Longer names are not file names: the longest path on Linux has 4,096 bytes.
const MAX_NAME_BYTES: usize = 32 << 10;

/// Rejects every name that could be unpacked or written outside its folder.
pub fn check_name(name: &str) -> Result<(), Error> {
    match reason_against(name) {
        None => Ok(()),
        Some(reason) => Err(Error::BadName { name: shortened(name), reason }),
    }
}

/// Why a name that is valid here must not be in an archive: Windows takes `\` for a separator and `C:` for a drive, so that
/// `..\..\x` and `C:\x` could be unpacked outside the intended folder.
pub fn windows_hazard(name: &str) -> Option<&'static str> {
    if name.contains('\\') {
        return Some("its name has a backslash, which could lead out of the folder it is unpacked into on Windows");
    }
    let is_drive = |part: &str| matches!(part.as_bytes(), [letter, b':', ..] if letter.is_ascii_alphabetic());
    name.split('/')
        .any(is_drive)
        .then_some("its name begins like a drive, which could lead out of the folder it is unpacked into on Windows")
}

fn reason_against(name: &str) -> Option<&'static str> {
    if name.is_empty() {
        return Some("it is empty");
    }
    if name.len() > MAX_NAME_BYTES {
        return Some("it is longer than any file system allows");
    }
    if name.starts_with('/') {
        return Some("it is absolute");
    }
    if name.as_bytes().contains(&0) {
        return Some("it contains a NUL byte");
    }
    name.split('/').find_map(|component| match component {
        "" => Some("it has an empty component"),
        "." | ".." => Some("it has a component `.` or `..`"),
        _ => None,
    })
}

/// A name, truncated but still recognisable.
fn shortened(name: &str) -> String {
    const MAX_SHOWN: usize = 300;
    if name.len() <= MAX_SHOWN {
        return name.to_owned();
    }
    format!("{}…", &name[..name.floor_char_boundary(MAX_SHOWN)])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_with_another_meaning_on_windows_are_recognised() {
        for hazard in ["..\\..\\x", "a\\b.ts", "C:\\x.ts", "c:x.ts", "a/d:/x", "\\\\server\\share"] {
            assert!(check_name(hazard).is_ok() && windows_hazard(hazard).is_some(), "{hazard}");
        }
        for fine in ["a/b.ts", "12:30.md", "node:fs.ts", ":a"] {
            assert!(windows_hazard(fine).is_none(), "{fine}");
        }
    }

    #[test]
    fn names_that_would_leave_the_folder_are_refused() {
        for good in ["a", "a/b.ts", ".stan/x", "a b\n\"ä\\", "...", "a/..b"] {
            assert!(check_name(good).is_ok(), "{good:?}");
        }
        for bad in ["", "/", "/a", "a/", "a//b", ".", "..", "a/../b", "./a", "a\0b", &"é".repeat(20_000)] {
            assert!(check_name(bad).is_err(), "{bad:?}");
        }
    }
}
