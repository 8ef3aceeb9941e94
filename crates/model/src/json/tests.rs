//! What is valid JSON, and that every text gets the same result as from another parser.

use proptest::prelude::*;
use serde_json::Value;

use super::*;

fn canonical(text: &str) -> String {
    let tree = JsonTree::parse(text.as_bytes()).unwrap();
    let mut out = Vec::new();
    tree.write_canonical(tree.root(), &mut out);
    assert_eq!(out.len(), tree.canonical_len(tree.root()), "{text}");
    String::from_utf8(out).unwrap()
}

#[test]
fn reads_and_writes_canonically() {
    let cases = [
        (" [ ] ", "[]"),
        ("{ }", "{}"),
        ("[1, -2, 0]", "[1,-2,0]"),
        ("-0", "0"),
        ("1.50", "1.5"),
        ("1e2", "100"),
        ("1E+21", "1e+21"),
        ("1e-400", "0"),
        (r#""a\u0041\ud83d\ude00\/\b""#, "\"aA😀/\\b\""),
        (r#"{"b":1,"a":{"x":null},"b":2}"#, r#"{"a":{"x":null},"b":2}"#),
        ("[true,false,null,\"\u{7f}\u{2028}\"]", "[true,false,null,\"\u{7f}\u{2028}\"]"),
    ];
    for (input, expected) in cases {
        assert_eq!(canonical(input), expected, "{input}");
    }
}

#[test]
fn texts_that_are_not_json_are_rejected() {
    let cases = [
        "",
        " ",
        "[1,]",
        "[1",
        "{\"a\":1,}",
        "{a:1}",
        "{\"a\" 1}",
        "'a'",
        "01",
        "+1",
        "1.",
        ".5",
        "1e",
        "1e999",
        "-",
        "nul",
        "[1] 2",
        "\"\u{1}\"",
        r#""\x""#,
        r#""\ud800""#,
        r#""\udc00""#,
        r#""\ud800A""#,
        r#""\u12""#,
        "\"abc",
        "\u{feff}[]",
        "[1]\0",
        "// x\n1",
        "\"\\u+123\"",
        "[}",
        "{]",
    ];
    for input in cases {
        assert!(JsonTree::parse(input.as_bytes()).is_err(), "{input:?}");
    }
    assert!(JsonTree::parse(b"\"\xff\"").is_err());
    let huge = "9".repeat(400);
    assert!(JsonTree::parse(huge.as_bytes()).is_err());
}

#[test]
fn nesting_is_limited_at_a_known_depth() {
    let nested = |depth: usize| format!("{}{}", "[".repeat(depth), "]".repeat(depth));
    assert!(JsonTree::parse(nested(MAX_DEPTH).as_bytes()).is_ok());
    let error = JsonTree::parse(nested(MAX_DEPTH + 1).as_bytes()).err().unwrap();
    assert_eq!((error.line, error.column), (1, MAX_DEPTH + 1));
    // A million brackets are cheap: the parser stops at the limit and does not recurse.
    assert!(JsonTree::parse("[".repeat(1_000_000).as_bytes()).is_err());
}

#[test]
fn texts_of_items_keep_their_spelling() {
    let tree = JsonTree::parse(br#"[ 1.50, "a b", {"k": [2]}, [] ]"#).unwrap();
    let texts: Vec<&str> = tree.items(tree.root()).map(|item| tree.text(item)).collect();
    assert_eq!(texts, ["1.50", "\"a b\"", "{\"k\": [2", "["]);
    assert_eq!(tree.descendants(tree.root()).count(), 8);
}

#[test]
fn errors_have_a_place() {
    let error = JsonTree::parse(b"{\n  \"a\": x\n}").err().unwrap();
    assert_eq!(error.to_string(), "expected value at line 2 column 8");
}

#[test]
fn pointer_tokens_and_indices() {
    assert_eq!(pointer_tokens(""), Some(vec![]));
    assert_eq!(pointer_tokens("/a~1b/~01/"), Some(vec!["a/b".to_owned(), "~1".to_owned(), String::new()]));
    assert_eq!(pointer_tokens("a"), None);
    for (token, index) in [("0", Some(0)), ("10", Some(10)), ("01", None), ("+1", None), ("-", None), ("", None)] {
        assert_eq!(array_index(token), index, "{token}");
    }
    assert_eq!(array_index("99999999999999999999999"), None);
}

#[test]
fn integers_beyond_doubles_are_found() {
    let tree = JsonTree::parse(br#"{"a":[1,{"b/c":9007199254740992}],"d":1e300}"#).unwrap();
    let error = tree.check_integers(tree.root(), "/meta").unwrap_err();
    assert!(error.to_string().contains("/meta/a/1/b~1c"), "{error}");
    let fine = JsonTree::parse(b"[9007199254740991,-9007199254740991,1e300]").unwrap();
    assert!(fine.check_integers(fine.root(), "").is_ok());
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2000))]

    /// Any bytes: no panic, and the same verdict as `serde_json` (whose limit is the same).
    #[test]
    fn same_verdict_as_serde_json(bytes in prop::collection::vec(any::<u8>(), 0..64)) {
        let ours = JsonTree::parse(&bytes).is_ok();
        prop_assert_eq!(ours, serde_json::from_slice::<Value>(&bytes).is_ok());
    }

    /// Texts made of JSON tokens, to cover most of the grammar.
    #[test]
    fn same_verdict_on_json_like_texts(
        pieces in prop::collection::vec(prop::sample::select(vec![
            "[", "]", "{", "}", ",", ":", "\"a\"", "\"\\u00e9\"", "\"\\ud83d\\ude00\"", "\"\\ud83d\"", "1", "-0", "0", "1.5",
            "e5", "E-3", "true", "false", "null", " ", "\n", "\"", "\\", "é",
        ]), 0..24)
    ) {
        let text = pieces.concat();
        let ours = JsonTree::parse(text.as_bytes());
        let theirs = serde_json::from_str::<Value>(&text);
        prop_assert_eq!(ours.is_ok(), theirs.is_ok(), "{}", text);
        if let (Ok(tree), Ok(value)) = (ours, theirs) {
            let mut out = Vec::new();
            tree.write_canonical(tree.root(), &mut out);
            prop_assert_eq!(out, crate::jcs::to_vec(&value).unwrap());
        }
    }
}
