//! A reply as the gate sees it: patch blocks, file operations, what stands under `## Input Data Changes`.
//!
//! Only what is there is told, not whether it is right. Reading, so that every reply has one meaning:
//!
//! | written | read as |
//! |---|---|
//! | `## Input Data Changes` outside lists and quotes | the section, up to the next `#` or `##`; several are one |
//! | `### Patch: path`, path in a code span or not | a block with the fences up to the next heading of level 1–3 |
//! | a fence that starts with `diff --git` or `---`/`+++` | a patch, whatever its info string |
//! | a fence with the info `diff`, `patch` or none that holds such a line, or hunks alone (not with none) | a patch |
//! | any other fence | no patch: an example, a listing, a nested reply |
//! | `### File Ops` | the operations in its fences and in its lines that start with one of the five words |

mod operations;

use std::borrow::Cow;

pub(crate) use operations::{Operation, OperationKind};

use crate::diff::{self, ParsedDiff};
use crate::markdown::{self, Block, Fence, Heading, TextLine};

/// A reply taken apart.
#[derive(Debug, Default)]
pub(crate) struct Structure<'a> {
    pub(crate) blocks: Vec<PatchBlock<'a>>,
    pub(crate) operations: Vec<Operation>,
    /// Lines under `### File Ops` that are no operation.
    pub(crate) operation_faults: Vec<(u32, String)>,
    pub(crate) input: InputSection<'a>,
    /// Prose outside that section, for hints only.
    pub(crate) other_prose: Vec<TextLine<'a>>,
    /// The line of a fence that nothing closes.
    pub(crate) unclosed_fence: Option<u32>,
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
    /// The heading or the fence.
    pub(crate) line: u32,
    pub(crate) patches: Vec<PatchFence<'a>>,
}

/// `### Patch: path`.
#[derive(Debug)]
pub(crate) struct PatchHeading {
    pub(crate) line: u32,
    pub(crate) path: String,
}

/// A fence that holds a diff.
#[derive(Debug)]
pub(crate) struct PatchFence<'a> {
    pub(crate) fence: Fence<'a>,
    pub(crate) diff: ParsedDiff,
}

/// Takes a reply apart.
pub(crate) fn read<'a>(lines: &[&'a str]) -> Structure<'a> {
    let mut reader = Reader::default();
    for block in markdown::scan(lines.iter().copied()) {
        match block {
            Block::Heading(heading) => reader.heading(&heading),
            Block::Fence(fence) => reader.fence(fence),
            Block::Text(line) => reader.text(line),
        }
    }
    reader.structure
}

/// What the last heading of level 1–3 was about.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Topic {
    #[default]
    Other,
    /// The last patch block.
    Patch,
    Operations,
}

#[derive(Default)]
struct Reader<'a> {
    structure: Structure<'a>,
    in_input: bool,
    topic: Topic,
}

impl<'a> Reader<'a> {
    fn heading(&mut self, heading: &Heading<'a>) {
        if heading.level <= 2 && !heading.is_nested {
            self.in_input = heading.level == 2 && heading.text == "Input Data Changes";
            if self.in_input {
                self.structure.input.line.get_or_insert(heading.line);
            }
        }
        if heading.level > 3 {
            return;
        }
        self.topic = Topic::Other;
        if heading.level != 3 {
            return;
        }
        if let Some(path) = heading.text.strip_prefix("Patch:") {
            self.topic = Topic::Patch;
            let heading = PatchHeading { line: heading.line, path: heading_path(path) };
            self.structure.blocks.push(PatchBlock { line: heading.line, heading: Some(heading), patches: Vec::new() });
        } else if heading.text == "File Ops" {
            self.topic = Topic::Operations;
        }
    }

    fn fence(&mut self, fence: Fence<'a>) {
        if !fence.is_closed {
            self.structure.unclosed_fence = Some(fence.line);
        }
        if self.topic == Topic::Operations {
            for (index, text) in fence.lines.iter().enumerate() {
                self.operation(fence.line_of(index), text, true);
            }
            return;
        }
        if !is_patch(&fence, self.topic == Topic::Patch) {
            if self.in_input {
                self.structure.input.fences.push(fence);
            }
            return;
        }
        let diff = diff::parse(&fence.lines);
        let (line, patch) = (fence.line, PatchFence { fence, diff });
        match self.structure.blocks.last_mut().filter(|_| self.topic == Topic::Patch) {
            Some(block) => block.patches.push(patch),
            None => self.structure.blocks.push(PatchBlock { heading: None, line, patches: vec![patch] }),
        }
    }

    fn text(&mut self, line: TextLine<'a>) {
        if self.topic == Topic::Operations {
            self.operation(line.line, &line.text, false);
        }
        if self.in_input && !line.is_quoted {
            self.structure.input.prose.push(line);
        } else if line.text.contains("no change") {
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

/// A path behind `Patch:`, out of its code span.
fn heading_path(text: &str) -> String {
    let text = text.trim();
    let bare = text.trim_matches('`').trim();
    diff::unquote(bare).map_or_else(|| bare.to_owned(), |(name, _)| name)
}

fn is_patch(fence: &Fence<'_>, has_heading: bool) -> bool {
    let first = fence.lines.iter().position(|line| !line.trim().is_empty());
    if first.is_some_and(|first| diff::starts_file(&fence.lines, first)) {
        return true;
    }
    let word = fence.info.split([' ', '\t', ',', '{']).next().unwrap_or_default();
    let is_diff = ["diff", "patch", "udiff"].iter().any(|info| word.eq_ignore_ascii_case(info));
    if !is_diff && !word.is_empty() && !has_heading {
        return false;
    }
    let is_hunk = |line: &Cow<'_, str>| line.starts_with("@@ -");
    (0..fence.lines.len()).any(|at| diff::starts_file(&fence.lines, at))
        || ((is_diff || has_heading) && fence.lines.iter().any(is_hunk))
}
