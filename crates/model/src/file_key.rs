//! Numbers for files in one run.

/// A number for something that may become a node of the graph: given out by one run, dense, and never shown or stored,
/// because the order may depend on threads.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct FileKey(pub u32);

impl FileKey {
    /// As an index into lists by key.
    pub fn index(self) -> usize {
        self.0 as usize
    }
}
