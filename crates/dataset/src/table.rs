//! Collects rows by column. The texts of a column share one buffer: a table of a million rows needs only a few allocations.

use std::ops::Range;

use crate::schema::{ColumnType, TableSchema};

/// One value of a row.
#[derive(Clone, Copy, Debug)]
pub enum Value<'v> {
    Text(&'v str),
    MaybeText(Option<&'v str>),
    Number(u64),
    MaybeNumber(Option<u64>),
    Flag(bool),
    Texts(&'v [&'v str]),
}

/// A row that can be pushed into a table.
pub trait Row {
    const SCHEMA: &'static TableSchema;

    /// Calls `take` with a value for each column, in schema order.
    fn each(&self, take: &mut dyn FnMut(Value<'_>));
}

/// The rows of one table.
#[derive(Clone, Debug)]
pub struct Table {
    schema: &'static TableSchema,
    columns: Vec<ColumnData>,
    rows: usize,
}

impl Table {
    pub fn new(schema: &'static TableSchema) -> Self {
        let columns = schema.columns.iter().map(|column| ColumnData::new(column.kind)).collect();
        Self { schema, columns, rows: 0 }
    }

    /// An empty table for rows of this type.
    pub fn of<R: Row>() -> Self {
        Self::new(R::SCHEMA)
    }

    pub fn push<R: Row>(&mut self, row: &R) {
        debug_assert_eq!(R::SCHEMA.name, self.schema.name, "a row of this table");
        let mut columns = self.columns.iter_mut();
        row.each(&mut |value| {
            if let Some(column) = columns.next() {
                column.push(value);
            }
        });
        self.rows += 1;
    }

    pub fn schema(&self) -> &'static TableSchema {
        self.schema
    }

    pub fn rows(&self) -> usize {
        self.rows
    }

    pub(crate) fn columns(&self) -> &[ColumnData] {
        &self.columns
    }

    /// Whether every column has a value for every row.
    #[cfg(test)]
    pub(crate) fn is_whole(&self) -> bool {
        self.columns.iter().all(|column| column.len() == self.rows)
    }
}

/// The values of one column.
#[derive(Clone, Debug)]
pub(crate) enum ColumnData {
    Text(Strings),
    /// Whether each row has a text, and the texts.
    MaybeText(Vec<bool>, Strings),
    Number(Vec<u64>),
    MaybeNumber(Vec<bool>, Vec<u64>),
    Flag(Vec<bool>),
    /// The end of each row's texts, and the texts.
    Texts(Vec<usize>, Strings),
}

impl ColumnData {
    fn new(kind: ColumnType) -> Self {
        match kind {
            ColumnType::Text => Self::Text(Strings::default()),
            ColumnType::MaybeText => Self::MaybeText(Vec::new(), Strings::default()),
            ColumnType::Number => Self::Number(Vec::new()),
            ColumnType::MaybeNumber => Self::MaybeNumber(Vec::new(), Vec::new()),
            ColumnType::Flag => Self::Flag(Vec::new()),
            ColumnType::Texts => Self::Texts(Vec::new(), Strings::default()),
        }
    }

    fn push(&mut self, value: Value<'_>) {
        match (self, value) {
            (Self::Text(texts), Value::Text(text)) => texts.push(text),
            (Self::MaybeText(present, texts), Value::MaybeText(text)) => {
                present.push(text.is_some());
                text.into_iter().for_each(|text| texts.push(text));
            }
            (Self::Number(numbers), Value::Number(number)) => numbers.push(number),
            (Self::MaybeNumber(present, numbers), Value::MaybeNumber(number)) => {
                present.push(number.is_some());
                numbers.extend(number);
            }
            (Self::Flag(flags), Value::Flag(flag)) => flags.push(flag),
            (Self::Texts(ends, texts), Value::Texts(values)) => {
                values.iter().for_each(|text| texts.push(text));
                ends.push(texts.len());
            }
            // Unreachable: a test compares the row types with the schema.
            (column, value) => debug_assert!(false, "{value:?} does not belong into {column:?}"),
        }
    }

    #[cfg(test)]
    fn len(&self) -> usize {
        match self {
            Self::Text(texts) => texts.len(),
            Self::MaybeText(present, _) | Self::MaybeNumber(present, _) => present.len(),
            Self::Number(numbers) => numbers.len(),
            Self::Flag(flags) => flags.len(),
            Self::Texts(ends, _) => ends.len(),
        }
    }
}

/// Texts in one buffer.
#[derive(Clone, Debug, Default)]
pub(crate) struct Strings {
    bytes: String,
    ends: Vec<usize>,
}

impl Strings {
    fn push(&mut self, text: &str) {
        self.bytes.push_str(text);
        self.ends.push(self.bytes.len());
    }

    pub(crate) fn len(&self) -> usize {
        self.ends.len()
    }

    /// The text with this index; empty if out of range.
    pub(crate) fn get(&self, index: usize) -> &str {
        let start = index.checked_sub(1).and_then(|before| self.ends.get(before).copied()).unwrap_or(0);
        self.ends.get(index).and_then(|end| self.bytes.get(start..*end)).unwrap_or_default()
    }

    pub(crate) fn range(&self, range: Range<usize>) -> impl Iterator<Item = &str> {
        range.map(|index| self.get(index))
    }
}
