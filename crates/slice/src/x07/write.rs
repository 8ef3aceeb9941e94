//! A finished draft to canonical JSON. What is in it was decided before.

use std::borrow::Cow;

use super::draft::Draft;
use super::emit::{self, Separator, Sink, Strip, Writer};

impl<'a> Draft<'_, 'a> {
    /// The slice as canonical JSON.
    pub(crate) fn write(&self) -> Vec<u8> {
        let keys = self.dialect.keys();
        let mut writer =
            Writer { declarations_key: keys.declarations, out: Vec::with_capacity(self.bytes()), position: 0 };
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
            self.write_value(&mut writer, key);
        }
        writer.raw(b"}");
        debug_assert_eq!(writer.out.len(), self.bytes(), "what was counted is what is written");
        writer.out
    }

    fn write_value(&self, writer: &mut Writer, key: &'static str) {
        let keys = self.dialect.keys();
        if key == keys.declarations {
            self.write_declarations(writer);
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

    fn write_declarations(&self, writer: &mut Writer) {
        writer.raw(b"[");
        let mut separator = Separator::default();
        let mut position = 0;
        for (number, part) in self.parts.iter().enumerate().filter(|(number, _)| self.plan.is_in(*number)) {
            let Some(declaration) = self.module.declarations.get(part.index) else { continue };
            separator.write(writer);
            writer.position = position;
            position += 1;
            let names: Option<Vec<&Cow<'a, str>>> =
                part.exports.as_ref().zip(declaration.exports.as_ref()).map(|(exports, list)| {
                    list.names.iter().zip(&exports.is_in).filter(|(_, is_in)| **is_in).map(|(name, _)| name).collect()
                });
            let names = names.as_deref().map(|names| (self.dialect.keys().exported_names, names));
            emit::declaration(writer, &self.module.tree, declaration, self.changes_of(number), names);
        }
        writer.raw(b"]");
    }

    fn used_imports(&self) -> impl Iterator<Item = &Cow<'a, str>> {
        let names = self.module.imports.iter().zip(&self.is_used);
        names.filter(|(_, is_used)| self.all_imports || **is_used).map(|(name, _)| name)
    }
}
