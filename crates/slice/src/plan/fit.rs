//! Shrinks a plan that exceeds its bounds: first drops all declarations that are not in focus, then cuts around the focus. The
//! focus itself is never dropped. The sequence of states is the same for all bounds; each state is measured as it would be
//! written, and the first that fits is used.

/// The maximum size of a plan.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Bounds {
    /// The maximum number of declarations.
    pub(crate) count: Option<u64>,
    pub(crate) bytes: Option<u64>,
}

/// Which bounds caused cuts.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Exceeded {
    pub(crate) count: bool,
    pub(crate) bytes: bool,
}

/// Even the smallest plan with the focus has more bytes than allowed. Contains its size.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct TooLarge {
    pub(crate) minimum: u64,
}

/// A plan that can be shrunk step by step.
pub(crate) trait Shrink {
    /// The number of declarations in the plan.
    fn count(&self) -> u64;

    /// The number of bytes if the plan were written now.
    fn bytes(&self) -> u64;

    /// Drops the next declaration that is not in focus. Returns false if there is none.
    fn drop_next(&mut self) -> bool;

    /// Makes the next cut around the focus. Returns false if there is none. A cut may undo others, so that the plan grows.
    fn cut_next(&mut self) -> bool;
}

/// Shrinks a plan to its bounds.
pub(crate) fn fit(plan: &mut dyn Shrink, bounds: Bounds) -> Result<Exceeded, TooLarge> {
    let mut exceeded = Exceeded::default();
    if let Some(most) = bounds.count {
        exceeded.count = plan.count() > most;
        while plan.count() > most && plan.drop_next() {}
    }
    if let Some(most) = bounds.bytes {
        exceeded.bytes = plan.bytes() > most;
        fit_bytes(plan, most)?;
    }
    Ok(exceeded)
}

fn fit_bytes(plan: &mut dyn Shrink, most: u64) -> Result<(), TooLarge> {
    let mut minimum = u64::MAX;
    loop {
        let bytes = plan.bytes();
        if bytes <= most {
            return Ok(());
        }
        // The last state is not always the smallest, because a cut may undo others.
        minimum = minimum.min(bytes);
        if !plan.drop_next() && !plan.cut_next() {
            return Err(TooLarge { minimum });
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Declarations of ten bytes each, and the bytes around the focus after each cut; the last one is the current state.
    struct Toy {
        declarations: u64,
        around: Vec<u64>,
    }

    impl Shrink for Toy {
        fn count(&self) -> u64 {
            self.declarations
        }

        fn bytes(&self) -> u64 {
            self.declarations * 10 + self.around.last().unwrap()
        }

        fn drop_next(&mut self) -> bool {
            let is_there = self.declarations > 0;
            self.declarations -= u64::from(is_there);
            is_there
        }

        fn cut_next(&mut self) -> bool {
            self.around.len() > 1 && self.around.pop().is_some()
        }
    }

    fn fitted(count: Option<u64>, bytes: Option<u64>) -> Result<(u64, u64, Exceeded), u64> {
        // The third state is larger than the second, because a cut was undone.
        let mut toy = Toy { declarations: 4, around: vec![5, 6, 20, 7, 30] };
        let exceeded = fit(&mut toy, Bounds { count, bytes }).map_err(|error| error.minimum)?;
        Ok((toy.declarations, *toy.around.last().unwrap(), exceeded))
    }

    #[test]
    fn declarations_are_dropped_before_anything_around_the_focus() {
        let no = Exceeded::default();
        let [count, bytes] = [Exceeded { count: true, ..no }, Exceeded { bytes: true, ..no }];
        assert_eq!(fitted(Some(4), Some(70)), Ok((4, 30, no)), "what fits stays");
        assert_eq!(fitted(Some(2), Some(50)), Ok((2, 30, count)));
        assert_eq!(fitted(None, Some(69)), Ok((3, 30, bytes)));
        assert_eq!(fitted(Some(3), Some(41)), Ok((1, 30, Exceeded { count: true, bytes: true })));
        assert_eq!(fitted(None, Some(29)), Ok((0, 7, bytes)));
    }

    #[test]
    fn the_first_state_that_fits_is_taken_and_the_smallest_is_reported() {
        assert_eq!(fitted(None, Some(7)).map(|(_, around, _)| around), Ok(7));
        assert_eq!(fitted(None, Some(6)).map(|(_, around, _)| around), Ok(6));
        assert_eq!(fitted(None, Some(4)), Err(5));
    }
}
