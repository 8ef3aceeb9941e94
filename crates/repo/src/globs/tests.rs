//! The globs of a scan, and single globs compared with recorded results of picomatch.

use super::*;

fn globs(includes: &[&str], excludes: &[&str]) -> (Globs, Vec<String>) {
    let owned = |globs: &[&str]| globs.iter().map(|glob| (*glob).to_owned()).collect::<Vec<_>>();
    let mut problems = Vec::new();
    let globs = Globs::new(&owned(includes), &owned(excludes), &mut problems);
    (globs, problems.iter().map(Problem::to_string).collect())
}

#[test]
fn globs_match_paths_as_picomatch_does() {
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
        // A path spelled exactly like the glob, including escapes.
        ("[...slug]/a.ts", "[...slug]", true),
        (r"{a\*,b}/[x]/c.ts", r"{a\*,b}", true),
        (r"{a\*,b}/[x]/c.ts", r"{a\*,b}/[x]", true),
        (r"{a\*,b}/[x]/c.ts", r"{a\*,b}/[x]/c.ts", false),
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

/// Rows of glob, path and result, recorded from picomatch.
const PICOMATCH: &str = include_str!("picomatch.txt");

fn rows() -> impl Iterator<Item = (&'static str, &'static str, bool)> {
    PICOMATCH.lines().filter(|line| !line.starts_with("# ")).map(|line| {
        let mut cells = line.split('\t');
        let mut next = || cells.next().expect("a row has three cells");
        (next(), next(), next() == "yes")
    })
}

#[test]
fn answers_are_those_of_picomatch() {
    assert!(rows().count() > 250);
    for (glob, path, expected) in rows() {
        let globs = PathGlobs::new(&[glob]).unwrap_or_else(|error| panic!("{error}"));
        assert_eq!(globs.is_match(path), expected, "{glob} {path}");
    }
}

#[test]
fn one_set_answers_like_each_glob_alone() {
    let globs: Vec<&str> = rows().map(|(glob, _, _)| glob).collect();
    let (few, many) = globs.split_at(globs.len() / 10);
    for set in [few, many] {
        let each: Vec<PathGlobs> = set.iter().map(|glob| PathGlobs::new(&[glob]).unwrap()).collect();
        let together = PathGlobs::new(set).unwrap();
        for (_, path, _) in rows() {
            assert_eq!(together.is_match(path), each.iter().any(|glob| glob.is_match(path)), "{path}");
        }
    }
}

#[test]
fn a_match_is_below_directories_that_may_hold_it() {
    for (glob, path, _) in rows().filter(|(.., is_match)| *is_match) {
        let directories = PathGlobs::directories(&[glob]).unwrap();
        let ends = path.match_indices('/').map(|(at, _)| at).chain([0]);
        for directory in ends.filter_map(|end| path.get(..end)) {
            assert!(directories.is_match(directory), "{glob} {directory}");
        }
    }
}

#[test]
fn a_question_mark_is_one_character_of_any_width() {
    // picomatch counts UTF-16 units, so it needs two `?` for some characters.
    assert!(PathGlobs::new(&["?"]).unwrap().is_match("\u{1f600}"));
}

#[test]
fn globs_are_refused_with_a_reason() {
    let refused = [
        "", "!a", "!(a)", "a/!(b)", "@(a|b)", "*(a)", "+(a)", "?(a)", "(a|b)", "a|b", "\"a\"", "/a", "a/", "a//b",
        "a/./b", "a/../b", "../a", ".", "[a", "[]", "[!a]", "[z-a]", "[a/b]", "[\\w]", "[[:no:]]", "{a,b", "{1..12}",
        "{a..c,d}", "a\\", "a\\b", "[ab]+", "{a,b}+", "a\0b",
    ];
    let mut found = String::new();
    for glob in refused {
        let error = PathGlobs::new(&[glob]).expect_err(glob);
        found.push_str(&format!("{glob:?}: {}\n", error.reason));
    }
    expect_test::expect![[r#"
        "": it is empty
        "!a": negated globs are not supported; `includes` adds files, and `excludes` takes files out
        "!(a)": extended globs such as `!(…)` are not supported; write alternatives as `{a,b}`
        "a/!(b)": extended globs such as `!(…)` are not supported; write alternatives as `{a,b}`
        "@(a|b)": extended globs such as `!(…)` are not supported; write alternatives as `{a,b}`
        "*(a)": extended globs such as `!(…)` are not supported; write alternatives as `{a,b}`
        "+(a)": extended globs such as `!(…)` are not supported; write alternatives as `{a,b}`
        "?(a)": extended globs such as `!(…)` are not supported; write alternatives as `{a,b}`
        "(a|b)": `(` groups alternatives for picomatch; write `{a,b}` for those, or `\(` for the character
        "a|b": `|` groups alternatives for picomatch; write `{a,b}` for those, or `\|` for the character
        "\"a\"": quotes have a meaning of their own to picomatch; write `\"`
        "/a": globs are relative to the root; write `a`
        "a/": it ends with `/`, and only files are matched; write `a/**` for all that is below the folder
        "a//b": a `.` or nothing between two `/` matches no path; leave it out
        "a/./b": a `.` or nothing between two `/` matches no path; leave it out
        "a/../b": `..` in it would leave the root or match nothing
        "../a": `..` in it would leave the root or match nothing
        ".": a `.` or nothing between two `/` matches no path; leave it out
        "[a": a `[` in it is never closed; write `\[` for the character
        "[]": a `[` in it is never closed; write `\[` for the character
        "[!a]": `[!…]` means `!` or one of the others to picomatch; write `[^…]` for "none of these"
        "[z-a]": the range `z-a` is empty
        "[a/b]": a `/` inside `[…]` matches nothing, because brackets match within one name
        "[\\w]": `\w` escapes nothing; folders are separated by `/`, and a backslash takes the meaning from the character after it
        "[[:no:]]": it has a `[:…:]` class of an unknown name
        "{a,b": a `{` in it is never closed; write `\{` for the character
        "{1..12}": `..` in braces is understood between two single characters only, as in `{1..9}`; write the alternatives out
        "{a..c,d}": `..` in braces is understood between two single characters only, as in `{1..9}`; write the alternatives out
        "a\\": it ends with a backslash
        "a\\b": `\b` escapes nothing; folders are separated by `/`, and a backslash takes the meaning from the character after it
        "[ab]+": `+` after a bracket or brace has a meaning of its own to picomatch; write `\+`
        "{a,b}+": `+` after a bracket or brace has a meaning of its own to picomatch; write `\+`
        "a\0b": it contains a NUL character
    "#]].assert_eq(&found);
}

#[test]
fn huge_globs_are_refused_quickly() {
    for glob in ["{a,".repeat(1300) + &"}".repeat(1300), "a".repeat(5000), "[".repeat(4000), "{".repeat(4000)] {
        assert!(PathGlobs::new(&[glob]).is_err());
    }
    // Long, but valid.
    for glob in ["a/".repeat(2000) + "a", "*a".repeat(2000), "{a,b}".repeat(800), "**/".repeat(1300) + "a"] {
        assert!(!PathGlobs::new(&[&glob]).unwrap().is_match(&"b".repeat(10_000)));
        assert!(PathGlobs::directories(&[&glob]).unwrap().is_match(""));
    }
}

#[test]
fn globs_that_start_anywhere() {
    for (glob, parent, pattern) in [
        ("docs/**/*.md", "docs", "**/*.md"),
        ("docs/a.md", "docs", "a.md"),
        ("a.md", "", "a.md"),
        ("*.md", "", "*.md"),
        ("./x/*.md", "x", "*.md"),
        ("../other/docs/*", "../other/docs", "*"),
        ("../../a/{b,c}/d", "../../a", "{b,c}/d"),
        ("/srv/docs/[ab]/c", "/srv/docs", "[ab]/c"),
        ("/a", "/", "a"),
        ("a/\\[id\\]/b", "a/[id]", "b"),
        ("node_modules/x/README.md", "node_modules/x", "README.md"),
        // `**` crosses folders only as a whole component, or at the start of a glob.
        ("src/**.ts", "src", "*.ts"),
        ("**.ts", "", "**.ts"),
        ("src/**", "src", "**"),
    ] {
        let expected = RootedGlob { parent: parent.to_owned(), pattern: pattern.to_owned() };
        assert_eq!(RootedGlob::new(glob), Ok(expected), "{glob}");
    }
    for glob in ["", "..", "../", "/", ".", "~/a", "a/../b", "//a", "!(a)", "docs/"] {
        assert!(RootedGlob::new(glob).is_err(), "{glob}");
    }
}

proptest::proptest! {
    /// Any text is either accepted or refused, and accepted globs can be matched.
    #[test]
    fn any_text_is_a_glob_or_is_refused(glob in r"[ab.*?/{},\[\]^!\\()ä|+-]{0,24}", path in "[ab./ä]{0,12}") {
        if let Ok(globs) = PathGlobs::new(&[&glob]) {
            let directories = PathGlobs::directories(&[&glob]).expect("a sound glob has directories");
            let below = path.rsplit_once('/').map_or("", |(directory, _)| directory);
            let is_path = path.split('/').all(|name| !matches!(name, "" | "." | ".."));
            assert!(!is_path || !globs.is_match(&path) || directories.is_match(below), "{glob} {path}");
        }
    }
}
