//! The laws of the tolerant JSON parser, which reads manifests and `tsconfig.json`.

use serde_json::Value as Strict;
use stan_lang::jsonc::{Document, Value, parse_bytes};

/// Every text has a value, deterministic and no larger than the text. Valid JSON is parsed without errors, with the same result
/// as by a JSON parser.
pub fn law(bytes: &[u8]) {
    let document = parse_bytes(bytes);
    assert_eq!(format!("{document:?}"), format!("{:?}", parse_bytes(bytes)), "the same bytes are read the same way");
    let lines = bytes.iter().filter(|byte| matches!(byte, b'\n' | b'\r')).count() + 1;
    for error in [&document.syntax_error, &document.not_json].into_iter().flatten() {
        assert!((1..=lines).contains(&(error.line as usize)), "line {} of {lines}: {}", error.line, error.message);
    }
    // An invalid UTF-8 byte becomes a character of three bytes, and several roots are wrapped in an array.
    let values = count(&document.value);
    assert!(values <= 3 * bytes.len() + 2, "{values} values in {} bytes", bytes.len());
    if let Ok(strict) = serde_json::from_slice::<Strict>(bytes) {
        check_agreement(&document, &strict);
    }
}

fn check_agreement(document: &Document, strict: &Strict) {
    assert_eq!(document.error(), None, "JSON is read without a complaint: {strict}");
    let mut pairs = vec![(&document.value, strict)];
    while let Some(pair) = pairs.pop() {
        match pair {
            (Value::Null, Strict::Null) => {}
            (Value::Bool(found), Strict::Bool(expected)) => assert_eq!(found, expected),
            (Value::String(found), Strict::String(expected)) => assert_eq!(**found, **expected),
            (Value::Number(found), Strict::Number(expected)) => {
                let expected = expected.as_f64().unwrap_or(f64::NAN);
                assert!((found - expected).abs() <= expected.abs() * 1e-15, "{found} instead of {expected}");
            }
            (Value::Array(found), Strict::Array(expected)) => {
                assert_eq!(found.len(), expected.len());
                pairs.extend(found.iter().zip(expected));
            }
            (Value::Object(found), Strict::Object(expected)) => {
                assert_eq!(found.len(), expected.len(), "keys of {expected:?}");
                pairs.extend(found.iter().map(|(key, value)| (value, expected.get(&**key).expect("the same keys"))));
            }
            (found, expected) => panic!("{found:?} instead of {expected}"),
        }
    }
}

fn count(value: &Value) -> usize {
    let mut count = 0;
    let mut open = vec![value];
    while let Some(value) = open.pop() {
        count += 1;
        open.extend(value.as_array().unwrap_or_default());
        open.extend(value.entries().iter().map(|(_, value)| value));
    }
    count
}
