//! Builds a whole [`MemorySystem`] from one string, so that a test shows its input in one place.

use crate::memory::MemorySystem;

impl MemorySystem {
    /// Reads a fixture:
    ///
    /// ```text
    /// //- /src/a.ts
    /// import './b';
    /// //- link /src/b.ts -> ../lib/b.ts
    /// //- dir /empty
    /// ```
    ///
    /// A file's contents are the lines up to the next `//-`, line ends included. When the first `//-` is indented,
    /// that much is taken off every line.
    ///
    /// # Panics
    /// On anything that is not a fixture, because it is for tests.
    pub fn from_fixture(fixture: &str) -> Self {
        let system = Self::new();
        let indentation = indentation(fixture);
        let mut file: Option<(&str, String)> = None;
        for line in fixture.split_inclusive('\n') {
            let line = strip_indentation(line, indentation);
            if let Some(header) = line.strip_prefix("//-") {
                if let Some((path, contents)) = file.take() {
                    system.set_file(path, contents);
                }
                file = entry(&system, header.trim()).map(|path| (path, String::new()));
            } else if let Some((_, contents)) = &mut file {
                contents.push_str(line);
            } else {
                assert!(line.trim().is_empty(), "this line of a fixture belongs to no file: {line:?}");
            }
        }
        if let Some((path, contents)) = file {
            system.set_file(path, contents);
        }
        system
    }
}

/// Creates the entry in a header, unless it is a file: then returns its path.
fn entry<'h>(system: &MemorySystem, header: &'h str) -> Option<&'h str> {
    if header.starts_with('/') {
        return Some(header);
    }
    if let Some(path) = header.strip_prefix("dir ") {
        system.set_dir(path.trim());
    } else if let Some((path, target)) = header.strip_prefix("link ").and_then(|link| link.split_once(" -> ")) {
        system.set_link(path.trim(), target.trim());
    } else {
        panic!("this header of a fixture starts with neither `/`, `dir` nor `link`: {header:?}");
    }
    None
}

fn indentation(fixture: &str) -> usize {
    let header = fixture.lines().find(|line| line.trim_start().starts_with("//-")).unwrap_or_default();
    header.len() - header.trim_start_matches(' ').len()
}

fn strip_indentation(line: &str, indentation: usize) -> &str {
    let spaces = line.len() - line.trim_start_matches(' ').len();
    line.get(spaces.min(indentation)..).unwrap_or(line)
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::*;
    use crate::SystemExt as _;

    fn text(system: &MemorySystem, path: &str) -> String {
        let mut buffer = Vec::new();
        system.read_into(Path::new(path), &mut buffer).unwrap();
        String::from_utf8(buffer).unwrap()
    }

    #[test]
    fn files_links_and_directories() {
        let system = MemorySystem::from_fixture(
            "
            //- /a/b.ts
            if (x) {
              y();
            }

            //- link /l -> a/b.ts
            //- dir /empty
            //- /last
            no newline at the end",
        );
        assert_eq!(text(&system, "/a/b.ts"), "if (x) {\n  y();\n}\n\n");
        assert_eq!(text(&system, "/l"), text(&system, "/a/b.ts"));
        assert_eq!(text(&system, "/last"), "no newline at the end");
        assert_eq!(system.read_dir(Path::new("/empty")).unwrap(), []);
    }
}
