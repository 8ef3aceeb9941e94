//! Branches, tags and other names of objects: loose files, `packed-refs`, and symbolic references.
//!
//! Follows git's rules for short names. Does not read reflogs (`@{…}`), replacements and grafts; reports reftables as
//! unsupported.

use std::collections::BTreeMap;

use super::error::GitError;
use super::id::ObjectId;
use super::place::GitLayout;
use crate::paths::join;

/// Git's own limit for chains of symbolic references.
const MAX_SYMBOLIC_DEPTH: usize = 5;
const MAX_PACKED_BYTES: u64 = 256 << 20;
const RULES: [(&str, &str); 6] = [
    ("", ""),
    ("refs/", ""),
    ("refs/tags/", ""),
    ("refs/heads/", ""),
    ("refs/remotes/", ""),
    ("refs/remotes/", "/HEAD"),
];

pub(crate) struct References<'p, 's> {
    place: &'p GitLayout<'s>,
    /// `None` until the first request.
    packed: Option<BTreeMap<String, ObjectId>>,
}

impl<'p, 's> References<'p, 's> {
    pub(crate) fn new(place: &'p GitLayout<'s>) -> Self {
        Self { place, packed: None }
    }

    /// Resolves a name in git's order of rules; `None` if it is not a reference.
    pub(crate) fn find(&mut self, name: &str) -> Result<Option<ObjectId>, GitError> {
        let name = if name == "@" { "HEAD" } else { name };
        if !is_name(name) {
            return Ok(None);
        }
        if self.place.format.has_reftable {
            return Err(GitError::Unsupported { feature: format!("a reftable for names such as `{name}`") });
        }
        for (before, behind) in RULES {
            let full = [before, name, behind].concat();
            // Directly in the git directory, only names in capitals are references; other files there are git's own.
            let is_root_name = full.bytes().all(|byte| matches!(byte, b'A'..=b'Z' | b'_' | b'-'));
            if !full.starts_with("refs/") && !is_root_name {
                continue;
            }
            if let Some(id) = self.resolve(full)? {
                return Ok(Some(id));
            }
        }
        Ok(None)
    }

    /// Resolves a full name.
    fn resolve(&mut self, full: String) -> Result<Option<ObjectId>, GitError> {
        let mut name = full;
        for _ in 0..=MAX_SYMBOLIC_DEPTH {
            let path = join(self.folder_of(&name), &name);
            let Some(bytes) = self.place.read_small(&path)? else { return self.packed(&name) };
            let damaged = || GitError::damaged(&self.place.shown(&path), "it is not a reference");
            if let Some(target) = bytes.strip_prefix(b"ref:") {
                let target = std::str::from_utf8(target).map_err(|_| damaged())?.trim();
                // The target becomes a path below the git directory, and must not leave it.
                if !is_name(target) || !target.starts_with("refs/") {
                    return Err(damaged());
                }
                name = target.to_owned();
                continue;
            }
            let digits = bytes.split(u8::is_ascii_whitespace).next().unwrap_or_default();
            return ObjectId::from_hex(digits, self.place.format.hash).map(Some).ok_or_else(damaged);
        }
        Err(GitError::TooMuch { what: format!("the chain of names from `{name}`"), limit: MAX_SYMBOLIC_DEPTH as u64 })
    }

    /// References of a single worktree are in that worktree's own folder.
    fn folder_of(&self, name: &str) -> &'p str {
        let own = ["refs/bisect/", "refs/worktree/", "refs/rewritten/"];
        let is_own = !name.starts_with("refs/") || own.iter().any(|prefix| name.starts_with(prefix));
        if is_own { &self.place.directory } else { &self.place.common }
    }

    fn packed(&mut self, name: &str) -> Result<Option<ObjectId>, GitError> {
        let packed = match self.packed.take() {
            Some(packed) => packed,
            None => self.read_packed()?,
        };
        Ok(self.packed.insert(packed).get(name).copied())
    }

    fn read_packed(&self) -> Result<BTreeMap<String, ObjectId>, GitError> {
        let path = join(&self.place.common, "packed-refs");
        let Some(bytes) = self.place.read(&path, MAX_PACKED_BYTES)? else { return Ok(BTreeMap::new()) };
        let mut packed = BTreeMap::new();
        let lines = bytes.split(|&byte| byte == b'\n').map(|line| line.strip_suffix(b"\r").unwrap_or(line));
        for (number, line) in lines.enumerate() {
            // Skip the line below a tag with its peeled id (`^`): tags are resolved anyway.
            if line.is_empty() || line.starts_with(b"#") || line.starts_with(b"^") {
                continue;
            }
            let parsed = line.iter().position(|&byte| byte == b' ').and_then(|space| {
                let (digits, name) = line.split_at_checked(space)?;
                let id = ObjectId::from_hex(digits, self.place.format.hash)?;
                Some((String::from_utf8_lossy(name.get(1..)?).into_owned(), id))
            });
            let Some((name, id)) = parsed else {
                let reason = format!("line {} is not a reference", number + 1);
                return Err(GitError::damaged(&self.place.shown(&path), reason));
            };
            packed.insert(name, id);
        }
        Ok(packed)
    }
}

/// Whether git would accept the name of a reference. Most important: it must stay in its folder.
fn is_name(name: &str) -> bool {
    let is_part = |part: &str| !part.is_empty() && !part.starts_with('.') && !part.ends_with(".lock");
    let is_forbidden = |c: char| c.is_ascii_control() || matches!(c, ' ' | '~' | '^' | ':' | '?' | '*' | '[' | '\\');
    name.split('/').all(is_part)
        && !name.contains(is_forbidden)
        && !name.contains("..")
        && !name.contains("@{")
        && !name.ends_with('.')
}

#[cfg(test)]
mod tests {
    use super::is_name;

    #[test]
    fn names_of_references_follow_gits_rules() {
        for good in ["HEAD", "main", "refs/heads/a/b", "v1.0", "a-b_c", "ünï", "x@y"] {
            assert!(is_name(good), "{good}");
        }
        for bad in [
            "", "/", "a//b", "/a", "a/", "..", "a/../b", ".a", "a/.b", "a.lock", "a.lock/b", "a b", "a~", "a:b", "a.",
            "a@{b", "a\n",
        ] {
            assert!(!is_name(bad), "{bad}");
        }
    }
}
