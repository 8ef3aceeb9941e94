//! Resolves a symlink in the root without reading anything outside the root.
//!
//! Each component is stat'ed separately, so that a symlink in the middle of a target cannot point outside unnoticed.

use crate::observations::Recorder;
use crate::paths::{MAX_LINKS, Root, join, split_last};
use crate::system::EntryKind;

/// The final target of a symlink.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Destination {
    /// A regular file inside the root, by its real root-relative path.
    File(String),
    /// A directory, a pipe or a socket, which is not added to the universe.
    NotAFile,
    Outside,
    Dangling,
    Loop,
    /// A symlink in the chain cannot be read, or its target is not UTF-8.
    Unreadable,
}

impl Destination {
    /// Why a symlink with this target is skipped, if that is worth reporting.
    pub(crate) fn problem(&self) -> Option<&'static str> {
        match self {
            Self::File(_) | Self::NotAFile => None,
            Self::Outside => Some("link skipped, because it leads out of the root"),
            Self::Dangling => Some("link skipped, because its target does not exist"),
            Self::Loop => Some("link skipped, because it leads in a circle"),
            Self::Unreadable => Some("link skipped, because its target cannot be read as UTF-8"),
        }
    }
}

/// Follows the symlink at `relative`, whose directory must be a real path. `alias` is another spelling of the root that absolute
/// targets may use.
pub(crate) fn destination(recorder: &mut Recorder<'_>, root: &Root, alias: &Root, relative: &str) -> Destination {
    let link = root.absolute(relative);
    let Some((directory, name)) = split_last(&link) else { return Destination::NotAFile };
    let mut walker =
        Walker { recorder, root, alias, real: directory.to_owned(), pending: vec![name.to_owned()], links: 0 };
    walker.run().unwrap_or_else(|destination| destination)
}

struct Walker<'r, 's> {
    recorder: &'r mut Recorder<'s>,
    root: &'r Root,
    alias: &'r Root,
    /// The real path so far: inside the root, or a parent directory of it.
    real: String,
    /// The remaining components, the next one last.
    pending: Vec<String>,
    links: usize,
}

impl Walker<'_, '_> {
    fn run(&mut self) -> Result<Destination, Destination> {
        let mut kind = EntryKind::Dir;
        while let Some(name) = self.pending.pop() {
            if kind != EntryKind::Dir {
                return Err(Destination::Dangling);
            }
            if name == ".." {
                self.real = split_last(&self.real).map_or("/", |(parent, _)| parent).to_owned();
                continue;
            }
            let next = join(&self.real, &name);
            if self.root.is_at_or_below(&next) {
                // The root and its parents are real paths: no stat needed.
                self.real = next;
                continue;
            }
            if self.root.relative(&next).is_none() {
                return Err(Destination::Outside);
            }
            match self.recorder.probe(&next).ok_or(Destination::Dangling)? {
                EntryKind::Link => self.follow(&next)?,
                other => {
                    kind = other;
                    self.real = next;
                }
            }
        }
        match (kind, self.root.relative(&self.real)) {
            (EntryKind::File, Some(relative)) => Ok(Destination::File(relative.to_owned())),
            (_, Some(_)) => Ok(Destination::NotAFile),
            (_, None) => Ok(Destination::Outside),
        }
    }

    fn follow(&mut self, link: &str) -> Result<(), Destination> {
        self.links += 1;
        if self.links > MAX_LINKS {
            return Err(Destination::Loop);
        }
        let target = self.recorder.read_link(link).ok_or(Destination::Unreadable)?;
        let real;
        let mut target = target.as_str();
        if target.starts_with('/') {
            if let Some(relative) = self.alias.relative(target) {
                real = self.root.absolute(relative);
                target = &real;
            }
            "/".clone_into(&mut self.real);
        }
        let components = target.split('/').filter(|component| !matches!(*component, "" | "."));
        self.pending.extend(components.rev().map(str::to_owned));
        Ok(())
    }
}
