//! Small logs of each tool with the parsed diagnostics, and laws that hold for all of them.

use expect_test::{Expect, expect};

use super::*;

fn check(log: &str, expected: Expect) {
    let mut out = String::new();
    for diagnostic in parse(log.as_bytes(), None) {
        let place = |place: &LogPosition| {
            format!("{}:{}:{}", place.file, place.line, place.col.map_or("-".to_owned(), |col| col.to_string()))
        };
        let at = diagnostic.place.as_ref().map_or("nowhere".to_owned(), place);
        let code = diagnostic.code.as_deref().unwrap_or("-");
        out += &format!(
            "{} {at} {:?} {code} {}\n",
            diagnostic.tool,
            diagnostic.severity,
            diagnostic.message.replace('\n', " / ")
        );
        for related in &diagnostic.related {
            out += &format!("  related {} {}\n", place(&related.place), related.message);
        }
        for frame in &diagnostic.frames {
            out += &format!("  frame {} {}\n", place(&frame.place), frame.name.as_deref().unwrap_or("-"));
        }
    }
    expected.assert_eq(&out);
}

#[test]
fn typescript_plain_and_pretty() {
    check(
        "src/a.ts(2,25): error TS2307: Cannot find module.\n  Because.\nerror TS18003: No inputs.\n",
        expect![[r#"
            tsc src/a.ts:2:25 Error TS2307 Cannot find module. /   Because.
            tsc nowhere Error TS18003 No inputs.
        "#]],
    );
    check(
        "src/a.ts:7:17 - error TS2551: No 'amont'.\n\n7     sum += item.amont;\n                  ~~~~~\n\n  src/p.ts:2:3\n    2   amount: number;\n        ~~~~~~\n    'amount' is declared here.\n\nFound 1 error.\n",
        expect![[r#"
            tsc src/a.ts:7:17 Error TS2551 No 'amont'.
              related src/p.ts:2:3 'amount' is declared here.
        "#]],
    );
    check(
        "a.cs(1,2): error CS0103: The name 'x' does not exist [/srv/a.csproj]\nsrc/a.astro:3:5 - error ts(2322): no\n",
        expect![[r#"
            msbuild a.cs:1:2 Error CS0103 The name 'x' does not exist
            tsc src/a.astro:3:5 Error 2322 no
        "#]],
    );
}

#[test]
fn typescript_inside_other_tools() {
    check(
        "ERROR in /srv/a.ts\n./a.ts 2:24-35\n[tsl] ERROR in /srv/a.ts(2,25)\n      TS2307: Cannot find.\n\nERROR in src/b.ts:3:5\nTS2322: Not assignable.\n",
        expect![[r#"
            tsc /srv/a.ts:2:25 Error TS2307 Cannot find.
            tsc src/b.ts:3:5 Error TS2322 Not assignable.
        "#]],
    );
    check(
        "./app/page.tsx:4:30\nType error: Not assignable.\n\n/srv/App.svelte:3:24\nError: Argument of type x.\n  Property missing. (ts)\n\n1590680326283 ERROR \"src/App.svelte\" 3:5 \"a\\nb\"\n",
        expect![[r#"
            next app/page.tsx:4:30 Error - Not assignable.
            svelte-check /srv/App.svelte:3:24 Error ts Argument of type x. /   Property missing.
            svelte-check src/App.svelte:3:5 Error - a / b
        "#]],
    );
    check(
        "TS2322 [ERROR]: Type 'string'.\nlet x: number = 'a';\n    ^\n    at file:///srv/a.ts:3:5\n",
        expect![[r#"
            deno /srv/a.ts:3:5 Error TS2322 Type 'string'.
        "#]],
    );
}

#[test]
fn bundlers_count_columns_from_zero() {
    check(
        "✘ [ERROR] Could not resolve \"./x\"\n\n    src/main.js:3:17:\n      3 │ import './x';\n        ╵        ~~~~~\n\n  The file:\n\n    src/b.js:1:0:\n      1 │ b\n\n1 error\n",
        expect![[r#"
            esbuild src/main.js:3:18 Error - Could not resolve "./x"
              related src/b.js:1:1 
        "#]],
    );
    check(
        "/srv/a.ts:3:10: ERROR: Expected \";\"\nERROR in ./src/bad.mjs 2:17-24\nexport 'x' was not found\n\nsrc/a.js (1:9): \"x\" is not exported.\nfile: /srv/src/a.js:1:9\n\nSyntaxError: /srv/a.js: Unexpected token (3:10)\n",
        expect![[r#"
            esbuild /srv/a.ts:3:11 Error - Expected ";"
            webpack src/bad.mjs:2:18 Error - export 'x' was not found
            rollup src/a.js:1:10 Error - "x" is not exported.
            babel /srv/a.js:3:11 Error - SyntaxError: Unexpected token
        "#]],
    );
}

#[test]
fn linters_are_read_line_by_line() {
    check(
        "/srv/a.ts\n  2:10  error    Unexpected any. Bad    @ts/no-any\n  3:1   warning  Odd\n\nsrc/a.css\n  2:1  ✖  Expected empty line  rule-x\n\n✖ 2 problems\n",
        expect![[r#"
            eslint /srv/a.ts:2:10 Error @ts/no-any Unexpected any. Bad
            eslint /srv/a.ts:3:1 Warning - Odd
            eslint src/a.css:2:1 Error rule-x Expected empty line
        "#]],
    );
    check(
        "/srv/a.js:5:1: 'x' is not defined. [Warning/no-undef]\n/srv/a.js:2:7: Parsing error [Error]\n/srv/a.css:2:1: Expected (rule-y) [error]\n/srv/a.js: line 5, col 1, Warning - No x. (no-undef)\n",
        expect![[r#"
            eslint /srv/a.js:5:1 Warning no-undef 'x' is not defined.
            eslint /srv/a.js:2:7 Error - Parsing error
            eslint /srv/a.css:2:1 Error rule-y Expected
            eslint /srv/a.js:5:1 Warning no-undef No x.
        "#]],
    );
    check(
        "src/a.ts:8:10 lint/style/useTemplate  FIXABLE  ━━━━━\n\n  i Template literals.\n\n  ⚠ eslint(no-debugger): not allowed\n   ╭─[src/b.ts:5:3]\n 5 │ debugger;\n   ╰────\n::error file=a.ts,line=1,col=2,title=oxlint::a.ts:1:2: Bad%0Athing\n",
        expect![[r#"
            biome src/a.ts:8:10 Info lint/style/useTemplate Template literals.
            oxlint src/b.ts:5:3 Warning eslint(no-debugger) not allowed
            github a.ts:1:2 Error oxlint Bad / thing
        "#]],
    );
}

#[test]
fn rust_messages_and_panics() {
    check(
        "error[E0061]: too many\n  --> src/lib.rs:17:5\n   |\n17 |     f(1)\n   |     ^\nnote: defined here\n  --> src/b.rs:7:12\n\nwarning: unused\n --> src/c.rs:1:1\n\nerror: could not compile `x`\nsrc/d.rs:1:2: error[E0001]: short\n",
        expect![[r#"
            rustc src/lib.rs:17:5 Error E0061 too many
              related src/b.rs:7:12 defined here
            rustc src/c.rs:1:1 Warning - unused
            rustc src/d.rs:1:2 Error E0001 short
        "#]],
    );
    check(
        "thread 'a' panicked at src/lib.rs:2:5:\nodd value\nstack backtrace:\n   0: rust_begin_unwind\n             at /rustc/x/library/std/src/panicking.rs:1:2\n   1: half\n             at ./src/lib.rs:2:5\n   2: main\n             at ./src/main.rs:9:1\nnote: Some details\nthread 'b' panicked at 'old', src/x.rs:1:2\n",
        expect![[r#"
            cargo-test src/lib.rs:2:5 Error - odd value
              frame src/lib.rs:2:5 half
              frame src/main.rs:9:1 main
            cargo-test src/x.rs:1:2 Error - old
              frame src/x.rs:1:2 -
        "#]],
    );
}

#[test]
fn mypy_pyright_and_pytest_are_read() {
    check(
        "a.py:11: error: no attribute  [attr-defined]\na.py:11: note: see\na.py:1:2:1:9: error: bad  [x]\na.py:12:12: error: Incompatible (got \"int\", expected\n\"str\")  [return-value]\n        return 1\n               ^\n",
        expect![[r#"
            mypy a.py:11:- Error attr-defined no attribute
              related a.py:11:- see
            mypy a.py:1:2 Error x bad
            mypy a.py:12:12 Error return-value Incompatible (got "int", expected "str")
        "#]],
    );
    check(
        "a.py:1:8: F401 [*] `os` unused\nb.py:1:7: invalid-syntax: Expected x\nc.py:1:0: W0611: Unused import os (unused-import)\nF401 [*] `os` unused\n --> d.py:1:8\n  |\n\n  /srv/e.py:1:8 - warning: Not accessed (reportX)\n  /srv/e.py:2:1 - error: Type \"int\"\n    is not \"str\" (reportY)\n",
        expect![[r#"
            ruff a.py:1:8 Error F401 `os` unused
            ruff b.py:1:7 Error invalid-syntax Expected x
            pylint c.py:1:1 Warning W0611 Unused import os
            ruff d.py:1:8 Error F401 `os` unused
            pyright /srv/e.py:1:8 Warning reportX Not accessed
            pyright /srv/e.py:2:1 Error reportY Type "int" /     is not "str"
        "#]],
    );
    check(
        "Traceback (most recent call last):\n  File \"/srv/main.py\", line 3, in <module>\n    boom()\n  File \"/usr/lib/python3/x.py\", line 1, in y\n  File \"/srv/stock.py\", line 16, in boom\n    return value[\"x\"]\nKeyError: 'x'\n  File \"syn.py\", line 1\n    def f(:\n          ^\nSyntaxError: invalid syntax\n",
        expect![[r#"
            python /srv/stock.py:16:- Error - KeyError: 'x'
              frame /srv/stock.py:16:- boom
              frame /srv/main.py:3:- <module>
            python syn.py:1:- Error - SyntaxError: invalid syntax
        "#]],
    );
    check(
        "____ ERROR collecting syn.py ____\n/x/site-packages/p.py:1: in y\n    z\nE     File \"/srv/syn.py\", line 1\nE       def f(:\nE             ^\nE   SyntaxError: invalid syntax\n==== short ====\n/srv/stock.py:12: AttributeError: no x\n",
        expect![[r#"
            pytest /srv/syn.py:1:- Error - SyntaxError: invalid syntax
              frame /srv/syn.py:1:- -
            pytest /srv/stock.py:12:- Error - AttributeError: no x
              frame /srv/stock.py:12:- -
        "#]],
    );
    check(
        "/srv/test_a.py:3: assert 1 == 2\n  + Exception Group Traceback (most recent call last):\n  |   File \"/usr/lib/python3/runners.py\", line 1, in run\n  | ExceptionGroup: errors (1 sub-exception)\n  +-+---------------- 1 ----------------\n    | Traceback (most recent call last):\n    |   File \"/srv/cart.py\", line 31, in first\n    |     return self.items[0]\n    | IndexError: out of range\n    +------------------------------------\n",
        expect![[r#"
            pytest /srv/test_a.py:3:- Error - assert 1 == 2
              frame /srv/test_a.py:3:- -
            python /srv/cart.py:31:- Error - IndexError: out of range
              frame /srv/cart.py:31:- first
        "#]],
    );
}

#[test]
fn output_of_go_and_c_compilers_is_read() {
    check(
        "# example.com/x\n./main.go:5:2: imported and not used: \"os\"\nmain.go:5:2: unused (unused)\n--- FAIL: TestX (0.00s)\n    x_test.go:12: got 1\n        want 2\nFAIL\npanic: boom\n\ngoroutine 1 [running]:\nmain.f(...)\n\t/srv/main.go:9 +0x1d\nruntime.main()\n\t/usr/local/go/src/runtime/proc.go:1 +0x2\n\nexit status 2\n",
        expect![[r#"
            go main.go:5:2 Error - imported and not used: "os"
            go main.go:5:2 Error unused unused
            go x_test.go:12:- Error - got 1 / want 2
            go /srv/main.go:9:- Error - panic: boom
              frame /srv/main.go:9:- main.f
        "#]],
    );
    check(
        "=== RUN   TestA\n    a_test.go:3: fine\n--- PASS: TestA (0.00s)\n=== RUN   TestB\n    b_test.go:4: got 1\n        want 2\n--- FAIL: TestB (0.00s)\nFAIL\n",
        expect![[r#"
            go b_test.go:4:- Error - got 1 / want 2
        "#]],
    );
    check(
        "./a.go:7:29: not enough arguments in call to f\n\thave (string)\n\twant (string, int)\n./b.go:3:6: F redeclared in this block\n\t./a.go:5:6: other declaration of F\n./c.go:1:1: x\n",
        expect![[r#"
            go a.go:7:29 Error - not enough arguments in call to f / have (string) / want (string, int)
            go b.go:3:6 Error - F redeclared in this block
              related a.go:5:6 other declaration of F
            go c.go:1:1 Error - x
        "#]],
    );
    check(
        "--- FAIL: TestT (0.00s)\n    t_test.go:21: \n        \tError Trace:\t/srv/t_test.go:21\n        \tError:      \tNot equal: \n        \t            \texpected: 0\n        \t            \tactual  : 1\n        \tTest:       \tTestT\nFAIL\n",
        expect![[r#"
            go t_test.go:21:- Error - Not equal: / expected: 0 / actual  : 1
        "#]],
    );
    check(
        "q.c: In function 'f':\nq.c:11:5: error: too few arguments\n   11 |     push(&q);\nq.c:3:5: note: declared here\nq.c:4:9: warning: unused [-Wunused-variable]\nFoo.java:3: error: cannot find symbol\n[ERROR] /srv/Foo.java:[3,5] cannot find\ne: file:///srv/a.kt:3:5 Unresolved\n",
        expect![[r#"
            gcc q.c:11:5 Error - too few arguments
              related q.c:3:5 declared here
            gcc q.c:4:9 Warning -Wunused-variable unused
            javac Foo.java:3:- Error - cannot find symbol
            maven /srv/Foo.java:3:5 Error - cannot find
            kotlin /srv/a.kt:3:5 Error - Unresolved
        "#]],
    );
}

#[test]
fn stack_traces_give_a_place_and_frames() {
    check(
        "/srv/lib/sum.js:6\n  return value.items.length;\n                     ^\n\nTypeError: Cannot read\n    at explode (/srv/lib/sum.js:6:22)\n    at Array.map (<anonymous>)\n    at run (/srv/node_modules/p/x.js:4:15)\n    at /srv/main.js:7:1\n    at Module._compile (node:internal/x:1:1)\n\nNode.js v20\n",
        expect![[r#"
            node /srv/lib/sum.js:6:22 Error - TypeError: Cannot read
              frame /srv/lib/sum.js:6:22 explode
              frame /srv/main.js:7:1 -
        "#]],
    );
    check(
        "  ● sum › adds\n\n    expect(received).toBe(expected)\n\n    Expected: 4\n\n      3 | x\n    > 4 |   y\n        |   ^\n\n      at Object.toBe (test/a.test.js:4:23)\n\n  1) sum\n       adds:\n     AssertionError: no\n      at Context.<anonymous> (test/sum.js:4:23)\n\nsomething failed\n    at f (src/z.js:1:2)\n",
        expect![[r#"
            jest test/a.test.js:4:23 Error - expect(received).toBe(expected)
              frame test/a.test.js:4:23 Object.toBe
            mocha test/sum.js:4:23 Error - AssertionError: no
              frame test/sum.js:4:23 Context.<anonymous>
            node src/z.js:1:2 Error - something failed
              frame src/z.js:1:2 f
        "#]],
    );
    check(
        "not ok 1 - loads\n  ---\n  location: '/srv/n.test.js:5:1'\n  failureType: 'testCodeFailure'\n  error: \"Cannot read\"\n  name: 'TypeError'\n  stack: |-\n    load (file:///srv/load.js:4:24)\n    async Test.run (node:internal/x:1:2)\n  ...\n",
        expect![[r#"
            tap /srv/load.js:4:24 Error - TypeError: Cannot read
              frame /srv/load.js:4:24 load
        "#]],
    );
}

#[test]
fn json_reports_are_read_by_their_shape() {
    check(
        r#"[{"filePath":"/srv/a.ts","messages":[{"ruleId":"no-var","severity":1,"message":"no","line":2,"column":3}]}]"#,
        expect![[r#"
            eslint /srv/a.ts:2:3 Warning no-var no
        "#]],
    );
    check(
        r#"{"runs":[{"results":[{"level":"error","ruleId":"r","message":{"text":"m"},"locations":[{"physicalLocation":{"artifactLocation":{"uri":"file:///srv/a%20b.ts"},"region":{"startLine":2,"startColumn":3}}}]}]}]}"#,
        expect![[r#"
            sarif /srv/a b.ts:2:3 Error r m
        "#]],
    );
    check(
        r#"{"uri":"file:///srv/a.ts","diagnostics":[{"range":{"start":{"line":1,"character":4},"end":{"line":1,"character":5}},"severity":2,"code":23,"message":"m"}]}"#,
        expect![[r#"
            lsp /srv/a.ts:2:5 Warning 23 m
        "#]],
    );
    check(
        "{\"Action\":\"output\",\"Output\":\"--- FAIL: TestX\\n\"}\n{\"Action\":\"output\",\"Output\":\"    x_test.go:3: bad\\n\"}\n",
        expect![[r#"
            go x_test.go:3:- Error - bad
        "#]],
    );
    check(
        "   Compiling x\n{\"reason\":\"compiler-message\",\"message\":{\"level\":\"error\",\"message\":\"m\",\"code\":{\"code\":\"E1\"},\"spans\":[{\"is_primary\":true,\"file_name\":\"src/a.rs\",\"line_start\":1,\"column_start\":2}]}}\n",
        expect![[r#"
            cargo src/a.rs:1:2 Error E1 m
        "#]],
    );
}

#[test]
fn text_without_findings_gives_none() {
    for log in [
        "",
        "\n\n",
        "Compiled successfully in 69s",
        "12:34:56 ready",
        "at noon",
        "error: could not compile",
        "{}",
        "[1,2]",
        "{\"a\":",
        "Error: nothing here\n",
    ] {
        assert_eq!(parse(log.as_bytes(), None), vec![], "{log}");
    }
}

#[test]
fn failures_that_a_summary_repeats_are_listed_once() {
    let log = "src/a.ts(1,2): error TS1: x\nSummary:\nsrc/a.ts(1,2): error TS1: x\n";
    assert_eq!(parse(log.as_bytes(), None).len(), 1);
}

#[test]
fn lines_of_other_programs_between_findings_change_nothing() {
    let findings = ["src/a.ts(1,2): error TS1: x", "q.c:11:5: error: y", "stock.py:11: error: z  [w]"];
    let plain = parse(findings.join("\n").as_bytes(), None);
    let noisy = parse(findings.join("\nDone in 3 s.\n[12:00] building\n").as_bytes(), None);
    assert_eq!(plain, noisy);
}

#[test]
fn line_zero_means_the_whole_file() {
    let found = parse(b"::error file=a.ts,line=0,col=0::x\n", None);
    let place = found.first().and_then(|diagnostic| diagnostic.place.clone());
    assert_eq!(place, Some(LogPosition { file: "a.ts".to_owned(), line: 1, col: None }));
}

#[test]
fn the_tool_can_be_named() {
    let log = "src/a.ts(1,2): error TS1: x\nq.c:11:5: error: y\n";
    assert_eq!(parse(log.as_bytes(), Some("gcc")).len(), 1);
    assert!(tools().contains(&"gcc"));
}

/// These would take hours if a grammar looked ahead without bound.
#[test]
fn hostile_logs_take_linear_time() {
    for unit in [
        "Error: x\n",
        "____ a ____\n",
        "thread 'x' panicked at a.rs:1:2:\n",
        "not ok 1\n---\n",
        "at f (a.js:1:2)\n",
        "a:",
        "((((",
        "\x1b[",
        "error: x\n  x\n",
        "✘ [ERROR] x\n",
        "--- FAIL: x\n  a\n",
        "ERROR in x\n",
        "Traceback (most recent call last):\n",
        "panic: x\n",
        "{\"a\":",
        "a.ts\n",
        "  1) x\n",
        "● x\n",
    ] {
        parse(unit.repeat(400_000 / unit.len()).as_bytes(), None);
    }
}
