//! Tables of graphs for query engines: rows in, bytes of NDJSON or Parquet out. Pure: the engine decides where and when files are
//! written, and nothing here knows repositories.
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

/// The format of tables.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DatasetFormat {
    /// One JSON object per line.
    Ndjson,
    /// Apache Parquet, uncompressed, with dictionaries where they save space.
    Parquet,
}

impl DatasetFormat {
    /// The name on the command line, and the file extension.
    pub fn name(self) -> &'static str {
        match self {
            Self::Ndjson => "ndjson",
            Self::Parquet => "parquet",
        }
    }

    pub fn write(self, table: &Table) -> Vec<u8> {
        match self {
            Self::Ndjson => ndjson::write(table),
            Self::Parquet => parquet::write(table),
        }
    }
}
