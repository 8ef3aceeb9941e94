//! The laws of the parser of compilers' and test runners' output, which gives `stan suggest` its focus.

use std::collections::BTreeSet;

use stan_engine::relevance::files_named;

/// Files are sorted and unique, and each comes from a single line: parsing the lines separately gives the same files. The
/// basename of a file occurs in the log.
pub fn law(bytes: &[u8]) {
    let found = files_named(&PATHS, "/r/repo", bytes);
    assert!(found.is_sorted_by(|left, right| left < right), "sorted and unique");
    let lines = bytes.split(|&byte| byte == b'\n').flat_map(|line| files_named(&PATHS, "/r/repo", line));
    assert_eq!(found, lines.collect::<BTreeSet<_>>().into_iter().collect::<Vec<_>>(), "lines stand alone");
    // A space may be written as `%20`, terminal sequences may split words, and control characters count as spaces.
    let text = String::from_utf8_lossy(bytes).replace("%20", " ").replace(char::is_control, " ");
    for file in found {
        let path = PATHS[file as usize];
        let name = path.rsplit('/').next().unwrap_or_default();
        assert!(text.contains(name) || bytes.contains(&0x1b), "{name:?} is not in the log");
    }
}

const PATHS: [&str; 8] = [
    "app/(shop)/[id]/page.tsx",
    "lib/my file.ts",
    "main.ts",
    "pkg/one/src/deep.ts",
    "pkg/one/src/index.ts",
    "pkg/two/src/index.ts",
    "src/a.ts",
    "src/b.ts",
];
