//! Many short texts in one allocation, whatever they mean.

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Texts {
    text: String,
    /// The end of each text; it starts at the end of the previous one.
    ends: Vec<usize>,
}

impl Texts {
    pub(crate) fn push(&mut self, text: &str) {
        self.text.push_str(text);
        self.ends.push(self.text.len());
    }

    /// `ends` must be ascending and at character boundaries; the last one is the length of `text`.
    pub(super) fn of_parts(text: String, ends: Vec<usize>) -> Self {
        Self { text, ends }
    }

    /// All texts, concatenated.
    pub(super) fn text(&self) -> &str {
        &self.text
    }

    pub(super) fn ends(&self) -> &[usize] {
        &self.ends
    }

    pub(crate) fn len(&self) -> usize {
        self.ends.len()
    }

    /// Panics if the index is out of range.
    pub(crate) fn get(&self, index: usize) -> &str {
        let start = if index == 0 { 0 } else { self.ends[index - 1] };
        &self.text[start..self.ends[index]]
    }

    /// The index of a text; the texts must be sorted.
    pub(crate) fn find(&self, text: &str) -> Option<usize> {
        let (mut low, mut high) = (0, self.len());
        while low < high {
            let middle = low + (high - low) / 2;
            match self.get(middle).cmp(text) {
                std::cmp::Ordering::Less => low = middle + 1,
                std::cmp::Ordering::Greater => high = middle,
                std::cmp::Ordering::Equal => return Some(middle),
            }
        }
        None
    }

    pub(crate) fn is_sorted_and_unique(&self) -> bool {
        (1..self.len()).all(|index| self.get(index - 1) < self.get(index))
    }
}
