//! Whether large values are freed at the end of a run. A program that exits after one run leaks them: the operating system takes the
//! memory back at once, while freeing hundreds of thousands of small allocations takes longer. A long-lived process must free them.

use std::ops::Deref;

/// The policy of an engine, which the program chooses.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Memory {
    leaks: bool,
}

impl Memory {
    /// Values are freed as soon as they are not needed.
    pub(crate) fn freed() -> Self {
        Self { leaks: false }
    }

    /// Large values are leaked until the process ends.
    pub(crate) fn left_to_the_system() -> Self {
        Self { leaks: true }
    }

    /// Wraps a value that is used until the end of a scope: freed there, or leaked.
    pub(crate) fn keep<'v, T: 'v>(self, value: T) -> Held<'v, T> {
        if self.leaks { Held::Leaked(Box::leak(Box::new(value))) } else { Held::Owned(value) }
    }

    /// Frees or leaks a value.
    pub(crate) fn release<T>(self, value: T) {
        if self.leaks {
            std::mem::forget(value);
        }
    }
}

/// See [`Memory::keep`].
pub(crate) enum Held<'v, T> {
    Owned(T),
    Leaked(&'v T),
}

impl<T> Deref for Held<'_, T> {
    type Target = T;

    fn deref(&self) -> &T {
        match self {
            Self::Owned(value) => value,
            Self::Leaked(value) => value,
        }
    }
}
