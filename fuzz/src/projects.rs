//! The laws of resolution in Python, Go and Rust: a small repository with arbitrary manifests, environments and modules.

use std::path::Path;

use stan_engine::Engine;
use stan_engine::config::Config;
use stan_engine::context::{JsonStyle, Repository, build_map};
use stan_engine::graph::{GraphOptions, GraphRequest};
use stan_lang::packages::file_of_id;
use stan_lang::{PackageStore, PackageStores};
use stan_model::{Ecosystem, NodeKind};
use stan_repo::{MemorySystem, SystemExt as _};

use crate::room::with_room;
use crate::tree::{Fence, ROOT, graph_of, json};

/// The files that an input can fill, each after a line `//- LETTER`.
const SLOTS: [&str; 18] = [
    "/r/pyproject.toml",
    "/r/setup.cfg",
    "/r/setup.py",
    "/r/src/pkg/__init__.py",
    "/r/src/pkg/core.py",
    "/r/.venv/pyvenv.cfg",
    "/r/.venv/lib/python3.11/site-packages/edit.pth",
    "/r/.venv/lib/python3.11/site-packages/__editable___finder.py",
    "/r/.venv/lib/python3.11/site-packages/dist-1.0.dist-info/RECORD",
    "/r/go.mod",
    "/r/go.work",
    "/r/lib/a.go",
    "/r/vendor/modules.txt",
    "/r/go.sum",
    "/r/Cargo.toml",
    "/r/src/lib.rs",
    "/r/Cargo.lock",
    "/r/.cargo/config.toml",
];

/// The rest of the repository and its surroundings.
const TREE: &str = "\
//- /r/main.py
import pkg, pkg.core, pkg.gone, dist, dist.inner, secret, above, os, ns.inner
from pkg import core, name, sub
from pkg.sub import *
from ... import outside
//- /r/src/pkg/sub.py
from . import core
from .. import above
//- /r/src/ns/inner.py
//- /r/.venv/lib/python3.11/site-packages/dist/__init__.py
from .inner import x
//- /r/.venv/lib/python3.11/site-packages/dist/inner.py
x = 1
//- link /r/.venv/lib/python3.11/site-packages/secret -> /secret
//- link /r/src/linked -> ../../secret
//- /r/app/main.go
package main
import (
\t\"fmt\"
\t\"example.com/m/lib\"
\t\"example.com/dep\"
\t\"example.com/nested/deep\"
\t\"../../secret\"
\t\"example.com/cached\"
\t\"example.com/cached/sub\"
\t\"example.com/Private\"
)
func main() { fmt.Println(lib.A, dep.D, deep.X) }
//- /r/lib/b.go
package lib
func B() { A() }
//- /r/vendor/example.com/dep/dep.go
package dep
//- /r/nested/go.mod
module example.com/nested
//- /r/nested/deep/d.go
package deep
//- /u/mod/example.com/cached@v1.0.0/a.go
package cached
//- /u/mod/example.com/cached@v1.0.0/b.go
package cached
//- link /u/mod/example.com/cached@v1.0.0/out.go -> /secret/s.go
//- link /u/mod/example.com/cached@v1.0.0/sub -> /secret
//- /u/mod/example.com/!private@v1.0.0/p.go
package private
//- link /u/mod/example.com/linked@v1.0.0 -> /secret
//- /r/src/a.rs
pub use super::*;
pub use crate::b::X;
mod deep { pub mod file; }
//- /r/src/a/deep/file.rs
use super::super::super::*;
//- /r/src/main.rs
use root::a::X;
//- /r/crates/b/Cargo.toml
[package]
name = \"b\"
//- /r/crates/b/src/lib.rs
pub struct X;
//- /r/vendor/dep-1.0.0/Cargo.toml
[package]
name = \"dep\"
//- /r/vendor/dep-1.0.0/src/lib.rs
//- link /r/src/linked.rs -> ../../secret/s.rs
//- /secret/Cargo.toml
[package]
name = \"s\"
//- /secret/s.rs
//- /secret/src/lib.rs
//- /Cargo.toml
[workspace]
//- /secret/__init__.py
key = 1
//- /secret/pkg/__init__.py
//- /secret/s.go
package secret
//- /secret/go.mod
module example.com/dep
//- /above.py
//- /go.mod
module example.com/m
//- /pyproject.toml
";

/// Graph and map are built whatever the manifests contain, are equal on one thread and on two, and no file outside of the
/// repository is read or becomes a node.
pub fn law(bytes: &[u8]) {
    with_room(|| {
        let system = MemorySystem::from_fixture(TREE);
        fill(&system, bytes);
        let fence = Fence { system: &system, may_read: |path| path.starts_with("/r/") || path.starts_with("/u/mod/") };
        let mut options = GraphOptions::new(ROOT);
        options.stores =
            PackageStores::new(vec![PackageStore { ecosystem: Ecosystem::Go, folder: "/u/mod".to_owned() }]);
        let one = graph_of(1, &fence, &options, &GraphRequest::default());
        let graph = one.graph.as_ref().expect("the graph was asked for");
        for node in graph.nodes() {
            assert!(!node.id.is_empty());
            if matches!(node.kind, NodeKind::Source | NodeKind::External) {
                let is_inside = !node.id.starts_with('/') && node.id.split('/').all(|part| part != "..");
                assert!(is_inside, "{} is outside", node.id);
            }
            if let Some(file) = file_of_id(&node.id).filter(|_| node.kind == NodeKind::External) {
                let names = [&file.name, " ", &file.version, " h1:"].concat();
                let is_named = |line: &str| line.split_whitespace().collect::<Vec<_>>().join(" ").starts_with(&names);
                assert!(lock_file(&system).lines().any(is_named), "{} is in no lock file", node.id);
            }
        }
        system.set_order(7);
        let two = graph_of(2, &fence, &options, &GraphRequest::default());
        system.set_order(0);
        assert_eq!(json(&one), json(&two), "threads and the order of listings change nothing");
        let config = Config { stores: options.stores.clone(), ..Config::default() };
        let repository = Repository { root: ROOT, config: &config };
        let engine = Engine::new(&fence).with_threads(Some(1));
        let built = build_map(&engine, &repository, &GraphRequest::default()).expect("no input makes a run fail");
        let mut document = Vec::new();
        built.map.write(&mut document, JsonStyle::Indented).expect("memory takes everything");
        assert!(!document.windows(8).any(|window| window == b"\"/secret"), "no place of the machine is in the map");
    });
}

fn lock_file(system: &MemorySystem) -> String {
    let mut bytes = Vec::new();
    let _ = system.read_into(Path::new("/r/go.sum"), &mut bytes);
    String::from_utf8_lossy(&bytes).into_owned()
}

fn fill(system: &MemorySystem, bytes: &[u8]) {
    let mut slot = None;
    let mut contents = Vec::new();
    for line in bytes.split_inclusive(|&byte| byte == b'\n') {
        match line.strip_prefix(b"//- ").and_then(|rest| rest.first()) {
            Some(letter) => {
                put(system, slot, &mut contents);
                slot = SLOTS.get(usize::from(letter.wrapping_sub(b'a')));
            }
            None => contents.extend_from_slice(line),
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
