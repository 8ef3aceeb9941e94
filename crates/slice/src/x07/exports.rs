//! The exports of a slice, and which of their names are kept. A name is dropped together with its declaration.

use stan_model::jcs;
use stan_model::module::Declaration;

use super::closure::Selection;
use super::draft::Draft;

/// The kept names of an export.
pub(crate) struct Exports {
    pub(crate) is_in: Vec<bool>,
    /// The names that were kept before bounds were applied.
    before_bounds: Vec<bool>,
    /// For each name, the selected declaration with that name.
    owners: Vec<Option<usize>>,
    /// The number of these declarations in the slice.
    owners_in: usize,
    pub(crate) count: usize,
    bytes: usize,
    /// The name that the pointer resolves to; it is never dropped.
    pub(crate) pinned: Option<usize>,
}

impl Exports {
    /// Bytes of the names and the commas between them.
    pub(crate) fn cost(&self) -> usize {
        self.bytes + self.count.saturating_sub(1)
    }
}

impl<'a> Draft<'_, 'a> {
    /// The names of an export whose declarations are selected.
    pub(crate) fn exports_of(
        &self,
        is_focus: bool,
        declaration: &Declaration<'a>,
        selection: &Selection<'_>,
    ) -> Option<Exports> {
        let list = declaration.exports.as_ref()?;
        let owner =
            |name: &str| selection.callables.get(name).filter(|&index| selection.is_selected.get(index) == Some(&true));
        let owners: Vec<Option<usize>> = list.names.iter().map(|name| owner(name)).collect();
        let pinned = is_focus.then(|| self.focus.inside().first().and_then(|token| token.parse().ok())).flatten();
        // An export in focus keeps its names if their declarations were not requested.
        let keeps_all = is_focus && owners.iter().all(Option::is_none);
        let is_in: Vec<bool> = owners
            .iter()
            .enumerate()
            .map(|(name, owner)| keeps_all || owner.is_some() || Some(name) == pinned)
            .collect();
        let (count, bytes) = measure(&is_in, &list.names);
        let owners_in = owners.iter().flatten().count();
        Some(Exports { before_bounds: is_in.clone(), is_in, owners, owners_in, count, bytes, pinned })
    }

    /// Restores all names.
    pub(crate) fn keep_all_exported_names(&mut self) {
        for (number, part) in self.parts.iter_mut().enumerate() {
            let list = self.module.declarations.get(part.index).and_then(|declaration| declaration.exports.as_ref());
            let Some((exports, list)) = part.exports.as_mut().zip(list) else { continue };
            exports.is_in.fill(true);
            (exports.count, exports.bytes) = measure(&exports.is_in, &list.names);
            self.plan.set_cost(number, part.cost());
        }
    }

    /// Records which declaration owns each exported name.
    pub(crate) fn remember_owners(&mut self, number: usize, exports: Option<&Exports>) {
        let owners = exports.into_iter().flat_map(|exports| exports.owners.iter().enumerate());
        for (name, owner) in owners {
            if let Some(owner) = owner {
                self.exported_in.entry(*owner).or_default().push((number, name));
            }
        }
    }

    /// An export outside of the focus that would lose its last name without this part. It is worth less than the part, so it is
    /// dropped first.
    pub(crate) fn export_left_without_names_by(&self, number: usize) -> Option<usize> {
        let names = self.exported_in.get(&self.parts.get(number)?.index)?;
        let is_last = |export: usize| {
            let is_free = self.plan.is_in(export) && Some(export) != self.plan.focus();
            let part = self.parts.get(export).filter(|_| is_free);
            part.and_then(|part| part.exports.as_ref()).is_some_and(|exports| exports.owners_in == 1)
        };
        names.iter().map(|&(export, _)| export).find(|&export| is_last(export))
    }

    /// Removes the name of a dropped declaration from the exports. An export in focus that loses its last declaration gets all
    /// names back, as if the declarations had not been requested.
    pub(crate) fn drop_exported_name(&mut self, index: usize) {
        let Some(names) = self.exported_in.get(&index) else { return };
        for &(number, name) in names {
            let Some(part) = self.parts.get_mut(number).filter(|_| self.plan.is_in(number)) else { continue };
            let list = self.module.declarations.get(part.index).and_then(|declaration| declaration.exports.as_ref());
            let Some((exports, list)) = part.exports.as_mut().zip(list) else { continue };
            exports.owners_in -= 1;
            if exports.owners_in == 0 {
                exports.is_in.clone_from(&exports.before_bounds);
                (exports.count, exports.bytes) = measure(&exports.is_in, &list.names);
            } else if exports.pinned != Some(name)
                && let Some((is_in, text)) = exports.is_in.get_mut(name).zip(list.names.get(name))
            {
                *is_in = false;
                exports.count -= 1;
                exports.bytes -= jcs::string_len(text);
            }
            self.plan.set_cost(number, part.cost());
        }
    }
}

/// The number of kept names, and their bytes.
fn measure(is_in: &[bool], names: &[std::borrow::Cow<'_, str>]) -> (usize, usize) {
    let kept = || names.iter().zip(is_in).filter(|(_, is_in)| **is_in);
    (kept().count(), kept().map(|(name, _)| jcs::string_len(name)).sum())
}
