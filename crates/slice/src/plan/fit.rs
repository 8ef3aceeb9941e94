//! What goes, and in which order, when a plan is larger than allowed: first declarations from the end, then what surrounds the
//! focus. The focus itself never goes.

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

/// Even the smallest plan that holds the focus has more bytes than allowed: so many.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct TooLarge {
    pub(crate) minimum: u64,
}

/// A plan that can be made smaller, a step at a time.
pub(crate) trait Shrink {
    /// How many declarations are in.
    fn count(&self) -> u64;

    fn bytes(&self) -> u64;

    /// Drops the last declaration that is not in focus. Tells whether there was one.
    fn drop_last(&mut self) -> bool;

    /// So many declarations are worth more than what surrounds the focus: they go after it.
    fn last_to_go(&self) -> u64;

    /// Called once, when no more declarations go before the cuts around the focus.
    fn before_cuts(&mut self);

    /// Cuts what surrounds the focus, and tells whether the plan fits.
    fn cut_around_focus(&mut self, max_bytes: u64) -> bool;

    /// Takes back the cuts around the focus, and no drop.
    fn restore_cuts(&mut self);

    /// Leaves out, from a new start, what is not worth its room in the plan as it is. Tells whether there was something.
    fn start_over_without_idle(&mut self) -> bool;
}

/// Makes a plan fit.
pub(crate) fn fit(plan: &mut dyn Shrink, bounds: Bounds) -> Result<Exceeded, TooLarge> {
    let mut exceeded = Exceeded::default();
    loop {
        fit_once(plan, bounds, &mut exceeded)?;
        if !plan.start_over_without_idle() {
            return Ok(exceeded);
        }
    }
}

fn fit_once(plan: &mut dyn Shrink, bounds: Bounds, exceeded: &mut Exceeded) -> Result<(), TooLarge> {
    if let Some(most) = bounds.count {
        exceeded.count |= plan.count() > most;
        while plan.count() > most && plan.drop_last() {}
    }
    match bounds.bytes.filter(|&most| plan.bytes() > most) {
        None => Ok(()),
        Some(max_bytes) => {
            exceeded.bytes = true;
            fit_bytes(plan, max_bytes)
        }
    }
}

fn fit_bytes(plan: &mut dyn Shrink, max_bytes: u64) -> Result<(), TooLarge> {
    let kept = plan.last_to_go();
    while plan.bytes() > max_bytes && plan.count() > kept && plan.drop_last() {}
    plan.before_cuts();
    if plan.cut_around_focus(max_bytes) {
        return Ok(());
    }
    while plan.drop_last() {
        plan.restore_cuts();
        if plan.cut_around_focus(max_bytes) {
            return Ok(());
        }
    }
    Err(TooLarge { minimum: plan.bytes() })
}
