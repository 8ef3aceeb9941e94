//! The laws of resolution in Python and Go: a small repository whose manifests, environments and modules are arbitrary.

use stan_engine::Engine;
use stan_engine::config::Config;
use stan_engine::context::{Repository, build_map};
use stan_engine::graph::{GraphOptions, GraphRequest};
use stan_model::NodeKind;
use stan_repo::MemorySystem;

use crate::room::with_room;
use crate::tree::{Fence, ROOT, graph_of, json};

/// The files that an input may fill, each after a line `//- LETTER`.
const SLOTS: [&str; 13] = [
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
];

/// The rest of the repository, and what lies around it.
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

/// The graph and the map are made whatever the manifests say, are the same on one thread and on two, and nothing outside of the
/// repository is read or named as a file.
pub fn law(bytes: &[u8]) {
    with_room(|| {
        let system = MemorySystem::from_fixture(TREE);
        fill(&system, bytes);
        let fence = Fence { system: &system, may_read: |path| path.starts_with("/r/") };
        let options = GraphOptions::new(ROOT);
        let one = graph_of(1, &fence, &options, &GraphRequest::default());
        let graph = one.graph.as_ref().expect("the graph was asked for");
        for node in graph.nodes() {
            assert!(!node.id.is_empty());
            if matches!(node.kind, NodeKind::Source | NodeKind::External) {
                let is_inside = !node.id.starts_with('/') && node.id.split('/').all(|part| part != "..");
                assert!(is_inside, "{} is outside", node.id);
            }
        }
        system.set_order(7);
        let two = graph_of(2, &fence, &options, &GraphRequest::default());
        system.set_order(0);
        assert_eq!(json(&one), json(&two), "threads and the order of listings change nothing");
        let config = Config::default();
        let repository = Repository { root: ROOT, config: &config };
        let engine = Engine::new(&fence).with_threads(Some(1));
        let built = build_map(&engine, &repository, &GraphRequest::default()).expect("no input makes a run fail");
        let mut document = Vec::new();
        built.map.write(&mut document, true).expect("memory takes everything");
        assert!(!document.windows(8).any(|window| window == b"\"/secret"), "no place of the machine is in the map");
    });
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
