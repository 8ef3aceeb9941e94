//! The strict parser behind [`JsonTree`]: one pass, no recursion. It only builds the tree.

use super::{JsonError, JsonKind, JsonTree, Node};

/// The maximum nesting depth. Equal to that of parsers with a recursion limit of 128.
pub const MAX_DEPTH: usize = 127;

/// String bytes that are visible ASCII and need no escape.
const IS_WORD_BYTE: [bool; 256] = {
    let mut table = [false; 256];
    let mut byte = 0x21;
    while byte < 0x7f {
        table[byte] = byte != b'"' as usize && byte != b'\\' as usize;
        byte += 1;
    }
    table
};

pub(super) fn parse(bytes: &[u8]) -> Result<JsonTree<'_>, JsonError> {
    let source =
        std::str::from_utf8(bytes).map_err(|error| error_at(bytes, error.valid_up_to(), "invalid UTF-8".to_owned()))?;
    if u32::try_from(bytes.len()).is_err() {
        return Err(error_at(bytes, 0, "text is larger than 4 GiB".to_owned()));
    }
    // More than most texts need: untouched memory costs nothing, but growing the list copies it.
    let mut reader =
        JsonReader { bytes, position: 0, nodes: Vec::with_capacity(bytes.len() / 4 + 1), open: Vec::new() };
    match reader.document() {
        Ok(()) => Ok(JsonTree { source, nodes: reader.nodes }),
        Err(message) => Err(error_at(bytes, reader.position, message)),
    }
}

/// Decodes the inside of a string that was parsed without error.
pub(super) fn decode(inner: &str) -> String {
    let mut out = String::with_capacity(inner.len());
    let mut rest = inner;
    while let Some(index) = rest.find('\\') {
        out.push_str(&rest[..index]);
        let escape = rest.as_bytes().get(index + 1).copied().unwrap_or(b'\\');
        let mut used = index + 2;
        match escape {
            b'b' => out.push('\u{8}'),
            b'f' => out.push('\u{c}'),
            b'n' => out.push('\n'),
            b'r' => out.push('\r'),
            b't' => out.push('\t'),
            b'u' => {
                let high = hex(rest, used);
                used += 4;
                let code = if (0xd800..0xdc00).contains(&high) {
                    let low = hex(rest, used + 2);
                    used += 6;
                    0x10000 + ((high - 0xd800) << 10) + (low.wrapping_sub(0xdc00) & 0x3ff)
                } else {
                    high
                };
                out.push(char::from_u32(code).unwrap_or(char::REPLACEMENT_CHARACTER));
            }
            other => out.push(char::from(other)),
        }
        rest = rest.get(used..).unwrap_or_default();
    }
    out.push_str(rest);
    out
}

fn hex(text: &str, start: usize) -> u32 {
    // Never 0 in practice: the parser has checked the digits.
    text.get(start..start + 4).and_then(|digits| u32::from_str_radix(digits, 16).ok()).unwrap_or(0)
}

fn error_at(bytes: &[u8], position: usize, message: String) -> JsonError {
    let before = bytes.get(..position).unwrap_or(bytes);
    let line = before.iter().filter(|&&byte| byte == b'\n').count() + 1;
    let column = before.iter().rev().take_while(|&&byte| byte != b'\n').count() + 1;
    JsonError { message, line, column }
}

struct JsonReader<'a> {
    bytes: &'a [u8],
    position: usize,
    nodes: Vec<Node>,
    /// The containers around the current position, outermost first.
    open: Vec<u32>,
}

impl JsonReader<'_> {
    fn document(&mut self) -> Result<(), String> {
        self.skip_space();
        loop {
            // A container that is not empty needs a value next.
            if self.value()? {
                continue;
            }
            if self.close_finished()? {
                break;
            }
        }
        self.skip_space();
        if self.position < self.bytes.len() { Err("trailing characters".to_owned()) } else { Ok(()) }
    }

    /// Parses a value, or opens a container. Returns whether a value inside it comes next.
    fn value(&mut self) -> Result<bool, String> {
        let start = self.position;
        match self.peek() {
            Some(b'"') => self.string()?,
            Some(b'[') => return self.open(JsonKind::Array, b']'),
            Some(b'{') => return self.open(JsonKind::Object, b'}'),
            Some(b'-' | b'0'..=b'9') => {
                let kind = self.number()?;
                self.push(kind, start);
            }
            Some(b't') => self.word("true", JsonKind::True)?,
            Some(b'f') => self.word("false", JsonKind::False)?,
            Some(b'n') => self.word("null", JsonKind::Null)?,
            Some(_) => return Err("expected value".to_owned()),
            None => return Err("EOF while parsing a value".to_owned()),
        }
        Ok(false)
    }

    fn open(&mut self, kind: JsonKind, close: u8) -> Result<bool, String> {
        if self.open.len() >= MAX_DEPTH {
            return Err(format!("recursion limit exceeded: containers may nest {MAX_DEPTH} deep"));
        }
        let start = self.position;
        self.position += 1;
        self.skip_space();
        if self.peek() == Some(close) {
            self.position += 1;
            self.push(kind, start);
            return Ok(false);
        }
        self.open.push(self.nodes.len() as u32);
        self.push(kind, start);
        if kind == JsonKind::Object {
            self.key()?;
        }
        Ok(true)
    }

    /// After a value: closes containers that end here. Returns true at the end of the text.
    fn close_finished(&mut self) -> Result<bool, String> {
        while let Some(&index) = self.open.last() {
            self.skip_space();
            let is_object = self.nodes.get(index as usize).is_some_and(|node| node.kind == JsonKind::Object);
            match (self.peek(), is_object) {
                (Some(b','), _) => {
                    self.position += 1;
                    self.skip_space();
                    if is_object {
                        self.key()?;
                    }
                    return Ok(false);
                }
                (Some(b']'), false) | (Some(b'}'), true) => {
                    self.position += 1;
                    self.open.pop();
                    let next = self.nodes.len() as u32;
                    if let Some(node) = self.nodes.get_mut(index as usize) {
                        node.extent = next;
                    }
                }
                (None, _) => return Err("EOF while parsing a list or an object".to_owned()),
                (Some(_), true) => return Err("expected `,` or `}`".to_owned()),
                (Some(_), false) => return Err("expected `,` or `]`".to_owned()),
            }
        }
        Ok(true)
    }

    fn key(&mut self) -> Result<(), String> {
        if self.peek() != Some(b'"') {
            return Err("key must be a string".to_owned());
        }
        self.string()?;
        self.skip_space();
        if self.peek() != Some(b':') {
            return Err("expected `:`".to_owned());
        }
        self.position += 1;
        self.skip_space();
        Ok(())
    }

    fn string(&mut self) -> Result<(), String> {
        let start = self.position;
        let (mut kind, mut is_word) = (JsonKind::PlainString, true);
        self.position += 1;
        loop {
            let rest = self.bytes.get(self.position..).unwrap_or_default();
            // Most strings are short words: skip the bytes that need no check in one loop.
            self.position += rest.iter().take_while(|&&byte| IS_WORD_BYTE[usize::from(byte)]).count();
            match self.peek() {
                Some(b'"') => {
                    self.position += 1;
                    let extent = (self.position - start) as u32;
                    self.nodes.push(Node { start: start as u32, extent, kind, is_word });
                    return Ok(());
                }
                Some(b'\\') => {
                    (kind, is_word) = (JsonKind::EscapedString, false);
                    self.position += 1;
                    self.escape()?;
                }
                Some(0..0x20) => {
                    return Err("control character (\\u0000-\\u001F) found while parsing a string".to_owned());
                }
                Some(_) => {
                    is_word = false;
                    self.position += 1;
                }
                None => return Err("EOF while parsing a string".to_owned()),
            }
        }
    }

    fn escape(&mut self) -> Result<(), String> {
        match self.peek() {
            Some(b'"' | b'\\' | b'/' | b'b' | b'f' | b'n' | b'r' | b't') => self.position += 1,
            Some(b'u') => {
                self.position += 1;
                let unit = self.hex_unit()?;
                if (0xdc00..0xe000).contains(&unit) {
                    return Err("lone trailing surrogate in hex escape".to_owned());
                }
                if (0xd800..0xdc00).contains(&unit) {
                    if self.bytes.get(self.position..self.position + 2) != Some(b"\\u") {
                        return Err("lone leading surrogate in hex escape".to_owned());
                    }
                    self.position += 2;
                    if !(0xdc00..0xe000).contains(&self.hex_unit()?) {
                        return Err("lone leading surrogate in hex escape".to_owned());
                    }
                }
            }
            Some(_) => return Err("invalid escape".to_owned()),
            None => return Err("EOF while parsing a string".to_owned()),
        }
        Ok(())
    }

    fn hex_unit(&mut self) -> Result<u32, String> {
        let digits = self.bytes.get(self.position..self.position + 4).unwrap_or_default();
        // `from_str_radix` alone would accept a sign.
        if digits.len() < 4 || !digits.iter().all(u8::is_ascii_hexdigit) {
            return Err("invalid hex escape".to_owned());
        }
        self.position += 4;
        Ok(digits.iter().fold(0, |unit, &digit| unit * 16 + char::from(digit).to_digit(16).unwrap_or(0)))
    }

    fn number(&mut self) -> Result<JsonKind, String> {
        let start = self.position;
        self.skip_if(b'-');
        match self.peek() {
            Some(b'0') => self.position += 1,
            Some(b'1'..=b'9') => self.digits()?,
            _ => return Err("invalid number".to_owned()),
        }
        if matches!(self.peek(), Some(b'0'..=b'9')) {
            return Err("invalid number: leading zero".to_owned());
        }
        let mut is_integer = true;
        if self.skip_if(b'.') {
            is_integer = false;
            self.digits()?;
        }
        if matches!(self.peek(), Some(b'e' | b'E')) {
            is_integer = false;
            self.position += 1;
            if !self.skip_if(b'+') {
                self.skip_if(b'-');
            }
            self.digits()?;
        }
        let text = self.bytes.get(start..self.position).unwrap_or_default();
        if is_integer && text != b"-0" && text.len() < 300 {
            return Ok(JsonKind::Integer);
        }
        let double = std::str::from_utf8(text).ok().and_then(|text| text.parse::<f64>().ok());
        match double {
            Some(double) if double.is_finite() && is_integer && text != b"-0" => Ok(JsonKind::Integer),
            Some(double) if double.is_finite() => Ok(JsonKind::Double),
            _ => Err("number out of range".to_owned()),
        }
    }

    fn digits(&mut self) -> Result<(), String> {
        let start = self.position;
        while matches!(self.peek(), Some(b'0'..=b'9')) {
            self.position += 1;
        }
        if self.position == start { Err("invalid number".to_owned()) } else { Ok(()) }
    }

    fn word(&mut self, word: &str, kind: JsonKind) -> Result<(), String> {
        let start = self.position;
        if !self.bytes[start..].starts_with(word.as_bytes()) {
            return Err("expected value".to_owned());
        }
        self.position += word.len();
        self.push(kind, start);
        Ok(())
    }

    fn push(&mut self, kind: JsonKind, start: usize) {
        let extent = match kind {
            JsonKind::Array | JsonKind::Object => self.nodes.len() as u32 + 1,
            _ => (self.position - start) as u32,
        };
        self.nodes.push(Node { start: start as u32, extent, kind, is_word: false });
    }

    fn skip_if(&mut self, byte: u8) -> bool {
        let found = self.peek() == Some(byte);
        self.position += usize::from(found);
        found
    }

    fn skip_space(&mut self) {
        while matches!(self.peek(), Some(b' ' | b'\n' | b'\r' | b'\t')) {
            self.position += 1;
        }
    }

    fn peek(&self) -> Option<u8> {
        self.bytes.get(self.position).copied()
    }
}
