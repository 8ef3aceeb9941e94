//! Dense numbers for files within one run.

/// A number for something that may become a node of the graph. Assigned within one run, dense, and never shown or stored, because
/// the order depends on thread scheduling.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct FileKey(pub u32);

impl FileKey {
    /// The index into lists by key.
    pub fn index(self) -> usize {
        self.0 as usize
    }
}
