//! Git directories: trees that are referenced many times, and long histories.

use sha1::{Digest as _, Sha1};

use super::super::shape::{Command, Shape};
use super::super::tree::{Tree, lines};
use crate::Result;

const CHANGED: Command = Command::Stan(&[
    "suggest",
    "--changed",
    "main",
    "--focus",
    "a.ts",
    "--budget",
    "100000",
    "--tokens",
    "bytes4",
    "--no-cache",
    "--threads",
    "1",
]);
const HISTORY: Command = Command::Stan(&[
    "suggest",
    "--changed",
    "main~100",
    "--focus",
    "a.ts",
    "--budget",
    "100000",
    "--tokens",
    "bytes4",
    "--no-cache",
    "--threads",
    "1",
]);

pub(super) fn shapes() -> Vec<Shape> {
    vec![
        Shape::new("git-tree-bomb", 100_000, tree_bomb, CHANGED).short(),
        Shape::new("git-tree-width", 500, tree_width, CHANGED),
        Shape::new("git-history", 2_000, history, HISTORY),
    ]
}

fn repository(tree: &Tree) -> Result<()> {
    tree.file("a.ts", "export {};\n")?;
    tree.file(".git/HEAD", "ref: refs/heads/main\n")?;
    tree.file(".git/config", "[core]\n\trepositoryformatversion = 0\n")?;
    tree.file(".git/info/exclude", "")
}

/// Each level has two names for the same tree: a few objects, and n paths.
fn tree_bomb(tree: &Tree, n: usize) -> Result<()> {
    repository(tree)?;
    let blob = object(tree, "blob", b"")?;
    let mut inner = object(tree, "tree", &entries(2, "100644", &blob))?;
    for _ in 2..n.ilog2() {
        inner = object(tree, "tree", &entries(2, "40000", &inner))?;
    }
    commit(tree, &inner, None).map(drop)
}

/// One tree of a hundred files under n names.
fn tree_width(tree: &Tree, n: usize) -> Result<()> {
    repository(tree)?;
    let blob = object(tree, "blob", b"")?;
    let inner = object(tree, "tree", &entries(100, "100644", &blob))?;
    let top = object(tree, "tree", &entries(n, "40000", &inner))?;
    commit(tree, &top, None).map(drop)
}

fn history(tree: &Tree, n: usize) -> Result<()> {
    repository(tree)?;
    let top = object(tree, "tree", b"")?;
    (0..n.max(101)).try_fold(None, |parent, _| commit(tree, &top, parent.as_ref()).map(Some)).map(drop)
}

type Id = [u8; 20];

fn entries(count: usize, mode: &str, id: &Id) -> Vec<u8> {
    (0..count).flat_map(|i| [format!("{mode} n{i:06}\0").as_bytes(), id].concat()).collect()
}

/// Writes a commit and sets `main` to it.
fn commit(tree: &Tree, top: &Id, parent: Option<&Id>) -> Result<Id> {
    let parent = parent.map_or_else(String::new, |id| format!("parent {}\n", hex(id)));
    let text = format!("tree {}\n{parent}author a <a> 1 +0000\ncommitter a <a> 1 +0000\n\nx\n", hex(top));
    let id = object(tree, "commit", text.as_bytes())?;
    tree.file(".git/refs/heads/main", format!("{}\n", hex(&id)))?;
    Ok(id)
}

/// Writes a loose object, uncompressed.
fn object(tree: &Tree, kind: &str, bytes: &[u8]) -> Result<Id> {
    let raw = [format!("{kind} {}\0", bytes.len()).as_bytes(), bytes].concat();
    let id: Id = Sha1::digest(&raw).into();
    let mut stored = vec![0x78, 0x01];
    let pieces: Vec<&[u8]> = raw.chunks(0xffff).collect();
    for (place, piece) in pieces.iter().enumerate() {
        let length = u16::try_from(piece.len())?;
        stored.push(u8::from(place + 1 == pieces.len()));
        stored.extend(length.to_le_bytes());
        stored.extend((!length).to_le_bytes());
        stored.extend_from_slice(piece);
    }
    let (low, high) = raw.iter().fold((1u32, 0u32), |(low, high), byte| {
        let low = (low + u32::from(*byte)) % 65_521;
        (low, (high + low) % 65_521)
    });
    stored.extend(((high << 16) | low).to_be_bytes());
    let name = hex(&id);
    tree.file(&format!(".git/objects/{}/{}", &name[..2], &name[2..]), stored)?;
    Ok(id)
}

fn hex(id: &Id) -> String {
    lines(id.len(), |i| format!("{:02x}", id[i]))
}
