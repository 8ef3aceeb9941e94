//! One JSON object per line, with keys in column order. Nulls are written, so that every line has every key.

use std::io::Write as _;

use stan_model::untrusted::write_json_string;

use crate::table::{ColumnData, Strings, Table};

/// The position in columns that do not have exactly one value per row.
#[derive(Clone, Copy, Default)]
struct Cursor(usize);

pub(crate) fn write(table: &Table) -> Vec<u8> {
    let mut out = Vec::new();
    let mut cursors = vec![Cursor::default(); table.columns().len()];
    for row in 0..table.rows() {
        let columns = table.schema().columns.iter().zip(table.columns()).zip(&mut cursors);
        for (index, ((column, data), cursor)) in columns.enumerate() {
            out.extend_from_slice(if index == 0 { b"{\"" } else { b",\"" });
            out.extend_from_slice(column.name.as_bytes());
            out.extend_from_slice(b"\":");
            value(&mut out, data, row, cursor);
        }
        out.extend_from_slice(b"}\n");
    }
    out
}

fn value(out: &mut Vec<u8>, data: &ColumnData, row: usize, cursor: &mut Cursor) {
    match data {
        ColumnData::Text(texts) => string(out, texts.get(row)),
        ColumnData::MaybeText(present, texts) => match next_present(present, row, cursor) {
            Some(index) => string(out, texts.get(index)),
            None => out.extend_from_slice(b"null"),
        },
        ColumnData::Number(numbers) => number(out, numbers.get(row)),
        ColumnData::MaybeNumber(present, numbers) => {
            number(out, next_present(present, row, cursor).and_then(|index| numbers.get(index)));
        }
        ColumnData::Flag(flags) => {
            out.extend_from_slice(if flags.get(row) == Some(&true) { b"true" } else { b"false" });
        }
        ColumnData::Texts(ends, texts) => {
            let end = ends.get(row).copied().unwrap_or(cursor.0);
            list(out, texts, cursor.0..end);
            cursor.0 = end;
        }
    }
}

/// The index of the row's value among the values that are present.
fn next_present(present: &[bool], row: usize, cursor: &mut Cursor) -> Option<usize> {
    let index = cursor.0;
    let is_there = present.get(row) == Some(&true);
    cursor.0 += usize::from(is_there);
    is_there.then_some(index)
}

fn list(out: &mut Vec<u8>, texts: &Strings, range: std::ops::Range<usize>) {
    out.push(b'[');
    for (index, text) in texts.range(range).enumerate() {
        if index > 0 {
            out.push(b',');
        }
        string(out, text);
    }
    out.push(b']');
}

fn number(out: &mut Vec<u8>, number: Option<&u64>) {
    // Writing to memory cannot fail.
    let _ = match number {
        Some(number) => write!(out, "{number}"),
        None => out.write_all(b"null"),
    };
}

fn string(out: &mut Vec<u8>, text: &str) {
    write_json_string(text, out);
}

#[cfg(test)]
mod tests {
    use crate::{DatasetFormat, EdgeRow, NodeRow, Table};

    #[test]
    fn lines_are_objects_with_every_key() {
        let mut nodes = Table::of::<NodeRow<'_>>();
        nodes.push(&NodeRow { id: "a\"\n\u{202e}.ts", kind: "source", size: Some(3), ..NodeRow::default() });
        nodes.push(&NodeRow { id: "b", kind: "missing", package: Some("b"), ..NodeRow::default() });
        let text = String::from_utf8(DatasetFormat::Ndjson.write(&nodes)).unwrap();
        let lines: Vec<serde_json::Value> = text.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
        assert_eq!(lines[0]["id"], "a\"\n\u{202e}.ts");
        assert!(text.is_ascii(), "hidden characters are escaped: {text}");
        assert_eq!((&lines[0]["size"], &lines[1]["size"]), (&3.into(), &serde_json::Value::Null));
        assert_eq!((&lines[0]["package"], &lines[1]["package"]), (&serde_json::Value::Null, &"b".into()));
        assert_eq!(lines[1].as_object().unwrap().len(), crate::NODES.columns.len());
    }

    #[test]
    fn lists_keep_their_rows() {
        let mut edges = Table::of::<EdgeRow<'_>>();
        for names in [&["a", "b"][..], &[], &["c"]] {
            edges.push(&EdgeRow { names, ..EdgeRow::default() });
        }
        let text = String::from_utf8(DatasetFormat::Ndjson.write(&edges)).unwrap();
        let names: Vec<&str> = text.lines().map(|line| line.split_once("\"names\":").unwrap().1).collect();
        assert_eq!(names, ["[\"a\",\"b\"]}", "[]}", "[\"c\"]}"]);
    }
}
