//! How node ids are spelled in documents: paths relative to the repository, separated by `/`. Whether a node exists is checked
//! elsewhere.

use std::borrow::Cow;

/// Why a text is not a valid node id.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum NodeIdError {
    #[error("a node id that is not empty")]
    Empty,
    #[error("a path relative to the repository instead of an absolute one")]
    Absolute,
    #[error("a path without `..`")]
    Parent,
    #[error("a node id without a NUL character")]
    Nul,
}

/// Checks that an id written by a program names a file below the repository.
pub fn check_node_id(id: &str) -> Result<(), NodeIdError> {
    if id.is_empty() {
        return Err(NodeIdError::Empty);
    }
    if is_absolute(id) {
        return Err(NodeIdError::Absolute);
    }
    if has_nul(id) {
        return Err(NodeIdError::Nul);
    }
    if id.split(['/', '\\']).any(|segment| segment == "..") { Err(NodeIdError::Parent) } else { Ok(()) }
}

/// Normalises an id that a person or an assistant wrote: `./a` is `a`, `a\b` is `a/b`, `a//b/` is `a/b`.
pub fn normalise_node_id(id: &str) -> Result<Cow<'_, str>, NodeIdError> {
    check_node_id(id)?;
    let is_plain = !id.contains('\\') && id.split('/').all(|segment| !segment.is_empty() && segment != ".");
    if is_plain {
        return Ok(Cow::Borrowed(id));
    }
    let segments = id.split(['/', '\\']).filter(|segment| !segment.is_empty() && *segment != ".");
    let normalised = segments.collect::<Vec<_>>().join("/");
    if normalised.is_empty() {
        return Err(NodeIdError::Empty);
    }
    // Checked again: the dot of `./C:/x` hid an absolute path from the first check.
    if is_absolute(&normalised) { Err(NodeIdError::Absolute) } else { Ok(Cow::Owned(normalised)) }
}

/// Absolute on any system: `/x`, `\x`, `C:\x`. Documents travel between machines.
pub fn is_absolute(path: &str) -> bool {
    match path.as_bytes() {
        [b'/' | b'\\', ..] => true,
        [drive, b':', rest @ ..] => drive.is_ascii_alphabetic() && matches!(rest, [] | [b'/' | b'\\', ..]),
        _ => false,
    }
}

fn has_nul(id: &str) -> bool {
    id.as_bytes().contains(&0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ids_have_one_spelling() {
        let cases = [
            ("a", Ok("a")),
            ("src/a.ts", Ok("src/a.ts")),
            ("./a", Ok("a")),
            ("././a", Ok("a")),
            ("a\\b", Ok("a/b")),
            ("a//b/./c/", Ok("a/b/c")),
            ("..a/b..", Ok("..a/b..")),
            ("node:fs", Ok("node:fs")),
            ("@scope/pkg", Ok("@scope/pkg")),
            ("", Err(NodeIdError::Empty)),
            (".", Err(NodeIdError::Empty)),
            ("./", Err(NodeIdError::Empty)),
            ("/a", Err(NodeIdError::Absolute)),
            ("\\a", Err(NodeIdError::Absolute)),
            ("\\\\server\\a", Err(NodeIdError::Absolute)),
            ("C:\\a", Err(NodeIdError::Absolute)),
            ("c:/a", Err(NodeIdError::Absolute)),
            ("c:", Err(NodeIdError::Absolute)),
            ("./c:/a", Err(NodeIdError::Absolute)),
            ("..", Err(NodeIdError::Parent)),
            ("a/../b", Err(NodeIdError::Parent)),
            ("a\\..\\b", Err(NodeIdError::Parent)),
            ("a\0b", Err(NodeIdError::Nul)),
        ];
        for (input, expected) in cases {
            assert_eq!(normalise_node_id(input).as_deref(), expected.as_ref().map(|id| *id), "{input:?}");
        }
    }
}
