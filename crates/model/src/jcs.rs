//! Canonical JSON (RFC 8785, JCS): the only writer of every artefact whose bytes are compared or hashed.
//!
//! Keys are ordered by UTF-16 code units, and numbers are formatted as in ECMAScript. It does not read JSON and never rounds: an
//! integer that a double cannot hold exactly is an error with its JSON Pointer.

use std::cmp::Ordering;

use serde::Serialize;
use serde_json::Value;

/// The largest integer that every JSON reader reads exactly: 2^53 − 1.
pub const MAX_SAFE_INTEGER: u64 = (1 << 53) - 1;

/// Why a value has no canonical form.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum JcsError {
    /// RFC 8785 numbers are doubles, and this integer has no exact double.
    #[error("integer {literal} is beyond 2^53-1 and has no canonical form at {pointer}")]
    IntegerTooLarge {
        /// The integer as written.
        literal: String,
        /// JSON Pointer to the number.
        pointer: String,
    },
    /// The value cannot be serialised as JSON, such as a map whose keys are not strings.
    #[error("value is not JSON: {message}")]
    NotJson {
        /// The serialiser's message.
        message: String,
    },
}

/// The canonical bytes of any serialisable value, without a final newline.
pub fn to_vec<T: Serialize + ?Sized>(value: &T) -> Result<Vec<u8>, JcsError> {
    let value = serde_json::to_value(value).map_err(|error| JcsError::NotJson { message: error.to_string() })?;
    let mut out = Vec::new();
    write_value(&value, &mut out)?;
    Ok(out)
}

/// Appends the canonical form of a JSON value.
pub fn write_value(value: &Value, out: &mut Vec<u8>) -> Result<(), JcsError> {
    write_at(value, &mut Vec::new(), out)
}

/// Appends a string with its quotes. Escapes only what JSON requires.
pub fn write_string(text: &str, out: &mut Vec<u8>) {
    out.push(b'"');
    let bytes = text.as_bytes();
    let mut copied = 0;
    for (index, &byte) in bytes.iter().enumerate() {
        if byte >= 0x20 && byte != b'"' && byte != b'\\' {
            continue;
        }
        out.extend_from_slice(&bytes[copied..index]);
        copied = index + 1;
        let short = match byte {
            b'"' => b'"',
            b'\\' => b'\\',
            0x08 => b'b',
            0x0c => b'f',
            b'\n' => b'n',
            b'\r' => b'r',
            b'\t' => b't',
            _ => {
                const HEX: &[u8; 16] = b"0123456789abcdef";
                out.extend_from_slice(b"\\u00");
                out.push(HEX[usize::from(byte >> 4)]);
                out.push(HEX[usize::from(byte & 15)]);
                continue;
            }
        };
        out.extend_from_slice(&[b'\\', short]);
    }
    out.extend_from_slice(&bytes[copied..]);
    out.push(b'"');
}

/// How many bytes [`write_string`] would append.
pub fn string_len(text: &str) -> usize {
    let extra: usize = text
        .bytes()
        .map(|byte| match byte {
            b'"' | b'\\' | 0x08 | 0x0c | b'\n' | b'\r' | b'\t' => 1,
            0..0x20 => 5,
            _ => 0,
        })
        .sum();
    text.len() + 2 + extra
}

/// Appends a finite double in the form of ECMAScript's `Number::toString`.
pub fn write_double(number: f64, out: &mut Vec<u8>) {
    debug_assert!(number.is_finite(), "JSON has no other numbers");
    out.extend_from_slice(ryu_js::Buffer::new().format_finite(number).as_bytes());
}

/// The order of keys in canonical JSON: by UTF-16 code units, not by code points.
///
/// The two differ only where one key has a character above U+FFFF and the other one between U+E000 and U+FFFF.
pub fn compare_keys(left: &str, right: &str) -> Ordering {
    if left.is_ascii() && right.is_ascii() {
        return left.cmp(right);
    }
    left.encode_utf16().cmp(right.encode_utf16())
}

/// Builds one canonical object from fields in any order. Values can be canonical bytes already.
///
/// This way large parts are serialised once, without an intermediate tree of values.
#[derive(Default)]
pub struct ObjectBuilder<'a> {
    fields: Vec<(&'a str, Vec<u8>)>,
}

impl<'a> ObjectBuilder<'a> {
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds a field whose value is canonical JSON.
    #[must_use]
    pub fn raw(mut self, key: &'a str, canonical: Vec<u8>) -> Self {
        self.fields.push((key, canonical));
        self
    }

    /// Adds a field with any serialisable value.
    pub fn field<T: Serialize + ?Sized>(self, key: &'a str, value: &T) -> Result<Self, JcsError> {
        let canonical = to_vec(value)?;
        Ok(self.raw(key, canonical))
    }

    pub fn finish(mut self) -> Vec<u8> {
        self.fields.sort_by(|left, right| compare_keys(left.0, right.0));
        let size = self.fields.iter().map(|(key, value)| key.len() + value.len() + 4).sum::<usize>();
        let mut out = Vec::with_capacity(size + 2);
        out.push(b'{');
        for (index, (key, value)) in self.fields.iter().enumerate() {
            if index > 0 {
                out.push(b',');
            }
            write_string(key, &mut out);
            out.push(b':');
            out.extend_from_slice(value);
        }
        out.push(b'}');
        out
    }
}

/// One step from a container to a value inside it, kept only to report the position of a number.
enum ContainerStep<'a> {
    Key(&'a str),
    Index(usize),
}

fn write_at<'a>(value: &'a Value, path: &mut Vec<ContainerStep<'a>>, out: &mut Vec<u8>) -> Result<(), JcsError> {
    match value {
        Value::Null => out.extend_from_slice(b"null"),
        Value::Bool(true) => out.extend_from_slice(b"true"),
        Value::Bool(false) => out.extend_from_slice(b"false"),
        Value::Number(number) => write_number(number, path, out)?,
        Value::String(text) => write_string(text, out),
        Value::Array(items) => {
            out.push(b'[');
            for (index, item) in items.iter().enumerate() {
                if index > 0 {
                    out.push(b',');
                }
                path.push(ContainerStep::Index(index));
                write_at(item, path, out)?;
                path.pop();
            }
            out.push(b']');
        }
        Value::Object(map) => {
            // Sort here: another crate may enable `preserve_order`, so the map's own order is unspecified.
            let mut fields: Vec<(&'a String, &'a Value)> = map.iter().collect();
            fields.sort_by(|left, right| compare_keys(left.0, right.0));
            out.push(b'{');
            for (index, (key, field)) in fields.into_iter().enumerate() {
                if index > 0 {
                    out.push(b',');
                }
                write_string(key, out);
                out.push(b':');
                path.push(ContainerStep::Key(key));
                write_at(field, path, out)?;
                path.pop();
            }
            out.push(b'}');
        }
    }
    Ok(())
}

fn write_number(number: &serde_json::Number, path: &[ContainerStep<'_>], out: &mut Vec<u8>) -> Result<(), JcsError> {
    let magnitude = number.as_u64().or_else(|| number.as_i64().map(i64::unsigned_abs));
    match (magnitude, number.as_f64()) {
        (Some(magnitude), _) if magnitude > MAX_SAFE_INTEGER => {
            Err(JcsError::IntegerTooLarge { literal: number.to_string(), pointer: pointer_of(path) })
        }
        (Some(_), _) => {
            out.extend_from_slice(number.to_string().as_bytes());
            Ok(())
        }
        (None, Some(double)) if double.is_finite() => {
            write_double(double, out);
            Ok(())
        }
        (None, _) => Err(JcsError::NotJson { message: format!("number {number} is not finite") }),
    }
}

fn pointer_of(path: &[ContainerStep<'_>]) -> String {
    let mut pointer = String::new();
    for step in path {
        pointer.push('/');
        match step {
            ContainerStep::Key(key) => pointer.push_str(&escape_pointer_token(key)),
            ContainerStep::Index(index) => pointer.push_str(&index.to_string()),
        }
    }
    pointer
}

/// One token of a JSON Pointer (RFC 6901) with `~` and `/` escaped.
pub fn escape_pointer_token(token: &str) -> String {
    token.replace('~', "~0").replace('/', "~1")
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::json;

    use super::*;

    fn check(input: &Value, expected: &str) {
        assert_eq!(String::from_utf8(to_vec(input).unwrap()).unwrap(), expected);
    }

    /// The sample of RFC 8785 §3.2.3 and §3.2.2: number forms, escapes, key order.
    #[test]
    fn sample_of_the_rfc() {
        let input: Value = serde_json::from_str(
            "{\"numbers\":[333333333.33333329,1E30,4.50,2e-3,0.000000000000000000000000001],\
             \"string\":\"\\u20ac$\\u000F\\u000aA'\\u0042\\u0022\\u005c\\\\\\\"\\/\",\"literals\":[null,true,false]}",
        )
        .unwrap();
        check(
            &input,
            "{\"literals\":[null,true,false],\"numbers\":[333333333.3333333,1e+30,4.5,0.002,1e-27],\
             \"string\":\"€$\\u000f\\nA'B\\\"\\\\\\\\\\\"/\"}",
        );
    }

    /// The sorting sample of RFC 8785 §3.2.3: U+1F600 is a surrogate pair and sorts before U+FB33.
    #[test]
    fn keys_sort_by_utf16_units() {
        let input = json!({
            "\u{20ac}": "Euro Sign", "\r": "Carriage Return", "\u{fb33}": "Hebrew Letter Dalet With Dagesh",
            "1": "One", "\u{1f600}": "Emoji: Grinning Face", "\u{80}": "Control", "\u{f6}": "Latin Small Letter O With Diaeresis"
        });
        check(
            &input,
            "{\"\\r\":\"Carriage Return\",\"1\":\"One\",\"\u{80}\":\"Control\",\
             \"ö\":\"Latin Small Letter O With Diaeresis\",\"€\":\"Euro Sign\",\"😀\":\"Emoji: Grinning Face\",\
             \"\u{fb33}\":\"Hebrew Letter Dalet With Dagesh\"}",
        );
    }

    /// Appendix B of RFC 8785: IEEE 754 bit patterns and their text.
    #[test]
    fn numbers_of_appendix_b() {
        let cases: [(u64, &str); 24] = [
            (0x0000_0000_0000_0000, "0"),
            (0x8000_0000_0000_0000, "0"),
            (0x0000_0000_0000_0001, "5e-324"),
            (0x8000_0000_0000_0001, "-5e-324"),
            (0x7fef_ffff_ffff_ffff, "1.7976931348623157e+308"),
            (0xffef_ffff_ffff_ffff, "-1.7976931348623157e+308"),
            (0x4340_0000_0000_0000, "9007199254740992"),
            (0xc340_0000_0000_0000, "-9007199254740992"),
            (0x4430_0000_0000_0000, "295147905179352830000"),
            (0x44b5_2d02_c7e1_4af5, "9.999999999999997e+22"),
            (0x44b5_2d02_c7e1_4af6, "1e+23"),
            (0x44b5_2d02_c7e1_4af7, "1.0000000000000001e+23"),
            (0x444b_1ae4_d6e2_ef4e, "999999999999999700000"),
            (0x444b_1ae4_d6e2_ef4f, "999999999999999900000"),
            (0x444b_1ae4_d6e2_ef50, "1e+21"),
            (0x3eb0_c6f7_a0b5_ed8c, "9.999999999999997e-7"),
            (0x3eb0_c6f7_a0b5_ed8d, "0.000001"),
            (0x41b3_de43_5555_5553, "333333333.3333332"),
            (0x41b3_de43_5555_5554, "333333333.33333325"),
            (0x41b3_de43_5555_5555, "333333333.3333333"),
            (0x41b3_de43_5555_5556, "333333333.3333334"),
            (0x41b3_de43_5555_5557, "333333333.33333343"),
            (0x4314_3ff3_c1cb_0959, "1424953923781206.2"),
            (0xbecb_f647_612f_3696, "-0.0000033333333333333333"),
        ];
        for (bits, expected) in cases {
            let mut out = Vec::new();
            write_double(f64::from_bits(bits), &mut out);
            assert_eq!(String::from_utf8(out).unwrap(), expected, "{bits:016x}");
        }
    }

    #[test]
    fn an_integer_that_a_double_cannot_hold_is_an_error_with_its_place() {
        check(&json!([9_007_199_254_740_991_u64, -9_007_199_254_740_991_i64]), "[9007199254740991,-9007199254740991]");
        for (value, literal) in
            [(json!(9_007_199_254_740_992_u64), "9007199254740992"), (json!(i64::MIN), "-9223372036854775808")]
        {
            let error = to_vec(&json!({"a/b": [true, {"~": value}]})).unwrap_err();
            assert_eq!(
                error,
                JcsError::IntegerTooLarge { literal: literal.to_owned(), pointer: "/a~1b/1/~0".to_owned() }
            );
        }
    }

    #[test]
    fn the_object_builder_sorts_and_embeds() {
        let bytes =
            ObjectBuilder::new().raw("b", b"[1]".to_vec()).field("a", &json!({"y": 1, "x": 2})).unwrap().finish();
        assert_eq!(bytes, b"{\"a\":{\"x\":2,\"y\":1},\"b\":[1]}");
    }

    fn arbitrary_json() -> impl Strategy<Value = Value> {
        let leaf = prop_oneof![
            Just(Value::Null),
            any::<bool>().prop_map(Value::Bool),
            (-(1_i64 << 53) + 1..(1_i64 << 53)).prop_map(Value::from),
            any::<f64>().prop_filter("finite", |number| number.is_finite()).prop_map(Value::from),
            any::<String>().prop_map(Value::String),
        ];
        leaf.prop_recursive(4, 64, 8, |inner| {
            prop_oneof![
                prop::collection::vec(inner.clone(), 0..8).prop_map(Value::Array),
                prop::collection::vec((any::<String>(), inner), 0..8)
                    .prop_map(|fields| Value::Object(fields.into_iter().collect())),
            ]
        })
    }

    proptest! {
        /// Differential: another implementation of RFC 8785 gives the same bytes.
        #[test]
        fn same_bytes_as_another_implementation(value in arbitrary_json()) {
            prop_assert_eq!(to_vec(&value).unwrap(), serde_json_canonicalizer::to_vec(&value).unwrap());
        }

        #[test]
        fn string_len_is_the_written_length(text in any::<String>()) {
            let mut out = Vec::new();
            write_string(&text, &mut out);
            prop_assert_eq!(out.len(), string_len(&text));
        }
    }
}
