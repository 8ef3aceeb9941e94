//! Addresses of externals, and what happens if two files have the same one.

use stan_model::{Digest, Ecosystem, EdgeKind, Language, Resolution};

use super::*;
use crate::map::JsonStyle;
use crate::{GraphBuilder, Map, MetaHashes, Node};

fn package(name: &str, version: &str, path: &str) -> Option<PackageFile> {
    Some(PackageFile { ecosystem: Ecosystem::Npm, name: name.into(), version: version.into(), path: path.into() })
}

/// The id of a file that claims to belong to a package; `None` if the id is made from its path instead.
fn id_in(name: &str, version: &str, path: &str) -> Option<String> {
    let file = ExternalFile::new("/r", "/o/node_modules/p/x.js".into(), package(name, version, path));
    let id = canonical_id(".stan", &file);
    (!id.starts_with(".stan/context/abs/")).then_some(id)
}

#[test]
fn files_of_packages_go_by_name_and_version() {
    for (name, version, path, expected) in [
        ("p", "1.0.0", "x.js", ".stan/context/npm/p/1.0.0/x.js"),
        ("@s/p", "1.0.0-rc.1+b", "lib/.x/y..d.ts", ".stan/context/npm/@s/p/1.0.0-rc.1+b/lib/.x/y..d.ts"),
        ("_p", "workspace", "é.js", ".stan/context/npm/_p/workspace/é.js"),
    ] {
        assert_eq!(id_in(name, version, path).as_deref(), Some(expected));
    }
}

#[test]
fn unsafe_names_and_versions_go_by_path() {
    let long = "x".repeat(256);
    for name in [
        "",
        ".",
        "..",
        "a/b",
        "@s",
        "@/p",
        "@s/",
        "@s/../p",
        "@s/p/q",
        "@../p",
        "/p",
        "a\\b",
        "a\0",
        "a\n",
        ".git",
        "@.git/p",
        "node_modules",
        "@s/node_modules",
        "C:",
        "p ",
        "p.",
        " p",
        "a*",
        &long,
    ] {
        assert_eq!(id_in(name, "1", "x.js"), None, "{name:?}");
    }
    for version in ["", ".", "..", "../1", "1/2", "1\\2", "1\0", "\u{7f}", ".1", "1:2", &long] {
        assert_eq!(id_in("p", version, "x.js"), None, "{version:?}");
    }
    for path in ["", "/x", "a/", "a//b", "../x", "a/../x", "a\\b", "a\u{1}", &long] {
        assert_eq!(id_in("p", "1", path), None, "{path:?}");
    }
}

#[test]
fn other_files_go_by_the_hash_of_their_path() {
    let id = |absolute: &str| canonical_id("x/.stan/", &ExternalFile::new("/r", absolute.into(), None));
    // The output of `printf /o/a.ts | sha256sum`.
    assert_eq!(id("/o/a.ts"), "x/.stan/context/abs/HASH/a.ts".replace("HASH", &hash_of("/o/a.ts")));
    for (absolute, basename) in [
        ("/o/a\\b", "a_b"),
        ("/o/a\u{1b}[1m.ts", "a_[1m.ts"),
        ("/", "file"),
        ("/o/..", "file"),
        ("/o/.hidden", ".hidden"),
    ] {
        assert_eq!(id(absolute).rsplit_once('/').unwrap().1, basename, "{absolute}");
    }
    assert!(id(&format!("/{}", "é".repeat(400))).rsplit_once('/').unwrap().1.len() <= 255);
}

fn hash_of(text: &str) -> String {
    use sha2::Digest as _;
    Digest(sha2::Sha256::digest(text.as_bytes()).into()).to_string()
}

#[test]
fn missing_specifiers_tell_nothing_of_the_machine() {
    for (specifier, expected) in [
        ("src/gone", None),
        ("../gone", None),
        ("@/gone", None),
        ("/o/user/gone.ts", Some("missing:gone.ts")),
        ("C:\\user\\gone.ts", Some("missing:gone.ts")),
        ("node_modules/p/gone", Some("missing:p/gone")),
        ("../../node_modules/a/node_modules/p/gone", Some("missing:p/gone")),
        ("my_node_modules/p", None),
        ("", Some("missing:")),
        ("\0virtual", Some("missing:\u{fffd}virtual")),
    ] {
        assert_eq!(rule::private_specifier(specifier).as_deref(), expected, "{specifier:?}");
    }
}

/// `id kind contents|-` lines, then `from -> to` lines; external ids starting with `/` belong to the package `p` or to none.
fn graph(text: &str) -> (Graph, Externals) {
    let mut builder = GraphBuilder::new();
    let mut keys: Vec<&str> = Vec::new();
    for line in text.lines().map(str::trim).filter(|line| !line.is_empty()) {
        let words: Vec<&str> = line.split(' ').collect();
        if let [from, "->", to] = words[..] {
            let key = |id: &str| keys.iter().position(|key| *key == id).unwrap() as u32;
            builder.edge(key(from), key(to), EdgeKind::Runtime, Resolution::Explicit);
            continue;
        }
        let kind = match words[1] {
            "source" => NodeKind::Source,
            "external" => NodeKind::External,
            _ => NodeKind::Missing,
        };
        let contents = words[2];
        let digest = Digest([contents.len() as u8; 32]);
        builder.node(
            keys.len() as u32,
            Node {
                id: words[0].into(),
                kind,
                language: Language::Ts,
                description: words.get(3).map(|text| (*text).into()),
                file: (contents != "-").then_some(FileMeta { digest, size: contents.len() as u64 }),
                outside_root: false,
            },
        );
        keys.push(words[0]);
    }
    let graph = builder.finish().unwrap().graph;
    let mut externals = Externals::new();
    for index in graph.indices().filter(|index| graph.node(*index).kind == NodeKind::External) {
        let absolute = format!("/r/{}", graph.node(index).id);
        let package = absolute.rsplit_once("/p/").and_then(|(_, path)| package("p", "1", path));
        externals.insert(index, ExternalFile::new("/r", absolute, package));
    }
    (graph, externals)
}

fn check(text: &str, expected: &str) {
    let (graph, externals) = graph(text);
    let canonical = Canonical::of(&graph, "s", &externals).unwrap();
    let mut out = Vec::new();
    let map = Map::from_graph(&graph, &canonical, MetaHashes::External);
    map.write(&mut out, JsonStyle::Minified).unwrap();
    assert_eq!(String::from_utf8(out.clone()).unwrap(), format!("{expected}\n"), "{text}");
    assert_eq!(Map::decode(&out, "m.json").unwrap(), map);
}

const TWO: &str = "AgICAgICAgICAgICAgICAg";

#[test]
fn one_file_by_two_paths_is_one_node() {
    check(
        "a source 1
         node_modules/p/x external 22 longer
         store/p/x external 22 long
         store/p/y external -
         a -> node_modules/p/x
         a -> store/p/x
         node_modules/p/x -> store/p/x
         store/p/x -> store/p/y
         a -> a",
        &r#"{"v":2,"n":{"a":{"k":0,"s":1,"e":[["a",1],["s/context/npm/p/1/x",1]]},"s/context/npm/p/1/x":{"k":1,"s":2,"h":"TWO","d":"longer","e":[["s/context/npm/p/1/y",1]]},"s/context/npm/p/1/y":{"k":1}}}"#
            .replace("TWO", TWO),
    );
}

#[test]
fn the_readable_record_is_kept_and_staged_copies_give_way() {
    check(
        "node_modules/p/x external -
         s/context/npm/p/1/x source 4444
         store/p/x external 22",
        &r#"{"v":2,"n":{"s/context/npm/p/1/x":{"k":1,"s":2,"h":"TWO"}}}"#.replace("TWO", TWO),
    );
}

#[test]
fn equally_long_descriptions_are_the_one_of_the_smaller_id() {
    check(
        "b/p/x external 22 bbb
         a/p/x external 22 aaa",
        &r#"{"v":2,"n":{"s/context/npm/p/1/x":{"k":1,"s":2,"h":"TWO","d":"aaa"}}}"#.replace("TWO", TWO),
    );
}

#[test]
fn missing_nodes_keep_their_kind_alone() {
    check(
        "a source 1
         /o/gone missing -
         /q/gone missing -
         a -> /o/gone
         a -> /q/gone",
        r#"{"v":2,"n":{"a":{"k":0,"s":1,"e":[["missing:gone",1]]},"missing:gone":{"k":3}}}"#,
    );
}

/// The node is in the map but cannot be verified: a run fails if, and only if, it selects the node.
#[test]
fn different_contents_under_one_id_cost_the_node_and_not_the_map() {
    let text = "a source 1\nb/p/x external 22 words\nc/p/x external 333\nc/p/y external 22\na -> b/p/x\na -> c/p/x\nc/p/x -> c/p/y";
    check(
        text,
        &r#"{"v":2,"n":{"a":{"k":0,"s":1,"e":[["s/context/npm/p/1/x",1]]},"s/context/npm/p/1/x":{"k":1,"d":"words","e":[["s/context/npm/p/1/y",1]]},"s/context/npm/p/1/y":{"k":1,"s":2,"h":"TWO"}}}"#
            .replace("TWO", TWO),
    );
    let (graph, externals) = graph(text);
    let canonical = Canonical::of(&graph, "s", &externals).unwrap();
    let [conflict] = canonical.conflicts() else { panic!("{:?}", canonical.conflicts()) };
    let text = conflict.to_string();
    assert!(text.starts_with("`b/p/x` and `c/p/x` are both `s/context/npm/p/1/x`, but"), "{text}");
    assert!(text.contains("(2 and 3 bytes, SHA-256 0202"), "{text}");
    assert!(!canonical.externals_lock(&graph, &externals).nodes.contains_key(&conflict.id));
    let error = Canonical::of(&graph, "s", &Externals::new()).unwrap_err();
    assert_eq!(error.to_string(), "nothing is known about where the external file `b/p/x` is");
}

#[test]
fn a_package_without_a_version_inside_the_root_is_the_same_everywhere() {
    let id = |root: &str| {
        let file = ExternalFile::new(root, format!("{root}/fix/node_modules/p/x.js"), None);
        canonical_id(".stan", &file)
    };
    assert_eq!(id("/a/b"), id("/c"));
    assert_eq!(id("/c"), format!(".stan/context/abs/{}/x.js", hash_of("fix/node_modules/p/x.js")));
}

#[test]
fn the_private_map_contains_only_verifiable_files() {
    let (graph, externals) = graph("a source 1\nb/p/x external 22\no/y external 333\nz/p/gone external -");
    let canonical = Canonical::of(&graph, "s", &externals).unwrap();
    let externals_lock = canonical.externals_lock(&graph, &externals);
    let decoded = stan_model::document::externals_lock::decode(&externals_lock.encode(), "d.json").unwrap();
    assert_eq!(decoded, externals_lock);
    let nodes: Vec<_> =
        externals_lock.nodes.iter().map(|(id, node)| (id.as_str(), node.locator.as_str(), node.size)).collect();
    let abs = format!("s/context/abs/{}/y", hash_of("o/y"));
    assert_eq!(nodes, [(abs.as_str(), "/r/o/y", 3), ("s/context/npm/p/1/x", "/r/b/p/x", 2)]);
}
