//! What the reader accepts, what it repairs, and what it must never do with hostile text.

use proptest::prelude::*;

use super::{Value, decode, parse, parse_bytes};

/// Compact JSON of a value, so that expectations read like the input.
fn show(value: &Value) -> String {
    match value {
        Value::Null => "null".to_owned(),
        Value::Bool(flag) => flag.to_string(),
        Value::Number(number) => number.to_string(),
        Value::String(text) => format!("{text:?}"),
        Value::Array(items) => format!("[{}]", items.iter().map(show).collect::<Vec<_>>().join(",")),
        Value::Object(entries) => {
            let pairs: Vec<String> = entries.iter().map(|(key, value)| format!("{key:?}:{}", show(value))).collect();
            format!("{{{}}}", pairs.join(","))
        }
    }
}

#[track_caller]
fn check(text: &str, value: &str, error: Option<(u32, &str)>) {
    let document = parse(text);
    assert_eq!(show(&document.value), value, "{text}");
    assert_eq!(document.error().map(|error| (error.line, error.message)), error, "{text}");
}

#[test]
fn texts_that_typescript_accepts_are_valid() {
    check("", "{}", None);
    check(" // nothing\n", "{}", None);
    check(r#"{"b":1,"a":[true,false,null,-2.5e1]}"#, r#"{"b":1,"a":[true,false,null,-25]}"#, None);
    check("{\n// c\n\"a\": /* x */ 1, // y\n\"b\": [1, 2,],\n}", r#"{"a":1,"b":[1,2]}"#, None);
    check("\u{FEFF}{\"a\":1}", r#"{"a":1}"#, None);
    check(r#"{"a":1,"b":2,"a":3}"#, r#"{"a":3,"b":2}"#, None);
    check(r#"{"a":"\u0041\n\"\ud83d\ude00\x41"}"#, "{\"a\":\"A\\n\\\"😀A\"}", None);
    check(r#""text""#, r#""text""#, None);
    check("0x10", "16", None);
}

#[test]
fn texts_that_typescript_repairs_are_repaired() {
    check("{\"a\":1\n\"b\":2}", r#"{"a":1,"b":2}"#, Some((2, "`,` expected")));
    check(r#"{"a" 1, "b":2}"#, r#"{"a":1,"b":2}"#, Some((1, "`:` expected")));
    check(r#"{"a":{"b":1"#, r#"{"a":{"b":1}}"#, Some((1, "`}` expected")));
    check(r#"{"a":,"b":2}"#, r#"{"a":null,"b":2}"#, Some((1, "a value expected")));
    check(r#"{"a":1}}"#, r#"[{"a":1},{}]"#, Some((1, "unexpected text after the value")));
    check(r#""a":{"b":1}"#, r#"{"a":{"b":1}}"#, Some((1, "`{` expected")));
    check("{\"a\":\"x\n,\"b\":2}", r#"{"a":"x","b":2}"#, Some((1, "unterminated string")));
    check("{\"a\":[1 2]}", r#"{"a":[1,2]}"#, Some((1, "`,` expected")));
    check("{\"a\":[1 ,{ \"b\":2 ], \"c\":3}", r#"{"a":[1,{"b":2}],"c":3}"#, Some((1, "`,` expected")));
    let conflict = "{\n<<<<<<< HEAD\n\"a\":1,\n=======\n\"a\":2,\n>>>>>>> other\n\"b\":3}";
    check(conflict, r#"{"a":1,"b":3}"#, Some((2, "merge conflict marker")));
    check("{\"a\":1 /* open", r#"{"a":1}"#, Some((1, "`*/` expected")));
}

#[test]
fn javascript_is_kept_but_named() {
    check("{a: 'x'}", r#"{"a":"x"}"#, Some((1, "double quotes expected")));
    let expected = Some((1, "a string, number, boolean, null, object or array expected"));
    check(r#"{"a": foo(1, {"x":2}), "b": 1}"#, r#"{"a":null,"b":1}"#, expected);
    check(r#"{"a": "x" + "y", "b": 1}"#, r#"{"a":null,"b":1}"#, expected);
    check(r#"{"a": [foo, null, bar]}"#, r#"{"a":[null]}"#, expected);
    check("[1,,2]", "[1,2]", Some((1, "a value expected")));
}

#[test]
fn utf16_and_byte_order_marks_are_decoded() {
    let utf16 = |big: bool| -> Vec<u8> {
        "\u{FEFF}{\"é\":1}"
            .encode_utf16()
            .flat_map(|unit| if big { unit.to_be_bytes() } else { unit.to_le_bytes() })
            .collect()
    };
    for bytes in [utf16(true), utf16(false), "{\"é\":1}".into(), "\u{FEFF}{\"é\":1}".into()] {
        assert_eq!(show(&parse_bytes(&bytes).value), "{\"é\":1}");
    }
    assert_eq!(decode(b"a\xFFb"), "a\u{FFFD}b");
    assert_eq!(decode(b"\xFF\xFEa\0\0\xD8b"), "a\u{FFFD}", "a lone surrogate and an odd byte");
}

#[test]
fn depth_is_limited_and_length_is_not() {
    for (open, close) in [("[", "]"), ("{\"a\":", "}")] {
        let deep = 200_000;
        let text = format!("{{\"x\":{}1{},\"y\":2}}", open.repeat(deep), close.repeat(deep));
        let document = parse(&text);
        assert_eq!(document.syntax_error.as_ref().map(|error| error.message), Some("nested too deeply"));
        assert_eq!(document.value.get("y"), Some(&Value::Number(2.0)));
        parse(&open.repeat(deep));
    }
    let keys: String = (0..200_000).map(|i| format!("\"k{}\":{i},", i % 100_000)).collect();
    let document = parse(&format!("{{{keys}}}"));
    assert_eq!(document.value.entries().len(), 100_000);
    assert_eq!(document.value.get("k0"), Some(&Value::Number(100_000.0)));
}

/// serde_json's rendering of a random JSON tree, which is the oracle for valid input.
fn json() -> impl Strategy<Value = serde_json::Value> {
    let leaf = prop_oneof![
        Just(serde_json::Value::Null),
        any::<bool>().prop_map(serde_json::Value::from),
        any::<i32>().prop_map(serde_json::Value::from),
        any::<String>().prop_map(serde_json::Value::from),
    ];
    leaf.prop_recursive(4, 64, 8, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..6).prop_map(serde_json::Value::from),
            prop::collection::btree_map(any::<String>(), inner, 0..6)
                .prop_map(|map| serde_json::Value::Object(map.into_iter().collect())),
        ]
    })
}

fn same(ours: &Value, theirs: &serde_json::Value) -> bool {
    match (ours, theirs) {
        (Value::Null, serde_json::Value::Null) => true,
        (Value::Bool(a), serde_json::Value::Bool(b)) => a == b,
        (Value::Number(a), serde_json::Value::Number(b)) => Some(*a) == b.as_f64(),
        (Value::String(a), serde_json::Value::String(b)) => **a == **b,
        (Value::Array(a), serde_json::Value::Array(b)) => {
            a.len() == b.len() && a.iter().zip(b).all(|(a, b)| same(a, b))
        }
        (Value::Object(a), serde_json::Value::Object(b)) => {
            a.len() == b.len() && a.iter().all(|(key, a)| b.get(&**key).is_some_and(|b| same(a, b)))
        }
        _ => false,
    }
}

proptest! {
    #[test]
    fn json_is_read_as_json(value in json()) {
        let document = parse(&value.to_string());
        prop_assert_eq!(document.error(), None);
        prop_assert!(same(&document.value, &value), "{:?}", document.value);
    }

    #[test]
    fn texts_never_panic_the_parser(text in "[{}\\[\\]:,;\"'`/*\\\\<>=|a1 \n-]{0,40}|.{0,40}") {
        parse(&text);
    }

    #[test]
    fn bytes_never_panic_the_parser(bytes in prop::collection::vec(any::<u8>(), 0..60)) {
        parse_bytes(&bytes);
    }
}
