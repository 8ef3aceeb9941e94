//! Binary patches: their syntax is checked, line by line. They are not applied: binary files are never archived, so there is
//! nothing to compare the result with.

use super::{DiffError, Lines};

/// A well-formed `GIT binary patch`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct BinaryPatch {
    /// A delta needs the old bytes; a literal contains all new ones.
    pub(crate) is_delta: bool,
}

impl BinaryPatch {
    /// Parses the forward part and, if there is one, the backward part, from line `start`.
    pub(super) fn parse(lines: &Lines<'_>, start: usize, has_full_index: bool) -> (Result<Self, DiffError>, usize) {
        let (forward, next) = match read_part(lines, start) {
            Ok(Some(part)) => part,
            Ok(None) => {
                let message = "a binary patch goes on with `literal` or `delta` and a size";
                return (Err(DiffError::new(start.saturating_sub(1), message)), start);
            }
            Err(error) => return (Err(error), start),
        };
        let end = match read_part(lines, next) {
            Ok(Some((_, end))) => end,
            Ok(None) => next,
            Err(error) => return (Err(error), next),
        };
        if !has_full_index {
            let message = "a binary patch needs an `index` line with both hashes in full";
            return (Err(DiffError::new(start.saturating_sub(1), message)), end);
        }
        (Ok(forward), end)
    }
}

fn read_part(lines: &Lines<'_>, start: usize) -> Result<Option<(BinaryPatch, usize)>, DiffError> {
    let Some(line) = lines.get(start).map(|line| line.trim_end_matches('\r')) else { return Ok(None) };
    let (size, is_delta) = match (line.strip_prefix("literal "), line.strip_prefix("delta ")) {
        (Some(size), _) => (size, false),
        (None, Some(size)) => (size, true),
        (None, None) => return Ok(None),
    };
    if size.is_empty() || !size.bytes().all(|byte| byte.is_ascii_digit()) {
        return Err(DiffError::new(start, "the size of a binary patch is a number"));
    }
    let mut at = start + 1;
    while let Some(line) = lines.get(at).map(|line| line.trim_end_matches('\r')) {
        at += 1;
        if line.is_empty() {
            return Ok(Some((BinaryPatch { is_delta }, at)));
        }
        if !is_data_line(line.as_bytes()) {
            return Err(DiffError::new(at - 1, "this line is not data of a binary patch"));
        }
    }
    Err(DiffError::new(at.saturating_sub(1), "the binary patch is cut off: an empty line ends its data"))
}

/// One letter for the length, then five base-85 characters for each four bytes.
fn is_data_line(line: &[u8]) -> bool {
    let Some((&first, data)) = line.split_first() else { return false };
    let length = match first {
        b'A'..=b'Z' => usize::from(first - b'A') + 1,
        b'a'..=b'z' => usize::from(first - b'a') + 27,
        _ => return false,
    };
    let is_base85 = |byte: &u8| byte.is_ascii_alphanumeric() || b"!#$%&()*+-;<=>?@^_`{|}~".contains(byte);
    data.len() == length.div_ceil(4) * 5 && data.iter().all(is_base85)
}
