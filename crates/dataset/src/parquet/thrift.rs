//! Thrift's compact protocol, as far as Parquet's headers need it: structs of integers, texts and lists. Write only.

/// Field types of the protocol.
const I32: u8 = 5;
const I64: u8 = 6;
const BINARY: u8 = 8;
const LIST: u8 = 9;
const STRUCT: u8 = 12;

/// Appends one struct. Fields must be written in ascending order of their ids.
#[derive(Debug, Default)]
pub(super) struct Struct {
    bytes: Vec<u8>,
    last: u8,
}

impl Struct {
    pub(super) fn new() -> Self {
        Self::default()
    }

    pub(super) fn int32(mut self, field: u8, value: i32) -> Self {
        self.field(field, I32);
        varint(&mut self.bytes, zigzag(i64::from(value)));
        self
    }

    /// A size or count as `i32`.
    pub(super) fn size32(self, field: u8, value: usize) -> Self {
        self.int32(field, i32::try_from(value).unwrap_or(i32::MAX))
    }

    pub(super) fn size64(mut self, field: u8, value: usize) -> Self {
        self.field(field, I64);
        varint(&mut self.bytes, zigzag(i64::try_from(value).unwrap_or(i64::MAX)));
        self
    }

    pub(super) fn text(mut self, field: u8, value: &str) -> Self {
        self.field(field, BINARY);
        binary(&mut self.bytes, value);
        self
    }

    pub(super) fn inner(mut self, field: u8, value: Self) -> Self {
        self.field(field, STRUCT);
        self.bytes.extend_from_slice(&value.finish());
        self
    }

    pub(super) fn structs(mut self, field: u8, values: Vec<Self>) -> Self {
        self.list(field, STRUCT, values.len());
        for value in values {
            self.bytes.extend_from_slice(&value.finish());
        }
        self
    }

    pub(super) fn texts(mut self, field: u8, values: &[&str]) -> Self {
        self.list(field, BINARY, values.len());
        values.iter().for_each(|value| binary(&mut self.bytes, value));
        self
    }

    pub(super) fn int32s(mut self, field: u8, values: &[i32]) -> Self {
        self.list(field, I32, values.len());
        values.iter().for_each(|value| varint(&mut self.bytes, zigzag(i64::from(*value))));
        self
    }

    /// The bytes with the stop marker.
    pub(super) fn finish(mut self) -> Vec<u8> {
        self.bytes.push(0);
        self.bytes
    }

    fn field(&mut self, field: u8, kind: u8) {
        debug_assert!(field > self.last && field - self.last < 16, "fields are written in order");
        self.bytes.push((field.saturating_sub(self.last) << 4) | kind);
        self.last = field;
    }

    fn list(&mut self, field: u8, kind: u8, count: usize) {
        self.field(field, LIST);
        match u8::try_from(count) {
            Ok(count @ 0..15) => self.bytes.push((count << 4) | kind),
            _ => {
                self.bytes.push(0xf0 | kind);
                varint(&mut self.bytes, count as u64);
            }
        }
    }
}

fn binary(out: &mut Vec<u8>, value: &str) {
    varint(out, value.len() as u64);
    out.extend_from_slice(value.as_bytes());
}

fn zigzag(value: i64) -> u64 {
    (value.cast_unsigned() << 1) ^ (value >> 63).cast_unsigned()
}

/// Seven bits per byte, lowest first.
pub(super) fn varint(out: &mut Vec<u8>, mut value: u64) {
    while value >= 0x80 {
        out.push((value & 0x7f) as u8 | 0x80);
        value >>= 7;
    }
    out.push(value as u8);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fields_are_written_in_thrifts_compact_protocol() {
        let bytes = Struct::new().int32(1, 1).text(4, "ab").size64(5, 300).int32s(6, &[0, -1]).finish();
        assert_eq!(bytes, [0x15, 2, 0x38, 2, b'a', b'b', 0x16, 0xd8, 4, 0x19, 0x25, 0, 1, 0]);
        let many = Struct::new().texts(1, &["x"; 15]).finish();
        assert_eq!(many[..4], [0x19, 0xf8, 15, 1]);
    }
}
