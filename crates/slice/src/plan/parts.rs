//! The declarations of a plan in order, which of them are kept, and their total cost.
//!
//! Costs are added and subtracted as declarations come and go, so that dropping a thousand takes linear time.

/// The cost of one declaration.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Cost {
    pub(crate) bytes: usize,
    /// How often its own index is written in it, whose digits are not part of `bytes`.
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
    /// The part that is never dropped.
    focus: Option<usize>,
    /// Parts from this index on are dropped, except the focus.
    end: usize,
    bytes: usize,
    count: usize,
}

impl Parts {
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

    /// The total cost of the kept parts.
    pub(crate) fn bytes(&self) -> usize {
        self.bytes
    }

    /// The number of kept parts.
    pub(crate) fn count(&self) -> usize {
        self.count
    }

    pub(crate) fn focus(&self) -> Option<usize> {
        self.focus
    }

    pub(crate) fn is_in(&self, part: usize) -> bool {
        self.is_in.get(part) == Some(&true)
    }

    /// The last kept part that is not in focus: the next to be dropped.
    pub(crate) fn last(&mut self) -> Option<usize> {
        while let Some(last) = self.end.checked_sub(1) {
            if self.is_in(last) && Some(last) != self.focus {
                return Some(last);
            }
            self.end = last;
        }
        None
    }

    /// The index of a kept part in the output. Called at every drop for parts at the end, so a linear search would be quadratic
    /// in total.
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

    /// Replaces the cost of a kept part.
    pub(crate) fn set_cost(&mut self, part: usize, cost: Cost) {
        let position = self.position(part);
        let Some(slot) = self.costs.get_mut(part) else { return };
        let old = std::mem::replace(slot, cost);
        self.bytes = self.bytes - old.at(position) + cost.at(position);
    }

    /// Drops a part, unless it is the focus. O(1) for the last part; for others the sum is recomputed.
    pub(crate) fn remove(&mut self, part: usize) {
        if !self.is_in(part) || Some(part) == self.focus {
            return;
        }
        let position = self.position(part);
        if let Some(is_in) = self.is_in.get_mut(part) {
            *is_in = false;
        }
        self.count -= 1;
        if part + 1 != self.end {
            self.bytes = self.sum();
            return;
        }
        self.bytes -= self.costs.get(part).map_or(0, |cost| cost.at(position));
        self.end = part;
        // A focus after the dropped part moves up by one.
        if let Some(focus) = self.focus.filter(|&focus| focus >= self.end) {
            let position = self.position(focus);
            let positions = self.costs.get(focus).map_or(0, |cost| cost.positions);
            self.bytes -= positions * (digits(position + 1) - digits(position));
        }
    }

    fn sum(&self) -> usize {
        let costs = self.costs.iter().zip(&self.is_in).filter(|(_, is_in)| **is_in);
        costs.enumerate().map(|(position, (cost, _))| cost.at(position)).sum()
    }
}

fn digits(number: usize) -> usize {
    number.checked_ilog10().unwrap_or(0) as usize + 1
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sums_are_correct_after_every_drop() {
        for (focus, early) in [(None, 3), (Some(0), 12), (Some(5), 5), (Some(19), 0)] {
            let mut parts = Parts::default();
            let cost = |part: usize| Cost { bytes: part + 1, positions: part % 3 };
            (0..20).for_each(|part| parts.push(cost(part), Some(part) == focus));
            let check = |parts: &Parts| {
                let left = (0..20).filter(|&part| parts.is_in(part)).enumerate();
                let sum: usize = left.clone().map(|(position, part)| cost(part).at(position)).sum();
                assert_eq!((parts.bytes(), parts.count()), (sum, left.clone().count()), "{focus:?}");
                left.for_each(|(position, part)| assert_eq!(parts.position(part), position, "{focus:?}"));
            };
            check(&parts);
            parts.remove(early);
            assert_eq!(parts.is_in(early), focus == Some(early), "any part but the focus may go");
            check(&parts);
            while let Some(last) = parts.last() {
                parts.remove(last);
                check(&parts);
            }
            assert_eq!(parts.count(), usize::from(focus.is_some()));
        }
    }
}
