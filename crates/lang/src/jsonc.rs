//! A tolerant reader for the JSON that people write: tsconfig files, package manifests.
//!
//! Accepts what TypeScript accepts (comments, trailing commas, byte order marks, UTF-16) and recovers where TypeScript recovers
//! (missing commas and braces, merge conflict markers, stray expressions), so that one typo does not lose a whole file. Preserves
//! the order of keys, because `exports` conditions depend on it. Neither a validator nor a writer.

mod parser;
#[cfg(test)]
mod tests;

use std::borrow::Cow;

/// A JSON value. Objects keep the order of their keys. For a duplicate key, the last value wins, at the position of the first.
#[derive(Clone, Debug, PartialEq)]
pub enum Value {
    Null,
    Bool(bool),
    Number(f64),
    String(Box<str>),
    Array(Vec<Value>),
    Object(Vec<(Box<str>, Value)>),
}

impl Value {
    /// The value of a key; `None` for a missing key and for anything that is not an object.
    pub fn get(&self, key: &str) -> Option<&Value> {
        self.entries().iter().find(|(name, _)| &**name == key).map(|(_, value)| value)
    }

    pub fn as_str(&self) -> Option<&str> {
        if let Self::String(text) = self { Some(text) } else { None }
    }

    pub fn as_bool(&self) -> Option<bool> {
        if let Self::Bool(flag) = self { Some(*flag) } else { None }
    }

    pub fn as_array(&self) -> Option<&[Value]> {
        if let Self::Array(items) = self { Some(items) } else { None }
    }

    /// The pairs of an object; empty for anything else.
    pub fn entries(&self) -> &[(Box<str>, Value)] {
        if let Self::Object(entries) = self { entries } else { &[] }
    }

    /// Whether the value is truthy in JavaScript.
    pub fn is_truthy(&self) -> bool {
        match self {
            Self::Null | Self::Bool(false) => false,
            Self::Number(number) => *number != 0.0,
            Self::String(text) => !text.is_empty(),
            _ => true,
        }
    }

    pub fn is_null(&self) -> bool {
        matches!(self, Self::Null)
    }
}

/// A problem of a text, and its position.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct JsonError {
    /// 1-based.
    pub line: u32,
    /// The problem, without a full stop.
    pub message: &'static str,
}

/// The result of a best-effort read.
#[derive(Clone, Debug, PartialEq)]
pub struct Document {
    /// The root value. An empty text gives an empty object; a text with several roots gives an array of them.
    pub value: Value,
    /// The first syntax error.
    pub syntax_error: Option<JsonError>,
    /// The first construct that is valid JavaScript but not JSON: single quotes, an unquoted key, an expression. Its value, if it
    /// has one, is in the document.
    pub not_json: Option<JsonError>,
}

impl Document {
    /// The first error of any kind; syntax errors come first, as in TypeScript.
    pub fn error(&self) -> Option<&JsonError> {
        self.syntax_error.as_ref().or(self.not_json.as_ref())
    }
}

/// Parses a text. Never fails: see [`Document`].
pub fn parse(text: &str) -> Document {
    parser::parse(text)
}

/// Parses the bytes of a file, after [`decode`].
pub fn parse_bytes(bytes: &[u8]) -> Document {
    parse(&decode(bytes))
}

/// The text of a file: UTF-8, or UTF-16 by its byte order mark. The mark is removed; invalid sequences become U+FFFD.
pub fn decode(bytes: &[u8]) -> Cow<'_, str> {
    let utf16 = |rest: &[u8], read: fn([u8; 2]) -> u16| {
        let units = rest.as_chunks::<2>().0.iter().map(|pair| read(*pair));
        Cow::Owned(char::decode_utf16(units).map(|unit| unit.unwrap_or(char::REPLACEMENT_CHARACTER)).collect())
    };
    match bytes {
        [0xFE, 0xFF, rest @ ..] => utf16(rest, u16::from_be_bytes),
        [0xFF, 0xFE, rest @ ..] => utf16(rest, u16::from_le_bytes),
        [0xEF, 0xBB, 0xBF, rest @ ..] => String::from_utf8_lossy(rest),
        _ => String::from_utf8_lossy(bytes),
    }
}
