//! Resolves a revision expression to its commit and tree: `main`, `v1.2^{commit}`, `HEAD~3^2`.
//!
//! Does not support ranges, paths (`REV:path`), reflogs (`@{1}`) and searches (`:/text`). Each has its own error.

use std::rc::Rc;

use super::commit::{Commit, shallow_commits};
use super::error::GitError;
use super::id::{ObjectId, ObjectKind};
use super::place::GitLayout;
use super::references::References;
use super::store::ObjectStore;

/// The maximum depth of tags that point to tags.
const MAX_TAG_DEPTH: usize = 64;
/// The maximum number of listed candidates of an ambiguous abbreviation.
const MAX_CANDIDATES: usize = 8;

/// The target of a revision.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Revision {
    /// `None` if the revision names a tree directly.
    pub(crate) commit: Option<ObjectId>,
    pub(crate) tree: ObjectId,
}

/// One step after the name.
#[derive(Debug, PartialEq, Eq)]
enum RevisionStep {
    /// `~3`: follows the first parent this many times.
    Ancestor(u32),
    /// `^2`: the parent with this number; 0 is the commit itself.
    Parent(u32),
    /// `^{commit}`, `^{tree}` and `^{}`.
    Peel(Option<ObjectKind>),
}

/// An object that is not a tag.
struct Peeled {
    id: ObjectId,
    kind: ObjectKind,
    bytes: Rc<Vec<u8>>,
}

/// Resolves a revision expression.
pub(crate) fn resolve<'s>(
    place: &GitLayout<'s>,
    store: &mut ObjectStore<'_, 's>,
    spelling: &str,
) -> Result<Revision, GitError> {
    let (name, steps) =
        parse(spelling).map_err(|reason| GitError::Spelling { revision: spelling.to_owned(), reason })?;
    let mut resolver = Resolver { place, store, spelling, shallow: None };
    let mut id = resolver.name(name)?;
    for step in steps {
        id = resolver.step(id, &step)?;
    }
    let Peeled { id, kind, bytes } = resolver.peel(id)?;
    match kind {
        ObjectKind::Tree => Ok(Revision { commit: None, tree: id }),
        ObjectKind::Commit => Ok(Revision { commit: Some(id), tree: resolver.commit(&id, &bytes)?.tree }),
        _ => Err(GitError::WrongKind { id: id.to_string(), found: kind.name(), wanted: "commit" }),
    }
}

fn parse(spelling: &str) -> Result<(&str, Vec<RevisionStep>), &'static str> {
    if spelling.contains("..") {
        return Err("it is a range; name the one revision that the files are compared with");
    }
    if spelling.contains("@{") {
        return Err("logs of references are not read");
    }
    if spelling.contains(":") || spelling.contains("^{/") {
        return Err("paths in revisions and searches are not read");
    }
    let end = spelling.find(['~', '^']).unwrap_or(spelling.len());
    let (name, mut rest) = spelling.split_at_checked(end).unwrap_or((spelling, ""));
    if name.is_empty() {
        return Err("it has no name");
    }
    let mut steps = Vec::new();
    while let Some(operator) = rest.chars().next() {
        rest = rest.get(1..).unwrap_or_default();
        if let Some(inner) = rest.strip_prefix('{').filter(|_| operator == '^') {
            let (wanted, behind) = inner.split_once('}').ok_or("a brace is not closed")?;
            steps.push(RevisionStep::Peel(match wanted {
                "" => None,
                "commit" => Some(ObjectKind::Commit),
                "tree" => Some(ObjectKind::Tree),
                _ => return Err("in braces there may be `commit`, `tree` or nothing"),
            }));
            rest = behind;
            continue;
        }
        let digits = rest.bytes().take_while(u8::is_ascii_digit).count();
        let (number, behind) = rest.split_at_checked(digits).unwrap_or((rest, ""));
        let number = if number.is_empty() { 1 } else { number.parse().map_err(|_| "a number is too large")? };
        steps.push(match operator {
            '~' => RevisionStep::Ancestor(number),
            '^' => RevisionStep::Parent(number),
            _ => return Err("behind the name there may be ~N, ^N and ^{commit} alone"),
        });
        rest = behind;
    }
    Ok((name, steps))
}

struct Resolver<'r, 'p, 's> {
    place: &'r GitLayout<'s>,
    store: &'r mut ObjectStore<'p, 's>,
    spelling: &'r str,
    /// Commits whose parents were not fetched; `None` until the first request.
    shallow: Option<Vec<ObjectId>>,
}

impl Resolver<'_, '_, '_> {
    /// A whole object id, a reference, the suffix of `git describe`, or the prefix of an object id: in git's order.
    fn name(&mut self, name: &str) -> Result<ObjectId, GitError> {
        if let Some(id) = ObjectId::from_hex(name.as_bytes(), self.place.format.hash) {
            return Ok(id);
        }
        let found = match References::new(self.place).find(name) {
            Ok(found) => found,
            // Even if references cannot be read, the digits may be an object id.
            Err(unsupported @ GitError::Unsupported { .. }) => {
                return self.abbreviated(name)?.ok_or(unsupported);
            }
            Err(error) => return Err(error),
        };
        if let Some(id) = found {
            return Ok(id);
        }
        let described = name.rsplit_once("-g").map(|(_, digits)| digits);
        for digits in described.into_iter().chain([name]) {
            if let Some(id) = self.abbreviated(digits)? {
                return Ok(id);
            }
        }
        Err(GitError::UnknownRevision { name: name.to_owned() })
    }

    /// The only object with this prefix, or the only one of them that peels to a commit.
    fn abbreviated(&mut self, digits: &str) -> Result<Option<ObjectId>, GitError> {
        let found: Vec<ObjectId> = self.store.starting_with(digits)?.into_iter().collect();
        if found.len() < 2 {
            return Ok(found.first().copied());
        }
        let kinds: Vec<(ObjectId, Option<ObjectKind>)> =
            found.into_iter().map(|id| (id, self.store.kind(&id))).collect();
        let leads = |kind: Option<ObjectKind>| !matches!(kind, Some(ObjectKind::Blob | ObjectKind::Tree));
        let mut leading = kinds.iter().filter(|(_, kind)| leads(*kind));
        if let (Some((only, _)), None) = (leading.next(), leading.next()) {
            return Ok(Some(*only));
        }
        let line = |(id, kind): &(ObjectId, Option<ObjectKind>)| {
            format!("{} {id}", kind.map_or("damaged object", ObjectKind::name))
        };
        let mut candidates: Vec<String> = kinds.iter().take(MAX_CANDIDATES).map(line).collect();
        if kinds.len() > MAX_CANDIDATES {
            candidates.push(format!("or one of {} more", kinds.len() - MAX_CANDIDATES));
        }
        Err(GitError::Ambiguous { prefix: digits.to_owned(), candidates })
    }

    fn step(&mut self, id: ObjectId, step: &RevisionStep) -> Result<ObjectId, GitError> {
        match *step {
            RevisionStep::Peel(None) => Ok(self.peel(id)?.id),
            RevisionStep::Peel(Some(ObjectKind::Tree)) => {
                let Peeled { id, kind, bytes } = self.peel(id)?;
                if kind == ObjectKind::Commit { Ok(self.commit(&id, &bytes)?.tree) } else { wanted(id, kind, "tree") }
            }
            RevisionStep::Peel(Some(_)) | RevisionStep::Parent(0) => {
                let Peeled { id, kind, .. } = self.peel(id)?;
                wanted(id, kind, "commit")
            }
            RevisionStep::Parent(number) => self.parent(id, number),
            RevisionStep::Ancestor(0) => self.step(id, &RevisionStep::Parent(0)),
            RevisionStep::Ancestor(count) => (0..count).try_fold(id, |id, _| self.parent(id, 1)),
        }
    }

    fn parent(&mut self, id: ObjectId, number: u32) -> Result<ObjectId, GitError> {
        let Peeled { id, kind, bytes } = self.peel(id)?;
        wanted(id, kind, "commit")?;
        let commit = self.commit(&id, &bytes)?;
        let is_cut = self.shallow()?.contains(&id);
        let index = usize::try_from(number).unwrap_or(usize::MAX).wrapping_sub(1);
        let parent = commit.parents.get(index).filter(|_| !is_cut).copied();
        parent.ok_or_else(|| GitError::NoParent { revision: self.spelling.to_owned(), commit: id.to_string(), number })
    }

    /// Follows tags to their target.
    fn peel(&mut self, id: ObjectId) -> Result<Peeled, GitError> {
        let mut id = id;
        for _ in 0..MAX_TAG_DEPTH {
            let (kind, bytes) = self.store.read(&id)?;
            if kind != ObjectKind::Tag {
                return Ok(Peeled { id, kind, bytes });
            }
            let target = bytes.split(|&byte| byte == b'\n').next().and_then(|line| line.strip_prefix(b"object "));
            let target = target.and_then(|digits| ObjectId::from_hex(digits, self.place.format.hash));
            id = target.ok_or_else(|| GitError::damaged(&format!("tag {id}"), "it does not say what it marks"))?;
        }
        Err(GitError::TooMuch { what: "a chain of tags".to_owned(), limit: MAX_TAG_DEPTH as u64 })
    }

    fn commit(&self, id: &ObjectId, bytes: &[u8]) -> Result<Commit, GitError> {
        Commit::parse(id, bytes, self.place.format.hash)
    }

    fn shallow(&mut self) -> Result<&[ObjectId], GitError> {
        if self.shallow.is_none() {
            self.shallow = Some(shallow_commits(self.place)?);
        }
        Ok(self.shallow.as_deref().unwrap_or_default())
    }
}

fn wanted(id: ObjectId, found: ObjectKind, wanted: &'static str) -> Result<ObjectId, GitError> {
    if found.name() == wanted {
        return Ok(id);
    }
    Err(GitError::WrongKind { id: id.to_string(), found: found.name(), wanted })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn revisions_are_parsed_into_steps() {
        let good: [(&str, &str, &[RevisionStep]); 8] = [
            ("HEAD", "HEAD", &[]),
            ("a/b~", "a/b", &[RevisionStep::Ancestor(1)]),
            ("a~3^2", "a", &[RevisionStep::Ancestor(3), RevisionStep::Parent(2)]),
            ("a^^", "a", &[RevisionStep::Parent(1), RevisionStep::Parent(1)]),
            ("a^0", "a", &[RevisionStep::Parent(0)]),
            ("v1^{commit}~2", "v1", &[RevisionStep::Peel(Some(ObjectKind::Commit)), RevisionStep::Ancestor(2)]),
            ("v1^{}", "v1", &[RevisionStep::Peel(None)]),
            ("@^{tree}", "@", &[RevisionStep::Peel(Some(ObjectKind::Tree))]),
        ];
        for (spelling, name, steps) in good {
            let (parsed, found) = parse(spelling).unwrap();
            assert_eq!((parsed, found.as_slice()), (name, steps), "{spelling}");
        }
        let bad = [
            "",
            "~1",
            "^a",
            "a..b",
            "a...b",
            "a@{1}",
            "@{u}",
            "a:b",
            ":/x",
            "a^{/x}",
            "a^{blob}",
            "a^{commit",
            "a~1b",
            "a~{1}",
            "a~99999999999",
            "a^ü",
            "a^-",
            "a^@",
            "a^!",
        ];
        for spelling in bad {
            assert!(parse(spelling).is_err(), "{spelling}");
        }
    }
}
