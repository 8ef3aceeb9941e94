//! Flat binary sections: arrays of numbers and blobs that are read in place, without decoding what is not needed.
//!
//! Everything is little-endian. Readers return `None` on anything that does not fit: a corrupt cache is ignored.

/// Builds one section.
#[derive(Default)]
pub(crate) struct SectionWriter {
    bytes: Vec<u8>,
}

impl SectionWriter {
    pub(crate) fn with_capacity(capacity: usize) -> Self {
        Self { bytes: Vec::with_capacity(capacity) }
    }

    /// Appends to `bytes`.
    pub(crate) fn after(bytes: Vec<u8>) -> Self {
        Self { bytes }
    }

    pub(crate) fn reserve(&mut self, more: usize) {
        self.bytes.reserve(more);
    }

    pub(crate) fn into_bytes(self) -> Vec<u8> {
        self.bytes
    }

    pub(crate) fn len(&self) -> usize {
        self.bytes.len()
    }

    fn u32(&mut self, value: u32) {
        self.bytes.extend_from_slice(&value.to_le_bytes());
    }

    pub(crate) fn u64(&mut self, value: u64) {
        self.bytes.extend_from_slice(&value.to_le_bytes());
    }

    pub(crate) fn raw(&mut self, bytes: &[u8]) {
        self.bytes.extend_from_slice(bytes);
    }

    /// Bytes, preceded by their length.
    pub(crate) fn blob(&mut self, bytes: &[u8]) {
        self.u64(bytes.len() as u64);
        self.raw(bytes);
    }

    pub(crate) fn u32s(&mut self, values: impl ExactSizeIterator<Item = u32>) {
        self.u64(values.len() as u64 * 4);
        values.for_each(|value| self.u32(value));
    }

    /// One array of numbers, given in pieces.
    pub(crate) fn u32_pieces<'n>(&mut self, pieces: impl Iterator<Item = &'n [u32]> + Clone) {
        let count: usize = pieces.clone().map(<[u32]>::len).sum();
        self.u64(count as u64 * 4);
        self.bytes.reserve(count * 4);
        pieces.flatten().for_each(|value| self.u32(*value));
    }

    /// One blob, given in pieces.
    pub(crate) fn blob_pieces<'b>(&mut self, pieces: impl Iterator<Item = &'b [u8]> + Clone) {
        self.u64(pieces.clone().map(|piece| piece.len() as u64).sum());
        pieces.for_each(|piece| self.raw(piece));
    }

    /// Writes the end offsets of several lists as one list. Each input list counts from 0.
    pub(crate) fn ends(&mut self, lists: &[&[u32]]) -> Option<()> {
        let count: usize = lists.iter().map(|ends| ends.len()).sum();
        self.u64(count as u64 * 4);
        self.bytes.reserve(count * 4);
        let mut before = 0u32;
        for ends in lists {
            for end in *ends {
                self.u32(before.checked_add(*end)?);
            }
            before = before.checked_add(ends.last().copied().unwrap_or(0)).filter(|end| *end < u32::MAX)?;
        }
        Some(())
    }

    /// Several lists of blobs as one list; see [`SectionWriter::blobs`].
    pub(crate) fn blob_lists(&mut self, lists: &[&BlobList]) -> Option<()> {
        self.ends(&lists.iter().map(|list| list.ends.as_slice()).collect::<Vec<_>>())?;
        self.blob_pieces(lists.iter().map(|list| list.bytes.as_slice()));
        Some(())
    }

    /// Many blobs: the end offset of each, then all bytes.
    pub(crate) fn blobs<'b>(&mut self, blobs: impl Iterator<Item = &'b [u8]> + Clone) {
        let ends: Vec<u32> = blobs
            .clone()
            .scan(0u32, |end, blob| {
                *end = end.saturating_add(u32::try_from(blob.len()).unwrap_or(u32::MAX));
                Some(*end)
            })
            .collect();
        self.u32s(ends.iter().copied());
        self.u64(u64::from(ends.last().copied().unwrap_or(0)));
        blobs.for_each(|blob| self.raw(blob));
    }
}

/// Blobs one after the other, before they are written.
#[derive(Default)]
pub(crate) struct BlobList {
    pub(crate) bytes: Vec<u8>,
    ends: Vec<u32>,
}

impl BlobList {
    /// An empty list with capacity for `count` blobs.
    pub(crate) fn with_capacity(count: usize) -> Self {
        Self { bytes: Vec::new(), ends: Vec::with_capacity(count) }
    }

    pub(crate) fn u32(&mut self, value: u32) {
        self.bytes.extend_from_slice(&value.to_le_bytes());
    }

    /// Ends the blob whose bytes were appended to `bytes`.
    pub(crate) fn end(&mut self) {
        self.ends.push(u32::try_from(self.bytes.len()).unwrap_or(u32::MAX));
    }
}

/// Reads the output of a [`SectionWriter`], in the same order.
#[derive(Clone, Copy)]
pub(crate) struct SectionReader<'b> {
    bytes: &'b [u8],
}

impl<'b> SectionReader<'b> {
    pub(crate) fn new(bytes: &'b [u8]) -> Self {
        Self { bytes }
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.bytes.is_empty()
    }

    fn take(&mut self, length: usize) -> Option<&'b [u8]> {
        let (taken, rest) = self.bytes.split_at_checked(length)?;
        self.bytes = rest;
        Some(taken)
    }

    pub(crate) fn u64(&mut self) -> Option<u64> {
        Some(u64::from_le_bytes(self.take(8)?.try_into().ok()?))
    }

    pub(crate) fn blob(&mut self) -> Option<&'b [u8]> {
        let length = usize::try_from(self.u64()?).ok()?;
        self.take(length)
    }

    pub(crate) fn u32s(&mut self) -> Option<U32s<'b>> {
        let bytes = self.blob()?;
        (bytes.len() % 4 == 0).then_some(U32s { bytes })
    }

    pub(crate) fn blobs(&mut self) -> Option<Blobs<'b>> {
        Some(Blobs { ends: self.u32s()?, bytes: self.blob()? })
    }
}

/// An array of numbers inside a section.
#[derive(Clone, Copy)]
pub(crate) struct U32s<'b> {
    bytes: &'b [u8],
}

impl<'b> U32s<'b> {
    pub(crate) fn len(&self) -> usize {
        self.bytes.len() / 4
    }

    pub(crate) fn get(&self, index: usize) -> Option<u32> {
        let bytes = self.bytes.get(index.checked_mul(4)?..)?.get(..4)?;
        Some(u32::from_le_bytes([bytes[0], bytes[1], bytes[2], bytes[3]]))
    }

    pub(crate) fn iter(&self) -> impl Iterator<Item = u32> + 'b {
        self.bytes.as_chunks::<4>().0.iter().map(|bytes| u32::from_le_bytes(*bytes))
    }
}

/// An array of byte strings inside a section.
#[derive(Clone, Copy)]
pub(crate) struct Blobs<'b> {
    ends: U32s<'b>,
    bytes: &'b [u8],
}

impl<'b> Blobs<'b> {
    pub(crate) fn len(&self) -> usize {
        self.ends.len()
    }

    pub(crate) fn get(&self, index: usize) -> Option<&'b [u8]> {
        let start = if index == 0 { 0 } else { self.ends.get(index - 1)? };
        self.bytes.get(start as usize..self.ends.get(index)? as usize)
    }

    pub(crate) fn text(&self, index: usize) -> Option<&'b str> {
        std::str::from_utf8(self.get(index)?).ok()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn written_sections_are_read_back() {
        let mut writer = SectionWriter::default();
        writer.u64(u64::MAX);
        writer.u32s([1, 2, u32::MAX].into_iter());
        writer.blobs([b"a".as_slice(), b"", b"ccc"].into_iter());
        let bytes = writer.into_bytes();
        let mut reader = SectionReader::new(&bytes);
        assert_eq!(reader.u64(), Some(u64::MAX));
        assert_eq!(reader.u32s().map(|values| values.iter().collect()), Some(vec![1, 2, u32::MAX]));
        let blobs = reader.blobs().unwrap();
        assert_eq!((blobs.len(), blobs.text(0), blobs.text(1), blobs.text(2)), (3, Some("a"), Some(""), Some("ccc")));
        assert!(reader.is_empty());
    }

    #[test]
    fn several_lists_are_written_as_one() {
        let list = |blobs: &[&[u8]]| {
            let mut list = BlobList::default();
            for blob in blobs {
                list.bytes.extend_from_slice(blob);
                list.end();
            }
            list
        };
        let (one, none, other) = (list(&[b"a", b""]), list(&[]), list(&[b"ccc"]));
        let mut writer = SectionWriter::default();
        writer.blob_lists(&[&one, &none, &other]).unwrap();
        writer.u32_pieces([[1, 2].as_slice(), &[], &[3]].into_iter());
        writer.blob_pieces([b"x".as_slice(), b"", b"yz"].into_iter());
        let bytes = writer.into_bytes();
        let mut reader = SectionReader::new(&bytes);
        let blobs = reader.blobs().unwrap();
        assert_eq!((blobs.len(), blobs.text(0), blobs.text(1), blobs.text(2)), (3, Some("a"), Some(""), Some("ccc")));
        assert_eq!(reader.u32s().map(|values| values.iter().collect()), Some(vec![1, 2, 3]));
        assert_eq!(reader.blob(), Some(b"xyz".as_slice()));
        assert!(reader.is_empty());
    }

    #[test]
    fn truncated_sections_are_refused() {
        let mut writer = SectionWriter::default();
        writer.u32s([1, 2, 3].into_iter());
        let bytes = writer.into_bytes();
        for length in 0..bytes.len() {
            assert!(SectionReader::new(&bytes[..length]).u32s().is_none(), "{length}");
        }
    }
}
