//! Converts the archive to formats that users paste or that other programs unpack: zip, Markdown, XML (spec 30 §7). The source is
//! the finished tar, which diffs and verification still use. Texts can be split into parts that list each other.

use std::collections::BTreeSet;
use std::path::Path;

use stan_archive::{ArchiveEntry, FinishedArchive, Transaction, ZipFile, each_file, write_zip};
use stan_repo::{Access, EntryKind};

use super::layout::WorkspaceLayout;
use super::reports::FormatReport;
use super::session::refuse;
use super::strict_system::StrictSystem;
use crate::error::EngineError;
use crate::tokens::Tokenizer;

/// The format of an archive.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum ArchiveFormat {
    #[default]
    Tar,
    Zip,
    Markdown,
    Xml,
}

impl ArchiveFormat {
    fn extension(self) -> &'static str {
        match self {
            Self::Tar => "tar",
            Self::Zip => "zip",
            Self::Markdown => "md",
            Self::Xml => "xml",
        }
    }
}

/// Tokens reserved for the header of a part, which lists the other parts.
const ROOM_FOR_HEADER: u64 = 120;

/// With more parts than this, the header names only the first and the last.
const MAX_NAMED: usize = 6;

/// A file as text, or a range of its lines.
struct Section {
    text: String,
    tokens: u64,
}

/// Writes a run's archives in other formats.
pub(super) struct Formats<'f> {
    pub(super) system: &'f StrictSystem<'f>,
    pub(super) layout: &'f WorkspaceLayout,
    pub(super) format: ArchiveFormat,
    /// The token limit of a part; 0 for a single part.
    pub(super) split: u64,
    pub(super) tokenizer: Tokenizer,
}

/// The contents of a diff archive: names of files of the full archive, and files whose bytes are in memory.
pub(super) struct DiffContents<'d> {
    pub(super) names: BTreeSet<&'d str>,
    pub(super) extra: &'d [ArchiveEntry],
}

/// An archived file.
struct Packed {
    name: String,
    bytes: Vec<u8>,
    executable: bool,
}

impl Formats<'_> {
    /// Writes the archive and its diff in the requested format, and removes those that earlier runs left in other formats.
    pub(super) fn write(
        &self,
        transaction: &mut Transaction<'_>,
        archive: FinishedArchive<'_>,
        diff: Option<&DiffContents<'_>>,
    ) -> Result<Vec<FormatReport>, EngineError> {
        let mut outputs: Vec<(String, Vec<u8>)> = Vec::new();
        if self.format != ArchiveFormat::Tar {
            let mut files = Vec::new();
            each_file(self.system, archive, |file, bytes| {
                files.push(Packed { name: file.name.clone(), bytes, executable: file.executable });
                Ok::<(), stan_archive::Error>(())
            })
            .map_err(refuse)?;
            outputs.extend(self.render("archive", &files)?);
            if let Some(diff) = diff {
                outputs.extend(self.render("archive.diff", &changed(files, diff))?);
            }
        }
        for stale in self.stale(&outputs) {
            transaction.remove(&stale).map_err(refuse)?;
        }
        let access = if archive.written.private { Access::Private } else { Access::Shared };
        let mut reports = Vec::new();
        for (path, bytes) in outputs {
            let tokens = if self.format == ArchiveFormat::Zip { 0 } else { self.tokenizer.count(&bytes) };
            transaction.write(&path, &bytes, access).map_err(refuse)?;
            reports.push(FormatReport { path, bytes: bytes.len() as u64, tokens });
        }
        Ok(reports)
    }

    fn path(&self, stem: &str, part: &str) -> String {
        self.layout.own(&format!("output/{stem}{part}.{}", self.format.extension()))
    }

    fn render(&self, stem: &str, files: &[Packed]) -> Result<Vec<(String, Vec<u8>)>, EngineError> {
        if self.format == ArchiveFormat::Zip {
            let files: Vec<ZipFile<'_>> = files
                .iter()
                .map(|Packed { name, bytes, executable }| ZipFile { name, bytes, executable: *executable })
                .collect();
            return Ok(vec![(self.path(stem, ""), write_zip(&files).map_err(refuse)?)]);
        }
        let sections: Vec<Section> =
            files.iter().flat_map(|file| self.sections(&file.name, &String::from_utf8_lossy(&file.bytes))).collect();
        Ok(self.parts(stem, &sections))
    }

    /// A file as one section, or as several if it is too large for a part.
    fn sections(&self, name: &str, text: &str) -> Vec<Section> {
        let whole = self.section(name, text);
        if self.split == 0 || whole.tokens <= self.room() {
            return vec![whole];
        }
        let mut sections = Vec::new();
        let lines: Vec<&str> = text.split_inclusive('\n').collect();
        let mut pending = vec![(0, lines.len())];
        while let Some((from, to)) = pending.pop() {
            let piece: String = lines.get(from..to).unwrap_or_default().concat();
            let section = self.section(&format!("{name} (lines {}-{to})", from + 1), &piece);
            if section.tokens <= self.room() {
                sections.push(section);
            } else if to - from < 2 {
                sections.extend(self.pieces_of_line(name, to, &piece));
            } else {
                let middle = from + (to - from) / 2;
                pending.extend([(middle, to), (from, middle)]);
            }
        }
        sections
    }

    /// Splits a line that is too long for a part at character boundaries.
    fn pieces_of_line(&self, name: &str, line: usize, text: &str) -> Vec<Section> {
        let mut pieces = Vec::new();
        let mut pending = vec![text];
        while let Some(text) = pending.pop() {
            let title = format!("{name} (line {line}, piece {})", pieces.len() + 1);
            let section = self.section(&title, text);
            let middle = (text.len() / 2..text.len()).find(|at| text.is_char_boundary(*at)).unwrap_or(0);
            match text.split_at_checked(middle) {
                Some((before, behind)) if section.tokens > self.room() && middle > 0 => {
                    pending.extend([behind, before])
                }
                _ => pieces.push(section),
            }
        }
        pieces
    }

    fn room(&self) -> u64 {
        self.split.saturating_sub(ROOM_FOR_HEADER).max(1)
    }

    fn section(&self, title: &str, text: &str) -> Section {
        let text = match self.format {
            ArchiveFormat::Xml => xml_section(title, text),
            _ => markdown_section(title, text),
        };
        Section { tokens: self.tokenizer.count(text.as_bytes()), text }
    }

    /// Fills parts with sections, in order, up to the limit.
    fn parts(&self, stem: &str, sections: &[Section]) -> Vec<(String, Vec<u8>)> {
        let mut parts: Vec<Vec<&Section>> = vec![Vec::new()];
        let mut tokens = 0;
        for section in sections {
            if self.split > 0 && tokens > 0 && tokens + section.tokens > self.room() {
                parts.push(Vec::new());
                tokens = 0;
            }
            tokens += section.tokens;
            if let Some(part) = parts.last_mut() {
                part.push(section);
            }
        }
        let count = parts.len();
        let name = |part: usize| match count {
            1 => self.path(stem, ""),
            _ => self.path(stem, &format!(".{}-of-{count}", part + 1)),
        };
        let part = |(index, sections): (usize, &Vec<&Section>)| {
            let body: String = sections.iter().map(|section| section.text.as_str()).collect();
            let title = if count == 1 {
                "The files of an archive by stan.".to_owned()
            } else {
                let file = |part: usize| name(part).rsplit('/').next().unwrap_or_default().to_owned();
                let others = if count <= MAX_NAMED {
                    (0..count).filter(|part| *part != index).map(file).collect::<Vec<_>>().join(", ")
                } else {
                    format!("{} to {}", file(0), file(count - 1))
                };
                format!("Part {} of {count} of an archive by stan. The other parts: {others}.", index + 1)
            };
            let text = match self.format {
                ArchiveFormat::Xml => format!("<archive note=\"{}\">\n{body}</archive>\n", xml_escaped(&title)),
                _ => format!("# Archive\n\n{title}\n\n{body}"),
            };
            (name(index), text.into_bytes())
        };
        parts.iter().enumerate().map(part).collect()
    }

    /// Archives of earlier runs in formats that this run does not write.
    fn stale(&self, outputs: &[(String, Vec<u8>)]) -> Vec<String> {
        let folder = self.layout.absolute(&self.layout.own("output"));
        let entries = stan_repo::SystemExt::read_dir(self.system, Path::new(&folder)).unwrap_or_default();
        let is_ours = |name: &str| {
            name.starts_with("archive.") && [".zip", ".md", ".xml"].iter().any(|ending| name.ends_with(ending))
        };
        let mut stale: Vec<String> = entries
            .iter()
            .filter(|entry| entry.kind == EntryKind::File)
            .filter_map(|entry| entry.name.to_str())
            .filter(|name| is_ours(name))
            .map(|name| self.layout.own(&format!("output/{name}")))
            .filter(|path| !outputs.iter().any(|(written, _)| written == path))
            .collect();
        stale.sort_unstable();
        stale
    }
}

/// The files of a diff archive.
fn changed(files: Vec<Packed>, diff: &DiffContents<'_>) -> Vec<Packed> {
    let made = diff.extra.iter().filter_map(ArchiveEntry::in_memory).map(|entry| Packed {
        name: entry.name.to_owned(),
        bytes: entry.bytes.to_vec(),
        executable: entry.executable,
    });
    let kept = files.into_iter().filter(|file| diff.names.contains(file.name.as_str()));
    let mut all: Vec<Packed> = kept.chain(made).collect();
    all.sort_by(|one, other| one.name.cmp(&other.name));
    all
}

/// A heading and a code block, whose fence is longer than any in the text.
fn markdown_section(title: &str, text: &str) -> String {
    let longest = text.lines().map(|line| line.trim_start().chars().take_while(|c| *c == '`').count()).max();
    let fence = "`".repeat(longest.unwrap_or(0).max(2) + 1);
    let end = if text.is_empty() || text.ends_with('\n') { "" } else { "\n" };
    let extension =
        title.split(' ').next().and_then(|path| path.rsplit_once('.')).map_or("", |(_, extension)| extension);
    // The name comes from the repository and must not inject Markdown into the info string.
    let language = if extension.chars().all(|c| c.is_ascii_alphanumeric()) { extension } else { "" };
    format!("### File: {}\n\n{fence}{language}\n{text}{end}{fence}\n\n", stan_model::Untrusted::new(title))
}

fn xml_section(title: &str, text: &str) -> String {
    let end = if text.is_empty() || text.ends_with('\n') { "" } else { "\n" };
    // A CDATA section cannot contain its own end marker, so split it there.
    let text = text.replace("]]>", "]]]]><![CDATA[>");
    format!("<file path=\"{}\"><![CDATA[\n{text}{end}]]></file>\n", xml_escaped(title))
}

fn xml_escaped(text: &str) -> String {
    let shown = stan_model::Untrusted::new(text).to_string();
    shown.replace('&', "&amp;").replace('<', "&lt;").replace('"', "&quot;")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fences_are_longer_than_those_inside() {
        let section = markdown_section("a.md", "```ts\nx\n```\n````\n");
        assert_eq!(section, "### File: a.md\n\n`````md\n```ts\nx\n```\n````\n`````\n\n");
        assert_eq!(markdown_section("b", "x"), "### File: b\n\n```\nx\n```\n\n");
        assert_eq!(
            xml_section("a&\"b", "x]]>y"),
            "<file path=\"a&amp;&quot;b\"><![CDATA[\nx]]]]><![CDATA[>y\n]]></file>\n"
        );
    }
}
