//! The subset of Apache Parquet that flat tables and lists of texts need: row groups, one page per column and group,
//! dictionaries, no compression, no statistics. `fixtures/fleet/check.py` verifies it with DuckDB and pyarrow. Why not a library:
//! `docs/decisions/0102-datasets.md`.

mod encode;
mod thrift;

use std::ops::Range;

use self::encode::{Dictionary, levels, plain_flags, plain_text};
use self::thrift::Struct;
use crate::schema::{Column, ColumnType, SCHEMA_VERSION};
use crate::table::{ColumnData, Strings, Table};

const MAGIC: &[u8] = b"PAR1";
/// Large enough for pages of some megabytes, and small enough that readers can use several threads per table.
const ROWS_IN_GROUP: usize = 1 << 16;

/// Constants of the format.
const BOOLEAN: i32 = 0;
const INT64: i32 = 2;
const BYTE_ARRAY: i32 = 6;
const REQUIRED: i32 = 0;
const OPTIONAL: i32 = 1;
const REPEATED: i32 = 2;
const UTF8: i32 = 0;
const LIST: i32 = 3;
const PLAIN: i32 = 0;
const RLE: i32 = 3;
const RLE_DICTIONARY: i32 = 8;
const DATA_PAGE: i32 = 0;
const DICTIONARY_PAGE: i32 = 2;

pub(crate) fn write(table: &Table) -> Vec<u8> {
    let mut out = MAGIC.to_vec();
    let mut groups = Vec::new();
    let mut cursors = vec![0; table.columns().len()];
    let mut start = 0;
    while start < table.rows() {
        let rows = start..table.rows().min(start + ROWS_IN_GROUP);
        groups.push(row_group(&mut out, table, &rows, &mut cursors));
        start = rows.end;
    }
    let version = SCHEMA_VERSION.to_string();
    let metadata = vec![Struct::new().text(1, "stan.schema_version").text(2, &version)];
    let footer = Struct::new()
        .int32(1, 1)
        .structs(2, schema(table))
        .size64(3, table.rows())
        .structs(4, groups)
        .structs(5, metadata)
        .text(6, "stan")
        .finish();
    out.extend_from_slice(&footer);
    out.extend_from_slice(&u32::try_from(footer.len()).unwrap_or(u32::MAX).to_le_bytes());
    out.extend_from_slice(MAGIC);
    out
}

/// The tree of columns in depth-first order: the root, then each column. A list is a group within a group.
fn schema(table: &Table) -> Vec<Struct> {
    let columns = table.schema().columns;
    let mut elements = vec![Struct::new().text(4, table.schema().name).size32(5, columns.len())];
    for Column { name, kind, .. } in columns {
        let leaf = |kind: i32, repetition: i32| Struct::new().int32(1, kind).int32(3, repetition).text(4, name);
        match kind {
            ColumnType::Text => elements.push(leaf(BYTE_ARRAY, REQUIRED).int32(6, UTF8)),
            ColumnType::MaybeText => elements.push(leaf(BYTE_ARRAY, OPTIONAL).int32(6, UTF8)),
            ColumnType::Number => elements.push(leaf(INT64, REQUIRED)),
            ColumnType::MaybeNumber => elements.push(leaf(INT64, OPTIONAL)),
            ColumnType::Flag => elements.push(leaf(BOOLEAN, REQUIRED)),
            ColumnType::Texts => {
                elements.push(Struct::new().int32(3, REQUIRED).text(4, name).int32(5, 1).int32(6, LIST));
                elements.push(Struct::new().int32(3, REPEATED).text(4, "list").int32(5, 1));
                elements.push(Struct::new().int32(1, BYTE_ARRAY).int32(3, REQUIRED).text(4, "element").int32(6, UTF8));
            }
        }
    }
    elements
}

fn row_group(out: &mut Vec<u8>, table: &Table, rows: &Range<usize>, cursors: &mut [usize]) -> Struct {
    let start = out.len();
    let columns = table.schema().columns.iter().zip(table.columns()).zip(cursors);
    let chunks = columns.map(|((column, data), cursor)| {
        let values = Values::of(data, rows, cursor);
        column_chunk(out, column, values)
    });
    let chunks: Vec<Struct> = chunks.collect();
    let size = out.len() - start;
    Struct::new().structs(1, chunks).size64(2, size).size64(3, rows.len()).size64(6, size)
}

/// The values of one column in one row group, in written form.
struct Values {
    kind: i32,
    /// Includes nulls and empty lists.
    count: usize,
    levels: Vec<u8>,
    values: Encoded,
}

enum Encoded {
    Plain(Vec<u8>),
    Dictionary(Dictionary),
}

impl Values {
    /// `cursor` is the number of values that earlier groups took, for a column that does not have one value per row.
    fn of(data: &ColumnData, rows: &Range<usize>, cursor: &mut usize) -> Self {
        let mut written = Vec::new();
        let numbers =
            |numbers: &[u64]| Encoded::Plain(numbers.iter().flat_map(|number| number.to_le_bytes()).collect());
        let mut taken = |present: &[bool]| {
            let present = present.get(rows.clone()).unwrap_or_default();
            levels(&mut written, &present.iter().map(|present| u32::from(*present)).collect::<Vec<_>>());
            let first = *cursor;
            *cursor += present.iter().filter(|present| **present).count();
            first..*cursor
        };
        let (kind, count, values) = match data {
            ColumnData::Text(strings) => (BYTE_ARRAY, rows.len(), texts(strings, rows.clone())),
            ColumnData::MaybeText(present, strings) => {
                let range = taken(present);
                (BYTE_ARRAY, rows.len(), texts(strings, range))
            }
            ColumnData::Number(all) => (INT64, rows.len(), numbers(all.get(rows.clone()).unwrap_or_default())),
            ColumnData::MaybeNumber(present, all) => {
                let range = taken(present);
                (INT64, rows.len(), numbers(all.get(range).unwrap_or_default()))
            }
            ColumnData::Flag(flags) => {
                let flags = flags.get(rows.clone()).unwrap_or_default();
                (BOOLEAN, rows.len(), Encoded::Plain(plain_flags(flags)))
            }
            ColumnData::Texts(ends, strings) => {
                let first = *cursor;
                let count = list_levels(&mut written, ends.get(rows.clone()).unwrap_or_default(), cursor);
                (BYTE_ARRAY, count, texts(strings, first..*cursor))
            }
        };
        Self { kind, count, levels: written, values }
    }
}

fn texts(strings: &Strings, range: Range<usize>) -> Encoded {
    if let Some(dictionary) = Dictionary::of(range.clone().map(|index| strings.get(index))) {
        return Encoded::Dictionary(dictionary);
    }
    let mut plain = Vec::new();
    strings.range(range).for_each(|text| plain_text(&mut plain, text));
    Encoded::Plain(plain)
}

/// Repetition levels (0 starts a row) and definition levels (0 is an empty list); returns their number.
fn list_levels(out: &mut Vec<u8>, ends: &[usize], cursor: &mut usize) -> usize {
    let (mut repetition, mut definition) = (Vec::new(), Vec::new());
    for end in ends {
        let length = end.saturating_sub(*cursor);
        *cursor = *end;
        repetition.push(0);
        definition.push(u32::from(length > 0));
        for _ in 1..length {
            repetition.push(1);
            definition.push(1);
        }
    }
    levels(out, &repetition);
    levels(out, &definition);
    repetition.len()
}

/// Appends the pages of a column, and returns its metadata for the footer.
fn column_chunk(out: &mut Vec<u8>, column: &Column, values: Values) -> Struct {
    let Values { kind, count, levels, values } = values;
    let start = out.len();
    let (encoding, body, dictionary) = match values {
        Encoded::Plain(body) => (PLAIN, body, None),
        Encoded::Dictionary(dictionary) => {
            let header = Struct::new().size32(1, dictionary.entries).int32(2, PLAIN);
            page(out, DICTIONARY_PAGE, 7, header, &[&dictionary.page]);
            (RLE_DICTIONARY, dictionary.indices, Some(start))
        }
    };
    let data = out.len();
    let header = Struct::new().size32(1, count).int32(2, encoding).int32(3, RLE).int32(4, RLE);
    page(out, DATA_PAGE, 5, header, &[&levels, &body]);
    let path: &[&str] =
        if column.kind == ColumnType::Texts { &[column.name, "list", "element"] } else { &[column.name] };
    let encodings: &[i32] = if dictionary.is_some() { &[PLAIN, RLE, RLE_DICTIONARY] } else { &[PLAIN, RLE] };
    let size = out.len() - start;
    let meta = Struct::new()
        .int32(1, kind)
        .int32s(2, encodings)
        .texts(3, path)
        .int32(4, 0)
        .size64(5, count)
        .size64(6, size)
        .size64(7, size)
        .size64(9, data);
    let meta = match dictionary {
        Some(start) => meta.size64(11, start),
        None => meta,
    };
    Struct::new().size64(2, start).inner(3, meta)
}

fn page(out: &mut Vec<u8>, kind: i32, field: u8, header: Struct, parts: &[&[u8]]) {
    let size: usize = parts.iter().map(|part| part.len()).sum();
    let header = Struct::new().int32(1, kind).size32(2, size).size32(3, size).inner(field, header);
    out.extend_from_slice(&header.finish());
    parts.iter().for_each(|part| out.extend_from_slice(part));
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{EdgeRow, NodeRow};

    #[test]
    fn a_table_without_rows_is_a_file_with_a_footer() {
        let bytes = write(&Table::of::<NodeRow<'_>>());
        assert_eq!((&bytes[..4], &bytes[bytes.len() - 4..]), (MAGIC, MAGIC));
        let length = u32::from_le_bytes(bytes[bytes.len() - 8..bytes.len() - 4].try_into().unwrap());
        assert_eq!(length as usize, bytes.len() - 12);
    }

    #[test]
    fn lists_have_one_level_for_each_value_and_one_for_each_empty_list() {
        let mut out = Vec::new();
        let mut cursor = 0;
        assert_eq!(list_levels(&mut out, &[2, 2, 3], &mut cursor), 4);
        assert_eq!(cursor, 3);
        // Two runs of one group each: repetition 0100 (a and b in one row, then an empty list, then c), definition 1101.
        assert_eq!(out, [2, 0, 0, 0, 3, 0b0010, 2, 0, 0, 0, 3, 0b1011]);
    }

    /// `check.py` verifies the output with other programs; between those runs, this test detects changes.
    #[test]
    fn the_same_rows_give_the_same_bytes() {
        let table = || {
            let mut table = Table::of::<EdgeRow<'_>>();
            for index in 0..ROWS_IN_GROUP + 10 {
                let source = format!("src/{}.ts", index / 7);
                let names: &[&str] = if index % 3 == 0 { &["a", "b"] } else { &[] };
                table.push(&EdgeRow {
                    source: &source,
                    target: "src/x.ts",
                    kind: "runtime",
                    resolution: "explicit",
                    names,
                });
            }
            write(&table)
        };
        let bytes = table();
        assert_eq!(bytes, table());
        assert!(bytes.len() < 600_000, "dictionaries and runs make it small: {}", bytes.len());
    }
}
