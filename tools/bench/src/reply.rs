//! `cargo xtask bench reply`: how long `stan check` takes for replies of five megabytes in different hostile shapes.
//!
//! The target is one second each. For comparison, the time of only reading the file as UTF-8 is shown. Measures processor time,
//! because wall time on a busy machine says nothing about the program; the fastest of a few rounds counts.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use wait4::Wait4 as _;

use crate::Result;

#[derive(clap::Args)]
pub(crate) struct ReplyOptions {
    /// Measure this program instead of building it.
    #[arg(long, value_name = "PATH")]
    pub(super) stan: Option<PathBuf>,
    /// Only the shapes whose names contain this.
    #[arg(long, value_name = "NAME")]
    only: Option<String>,
    /// Rounds per shape.
    #[arg(long, value_name = "N", default_value_t = 3)]
    rounds: usize,
    /// Fail if a shape takes more than a second.
    #[arg(long)]
    check: bool,
}

const SIZE: usize = 5_000_000;
const TARGET: Duration = Duration::from_secs(1);
/// The bound in seconds for one shape.
const LIMIT: Duration = Duration::from_secs(120);
/// The number of lines in the large file that patches change.
const LINES: usize = 60_000;
const STATE: &str = ".stan/context/dependency.state.json";

pub(super) fn run(root: &Path, stan: &Path, options: &ReplyOptions) -> Result<bool> {
    let scratch = root.join(".bench/reply");
    let repository = scratch.join("repository");
    make_repository(stan, &repository)?;
    println!("{:<24} {:>9} {:>8} {:>14} {:>9}", "shape", "time", "of 1 s", "of reading it", "memory");
    let mut holds = true;
    for shape in SHAPES.iter().filter(|shape| options.only.as_ref().is_none_or(|only| shape.name.contains(only))) {
        let reply = scratch.join(format!("{}.md", shape.name));
        std::fs::write(&reply, (shape.text)())?;
        holds &= measure(stan, &repository, &reply, shape, options.rounds.max(1))?;
        std::fs::remove_file(&reply)?;
    }
    Ok(holds || !options.check)
}

/// Prints a line about the shape. Returns whether it is within the target.
fn measure(stan: &Path, repository: &Path, reply: &Path, shape: &Shape, rounds: usize) -> Result<bool> {
    let (mut fastest, mut plain, mut peak) = (Duration::MAX, Duration::MAX, 0);
    for _ in 0..rounds {
        let start = Instant::now();
        let is_text = std::str::from_utf8(&std::fs::read(reply)?).is_ok();
        plain = plain.min(start.elapsed());
        let mut command = Command::new(stan);
        command.arg("check").arg(reply).arg("--json").args(shape.arguments).current_dir(repository);
        let Some((cpu, memory)) = judge(command, shape.name)?.filter(|_| is_text) else {
            println!("{:<24} more than {} s", shape.name, LIMIT.as_secs());
            return Ok(false);
        };
        fastest = fastest.min(cpu);
        peak = peak.max(memory);
    }
    let ratio = |of: Duration| fastest.as_secs_f64() / of.as_secs_f64().max(1e-9);
    let verdict = if fastest > TARGET { "  over the target" } else { "" };
    println!(
        "{:<24} {:>6.0} ms {:>8.2} {:>13.0}x {:>6.0} MB{verdict}",
        shape.name,
        fastest.as_secs_f64() * 1e3,
        ratio(TARGET),
        ratio(plain),
        peak as f64 / 1e6
    );
    Ok(fastest <= TARGET)
}

/// Processor time and peak memory of one run; `None` if it took too long. Most replies are rejected: that is exit code 1.
fn judge(mut command: Command, name: &str) -> Result<Option<(Duration, u64)>> {
    let start = Instant::now();
    let mut child = command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null()).spawn()?;
    loop {
        if let Some(used) = child.try_wait4()? {
            if !matches!(used.status.code(), Some(0 | 1)) {
                return Err(format!("{name}: stan check ended with {}", used.status).into());
            }
            return Ok(Some((used.rusage.utime + used.rusage.stime, used.rusage.maxrss)));
        }
        if start.elapsed() > LIMIT {
            child.kill()?;
            child.wait4()?;
            return Ok(None);
        }
        std::thread::sleep(Duration::from_millis(2));
    }
}

/// A repository with large files, many small ones, and an archive of some of them.
fn make_repository(stan: &Path, folder: &Path) -> Result<()> {
    let _ = std::fs::remove_dir_all(folder);
    std::fs::create_dir_all(folder.join("src"))?;
    std::fs::write(folder.join("package.json"), "{\"name\":\"r\"}\n")?;
    std::fs::write(folder.join("src/large.ts"), joined(0..LINES, |line| large_line(line) + "\n"))?;
    std::fs::write(folder.join("src/alike.ts"), "same();\n".repeat(200_000))?;
    for number in 0..200 {
        let text = format!("import './f{}';\nexport const a{number} = 1;\n", (number + 1) % 200);
        std::fs::write(folder.join(format!("src/f{number}.ts")), text)?;
    }
    let archive = |arguments: &[&str]| -> Result<()> {
        let output = Command::new(stan).args(arguments).current_dir(folder).output()?;
        let complaint = || String::from_utf8_lossy(&output.stderr).into_owned().into();
        if output.status.success() { Ok(()) } else { Err(complaint()) }
    };
    archive(&["run", "--context", "--meta"])?;
    let state = "{\"v\":2,\"i\":[\"src/large.ts\",\"src/alike.ts\",[\"src/f1.ts\",3]]}\n";
    std::fs::write(folder.join(STATE), state)?;
    archive(&["run", "--context"])
}

/// A hostile reply of five megabytes.
struct Shape {
    name: &'static str,
    text: fn() -> String,
    arguments: &'static [&'static str],
}

const fn shape(name: &'static str, text: fn() -> String) -> Shape {
    Shape { name, text, arguments: &[] }
}

const SHAPES: &[Shape] = &[
    shape("prose", || filled(|_| "Some words about the change, `code`, and [links](x).\n\n".to_owned())),
    shape("one fence", || format!("```text\n{}```\n", filled(|_| "a line of a fence\n".to_owned()))),
    shape("tiny fences", || filled(|_| "```\nx\n```\n".to_owned())),
    shape("open fences", || filled(|_| "~~~~ x\n``` y\n".to_owned())),
    shape("patches", || filled(|n| fenced(&edit(&format!("src/n{n}.ts"), "@@ -1 +1 @@\n-a\n+b\n")))),
    shape("patches of one file", || filled(|_| fenced(&edit("src/f1.ts", "@@ -1 +1 @@\n-a\n+b\n")))),
    shape("patches with crlf", || filled(|_| fenced(&edit("x", "@@ -1 +1 @@\n-a\n+b\n")).replace('\n', "\r\n"))),
    shape("modes in one fence", || {
        fenced(&filled(|n| format!("{}old mode 100644\nnew mode 100755\n", head(&format!("m{n}")))))
    }),
    shape("renames", || filled(|n| fenced(&moved("rename", &format!("src/f{}.ts", n % 200), n, "")))),
    shape("copies of a large file", || filled(|n| fenced(&moved("copy", "src/large.ts", n, "")))),
    shape("edited copies", || filled(|n| fenced(&moved("copy", "src/large.ts", n, &last_hunk())))),
    shape("hunks that apply", || fenced(&edit("src/large.ts", &joined(0..LINES / 2, |n| right_hunk(n * 2))))),
    shape("hunks, wrong counts", || fenced(&edit("src/large.ts", &filled(|n| wrong_hunk(n * 5))))),
    shape("hunks, wrong places", || fenced(&edit("src/large.ts", &filled(misplaced_hunk)))),
    shape("hunks, all alike", || fenced(&edit("src/alike.ts", &filled(|_| alike_hunk())))),
    shape("quotes", || filled(|_| format!("{} x\n", ">".repeat(2000)))),
    shape("lists in a line", || filled(|_| format!("{} x\n", "- ".repeat(2000)))),
    shape("lists in lists", || filled(|n| format!("{}- x\n", "  ".repeat(n % 1200)))),
    shape("one line", || "x".repeat(SIZE)),
    shape("one line of backticks", || "`".repeat(SIZE)),
    shape("one line in a patch", || fenced(&edit("src/f1.ts", &format!("@@ -1 +1 @@\n-{}\n+b\n", "a".repeat(SIZE))))),
    shape("a long path", || fenced(&head(&"a/".repeat(SIZE / 8)))),
    shape("a table", || {
        format!("| a | b |\n|---|---|\n{}", filled(|_| "| src/f1.ts — present: yes | x |\n".to_owned()))
    }),
    shape("html", || format!("<div>\n{}</div>\n", filled(|_| "<p class='x'>text</p>\n".to_owned()))),
    shape("open html", || filled(|_| "<!-- \n<div <pre ".to_owned())),
    shape("comments", || filled(|_| "<!-- x -->\n".to_owned())),
    shape("nothing closed", || filled(|_| "```diff\ndiff --git a/x b/x\n~~~\n<!--\n<pre>\n> - ```\n".to_owned())),
    shape("states", || {
        filled(|_| fenced(&edit(STATE, "@@ -1 +1 @@\n-{\"v\":2,\"i\":[]}\n+{\"v\":2,\"i\":[\"src/f2.ts\"]}\n")))
    }),
    shape("one large state", || fenced(&large_state())),
    shape("checklist", || format!("## Input Data Changes\n\n{}", filled(|n| format!("- src/n{n}.ts — present: no\n")))),
    shape("entries", || format!("## Input Data Changes\n\ni: [{}0]\n", filled(|n| format!("[\"src/f{n}.ts\",1],")))),
    shape("headings", || filled(|_| "## Input Data Changes\n".to_owned())),
    shape("mv", || operations(|n| format!("mv src/f{}.ts src/g{n}.ts\n", n % 200))),
    shape("mv of what was moved", || {
        operations(|n| {
            format!("mv src/{}.ts src/g{}.ts\n", if n == 0 { "large".to_owned() } else { format!("g{n}") }, n + 1)
        })
    }),
    shape("cp of a large file", || operations(|n| format!("cp src/large.ts g{n}.ts\n"))),
    Shape {
        name: "the same with a budget",
        text: || operations(|n| format!("cp src/large.ts g{n}.ts\n")),
        arguments: &["--budget", "1000"],
    },
    shape("rm of a folder", || operations(|_| "rm src\n".to_owned())),
    shape("rm of nothing", || operations(|n| format!("rm src/x/y{n}\n"))),
    shape("binary patch", || {
        fenced(&format!(
            "{}GIT binary patch\nliteral 5000\n{}\n",
            head("a.png"),
            filled(|_| format!("z{}\n", "cmV?d00001".repeat(6)))
        ))
    }),
    shape("zero bytes", || "\0".repeat(SIZE)),
];

/// Repeats pieces until there are enough bytes.
fn filled(piece: impl Fn(usize) -> String) -> String {
    let mut text = String::with_capacity(SIZE + 4096);
    for number in 0.. {
        if text.len() >= SIZE {
            break;
        }
        text.push_str(&piece(number));
    }
    text
}

fn joined(numbers: std::ops::Range<usize>, piece: impl Fn(usize) -> String) -> String {
    numbers.map(piece).collect()
}

fn fenced(diff: &str) -> String {
    format!("```diff\n{diff}```\n")
}

fn operations(line: impl Fn(usize) -> String) -> String {
    format!("### File Ops\n\n```\n{}```\n", filled(line))
}

fn head(path: &str) -> String {
    format!("diff --git a/{path} b/{path}\n")
}

fn edit(path: &str, hunks: &str) -> String {
    format!("{}--- a/{path}\n+++ b/{path}\n{hunks}", head(path))
}

/// A file renamed or copied, with hunks on it or without.
fn moved(how: &str, from: &str, number: usize, hunks: &str) -> String {
    let to = format!("src/r{number}.ts");
    let mut text = format!("diff --git a/{from} b/{to}\nsimilarity index 90%\n{how} from {from}\n{how} to {to}\n");
    if !hunks.is_empty() {
        let _ = write!(text, "--- a/{from}\n+++ b/{to}\n{hunks}");
    }
    text
}

fn large_line(line: usize) -> String {
    format!("export const value{line} = {};", line % 7)
}

fn right_hunk(line: usize) -> String {
    let at = line + 1;
    format!("@@ -{at} +{at} @@\n-{}\n+export const other{line} = 0; // {}\n", large_line(line), "x".repeat(80))
}

fn last_hunk() -> String {
    right_hunk(LINES - 1)
}

fn wrong_hunk(line: usize) -> String {
    let at = line + 1;
    format!("@@ -{at},9 +{at},9 @@\n {}\n-export const value = 9;\n+x\n", large_line(line))
}

fn misplaced_hunk(number: usize) -> String {
    let at = LINES - number % LINES;
    format!("@@ -{at},2 +1,2 @@\n {}\n-nothing like it\n+x\n", large_line(number * 3 % LINES))
}

fn alike_hunk() -> String {
    format!("@@ -1,60 +1,60 @@\n{}-same();\n+other();\n other();\n", " same();\n".repeat(58))
}

fn large_state() -> String {
    let entries = filled(|number| format!("[\"src/f{}.ts\",{}],", number % 200, number % 9));
    edit(STATE, &format!("@@ -1 +1 @@\n-{{\"v\":2,\"i\":[]}}\n+{{\"v\":2,\"i\":[{entries}\"src/f1.ts\"]}}\n"))
}
