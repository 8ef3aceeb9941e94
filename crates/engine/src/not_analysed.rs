//! Which programming languages the repository has that stan does not analyse, for all reports. Derived from the table of analysed
//! languages, so that there is no second list to maintain.

use stan_graph::Map;
use stan_lang::Languages;
use stan_model::document::run_report::NotAnalysedFiles;
use stan_model::{NodeKind, ProgrammingFiles};

/// The programming languages of these files that no analyser claims.
pub(crate) fn not_analysed(files: &ProgrammingFiles) -> Vec<NotAnalysedFiles> {
    let counts = files.counts().into_iter().filter(|(extension, _)| !Languages::all().claim(&format!("x.{extension}")));
    counts.map(|(extension, files)| NotAnalysedFiles { extension: extension.to_owned(), files }).collect()
}

/// The same for the files of a map, without installed packages.
pub(crate) fn not_analysed_of_map(map: &Map) -> Vec<NotAnalysedFiles> {
    let sources = map.indices().filter(|&index| map.kind(index) == NodeKind::Source);
    not_analysed(&ProgrammingFiles::of(sources.map(|index| map.id(index))))
}

#[cfg(test)]
mod tests {
    use stan_model::document::run_report::not_analysed_line;

    use super::*;

    #[test]
    fn files_are_counted_by_extension_on_one_line() {
        let line = |paths: &[&str]| not_analysed_line(&not_analysed(&ProgrammingFiles::of(paths.iter().copied())));
        for (paths, expected) in [
            (&["a.ts", "b.md", "c.vue"][..], None),
            (&["a.kt"], Some("1 .kt file is listed but not analysed")),
            (&["a.php", "b.kt", "c.kt"], Some("2 .kt and 1 .php files are listed but not analysed")),
            (
                &["a.cs", "b.dart", "c.ex", "d.lua", "e.php", "f.rb", "g.kt", "h.kt"],
                Some("2 .kt, 1 .cs, 1 .dart, 1 .ex, 1 .lua and 2 other files are listed but not analysed"),
            ),
        ] {
            assert_eq!(line(paths).as_deref(), expected);
        }
    }
}
