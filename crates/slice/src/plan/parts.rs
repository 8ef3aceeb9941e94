//! The declarations of a plan in their order, which of them are in, and what they cost together.
//!
//! Every cost is counted when it comes in and subtracted when it goes, so that a thousand drops cost as much as one look at each.

/// What one declaration costs.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Cost {
    pub(crate) bytes: usize,
    /// How often its own position is written in it, in digits that are not part of `bytes`.
    pub(crate) positions: usize,
}

impl Cost {
    fn at(self, position: usize) -> usize {
        self.bytes + self.positions * digits(position)
    }
}

/// The declarations of a plan.
#[derive(Debug, Default)]
pub(crate) struct Parts {
    costs: Vec<Cost>,
    is_in: Vec<bool>,
    /// The part that never goes.
    focus: Option<usize>,
    /// Parts from here on are dropped, except the focus.
    end: usize,
    bytes: usize,
    count: usize,
}

impl Parts {
    /// Adds a part at the end.
    pub(crate) fn push(&mut self, cost: Cost, is_focus: bool) {
        if is_focus {
            self.focus = Some(self.costs.len());
        }
        self.bytes += cost.at(self.count);
        self.count += 1;
        self.costs.push(cost);
        self.is_in.push(true);
        self.end = self.costs.len();
    }

    /// What the parts that are in cost together.
    pub(crate) fn bytes(&self) -> usize {
        self.bytes
    }

    /// How many parts are in.
    pub(crate) fn count(&self) -> usize {
        self.count
    }

    pub(crate) fn focus(&self) -> Option<usize> {
        self.focus
    }

    pub(crate) fn is_in(&self, part: usize) -> bool {
        self.is_in.get(part) == Some(&true)
    }

    /// Drops the last part that is not in focus. Tells whether there was one.
    pub(crate) fn drop_last(&mut self) -> bool {
        while let Some(last) = self.end.checked_sub(1) {
            if self.is_in(last) && Some(last) != self.focus {
                self.remove(last);
                return true;
            }
            self.end = last;
        }
        false
    }

    /// The place of a part that is in. Parts at the end are asked for at every drop, and must not be searched for.
    pub(crate) fn position(&self, part: usize) -> usize {
        let is_focus_behind = self.focus.is_some_and(|focus| focus >= self.end);
        if part >= self.end {
            return self.count - 1;
        }
        if part + 1 == self.end {
            return self.count - 1 - usize::from(is_focus_behind);
        }
        self.is_in.iter().take(part).filter(|is_in| **is_in).count()
    }

    /// Another cost for a part that is in.
    pub(crate) fn set_cost(&mut self, part: usize, cost: Cost) {
        let position = self.position(part);
        let Some(slot) = self.costs.get_mut(part) else { return };
        let old = std::mem::replace(slot, cost);
        self.bytes = self.bytes - old.at(position) + cost.at(position);
    }

    /// Other costs for all parts. `cost` is asked for those that are in.
    pub(crate) fn recount(&mut self, cost: impl Fn(usize) -> Cost) {
        (self.bytes, self.count) = (0, 0);
        for (part, slot) in self.costs.iter_mut().enumerate().filter(|(part, _)| self.is_in.get(*part) == Some(&true)) {
            *slot = cost(part);
            self.bytes += slot.at(self.count);
            self.count += 1;
        }
    }

    /// Takes back every drop but those that `keep` refuses; it is told whether the part was in.
    pub(crate) fn start_over(&mut self, keep: impl Fn(usize, bool) -> bool) {
        for (part, is_in) in self.is_in.iter_mut().enumerate() {
            *is_in = keep(part, *is_in);
        }
        self.end = self.costs.len();
        let costs = std::mem::take(&mut self.costs);
        let known = costs.clone();
        self.costs = costs;
        self.recount(|part| known.get(part).copied().unwrap_or_default());
    }

    fn remove(&mut self, part: usize) {
        let position = self.position(part);
        let Some(is_in) = self.is_in.get_mut(part) else { return };
        *is_in = false;
        self.bytes -= self.costs.get(part).map_or(0, |cost| cost.at(position));
        self.count -= 1;
        self.end = part;
        // A focus behind what was dropped moves up by one place.
        if let Some(focus) = self.focus.filter(|&focus| focus >= self.end) {
            let position = self.position(focus);
            let positions = self.costs.get(focus).map_or(0, |cost| cost.positions);
            self.bytes -= positions * (digits(position + 1) - digits(position));
        }
    }
}

fn digits(number: usize) -> usize {
    number.checked_ilog10().unwrap_or(0) as usize + 1
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_sum_is_right_after_every_drop() {
        for focus in [None, Some(0), Some(5), Some(19)] {
            let mut parts = Parts::default();
            let cost = |part: usize| Cost { bytes: part + 1, positions: part % 3 };
            (0..20).for_each(|part| parts.push(cost(part), Some(part) == focus));
            loop {
                let left = (0..20).filter(|&part| parts.is_in(part)).enumerate();
                let sum: usize = left.map(|(position, part)| cost(part).at(position)).sum();
                assert_eq!(parts.bytes(), sum, "{focus:?}, {} parts", parts.count());
                if !parts.drop_last() {
                    break;
                }
            }
            assert_eq!(parts.count(), usize::from(focus.is_some()));
            parts.start_over(|part, _| part != 3);
            assert_eq!((parts.count(), parts.is_in(3)), (19, false));
        }
    }
}
