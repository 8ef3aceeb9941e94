//! Applies hunks to the bytes of a file as `git apply` does: at the place they say or the nearest one where every
//! line matches, never on lines that an earlier hunk of the patch has touched, and nowhere else.

use std::hash::Hasher as _;

use rustc_hash::FxHasher;

use super::{DiffError, FileDiff, Hunk, Lines, hunk};

/// What became of the file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Applied {
    pub(crate) bytes: Vec<u8>,
    /// For each line of the new file the index of the line in the fence that wrote it, if one did.
    pub(crate) sources: Vec<Option<usize>>,
}

/// How much searching a reply may still cause: a hostile one must not cost more than its length allows.
#[derive(Debug)]
pub(crate) struct Work {
    left: u64,
}

impl Work {
    pub(crate) fn new(steps: u64) -> Self {
        Self { left: steps }
    }

    /// For reading or copying so many bytes.
    pub(crate) fn spend_bytes(&mut self, count: usize) -> bool {
        self.spend(count / 4)
    }

    fn spend(&mut self, steps: usize) -> bool {
        self.left = self.left.saturating_sub(steps as u64);
        self.left > 0
    }
}

/// What is said when there is none left.
pub(crate) const TOO_MUCH: &str = "the patches of this reply are too many to be checked";

/// Applies the hunks of one file. The error names the hunk that does not fit.
pub(crate) fn apply(file: &FileDiff, lines: &Lines<'_>, old: &[u8], work: &mut Work) -> Result<Applied, DiffError> {
    if !work.spend_bytes(old.len()) {
        return Err(DiffError::new(file.index, TOO_MUCH));
    }
    let mut image = Image::new(old);
    for hunk in &file.hunks {
        apply_hunk(&mut image, hunk, lines, work)?;
    }
    Ok(image.into_applied())
}

/// A line with its newline, if it has one.
#[derive(Clone, Copy, Debug)]
struct Line<'a> {
    text: &'a [u8],
    has_newline: bool,
    hash: u64,
    /// Written or kept by a hunk, so no other hunk may match here.
    is_patched: bool,
    source: Option<usize>,
}

impl<'a> Line<'a> {
    fn new(text: &'a [u8], has_newline: bool, source: Option<usize>) -> Self {
        let mut hasher = FxHasher::default();
        hasher.write(text);
        hasher.write_u8(u8::from(has_newline));
        Self { text, has_newline, hash: hasher.finish(), is_patched: source.is_some(), source }
    }

    fn is_same(&self, other: &Line<'_>) -> bool {
        self.hash == other.hash && self.has_newline == other.has_newline && self.text == other.text
    }
}

/// The file as a gap buffer of lines: hunks come in order, so the gap moves over the file once.
struct Image<'a> {
    before: Vec<Line<'a>>,
    /// From the last line to the first behind the gap.
    after: Vec<Line<'a>>,
}

impl<'a> Image<'a> {
    fn new(bytes: &'a [u8]) -> Self {
        let mut after = Vec::new();
        let mut rest = bytes;
        while !rest.is_empty() {
            let end = memchr::memchr(b'\n', rest);
            let (text, next) = match end {
                Some(end) => (rest.get(..end), rest.get(end + 1..)),
                None => (Some(rest), None),
            };
            after.push(Line::new(text.unwrap_or_default(), end.is_some(), None));
            rest = next.unwrap_or_default();
        }
        after.reverse();
        Self { before: Vec::new(), after }
    }

    fn len(&self) -> usize {
        self.before.len() + self.after.len()
    }

    fn get(&self, index: usize) -> Option<&Line<'a>> {
        match index.checked_sub(self.before.len()) {
            None => self.before.get(index),
            Some(behind) => self.after.len().checked_sub(behind + 1).and_then(|place| self.after.get(place)),
        }
    }

    fn move_gap(&mut self, to: usize, work: &mut Work) -> bool {
        let is_affordable = work.spend(to.abs_diff(self.before.len()) / 4);
        while self.before.len() < to
            && let Some(line) = self.after.pop()
        {
            self.before.push(line);
        }
        while self.before.len() > to
            && let Some(line) = self.before.pop()
        {
            self.after.push(line);
        }
        is_affordable
    }

    fn into_applied(self) -> Applied {
        let lines = || self.before.iter().chain(self.after.iter().rev());
        let mut bytes = Vec::with_capacity(lines().map(|line| line.text.len() + 1).sum());
        for line in lines() {
            bytes.extend_from_slice(line.text);
            if line.has_newline {
                bytes.push(b'\n');
            }
        }
        Applied { bytes, sources: lines().map(|line| line.source).collect() }
    }
}

fn apply_hunk<'a>(image: &mut Image<'a>, hunk: &Hunk, lines: &'a Lines<'_>, work: &mut Work) -> Result<(), DiffError> {
    let (old, new) = sides(hunk, lines);
    let must_start = hunk.old_start <= 1;
    let must_end = hunk.trailing == 0;
    let wanted = usize::try_from(hunk.new_start.saturating_sub(1)).unwrap_or(usize::MAX);
    let place = find(image, &old, wanted, must_start, must_end, work).ok_or_else(|| {
        let mut message = "these lines are not in the archived file".to_owned();
        if must_end && !must_start && find(image, &old, wanted, false, false, work).is_some() {
            "without lines kept below the change, a hunk fits only at the end of the file".clone_into(&mut message);
        } else if must_start && find(image, &old, wanted, false, false, work).is_some() {
            "a hunk that starts at line 1 fits only at the start of the file".clone_into(&mut message);
        }
        DiffError::new(hunk.index, message)
    })?;
    if !image.move_gap(place, work) {
        return Err(DiffError::new(hunk.index, "the hunks jump about too much to be checked"));
    }
    let kept = image.after.len().saturating_sub(old.len());
    image.after.truncate(kept);
    image.before.extend(new);
    Ok(())
}

/// The lines that a hunk expects and those that it leaves.
fn sides<'a>(hunk: &Hunk, lines: &'a Lines<'_>) -> (Vec<Line<'a>>, Vec<Line<'a>>) {
    let (mut old, mut new) = (Vec::new(), Vec::new());
    for index in hunk.lines.clone() {
        let Some(line) = lines.get(index) else { break };
        let has_newline =
            !lines.get(index + 1).is_some_and(|next| hunk.lines.contains(&(index + 1)) && hunk::is_no_newline(next));
        let bytes = line.as_bytes();
        let made = Line::new(bytes.get(1..).unwrap_or_default(), has_newline, Some(index));
        match bytes.first() {
            Some(b'-') => old.push(made),
            Some(b'+') => new.push(made),
            Some(b'\\') => {}
            // An empty line is an empty line that is kept: editors take the space off.
            _ => {
                old.push(made);
                new.push(made);
            }
        }
    }
    (old, new)
}

/// The place nearest to the wanted one, first looking down, then up, as git does.
fn find(
    image: &Image<'_>,
    old: &[Line<'_>],
    wanted: usize,
    must_start: bool,
    must_end: bool,
    work: &mut Work,
) -> Option<usize> {
    let last = image.len().checked_sub(old.len())?;
    let matches = |place: usize, work: &mut Work| {
        let is_refused = (must_start && place != 0) || (must_end && place != last);
        let mut compared = 1;
        let fits = !is_refused
            && old.iter().enumerate().all(|(offset, line)| {
                compared += 1;
                image.get(place + offset).is_some_and(|found| !found.is_patched && found.is_same(line))
            });
        (fits, work.spend(compared))
    };
    // A bound to one end leaves one place to look at.
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
