//! Parses a commit object: its tree, its parents, its time and its message.

use super::error::GitError;
use super::id::{HashKind, ObjectId};
use super::place::GitLayout;
use crate::paths::join;

pub(crate) struct Commit {
    pub(crate) tree: ObjectId,
    pub(crate) parents: Vec<ObjectId>,
    /// The committer's time, in seconds since the epoch; 0 if it cannot be parsed.
    pub(crate) time: i64,
    /// The offset of the message.
    message: usize,
}

impl Commit {
    pub(crate) fn parse(id: &ObjectId, bytes: &[u8], hash: HashKind) -> Result<Self, GitError> {
        let damaged = || GitError::damaged(&format!("commit {id}"), "it does not name its folder");
        // An empty line precedes the message.
        let message = bytes.windows(2).position(|pair| pair == b"\n\n").map_or(bytes.len(), |at| at + 2);
        let mut lines = bytes.get(..message).unwrap_or_default().split(|&byte| byte == b'\n').peekable();
        let tree = lines.next().and_then(|line| ObjectId::from_hex(line.strip_prefix(b"tree ")?, hash));
        let mut parents = Vec::new();
        while let Some(parent) = lines.peek().and_then(|line| ObjectId::from_hex(line.strip_prefix(b"parent ")?, hash))
        {
            parents.push(parent);
            lines.next();
        }
        let committer = lines.find_map(|line| line.strip_prefix(b"committer "));
        let time = committer.and_then(seconds).unwrap_or(0);
        Ok(Self { tree: tree.ok_or_else(damaged)?, parents, time, message })
    }

    /// The message, from the bytes of the commit.
    pub(crate) fn message<'b>(&self, bytes: &'b [u8]) -> &'b [u8] {
        bytes.get(self.message..).unwrap_or_default()
    }
}

/// Parses the time of `Name <mail> 1700000000 +0100`.
fn seconds(person: &[u8]) -> Option<i64> {
    let end = person.iter().rposition(|&byte| byte == b'>')?;
    let text = std::str::from_utf8(person.get(end + 1..)?).ok()?;
    text.split_whitespace().next()?.parse().ok()
}

/// Commits whose parents were not fetched.
pub(crate) fn shallow_commits(place: &GitLayout<'_>) -> Result<Vec<ObjectId>, GitError> {
    let bytes = place.read_small(&join(&place.common, "shallow"))?.unwrap_or_default();
    let lines = bytes.split(|&byte| byte == b'\n');
    Ok(lines.filter_map(|line| ObjectId::from_hex(line.trim_ascii(), place.format.hash)).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(text: &str) -> Option<(usize, i64, String)> {
        let id = ObjectId::from_bytes(&[7; 20])?;
        let commit = Commit::parse(&id, text.as_bytes(), HashKind::Sha1).ok()?;
        let message = String::from_utf8_lossy(commit.message(text.as_bytes())).into_owned();
        Some((commit.parents.len(), commit.time, message))
    }

    #[test]
    fn parents_time_and_message_of_a_commit_are_read() {
        let (one, two) = ("1".repeat(40), "2".repeat(40));
        let usual = format!(
            "tree {one}\nparent {one}\nparent {two}\nauthor A <a> 5 +0000\ncommitter C > D <c> 17 +0100\ngpgsig x\n y\n\nSubject\n\nBody\n"
        );
        assert_eq!(parse(&usual), Some((2, 17, "Subject\n\nBody\n".to_owned())));
        assert_eq!(parse(&format!("tree {one}\n")), Some((0, 0, String::new())));
        assert_eq!(parse(&format!("tree {one}\ncommitter x\n\n")), Some((0, 0, String::new())));
        assert_eq!(
            parse(&format!("tree {one}\ncommitter x <y> 99999999999999999999 +0\n\nm")),
            Some((0, 0, "m".to_owned()))
        );
        assert_eq!(parse("tree 1\n"), None);
        assert_eq!(parse(""), None);
    }
}
