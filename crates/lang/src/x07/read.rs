//! Parses a file into its canonical module: the document's fields, and the order of declarations.

use std::borrow::Cow;

use rustc_hash::FxHashSet;
use stan_model::json::{JsonKind, JsonTree, NodeId};
use stan_model::module::{Declaration, ExportList, Field, Piece, SourceModule};

use super::declaration::{DeclarationReader, required_string};
use super::expression::check_expression;
use super::names::check_symbol;
use super::source_position::{SourcePosition, X07Error};

/// The supported versions of x07AST, oldest first.
pub const SCHEMA_VERSIONS: [&str; 7] = [
    "x07.x07ast@0.3.0",
    "x07.x07ast@0.4.0",
    "x07.x07ast@0.5.0",
    "x07.x07ast@0.6.0",
    "x07.x07ast@0.7.0",
    "x07.x07ast@0.8.0",
    "x07.x07ast@0.9.0",
];

/// Parses a file into its canonical module. The error is the first one in file order.
pub fn read_module(bytes: &[u8]) -> Result<SourceModule<'_>, X07Error> {
    let tree = JsonTree::parse(bytes).map_err(|error| SourcePosition::ROOT.error(error.to_string()))?;
    let root = tree.root();
    if tree.kind(root) != JsonKind::Object {
        return Err(SourcePosition::ROOT.error("x07ast root must be an object"));
    }
    let (schema_version, version) = read_version(&tree)?;
    let is_entry = read_kind(&tree)?;
    let module_id = required_string(&tree, root, &SourcePosition::ROOT, "module_id")?;
    check_symbol(&module_id).map_err(|message| SourcePosition::ROOT.key("module_id").error(message))?;
    let (imports, import_positions) = read_imports(&tree)?;
    let decls = tree.field(root, "decls").ok_or_else(|| SourcePosition::ROOT.error("missing required field: decls"))?;
    let mut groups = read_declarations(&tree, decls, version, &module_id)?;
    if let Some(export) = &mut groups.export {
        export.only_in_focus = is_entry;
    }
    let (declarations, declaration_positions) = groups.into_canonical_order(tree.items(decls).count());
    let entry = tree.field(root, "solve");
    if let Some(entry) = entry {
        check_expression(&tree, entry, &SourcePosition::ROOT.key("solve"))?;
    }
    let metadata = tree.field(root, "meta").filter(|&meta| tree.fields(meta).next().is_some());
    Ok(SourceModule {
        fixed: vec![("schema_version", Cow::Borrowed(schema_version)), ("module_id", module_id)],
        kind: if is_entry { "entry" } else { "module" },
        fragment_kind: "module",
        imports,
        import_positions,
        declarations,
        declaration_positions,
        entry,
        kind_has_entry: is_entry,
        metadata,
        tree,
    })
}

/// The version and its index in [`SCHEMA_VERSIONS`].
fn read_version(tree: &JsonTree<'_>) -> Result<(&'static str, usize), X07Error> {
    let text = required_string(tree, tree.root(), &SourcePosition::ROOT, "schema_version")?;
    if let Some(index) = SCHEMA_VERSIONS.iter().position(|&known| known == text) {
        return Ok((SCHEMA_VERSIONS[index], index));
    }
    let hint = if is_newer_than_known(&text) {
        "the file is newer than this program: upgrade the program"
    } else {
        "if this comes from a dependency package, upgrade to a newer package version"
    };
    let message =
        format!("unsupported schema_version: got {text:?} (supported: {}) (hint: {hint})", SCHEMA_VERSIONS.join(", "));
    Err(SourcePosition::ROOT.key("schema_version").error(message))
}

fn is_newer_than_known(text: &str) -> bool {
    let Some(version) = text.strip_prefix("x07.x07ast@") else { return false };
    let numbers: Option<Vec<u64>> = version.split('.').map(|part| part.parse().ok()).collect();
    numbers.is_some_and(|numbers| numbers.len() == 3 && numbers > vec![0, 9, 0])
}

fn read_kind(tree: &JsonTree<'_>) -> Result<bool, X07Error> {
    let kind = required_string(tree, tree.root(), &SourcePosition::ROOT, "kind")?;
    match kind.trim() {
        "entry" => Ok(true),
        "module" => Ok(false),
        _ => Err(SourcePosition::ROOT
            .key("kind")
            .error(format!("invalid kind: expected \"entry\" or \"module\" got {kind:?}"))),
    }
}

type SortedNames<'a> = (Vec<Cow<'a, str>>, Vec<usize>);

fn read_imports<'a>(tree: &JsonTree<'a>) -> Result<SortedNames<'a>, X07Error> {
    let place = SourcePosition::ROOT.key("imports");
    let names = string_array(tree, tree.root(), &SourcePosition::ROOT, "imports")?;
    for name in &names {
        check_symbol(name).map_err(|message| place.error(message))?;
    }
    Ok(sorted_set(names))
}

/// The strings of a required array.
fn string_array<'a>(
    tree: &JsonTree<'a>,
    object: NodeId,
    place: &SourcePosition<'_>,
    key: &str,
) -> Result<Vec<Cow<'a, str>>, X07Error> {
    let array = tree.field(object, key).ok_or_else(|| place.error(format!("missing required field: {key}")))?;
    let inside = place.key(key);
    if tree.kind(array) != JsonKind::Array {
        return Err(inside.error(format!("{key} must be an array")));
    }
    tree.items(array)
        .enumerate()
        .map(|(index, item)| {
            tree.string(item).ok_or_else(|| inside.index(index).error(format!("{key}[{index}] must be a string")))
        })
        .collect()
}

/// Names sorted by bytes, without duplicates, and the position of every given name.
fn sorted_set(names: Vec<Cow<'_, str>>) -> SortedNames<'_> {
    let mut sorted = names.clone();
    sorted.sort_unstable();
    sorted.dedup();
    let positions = names.iter().map(|name| sorted.binary_search(name).unwrap_or(0)).collect();
    (sorted, positions)
}

/// Declarations in the groups of the canonical order, each with its position in the file.
#[derive(Default)]
struct Groups<'a> {
    export: Option<Declaration<'a>>,
    /// The positions of all export declarations: the canonical form merges them into the last one.
    export_indices: Vec<usize>,
    externs: Vec<(usize, Declaration<'a>)>,
    functions: Vec<(usize, Declaration<'a>)>,
    async_functions: Vec<(usize, Declaration<'a>)>,
    records: Vec<(usize, Declaration<'a>)>,
    enums: Vec<(usize, Declaration<'a>)>,
}

fn read_declarations<'a>(
    tree: &JsonTree<'a>,
    decls: NodeId,
    version: usize,
    module_id: &str,
) -> Result<Groups<'a>, X07Error> {
    let decls_place = SourcePosition::ROOT.key("decls");
    if tree.kind(decls) != JsonKind::Array {
        return Err(decls_place.error("decls must be an array"));
    }
    let reader = DeclarationReader { tree, version, module_id };
    let mut groups = Groups::default();
    let mut names: FxHashSet<Cow<'a, str>> = FxHashSet::default();
    for (index, item) in tree.items(decls).enumerate() {
        let place = decls_place.index(index);
        if tree.kind(item) != JsonKind::Object {
            return Err(place.error(format!("decls[{index}] must be an object")));
        }
        let kind = required_string(tree, item, &place, "kind")?;
        let (group, declaration) = match kind.trim() {
            "export" => {
                read_export(tree, item, &place, index, &mut groups)?;
                continue;
            }
            "defn" => (&mut groups.functions, reader.function(item, &place, false)?),
            "defasync" => (&mut groups.async_functions, reader.function(item, &place, true)?),
            "extern" => (&mut groups.externs, reader.foreign_function(item, &place)?),
            "defrecord" => (&mut groups.records, reader.record(item, &place)?),
            "defenum" => (&mut groups.enums, reader.enumeration(item, &place)?),
            _ => return Err(place.key("kind").error(format!("unsupported decl kind: {kind:?}"))),
        };
        let name = declaration.name.clone().unwrap_or_default();
        if !names.insert(name.clone()) {
            let what = if declaration.is_callable { "function" } else { "decl" };
            return Err(place.key("name").error(format!("duplicate {what} name: {name:?}")));
        }
        group.push((index, declaration));
    }
    Ok(groups)
}

fn read_export<'a>(
    tree: &JsonTree<'a>,
    item: NodeId,
    place: &SourcePosition<'_>,
    index: usize,
    groups: &mut Groups<'a>,
) -> Result<(), X07Error> {
    if groups.export.is_some() {
        return Err(place.key("kind").error("duplicate export decl"));
    }
    let names = string_array(tree, item, place, "names")?;
    for (position, name) in names.iter().enumerate() {
        check_symbol(name).map_err(|message| place.key("names").index(position).error(message))?;
    }
    groups.export_indices.push(index);
    if !names.is_empty() {
        let (names, positions) = sorted_set(names);
        groups.export = Some(Declaration {
            kind: "export",
            name: None,
            is_callable: false,
            is_definition: false,
            only_in_focus: false,
            exports: Some(Box::new(ExportList { names, positions })),
            fields: vec![Field::plain("kind", Piece::Text(Cow::Borrowed("export")))],
            type_labels: Vec::new(),
        });
    }
    Ok(())
}

impl<'a> Groups<'a> {
    /// Export, externs, functions, async functions (each sorted by name), then records and enums (in file order).
    fn into_canonical_order(mut self, count: usize) -> (Vec<Declaration<'a>>, Vec<Option<usize>>) {
        let mut positions = vec![None; count];
        let mut declarations = Vec::with_capacity(count);
        if let Some(export) = self.export {
            for &index in &self.export_indices {
                positions[index] = Some(0);
            }
            declarations.push(export);
        }
        for group in [&mut self.externs, &mut self.functions, &mut self.async_functions] {
            group.sort_by(|(_, left), (_, right)| left.name.cmp(&right.name));
        }
        for group in [self.externs, self.functions, self.async_functions, self.records, self.enums] {
            for (index, declaration) in group {
                positions[index] = Some(declarations.len());
                declarations.push(declaration);
            }
        }
        (declarations, positions)
    }
}
