//! An invalid `.git`: a file, garbage, an index with false contents.

use std::io;

use sha1::{Digest as _, Sha1};

use super::Tree;
use super::links::GIT;
use crate::site::Site;

pub(super) fn trees() -> Vec<Tree> {
    let mut trees = vec![
        Tree::new(
            "git-elsewhere",
            "the git directory that a `.git` file names is shown, or more of it is read than git would",
            |site| {
                site.project()?;
                site.readable = GIT.to_vec();
                site.file("repo/.git", "gitdir: ../sibling/.git\n")
            },
        ),
        Tree::new("git-common", "a `commondir` points to files outside that are not part of a git directory", |site| {
            site.project()?;
            directory(site)?;
            site.readable = vec!["sibling/.git/info/exclude"];
            site.file("repo/.git/commondir", "../../sibling/.git\n")
        }),
        Tree::new("git-index-paths", "the index names files outside, and they are read", lying_index),
        Tree::new(
            "git-index-count",
            "an index that claims four thousand million entries makes room for them",
            |site| {
                site.project()?;
                directory(site)?;
                site.file("repo/.git/index", index(&["src/main.ts"], Some(u32::MAX)))
            },
        ),
        Tree::new("git-index-huge", "an index of gigabytes is read into memory", huge_index),
        Tree::new("git-nested", "repositories in the repository are entered, or confuse the scan", nested),
        Tree::new("git-config", "git's configuration, hooks or filters are obeyed", |site| {
            site.project()?;
            directory(site)?;
            site.file("repo/.git/config", "[core]\n\tfsmonitor = /bin/sh -c 'touch ../../escaped'\n\thooksPath = ../vault\n\texcludesFile = ../secret.txt\n\tworktree = ../sibling\n[include]\n\tpath = ../../secret.txt\n[filter \"x\"]\n\tsmudge = touch ../../escaped\n")?;
            site.file("repo/.gitattributes", "* filter=x diff=x merge=x\n")?;
            site.file("repo/.git/index", index(&["src/main.ts"], None))
        }),
    ];
    trees.extend(FILES.map(|(name, contents)| {
        Tree::new(name, "a `.git` file that is none ends the run", move |site: &mut Site| {
            site.project()?;
            site.file("repo/.git", contents)
        })
    }));
    trees
}

const FILES: [(&str, &str); 5] = [
    ("git-garbage", "\u{0}\u{1}garbage\n"),
    ("git-self", "gitdir: .git\n"),
    ("git-slash", "gitdir: /\n"),
    ("git-empty", ""),
    ("git-secret", "gitdir: ../secret.txt\n"),
];

/// An empty git directory.
fn directory(site: &mut Site) -> io::Result<()> {
    site.file("repo/.git/HEAD", "ref: refs/heads/main\n")?;
    site.directory("repo/.git/objects")?;
    site.directory("repo/.git/refs")?;
    site.directory("repo/.git/info")
}

/// An index of version 2 with a correct checksum; `claimed` is a false number of entries.
fn index(paths: &[&str], claimed: Option<u32>) -> Vec<u8> {
    let count = claimed.unwrap_or(u32::try_from(paths.len()).unwrap_or(0));
    let mut bytes = [b"DIRC".as_slice(), &2u32.to_be_bytes(), &count.to_be_bytes()].concat();
    for path in paths {
        let start = bytes.len();
        bytes.extend_from_slice(&[0; 24]);
        bytes.extend_from_slice(&0o100_644_u32.to_be_bytes());
        bytes.extend_from_slice(&[0; 12]);
        bytes.extend_from_slice(&[7; 20]);
        bytes.extend_from_slice(&u16::try_from(path.len()).unwrap_or(0xfff).to_be_bytes());
        bytes.extend_from_slice(path.as_bytes());
        let length = bytes.len() - start;
        bytes.resize(start + (length / 8 + 1) * 8, 0);
    }
    let checksum = Sha1::digest(&bytes);
    bytes.extend_from_slice(&checksum);
    bytes
}

fn lying_index(site: &mut Site) -> io::Result<()> {
    site.project()?;
    directory(site)?;
    let paths = [
        "../secret.txt",
        "../vault/private.ts",
        "/etc/passwd",
        "src/../../secret.txt",
        "src/main.ts",
        ".git/config",
        "a\nb",
        "",
        "src",
        "src/main.ts/x",
    ];
    site.file("repo/.git/index", index(&paths, None))?;
    site.file("repo/.gitignore", "*\n")?;
    site.selection(r#"["src/main.ts",9]"#)
}

fn nested(site: &mut Site) -> io::Result<()> {
    site.project()?;
    for folder in ["repo/nested", "repo/src/deep/nested"] {
        site.file(&format!("{folder}/.git/HEAD"), "ref: refs/heads/main\n")?;
        site.directory(&format!("{folder}/.git/objects"))?;
        site.directory(&format!("{folder}/.git/refs"))?;
        site.file(&format!("{folder}/a.ts"), "export {};\n")?;
    }
    site.file("repo/broken/.git", "gitdir: ../../vault\n")?;
    site.file("repo/broken/b.ts", "export {};\n")?;
    site.link("repo/linked/.git", "../../sibling/.git")?;
    site.readable = GIT.to_vec();
    site.file("repo/linked/c.ts", "export {};\n")?;
    site.link("repo/circle/.git", ".git")?;
    site.file("repo/circle/d.ts", "export {};\n")?;
    site.file("repo/.gitmodules", "[submodule \"x\"]\n\tpath = ../sibling\n\turl = ext::sh -c id\n")
}

fn huge_index(site: &mut Site) -> io::Result<()> {
    site.project()?;
    directory(site)?;
    let size = site.scale.of(192 << 20, 3 << 30);
    site.sparse("repo/.git/index", "DIRC\0\0\0\x02\0\0\0\x01", size)?;
    site.sparse("repo/.git/info/exclude", "x\n", size)?;
    site.sparse("repo/nested/.git", "gitdir: x", size)?;
    site.file("repo/nested/a.ts", "export {};\n")
}
