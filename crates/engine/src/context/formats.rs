//! The archive in forms that people paste or that other programs unpack: zip, Markdown, XML (spec 30 §7). Made from the
//! finished tar, which stays the one that diffs and verification work on. Texts can be split into parts that name each
//! other.

use stan_archive::{Prepared, Transaction, Written, ZipFile, each_file, write_zip};
use stan_repo::{Access, EntryKind};
use std::path::Path;

use super::layout::WorkspaceLayout;
use super::reports::FormatReport;
use super::session::refuse;
use super::strict_system::StrictSystem;
use crate::error::EngineError;
use crate::tokens::Tokenizer;

/// How an archive is written.
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

/// What parts of a split text say about the others may cost so many tokens.
const ROOM_FOR_HEADER: u64 = 120;

/// One file, or some lines of one, as text.
struct Section {
    text: String,
    tokens: u64,
}

/// Other forms of a run's archives.
pub(super) struct Formats<'f> {
    pub(super) system: &'f StrictSystem<'f>,
    pub(super) layout: &'f WorkspaceLayout,
    pub(super) format: ArchiveFormat,
    /// The most tokens of a part; 0 for one part.
    pub(super) split: u64,
    pub(super) tokenizer: Tokenizer,
}

impl Formats<'_> {
    /// Writes the archive in its other form, and removes what earlier runs left in other forms.
    pub(super) fn write(
        &self,
        transaction: &mut Transaction<'_>,
        archives: &[(&str, &Prepared, &Written)],
    ) -> Result<Vec<FormatReport>, EngineError> {
        let mut outputs: Vec<(String, Vec<u8>)> = Vec::new();
        let mut is_private = false;
        for (stem, prepared, written) in archives.iter().filter(|_| self.format != ArchiveFormat::Tar) {
            outputs.extend(self.render(stem, prepared, written)?);
            is_private |= written.private;
        }
        for stale in self.stale(&outputs) {
            transaction.remove(&stale).map_err(refuse)?;
        }
        let access = if is_private { Access::Private } else { Access::Shared };
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

    fn render(
        &self,
        stem: &str,
        prepared: &Prepared,
        written: &Written,
    ) -> Result<Vec<(String, Vec<u8>)>, EngineError> {
        let mut files = Vec::new();
        each_file(self.system, (prepared, written), |file, bytes| {
            files.push((file.name.clone(), bytes, file.executable));
            Ok::<(), stan_archive::Error>(())
        })
        .map_err(refuse)?;
        if self.format == ArchiveFormat::Zip {
            let files: Vec<ZipFile<'_>> = files
                .iter()
                .map(|(name, bytes, executable)| ZipFile { name, bytes, executable: *executable })
                .collect();
            return Ok(vec![(self.path(stem, ""), write_zip(&files).map_err(refuse)?)]);
        }
        let sections: Vec<Section> =
            files.iter().flat_map(|(name, bytes, _)| self.sections(name, &String::from_utf8_lossy(bytes))).collect();
        Ok(self.parts(stem, &sections))
    }

    /// A file as one section, or as several when it is too large for a part.
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

    /// A line that is too long for a part, cut between characters.
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

    /// Sections in order, as many in a part as fit.
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
                let others = if index == 0 { name(count - 1) } else { name(0) };
                format!("Part {} of {count} of an archive by stan, from {} to {others}.", index + 1, name(0))
            };
            let text = match self.format {
                ArchiveFormat::Xml => format!("<archive note=\"{}\">\n{body}</archive>\n", xml_escaped(&title)),
                _ => format!("# Archive\n\n{title}\n\n{body}"),
            };
            (name(index), text.into_bytes())
        };
        parts.iter().enumerate().map(part).collect()
    }

    /// Archives in other forms that this run does not write.
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

/// A heading and a fence that is longer than any in the text.
fn markdown_section(title: &str, text: &str) -> String {
    let longest = text.lines().map(|line| line.trim_start().chars().take_while(|c| *c == '`').count()).max();
    let fence = "`".repeat(longest.unwrap_or(0).max(2) + 1);
    let end = if text.is_empty() || text.ends_with('\n') { "" } else { "\n" };
    let extension =
        title.split(' ').next().and_then(|path| path.rsplit_once('.')).map_or("", |(_, extension)| extension);
    let language = if extension.chars().all(|c| c.is_ascii_alphanumeric()) { extension } else { "" };
    format!("### File: {}\n\n{fence}{language}\n{text}{end}{fence}\n\n", stan_model::Untrusted::new(title))
}

fn xml_section(title: &str, text: &str) -> String {
    let end = if text.is_empty() || text.ends_with('\n') { "" } else { "\n" };
    // The one thing that a CDATA section cannot hold is its own end.
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
