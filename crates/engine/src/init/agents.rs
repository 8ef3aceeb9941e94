//! The block of AGENTS.md: found by its markers, inserted, updated, removed. Bytes in, bytes out. The text around the block is
//! never changed, and removing the block restores the exact bytes from before.

use std::ops::Range;

use super::text;

const BEGIN: &[u8] = b"<!-- stan:begin -->";
const END: &[u8] = b"<!-- stan:end -->";

/// Markers that do not enclose exactly one block, so that no change is safe.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct BrokenMarkers {
    /// 1-based.
    pub(super) line: usize,
    pub(super) reason: &'static str,
}

#[derive(Debug, PartialEq, Eq)]
pub(super) enum Addition {
    /// The block exists and is up to date.
    Unchanged,
    /// There was no block; these are the bytes with it.
    Added(Vec<u8>),
    /// The block had another text; these are the bytes with the new one.
    Updated(Vec<u8>),
}

#[derive(Debug, PartialEq, Eq)]
pub(super) enum Removal {
    NoBlock,
    /// The remaining bytes. May be empty, if the file was empty before the block was added.
    Rest(Vec<u8>),
    /// The file contained only the block.
    NothingLeft,
}

/// `block` has line feeds, including a final one. `before` is `None` for a file that does not exist.
pub(super) fn add(before: Option<&[u8]>, block: &str) -> Result<Addition, BrokenMarkers> {
    let Some(before) = before else { return Ok(Addition::Added(block.as_bytes().to_vec())) };
    let found = find(before)?;
    // An existing block keeps its own line ends: if the file had none, they were chosen when the block was added.
    let like = found.clone().and_then(|found| before.get(found)).unwrap_or(before);
    let line_end = text::line_end(like);
    let block = if line_end == "\n" { block.to_owned() } else { block.replace('\n', line_end) };
    // The end of the last line records for `remove` how the file ended before the block was added.
    let without_end = block.strip_suffix(line_end).unwrap_or(&block).as_bytes();
    let mut after = Vec::with_capacity(before.len() + block.len() + 2);
    let Some(found) = found else {
        after.extend_from_slice(before);
        if before.is_empty() {
            after.extend_from_slice(without_end);
        } else if text::lacks_final_line_end(before) {
            after.extend_from_slice(line_end.as_bytes());
            after.extend_from_slice(without_end);
        } else {
            after.extend_from_slice(block.as_bytes());
        }
        return Ok(Addition::Added(after));
    };
    let ends_line = before.get(found.clone()).is_some_and(|old| old.ends_with(b"\n"));
    after.extend_from_slice(before.get(..found.start).unwrap_or_default());
    after.extend_from_slice(if ends_line { block.as_bytes() } else { without_end });
    after.extend_from_slice(before.get(found.end..).unwrap_or_default());
    Ok(if after == before { Addition::Unchanged } else { Addition::Updated(after) })
}

pub(super) fn remove(before: &[u8]) -> Result<Removal, BrokenMarkers> {
    let Some(found) = find(before)? else { return Ok(Removal::NoBlock) };
    let block = before.get(found.clone()).unwrap_or_default();
    let mut kept = before.get(..found.start).unwrap_or_default();
    if !block.ends_with(b"\n") {
        // The line end before the block was added with it, in the block's own line ends.
        kept = kept.strip_suffix(text::line_end(block).as_bytes()).unwrap_or(kept);
    } else if block.len() == before.len() {
        return Ok(Removal::NothingLeft);
    }
    Ok(Removal::Rest([kept, before.get(found.end..).unwrap_or_default()].concat()))
}

/// The bytes from the first marker to the end of the last marker's line.
fn find(bytes: &[u8]) -> Result<Option<Range<usize>>, BrokenMarkers> {
    let mut begin: Option<(usize, usize)> = None;
    let mut block = None;
    let mut start = if bytes.starts_with(text::BOM) { text::BOM.len() } else { 0 };
    let lines = bytes.get(start..).unwrap_or_default().split_inclusive(|byte| *byte == b'\n');
    for (index, whole) in lines.enumerate() {
        let line = index + 1;
        let broken = |reason| Err(BrokenMarkers { line, reason });
        let end = start + whole.len();
        match (marker(whole), begin) {
            (Marker::None, _) => {}
            (Marker::Untidy, _) => return broken("a marker of stan shares its line with other text"),
            (Marker::Begin, None) if block.is_none() => begin = Some((start, line)),
            (Marker::Begin, _) => return broken("a second block of stan begins here"),
            (Marker::End, Some((first, _))) => {
                block = Some(first..end);
                begin = None;
            }
            (Marker::End, None) => return broken("the block of stan ends here without having begun"),
        }
        start = end;
    }
    match begin {
        Some((_, line)) => Err(BrokenMarkers { line, reason: "the block of stan begins here and never ends" }),
        None => Ok(block),
    }
}

enum Marker {
    None,
    Begin,
    End,
    Untidy,
}

fn marker(line: &[u8]) -> Marker {
    let line = line.trim_ascii();
    if line == BEGIN {
        Marker::Begin
    } else if line == END {
        Marker::End
    } else if line.starts_with(BEGIN) || line.starts_with(END) {
        Marker::Untidy
    } else {
        Marker::None
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const BLOCK: &str = "<!-- stan:begin -->\nuse stan\n<!-- stan:end -->\n";

    fn check(before: &str, expected: &str) {
        let Ok(Addition::Added(after)) = add(Some(before.as_bytes()), BLOCK) else { panic!("{before:?}") };
        assert_eq!(String::from_utf8_lossy(&after), expected);
        assert_eq!(add(Some(&after), BLOCK), Ok(Addition::Unchanged), "{before:?}");
        assert_eq!(remove(&after), Ok(Removal::Rest(before.as_bytes().to_vec())), "{before:?}");
    }

    #[test]
    fn the_block_is_appended_and_removed_without_a_trace() {
        let bare = BLOCK.trim_end();
        check("# A\n", &format!("# A\n{BLOCK}"));
        check("# A", &format!("# A\n{bare}"));
        check("", bare);
        check("\n", &format!("\n{BLOCK}"));
        check("\u{feff}", &format!("\u{feff}{BLOCK}"));
        check("A\r\n", &format!("A\r\n{}", BLOCK.replace('\n', "\r\n")));
        check("A\r\nB", &format!("A\r\nB\r\n{}", bare.replace('\n', "\r\n")));
        check("A\r", &format!("A\r\n{bare}"));
        check("see `<!-- stan:begin -->`\n", &format!("see `<!-- stan:begin -->`\n{BLOCK}"));
    }

    #[test]
    fn a_file_of_its_own_goes_with_the_block() {
        assert_eq!(add(None, BLOCK), Ok(Addition::Added(BLOCK.as_bytes().to_vec())));
        assert_eq!(remove(BLOCK.as_bytes()), Ok(Removal::NothingLeft));
        assert_eq!(remove(b"# A\n"), Ok(Removal::NoBlock));
    }

    #[test]
    fn updating_touches_the_block_alone() {
        let old = "<!-- stan:begin -->\nold\nolder\n<!-- stan:end -->\n";
        for (before, after) in [("", ""), ("a\n\n", "\nb"), ("a\n", ""), ("\u{feff}", "x\n\n\n")] {
            let expected = format!("{before}{BLOCK}{after}").into_bytes();
            assert_eq!(add(Some(format!("{before}{old}{after}").as_bytes()), BLOCK), Ok(Addition::Updated(expected)));
        }
        let indented = "  <!-- stan:begin -->\t\r\nx\r\n<!-- stan:end -->";
        let expected = BLOCK.trim_end().replace('\n', "\r\n").into_bytes();
        assert_eq!(add(Some(indented.as_bytes()), BLOCK), Ok(Addition::Updated(expected)));
    }

    #[test]
    fn broken_markers_are_named_by_line() {
        for (text, line) in [
            ("a\n<!-- stan:begin -->\nb\n", 2),
            ("a\n\n<!-- stan:end -->\n", 3),
            ("<!-- stan:begin -->\n<!-- stan:begin -->\n<!-- stan:end -->\n", 2),
            ("<!-- stan:begin -->\n<!-- stan:end -->\n<!-- stan:begin -->\n<!-- stan:end -->\n", 3),
            ("<!-- stan:begin -->\n<!-- stan:end -->\n<!-- stan:end -->\n", 3),
            ("<!-- stan:begin --> x\n<!-- stan:end -->\n", 1),
            ("<!-- stan:end -->\n<!-- stan:begin -->\n", 1),
        ] {
            let found = [add(Some(text.as_bytes()), BLOCK).map(drop), remove(text.as_bytes()).map(drop)];
            for result in found {
                assert_eq!(result.map_err(|broken| broken.line), Err(line), "{text:?}");
            }
        }
    }

    proptest! {
        #[test]
        fn removing_the_block_undoes_adding_it(pieces in prop::collection::vec(prop::sample::select(
            vec!["a", "\n", "\r\n", "\r", " ", "<!-- stan", "\u{feff}", "```\n"]), 0..12)) {
            let before = pieces.concat();
            let Ok(Addition::Added(after)) = add(Some(before.as_bytes()), BLOCK) else { panic!("{before:?}") };
            prop_assert_eq!(add(Some(&after), BLOCK), Ok(Addition::Unchanged));
            prop_assert_eq!(remove(&after), Ok(Removal::Rest(before.into_bytes())));
        }
    }
}
