//! Splits a path into segments on demand. `names.rs` resolves them.

/// The remaining segments of a path.
#[derive(Clone, Copy)]
pub(super) struct Segments<'n>(Option<&'n str>);

impl<'n> Iterator for Segments<'n> {
    type Item = &'n str;

    fn next(&mut self) -> Option<&'n str> {
        let rest = self.0?;
        // A segment contains no colon, so the first colon is that of `::`. A plain loop: paths are short, and setting up a
        // vectorised search would cost more.
        let end = rest.bytes().position(|byte| byte == b':');
        self.0 = end.and_then(|end| rest.get(end + 2..));
        end.map_or(Some(rest), |end| rest.get(..end))
    }
}

impl<'n> Segments<'n> {
    pub(super) fn of(path: &'n str) -> Self {
        Self(Some(path))
    }

    /// The next segment, without consuming it.
    pub(super) fn peek(mut self) -> Option<&'n str> {
        self.next()
    }

    pub(super) fn is_at_end(self) -> bool {
        self.0.is_none()
    }
}
