//! Writes a finished draft or a whole module as canonical JSON. Its contents were decided before.

use std::borrow::Cow;

use stan_model::document::x07::{Closure, Enclosure};
use stan_model::module::{Dialect, Piece, SourceModule};

use super::closure::Selection;
use super::draft::Draft;
use super::emit::{self, KeptNames, Separator, Sink, SliceWriter, Strip};
use super::enclosure::{Focus, FocusKind};
use super::{PointerSpace, SliceError, SliceRequest};

/// The whole module. Pointers into declarations have the declaration's index, or the given one.
pub(crate) fn document(
    module: &SourceModule<'_>,
    dialect: &dyn Dialect,
    place: Option<usize>,
) -> Result<Vec<u8>, SliceError> {
    let request = SliceRequest {
        pointer: String::new(),
        pointer_space: PointerSpace::Canonical,
        enclosure: Enclosure::Module,
        closure: Closure::All,
        max_nodes: None,
        max_bytes: None,
    };
    let focus = Focus { kind: FocusKind::Root, given: Vec::new(), tokens: Vec::new() };
    let selection = Selection::everything(module);
    let mut draft = Draft::new(module, dialect, &request, &focus, &selection);
    draft.keep_all_exported_names();
    draft.set_entry(module.entry.map(Piece::Node));
    draft.check_numbers()?;
    Ok(draft.write_at(place))
}

impl<'a> Draft<'_, 'a> {
    /// The slice as canonical JSON.
    pub(crate) fn write(&self) -> Vec<u8> {
        let written = self.write_at(None);
        debug_assert_eq!(written.len(), self.bytes(), "what was counted is what is written");
        written
    }

    /// As `write`, with the given index in pointers into declarations.
    fn write_at(&self, place: Option<usize>) -> Vec<u8> {
        let keys = self.dialect.keys();
        let mut writer =
            SliceWriter { declarations_key: keys.declarations, out: Vec::with_capacity(self.bytes()), position: 0 };
        let mut fields: Vec<&'static str> = vec![keys.declarations, keys.imports, keys.kind];
        fields.extend(self.module.fixed.iter().map(|(key, _)| *key));
        fields.extend(self.has_metadata.then_some(keys.metadata));
        fields.extend(self.entry.is_some().then_some(keys.entry));
        fields.sort_unstable();
        writer.raw(b"{");
        let mut separator = Separator::default();
        for key in fields {
            separator.write(&mut writer);
            emit::key(&mut writer, key);
            self.write_value(&mut writer, key, place);
        }
        writer.raw(b"}");
        writer.out
    }

    fn write_value(&self, writer: &mut SliceWriter, key: &'static str, place: Option<usize>) {
        let keys = self.dialect.keys();
        if key == keys.declarations {
            self.write_declarations(writer, place);
        } else if key == keys.imports {
            writer.raw(b"[");
            let mut separator = Separator::default();
            for name in self.used_imports().filter(|_| self.writes_imports) {
                separator.write(writer);
                writer.string(name);
            }
            writer.raw(b"]");
        } else if key == keys.kind {
            writer.string(self.kind);
        } else if key == keys.metadata {
            if let Some(metadata) = self.module.metadata {
                writer.node(&self.module.tree, metadata);
            }
        } else if key == keys.entry {
            if let Some(entry) = &self.entry {
                emit::piece(writer, &self.module.tree, entry, Strip::Nothing);
            }
        } else if let Some((_, text)) = self.module.fixed.iter().find(|(name, _)| *name == key) {
            writer.string(text);
        }
    }

    fn write_declarations(&self, writer: &mut SliceWriter, place: Option<usize>) {
        writer.raw(b"[");
        let mut separator = Separator::default();
        let mut position = 0;
        for (number, part) in self.parts.iter().enumerate().filter(|(number, _)| self.plan.is_in(*number)) {
            let Some(declaration) = self.module.declarations.get(part.index) else { continue };
            separator.write(writer);
            writer.position = place.unwrap_or(position);
            position += 1;
            let names: Option<Vec<&Cow<'a, str>>> =
                part.exports.as_ref().zip(declaration.exports.as_ref()).map(|(exports, list)| {
                    list.names.iter().zip(&exports.is_in).filter(|(_, is_in)| **is_in).map(|(name, _)| name).collect()
                });
            let kept = names.as_deref().map(|names| KeptNames { key: self.dialect.keys().exported_names, names });
            emit::declaration(writer, &self.module.tree, declaration, self.changes_of(number), kept);
        }
        writer.raw(b"]");
    }

    fn used_imports(&self) -> impl Iterator<Item = &Cow<'a, str>> {
        let names = self.module.imports.iter().zip(&self.import_uses);
        names.filter(|(_, uses)| self.all_imports || **uses > 0).map(|(name, _)| name)
    }
}
