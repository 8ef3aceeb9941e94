//! Which externals locks are valid, and that hostile ones are rejected with a position.

use proptest::prelude::*;

use super::*;

const HASH: &str = "00112233445566778899aabbccddeeff00112233445566778899aabbccddeeff";

fn check_errors(input: &str, expected: &[&str]) {
    let errors = decode(input.replace("HASH", HASH).as_bytes(), "m.json").expect_err(input);
    let lines: Vec<String> = errors.iter().map(ToString::to_string).collect();
    assert_eq!(lines, expected, "{input}");
}

#[test]
fn both_families_are_read_and_written_sorted() {
    let npm = r#"".stan/context/npm/@s/p/1.0.0/a/b.d.ts":{"id":".stan/context/npm/@s/p/1.0.0/a/b.d.ts","locatorAbs":"/r/node_modules/@s/p/a/b.d.ts","size":12,"sha256":"HASH","pkgName":"@s/p","pkgVersion":"1.0.0","pathInPackage":"a/b.d.ts"}"#;
    let abs = r#"".stan/context/abs/00/c.ts":{"id":".stan/context/abs/00/c.ts","locatorAbs":"/o/c.ts","size":0,"sha256":"HASH"}"#;
    let input = format!(r#"{{"nodes":{{{npm},{abs}}},"v":1}}"#).replace("HASH", HASH);
    let expected = format!("{{\"v\":1,\"nodes\":{{{abs},{npm}}}}}\n").replace("HASH", HASH);
    let externals_lock = decode(input.as_bytes(), "m.json").unwrap();
    assert_eq!(String::from_utf8(externals_lock.encode()).unwrap(), expected);
    let package = externals_lock.nodes.values().find_map(|node| node.package.as_ref()).unwrap();
    assert_eq!((package.name.as_str(), package.path.as_str()), ("@s/p", "a/b.d.ts"));
}

#[test]
fn invalid_documents_are_rejected() {
    let node = |text: &str| format!(r#"{{"v":1,"nodes":{{"x/a":{text}}}}}"#);
    let cases: &[(String, &[&str])] = &[
        (r#"{"v":2,"nodes":{}}"#.into(), &["`m.json` at /v: expected the version 1, found 2"]),
        (r#"{"v":1}"#.into(), &["`m.json`: `nodes` is missing; the next `stan run --context` writes a new file"]),
        (r#"{"v":1,"nodes":[]}"#.into(), &["`m.json` at /nodes: expected an object, found []"]),
        (node("3"), &["`m.json` at /nodes/x~1a: expected an object, found 3"]),
        (
            node(r#"{"id":"x/b","locatorAbs":"a","size":-1,"sha256":"00"}"#),
            &[
                r#"`m.json` at /nodes/x~1a/id: expected "x/a", found "x/b" in {"id":"x/b","locatorAbs":"a","sha256":"00","size":-1}"#,
                r#"`m.json` at /nodes/x~1a/locatorAbs: expected an absolute path, found "a" in {"id":"x/b","locatorAbs":"a","sha256":"00","size":-1}"#,
                r#"`m.json` at /nodes/x~1a/size: expected a number of bytes, found -1 in {"id":"x/b","locatorAbs":"a","sha256":"00","size":-1}"#,
                r#"`m.json` at /nodes/x~1a/sha256: expected a SHA-256 of 64 lower-case hex digits, found "00" in {"id":"x/b","locatorAbs":"a","sha256":"00","size":-1}"#,
            ],
        ),
        (
            node(r#"{"id":"x/a","locatorAbs":"/a","size":1}"#),
            &[r#"`m.json` at /nodes/x~1a: `sha256` is missing in {"id":"x/a","locatorAbs":"/a","size":1}"#],
        ),
    ];
    for (input, expected) in cases {
        check_errors(input, expected);
    }
}

#[test]
fn a_package_must_be_the_one_of_the_id() {
    for (id, package, is_fine) in [
        (".stan/context/npm/p/1/a", r#""pkgName":"p","pkgVersion":"1","pathInPackage":"a""#, true),
        (".stan/context/npm/p/1/a", r#""pkgName":"p","pkgVersion":"2","pathInPackage":"a""#, false),
        (".stan/context/npm/p/1/a", r#""pkgName":"p","pkgVersion":"1""#, false),
        (".stan/context/npm/p/1/a", r#""pkgName":"p","pkgVersion":1,"pathInPackage":"a""#, false),
        ("../context/npm/p/1/a", r#""pkgName":"p","pkgVersion":"1","pathInPackage":"a""#, false),
    ] {
        let input = format!(
            r#"{{"v":1,"nodes":{{"{id}":{{"id":"{id}","locatorAbs":"/a","size":1,"sha256":"{HASH}",{package}}}}}}}"#
        );
        assert_eq!(decode(input.as_bytes(), "m.json").is_ok(), is_fine, "{input}");
    }
}

#[test]
fn the_same_node_twice_is_refused() {
    let node = format!(r#""x":{{"id":"x","locatorAbs":"/a","size":1,"sha256":"{HASH}"}}"#);
    check_errors(
        &format!(r#"{{"v":1,"nodes":{{{node},{node}}}}}"#),
        &["`m.json` at /nodes/x: this node is there twice"],
    );
}

fn any_node() -> impl Strategy<Value = (String, LockedExternal)> {
    ("[a-c\"é]{1,4}", any::<bool>(), 0..=(u64::MAX / 2), any::<[u8; 32]>()).prop_map(|(name, is_npm, size, hash)| {
        let id = if is_npm { format!("s/context/npm/{name}/1/x/{name}") } else { format!("s/context/abs/00/{name}") };
        let package = is_npm.then(|| PackageFile {
            ecosystem: Ecosystem::Npm,
            name: name.clone(),
            version: "1".into(),
            path: format!("x/{name}"),
        });
        (id, LockedExternal { locator: format!("/o/{name}"), size, sha256: Digest(hash), package })
    })
}

proptest! {
    #[test]
    fn encoded_locks_decode_to_the_same_value(nodes in prop::collection::btree_map("[a-z]", any_node(), 0..6)) {
        let externals_lock = ExternalsLock { nodes: nodes.into_values().collect() };
        prop_assert_eq!(decode(&externals_lock.encode(), "m.json").unwrap(), externals_lock);
    }
}
