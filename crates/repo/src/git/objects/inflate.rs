//! Inflates zlib streams that are read in pieces, only as far as needed. Knows nothing of git.

use miniz_oxide::inflate::TINFLStatus;
use miniz_oxide::inflate::core::inflate_flags::{
    TINFL_FLAG_HAS_MORE_INPUT, TINFL_FLAG_PARSE_ZLIB_HEADER, TINFL_FLAG_USING_NON_WRAPPING_OUTPUT_BUF,
};
use miniz_oxide::inflate::core::{DecompressorOxide, decompress};
use miniz_oxide::inflate::stream::{InflateState, inflate};
use miniz_oxide::{DataFormat, MZError, MZFlush, MZStatus};

use super::error::GitError;
use super::short_stream;

/// The output starts at this size and doubles, so that a small stream takes little memory and a false size takes none.
const FIRST_PIECE: usize = 4096;

/// Bytes that can be read at any position.
pub(super) trait Source {
    /// Some bytes from `position` on; empty at the end.
    fn bytes_at(&mut self, position: u64) -> Result<&[u8], GitError>;
    /// The error for a damaged stream.
    fn damaged(&self, reason: &str) -> GitError;
}

/// Scratch memory, reused between streams.
pub(super) struct Inflater {
    state: Box<InflateState>,
    /// For streams of known size: writes directly to the output, without a window.
    exact: Box<DecompressorOxide>,
}

/// A larger object is inflated in pieces, so that a false size takes no memory.
const MAX_WHOLE_BYTES: usize = 1 << 20;

impl Inflater {
    pub(super) fn new() -> Self {
        Self { state: InflateState::new_boxed(DataFormat::Zlib), exact: Box::default() }
    }

    /// The first `max_bytes` bytes of the stream at `start`, and whether the stream ends there.
    pub(super) fn inflate(
        &mut self,
        source: &mut dyn Source,
        start: u64,
        max_bytes: usize,
    ) -> Result<(Vec<u8>, bool), GitError> {
        self.state.reset(DataFormat::Zlib);
        let mut out = Vec::new();
        let mut position = start;
        loop {
            let filled = out.len();
            out.resize(filled.saturating_add(filled.max(FIRST_PIECE)).min(max_bytes), 0);
            let room = out.get_mut(filled..).unwrap_or_default();
            let result = inflate(&mut self.state, source.bytes_at(position)?, room, MZFlush::None);
            out.truncate(filled.saturating_add(result.bytes_written));
            position = position.saturating_add(result.bytes_consumed as u64);
            match result.status {
                Ok(MZStatus::StreamEnd) => return Ok((out, true)),
                // No progress: either the output is full, or the rest of the stream is missing.
                Ok(_) | Err(MZError::Buf) if result.bytes_consumed == 0 && result.bytes_written == 0 => {
                    if out.len() == max_bytes {
                        return Ok((out, false));
                    }
                    return Err(source.damaged("compressed bytes end too early"));
                }
                Ok(_) | Err(MZError::Buf) => {}
                Err(_) => return Err(source.damaged("compressed bytes are not what zlib writes")),
            }
        }
    }

    /// The whole stream at `start`, which must have exactly `size` bytes.
    pub(super) fn inflate_exactly(
        &mut self,
        source: &mut dyn Source,
        start: u64,
        size: usize,
    ) -> Result<Vec<u8>, GitError> {
        if size <= MAX_WHOLE_BYTES {
            return self.inflate_at_once(source, start, size);
        }
        // One byte more, to detect a stream that is longer than its size.
        let (bytes, ended) = self.inflate(source, start, size.saturating_add(1))?;
        if ended && bytes.len() == size {
            Ok(bytes)
        } else {
            Err(source.damaged("an object has another size than it says"))
        }
    }

    fn inflate_at_once(&mut self, source: &mut dyn Source, start: u64, size: usize) -> Result<Vec<u8>, GitError> {
        if let Some(bytes) = short_stream::inflate(source.bytes_at(start)?, size) {
            return Ok(bytes);
        }
        self.exact.init();
        // One byte more than the object has: if the buffer is full, the decompressor may ask for more room before it reads the
        // end of the stream, which would look like an object that is too long.
        let mut out = vec![0; size.saturating_add(1)];
        let (mut filled, mut position) = (0, start);
        loop {
            let input = source.bytes_at(position)?;
            // Without more input, the end of the buffer is an error.
            let more = if input.is_empty() { 0 } else { TINFL_FLAG_HAS_MORE_INPUT };
            let flags = TINFL_FLAG_PARSE_ZLIB_HEADER | TINFL_FLAG_USING_NON_WRAPPING_OUTPUT_BUF | more;
            let (status, taken, written) = decompress(&mut self.exact, input, &mut out, filled, flags);
            filled += written;
            position = position.saturating_add(taken as u64);
            match status {
                TINFLStatus::Done if filled == size => {
                    out.truncate(size);
                    return Ok(out);
                }
                TINFLStatus::Done | TINFLStatus::HasMoreOutput => {
                    return Err(source.damaged("an object has another size than it says"));
                }
                TINFLStatus::NeedsMoreInput if more != 0 => {}
                TINFLStatus::NeedsMoreInput | TINFLStatus::FailedCannotMakeProgress => {
                    return Err(source.damaged("compressed bytes end too early"));
                }
                _ => return Err(source.damaged("compressed bytes are not what zlib writes")),
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use miniz_oxide::deflate::compress_to_vec_zlib;

    use super::{GitError, Inflater, Source};

    /// A stream that is returned in pieces of `piece` bytes.
    struct Pieces<'b> {
        bytes: &'b [u8],
        piece: usize,
    }

    impl Source for Pieces<'_> {
        fn bytes_at(&mut self, position: u64) -> Result<&[u8], GitError> {
            let rest = self.bytes.get(usize::try_from(position).expect("small")..).unwrap_or_default();
            Ok(rest.get(..self.piece).unwrap_or(rest))
        }

        fn damaged(&self, reason: &str) -> GitError {
            GitError::damaged("pieces", reason)
        }
    }

    /// Runs of one byte become long matches, and mixed bytes become literals; level 0 stores bytes uncompressed.
    fn contents() -> Vec<Vec<u8>> {
        let mixed = |length: usize| (0..length).map(|n| (n * n % 251) as u8).collect::<Vec<u8>>();
        let lengths = [0, 1, 2, 3, 100, 257, 258, 259, 300, 516, 1000, 32_768, 40_000];
        lengths.iter().flat_map(|&length| [vec![b'a'; length], mixed(length), b"tree ".repeat(length / 5)]).collect()
    }

    #[test]
    fn streams_of_every_kind_are_inflated_from_pieces_of_every_size() {
        let mut inflater = Inflater::new();
        for content in contents() {
            for level in [0, 1, 6, 9] {
                let bytes = compress_to_vec_zlib(&content, level);
                for piece in [1, 2, 7, 64, 4096, usize::MAX] {
                    let mut source = Pieces { bytes: &bytes, piece };
                    let made = inflater.inflate_exactly(&mut source, 0, content.len()).expect("a sound stream");
                    assert!(made == content, "{} bytes, level {level}, pieces of {piece}", content.len());
                }
            }
        }
    }

    #[test]
    fn a_stream_of_another_size_is_damaged() {
        let mut inflater = Inflater::new();
        for content in contents() {
            let bytes = compress_to_vec_zlib(&content, 6);
            for size in [content.len().wrapping_sub(1), content.len() + 1, content.len() + 300] {
                if size == usize::MAX {
                    continue;
                }
                let mut source = Pieces { bytes: &bytes, piece: 64 };
                assert!(inflater.inflate_exactly(&mut source, 0, size).is_err(), "{} as {size}", content.len());
            }
        }
    }
}
