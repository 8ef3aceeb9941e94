//! The hostile trees. Each says in one sentence what must not happen; the same promises are checked for all.

mod bombs;
mod configs;
mod git;
mod given;
mod go;
mod huge;
mod links;
mod names;
mod outside;
mod packages;
mod python;
mod replies;
mod rust;
mod special;
mod workspace;

use std::io;

use super::site::Site;

type Build = Box<dyn Fn(&mut Site) -> io::Result<()> + Send + Sync>;

/// Who owns the tree, and who runs the programs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Owner {
    /// The user of this task owns the tree and runs the programs.
    User,
    /// Another user owns the tree and runs the programs, because root can read everything.
    Nobody,
    /// The user of this task owns the tree, and another user runs the programs.
    OtherUser,
}

pub(super) struct Tree {
    pub(super) name: &'static str,
    /// The outcome that must not occur.
    pub(super) about: &'static str,
    pub(super) build: Build,
    /// Rebuilt for each command, because a command may correct what is hostile.
    pub(super) fresh: bool,
    pub(super) owner: Owner,
    pub(super) stan_path: &'static str,
    /// Paths in the repository that are swapped with those in `twins` while commands run.
    pub(super) swapped: &'static [&'static str],
}

impl Tree {
    fn new(
        name: &'static str,
        about: &'static str,
        build: impl Fn(&mut Site) -> io::Result<()> + Send + Sync + 'static,
    ) -> Self {
        let build = Box::new(build);
        Self { name, about, build, fresh: false, owner: Owner::User, stan_path: ".stan", swapped: &[] }
    }

    fn fresh(mut self) -> Self {
        self.fresh = true;
        self
    }

    fn owned_by(mut self, owner: Owner) -> Self {
        self.owner = owner;
        self
    }

    fn stan_path(mut self, stan_path: &'static str) -> Self {
        self.stan_path = stan_path;
        self
    }

    fn swapping(mut self, swapped: &'static [&'static str]) -> Self {
        self.swapped = swapped;
        self
    }
}

pub(super) fn all() -> Vec<Tree> {
    let healthy = Tree::new("healthy", "nothing: it is the project that all others are built upon", |site| {
        site.project()?;
        site.selection(r#"["src/main.ts",9]"#)
    });
    let groups = [
        vec![healthy],
        links::trees(),
        outside::trees(),
        names::trees(),
        packages::trees(),
        python::trees(),
        go::trees(),
        rust::trees(),
        configs::trees(),
        bombs::trees(),
        huge::trees(),
        special::trees(),
        git::trees(),
        workspace::trees(),
        replies::trees(),
        given::trees(),
    ];
    groups.into_iter().flatten().collect()
}
