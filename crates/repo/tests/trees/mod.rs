//! Inputs for the comparison with git: a table of patterns, and random trees from a seed.

use stan_testkit::Random;

/// A tree to build: all entries by path.
#[derive(Debug, Default)]
pub(crate) struct Tree {
    pub(crate) files: Vec<(String, String)>,
    pub(crate) links: Vec<(String, String)>,
    pub(crate) tracked: Vec<String>,
    pub(crate) tracked_later: Option<String>,
    pub(crate) gitlinks: Vec<String>,
    /// Directories with a `.git` of their own.
    pub(crate) repositories: Vec<String>,
    pub(crate) info_exclude: String,
    pub(crate) index_options: Vec<&'static str>,
    pub(crate) subfolder: Option<String>,
    pub(crate) worktree: bool,
    pub(crate) sha256: bool,
}

impl Tree {
    pub(crate) fn random(seed: u64) -> Self {
        let mut random = Random::new(seed);
        let mut tree = Self::default();
        for _ in 0..4 + random.below(16) {
            let path = random_path(&mut random);
            if random.one_in(4) {
                tree.tracked.push(path.clone());
            }
            tree.files.push((path, "x".to_owned()));
        }
        for _ in 0..random.below(4) {
            let directory = random.pick_text(&["", "a/", "b/", "a/b/", "dist/", "src/"]);
            let rules: String = (0..1 + random.below(4)).map(|_| random_pattern(&mut random) + "\n").collect();
            tree.files.push((format!("{directory}.gitignore"), rules));
        }
        for _ in 0..random.below(4) {
            let target = random.pick_text(&[
                "a",
                "b.ts",
                "../a",
                "a/b",
                "../b/b.ts",
                "gone",
                "../../../..",
                "l",
                ".",
                "x.log",
                "../x.log",
            ]);
            let name = random.pick_text(&["l", "a/l", "b/l", "ln.ts", "a/b/l", ".gitignore", "c/.gitignore"]);
            tree.links.push((name.to_owned(), target.to_owned()));
        }
        if random.one_in(2) {
            tree.info_exclude = random_pattern(&mut random) + "\n";
        }
        if random.one_in(3) {
            tree.gitlinks.push(random.pick_text(&["sub", "a/sub", "b"]).to_owned());
            tree.files.push(("sub/file.ts".to_owned(), String::new()));
        }
        for _ in 0..random.below(3) {
            tree.repositories.push(random.pick_text(&["a", "b", "a/b", "nested/a", "nested/c", "src"]).to_owned());
        }
        tree.index_options = match random.below(6) {
            0 => vec!["--index-version", "4"],
            1 => vec!["--split-index"],
            2 => vec!["--index-version", "3"],
            _ => vec![],
        };
        // Git refuses some combinations in one index: a path below a submodule or below another file.
        tree.tracked
            .retain(|path| !tree.gitlinks.iter().any(|link| path.starts_with(&format!("{link}/")) || path == link));
        tree.tracked.sort();
        tree.tracked.dedup();
        let all = tree.tracked.clone();
        tree.tracked.retain(|path| !all.iter().any(|other| path.starts_with(&format!("{other}/"))));
        tree.tracked_later = if random.one_in(3) { tree.tracked.pop() } else { None };
        tree.subfolder = random.one_in(2).then(|| random.pick_text(&["a", "a/b", "src", "dist"]).to_owned());
        // A folder that is a repository itself has another top, which this comparison excludes.
        tree.subfolder = tree.subfolder.take().filter(|folder| {
            let under = |other: &String| folder == other || folder.starts_with(&format!("{other}/"));
            !tree.repositories.iter().any(under) && !tree.gitlinks.iter().any(under)
        });
        tree.worktree = random.one_in(8);
        tree.sha256 = random.one_in(10);
        tree
    }
}

const PARTS: [&str; 14] =
    ["a", "b", "src", "dist", "b.ts", "x.log", "A", "a b", "ab", ".env", "node_modules", "ä", "[x]", "a\\b"];

fn random_path(random: &mut Random) -> String {
    let directories: Vec<&str> = (0..random.below(4)).map(|_| random.pick_text(&PARTS)).collect();
    [directories, vec![random.pick_text(&PARTS)]].concat().join("/")
}

pub(crate) fn random_pattern(random: &mut Random) -> String {
    let mut pattern = String::new();
    if random.one_in(4) {
        pattern.push('!');
    }
    if random.one_in(4) {
        pattern.push('/');
    }
    for _ in 0..1 + random.below(4) {
        pattern.push_str(random.pick_text(&[
            "*",
            "**",
            "**/",
            "/**",
            "/**/",
            "/",
            "?",
            "a",
            "b",
            "src",
            "dist",
            ".ts",
            "*.ts",
            "[ab]",
            "[!a]",
            "[^b]",
            "\\",
            "\\a",
            ".log",
            " ",
            "\\ ",
            "[a-c]",
            "[[:alpha:]]",
            "[",
            "]",
            "ä",
            "a/",
            "b/",
            "*/",
        ]));
    }
    pattern
}

/// Every ignore file of the table.
pub(crate) fn pattern_table() -> Vec<Vec<u8>> {
    let one_line = [
        "",
        "#a",
        "\\#a",
        "!a",
        "\\!a",
        "a",
        "a/",
        "/a",
        "/a/",
        "a/b",
        "/a/b",
        "a/b/",
        "a/*",
        "a/**",
        "a/**/",
        "**/b",
        "**/b/",
        "/**/b",
        "**",
        "*",
        "/*",
        "*/",
        "/**",
        "**/",
        "a/**/b",
        "a/**/**/b",
        "a**",
        "a**/b",
        "**b",
        "a/**b",
        "a*/b",
        "*/b",
        "*/*",
        "?",
        "??",
        "/?",
        "?/b",
        "a?b",
        "[a]",
        "[!a]",
        "[^a]",
        "[a-c]",
        "[a-",
        "[]a]",
        "[]-a]",
        "[!]a]",
        "[a\\]b]",
        "[[:alpha:]]",
        "[[:digit:]x]",
        "[[:upper:]]",
        "[[:space:]]",
        "[[:punct:]]*",
        "[[:nope:]]",
        "[[:alpha:]",
        "[[a]",
        "[[:]",
        "[-a]",
        "[a-]",
        "[\\a-\\c]",
        "[b-a]",
        "a[/]b",
        "*.ts",
        "*.t?",
        ".*",
        "*.*",
        "\\a",
        "a\\",
        "\\*",
        "\\",
        "a ",
        "a\\ ",
        "a b",
        "a\\ b ",
        "a  ",
        "\ta",
        "a\t",
        "a\r",
        "ä",
        "?ä",
        "??ä",
        "[ä]",
        "A",
        "a//b",
        "//a",
        "a/./b",
        "./a",
        "../a",
        "b/../a",
        "a/b/c",
        "b.ts/",
        "!",
        "/",
        "!/",
        "*a*b*",
        "a/*/c",
        "**/a/**",
        "a/**/c/**",
        "\\**",
        "**\\/b",
        "*\\/b",
        "a\\/b",
        "{a,b}",
        "(a|b)",
        "+a",
        "*[!s]",
        "-",
        "x-[0-9]",
        "[.-0]*",
        "[!-~]",
        "case*",
    ];
    let many_lines: [&[u8]; 17] = [
        b"*\n!a\n",
        b"*\n!*/\n!b.ts\n",
        b"/*\n!/a\n/a/*\n!/a/b\n",
        b"a\n!a/b\n",
        b"a/*\n!a/b\n",
        b"!a\na\n",
        b"a\r\nb\r\n",
        b"\xef\xbb\xbfa\n",
        b"\xef\xbb\xbf#a\nb",
        b"a\x00b\n",
        b"\n\n\na\n\n",
        b"  \n a\n",
        b"*.ts\n!b.ts\n*.log\n!*.log",
        b"\xff\n",
        b"a/\n!a/\n",
        b"**/c\n!a/**/c\n",
        b"#\n \\ \n\\ \nb\\\n",
    ];
    let lines = one_line.iter().map(|line| line.as_bytes().to_vec());
    lines.chain(many_lines.iter().map(|lines| lines.to_vec())).collect()
}

const NAMES: [&str; 34] = [
    "a",
    "b",
    "c",
    "ab",
    "a b",
    "a ",
    " a",
    "A",
    "ä",
    "aä",
    "b.ts",
    "x.log",
    ".env",
    "#a",
    "!a",
    "*",
    "a*",
    "\\",
    "a\\",
    "[a]",
    "]",
    "-",
    "+a",
    "\ta",
    "a\t",
    "a\r",
    "x-1",
    "{a,b}",
    "nl\nnl",
    "a'\"b",
    "nested.ts",
    "e\u{301}",
    "(a|b)",
    "aab",
];

/// Every name as a file, and below the directories that patterns mention.
pub(crate) fn many_paths() -> Vec<String> {
    let below = ["f", "d", "d/a"].into_iter().flat_map(|folder| NAMES.map(|name| format!("{folder}/{name}")));
    let others =
        ["a/b", "a/c", "a/x/b", "a/x/y/b", "a/b.ts", "ax/b", "axx/y/b", "b/a/b", "b/a/x/c/d", "b.ts/f", "x/b", "ab/b"];
    below.chain(others.map(str::to_owned)).filter(|path| path != "d/a").collect()
}

/// The names from which random patterns are built.
pub(crate) fn few_paths() -> Vec<String> {
    let files = [
        "b",
        "src/a",
        "src/b.ts",
        "src/ab",
        "dist/a/b",
        "dist/b/a.ts",
        "ab/b",
        "b.ts",
        "ä",
        "a b",
        "x.log",
        "ba/dist/src",
    ];
    files.iter().flat_map(|file| [(*file).to_owned(), format!("a/{file}")]).collect()
}
