//! Deep nesting of every construct: the stack does not overflow, and the measured stack per token stays below the constant.

use std::fmt::Write as _;

use oxc_allocator::Allocator;

use super::super::nesting::stack_plan;
use super::super::{ExtractOptions, Extractor, File, Spare};
use crate::stack::{self, BYTES_PER_TOKEN, StackPlan, WORKER_STACK};

/// `before`, then `open` n times, `middle`, `close` n times.
struct Construct(&'static str, &'static str, &'static str, &'static str, &'static str);

const CONSTRUCTS: &[Construct] = &[
    Construct("a.js", "", "[", "1", "]"),
    Construct("a.js", "", "(", "1", ")"),
    Construct("a.js", "x = ", "{a:", "1", "}"),
    Construct("a.js", "", "{", "", "}"),
    Construct("a.js", "", "!", "1", ""),
    Construct("a.js", "", "- ", "1", ""),
    Construct("a.js", "", "typeof ", "1", ""),
    Construct("a.js", "", "typeof\u{a0}", "1", ""),
    Construct("a.js", "", "new ", "X", ""),
    Construct("a.js", "", "new X(", "1", ")"),
    Construct("a.js", "", "f(", "1", ")"),
    Construct("a.js", "f", "()", "", ""),
    Construct("a.js", "f", ".a", "", ""),
    Construct("a.js", "f", "?.a", "", ""),
    Construct("a.js", "f", "[0]", "", ""),
    Construct("a.js", "f", "``", "", ""),
    Construct("a.js", "1", "+1", "", ""),
    Construct("a.js", "1", "&&1", "", ""),
    Construct("a.js", "1", "??1", "", ""),
    Construct("a.js", "1", "**1", "", ""),
    Construct("a.js", "1", ",1", "", ""),
    Construct("a.js", "", "a=", "1", ""),
    Construct("a.js", "", "a=>", "1", ""),
    Construct("a.js", "", "()=>", "1", ""),
    Construct("a.js", "", "(a=", "1", ")=>1"),
    Construct("a.js", "", "async()=>", "1", ""),
    Construct("a.js", "", "()=>{", "", "}"),
    Construct("a.js", "", "1?1:", "1", ""),
    Construct("a.js", "", "1?", "1", ":1"),
    Construct("a.js", "", "`${", "1", "}`"),
    Construct("a.js", "", "if(1)", ";", ""),
    Construct("a.js", "", "if(1);else ", ";", ""),
    Construct("a.js", "", "for(;;)", ";", ""),
    Construct("a.js", "", "while(1)", ";", ""),
    Construct("a.js", "", "do ", ";", " while(1);"),
    Construct("a.js", "", "try{", "", "}catch{}"),
    Construct("a.js", "", "switch(1){case 1:", "", "}"),
    Construct("a.js", "", "function f(){", "", "}"),
    Construct("a.js", "", "(function(){", "", "})()"),
    Construct("a.js", "", "class A{a(){", "", "}}"),
    Construct("a.js", "", "class A extends ", "B", "{}"),
    Construct("a.js", "", "class A{static{", "", "}}"),
    Construct("a.js", "", "(class{[", "1", "]=1})"),
    Construct("a.js", "var ", "[", "a", "]=1"),
    Construct("a.js", "var ", "{a:", "b", "}=1"),
    Construct("a.js", "async function f(){", "await ", "1", ""),
    Construct("a.js", "function* f(){", "yield ", "1", ""),
    Construct("a.js", "", "<a>", "", "</a>"),
    Construct("a.js", "", "<a b={", "1", "}/>"),
    Construct("a.js", "", "import(", "1", ")"),
    Construct("a.js", "", "[...", "1", "]"),
    Construct("a.js", "", "async(", "1", ")"),
    Construct("a.js", "", "({a=", "1", "})"),
    Construct("a.ts", "", "a<", "1", ""),
    Construct("a.ts", "", "f<{a:", "1", "}>()"),
    Construct("a.ts", "", "@(", "a", ")class A{}"),
    Construct("a.ts", "let a: import('x') | ", "(", "b", ")"),
    Construct("a.ts", "let a: import('x') | ", "[", "b", "]"),
    Construct("a.ts", "let a: import('x') | ", "A<", "b", ">"),
    Construct("a.ts", "let a: import('x') | ", "{a:", "b", "}"),
    Construct("a.ts", "let a: import('x') | b", "[]", "", ""),
    Construct("a.ts", "let a: import('x') | ", "keyof ", "b", ""),
    Construct("a.ts", "let a: import('x') & ", "()=>", "b", ""),
    Construct("a.ts", "let a: ", "(a:", "b", ")=>c"),
    Construct("a.ts", "let a: ", "A extends B?C:", "b", ""),
    Construct("a.ts", "let a: ", "A extends ", "b", "?c:d"),
    Construct("a.ts", "let a: import('x') | ", "`${", "b", "}`"),
    Construct("a.ts", "let a = ", "<A>", "b", ""),
    Construct("a.ts", "let a = b", " as A", "", ""),
    Construct("a.ts", "let a = b", "!", "", ""),
    Construct("a.ts", "let a = ", "f<A>(", "b", ")"),
    Construct("a.ts", "namespace a", ".a", "{}", ""),
    Construct("a.ts", "", "namespace a{", "", "}"),
    Construct("a.ts", "", "function f<T extends ", "a", ">(){}"),
    Construct("a.ts", "let a: import('x')", ".a", "", ""),
    Construct("a.ts", "type A = ", "{[K in ", "b", "]:c}"),
];

impl Construct {
    fn text(&self, depth: usize) -> String {
        let Self(_, before, open, middle, close) = self;
        // The call makes the walk visit expressions and types.
        format!("import('first');\n{before}{}{middle}{}", open.repeat(depth), close.repeat(depth))
    }

    /// As above, without the closing half: the parser reaches the deepest level before it finds the error.
    fn open_text(&self, depth: usize) -> String {
        format!("import('first');\n{}{}", self.1, self.2.repeat(depth))
    }
}

/// The number of bytes of this thread's stack that were ever touched, from the kernel.
#[cfg(target_os = "linux")]
fn touched_stack() -> Option<usize> {
    let local = 0_u8;
    let address = std::ptr::addr_of!(local) as usize;
    #[expect(clippy::disallowed_methods, reason = "a test measures its own process")]
    let maps = std::fs::read_to_string("/proc/self/smaps").ok()?;
    let mut inside = false;
    for line in maps.lines() {
        let first = line.split(' ').next()?;
        if let Some((from, to)) = first.split_once('-') {
            let parse = |hex| usize::from_str_radix(hex, 16).ok();
            inside = parse(from).zip(parse(to)).is_some_and(|(from, to)| (from..to).contains(&address));
        } else if inside && first == "Rss:" {
            return line.split_whitespace().nth(1)?.parse::<usize>().ok().map(|kib| kib << 10);
        }
    }
    None
}

#[cfg(target_os = "linux")]
#[test]
fn a_token_never_costs_more_stack_than_assumed() {
    const DEPTH: usize = 900;
    let options = ExtractOptions::default();
    let mut report = String::new();
    let mut worst = 0;
    for construct in CONSTRUCTS {
        for text in [construct.text(DEPTH), construct.open_text(DEPTH)] {
            let file = File { path: construct.0, text: &text, options: &options };
            let touched = stack::with_stack(1 << 30, || {
                let _ = file.parsed(&Allocator::default(), &mut Spare::default());
                touched_stack()
            });
            let Some(Some(touched)) = touched else { return };
            let per_token = touched / stack::most_tokens(&text);
            let _ = writeln!(report, "{:6} per token, {:6} per level: {}", per_token, touched / DEPTH, construct.2);
            worst = worst.max(per_token);
        }
    }
    assert!(worst * 3 <= BYTES_PER_TOKEN * 2, "{worst} is too close to {BYTES_PER_TOKEN}\n{report}");
}

/// Runs on the smallest stack that callers may have.
fn check_deep(depth: usize) {
    stack::with_stack(WORKER_STACK, || {
        let mut extractor = Extractor::new();
        for construct in CONSTRUCTS {
            for text in [construct.text(depth), construct.open_text(depth)] {
                let extraction = extractor.extract(construct.0, text.as_bytes(), &ExtractOptions::default());
                let first = extraction.facts.requests.first().map(|request| &*request.specifier);
                assert_eq!(first, Some("first"), "{} at {depth}", construct.2);
            }
        }
    })
    .expect("a thread");
}

#[test]
fn nesting_of_20_000() {
    check_deep(20_000);
}

#[test]
fn nesting_of_200_000() {
    check_deep(200_000);
}

#[test]
fn small_files_are_parsed_in_place() {
    assert_eq!(stack_plan(&"a".repeat(10_000)), StackPlan::CurrentThread);
    assert_eq!(stack_plan(&"alpha = beta; // gamma\n".repeat(500)), StackPlan::CurrentThread);
    assert!(matches!(stack_plan(&"a;".repeat(100_000)), StackPlan::DedicatedThread(_)));
}

/// On a thread with less stack than usual, only files that fit are parsed directly.
#[test]
fn a_small_stack_holds_small_files() {
    let rooms = std::thread::spawn(|| {
        stack::set_stack_size(2 << 20);
        ["a;".repeat(50), "a;".repeat(4_000)].map(|text| stack_plan(&text))
    });
    let [small, large] = rooms.join().unwrap();
    assert_eq!(small, StackPlan::CurrentThread);
    assert!(matches!(large, StackPlan::DedicatedThread(size) if size > 2 << 20), "{large:?}");
    assert_eq!(stack_plan(&"a;".repeat(4_000)), StackPlan::CurrentThread, "other threads have what they had");
}
