//! Name resolution within one file: symbols and their declarations, their written types, and every use of a name or member. Plain
//! data without references to a syntax tree.
//!
//! No type is inferred. A [`Recipe`] says how to find the members of an expression, and is only evaluated on request; evaluating
//! it across files is `stan-pack`'s job.

use serde::{Deserialize, Serialize};

use crate::outline::{Outline, Span, UnitId};

macro_rules! ids {
    ($($(#[$doc:meta])* $name:ident),+ $(,)?) => {$(
        $(#[$doc])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
        pub struct $name(pub u32);
    )+};
}

ids! {
    /// Index into [`FileNames::symbols`].
    SymbolId,
    /// Index into [`FileNames::declarations`].
    DeclarationId,
    /// Index into [`FileNames::shapes`].
    ShapeId,
    /// Index into [`FileNames::signatures`].
    SignatureId,
    /// Index into [`FileNames::recipes`].
    RecipeId,
    /// Index into [`FileNames::imports`].
    ImportId,
}

impl RecipeId {
    /// The recipe that finds nothing; always at index 0.
    pub const UNKNOWN: Self = Self(0);
}

/// The outline of one file, and the names in it.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct FileUnits {
    pub outline: Outline,
    pub names: FileNames,
}

/// The names of one file.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct FileNames {
    pub symbols: Vec<Symbol>,
    pub declarations: Vec<Declaration>,
    pub shapes: Vec<Shape>,
    pub signatures: Vec<Signature>,
    pub recipes: Vec<Recipe>,
    pub imports: Vec<Import>,
    /// Exported name → symbol, sorted by name. `default` and `export=` as in [`crate::FileFacts`].
    pub exports: Vec<(Box<str>, SymbolId)>,
    /// The type parameters of classes, interfaces, aliases and functions, ascending by declaration; only for those that have
    /// some.
    pub parameters: Vec<(DeclarationId, Vec<SymbolId>)>,
    /// Specifiers of `export * from`.
    pub stars: Vec<Box<str>>,
    /// Statements at module level that are not units: imports, export lists, calls. Ascending.
    pub statements: Vec<Span>,
    /// Ascending by position.
    pub uses: Vec<Use>,
}

impl Default for FileNames {
    fn default() -> Self {
        Self {
            symbols: Vec::new(),
            declarations: Vec::new(),
            shapes: Vec::new(),
            signatures: Vec::new(),
            recipes: vec![Recipe::Unknown],
            imports: Vec::new(),
            exports: Vec::new(),
            parameters: Vec::new(),
            stars: Vec::new(),
            statements: Vec::new(),
            uses: Vec::new(),
        }
    }
}

/// A name in a scope, with all declarations that are merged under it: overloads, an interface and a constant.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Symbol {
    pub name: Box<str>,
    pub declarations: Vec<DeclarationId>,
}

/// One declaration of a name, at module level or inside a function, class, interface or literal.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Declaration {
    pub name: Box<str>,
    /// The span of the name.
    pub span: Span,
    pub line: u32,
    /// The unit declared here, or the innermost unit around it.
    pub unit: Option<UnitId>,
    pub meaning: Meaning,
}

/// The meaning of a declared name.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Meaning {
    /// A class, interface, enum or namespace.
    Shape(ShapeId),
    /// A type alias.
    Alias(RecipeId),
    /// A type parameter with its constraint.
    TypeParameter(RecipeId),
    /// A variable, parameter, property, function or method: its type, and its signature when it is a function.
    Value {
        ty: RecipeId,
        signature: Option<SignatureId>,
    },
    Import(ImportId),
    /// An alias of a symbol of this file.
    Same(SymbolId),
}

/// A binding to something in another module.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Import {
    pub specifier: Box<str>,
    pub name: Imported,
    /// The whole statement.
    pub statement: Span,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Imported {
    /// An export by name, including `default`.
    Name(Box<str>),
    /// `* as x`.
    Namespace,
    /// `import x = require('x')`, `require('x')`: the value behind `export =`, or the namespace.
    Whole,
}

/// Something with members: a class, interface, enum, namespace, or an object or type literal.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Shape {
    pub kind: ShapeKind,
    /// The unit that declares it; `None` for literals.
    pub unit: Option<UnitId>,
    /// Other shapes of this symbol are merged with this shape.
    pub symbol: Option<SymbolId>,
    /// Sorted by name.
    pub members: Vec<Member>,
    pub calls: Vec<SignatureId>,
    pub constructs: Vec<SignatureId>,
    /// Value expressions: `class A extends …`, and `{...x}` in object literals.
    pub extends: Vec<RecipeId>,
    /// Types: `interface A extends …`, `class A implements …`.
    pub bases: Vec<RecipeId>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum ShapeKind {
    Class,
    Interface,
    Enum,
    Namespace,
    TypeLiteral,
    ObjectLiteral,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Member {
    pub name: Box<str>,
    pub declaration: DeclarationId,
    pub is_static: bool,
}

/// The written types of a function: of its parameters in order, and of its result.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Signature {
    pub parameters: Vec<RecipeId>,
    pub result: Option<RecipeId>,
}

/// A recipe to find the type or value whose members an expression or type has.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Recipe {
    /// No type is written.
    Unknown,
    /// The value of a name.
    Value(SymbolId),
    /// A type by its name.
    Type {
        symbol: SymbolId,
        arguments: Vec<RecipeId>,
    },
    /// A type that the file does not declare: from the standard library, or ambient.
    Global {
        name: Box<str>,
        arguments: Vec<RecipeId>,
    },
    /// A type inside a namespace or module: `base.name`.
    TypeMember {
        base: RecipeId,
        name: Box<str>,
        arguments: Vec<RecipeId>,
    },
    /// The instance of a class or interface, or a literal: `this`, `{a: 1}`.
    Instance(ShapeId),
    /// The class, enum or namespace itself.
    Static(ShapeId),
    /// `super`.
    Base(ShapeId),
    /// The value of a member.
    Member(RecipeId, Box<str>),
    /// An element of a list, set or map.
    Element(RecipeId),
    /// A list of such elements.
    List(RecipeId),
    /// A promise; awaiting it gives this.
    Promise(RecipeId),
    /// The result of a call.
    Call(RecipeId),
    New(RecipeId),
    Await(RecipeId),
    /// Alternatives: unions, intersections, branches.
    Any(Vec<RecipeId>),
    Function(SignatureId),
    /// The type that a callee expects for its n-th argument.
    Argument(RecipeId, u32),
    /// The type of the n-th parameter of a function type.
    Parameter(RecipeId, u32),
    /// The properties of a JSX element.
    Props(RecipeId),
}

/// Whether a name is used as a type or as a value.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub enum Space {
    Value,
    Type,
}

/// A use of a name or member.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Use {
    pub at: u32,
    pub line: u32,
    pub space: Space,
    pub what: Used,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Used {
    Name(SymbolId),
    /// A member of what the recipe evaluates to.
    Member(RecipeId, Box<str>),
    /// A name not declared in the file.
    Global(Box<str>),
}

impl FileNames {
    pub fn symbol(&self, id: SymbolId) -> Option<&Symbol> {
        self.symbols.get(id.0 as usize)
    }

    pub fn declaration(&self, id: DeclarationId) -> Option<&Declaration> {
        self.declarations.get(id.0 as usize)
    }

    pub fn shape(&self, id: ShapeId) -> Option<&Shape> {
        self.shapes.get(id.0 as usize)
    }

    pub fn signature(&self, id: SignatureId) -> Option<&Signature> {
        self.signatures.get(id.0 as usize)
    }

    pub fn recipe(&self, id: RecipeId) -> &Recipe {
        self.recipes.get(id.0 as usize).unwrap_or(&Recipe::Unknown)
    }

    pub fn import(&self, id: ImportId) -> Option<&Import> {
        self.imports.get(id.0 as usize)
    }

    /// The symbol exported under a name.
    pub fn export(&self, name: &str) -> Option<SymbolId> {
        let at = self.exports.binary_search_by(|(known, _)| (**known).cmp(name)).ok()?;
        self.exports.get(at).map(|(_, symbol)| *symbol)
    }

    /// The type parameters of a declaration.
    pub fn parameters(&self, id: DeclarationId) -> &[SymbolId] {
        let at = self.parameters.binary_search_by_key(&id, |(declaration, _)| *declaration).ok();
        at.and_then(|at| self.parameters.get(at)).map(|(_, parameters)| parameters.as_slice()).unwrap_or_default()
    }

    /// The statement at module level that contains a position and is not a unit.
    pub fn statement_at(&self, position: u32) -> Option<Span> {
        let behind = self.statements.partition_point(|span| span.start <= position);
        self.statements.get(behind.checked_sub(1)?).copied().filter(|span| span.contains(position))
    }

    /// The uses inside a span.
    pub fn uses_in(&self, span: Span) -> &[Use] {
        let from = self.uses.partition_point(|one| one.at < span.start);
        let to = self.uses.partition_point(|one| one.at < span.end);
        self.uses.get(from..to).unwrap_or_default()
    }
}

impl Shape {
    /// All members with one name: overloads, getter and setter.
    pub fn named<'s>(&'s self, name: &'s str) -> impl Iterator<Item = &'s Member> {
        let from = self.members.partition_point(|member| *member.name < *name);
        self.members.iter().skip(from).take_while(move |member| *member.name == *name)
    }
}
