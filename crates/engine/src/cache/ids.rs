//! Numbers in the cache. A file has a record, and a node has an index in the graph: the two are numbered separately.

/// The number of a file's record. Records of the universe come first, in its order.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) struct RecordId(pub(crate) u32);

/// The number of a node in the stored graph, in the order of ids.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) struct NodeIndex(pub(crate) u32);

impl RecordId {
    /// The target of a request that resolves to no file.
    pub(crate) const NONE: Self = Self(u32::MAX);
    /// A file that the run did not analyse, so it has no record.
    pub(crate) const UNKNOWN: Self = Self(u32::MAX - 1);

    /// The id of the record at a position.
    pub(crate) fn at(position: usize) -> Self {
        Self(u32::try_from(position).unwrap_or(u32::MAX))
    }

    pub(crate) fn index(self) -> usize {
        self.0 as usize
    }

    /// Whether it is the id of a record: neither `NONE` nor `UNKNOWN`.
    pub(crate) fn is_record(self) -> bool {
        self != Self::NONE && self != Self::UNKNOWN
    }
}

impl NodeIndex {
    /// Stored for a file that is not a node.
    pub(crate) const NONE: Self = Self(u32::MAX);

    pub(crate) fn index(self) -> usize {
        self.0 as usize
    }
}
