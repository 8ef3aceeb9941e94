//! A reply as the gate sees it: patch blocks, file operations, the contents of `## Input Data Changes`.
//!
//! Only describes what a reply contains; the rules judge it. How it is read, so that every reply has one meaning:
//!
//! | written | read as |
//! |---|---|
//! | `## Input Data Changes` outside lists and quotes | the section, up to the next `#` or `##`; several are one |
//! | `### Patch: path`, path in a code span or not | a block with the fences up to the next heading of level 1–3 |
//! | a fence that starts with `diff --git` or `---`/`+++` | a patch, with any info string |
//! | a fence with the info `diff`, `patch` or none that holds such a line, or hunks alone (not with none) | a patch |
//! | prose in a block quote | quoted text: neither statement nor checklist |
//! | a fence that starts with a search/replace block, with the path above it, in its first line or in the heading | a patch |
//! | `### File: path` with one fence | the whole file; a diff or search/replace blocks in the fence are what they are |
//! | a fence that starts with `*** Begin Patch` or the header of a file in such an envelope | a patch of all its files |
//! | any of these indented as a whole | the same without the indentation |
//! | a fence that holds the start of a patch somewhere else | unread: reported, and refused where the reply is to be applied |
//! | any other fence | no patch: an example, a listing, a nested reply |
//! | `### File Ops` | the operations in its fences and in its lines that start with one of the five words |

mod operations;

use std::borrow::Cow;

pub(crate) use operations::{Operation, OperationKind};

use crate::diff::{self, FileDiff, ParsedDiff};
use crate::markdown::{self, Block, Fence, Heading, TextLine};

/// A parsed reply.
#[derive(Debug, Default)]
pub(crate) struct Structure<'a> {
    pub(crate) blocks: Vec<PatchBlock<'a>>,
    pub(crate) operations: Vec<Operation>,
    /// Lines under `### File Ops` that are not operations.
    pub(crate) operation_faults: Vec<(u32, String)>,
    pub(crate) input: InputSection<'a>,
    /// Prose outside that section, without quotes.
    pub(crate) other_prose: Vec<TextLine<'a>>,
    /// The line of a fence that is not closed before the end of the reply.
    pub(crate) open_fence: Option<u32>,
    /// Whether there is something under `## Commit Message`.
    pub(crate) has_commit_message: bool,
    /// The first line of prose that looks like a patch. Patches only count in fences.
    pub(crate) bare_patch: Option<u32>,
    /// The first line that looks like a patch in a fence that is not read as one.
    pub(crate) unread_patch: Option<u32>,
    /// The first heading of another level with `File:` or `Patch:`.
    pub(crate) odd_heading: Option<u32>,
}

/// Everything under `## Input Data Changes`.
#[derive(Debug, Default)]
pub(crate) struct InputSection<'a> {
    /// The line of the first heading.
    pub(crate) line: Option<u32>,
    pub(crate) prose: Vec<TextLine<'a>>,
    pub(crate) fences: Vec<Fence<'a>>,
}

/// A heading with its diffs, or one bare fence.
#[derive(Debug)]
pub(crate) struct PatchBlock<'a> {
    pub(crate) heading: Option<PatchHeading>,
    /// `### File:`; a fence below it contains the file.
    pub(crate) is_file: bool,
    /// The heading or the fence.
    pub(crate) line: u32,
    pub(crate) patches: Vec<PatchFence<'a>>,
}

/// `### Patch: path` or `### File: path`.
#[derive(Debug)]
pub(crate) struct PatchHeading {
    pub(crate) line: u32,
    pub(crate) path: String,
    /// There is more than a path after the colon.
    pub(crate) has_more: bool,
}

/// A fence with a diff.
#[derive(Debug)]
pub(crate) struct PatchFence<'a> {
    pub(crate) fence: Fence<'a>,
    pub(crate) diff: ParsedDiff,
}

/// Parses a reply.
pub(crate) fn read<'a>(lines: &[&'a str]) -> Structure<'a> {
    let mut reader =
        StructureReader { last_line: u32::try_from(lines.len()).unwrap_or(u32::MAX), ..StructureReader::default() };
    for block in markdown::scan(lines.iter().copied()) {
        match block {
            Block::Heading(heading) => reader.heading(&heading),
            Block::Fence(fence) => reader.fence(fence),
            Block::Text(line) => reader.text(line),
        }
    }
    reader.structure
}

/// The part of a reply that the last heading of level 1–3 started.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Topic {
    #[default]
    Other,
    /// The last patch block.
    Patch,
    /// The last patch block, which is a whole file.
    File,
    Operations,
    Commit,
}

#[derive(Default)]
struct StructureReader<'a> {
    structure: Structure<'a>,
    in_input: bool,
    topic: Topic,
    last_line: u32,
    /// The last line of prose, which may name the file for the fence below it.
    above: Option<TextLine<'a>>,
}

impl<'a> StructureReader<'a> {
    fn heading(&mut self, heading: &Heading<'a>) {
        if heading.level <= 2 && !heading.is_nested {
            self.in_input = heading.level == 2 && heading.text == "Input Data Changes";
            if self.in_input {
                self.structure.input.line.get_or_insert(heading.line);
            }
        }
        if heading.level != 3 && ["File: ", "Patch: "].iter().any(|words| heading.text.starts_with(words)) {
            self.structure.odd_heading.get_or_insert(heading.line);
        }
        if heading.level > 3 {
            return;
        }
        self.topic = Topic::Other;
        if heading.level == 2 && heading.text == "Commit Message" {
            self.topic = Topic::Commit;
        }
        if heading.level != 3 {
            return;
        }
        let patch = heading.text.strip_prefix("Patch:").map(|path| (path, false));
        if let Some((path, is_file)) = patch.or_else(|| heading.text.strip_prefix("File:").map(|path| (path, true))) {
            self.topic = if is_file { Topic::File } else { Topic::Patch };
            let (path, has_more) = heading_path(path);
            let heading = PatchHeading { line: heading.line, path, has_more };
            let line = heading.line;
            self.structure.blocks.push(PatchBlock { line, heading: Some(heading), is_file, patches: Vec::new() });
        } else if heading.text.strip_prefix("File Ops").is_some_and(|rest| !rest.starts_with(char::is_alphanumeric)) {
            self.topic = Topic::Operations;
        }
    }

    fn fence(&mut self, mut fence: Fence<'a>) {
        let above = self.above.take();
        dedent(&mut fence);
        let end = fence.line_of(fence.lines.len());
        if !fence.is_closed && end > self.last_line {
            self.structure.open_fence = Some(fence.line);
        }
        let has_heading = matches!(self.topic, Topic::Patch | Topic::File);
        let is_blocks = is_replacement(&fence, has_heading);
        let is_envelope = !is_blocks && first_line(&fence).is_some_and(diff::opens_envelope);
        let is_patch = !is_blocks && (is_envelope || is_patch(&fence, self.topic == Topic::Patch));
        if self.topic == Topic::Commit && !is_blocks && !is_patch {
            self.structure.has_commit_message |= fence.lines.iter().any(|line| !line.trim().is_empty());
        }
        if self.topic == Topic::Operations && !is_patch && !is_blocks {
            for (index, text) in fence.lines.iter().enumerate() {
                self.operation(fence.line_of(index), text, true);
            }
            return;
        }
        let diff = if is_blocks {
            let path = self.path_of(&fence, above.as_ref());
            // The heading's file already has its patch, so this fence for another file only follows that block.
            let is_done = self.structure.blocks.last().is_some_and(|block| !block.patches.is_empty());
            let is_other = self.open_heading().is_some_and(|heading| path.as_ref() != Some(&heading.path));
            if is_done && is_other {
                self.topic = Topic::Other;
            }
            ParsedDiff { files: vec![diff::parse_replacements(&fence.lines, path)], ..ParsedDiff::default() }
        } else if is_envelope {
            diff::parse_envelope(&fence.lines)
        } else if is_patch {
            diff::parse(&fence.lines)
        } else if self.topic == Topic::File {
            let file = FileDiff::whole(self.open_heading().map(|heading| heading.path.clone()).unwrap_or_default());
            ParsedDiff { files: vec![file], ..ParsedDiff::default() }
        } else {
            self.unread(&fence);
            if self.in_input {
                self.structure.input.fences.push(fence);
            }
            return;
        };
        let (line, patch) = (fence.line, PatchFence { fence, diff });
        let has_heading = matches!(self.topic, Topic::Patch | Topic::File);
        match self.structure.blocks.last_mut().filter(|_| has_heading) {
            Some(block) => block.patches.push(patch),
            None => {
                self.structure.blocks.push(PatchBlock { heading: None, is_file: false, line, patches: vec![patch] });
            }
        }
    }

    /// Remembers a fence that contains a patch but is not read as one, unless it shows an example.
    fn unread(&mut self, fence: &Fence<'a>) {
        const EXAMPLES: &[&str] = &["md", "markdown", "mdx", "text", "txt", "console", "sh", "bash", "shell", "zsh"];
        let word = info_word(fence).to_ascii_lowercase();
        let at = fence.lines.iter().position(|line| looks_like_patch(line.trim_start()));
        if let Some(at) = at.filter(|_| !EXAMPLES.contains(&word.as_str())) {
            self.structure.unread_patch.get_or_insert(fence.line_of(at));
        }
    }

    /// The file of search/replace blocks: named in the fence, alone on the line above, or in the heading.
    fn path_of(&self, fence: &Fence<'a>, above: Option<&TextLine<'a>>) -> Option<String> {
        let is_near = |line: &&TextLine<'a>| line.line + 2 >= fence.line && !line.is_quoted;
        let named = diff::path_line(&fence.lines).and_then(|at| fence.lines.get(at)).map(|line| heading_path(line).0);
        let named = named.or_else(|| above.filter(is_near).and_then(|line| lone_path(&line.text)));
        named.or_else(|| self.open_heading().map(|heading| heading.path.clone()))
    }

    /// The heading that the next fence belongs to, if it is the heading of a patch.
    fn open_heading(&self) -> Option<&PatchHeading> {
        let is_patch = matches!(self.topic, Topic::Patch | Topic::File);
        self.structure.blocks.last().filter(|_| is_patch).and_then(|block| block.heading.as_ref())
    }

    fn text(&mut self, line: TextLine<'a>) {
        if self.topic == Topic::Operations {
            self.operation(line.line, &line.text, false);
        }
        self.structure.has_commit_message |= self.topic == Topic::Commit && !line.text.is_empty();
        if looks_like_patch(&line.text) {
            self.structure.bare_patch.get_or_insert(line.line);
        }
        self.above = Some(line.clone());
        if self.in_input && !line.is_quoted {
            self.structure.input.prose.push(line);
        } else if !line.is_quoted || line.text.contains("no change") {
            self.structure.other_prose.push(line);
        }
    }

    fn operation(&mut self, line: u32, text: &str, is_fenced: bool) {
        match operations::parse(line, text, is_fenced) {
            Some(Ok(operation)) => self.structure.operations.push(operation),
            Some(Err(fault)) => self.structure.operation_faults.push((line, fault)),
            None => {}
        }
    }
}

/// The path after `Patch:`, without its code span or bold markers, and whether there is more than that.
fn heading_path(text: &str) -> (String, bool) {
    let text = text.trim();
    let bold = text.strip_prefix("**").and_then(|rest| rest.strip_suffix("**")).filter(|inner| !inner.contains('*'));
    let text = bold.unwrap_or(text).trim();
    if let Some((path, rest)) =
        text.strip_prefix('`').and_then(|rest| rest.split_once('`')).filter(|(path, _)| !path.is_empty())
    {
        return (unquoted(path.trim()), !rest.trim().is_empty());
    }
    let unescaped = if text.contains('`') { Cow::Borrowed(text) } else { markdown::unescape(text) };
    let bare = unescaped.trim_matches('`').trim();
    // A link, or words in brackets after the path. A path may look the same, but then such a file exists.
    let has_more = bare.contains("](") || (bare.ends_with(')') && bare.contains(" ("));
    (unquoted(bare), has_more)
}

fn unquoted(text: &str) -> String {
    diff::unquote(text).map_or_else(|| text.to_owned(), |(name, _)| name)
}

/// A line that is only a path: in a code span, or one word with a dot or a slash.
fn lone_path(text: &str) -> Option<String> {
    let text = text.trim().trim_matches('*').trim_end_matches(':').trim_matches('*').trim();
    let spanned = text.strip_prefix('`').and_then(|rest| rest.strip_suffix('`')).filter(|inner| !inner.contains('`'));
    let is_word = !text.contains(char::is_whitespace) && text.contains(['.', '/']);
    spanned.or(is_word.then_some(text)).map(|path| heading_path(path).0).filter(|path| !path.is_empty())
}

fn first_line<'f>(fence: &'f Fence<'_>) -> Option<&'f str> {
    fence.lines.iter().map(Cow::as_ref).find(|line| !line.trim().is_empty())
}

/// The first word of the info string.
fn info_word<'a>(fence: &Fence<'a>) -> &'a str {
    fence.info.split([' ', '\t', ',', '{']).next().unwrap_or_default()
}

/// Whether a line starts a patch in any form.
fn looks_like_patch(line: &str) -> bool {
    diff::opens_replacement(line) || line.starts_with("diff --git a/") || line.trim_end() == "*** Begin Patch"
}

/// Removes the common indentation of a patch, if its first line shows that it is one.
fn dedent(fence: &mut Fence<'_>) {
    let Some(first) = first_line(fence) else { return };
    let text = first.trim_start_matches([' ', '\t']);
    let is_patch = looks_like_patch(text) || text.starts_with("diff --git ") || text.starts_with("--- a/");
    let indent = first.get(..first.len() - text.len()).unwrap_or_default().to_owned();
    let is_common = fence.lines.iter().all(|line| line.trim().is_empty() || line.starts_with(&indent));
    if indent.is_empty() || !is_patch || !is_common {
        return;
    }
    for line in &mut fence.lines {
        *line = Cow::Owned(line.strip_prefix(&indent).unwrap_or_default().to_owned());
    }
}

/// Whether a fence contains search/replace blocks: it starts with one, or its heading says that it is a patch.
fn is_replacement(fence: &Fence<'_>, has_heading: bool) -> bool {
    first_line(fence).is_some_and(diff::opens_replacement)
        || diff::path_line(&fence.lines).is_some()
        || (has_heading && fence.lines.iter().any(|line| diff::opens_replacement(line)))
}

fn is_patch(fence: &Fence<'_>, has_heading: bool) -> bool {
    let first = fence.lines.iter().position(|line| !line.trim().is_empty());
    if first.is_some_and(|first| diff::starts_file(&fence.lines, first)) {
        return true;
    }
    let word = info_word(fence);
    let is_diff = ["diff", "patch", "udiff"].iter().any(|info| word.eq_ignore_ascii_case(info));
    if !is_diff && !word.is_empty() && !has_heading {
        return false;
    }
    let is_hunk = |line: &Cow<'_, str>| line.starts_with("@@ -");
    (0..fence.lines.len()).any(|at| diff::starts_file(&fence.lines, at))
        || ((is_diff || has_heading) && fence.lines.iter().any(is_hunk))
}
