//! A module as a tree of declarations, independent of the language: what a slicer needs, and no more.
//!
//! A language's reader builds it in canonical order and records the position of everything in the file. It is not an AST:
//! expressions stay JSON values of the source, and only the roles of fields are known.

use std::borrow::Cow;

use crate::json::{JsonTree, NodeId};

/// One module in canonical order, with the positions to map it back to the file as written.
pub struct SourceModule<'a> {
    pub tree: JsonTree<'a>,
    /// Text fields that every slice repeats, such as the schema version.
    pub fixed: Vec<(&'static str, Cow<'a, str>)>,
    /// The document kind of the whole document.
    pub kind: &'static str,
    /// The document kind of a slice that is not the whole document.
    pub fragment_kind: &'static str,
    /// Sorted by bytes, without duplicates.
    pub imports: Vec<Cow<'a, str>>,
    /// For each import in the file, its index in `imports`.
    pub import_positions: Vec<usize>,
    pub declarations: Vec<Declaration<'a>>,
    /// For each declaration in the file, its index in `declarations`, if it has one.
    pub declaration_positions: Vec<Option<usize>>,
    /// The expression outside of all declarations.
    pub entry: Option<NodeId>,
    /// Whether a document of this kind has an entry expression.
    pub kind_has_entry: bool,
    /// Free data about the document; never empty.
    pub metadata: Option<NodeId>,
}

/// One declaration.
pub struct Declaration<'a> {
    pub kind: &'static str,
    pub name: Option<Cow<'a, str>>,
    /// Other code refers to it by name.
    pub is_callable: bool,
    /// Counts as a definition for `--enclosure defn`.
    pub is_definition: bool,
    /// Left out of the canonical document; exists only for pointers into it.
    pub only_in_focus: bool,
    /// The exported names, if the declaration is only an export list.
    pub exports: Option<Box<ExportList<'a>>>,
    /// Sorted by key, without the exported names.
    pub fields: Vec<Field<'a>>,
    /// Reported as missing when the type fields are left out.
    pub type_labels: Vec<Cow<'a, str>>,
}

/// The names of an export list.
pub struct ExportList<'a> {
    /// Sorted by bytes, without duplicates.
    pub names: Vec<Cow<'a, str>>,
    /// For each name in the file, its index in `names`.
    pub positions: Vec<usize>,
}

/// The role of a declaration's field.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FieldRole {
    /// Never left out.
    Plain,
    /// Left out with the types.
    Type,
    /// A contract that may be cut to save bytes. Left out with the types; contains expressions.
    Clause,
    /// As `Clause`, but never cut to save bytes.
    Contract,
    /// The expression that may be pruned, or replaced by 0.
    Body,
}

impl FieldRole {
    /// Whether it is a contract of either kind.
    pub fn is_contract(self) -> bool {
        matches!(self, Self::Clause | Self::Contract)
    }

    /// Whether the field contains expressions, and so references.
    pub fn has_expressions(self) -> bool {
        self.is_contract() || self == Self::Body
    }
}

/// A key with its value.
pub struct Field<'a> {
    pub key: &'static str,
    pub role: FieldRole,
    pub value: Piece<'a>,
}

impl<'a> Field<'a> {
    pub fn new(key: &'static str, role: FieldRole, value: Piece<'a>) -> Self {
        Self { key, role, value }
    }

    pub fn plain(key: &'static str, value: Piece<'a>) -> Self {
        Self::new(key, FieldRole::Plain, value)
    }
}

/// A value to write: parts of the source, and new structure around them.
pub enum Piece<'a> {
    /// A value of the source. Inside contracts and bodies it is an expression.
    Node(NodeId),
    Text(Cow<'a, str>),
    /// The placeholder of an expression that was cut.
    Zero,
    List(Vec<Piece<'a>>),
    /// An expression made of pieces: a pruned list.
    Call(Vec<Piece<'a>>),
    /// Sorted by key.
    Record(Vec<Field<'a>>),
    /// A JSON Pointer into the declaration that contains it: the part after the declaration's own pointer.
    OwnPointer(Cow<'a, str>),
}

impl<'a> Piece<'a> {
    /// A record with its fields sorted. Keys are ASCII, so byte order equals UTF-16 order.
    pub fn record(mut fields: Vec<Field<'a>>) -> Self {
        fields.sort_by_key(|field| field.key);
        Self::Record(fields)
    }
}

/// The names of a document's parts.
pub struct DocumentKeys {
    pub kind: &'static str,
    pub imports: &'static str,
    pub declarations: &'static str,
    pub entry: &'static str,
    pub metadata: &'static str,
    pub exported_names: &'static str,
}

/// How a list expression may be pruned without changing its form.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FormShape {
    /// Everything after the path may be cut.
    Open,
    /// The number of arguments is significant. The first `binders` are names that must stay.
    Fixed { binders: usize },
    /// The arguments after the first are branches that bind names: each stays, with its result replaced.
    Branches,
    /// Never pruned.
    Literal,
}

/// The properties of a language's expressions that the slicing algorithm needs.
pub trait Dialect {
    fn keys(&self) -> &'static DocumentKeys;

    /// Calls `found` with every symbol that an expression refers to; may repeat symbols.
    fn references(&self, tree: &JsonTree<'_>, expression: NodeId, found: &mut dyn FnMut(&str));

    /// The symbol that a list refers to by its head.
    fn head_reference<'t>(&self, head: &'t str) -> Option<&'t str>;

    /// The module that a symbol must be imported from.
    fn module_of<'t>(&self, symbol: &'t str) -> Option<&'t str>;

    fn shape(&self, head: &str) -> FormShape;
}
