//! What goes, and in which order, when a plan is larger than allowed: first all declarations that are not in focus, then what
//! surrounds the focus. The focus itself never goes. The states on this way are the same for every bound, each is measured as
//! it would be written, and the first one that fits is taken.

/// How large a plan may be.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Bounds {
    /// The most declarations.
    pub(crate) count: Option<u64>,
    pub(crate) bytes: Option<u64>,
}

/// Which bounds did cut.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Exceeded {
    pub(crate) count: bool,
    pub(crate) bytes: bool,
}

/// Even the smallest plan that holds the focus has more bytes than allowed. Holds its size.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct TooLarge {
    pub(crate) minimum: u64,
}

/// A plan that can be made smaller, a step at a time.
pub(crate) trait Shrink {
    /// How many declarations are in.
    fn count(&self) -> u64;

    /// The bytes of the plan if it were written as it is.
    fn bytes(&self) -> u64;

    /// Drops the next declaration that is not in focus. Tells whether there was one.
    fn drop_next(&mut self) -> bool;

    /// Makes the next cut around the focus. Tells whether there was one. A cut may take back others, so that the plan grows.
    fn cut_next(&mut self) -> bool;
}

/// Makes a plan fit.
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
        minimum = minimum.min(bytes);
        if !plan.drop_next() && !plan.cut_next() {
            return Err(TooLarge { minimum });
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Declarations of ten bytes each, and the bytes around the focus after each cut; the last of them is the state now.
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
        // The third state is larger than the second: something came back.
        let mut toy = Toy { declarations: 4, around: vec![5, 6, 20, 7, 30] };
        let exceeded = fit(&mut toy, Bounds { count, bytes }).map_err(|error| error.minimum)?;
        Ok((toy.declarations, *toy.around.last().unwrap(), exceeded))
    }

    #[test]
    fn declarations_go_before_anything_around_the_focus() {
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
