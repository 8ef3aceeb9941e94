//! One row type per table, so that the compiler checks that every column has a value. The order is that of `schema`.

use crate::schema::{DECLARATIONS, EDGES, EXPORTS, NODES, PACKAGES, TableSchema};
use crate::table::{Row, Value};

/// A row of `nodes`.
#[derive(Clone, Debug, Default)]
pub struct NodeRow<'r> {
    pub id: &'r str,
    pub kind: &'r str,
    pub language: &'r str,
    pub folder: &'r str,
    pub size: Option<u64>,
    pub sha256: Option<String>,
    pub tokens: Option<u64>,
    pub description: Option<&'r str>,
    pub is_test: bool,
    pub ecosystem: Option<&'r str>,
    pub package: Option<&'r str>,
    pub version: Option<&'r str>,
}

impl Row for NodeRow<'_> {
    const SCHEMA: &'static TableSchema = &NODES;

    fn each(&self, take: &mut dyn FnMut(Value<'_>)) {
        take(Value::Text(self.id));
        take(Value::Text(self.kind));
        take(Value::Text(self.language));
        take(Value::Text(self.folder));
        take(Value::MaybeNumber(self.size));
        take(Value::MaybeText(self.sha256.as_deref()));
        take(Value::MaybeNumber(self.tokens));
        take(Value::MaybeText(self.description));
        take(Value::Flag(self.is_test));
        take(Value::MaybeText(self.ecosystem));
        take(Value::MaybeText(self.package));
        take(Value::MaybeText(self.version));
    }
}

/// A row of `edges`.
#[derive(Clone, Debug, Default)]
pub struct EdgeRow<'r> {
    pub source: &'r str,
    pub target: &'r str,
    pub kind: &'r str,
    pub resolution: &'r str,
    pub names: &'r [&'r str],
}

impl Row for EdgeRow<'_> {
    const SCHEMA: &'static TableSchema = &EDGES;

    fn each(&self, take: &mut dyn FnMut(Value<'_>)) {
        take(Value::Text(self.source));
        take(Value::Text(self.target));
        take(Value::Text(self.kind));
        take(Value::Text(self.resolution));
        take(Value::Texts(self.names));
    }
}

/// A row of `declarations`.
#[derive(Clone, Debug, Default)]
pub struct DeclarationRow<'r> {
    pub file: &'r str,
    pub name: &'r str,
    pub kind: &'r str,
    pub exported: bool,
    pub depth: u64,
    pub start_line: u64,
    pub end_line: u64,
}

impl Row for DeclarationRow<'_> {
    const SCHEMA: &'static TableSchema = &DECLARATIONS;

    fn each(&self, take: &mut dyn FnMut(Value<'_>)) {
        take(Value::Text(self.file));
        take(Value::Text(self.name));
        take(Value::Text(self.kind));
        take(Value::Flag(self.exported));
        take(Value::Number(self.depth));
        take(Value::Number(self.start_line));
        take(Value::Number(self.end_line));
    }
}

/// A row of `exports`.
#[derive(Clone, Debug, Default)]
pub struct ExportRow<'r> {
    pub file: &'r str,
    pub name: &'r str,
    pub origin: &'r str,
    pub request: Option<&'r str>,
}

impl Row for ExportRow<'_> {
    const SCHEMA: &'static TableSchema = &EXPORTS;

    fn each(&self, take: &mut dyn FnMut(Value<'_>)) {
        take(Value::Text(self.file));
        take(Value::Text(self.name));
        take(Value::Text(self.origin));
        take(Value::MaybeText(self.request));
    }
}

/// A row of `packages`.
#[derive(Clone, Debug, Default)]
pub struct PackageRow<'r> {
    pub name: &'r str,
    pub version: Option<&'r str>,
    pub ecosystem: Option<&'r str>,
    pub role: &'r str,
    pub folder: Option<&'r str>,
    pub files: u64,
}

impl Row for PackageRow<'_> {
    const SCHEMA: &'static TableSchema = &PACKAGES;

    fn each(&self, take: &mut dyn FnMut(Value<'_>)) {
        take(Value::Text(self.name));
        take(Value::MaybeText(self.version));
        take(Value::MaybeText(self.ecosystem));
        take(Value::Text(self.role));
        take(Value::MaybeText(self.folder));
        take(Value::Number(self.files));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::table::Table;

    /// A value of the wrong type would be lost silently, so push a row of every type and count the values.
    fn fits<R: Row>(row: &R) {
        let mut table = Table::new(R::SCHEMA);
        table.push(row);
        assert_eq!(table.rows(), 1);
        assert!(table.is_whole(), "{} has a value for each column, of its type", R::SCHEMA.name);
    }

    #[test]
    fn rows_fit_their_tables() {
        fits(&NodeRow::default());
        fits(&EdgeRow::default());
        fits(&DeclarationRow::default());
        fits(&ExportRow::default());
        fits(&PackageRow::default());
    }
}
