//! Tables of graphs for query engines: rows in, bytes of NDJSON or Parquet out. Pure: where the files lie and when they are
//! written is the engine's business, and nothing here knows what a repository is.
//!
//! The same rows give the same bytes, so that a dataset can be compared and cached by its contents.

mod ndjson;
mod parquet;
mod rows;
mod schema;
mod table;

pub use rows::{DeclarationRow, EdgeRow, ExportRow, NodeRow, PackageRow};
pub use schema::{
    Column, ColumnType, DECLARATIONS, EDGES, EXPORTS, NODES, PACKAGES, SCHEMA_VERSION, TABLES, TableSchema,
};
pub use table::{Row, Table, Value};

/// How tables are written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DatasetFormat {
    /// One JSON object on each line.
    Ndjson,
    /// Apache Parquet, uncompressed, with dictionaries where they save space.
    Parquet,
}

impl DatasetFormat {
    /// The name that people type, and the ending of the files.
    pub fn name(self) -> &'static str {
        match self {
            Self::Ndjson => "ndjson",
            Self::Parquet => "parquet",
        }
    }

    /// The bytes of a table.
    pub fn write(self, table: &Table) -> Vec<u8> {
        match self {
            Self::Ndjson => ndjson::write(table),
            Self::Parquet => parquet::write(table),
        }
    }
}
