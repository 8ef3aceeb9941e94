//! What a cut leaves idle: exported names of dropped declarations, imports that nothing in the slice uses, contracts
//! that go with the types. All of it goes after the cutting, so that it never decides what is cut.

use stan_model::jcs;

use super::draft::Draft;

impl Draft<'_, '_> {
    /// Exports out of focus of whose names nothing is left in the slice.
    pub(crate) fn idle_exports(&self) -> Vec<usize> {
        let is_in = self.declarations_in();
        let parts = self
            .parts
            .iter()
            .enumerate()
            .filter(|(number, _)| self.plan.is_in(*number) && Some(*number) != self.plan.focus());
        let is_idle = |owners: &[Option<usize>]| !owners.iter().flatten().any(|&owner| is_in.get(owner) == Some(&true));
        parts
            .filter(|(_, part)| part.exports.as_ref().is_some_and(|exports| is_idle(&exports.owners)))
            .map(|(number, _)| number)
            .collect()
    }

    /// Takes out what is idle. Only ever makes the slice smaller.
    pub(crate) fn narrow(&mut self) {
        self.narrow_exports();
        if self.plain.strip != self.final_strip {
            self.plain.strip = self.final_strip;
            self.changes.strip = self.final_strip;
            for number in 0..self.parts.len() {
                if self.plan.is_in(number) {
                    self.recount_part(number);
                }
            }
        }
        self.recount_declarations();
        self.narrow_imports();
    }

    /// An export in focus that would lose its last name keeps all it had, as if what it names had not been asked for.
    fn narrow_exports(&mut self) {
        let is_in = self.declarations_in();
        let stays = |owner: Option<usize>| owner.is_none_or(|owner| is_in.get(owner) == Some(&true));
        let (module, plan) = (self.module, &self.plan);
        for (_, part) in self.parts.iter_mut().enumerate().filter(|(number, _)| plan.is_in(*number)) {
            let list = module.declarations.get(part.index).and_then(|declaration| declaration.exports.as_ref());
            let Some((exports, list)) = part.exports.as_mut().zip(list) else { continue };
            if !exports.owners.iter().flatten().any(|&owner| stays(Some(owner))) {
                continue;
            }
            let names = list.names.iter().zip(&exports.owners).zip(&mut exports.is_in).enumerate();
            for (number, ((name, owner), is_in)) in names.filter(|(_, (_, is_in))| **is_in) {
                if !stays(*owner) && exports.pinned != Some(number) {
                    *is_in = false;
                    exports.count -= 1;
                    exports.bytes -= jcs::string_len(name);
                }
            }
        }
    }

    fn narrow_imports(&mut self) {
        if self.all_imports {
            return;
        }
        self.is_used.fill(false);
        (self.costs.imports, self.costs.import_count) = (0, 0);
        for number in 0..self.parts.len() {
            let part = self.parts.get_mut(number).filter(|_| self.plan.is_in(number));
            let Some(imports) = part.map(|part| std::mem::take(&mut part.imports)) else { continue };
            self.use_imports(&imports);
            if let Some(part) = self.parts.get_mut(number) {
                part.imports = imports;
            }
        }
        if let Some(entry) = self.entry.take() {
            let imports = self.imports_of([&entry]);
            self.use_imports(&imports);
            self.entry = Some(entry);
        }
    }

    /// For each declaration of the module, whether it is in the slice.
    fn declarations_in(&self) -> Vec<bool> {
        let mut is_in = vec![false; self.module.declarations.len()];
        for (_, part) in self.parts.iter().enumerate().filter(|(number, _)| self.plan.is_in(*number)) {
            if let Some(flag) = is_in.get_mut(part.index) {
                *flag = true;
            }
        }
        is_in
    }
}
