//! The laws of resolution in TypeScript: a small repository with arbitrary manifests and configurations.

use stan_engine::graph::{GraphOptions, GraphRequest};
use stan_model::NodeKind;
use stan_repo::MemorySystem;

use crate::room::with_room;
use crate::tree::{Fence, ROOT, graph_of, json};

/// The files that an input can fill, each after a line `//- NUMBER`.
const SLOTS: [&str; 9] = [
    "/r/package.json",
    "/r/tsconfig.json",
    "/r/node_modules/dep/package.json",
    "/r/packages/p/package.json",
    "/r/packages/p/tsconfig.json",
    "/r/base.json",
    "/r/src/more.ts",
    "/r/pnpm-workspace.yaml",
    "/r/node_modules/dep/tsconfig.json",
];

/// The rest of the repository and its surroundings.
const TREE: &str = "\
//- /r/src/a.ts
import 'dep'; import 'dep/sub'; import 'dep/lib/x.js'; import '@s/p'; import '@s/p/deep'; import '#in'; import '#x/y';
import '~/b'; import 'src/b'; import './b.js'; import './gone'; import 'self'; import 'self/b'; import {name} from 'p';
import type {T} from 'dep'; require('dep'); import('~/c'); import './c?raw'; import 'untyped';
//- /r/src/b.ts
export const name = 1; export * from './c';
//- /r/src/c.tsx
export const c = 1;
//- /r/dist/b.js
//- /r/packages/p/src/index.ts
export * from './deep'; export const name = 2;
//- /r/packages/p/src/deep.ts
export {T} from 'dep';
//- /r/packages/p/lib/index.js
//- /r/node_modules/dep/index.d.ts
export * from './lib/x'; export interface T {}
//- /r/node_modules/dep/lib/x.d.ts
export declare const x: 1;
//- /r/node_modules/dep/sub.js
//- /r/node_modules/@types/untyped/index.d.ts
//- link /r/node_modules/@s/p -> ../../packages/p
//- link /r/node_modules/out -> ../../secret
//- /node_modules/above/index.d.ts
//- /package.json
{\"name\": \"above-the-root\", \"workspaces\": [\"**\"]}
//- /tsconfig.json
{\"compilerOptions\": {\"paths\": {\"*\": [\"./secret/*\"]}}}
//- /secret/b.ts
export const b = 1;
//- /secret/index.d.ts
//- /secret/key.pem
//- /secret/base.json
{\"compilerOptions\": {\"baseUrl\": \".\"}}
//- /secret/package.json
{\"name\": \"secret\", \"main\": \"key.pem\"}
";

/// The graph is built whatever the manifests contain, is equal on one thread and on two, and has no outside file as a node and
/// reads none, except where that is allowed.
pub fn law(bytes: &[u8]) {
    with_room(|| {
        let system = MemorySystem::from_fixture(TREE);
        fill(&system, bytes);
        check_inside(&system);
        check_outside(&system, bytes);
    });
}

fn fill(system: &MemorySystem, bytes: &[u8]) {
    let mut slot = None;
    let mut contents = Vec::new();
    for line in bytes.split_inclusive(|&byte| byte == b'\n') {
        let header = line.strip_prefix(b"//- ").and_then(|rest| rest.first());
        if let Some(digit) = header {
            put(system, slot, &mut contents);
            slot = SLOTS.get(usize::from(digit.wrapping_sub(b'0')));
        } else {
            contents.extend_from_slice(line);
        }
    }
    put(system, slot, &mut contents);
}

fn put(system: &MemorySystem, slot: Option<&&str>, contents: &mut Vec<u8>) {
    let contents = std::mem::take(contents);
    if let Some(path) = slot {
        system.set_file(path, contents);
    }
}

/// With `outsideRoot: false`: outside of the root, only the packages of the folders above are read, and the manifest of a package
/// that an import resolves to, without which it cannot be resolved.
fn check_inside(system: &MemorySystem) {
    let may_read =
        |path: &str| path.starts_with("/r/") || path.starts_with("/node_modules/") || path == "/secret/package.json";
    let fence = Fence { system, may_read };
    let mut options = GraphOptions::new(ROOT);
    options.resolve.outside_root = false;
    let one = graph_of(1, &fence, &options, &GraphRequest::default());
    let graph = one.graph.as_ref().expect("the graph was asked for");
    for node in graph.nodes() {
        assert!(!node.id.is_empty());
        if matches!(node.kind, NodeKind::Source | NodeKind::External) {
            let is_inside = !node.id.starts_with('/') && node.id.split('/').all(|part| part != "..");
            assert!(is_inside || node.id.starts_with("/node_modules/"), "{} is outside", node.id);
        }
        assert!(node.kind != NodeKind::Source || !node.id.contains("node_modules/"), "{}", node.id);
    }
    system.set_order(7);
    let two = graph_of(2, &fence, &options, &GraphRequest::default());
    system.set_order(0);
    assert_eq!(json(&one), json(&two), "threads and the order of listings change nothing");
}

/// By default: outside of the root, only scripts, declarations and JSON that imports resolve to are read. Manifests and
/// configurations above the root are only read if they are imported themselves.
fn check_outside(system: &MemorySystem, bytes: &[u8]) {
    let names = |word: &[u8]| bytes.windows(word.len()).any(|window| window == word);
    let may_read = if names(b"package") || names(b"tsconfig") { is_module } else { is_module_and_not_above };
    let mut options = GraphOptions::new(ROOT);
    options.external_depth = 1;
    let request = GraphRequest::default();
    graph_of(1, &Fence { system, may_read }, &options, &request);
}

fn is_module(path: &str) -> bool {
    let is_inside = path.starts_with("/r/") || path.starts_with("/node_modules/");
    is_inside || [".ts", ".tsx", ".js", ".json"].iter().any(|extension| path.ends_with(extension))
}

fn is_module_and_not_above(path: &str) -> bool {
    is_module(path) && !matches!(path, "/package.json" | "/tsconfig.json")
}
