//! What becomes of large values at the end of a run. A program that ends after a run leaves them to the operating system,
//! which takes memory back at once; freeing hundreds of thousands of small pieces takes longer. A process that lives on
//! must free them.

use std::ops::Deref;

/// The policy of an engine, which the program chooses.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Memory {
    leaks: bool,
}

impl Memory {
    /// Values are freed when they are not needed any more.
    pub(crate) fn freed() -> Self {
        Self { leaks: false }
    }

    /// Large values stay until the process ends.
    pub(crate) fn left_to_the_system() -> Self {
        Self { leaks: true }
    }

    /// A value that is used until the end of a scope, and freed there unless the policy says otherwise.
    pub(crate) fn keep<'v, T: 'v>(self, value: T) -> Held<'v, T> {
        if self.leaks { Held::Leaked(Box::leak(Box::new(value))) } else { Held::Owned(value) }
    }

    /// A value that is not needed any more.
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
