//! The tables and their columns. A released table is append-only: a new column is added at the end and increments
//! [`SCHEMA_VERSION`]; a column never changes its name, type or meaning. `docs/guide-fleet.md` promises this to users, and a test
//! compares the two.

/// Incremented whenever a table or a column is added.
pub const SCHEMA_VERSION: u32 = 1;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ColumnType {
    Text,
    /// Text or null.
    MaybeText,
    /// A 64-bit integer.
    Number,
    /// A 64-bit integer or null.
    MaybeNumber,
    Flag,
    /// A list of texts, never null.
    Texts,
}

impl ColumnType {
    /// The SQL type, also used in the documentation.
    pub fn sql(self) -> &'static str {
        match self {
            Self::Text => "VARCHAR NOT NULL",
            Self::MaybeText => "VARCHAR",
            Self::Number => "BIGINT NOT NULL",
            Self::MaybeNumber => "BIGINT",
            Self::Flag => "BOOLEAN NOT NULL",
            Self::Texts => "VARCHAR[] NOT NULL",
        }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Column {
    pub name: &'static str,
    pub kind: ColumnType,
    /// What a query author needs to know.
    pub about: &'static str,
}

#[derive(Debug, PartialEq, Eq)]
pub struct TableSchema {
    /// Also the name of the table's folder.
    pub name: &'static str,
    pub about: &'static str,
    pub columns: &'static [Column],
}

const fn column(name: &'static str, kind: ColumnType, about: &'static str) -> Column {
    Column { name, kind, about }
}

use ColumnType::{Flag, MaybeNumber, MaybeText, Number, Text, Texts};

/// All tables, in the order in which they are written.
pub const TABLES: [&TableSchema; 5] = [&NODES, &EDGES, &DECLARATIONS, &EXPORTS, &PACKAGES];

pub static NODES: TableSchema = TableSchema {
    name: "nodes",
    about: "files of the repository, and what they depend on",
    columns: &[
        column("id", Text, "path from the root, name of a builtin, or spelling of a missing module; unique"),
        column("kind", Text, "source, external, builtin or missing"),
        column("language", Text, "ts, js, json, md, py, go, rs or other"),
        column("folder", Text, "path of the folder of a source file; empty for the root and for everything else"),
        column("size", MaybeNumber, "bytes; null for what is not a readable file"),
        column("sha256", MaybeText, "of the bytes, in hexadecimal"),
        column("tokens", MaybeNumber, "of code files of the repository, by the tokenizer of the export"),
        column("description", MaybeText, "one line about the module, from its doc comment"),
        column("is_test", Flag, "whether the path is that of a test"),
        column("ecosystem", MaybeText, "npm, pypi, go or crates for files and modules of packages"),
        column("package", MaybeText, "name of the package that an external or missing node belongs to"),
        column("version", MaybeText, "its installed version"),
    ],
};

pub static EDGES: TableSchema = TableSchema {
    name: "edges",
    about: "dependencies between nodes",
    columns: &[
        column("source", Text, "nodes.id of the dependent"),
        column("target", Text, "nodes.id of what it depends on"),
        column("kind", Text, "runtime, type or dynamic"),
        column(
            "resolution",
            Text,
            "explicit: the file says so; implicit: found through barrels, declarations or names",
        ),
        column("names", Texts, "names that the source takes from the target; empty when none are known"),
    ],
};

pub static DECLARATIONS: TableSchema = TableSchema {
    name: "declarations",
    about: "declarations of source files, members included",
    columns: &[
        column("file", Text, "nodes.id"),
        column("name", Text, "names from the outermost declaration to this one, joined by dots"),
        column("kind", Text, "function, class, interface, type, method and so on"),
        column("exported", Flag, "visible outside the file, or outside the declaration around it"),
        column("depth", Number, "0 at module level, 1 for members and so on"),
        column("start_line", Number, "from 1"),
        column("end_line", Number, "the last line"),
    ],
};

pub static EXPORTS: TableSchema = TableSchema {
    name: "exports",
    about: "names that source files offer",
    columns: &[
        column("file", Text, "nodes.id"),
        column("name", Text, "default for a default export; * for everything of another module"),
        column("origin", Text, "local, or reexport for what another module declares"),
        column("request", MaybeText, "the module that a re-export names, as it is written"),
    ],
};

pub static PACKAGES: TableSchema = TableSchema {
    name: "packages",
    about: "packages that the repository uses, and those that it is made of",
    columns: &[
        column("name", Text, "name of the package or module"),
        column("version", MaybeText, "installed version, or the version in the manifest for own packages"),
        column("ecosystem", MaybeText, "npm, pypi, go or crates; null when it is unknown"),
        column("role", Text, "used or own"),
        column("folder", MaybeText, "of the manifest of an own package"),
        column("files", Number, "source files that depend on it, or that lie in its folder"),
    ],
};

#[cfg(test)]
mod tests {
    use super::*;
    use stan_model::{Ecosystem, Language};

    fn about(table: &TableSchema, name: &str) -> &'static str {
        table.columns.iter().find(|column| column.name == name).map_or("", |column| column.about)
    }

    fn listed(names: &[&str]) -> String {
        let (last, first) = names.split_last().expect("there are some");
        format!("{} or {last}", first.join(", "))
    }

    #[test]
    fn columns_list_every_language_and_every_registry() {
        assert_eq!(about(&NODES, "language"), listed(&Language::ALL.map(Language::as_str)));
        let registries = listed(&Ecosystem::REGISTRIES.map(Ecosystem::folder));
        for table in [&NODES, &PACKAGES] {
            assert!(about(table, "ecosystem").starts_with(&registries), "{}: {registries}", table.name);
        }
    }
}
