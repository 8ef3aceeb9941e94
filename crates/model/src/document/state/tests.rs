//! Selections as people and assistants write them, and the message for each mistake.

use proptest::prelude::*;

use super::*;

/// A valid document becomes the expected v2 document.
fn check(input: &str, expected: &str) -> DecodedState {
    let decoded = decode(input.as_bytes(), "s.json").unwrap_or_else(|errors| panic!("{input}: {errors:?}"));
    assert_eq!(String::from_utf8(decoded.state.encode()).unwrap(), format!("{expected}\n"), "{input}");
    decoded
}

/// A broken document gives these lines.
fn check_errors(input: &str, expected: &[&str]) {
    let errors = decode(input.as_bytes(), "s.json").expect_err(input);
    let lines: Vec<String> = errors.iter().map(ToString::to_string).collect();
    assert_eq!(lines, expected, "{input}");
}

#[test]
fn entries_in_every_form() {
    let cases = [
        (r#"{"v":2,"i":[]}"#, r#"{"v":2,"i":[]}"#),
        (r#"{"v":2,"i":["a"],"x":[]}"#, r#"{"v":2,"i":["a"]}"#),
        (r#" { "i" : [ ["a"], ["b",0], ["c",0,7] ], "v" : 2 } "#, r#"{"v":2,"i":["a","b","c"]}"#),
        (r#"{"v":2,"i":[["a",2],["b",2,7],["c",2,1]]}"#, r#"{"v":2,"i":[["a",2],["b",2],["c",2,1]]}"#),
        (r#"{"v":2,"i":["a"],"x":[["b",1,0]]}"#, r#"{"v":2,"i":["a"],"x":[["b",1,0]]}"#),
        (r#"{"v":2,"i":["./a","a\\b","a//b/"]}"#, r#"{"v":2,"i":["a","a/b","a/b"]}"#),
        (r#"{"v":2.0,"i":[["a",1.0,2e0]]}"#, r#"{"v":2,"i":[["a",1,2]]}"#),
        (r#"{"v":2,"i":[["a",99999999999999999999]]}"#, r#"{"v":2,"i":[["a",4294967295]]}"#),
        (r#"{"v":2,"i":[["a",1e300]]}"#, r#"{"v":2,"i":[["a",4294967295]]}"#),
        ("\u{feff}{\"v\":2,\"i\":[\"\\u00e9\"]}", r#"{"v":2,"i":["é"]}"#),
    ];
    for (input, expected) in cases {
        let decoded = check(input, expected);
        assert_eq!((decoded.version, decoded.uses_aliases), (StateVersion::V2, false), "{input}");
        assert_eq!(decoded.warnings, [""; 0], "{input}");
    }
}

#[test]
fn aliases_and_the_first_version() {
    let decoded = check(r#"{"v":2,"include":["a"],"exclude":[["b",1,1]]}"#, r#"{"v":2,"i":["a"],"x":[["b",1,1]]}"#);
    assert_eq!((decoded.version, decoded.uses_aliases), (StateVersion::V2, true));
    for input in [
        r#"{"include":["a",["b",1],["c",2,["type","runtime","type"]]],"exclude":[["d",0,["dynamic"]]]}"#,
        r#"{"v":1,"include":["a",["b",1],["c",2,["runtime","type"]]],"exclude":[["d",0,["dynamic"]]]}"#,
    ] {
        let decoded = check(input, r#"{"v":2,"i":["a",["b",1],["c",2,3]],"x":[["d",0,4]]}"#);
        assert_eq!((decoded.version, decoded.uses_aliases), (StateVersion::V1, false));
    }
}

#[test]
fn unknown_mask_bits_give_a_warning() {
    let decoded = check(r#"{"v":2,"i":[["a",1,15],["b",1,8]]}"#, r#"{"v":2,"i":[["a",1],["b",1,0]]}"#);
    let expected = ["15", "8"]
        .into_iter()
        .enumerate()
        .map(|(index, mask)| format!("`s.json` at /i/{index}/2: the bits above 7 of the mask {mask} mean nothing"));
    assert_eq!(decoded.warnings, expected.collect::<Vec<_>>());
}

#[test]
fn invalid_entries_are_rejected() {
    let cases = [
        (r#"["a",-1]"#, r#"/i/0/1: expected a depth of 0 or more, found -1 in ["a",-1]"#),
        (r#"["a",1.5]"#, r#"/i/0/1: expected a whole number as depth, found 1.5 in ["a",1.5]"#),
        (r#"["a","1"]"#, r#"/i/0/1: expected a depth of 0 or more, found "1" in ["a","1"]"#),
        (r#"["a",1,-1]"#, r#"/i/0/2: expected a mask of runtime 1, type 2, dynamic 4, found -1 in ["a",1,-1]"#),
        (
            r#"["a",1,["type"]]"#,
            r#"/i/0/2: expected a mask (runtime 1, type 2, dynamic 4; kind names belong to version 1), found ["type"] in ["a",1,["type"]]"#,
        ),
        ("[]", "/i/0: expected a node id or [nodeId, depth, kindMask], found []"),
        (r#"["a",1,1,1]"#, r#"/i/0: expected a node id or [nodeId, depth, kindMask], found ["a",1,1,1]"#),
        ("{}", "/i/0: expected a node id or [nodeId, depth, kindMask], found {}"),
        ("null", "/i/0: expected a node id or [nodeId, depth, kindMask], found null"),
        ("[3]", "/i/0/0: expected a node id as a string, found 3 in [3]"),
        (r#""""#, r#"/i/0: expected a node id that is not empty, found """#),
        (r#""/a""#, r#"/i/0: expected a path relative to the repository instead of an absolute one, found "/a""#),
        (r#"["a/../b",1]"#, r#"/i/0/0: expected a path without `..`, found "a/../b" in ["a/../b",1]"#),
        (r#""a\u0000""#, r#"/i/0: expected a node id without a NUL character, found "a\u0000""#),
    ];
    for (entry, expected) in cases {
        check_errors(&format!(r#"{{"v":2,"i":[{entry}]}}"#), &[&format!("`s.json` at {expected}")]);
    }
}

#[test]
fn invalid_documents_are_rejected() {
    let cases: &[(&str, &[&str])] = &[
        ("[]", &["`s.json`: expected an object, found []"]),
        (
            "{}",
            &[
                "`s.json`: the version is missing: write \"v\":2",
                "`s.json`: the list `i` is missing: {\"v\":2,\"i\":[]} selects nothing",
            ],
        ),
        (r#"{"i":[]}"#, &["`s.json`: the version is missing: write \"v\":2"]),
        (r#"{"v":3,"i":[]}"#, &["`s.json` at /v: expected the version 2, found 3"]),
        (r#"{"v":"2","i":[]}"#, &["`s.json` at /v: expected the version 2, found \"2\""]),
        (
            r#"{"v":1,"i":[]}"#,
            &["`s.json` at /i: `i` is a key of version 2: write \"v\":2, or `include` for version 1"],
        ),
        (
            r#"{"v":2,"i":[],"include":[]}"#,
            &["`s.json` at /include: `i` and `include` mean the same: keep one of them"],
        ),
        (r#"{"v":2,"i":{}}"#, &["`s.json` at /i: expected a list of entries, found {}"]),
        (r#"{"v":2,"i":[],"i":[]}"#, &["`s.json` at /i: the key \"i\" is there twice"]),
        (
            r#"{"v":2,"i":[],"a/b":1}"#,
            &[r#"`s.json` at /a~1b: unknown key "a/b"; the known ones are "v", "i", "x", "include", "exclude""#],
        ),
        (
            r#"{"include":[["a",1,[]],["a",1,3],["b",1,["types"]]]}"#,
            &[
                r#"`s.json` at /include/0/2: expected a list of "runtime", "type" or "dynamic" (a mask needs "v":2), found [] in ["a",1,[]]"#,
                r#"`s.json` at /include/1/2: expected a list of "runtime", "type" or "dynamic" (a mask needs "v":2), found 3 in ["a",1,3]"#,
                r#"`s.json` at /include/2/2/0: expected "runtime", "type" or "dynamic", found "types" in ["b",1,["types"]]"#,
            ],
        ),
        ("", &["`s.json` at line 1 column 1: not JSON: EOF while parsing a value"]),
        ("{\"v\":2,\n\"i\":[\"a\",]}", &["`s.json` at line 2 column 10: not JSON: expected value"]),
    ];
    for (input, expected) in cases {
        check_errors(input, expected);
    }
}

#[test]
fn all_errors_of_a_document_are_reported_together() {
    check_errors(
        r#"{"v":2,"i":[["/a",-1],"b"],"x":[5]}"#,
        &[
            r#"`s.json` at /i/0/0: expected a path relative to the repository instead of an absolute one, found "/a" in ["/a",-1]"#,
            r#"`s.json` at /i/0/1: expected a depth of 0 or more, found -1 in ["/a",-1]"#,
            "`s.json` at /x/0: expected a node id or [nodeId, depth, kindMask], found 5",
        ],
    );
}

#[test]
fn huge_documents_give_short_answers() {
    let input = format!(r#"{{"v":2,"i":[{}"{}"]}}"#, "5,".repeat(100_000), "../x".repeat(100_000));
    let errors = decode(input.as_bytes(), "s.json").unwrap_err();
    assert_eq!(errors.len(), 101);
    assert_eq!(errors[100].to_string(), "`s.json`: 99901 more problems are not shown; fix those above first");
    let long = format!(r#"{{"v":2,"i":[["{}",-1]]}}"#, "é".repeat(100_000));
    assert!(decode(long.as_bytes(), "s.json").unwrap_err()[0].to_string().len() < 1000);
    let deep = format!(r#"{{"v":2,"i":{}"#, "[".repeat(1_000_000));
    assert!(decode(deep.as_bytes(), "s.json").unwrap_err()[0].to_string().starts_with("`s.json` at line 1 column 1"));
}

fn any_entry() -> impl Strategy<Value = Entry> {
    ("[a-c]{1,3}(/[a-cé\"]{1,2}){0,2}", any::<u32>(), 0u8..8).prop_map(|(node, depth, mask)| Entry {
        node,
        depth: depth % 3 * (depth / 3),
        mask,
    })
}

proptest! {
    #[test]
    fn encoded_selections_decode_to_the_same_value(
        include in prop::collection::vec(any_entry(), 0..6),
        exclude in prop::collection::vec(any_entry(), 0..6),
    ) {
        let state = State { include, exclude };
        let decoded = decode(&state.encode(), "s.json").unwrap();
        prop_assert_eq!(decoded.state, state);
        prop_assert_eq!((decoded.version, decoded.uses_aliases), (StateVersion::V2, false));
    }

    #[test]
    fn bytes_never_panic_the_reader(pieces in prop::collection::vec(prop::sample::select(vec![
        "{", "}", "[", "]", ",", ":", "\"v\"", "\"i\"", "\"x\"", "\"include\"", "2", "1", "-1", "\"a\"", "null", "\"..\"",
    ]), 0..24)) {
        let _ = decode(pieces.concat().as_bytes(), "s.json");
    }
}
