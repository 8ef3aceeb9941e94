//! No graph or map depends on the path of the repository (spec 20 §1).

mod support;

use proptest::prelude::*;
use stan_engine::Engine;
use stan_engine::config::Config;
use stan_engine::context::{JsonStyle, Repository, build_map};
use stan_engine::graph::{GraphOptions, GraphRequest};
use stan_repo::MemorySystem;

/// Parts of a repository: each is a file, and any subset of them is a repository.
const FILES: [(&str, &str); 16] = [
    ("package.json", r#"{"name": "root", "workspaces": ["packages/*"]}"#),
    ("a.js", "require('p'); require('@foo/p'); require('q'); require('lib'); require('./gone'); require('/abs/gone')"),
    ("fix/a.js", "require('@foo/p'); require('p'); require('../packages/lib')"),
    ("fix/node_modules/@foo/p/index.js", "module.exports = 1"),
    ("fix/node_modules/p/package.json", r#"{"name": "p", "version": "1.0.0"}"#),
    ("fix/node_modules/p/index.js", "/** Fixture. @module */"),
    ("node_modules/@foo/p/index.js", "module.exports = 2"),
    ("node_modules/p/package.json", r#"{"name": "p", "version": "1.0.0"}"#),
    ("node_modules/p/index.js", "/** Other bytes. @module */"),
    ("node_modules/q/package.json", r#"{"name": "q"}"#),
    ("node_modules/q/index.js", ""),
    ("packages/lib/package.json", r#"{"name": "lib", "main": "lib.js", "types": "lib.d.ts"}"#),
    ("packages/lib/lib.js", ""),
    ("packages/lib/lib.d.ts", ""),
    ("packages/b/package.json", r#"{"name": "b", "dependencies": {"q": "file:../lib"}}"#),
    ("packages/b/b.ts", "import 'q'; import 'lib'; import 'root/a.js'; import 'b';"),
];

/// The graph and the map of a repository at `root`.
fn documents(root: &str, chosen: &[bool]) -> (String, Vec<u8>) {
    let system = MemorySystem::new();
    system.set_file(format!("{root}/keep.md"), "");
    for ((path, text), _) in FILES.iter().zip(chosen).filter(|(_, chosen)| **chosen) {
        system.set_file(format!("{root}/{path}"), *text);
    }
    let graph = support::json(&support::cold(&system, &GraphOptions::new(root)));
    let config = Config::default();
    let map = build_map(&Engine::new(&system), &Repository { root, config: &config }, &GraphRequest::default())
        .expect("a map is made");
    let mut bytes = Vec::new();
    map.write(&mut bytes, JsonStyle::Minified).expect("memory is writable");
    bytes.extend(map.problems().join("\n").into_bytes());
    (graph, bytes)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn the_same_bytes_in_two_places_give_the_same_documents(chosen in prop::collection::vec(any::<bool>(), FILES.len())) {
        prop_assert_eq!(documents("/r", &chosen), documents("/another/place/deep", &chosen));
    }
}

#[test]
fn documents_are_the_same_at_another_root() {
    let all = [true; FILES.len()];
    let (graph, map) = documents("/r", &all);
    assert_eq!((graph.clone(), map.clone()), documents("/x/y", &all));
    // Two packages with the same name and version but different bytes cost a node, not the map.
    let map = String::from_utf8(map).expect("a map is text");
    assert!(map.contains("are both `.stan/context/npm/p/1.0.0/index.js`, but their contents differ"), "{map}");
    assert!(!map.contains("/r/") && !graph.contains("\"/r/"), "{map}");
}
