//! Maps as documents: what is accepted, what is refused, and that writing and parsing are inverse.

use expect_test::{Expect, expect};
use proptest::prelude::*;

use super::*;

pub(crate) fn map_of(text: &str) -> Map {
    Map::decode(text.as_bytes(), "m.json").unwrap_or_else(|errors| panic!("{text}: {errors:?}"))
}

fn written(map: &Map, style: JsonStyle) -> String {
    let mut out = Vec::new();
    map.write(&mut out, style).unwrap();
    String::from_utf8(out).unwrap()
}

fn check(input: &str, expected: &str) {
    let map = map_of(input);
    assert_eq!(written(&map, JsonStyle::Minified), format!("{expected}\n"), "{input}");
    assert_eq!(map_of(&written(&map, JsonStyle::Indented)), map, "{input}");
}

fn check_errors(input: &str, expected: &[&str]) {
    let errors = Map::decode(input.as_bytes(), "m.json").expect_err(input);
    let lines: Vec<String> = errors.iter().map(|error| error.to_string().replace("`m.json`", "M")).collect();
    assert_eq!(lines, expected, "{input}");
}

#[test]
fn maps_are_written_sorted_and_short() {
    let cases = [
        (r#"{"v":2,"n":{}}"#, r#"{"v":2,"n":{}}"#),
        (r#"{"n":{"b":{"k":3},"a":{"k":2}},"v":2}"#, r#"{"v":2,"n":{"a":{"k":2},"b":{"k":3}}}"#),
        (
            r#"{"v":2,"n":{"a":{"e":[["c",3,1],["b",1,2]],"d":"x \"y\"","h":"ABEiM0RVZneImaq7zN3u_w","s":12,"k":0},"b":{"k":1},"c":{"k":0,"e":[]}}}"#,
            r#"{"v":2,"n":{"a":{"k":0,"s":12,"h":"ABEiM0RVZneImaq7zN3u_w","d":"x \"y\"","e":[["b",1,2],["c",3]]},"b":{"k":1},"c":{"k":0}}}"#,
        ),
        (
            r#"{"v":2,"n":{"../x":{"k":3},"é":{"k":0},"z":{"k":0}}}"#,
            r#"{"v":2,"n":{"../x":{"k":3},"z":{"k":0},"é":{"k":0}}}"#,
        ),
    ];
    for (input, expected) in cases {
        check(input, expected);
    }
}

#[test]
fn indented_output_equals_that_of_javascript() {
    let map = map_of(r#"{"v":2,"n":{"a":{"k":0,"e":[["b",3]]},"b":{"k":3}}}"#);
    let expected: Expect = expect![[r#"
        {
          "v": 2,
          "n": {
            "a": {
              "k": 0,
              "e": [
                [
                  "b",
                  3
                ]
              ]
            },
            "b": {
              "k": 3
            }
          }
        }
    "#]];
    expected.assert_eq(&written(&map, JsonStyle::Indented));
    assert_eq!(written(&Map::default(), JsonStyle::Indented), "{\n  \"v\": 2,\n  \"n\": {}\n}\n");
}

#[test]
fn invalid_documents_are_rejected() {
    let cases: &[(&str, &[&str])] = &[
        ("3", &["M: expected an object, found 3"]),
        (
            "{}",
            &[
                "M: the version is missing: `stan run --context --meta` writes a new map",
                "M: `n` is missing: `stan run --context --meta` writes a new map",
            ],
        ),
        (r#"{"v":1,"n":{}}"#, &["M at /v: expected the version 2, found 1"]),
        (r#"{"v":2,"n":[]}"#, &["M at /n: expected an object, found []"]),
        (r#"{"v":2,"n":{},"z":1}"#, &[r#"M at /z: unknown key "z"; the known ones are "v", "n""#]),
        (r#"{"v":2,"n":{"a":{"k":0},"a":{"k":0}}}"#, &["M at /n/a: this key is there twice"]),
        ("{\"v\":2,\n", &["M at line 2 column 1: not JSON: key must be a string"]),
    ];
    for (input, expected) in cases {
        check_errors(input, expected);
    }
}

#[test]
fn invalid_nodes_are_rejected() {
    let cases = [
        ("3", "M at /n/a~1b: expected an object, found 3"),
        ("{}", "M at /n/a~1b: `k` is missing in {}"),
        (r#"{"k":4}"#, "M at /n/a~1b/k: expected 0 (source), 1 (external), 2 (builtin) or 3 (missing), found 4"),
        (r#"{"k":"0"}"#, "M at /n/a~1b/k: expected 0 (source), 1 (external), 2 (builtin) or 3 (missing), found \"0\""),
        (r#"{"k":0,"s":-1}"#, "M at /n/a~1b/s: expected a number of bytes, found -1"),
        (r#"{"k":0,"s":1.5}"#, "M at /n/a~1b/s: expected a number of bytes, found 1.5"),
        (
            r#"{"k":0,"s":99999999999999999999}"#,
            "M at /n/a~1b/s: expected a number of bytes, found 99999999999999999999",
        ),
        (r#"{"k":0,"h":"abc"}"#, r#"M at /n/a~1b/h: expected a hash of 22 base64url characters, found "abc""#),
        (r#"{"k":0,"d":null}"#, "M at /n/a~1b/d: expected a text, found null"),
        (r#"{"k":0,"q":1}"#, r#"M at /n/a~1b/q: unknown key "q"; the known ones are "k", "s", "h", "d", "e""#),
        (r#"{"k":0,"e":{}}"#, "M at /n/a~1b/e: expected a list of edges, found {}"),
        (
            r#"{"k":0,"e":["c"]}"#,
            r#"M at /n/a~1b/e/0: expected [target, kindMask] or [target, kindMask, resMask], found "c""#,
        ),
        (
            r#"{"k":0,"e":[["c",1,1,1]]}"#,
            r#"M at /n/a~1b/e/0: expected [target, kindMask] or [target, kindMask, resMask], found ["c",1,1,1]"#,
        ),
        (
            r#"{"k":0,"e":[["d",1]]}"#,
            r#"M at /n/a~1b/e/0/0: expected the id of a node of this map, found "d" in ["d",1]"#,
        ),
        (r#"{"k":0,"e":[["c",0]]}"#, r#"M at /n/a~1b/e/0/1: expected a mask from 1 to 7, found 0 in ["c",0]"#),
        (r#"{"k":0,"e":[["c",8]]}"#, r#"M at /n/a~1b/e/0/1: expected a mask from 1 to 7, found 8 in ["c",8]"#),
        (r#"{"k":0,"e":[["c",1,4]]}"#, r#"M at /n/a~1b/e/0/2: expected a mask from 1 to 3, found 4 in ["c",1,4]"#),
        (r#"{"k":0,"e":[["c",1],["c",2]]}"#, r#"M at /n/a~1b/e: the target "c" is there twice"#),
    ];
    for (node, expected) in cases {
        check_errors(&format!(r#"{{"v":2,"n":{{"a/b":{node},"c":{{"k":0}}}}}}"#), &[expected]);
    }
}

#[test]
fn ids_that_name_no_file_of_the_repository() {
    let cases = [
        ("", 0, "a node id that is not empty"),
        ("/a", 0, "a path relative to the repository instead of an absolute one"),
        ("C:/a", 3, "a path relative to the repository instead of an absolute one"),
        ("a/../b", 1, "a path without `..`"),
        ("\\u0000", 3, "a node id without a NUL character"),
    ];
    for (id, kind, expected) in cases {
        let input = format!(r#"{{"v":2,"n":{{"{id}":{{"k":{kind}}}}}}}"#);
        let errors = Map::decode(input.as_bytes(), "m.json").unwrap_err();
        assert!(errors[0].message.starts_with(&format!("expected {expected} as the key")), "{}", errors[0]);
    }
}

#[test]
#[cfg(not(windows))]
fn files_whose_names_are_paths_on_windows_alone_are_nodes() {
    for id in [r"..\\..\\x.ts", r"\\x.ts", "C:/x.ts", r"C:\\x.ts"] {
        let map = format!(r#"{{"v":2,"n":{{"{id}":{{"k":0}}}}}}"#);
        assert_eq!(written(&Map::decode(map.as_bytes(), "m.json").unwrap(), JsonStyle::Minified), format!("{map}\n"));
    }
}

fn check_long(input: &str, expected: &str) {
    let map = Map::decode_long(input.as_bytes(), "g.json").unwrap_or_else(|errors| panic!("{input}: {errors:?}"));
    assert_eq!(written(&map, JsonStyle::Minified), format!("{expected}\n"), "{input}");
}

#[test]
fn long_graphs_are_the_same_maps() {
    check_long(r#"{"nodes":{},"edges":{}}"#, r#"{"v":2,"n":{}}"#);
    let graph = r#"{"edges":{"b":[],"a":[{"target":"b","kind":"type","resolution":"implicit"},{"target":"b","kind":"runtime","resolution":"explicit"},{"target":"c","kind":"dynamic"}]},
        "nodes":{"c":{"kind":"missing"},"b":{"kind":"external","id":"b","language":"ts","metadata":{"size":3,"hash":"HASH","isOutsideRoot":true}},"a":{"kind":"source","description":"x"}}}"#;
    let graph = graph.replace("HASH", &"00112233445566778899aabbccddeeff".repeat(2));
    let expected = r#"{"v":2,"n":{"a":{"k":0,"d":"x","e":[["b",3,3],["c",4]]},"b":{"k":1,"s":3,"h":"ABEiM0RVZneImaq7zN3u_w"},"c":{"k":3}}}"#;
    check_long(&graph, expected);
    check_long(&format!(r#"{{"graph":{graph},"stats":{{}},"errors":[]}}"#), expected);
}

#[test]
fn invalid_graphs_are_rejected() {
    let cases = [
        ("[]", "G: expected an object, found []"),
        (r#"{"nodes":{}}"#, "G: a graph has the keys `nodes` and `edges`"),
        (r#"{"nodes":{},"edges":{"a":[]}}"#, "G at /edges/a: \"a\" is not a node of this graph"),
        (
            r#"{"nodes":{"a":{"kind":"x"}},"edges":{}}"#,
            r#"G at /nodes/a/kind: expected "source", "external", "builtin" or "missing" as `kind`, found "x" in {"kind":"x"}"#,
        ),
        (
            r#"{"graph":{"nodes":{"a":{"kind":"source"}},"edges":{"a":[{"target":"b","kind":"type"}]}}}"#,
            r#"G at /graph/edges/a/0/target: expected the id of a node of this graph as `target`, found "b" in {"kind":"type","target":"b"}"#,
        ),
        (
            r#"{"nodes":{"a":{"kind":"source"}},"edges":{"a":[{"target":"a","kind":"types"}]}}"#,
            r#"G at /edges/a/0/kind: expected "runtime", "type" or "dynamic" as `kind`, found "types" in {"kind":"types","target":"a"}"#,
        ),
        // Found by fuzzing: a map was built from it before the findings were checked.
        (
            r#"{"nodes":{"a":{"kind":"missing"},"a":{"kind":"missing"}},"edges":{}}"#,
            "G at /nodes/a: this key is there twice",
        ),
    ];
    for (input, expected) in cases {
        let errors = Map::decode_long(input.as_bytes(), "g.json").expect_err(input);
        assert_eq!(errors[0].to_string().replace("`g.json`", "G"), expected, "{input}");
    }
}

/// Any valid map with up to `nodes` nodes of all kinds, and edges between any of them.
pub(crate) fn any_map(nodes: usize) -> impl Strategy<Value = Map> {
    let record = (0u8..4, prop::option::of(0u64..1000), prop::option::of(any::<[u8; 16]>()), "[a-z\"]{0,2}");
    let node = (record, prop::collection::vec((any::<prop::sample::Index>(), 1u8..8, 1u8..4), 0..5));
    prop::collection::btree_map("[a-dé\"]{1,3}", node, 1..nodes).prop_map(|nodes| {
        let kinds = [NodeKind::Source, NodeKind::External, NodeKind::Builtin, NodeKind::Missing];
        let count = nodes.len();
        let (mut builder, mut ids) = (MapBuilder::default(), Texts::default());
        for (id, ((kind, size, hash, description), edges)) in nodes {
            ids.push(&id);
            builder.node(Record { kind: kinds[usize::from(kind)], size, hash }, &description);
            for (target, kinds, resolutions) in edges {
                builder.edge(MapEdge { target: target.index(count) as u32, kinds, resolutions });
            }
            builder.end_node();
        }
        builder.finish(ids)
    })
}

proptest! {
    #[test]
    fn encoded_maps_decode_to_the_same_value(map in any_map(12), is_indented in any::<bool>()) {
        let style = if is_indented { JsonStyle::Indented } else { JsonStyle::Minified };
        let text = written(&map, style);
        prop_assert_eq!(&Map::decode(text.as_bytes(), "m.json").unwrap(), &map);
        // Pretty printing only changes white space.
        let value: serde_json::Value = serde_json::from_str(&text).unwrap();
        let minified: serde_json::Value = serde_json::from_str(&written(&map, JsonStyle::Minified)).unwrap();
        prop_assert_eq!(value, minified);
    }
}
