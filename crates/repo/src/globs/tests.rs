//! The globs of a scan, and the meaning of single globs against the answers of picomatch.

use super::*;

fn globs(includes: &[&str], excludes: &[&str]) -> (Globs, Vec<String>) {
    let owned = |globs: &[&str]| globs.iter().map(|glob| (*glob).to_owned()).collect::<Vec<_>>();
    let mut problems = Vec::new();
    let globs = Globs::new(&owned(includes), &owned(excludes), &mut problems);
    (globs, problems.iter().map(Problem::to_string).collect())
}

#[test]
fn includes_match_paths() {
    let cases = [
        ("dist/**", "dist/a/b.js", true),
        ("dist/**", "src/dist/b.js", false),
        ("**/*.js", "a/.b/c.js", true),
        ("**/*.js", "c.js", true),
        ("**/*.js", "node_modules/a/c.js", false),
        ("**/node_modules/a/**", "x/node_modules/a/c.js", true),
        ("node_modules/*/index.js", "node_modules/a/index.js", true),
        (".git/config", ".git/config", true),
        ("./a/{b,c}.ts", "a/c.ts", true),
        ("*.ts", "a/b.ts", false),
        ("[ab].ts", "b.ts", true),
    ];
    for (glob, path, expected) in cases {
        let (globs, problems) = globs(&[glob], &[]);
        assert_eq!((globs.includes(path), problems), (expected, vec![]), "{glob} {path}");
    }
}

#[test]
fn directories_that_may_hold_included_files() {
    let cases = [
        ("dist/**", "dist", true),
        ("dist/**", "dist/a/b", true),
        ("dist/**", "src", false),
        ("dist/*.js", "dist", true),
        ("dist/*.js", "dist/a", false),
        ("a/*/c/d.ts", "a/b", true),
        ("a/*/c/d.ts", "a/b/c", true),
        ("a/*/c/d.ts", "a/b/x", false),
        ("**/*.ts", "any/where", true),
        ("**/*.ts", "any/node_modules", false),
        ("{a/b,c}/x.ts", "a/b", true),
        ("a.ts", "a", false),
        ("{node_modules,x}/a/b.js", "node_modules/a", true),
    ];
    for (glob, directory, expected) in cases {
        assert_eq!(globs(&[glob], &[]).0.could_include_below(directory), expected, "{glob} {directory}");
    }
}

#[test]
fn excludes_prune_whole_directories() {
    let (globs, _) = globs(&[], &["dist/**", "*.md"]);
    assert!(globs.excludes("dist/a") && globs.excludes("a.md") && !globs.excludes("a/b.md"));
    assert!(globs.prunes("dist") && !globs.prunes("src"));
}

#[test]
fn unsupported_globs_are_problems() {
    let (globs, problems) = globs(&["!(a)", "[", ""], &["!x"]);
    assert!(!globs.has_includes() && !globs.excludes("x"));
    assert_eq!(problems.len(), 4);
    assert!(problems[0].starts_with("!(a): glob in `includes` has no effect"), "{}", problems[0]);
}
