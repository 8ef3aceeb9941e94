//! Documents that are passed to a command: maps, selections, logs, replies, x07 modules.

use super::super::shape::{Command, Shape};
use super::super::tree::{Tree, lines, list};
use crate::Result;

const SELECT: Command =
    Command::Stan(&["select", "--meta", "map.json", "--state", "state.json", "--json", "--tokens", "bytes4"]);
/// Not `check`: it needs an archive, and refuses the reply without reading it if there is none.
const APPLY: Command = Command::Stan(&["apply", "--dry-run", "reply.md", "--json"]);
const SLICE: Command = Command::X07(&["ast", "slice", "--in", "m.x07.json", "--ptr", "/decls/0"]);

pub(super) fn shapes() -> Vec<Shape> {
    vec![
        Shape::new("select-chain", 10_000, select_chain, SELECT).short(),
        Shape::new("select-state", 50_000, select_state, SELECT),
        Shape::new("select-edges", 50_000, select_edges, SELECT),
        Shape::new("state", 100_000, state, Command::Stan(&["state", "validate", "state.json"])),
        Shape::new(
            "log",
            50_000,
            log,
            Command::Stan(&["suggest", "--log", "log.txt", "--budget", "100000", "--tokens", "bytes4", "--no-cache"]),
        ),
        Shape::new("reply-fences", 50_000, |tree, n| reply(tree, &"````\n~~~\n".repeat(n)), APPLY),
        Shape::new(
            "reply-hunks",
            20_000,
            |tree, n| {
                let hunks = lines(n, |i| format!("@@ -{0},1 +{0},1 @@\n-x\n+y\n", 3 * i + 1));
                tree.file("a.ts", "x\n".repeat(3 * n))?;
                reply(
                    tree,
                    &format!(
                        "### Patch: `a.ts`\n\n```diff\ndiff --git a/a.ts b/a.ts\n--- a/a.ts\n+++ b/a.ts\n{hunks}```\n"
                    ),
                )
            },
            APPLY,
        ),
        Shape::new(
            "reply-patches",
            5_000,
            |tree, n| {
                reply(
                    tree,
                    &lines(n, |i| {
                        format!(
                            "### Patch: `f{i}.ts`\n\n```diff\ndiff --git a/f{i}.ts b/f{i}.ts\n--- /dev/null\n+++ b/f{i}.ts\n@@ -0,0 +1 @@\n+x\n```\n\n"
                        )
                    }),
                )
            },
            APPLY,
        ),
        Shape::new(
            "reply-operations",
            20_000,
            |tree, n| reply(tree, &format!("### File Ops\n\n```\n{}```\n", lines(n, |i| format!("mv a{i} b{i}\n")))),
            APPLY,
        ),
        Shape::new("x07-chain", 10_000, |tree, n| x07(tree, n, &|i| format!("[\"m.x{}\"]", (i + 1) % n)), SLICE),
        // n calls in total: each of √n declarations calls all of them.
        Shape::new(
            "x07-calls",
            160_000,
            |tree, n| {
                let side = n.isqrt();
                x07(tree, side, &|_| format!("[\"begin\",{},1]", list(side, |j| format!("[\"m.x{j}\"]"))))
            },
            SLICE,
        ),
    ]
}

fn map(tree: &Tree, nodes: &str) -> Result<()> {
    tree.file("map.json", format!("{{\"v\":2,\"n\":{{{nodes}}}}}"))
}

fn select_chain(tree: &Tree, n: usize) -> Result<()> {
    map(tree, &list(n, |i| format!("\"f{i}.ts\":{{\"k\":0,\"s\":1,\"e\":[[\"f{}.ts\",1]]}}", (i + 1) % n)))?;
    tree.file("state.json", "{\"v\":2,\"i\":[[\"f0.ts\",1000000]]}")
}

fn select_state(tree: &Tree, n: usize) -> Result<()> {
    map(tree, &list(n, |i| format!("\"f{i}.ts\":{{\"k\":0,\"s\":1}}")))?;
    tree.file("state.json", format!("{{\"v\":2,\"i\":[{}]}}", list(n, |i| format!("[\"f{i}.ts\",{}]", i % 9))))
}

fn select_edges(tree: &Tree, n: usize) -> Result<()> {
    let edges = |i: usize| list(10, |j| format!("[\"f{}.ts\",7]", (i * 7 + j * 1009) % n));
    map(tree, &list(n, |i| format!("\"f{i}.ts\":{{\"k\":0,\"s\":1,\"e\":[{}]}}", edges(i))))?;
    tree.file("state.json", "{\"v\":2,\"i\":[[\"f0.ts\",1000000]]}")
}

fn state(tree: &Tree, n: usize) -> Result<()> {
    tree.file("state.json", format!("{{\"v\":2,\"i\":[{}]}}", list(n, |i| format!("[\"f{i}.ts\",{}]", i % 9))))
}

fn log(tree: &Tree, n: usize) -> Result<()> {
    (0..100).try_for_each(|i| tree.file(&format!("src/f{i}.ts"), "export {};\n"))?;
    tree.file("log.txt", lines(n, |i| format!("src/f{}.ts:{i}:1 - error at /x/y{i}.ts(1,2)\n", i % 100)))
}

fn reply(tree: &Tree, text: &str) -> Result<()> {
    tree.file("reply.md", text)
}

fn x07(tree: &Tree, n: usize, body: &dyn Fn(usize) -> String) -> Result<()> {
    let decls = list(n, |i| {
        format!("{{\"kind\":\"defn\",\"name\":\"m.x{i}\",\"params\":[],\"result\":\"i32\",\"body\":{}}}", body(i))
    });
    let head = "\"schema_version\":\"x07.x07ast@0.9.0\",\"kind\":\"module\",\"module_id\":\"m\",\"imports\":[]";
    tree.file("m.x07.json", format!("{{{head},\"decls\":[{decls}]}}"))
}
