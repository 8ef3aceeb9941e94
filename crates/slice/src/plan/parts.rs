//! The declarations of a plan in their order, which of them are in, and what they cost together.
//!
//! A cost is added when its declaration comes in and subtracted when it goes, so that dropping a thousand is linear.

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

    /// The last part that is in and not in focus: the next to go.
    pub(crate) fn last(&mut self) -> Option<usize> {
        while let Some(last) = self.end.checked_sub(1) {
            if self.is_in(last) && Some(last) != self.focus {
                return Some(last);
            }
            self.end = last;
        }
        None
    }

    /// The place of a part that is in. Parts at the end are requested at every drop, so a search would be quadratic.
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

    /// Drops a part, unless it is the focus. The last one goes at once; for another the sum is made again.
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
        // A focus behind what was dropped moves up by one place.
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
    fn the_sum_is_right_after_every_drop() {
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
