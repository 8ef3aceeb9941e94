//! Finds where names are declared and used. Only files that contain the name as text are parsed, so it costs a text search plus
//! parsing the files found.

use std::collections::BTreeSet;
use std::path::Path;

use memchr::memmem::Finder;
use rayon::prelude::*;
use stan_lang::Languages;
use stan_model::names::{DeclarationId, FileNames, FileUnits, Imported, Meaning, Recipe, RecipeId, SymbolId, Used};
use stan_model::outline::UnitId;
use stan_repo::{System, SystemExt as _};

use super::near::near_names;
use super::{AnswerSize, FoundSymbol, MAX_BYTES, SymbolDeclaration, SymbolReport, SymbolUse};
use super::{absolute, one_line, scan};
use crate::context::{EngineError, Repository};
use crate::engine::Engine;
use crate::secrets::secrets_of;

/// How many steps a variable is traced to find out whether it is an instance of the owner.
const MAX_STEPS: u32 = 4;

/// How many other owners are suggested if the requested one has no such member.
const MAX_OWNERS: usize = 3;

/// The names to find.
#[derive(Clone, Debug, Default)]
pub struct SymbolRequest {
    /// `name`, or `Owner.member`.
    pub names: Vec<String>,
    pub size: AnswerSize,
}

/// The declarations and the uses of each name.
pub fn symbol(
    engine: &Engine<'_>,
    repository: &Repository<'_>,
    request: &SymbolRequest,
) -> Result<SymbolReport, EngineError> {
    let system = engine.system();
    engine.parse(|| {
        let universe = scan(system, repository);
        let search = Search { system, repository, root: repository.root, files: &universe.files };
        let mut report = SymbolReport::default();
        let mut unknown = Vec::new();
        let mut left = request.size.bytes();
        for name in &request.names {
            let found = search.find(name);
            if found.declarations.is_empty() {
                unknown.push(name);
                continue;
            }
            report.symbols.push(shown(found, request.size.limit, &mut left));
        }
        if unknown.is_empty() {
            return Ok(report);
        }
        let names = search.all_names();
        let names: Vec<&str> = names.iter().map(|name| &**name).collect();
        let details = unknown.iter().map(|name| {
            let mut near = search.members_named_alike(name);
            if near.is_empty() {
                near = near_names(name, &names);
            }
            let near: Vec<String> = near.iter().map(|near| format!("`{near}`")).collect();
            let near = if near.is_empty() { String::new() } else { format!("; did you mean {}?", near.join(", ")) };
            format!("`{name}`{near}")
        });
        Err(EngineError::input("nothing of that name is declared").details(details))
    })
}

struct Search<'s> {
    system: &'s dyn System,
    repository: &'s Repository<'s>,
    root: &'s str,
    files: &'s [Box<str>],
}

/// The findings of one file.
#[derive(Default)]
struct InFile {
    declarations: Vec<SymbolDeclaration>,
    uses: Vec<SymbolUse>,
}

impl Search<'_> {
    fn find(&self, name: &str) -> FoundSymbol {
        let (owner, member) = match name.rsplit_once('.') {
            // A method with a pointer receiver, as Go prints it.
            Some((owner, member)) if owner.starts_with('(') && !member.is_empty() => {
                (Some(owner.trim_start_matches(['(', '*']).trim_end_matches(')')), member)
            }
            Some((owner, member)) if !owner.is_empty() && !member.is_empty() => (Some(owner), member),
            _ => (None, name),
        };
        let finder = Finder::new(member);
        let found: Vec<InFile> = self
            .files
            .par_iter()
            .filter_map(|file| {
                let language = Languages::all().declarations(file)?;
                let bytes = self.read(file)?;
                finder.find(&bytes)?;
                let text = language.text_of(&bytes)?;
                let mut found = in_file(file, &text, &language.declare(file, &text), owner, member);
                // Only declarations show source text; uses are positions.
                if !found.declarations.is_empty() && secrets_of(self.repository.config, file, &bytes).is_some() {
                    for declaration in &mut found.declarations {
                        declaration.signature = format!("{member} (held back because of a secret)");
                    }
                }
                Some(found)
            })
            .collect();
        let mut symbol = FoundSymbol { name: name.to_owned(), ..FoundSymbol::default() };
        for mut file in found {
            file.uses.dedup_by(|one, other| (one.line, one.how) == (other.line, other.how));
            symbol.use_count += file.uses.len() as u64;
            symbol.file_count += u64::from(!file.uses.is_empty());
            symbol.declarations.append(&mut file.declarations);
            symbol.uses.append(&mut file.uses);
        }
        symbol
    }

    /// For `Owner.member`: members of that name of other owners, such as a base class.
    fn members_named_alike(&self, name: &str) -> Vec<String> {
        let Some((_, member)) = name.rsplit_once('.').filter(|(_, member)| !member.is_empty()) else {
            return Vec::new();
        };
        let found = self.find(member).declarations.into_iter().map(|one| one.name);
        found.collect::<BTreeSet<String>>().into_iter().take(MAX_OWNERS).collect()
    }

    fn read(&self, file: &str) -> Option<Vec<u8>> {
        let mut bytes = Vec::new();
        self.system.read_real(Path::new(&absolute(self.root, file)), MAX_BYTES, &mut bytes).ok()?;
        Some(bytes)
    }

    /// All declared names, to suggest similar ones.
    fn all_names(&self) -> BTreeSet<Box<str>> {
        let languages = Languages::all();
        let files = self.files.par_iter().filter_map(|file| Some((file, languages.declarations(file)?)));
        let names = files.flat_map_iter(|(file, language)| {
            let bytes = self.read(file).unwrap_or_default();
            let text = language.text_of(&bytes).unwrap_or_default();
            let outline = language.outline(file, &text);
            outline.units.into_iter().flat_map(|unit| unit.names).map(|name| name.text)
        });
        names.collect::<Vec<_>>().into_iter().collect()
    }
}

fn in_file(file: &str, text: &str, units: &FileUnits, owner: Option<&str>, name: &str) -> InFile {
    let FileUnits { outline, names } = units;
    let mut found = InFile::default();
    let mut is_declared = false;
    for unit in &outline.units {
        let Some(named) = unit.names.iter().find(|known| *known.text == *name) else { continue };
        let parent = unit.parent.map(|parent| outline.path(parent)).or_else(|| unit.receiver().map(str::to_owned));
        if owner.is_some_and(|owner| parent.as_deref() != Some(owner)) {
            continue;
        }
        is_declared |= unit.parent.is_none();
        found.declarations.push(SymbolDeclaration {
            file: file.to_owned(),
            line: named.line,
            start_line: unit.lines.from,
            end_line: unit.lines.to,
            name: match &parent {
                Some(parent) => format!("{parent}.{name}"),
                None => name.to_owned(),
            },
            kind: unit.kind.as_str(),
            exported: unit.exported,
            signature: one_line(text, unit),
        });
    }
    let within = |at: u32| outline.innermost(at).map(|unit: UnitId| outline.path(unit));
    for one in &names.uses {
        let how = match &one.what {
            Used::Name(symbol) if owner.is_none() && refers_to(names, *symbol, name, is_declared) => "name",
            Used::Global(global) if owner.is_none() && **global == *name => "name",
            Used::Member(base, member) if **member == *name => {
                let is_certain = match owner {
                    None => is_namespace(names, *base),
                    Some(owner) => is_owner(names, *base, owner, MAX_STEPS),
                };
                if is_certain { "name" } else { "member" }
            }
            _ => continue,
        };
        found.uses.push(SymbolUse { file: file.to_owned(), line: one.line, within: within(one.at), how });
    }
    found
}

/// Whether a symbol is a module-level declaration of the name, or an import of it under any local name.
fn refers_to(names: &FileNames, symbol: SymbolId, name: &str, is_declared: bool) -> bool {
    let Some(symbol) = names.symbol(symbol) else { return false };
    let meaning = |id: &DeclarationId| names.declaration(*id).map(|declaration| declaration.meaning);
    symbol.declarations.iter().filter_map(meaning).any(|meaning| match meaning {
        Meaning::Import(import) => names.import(import).is_some_and(|import| match &import.name {
            Imported::Name(imported) => **imported == *name || (**imported == *"default" && *symbol.name == *name),
            Imported::Namespace | Imported::Whole => *symbol.name == *name,
        }),
        _ => is_declared && *symbol.name == *name,
    })
}

/// Whether a recipe evaluates to the namespace of a module, whose members are its exports.
fn is_namespace(names: &FileNames, recipe: RecipeId) -> bool {
    let Recipe::Value(symbol) = names.recipe(recipe) else { return false };
    let declarations = names.symbol(*symbol).map(|symbol| symbol.declarations.as_slice()).unwrap_or_default();
    declarations.iter().filter_map(|id| names.declaration(*id)).any(|declaration| match declaration.meaning {
        Meaning::Import(import) => {
            names.import(import).is_some_and(|import| matches!(import.name, Imported::Namespace | Imported::Whole))
        }
        _ => false,
    })
}

/// Whether a recipe evaluates to the owner or an instance of it, judged only by the code itself: a type annotation,
/// `new Owner()`, `this`.
fn is_owner(names: &FileNames, recipe: RecipeId, owner: &str, steps: u32) -> bool {
    let Some(steps) = steps.checked_sub(1) else { return false };
    let last = owner.rsplit('.').next().unwrap_or(owner);
    match names.recipe(recipe) {
        Recipe::Type { symbol, .. } => is_named(names, *symbol, last),
        Recipe::Value(symbol) => {
            is_named(names, *symbol, last) || {
                let declarations =
                    names.symbol(*symbol).map(|symbol| symbol.declarations.as_slice()).unwrap_or_default();
                declarations.iter().filter_map(|id| names.declaration(*id)).any(|one| match one.meaning {
                    Meaning::Value { ty, .. } => is_owner(names, ty, owner, steps),
                    _ => false,
                })
            }
        }
        Recipe::Instance(shape) | Recipe::Static(shape) => {
            let symbol = names.shape(*shape).and_then(|shape| shape.symbol);
            symbol.is_some_and(|symbol| is_named(names, symbol, last))
        }
        Recipe::New(callee) => is_owner(names, *callee, owner, steps),
        _ => false,
    }
}

/// Whether a symbol has the name, or is an import of it under another name.
fn is_named(names: &FileNames, symbol: SymbolId, name: &str) -> bool {
    let Some(symbol) = names.symbol(symbol) else { return false };
    *symbol.name == *name
        || symbol.declarations.iter().filter_map(|id| names.declaration(*id)).any(|one| match one.meaning {
            Meaning::Import(import) => {
                names.import(import).is_some_and(|import| import.name == Imported::Name(name.into()))
            }
            _ => false,
        })
}

/// Takes declarations, then certain uses, then possible ones, up to the budget.
fn shown(mut symbol: FoundSymbol, limit: Option<usize>, left: &mut u64) -> FoundSymbol {
    let all = symbol.declarations.len() + symbol.uses.len();
    let mut room = limit.unwrap_or(usize::MAX);
    let mut fits = |cost: u64| {
        let fits = room > 0 && cost <= *left;
        if fits {
            room -= 1;
            *left -= cost;
        } else {
            room = 0;
        }
        fits
    };
    symbol.declarations.retain(|one| fits((one.file.len() + one.signature.len() + 16) as u64));
    let mut order: Vec<usize> = (0..symbol.uses.len()).collect();
    order.sort_by_key(|index| symbol.uses[*index].how != "name");
    let mut taken = vec![false; order.len()];
    for index in order {
        let one = &symbol.uses[index];
        taken[index] = fits((one.within.as_ref().map_or(0, String::len) + one.file.len() / 2 + 12) as u64);
    }
    let mut keep = taken.into_iter();
    symbol.uses.retain(|_| keep.next().unwrap_or(false));
    symbol.cut = (all - symbol.declarations.len() - symbol.uses.len()) as u64;
    symbol
}
