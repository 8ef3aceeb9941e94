//! The headers of a diff: which files, and what happens to them.
//!
//! Parsing continues after an error, where git stops: every path of a broken patch must still be checked.

use super::names::{file_name, header_names, plain_name, without_timestamp};
use super::{BinaryPatch, Body, Change, DiffError, FileDiff, Lines, ParsedDiff, WrittenPath, hunk};

const GIT_HEADER: &str = "diff --git ";

/// Parses a fence as a patch. Skips lines that belong to no file, as git does.
pub(crate) fn parse(lines: &Lines<'_>) -> ParsedDiff {
    let mut parsed = ParsedDiff::default();
    let mut at = 0;
    while let Some(line) = lines.get(at) {
        let (file, next) = if line.starts_with(GIT_HEADER) {
            read_git(lines, at)
        } else if starts_file(lines, at) {
            read_traditional(lines, at)
        } else {
            if hunk::parse_range(line).is_some() {
                let message = "the lines above do not belong to a hunk, so git cannot tell which file this one is of";
                match parsed.files.last_mut() {
                    Some(last) => _ = last.error.get_or_insert_with(|| DiffError::new(at, message)),
                    None => _ = parsed.stray_hunk.get_or_insert(at),
                }
            }
            at += 1;
            continue;
        };
        parsed.files.push(file);
        at = next.max(at + 1);
    }
    parsed
}

/// Whether a patch of a file starts at a line: `diff --git`, or `---` with `+++` below it.
pub(crate) fn starts_file(lines: &Lines<'_>, at: usize) -> bool {
    let starts = |at: usize, prefix: &str| lines.get(at).is_some_and(|line| line.starts_with(prefix));
    starts(at, GIT_HEADER) || (starts(at, "--- ") && starts(at + 1, "+++ "))
}

/// The lines of a git header, as far as present.
#[derive(Default)]
struct Header {
    /// The names after `diff --git`.
    names: Option<(WrittenPath, WrittenPath)>,
    /// `Some(None)` is `/dev/null`.
    minus: Option<Option<WrittenPath>>,
    plus: Option<Option<WrittenPath>>,
    from: Option<WrittenPath>,
    to: Option<WrittenPath>,
    is_new: bool,
    is_deleted: bool,
    is_rename: bool,
    is_copy: bool,
    old_mode: Option<u32>,
    new_mode: Option<u32>,
    /// Both hashes of `index` have full length.
    full_index: bool,
    error: Option<DiffError>,
    strict_error: Option<DiffError>,
}

fn read_git(lines: &Lines<'_>, start: usize) -> (FileDiff, usize) {
    let rest = lines.get(start).and_then(|line| line.strip_prefix(GIT_HEADER)).unwrap_or_default();
    let mut header = Header { names: header_names(rest, start), ..Header::default() };
    let mut at = start + 1;
    // If an unknown line follows directly, git ignores the `diff --git` line and uses `---` and `+++`.
    if lines.get(at).is_some_and(|line| !Header::default().read_line(line, at)) {
        let ahead = (at..lines.len()).find(|&at| starts_file(lines, at));
        at = ahead.filter(|&at| lines.get(at).is_some_and(|line| line.starts_with("--- "))).unwrap_or(at);
    }
    while lines.get(at).is_some_and(|line| header.read_line(line, at)) {
        at += 1;
    }
    if at == start + 1 {
        let message = "`git apply` needs `---` and `+++`, or another line of a header, below `diff --git`";
        header.strict_error.get_or_insert_with(|| DiffError::new(start, message));
    }
    let mut file = header.file_diff(start);
    let next = read_body(lines, at, &mut file, header.full_index);
    header.check(&mut file, start);
    (file, next)
}

fn read_traditional(lines: &Lines<'_>, start: usize) -> (FileDiff, usize) {
    let name = |at: usize, prefix: &str| {
        let text = lines.get(at).and_then(|line| line.strip_prefix(prefix)).unwrap_or_default();
        file_name(without_timestamp(text), at)
    };
    let (minus, plus) = (name(start, "--- "), name(start + 1, "+++ "));
    let header = Header {
        is_new: minus.is_none(),
        is_deleted: plus.is_none() && minus.is_some(),
        minus: Some(minus),
        plus: Some(plus),
        ..Header::default()
    };
    let mut file = header.file_diff(start);
    file.has_git_header = false;
    let next = read_body(lines, start + 2, &mut file, false);
    header.check(&mut file, start);
    (file, next)
}

/// Parses hunks or a binary patch from a line on.
fn read_body(lines: &Lines<'_>, mut at: usize, file: &mut FileDiff, has_full_index: bool) -> usize {
    let mut hunks: Vec<hunk::Hunk> = Vec::new();
    // Where git would continue.
    let mut counted_end = at;
    while lines.get(at).is_some_and(|line| hunk::starts(line)) {
        if counted_end < at {
            let message = "the lines above do not belong to a hunk, so git cannot tell which file this one is of";
            file.strict_error.get_or_insert_with(|| DiffError::new(at, message));
        }
        let (hunk, next) = hunk::parse(lines, at);
        at = next;
        match hunk {
            Ok(hunk) => {
                match &hunk.counted {
                    Ok(counted) => counted_end = counted.lines.end,
                    Err(error) => _ = file.strict_error.get_or_insert_with(|| error.clone()),
                }
                hunks.push(hunk);
            }
            Err(error) => {
                file.error.get_or_insert(error);
                file.body = Body::Hunks(hunks);
                return at;
            }
        }
    }
    if !hunks.is_empty() {
        file.body = Body::Hunks(hunks);
        return at;
    }
    let Some(line) = lines.get(at) else { return at };
    if line.trim_end() == "GIT binary patch" {
        let (binary, next) = BinaryPatch::parse(lines, at + 1, has_full_index);
        match binary {
            Ok(binary) => file.binary = Some(binary),
            Err(error) => _ = file.error.get_or_insert(error),
        }
        return next;
    }
    let says_binary = line.starts_with("Binary files ") || line.starts_with("Files ");
    if says_binary && line.trim_end().ends_with(" differ") {
        file.error.get_or_insert(DiffError::new(at, "a binary file without its contents cannot be applied"));
        return at + 1;
    }
    at
}

impl Header {
    /// Parses one line of an extended header; `false` after its end.
    fn read_line(&mut self, line: &str, at: usize) -> bool {
        let line = line.strip_suffix('\r').unwrap_or(line);
        if let Some(text) = line.strip_prefix("--- ") {
            self.minus = Some(file_name(text, at));
        } else if let Some(text) = line.strip_prefix("+++ ") {
            self.plus = Some(file_name(text, at));
        } else if let Some(text) = line.strip_prefix("old mode ") {
            self.old_mode = self.read_mode(text, at);
        } else if let Some(text) = line.strip_prefix("new mode ") {
            self.new_mode = self.read_mode(text, at);
        } else if let Some(text) = line.strip_prefix("new file mode ") {
            self.is_new = true;
            self.new_mode = self.read_mode(text, at);
        } else if let Some(text) = line.strip_prefix("deleted file mode ") {
            self.is_deleted = true;
            self.old_mode = self.read_mode(text, at);
        } else if let Some(text) = strip_one(line, ["rename from ", "rename old "]) {
            self.is_rename = true;
            self.from = Some(plain_name(text, at));
        } else if let Some(text) = strip_one(line, ["rename to ", "rename new "]) {
            self.is_rename = true;
            self.to = Some(plain_name(text, at));
        } else if let Some(text) = line.strip_prefix("copy from ") {
            self.is_copy = true;
            self.from = Some(plain_name(text, at));
        } else if let Some(text) = line.strip_prefix("copy to ") {
            self.is_copy = true;
            self.to = Some(plain_name(text, at));
        } else if let Some(text) = line.strip_prefix("index ") {
            self.full_index = is_full_index(text);
        } else {
            return line.starts_with("similarity index ") || line.starts_with("dissimilarity index ");
        }
        let ways = [self.is_new, self.is_deleted, self.is_rename, self.is_copy];
        if ways.iter().filter(|&&way| way).count() > 1 {
            self.fail(at, "the header says two things at once: new, deleted, renamed and copied exclude each other");
        }
        true
    }

    fn read_mode(&mut self, text: &str, at: usize) -> Option<u32> {
        let digits = text.split([' ', '\t']).next().unwrap_or_default();
        let mode = u32::from_str_radix(digits, 8).ok();
        if mode.is_none() {
            self.fail(at, "the file mode is not an octal number");
        }
        mode
    }

    fn fail(&mut self, at: usize, message: &str) {
        self.error.get_or_insert_with(|| DiffError::new(at, message));
    }

    fn file_diff(&self, index: usize) -> FileDiff {
        let header_old = self.names.as_ref().map(|(old, _)| old.clone());
        let header_new = self.names.as_ref().map(|(_, new)| new.clone());
        let minus = self.minus.clone().flatten();
        let plus = self.plus.clone().flatten();
        // Without a mode line, git takes `/dev/null` for a path. The meaning is clear all the same.
        let is_new = self.is_new || (matches!(self.minus, Some(None)) && plus.is_some());
        let is_deleted = self.is_deleted || (matches!(self.plus, Some(None)) && minus.is_some());
        let change = match () {
            () if self.is_rename => Change::Rename,
            () if self.is_copy => Change::Copy,
            () if is_new => Change::Create,
            () if is_deleted => Change::Delete,
            () => Change::Edit,
        };
        let old = self.from.clone().or(minus).or(header_old);
        let new = self.to.clone().or(plus).or(header_new);
        let (old, new) = match change {
            Change::Create => (None, new),
            Change::Delete => (old, None),
            Change::Edit => {
                let (old_or_new, new_or_old) = (old.clone().or(new.clone()), new.or(old));
                (old_or_new, new_or_old)
            }
            Change::Rename | Change::Copy | Change::Write => (old, new),
        };
        FileDiff {
            index,
            has_git_header: true,
            change,
            old,
            new,
            written: self.written(),
            contradiction: self.contradiction(),
            error: self.error.clone(),
            strict_error: self.strict_error.clone(),
            new_mode: self.new_mode,
            ..FileDiff::default()
        }
    }

    fn written(&self) -> Vec<WrittenPath> {
        let names = self.names.iter().flat_map(|(old, new)| [old, new]);
        let sides = [self.minus.as_ref(), self.plus.as_ref()].into_iter().flatten().flatten();
        let moves = [self.from.as_ref(), self.to.as_ref()].into_iter().flatten();
        let mut written: Vec<WrittenPath> = Vec::new();
        for path in names.chain(sides).chain(moves) {
            if !written.iter().any(|known| known.path == path.path && known.taken_as == path.taken_as) {
                written.push(path.clone());
            }
        }
        written
    }

    /// The first line that names another file than the lines before it.
    fn contradiction(&self) -> Option<DiffError> {
        let moves = self.is_rename || self.is_copy;
        let (header_old, header_new) = match &self.names {
            Some((old, new)) => (Some(old), Some(new)),
            None => (None, None),
        };
        let minus = self.minus.as_ref().and_then(Option::as_ref);
        let plus = self.plus.as_ref().and_then(Option::as_ref);
        let old_side = [header_old, minus, self.from.as_ref()];
        let new_side = [header_new, plus, self.to.as_ref()];
        let differing = |side: &[Option<&WrittenPath>]| {
            let mut paths = side.iter().flatten();
            let first = paths.next()?;
            let other = paths.find(|path| path.path != first.path)?;
            let message = format!("the diff names `{}` and `{}` for one file", first.path, other.path);
            Some(DiffError::new(other.index.max(first.index), message))
        };
        if moves {
            return differing(&old_side).or_else(|| differing(&new_side));
        }
        let all: Vec<_> = old_side.into_iter().chain(new_side).collect();
        differing(&all)
    }

    /// Errors that git reports once it has parsed header and body.
    fn check(&self, file: &mut FileDiff, start: usize) {
        let old_lines: u64 = file.hunks().iter().map(|hunk| hunk.old_count).fold(0, u64::saturating_add);
        let new_lines: u64 = file.hunks().iter().map(|hunk| hunk.new_count).fold(0, u64::saturating_add);
        let first_hunk = file.hunks().first().map_or(start, |hunk| hunk.index);
        self.check_exactly(file, start);
        let error = if file.old.is_none() && file.new.is_none() {
            DiffError::new(start, "the header does not tell which file it is about")
        } else if file.change == Change::Create && old_lines > 0 {
            DiffError::new(first_hunk, "a new file has no lines that could be kept or removed")
        } else if file.change == Change::Delete && new_lines > 0 {
            DiffError::new(first_hunk, "a deleted file cannot have lines left")
        } else if self.has_no_effect(file) {
            DiffError::new(start, "the patch has no hunks, so it changes nothing")
        } else {
            return;
        };
        file.error.get_or_insert(error);
    }

    /// Notations that git rejects although their meaning is clear.
    fn check_exactly(&self, file: &mut FileDiff, start: usize) {
        let unprefixed = [&file.old, &file.new].into_iter().flatten().find(|path| path.taken_as.is_some());
        let error = if file.has_git_header
            && let Some(path) = unprefixed
        {
            let message = format!(
                "`{}` has no prefix, and `git apply` takes the first folder off: write `a/{0}` and `b/{0}`",
                path.path
            );
            DiffError::new(path.index, message)
        } else if file.has_git_header && file.change == Change::Create && !self.is_new {
            DiffError::new(start, "`git apply` needs the line `new file mode 100644` to make a file from `/dev/null`")
        } else {
            return;
        };
        file.strict_error.get_or_insert(error);
    }

    fn has_no_effect(&self, file: &FileDiff) -> bool {
        let changes_mode = self.old_mode.is_some() && self.new_mode.is_some() && self.old_mode != self.new_mode;
        let is_metadata = changes_mode || file.change != Change::Edit;
        let is_create_of_text = file.change == Change::Create && !self.is_new;
        file.hunks().is_empty() && file.binary.is_none() && (!is_metadata || is_create_of_text)
    }
}

fn strip_one<'a>(line: &'a str, prefixes: [&str; 2]) -> Option<&'a str> {
    prefixes.iter().find_map(|prefix| line.strip_prefix(prefix))
}

/// `index <40 or 64 hex>..<the same>`: git does not apply a binary patch without it.
fn is_full_index(text: &str) -> bool {
    let is_full = |hash: &str| matches!(hash.len(), 40 | 64) && hash.bytes().all(|byte| byte.is_ascii_hexdigit());
    let hashes = text.split([' ', '\t']).next().unwrap_or_default();
    hashes.split_once("..").is_some_and(|(old, new)| is_full(old) && is_full(new))
}
