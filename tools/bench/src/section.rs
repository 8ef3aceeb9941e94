//! The sections of docs/benchmarks.md that tasks write, each between two markers.

use std::path::Path;

use crate::Result;

const PAGE: &str = "docs/benchmarks.md";

/// A section, by the name of its task.
pub(crate) struct Section(pub(crate) &'static str);

impl Section {
    /// Puts the section into the page.
    pub(crate) fn write(&self, root: &Path, text: &str) -> Result<()> {
        let page = root.join(PAGE);
        let old = std::fs::read_to_string(&page).unwrap_or_default();
        Ok(std::fs::write(&page, self.put(&old, text))?)
    }

    /// Replaces the section on the page, or appends it.
    fn put(&self, page: &str, text: &str) -> String {
        let [begin_mark, end_mark] = self.marks();
        let section = format!("{begin_mark}\n\n{text}\n{end_mark}\n");
        match (page.find(&begin_mark), page.find(&end_mark)) {
            (Some(begin), Some(end)) if begin < end => {
                let rest = page[end + end_mark.len()..].trim_start_matches('\n');
                let gap = if rest.is_empty() { "" } else { "\n" };
                format!("{}{section}{gap}{rest}", &page[..begin])
            }
            _ => format!("{}\n\n{section}", page.trim_end()),
        }
    }

    /// Copies the section of the old page, and everything after it, to a rewritten page.
    pub(crate) fn keep(&self, old: &str, new: &str) -> String {
        let [begin_mark, end_mark] = self.marks();
        match (old.find(&begin_mark), old.find(&end_mark)) {
            (Some(begin), Some(end)) if begin < end => format!("{}\n\n{}\n", new.trim_end(), old[begin..].trim_end()),
            _ => new.to_owned(),
        }
    }

    fn marks(&self) -> [String; 2] {
        ["begin", "end"].map(|side| format!("<!-- bench {}: {side} -->", self.0))
    }
}

#[cfg(test)]
mod tests {
    use super::Section;

    const SECTION: Section = Section("tests");

    #[test]
    fn a_section_is_replaced_in_place() {
        let first = SECTION.put("# Page\n", "one\n");
        assert_eq!(first, "# Page\n\n<!-- bench tests: begin -->\n\none\n\n<!-- bench tests: end -->\n");
        assert_eq!(SECTION.put(&first, "two\n"), first.replace("one", "two"));
        let with_rest = SECTION.put(&format!("{first}after\n"), "two\n");
        assert_eq!(with_rest, format!("{}\nafter\n", first.replace("one", "two")));
        assert_eq!(SECTION.put(&with_rest, "two\n"), with_rest, "the gap does not grow");
    }

    #[test]
    fn a_rewritten_page_keeps_the_section() {
        let page = SECTION.put("# Page\n", "one\n");
        assert_eq!(SECTION.keep(&page, "# New\n"), page.replace("# Page", "# New"));
        assert_eq!(SECTION.keep("# Page\n", "# New\n"), "# New\n");
    }
}
