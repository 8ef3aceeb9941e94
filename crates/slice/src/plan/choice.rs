//! The closure of declarations: the chosen ones and everything they refer to.

/// The references between declarations.
pub(crate) trait References {
    /// Calls `found` with every declaration that this one refers to; may repeat declarations.
    fn references(&self, declaration: usize, found: &mut dyn FnMut(usize));
}

/// The declarations chosen so far.
pub(crate) struct Choice {
    is_chosen: Vec<bool>,
    /// Declarations whose references were not followed yet.
    queue: Vec<usize>,
}

impl Choice {
    /// Chooses none of `count` declarations.
    pub(crate) fn none_of(count: usize) -> Self {
        Self { is_chosen: vec![false; count], queue: Vec::new() }
    }

    /// Chooses all of `count` declarations.
    pub(crate) fn all_of(count: usize) -> Self {
        Self { is_chosen: vec![true; count], queue: Vec::new() }
    }

    pub(crate) fn add(&mut self, declaration: usize) {
        if let Some(flag) = self.is_chosen.get_mut(declaration).filter(|flag| !**flag) {
            *flag = true;
            self.queue.push(declaration);
        }
    }

    /// Adds the transitive references of what was chosen. Visits each declaration once.
    pub(crate) fn close(&mut self, module: &dyn References) {
        while let Some(declaration) = self.queue.pop() {
            module.references(declaration, &mut |found| self.add(found));
        }
    }

    /// For each declaration, whether it is chosen.
    pub(crate) fn into_flags(self) -> Vec<bool> {
        self.is_chosen
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    struct Table(Vec<Vec<usize>>);

    impl References for Table {
        fn references(&self, declaration: usize, found: &mut dyn FnMut(usize)) {
            self.0[declaration].iter().copied().for_each(found);
        }
    }

    #[test]
    fn closing_a_choice_adds_references_and_terminates_on_cycles() {
        let module = Table(vec![vec![1], vec![2, 7], vec![0], vec![0]]);
        let mut choice = Choice::none_of(4);
        choice.add(1);
        choice.close(&module);
        assert_eq!(choice.into_flags(), [true, true, true, false]);
        assert_eq!(Choice::all_of(2).into_flags(), [true, true]);
    }
}
