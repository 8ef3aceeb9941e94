//! What may be a name in an archive, or a path below the repository's root: relative, `/`-separated UTF-8, without
//! detours. Whether something is there is not asked here.

use crate::error::Error;

/// Longer names are nobody's files: the longest path that Linux takes is 4,096 bytes.
const LONGEST_NAME: usize = 32 << 10;

/// Refuses every name that could lead out of the folder it is unpacked or written into.
pub fn check_name(name: &str) -> Result<(), Error> {
    match complaint(name) {
        None => Ok(()),
        Some(reason) => Err(Error::BadName { name: shortened(name), reason }),
    }
}

fn complaint(name: &str) -> Option<&'static str> {
    if name.is_empty() {
        return Some("it is empty");
    }
    if name.len() > LONGEST_NAME {
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

/// Enough of a name to recognise it.
fn shortened(name: &str) -> String {
    const SHOWN: usize = 300;
    if name.len() <= SHOWN {
        return name.to_owned();
    }
    format!("{}…", &name[..name.floor_char_boundary(SHOWN)])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names() {
        for good in ["a", "a/b.ts", ".stan/x", "a b\n\"ä\\", "...", "a/..b"] {
            assert!(check_name(good).is_ok(), "{good:?}");
        }
        for bad in ["", "/", "/a", "a/", "a//b", ".", "..", "a/../b", "./a", "a\0b", &"é".repeat(20_000)] {
            assert!(check_name(bad).is_err(), "{bad:?}");
        }
    }
}
