//! Applies a patch to the bytes of a file.
//!
//! | exactness | a hunk fits |
//! |---|---|
//! | as git | at the place it says or the nearest one where every line matches; never on lines that an earlier hunk touched |
//! | tolerant | at the place it says; else where its lines are found, if that is one place; two places are refused |
//!
//! Tolerant also: a hunk's lines are counted instead of trusting its header; a file's carriage returns, byte order mark and
//! missing final newline stay, although the patch does not show them. Never: a line that is only similar.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::ops::Range;

use super::image::{Agreement, Image, Line};
use super::{
    Body, Change, DiffError, FileDiff, Hunk, Lines, Missed, Replacement, SearchBudget, TOO_MUCH, elision, hunk,
};

/// The file after the patch.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Applied {
    pub(crate) bytes: Vec<u8>,
    /// For each line of the new file: the index of the line in the fence that wrote it, if any.
    pub(crate) sources: Vec<Option<usize>>,
}

/// How strictly a patch must match.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Exactness {
    AsGit,
    Tolerant,
}

const BYTE_ORDER_MARK: &[u8] = "\u{feff}".as_bytes();

/// How many lines of the file are shown where a passage was expected.
const MAX_SHOWN: usize = 12;

/// Applies the patch of one file. The error names the hunk that does not fit.
pub(crate) fn apply(
    file: &FileDiff,
    lines: &Lines<'_>,
    old: &[u8],
    exactness: Exactness,
    work: &mut SearchBudget,
) -> Result<Applied, DiffError> {
    if !work.spend_bytes(old.len()) {
        return Err(DiffError::new(file.index, TOO_MUCH));
    }
    if exactness == Exactness::AsGit && file.is_diff() {
        let mut image = Image::new(old, false);
        for hunk in file.hunks() {
            apply_as_git(&mut image, hunk, lines, work)?;
        }
        let (bytes, sources) = image.written();
        return Ok(Applied { bytes, sources });
    }
    let (mark, text) = match old.strip_prefix(BYTE_ORDER_MARK) {
        Some(text) => (BYTE_ORDER_MARK, text),
        None => (&b""[..], old),
    };
    let mut tolerant = Tolerant { image: Image::new(text, true), lines, has_mark: !mark.is_empty(), moved: 0 };
    match &file.body {
        Body::Hunks(hunks) => hunks.iter().try_for_each(|hunk| tolerant.hunk(hunk, file.change, work))?,
        Body::Replacements(blocks) => blocks.iter().try_for_each(|block| tolerant.replacement(block, work))?,
        Body::Whole => tolerant.whole(work)?,
        Body::Gone => tolerant.image = Image::new(b"", true),
    }
    if let Some(error) = elision::find(file, lines, old) {
        return Err(error);
    }
    let (bytes, sources) = tolerant.image.written();
    let is_gone = file.change == Change::Delete && bytes.is_empty();
    let mark = if is_gone { &b""[..] } else { mark };
    Ok(Applied { bytes: [mark, &bytes].concat(), sources })
}

fn apply_as_git<'a>(
    image: &mut Image<'a>,
    hunk: &Hunk,
    lines: &'a Lines<'_>,
    work: &mut SearchBudget,
) -> Result<(), DiffError> {
    let counted = hunk.counted.as_ref().map_err(Clone::clone)?;
    let (old, new) = sides(counted.lines.clone(), lines, false);
    let must_start = counted.old_start <= 1;
    let must_end = counted.trailing == 0;
    let wanted = usize::try_from(counted.new_start.saturating_sub(1)).unwrap_or(usize::MAX);
    let place = nearest(image, &old, wanted, must_start, must_end, work).ok_or_else(|| {
        let mut message = "these lines are not in the file".to_owned();
        if must_end && !must_start && nearest(image, &old, wanted, false, false, work).is_some() {
            "without lines kept below the change, a hunk fits only at the end of the file".clone_into(&mut message);
        } else if must_start && nearest(image, &old, wanted, false, false, work).is_some() {
            "a hunk that starts at line 1 fits only at the start of the file".clone_into(&mut message);
        }
        let missed = Some(missed(image, &old, Some(wanted)));
        DiffError { index: hunk.index, message, missed }
    })?;
    if !image.replace(place, old.len(), new, work) {
        return Err(DiffError::new(hunk.index, "the hunks jump about too much to be checked"));
    }
    Ok(())
}

/// The old and the new lines of a hunk.
fn sides<'a>(range: Range<usize>, lines: &'a Lines<'_>, splits_ends: bool) -> (Vec<Line<'a>>, Vec<Line<'a>>) {
    let (mut old, mut new) = (Vec::new(), Vec::new());
    for index in range.clone() {
        let Some(line) = lines.get(index) else { break };
        let has_newline =
            !lines.get(index + 1).is_some_and(|next| range.contains(&(index + 1)) && hunk::is_no_newline(next));
        let bytes = line.as_bytes();
        let made = Line::new(bytes.get(1..).unwrap_or_default(), has_newline, Some(index), splits_ends);
        match bytes.first() {
            Some(b'-') => old.push(made),
            Some(b'+') => new.push(made),
            // `\ No newline at end of file` was applied to the line before.
            Some(b'\\') => {}
            // Treat an empty line as an empty context line: editors strip its trailing space.
            _ => {
                old.push(made);
                new.push(made);
            }
        }
    }
    (old, new)
}

/// The matching position nearest to the stated one: first downwards, then upwards, as git does.
fn nearest(
    image: &Image<'_>,
    old: &[Line<'_>],
    wanted: usize,
    must_start: bool,
    must_end: bool,
    work: &mut SearchBudget,
) -> Option<usize> {
    let last = image.len().checked_sub(old.len())?;
    let matches = |place: usize, work: &mut SearchBudget| {
        let is_refused = (must_start && place != 0) || (must_end && place != last);
        let (fits, is_affordable) = image.has(place, old, Agreement::Exact, false, work);
        (fits && !is_refused, is_affordable)
    };
    // A hunk anchored at one end of the file has one candidate position.
    if must_start || must_end {
        let place = if must_start { 0 } else { last };
        return matches(place, work).0.then_some(place);
    }
    let start = wanted.min(image.len());
    let (mut up, mut down) = (start, start);
    if start <= last && matches(start, work).0 {
        return Some(start);
    }
    loop {
        if down < last {
            down += 1;
            let (fits, is_affordable) = matches(down, work);
            if fits {
                return Some(down);
            }
            if !is_affordable {
                return None;
            }
        }
        if up > 0 {
            up = (up - 1).min(last);
            let (fits, is_affordable) = matches(up, work);
            if fits {
                return Some(up);
            }
            if !is_affordable {
                return None;
            }
        }
        if up == 0 && down >= last {
            return None;
        }
    }
}

/// The result of searching for lines.
enum MatchPosition {
    At(usize, Agreement),
    /// Two of the positions.
    Several(usize, usize),
    Nowhere,
    TooMuch,
}

/// Applies a patch tolerantly, as models write them.
struct Tolerant<'a, 'l> {
    image: Image<'a>,
    lines: &'a Lines<'l>,
    /// The file starts with a byte order mark, which is not part of the image.
    has_mark: bool,
    /// How many lines the file has grown so far.
    moved: i64,
}

impl<'a> Tolerant<'a, '_> {
    fn hunk(&mut self, hunk: &Hunk, change: Change, work: &mut SearchBudget) -> Result<(), DiffError> {
        let filled = hunk::filled(self.lines, hunk.lines.clone());
        let counted = hunk.counted.as_ref().ok().map(|counted| counted.lines.clone());
        // Lines after the counted ones may be dropped if they change nothing.
        let is_idle = |from: usize| {
            (from..hunk.lines.end).all(|at| self.lines.get(at).is_some_and(|line| !line.starts_with(['+', '-'])))
        };
        let counted = counted.filter(|counted| is_idle(counted.end));
        // Trailing blank lines may belong to the hunk or to the fence, and the counts may be right after all: tries each reading.
        let mut readings = vec![hunk.lines.clone(), filled];
        readings.extend(counted);
        readings.dedup();
        let place = hunk.old_start.map(|start| i64::try_from(start.max(1) - 1).unwrap_or(i64::MAX));
        let stated = place.and_then(|place| usize::try_from(place.saturating_add(self.moved)).ok());
        let mut several = None;
        let mut first = None;
        for reading in readings {
            let (old, new) = self.sides(reading);
            if old.is_empty() && change != Change::Create && self.image.len() > 0 {
                let message = "the hunk has no lines of the file that tell where it belongs";
                return Err(DiffError::new(hunk.index, message));
            }
            match self.find(&old, stated, false, work) {
                MatchPosition::At(place, agreement) => return self.put(hunk.index, place, agreement, &old, new, work),
                MatchPosition::Several(one, other) => _ = several.get_or_insert((one, other)),
                MatchPosition::Nowhere => {}
                MatchPosition::TooMuch => return Err(DiffError::new(hunk.index, TOO_MUCH)),
            }
            first.get_or_insert(old);
        }
        Err(self.not_found(hunk.index, &first.unwrap_or_default(), several, stated))
    }

    fn replacement(&mut self, block: &Replacement, work: &mut SearchBudget) -> Result<(), DiffError> {
        let old = self.all(block.search.clone());
        let new = self.all(block.replace.clone());
        if old.is_empty() && self.image.len() > 0 {
            let message = "nothing is searched for, but the file is not empty";
            return Err(DiffError::new(block.index, message));
        }
        match self.find(&old, None, true, work) {
            MatchPosition::At(place, agreement) => self.put(block.index, place, agreement, &old, new, work),
            MatchPosition::Several(one, other) => Err(self.not_found(block.index, &old, Some((one, other)), None)),
            MatchPosition::Nowhere => Err(self.not_found(block.index, &old, None, None)),
            MatchPosition::TooMuch => Err(DiffError::new(block.index, TOO_MUCH)),
        }
    }

    /// Writes the whole file, with the line ends that it had.
    fn whole(&mut self, work: &mut SearchBudget) -> Result<(), DiffError> {
        let count = self.image.len();
        let (has_returns, last) = (self.image.has_returns(), count.checked_sub(1).and_then(|at| self.image.get(at)));
        let keeps_open = last.is_some_and(|line| !line.has_newline);
        let mut new = self.all(0..self.lines.len());
        new.iter_mut().for_each(|line| line.has_return |= has_returns);
        // A fence cannot show that the final newline is missing.
        if let Some(line) = new.last_mut().filter(|_| keeps_open) {
            (line.has_newline, line.has_return) = (false, false);
        }
        if self.image.replace(0, count, new, work) { Ok(()) } else { Err(DiffError::new(0, TOO_MUCH)) }
    }

    fn sides(&self, range: Range<usize>) -> (Vec<Line<'a>>, Vec<Line<'a>>) {
        let (mut old, mut new) = sides(range, self.lines, true);
        self.without_mark(&mut old);
        self.without_mark(&mut new);
        (old, new)
    }

    fn all(&self, range: Range<usize>) -> Vec<Line<'a>> {
        let lines: &'a Lines<'_> = self.lines;
        let of = |index: usize| lines.get(index).map(|line| Line::new(line.as_bytes(), true, Some(index), true));
        let mut all: Vec<Line<'a>> = range.filter_map(of).collect();
        self.without_mark(&mut all);
        all
    }

    /// The byte order mark is not in the image, so strip it from lines that are compared with the image.
    fn without_mark(&self, lines: &mut [Line<'a>]) {
        if let Some(first) = lines.first_mut().filter(|_| self.has_mark)
            && let Some(text) = first.text.strip_prefix(BYTE_ORDER_MARK)
        {
            let ends = (first.has_return, first.has_newline);
            *first = Line::new(text, first.has_newline, first.source, false);
            (first.has_return, first.has_newline) = ends;
        }
    }

    /// Finds the lines byte for byte at the stated position, then anywhere; then the same ignoring line ends.
    fn find(
        &self,
        old: &[Line<'_>],
        stated: Option<usize>,
        over_patched: bool,
        work: &mut SearchBudget,
    ) -> MatchPosition {
        let Some(last) = self.image.len().checked_sub(old.len()) else { return MatchPosition::Nowhere };
        for agreement in [Agreement::Exact, Agreement::ButForEnds] {
            if let Some(place) = stated.filter(|&place| place <= last)
                && self.image.has(place, old, agreement, over_patched, work).0
            {
                return MatchPosition::At(place, agreement);
            }
            let mut one = None;
            for place in 0..=last {
                let (fits, is_affordable) = self.image.has(place, old, agreement, over_patched, work);
                if !is_affordable {
                    return MatchPosition::TooMuch;
                }
                match one {
                    Some(one) if fits => return MatchPosition::Several(one, place),
                    None if fits => one = Some(place),
                    _ => {}
                }
            }
            if let Some(place) = one {
                return MatchPosition::At(place, agreement);
            }
        }
        MatchPosition::Nowhere
    }

    fn put(
        &mut self,
        index: usize,
        place: usize,
        agreement: Agreement,
        old: &[Line<'a>],
        mut new: Vec<Line<'a>>,
        work: &mut SearchBudget,
    ) -> Result<(), DiffError> {
        if agreement == Agreement::ButForEnds {
            let first = self.image.get(place);
            let has_returns =
                first.filter(|_| !old.is_empty()).map_or(self.image.has_returns(), |line| line.has_return);
            let end = place + old.len();
            let is_open = end == self.image.len() && self.image.get(end - 1).is_some_and(|line| !line.has_newline);
            for line in &mut new {
                line.has_newline = true;
                line.has_return |= has_returns;
            }
            if let Some(line) = new.last_mut().filter(|_| is_open) {
                (line.has_newline, line.has_return) = (false, false);
            }
        }
        self.moved += i64::try_from(new.len()).unwrap_or(i64::MAX) - i64::try_from(old.len()).unwrap_or(i64::MAX);
        if self.image.replace(place, old.len(), new, work) {
            return Ok(());
        }
        Err(DiffError::new(index, "the hunks jump about too much to be checked"))
    }

    fn not_found(
        &self,
        index: usize,
        old: &[Line<'_>],
        several: Option<(usize, usize)>,
        stated: Option<usize>,
    ) -> DiffError {
        let message = match several {
            Some((one, other)) => format!(
                "these lines are in the file several times, at line {} and at line {}, and nothing tells which are meant",
                one + 1,
                other + 1
            ),
            None => "these lines are not in the file".to_owned(),
        };
        DiffError { index, message, missed: Some(missed(&self.image, old, stated)) }
    }
}

/// The expected lines, and the passage of the file with most of those lines in the same order.
fn missed(image: &Image<'_>, old: &[Line<'_>], stated: Option<usize>) -> Missed {
    const MAX_VOTES: usize = 100_000;
    let mut votes: BTreeMap<usize, usize> = BTreeMap::new();
    let places: Vec<&Line<'_>> = image.lines().collect();
    let shown = old.iter().enumerate().filter(|(_, line)| !line.text.trim_ascii().is_empty()).take(MAX_SHOWN);
    let mut left = MAX_VOTES;
    for (offset, line) in shown {
        for (at, found) in places.iter().enumerate().take(left) {
            if at >= offset && found.is_same_text(line) {
                *votes.entry(at - offset).or_default() += 1;
            }
        }
        left = left.saturating_sub(places.len());
    }
    let nearest = stated.unwrap_or_default();
    let best = votes.iter().max_by_key(|(at, count)| (**count, std::cmp::Reverse(at.abs_diff(nearest))));
    let last = image.len().saturating_sub(1);
    let first = best.map(|(at, _)| *at).or_else(|| most_alike(&places, old)).unwrap_or(nearest.min(last));
    let show = |line: &Line<'_>| {
        let text: Cow<'_, str> = String::from_utf8_lossy(line.text);
        crate::excerpt::prefix(&text, 200).to_owned()
    };
    Missed {
        wanted: old.iter().take(MAX_SHOWN).map(show).collect(),
        first: first + 1,
        found: places.iter().skip(first).take(old.len().clamp(3, MAX_SHOWN)).map(|line| show(line)).collect(),
    }
}

/// If no line is equal: the line with the longest common prefix with the first expected one.
fn most_alike(places: &[&Line<'_>], old: &[Line<'_>]) -> Option<usize> {
    const MIN_COMMON_BYTES: usize = 6;
    let (offset, wanted) = old.iter().enumerate().find(|(_, line)| !line.text.trim_ascii().is_empty())?;
    let wanted = wanted.text.trim_ascii();
    let common =
        |line: &Line<'_>| line.text.trim_ascii().iter().zip(wanted).take_while(|(one, other)| one == other).count();
    let best = places.iter().enumerate().map(|(at, line)| (common(line), std::cmp::Reverse(at))).max()?;
    (best.0 >= MIN_COMMON_BYTES.min(wanted.len())).then(|| best.1.0.saturating_sub(offset))
}
