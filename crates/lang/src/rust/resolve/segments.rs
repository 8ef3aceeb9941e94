//! The names of a path, cut where they are asked for. What they mean is found by `names.rs`.

/// The names of a path, one after the other.
#[derive(Clone, Copy)]
pub(super) struct Segments<'n>(Option<&'n str>);

impl<'n> Iterator for Segments<'n> {
    type Item = &'n str;

    fn next(&mut self) -> Option<&'n str> {
        let rest = self.0?;
        // Names have no colon, so that the first one is that of `::`. Paths are short: setting up a search would cost more than it.
        let end = rest.bytes().position(|byte| byte == b':');
        self.0 = end.and_then(|end| rest.get(end + 2..));
        end.map_or(Some(rest), |end| rest.get(..end))
    }
}

impl<'n> Segments<'n> {
    pub(super) fn of(path: &'n str) -> Self {
        Self(Some(path))
    }

    /// The next name, which stays where it is.
    pub(super) fn peek(mut self) -> Option<&'n str> {
        self.next()
    }

    pub(super) fn is_at_end(self) -> bool {
        self.0.is_none()
    }
}
