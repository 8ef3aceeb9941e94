//! Applies an edited slice to the module that it was cut from, as a three-way merge.
//!
//! The base is the slice as it was cut, which may be pruned, stripped or filtered. So only differences between it and the edited
//! slice are edits, and each is applied to the same location of the module. An edit of something that the slice contains only in
//! part is refused, because the rest would be lost.

use std::collections::BTreeSet;

use rustc_hash::{FxHashMap, FxHashSet};
use serde_json::{Map, Value};
use stan_model::jcs::{self, escape_pointer_token};
use stan_model::module::{Dialect, SourceModule};

use super::write::document;
use super::{ApplyError, SliceError};

/// A module with the edits of a slice.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Applied {
    /// The module as JSON. Indices of pointers into declarations are arbitrary: reading the document again corrects them.
    pub document: Vec<u8>,
    /// The changed or added declarations, by name, in the order of the module.
    pub changed: Vec<String>,
}

/// The whole module as canonical JSON, without a newline.
pub fn canonical_document(module: &SourceModule<'_>, dialect: &dyn Dialect) -> Result<Vec<u8>, SliceError> {
    document(module, dialect, None)
}

/// Applies the difference between `cut`, the slice as it was made from `module`, and `edited` to the module.
pub fn apply(
    module: &SourceModule<'_>,
    cut: &SourceModule<'_>,
    edited: &SourceModule<'_>,
    dialect: &dyn Dialect,
) -> Result<Applied, ApplyError> {
    // Pointers into declarations contain the declaration's index, which differs between the three documents.
    let value = |module: &SourceModule<'_>| -> Result<Value, ApplyError> {
        serde_json::from_slice(&document(module, dialect, Some(0))?).map_err(|_| ApplyError::Unreadable)
    };
    let values = Three { module: value(module)?, cut: value(cut)?, edited: value(edited)? };
    let mut merge = Merge { dialect, renamed: renamed(cut, edited), changed: Vec::new() };
    let merged = merge.document(&values)?;
    let document = jcs::to_vec(&merged).map_err(SliceError::from)?;
    Ok(Applied { document, changed: merge.changed })
}

struct Three<T> {
    module: T,
    cut: T,
    edited: T,
}

struct Merge<'d> {
    dialect: &'d dyn Dialect,
    /// From names in the slice as it was cut to names in the edited slice.
    renamed: FxHashMap<String, String>,
    changed: Vec<String>,
}

impl Merge<'_> {
    fn document(&mut self, values: &Three<Value>) -> Result<Value, ApplyError> {
        let keys = self.dialect.keys();
        let mut merged = Map::new();
        let names = [&values.module, &values.cut, &values.edited].map(fields_of);
        let all: BTreeSet<&String> = names.iter().flat_map(|fields| fields.keys()).collect();
        for key in all {
            let [module, cut, edited] = names.map(|fields| fields.get(key));
            let pointer = format!("/{}", escape_pointer_token(key));
            let value = if key == keys.declarations {
                Some(self.declarations(module, cut, edited)?)
            } else if key == keys.imports {
                continue;
            } else if key == keys.metadata || key == keys.entry {
                merge(module, cut, edited, &pointer)?
            } else if edited == cut {
                // A slice may have another document kind than the module.
                module.cloned()
            } else {
                return Err(ApplyError::Fixed { pointer });
            };
            if let Some(value) = value {
                merged.insert(key.clone(), value);
            }
        }
        let [module, cut, edited] = names.map(|fields| strings(fields.get(keys.imports)));
        let used = self.used_modules(&merged);
        let is_kept = |name: &&str| !cut.contains(name) || edited.contains(name) || used.contains(*name);
        let added = edited.difference(&cut).copied();
        let imports: BTreeSet<&str> = module.iter().copied().filter(|name| is_kept(name)).chain(added).collect();
        merged.insert(keys.imports.to_owned(), imports.into_iter().collect());
        Ok(Value::Object(merged))
    }

    fn declarations(
        &mut self,
        module: Option<&Value>,
        cut: Option<&Value>,
        edited: Option<&Value>,
    ) -> Result<Value, ApplyError> {
        let before = by_name(cut);
        let after = by_name(edited);
        let known = by_name(module);
        let mut merged = Vec::new();
        for (index, declaration) in items(module).enumerate() {
            let name = name_of(declaration);
            let new_name = self.renamed.get(name).map_or(name, String::as_str).to_owned();
            match (before.get(name).copied(), after.get(new_name.as_str()).copied()) {
                (None, Some(export)) if name == EXPORT => merged.push(self.exports(declaration, None, export)),
                (None, _) => merged.push(declaration.clone()),
                (Some(_), None) => return Err(ApplyError::Removed { name: shown(name).to_owned() }),
                (Some(before), Some(after)) if before == after => merged.push(declaration.clone()),
                (Some(before), Some(after)) if name == EXPORT => {
                    merged.push(self.exports(declaration, Some(before), after));
                }
                (Some(before), Some(after)) => {
                    let pointer = format!("/{}/{index}", self.dialect.keys().declarations);
                    merged.extend(merge(Some(declaration), Some(before), Some(after), &pointer)?);
                    self.changed.push(new_name);
                }
            }
        }
        let new_names: FxHashSet<&str> = self.renamed.values().map(String::as_str).collect();
        for declaration in items(edited) {
            let name = name_of(declaration);
            let is_merged = before.contains_key(name) || new_names.contains(name) || name == EXPORT;
            if known.contains_key(name) && !is_merged {
                return Err(ApplyError::Exists { name: name.to_owned() });
            }
            if !is_merged || (name == EXPORT && !known.contains_key(name) && !before.contains_key(name)) {
                self.changed.push(shown(name).to_owned());
                merged.push(declaration.clone());
            }
        }
        Ok(Value::Array(merged))
    }

    /// The names of an export, without removed names and with added ones.
    fn exports(&mut self, module: &Value, cut: Option<&Value>, edited: &Value) -> Value {
        let key = self.dialect.keys().exported_names;
        let [before, after] = [cut, Some(edited)].map(|export| strings(export.and_then(|export| export.get(key))));
        let kept = strings(module.get(key)).into_iter().filter(|name| !before.contains(name) || after.contains(name));
        let names: BTreeSet<&str> = kept.chain(after.difference(&before).copied()).collect();
        self.changed.push(shown(EXPORT).to_owned());
        let mut export = fields_of(edited).clone();
        export.insert(key.to_owned(), names.into_iter().collect());
        Value::Object(export)
    }

    /// The modules that the merged document refers to.
    fn used_modules(&self, merged: &Map<String, Value>) -> BTreeSet<String> {
        let keys = self.dialect.keys();
        let mut used = BTreeSet::new();
        let mut pending: Vec<&Value> =
            [keys.declarations, keys.entry].iter().filter_map(|&key| merged.get(key)).collect();
        while let Some(value) = pending.pop() {
            match value {
                Value::Array(items) => {
                    let head = items.first().and_then(Value::as_str).and_then(|head| self.dialect.head_reference(head));
                    used.extend(head.and_then(|symbol| self.dialect.module_of(symbol)).map(str::to_owned));
                    pending.extend(items);
                }
                Value::Object(fields) => pending.extend(fields.values()),
                _ => {}
            }
        }
        used
    }
}

/// The key of an export, which has no name. No real name is empty.
const EXPORT: &str = "";

fn name_of(declaration: &Value) -> &str {
    declaration.get("name").and_then(Value::as_str).unwrap_or(EXPORT)
}

fn shown(name: &str) -> &str {
    if name == EXPORT { "export" } else { name }
}

fn items(list: Option<&Value>) -> impl Iterator<Item = &Value> {
    list.and_then(Value::as_array).into_iter().flatten()
}

fn by_name(list: Option<&Value>) -> FxHashMap<&str, &Value> {
    items(list).map(|declaration| (name_of(declaration), declaration)).collect()
}

fn fields_of(value: &Value) -> &Map<String, Value> {
    static NONE: std::sync::LazyLock<Map<String, Value>> = std::sync::LazyLock::new(Map::new);
    value.as_object().unwrap_or(&NONE)
}

fn strings(list: Option<&Value>) -> BTreeSet<&str> {
    items(list).filter_map(Value::as_str).collect()
}

/// A declaration was renamed if it has the same index and kind in the slice, and a new name.
fn renamed(cut: &SourceModule<'_>, edited: &SourceModule<'_>) -> FxHashMap<String, String> {
    let [before, after] = [cut, edited].map(|module| {
        let places = module.declaration_positions.iter();
        let declarations = places.map(|place| place.and_then(|place| module.declarations.get(place)));
        declarations.map(|found| found.and_then(|found| Some((found.kind, found.name.as_deref()?)))).collect::<Vec<_>>()
    });
    let names = |list: &[Option<(&'static str, &str)>]| -> FxHashSet<String> {
        list.iter().flatten().map(|(_, name)| (*name).to_owned()).collect()
    };
    let (old_names, new_names) = (names(&before), names(&after));
    let pairs = before.iter().zip(&after).filter_map(|(before, after)| before.zip(*after));
    pairs
        .filter(|((kind, _), (new_kind, _))| kind == new_kind)
        .filter(|((_, old), (_, new))| !new_names.contains(*old) && !old_names.contains(*new))
        .map(|((_, old), (_, new))| (old.to_owned(), new.to_owned()))
        .collect()
}

/// Merges one value. `None` is an absent value.
fn merge(
    module: Option<&Value>,
    cut: Option<&Value>,
    edited: Option<&Value>,
    pointer: &str,
) -> Result<Option<Value>, ApplyError> {
    if edited == cut {
        return Ok(module.cloned());
    }
    if cut == module {
        return Ok(edited.cloned());
    }
    match (module, cut, edited) {
        (Some(Value::Object(module)), Some(Value::Object(cut)), Some(Value::Object(edited))) => {
            let keys: BTreeSet<&String> = [module, cut, edited].iter().flat_map(|fields| fields.keys()).collect();
            let mut merged = Map::new();
            for key in keys {
                let inside = format!("{pointer}/{}", escape_pointer_token(key));
                if let Some(value) = merge(module.get(key), cut.get(key), edited.get(key), &inside)? {
                    merged.insert(key.clone(), value);
                }
            }
            Ok(Some(Value::Object(merged)))
        }
        // A pruned list is shorter, or has placeholders.
        (Some(Value::Array(module)), Some(Value::Array(cut)), Some(Value::Array(edited)))
            if cut.len() == edited.len() && cut.len() <= module.len() =>
        {
            let mut merged = Vec::with_capacity(module.len());
            for (index, value) in module.iter().enumerate() {
                let inside = format!("{pointer}/{index}");
                merged.extend(match cut.get(index) {
                    Some(_) => merge(Some(value), cut.get(index), edited.get(index), &inside)?,
                    None => Some(value.clone()),
                });
            }
            Ok(Some(Value::Array(merged)))
        }
        _ => Err(ApplyError::CutAway { pointer: pointer.to_owned() }),
    }
}
