//! Odd and hostile files: none of them fails a run, each is reported, and the files beside them keep their edges.
//! Odd configurations are in `odd_configuration.rs`, odd places and moving files in `odd_places.rs`.

mod support;

use expect_test::{Expect, expect};
use stan_engine::graph::{GraphOptions, GraphOutcome};
use stan_repo::{MemorySystem, OsSystem, WritableSystem};
use support::{ROOT, cold, edges, errors, fixture, graph_of, nodes, targets};

fn check(text: &str, expected: Expect) {
    expected.assert_eq(&edges(&fixture(text)));
}

/// The outcome for one odd file beside `b.ts` and an ordinary file.
fn beside(name: &str, contents: impl Into<Vec<u8>>) -> GraphOutcome {
    let system = MemorySystem::new();
    system.set_file(format!("{ROOT}/{name}"), contents).set_file(format!("{ROOT}/b.ts"), "export const b = 1;");
    system.set_file(format!("{ROOT}/normal.ts"), "import {b} from './b';");
    let outcome = cold(&system, &GraphOptions::new(ROOT));
    assert_eq!(targets(&outcome, "normal.ts"), ["b.ts"], "{name}");
    outcome
}

#[test]
fn files_that_do_not_parse_keep_the_imports_that_can_be_extracted() {
    check(
        "
        //- /r/a.ts
        import {b} from './b';
        export * from './c';
        const = ((( ;
        const later = import('./d');
        //- /r/b.ts
        //- /r/c.ts
        //- /r/d.ts
        ",
        expect![[r#"
            a.ts -> b.ts runtime
            a.ts -> c.ts runtime
            a.ts -> d.ts dynamic
            error: a.ts:3: does not parse: Unexpected token; it was searched for import forms instead
        "#]],
    );
    assert_eq!(beside("broken.ts", "}{").dirty, 1);
}

#[test]
fn binary_bytes_in_a_script() {
    let bytes: Vec<u8> = (0..100_000u32).map(|i| (i.wrapping_mul(2_654_435_761) >> 13) as u8).collect();
    let outcome = beside("noise.ts", bytes);
    assert!(errors(&outcome).contains("noise.ts"), "{}", errors(&outcome));
    assert_eq!(outcome.dirty, 1);

    let outcome = beside("nul.ts", "import './b';\0\0\0");
    assert!(errors(&outcome).contains("nul.ts: is not text"), "{}", errors(&outcome));
    let outcome = beside("latin1.ts", b"// caf\xe9\nimport './b';".to_vec());
    assert_eq!(targets(&outcome, "latin1.ts"), ["b.ts"]);
    let outcome = beside("bom.ts", "\u{feff}import './b';");
    assert_eq!(targets(&outcome, "bom.ts"), ["b.ts"]);
    assert!(errors(&outcome).is_empty());
    let utf16: Vec<u8> = "\u{feff}import './b';".encode_utf16().flat_map(u16::to_le_bytes).collect();
    assert_eq!(targets(&beside("utf16.ts", utf16), "utf16.ts"), ["b.ts"]);
}

#[test]
fn a_file_of_50_megabytes_in_one_line() {
    let mut text = String::from("import './b';const s='");
    text.push_str(&"x".repeat(49 << 20));
    text.push_str("',t=[");
    text.push_str(&"1,".repeat(1 << 19));
    text.push_str("];import('./normal');");
    let outcome = beside("large.ts", text);
    assert_eq!(targets(&outcome, "large.ts"), ["b.ts", "normal.ts"]);
    assert!(errors(&outcome).contains("large.ts"), "that it was not parsed is said");
}

#[test]
fn ten_thousand_imports_in_one_file() {
    let text: String = (0..10_000).map(|i| format!("import {{a{i}}} from './missing/{i}';\n")).collect();
    let outcome = beside("many.ts", text + "import './b';");
    assert_eq!(targets(&outcome, "many.ts").len(), 10_001);
    let barrel: String =
        (0..10_000).map(|i| format!("export * from './missing/{i}'; export {{b as b{i}}} from './b';")).collect();
    let outcome = beside("barrel.ts", barrel);
    assert_eq!(targets(&outcome, "barrel.ts").len(), 10_001);
}

/// Every nested construct of a grammar, 20,000 levels deep. Whether such a file parses is irrelevant.
#[test]
fn nesting_20_000_deep() {
    const DEPTH: usize = 20_000;
    let nested = |open: &str, middle: &str, close: &str| {
        format!("import './b';\n{}{middle}{}\n", open.repeat(DEPTH), close.repeat(DEPTH))
    };
    let cases = [
        ("parentheses.ts", nested("(", "1", ")")),
        ("arrays.ts", nested("[", "", "]")),
        ("blocks.ts", nested("{", "", "}")),
        ("objects.ts", nested("x={a:", "1", "}").replacen("x=", "var x=", 1)),
        ("calls.ts", nested("f(", "", ")")),
        ("members.ts", nested("", "a", ".b")),
        ("sums.ts", nested("", "a", "+a")),
        ("powers.ts", nested("a**", "a", "")),
        ("not.ts", nested("!", "a", "")),
        ("new.ts", nested("new ", "a", "")),
        ("conditions.ts", nested("a?b:", "c", "")),
        ("arrows.ts", nested("a=>", "a", "")),
        ("functions.ts", nested("function f(){", "", "}")),
        ("classes.ts", nested("class A{static{", "", "}}")),
        ("ifs.ts", nested("if(a)", ";", "")),
        ("elses.ts", nested("if(a);else ", ";", "")),
        ("templates.ts", nested("`${", "1", "}`")),
        ("types.ts", format!("import './b';\ntype T = {}1{};", "A<".repeat(DEPTH), ">".repeat(DEPTH))),
        ("unions.ts", format!("import './b';\ntype T = {}1{};", "(1|".repeat(DEPTH), ")".repeat(DEPTH))),
        ("jsx.tsx", nested("<a>", "", "</a>")),
        ("unclosed.ts", nested("([{", "", "")),
        ("namespaces.ts", nested("namespace a{", "", "}")),
        ("patterns.ts", format!("import './b';\nvar {}a{} = 1;", "[".repeat(DEPTH), "]".repeat(DEPTH))),
        ("decorators.ts", nested("@a ", "class A{}", "")),
        ("labels.ts", nested("a:", ";", "")),
        ("awaits.ts", nested("await ", "a", "")),
        ("component.vue", format!("{}<script>import './b'</script>", "<div>".repeat(DEPTH))),
    ];
    for (name, text) in cases {
        assert_eq!(targets(&beside(name, text), name), ["b.ts"], "{name}");
    }
}

#[test]
fn regular_expressions_and_comments_that_never_end() {
    for (name, text) in [
        ("comment.ts", "import './b'; /* never closed".to_owned()),
        ("template.ts", "import './b'; `never closed ${".to_owned()),
        ("regex.ts", "import './b'; /never".to_owned()),
        ("slashes.ts", format!("import './b'; {}", "/".repeat(1 << 20))),
        ("quotes.ts", format!("import './b';\n{}", "'\"`".repeat(1 << 18))),
        ("doc.ts", format!("import './b';\n/** @module {} */", "{@link ".repeat(1 << 18))),
    ] {
        let outcome = beside(name, text);
        assert_eq!(targets(&outcome, name), ["b.ts"], "{name}");
    }
}

#[test]
fn specifiers_that_are_invalid_paths_are_missing() {
    let long = "x".repeat(100_000);
    let deep = "../".repeat(50_000);
    let segments = "a/".repeat(50_000);
    let text = format!(
        "import './b'; import './{long}'; import '{long}'; import '{deep}x'; import './{segments}'; import '';
         import '\\0'; import './\\0'; import 'a\\0b'; import '\\ud800'; import '\\n'; import ' '; import '.'; import '..';
         import '/'; import '//'; import './'; import './/b'; import './b/'; import '@'; import '@/'; import '@a'; import '#';
         import '#/'; import '?'; import '#?'; import './?'; import 'node:'; import 'node:gone'; import ':'; import 'C:\\\\x';
         import 'file:///etc/passwd'; import 'https://example.com/x.js'; import 'data:text/javascript,1'; import '%2e%2e/x';
         import './%2e%2e/x'; import '../../../../../../../../etc/passwd'; import '/etc/passwd'; import '...'; import '.../x';
         import './*'; import '*'; import '**/x'; import './[b].ts'; import './{{b}}.ts'; import '__proto__'; import 'constructor';"
    );
    let outcome = beside("odd.ts", text);
    assert!(targets(&outcome, "odd.ts").contains(&"b.ts".to_owned()));
    assert!(!nodes(&outcome).contains("external"), "{}", nodes(&outcome));
}

#[test]
fn names_of_files_with_every_character() {
    let names = [
        "a b.ts",
        "it's.ts",
        "\"q\".ts",
        "[id].ts",
        "(group)/x.ts",
        "new\nline.ts",
        "tab\t.ts",
        "back\\slash.ts",
        "{x}.ts",
        "*.ts",
        "?.ts",
        "#.ts",
        "%20.ts",
        "💡.ts",
        "-.ts",
        "$.ts",
    ];
    let system = MemorySystem::new();
    let mut importer = String::new();
    for name in names {
        system.set_file(format!("{ROOT}/{name}"), "export {};");
        let escaped = name.replace('\\', "\\\\").replace('\n', "\\n").replace('\t', "\\t").replace('\'', "\\'");
        importer.push_str(&format!("import './{escaped}';\n"));
    }
    system.set_file(format!("{ROOT}/main.js"), importer);
    let outcome = cold(&system, &GraphOptions::new(ROOT));
    let mut expected: Vec<String> = names.iter().map(|name| (*name).to_owned()).collect();
    expected.sort();
    assert_eq!(targets(&outcome, "main.js"), expected);
    assert!(errors(&outcome).is_empty(), "{}", errors(&outcome));
}

/// One letter in two Unicode spellings gives two files, as in git and on every case-sensitive file system.
#[test]
fn composed_and_decomposed_names_are_different_files() {
    let system = MemorySystem::new();
    system.set_file(format!("{ROOT}/\u{e4}.ts"), "").set_file(format!("{ROOT}/a\u{308}.ts"), "");
    system.set_file(format!("{ROOT}/main.ts"), "import './\u{e4}'; import './a\u{308}'; import './a\\u0308';");
    let outcome = cold(&system, &GraphOptions::new(ROOT));
    assert_eq!(targets(&outcome, "main.ts"), ["a\u{308}.ts", "\u{e4}.ts"]);
}

#[cfg(unix)]
#[test]
fn names_that_are_not_utf_8_are_reported() {
    use std::ffi::OsStr;
    use std::os::unix::ffi::OsStrExt;
    use std::path::Path;
    let system = MemorySystem::new();
    system.set_file(Path::new("/r/src").join(OsStr::from_bytes(b"caf\xe9.ts")), "import './a';");
    system.set_file(Path::new("/r").join(OsStr::from_bytes(b"d\xff")).join("in.ts"), "");
    system.set_link("/r/src/link.ts", OsStr::from_bytes(b"caf\xe9.ts"));
    system.set_file("/r/src/a.ts", "import './b'; import './link';").set_file("/r/src/b.ts", "");
    let outcome = cold(&system, &GraphOptions::new(ROOT));
    expect![[r#"
        src/a.ts -> src/b.ts runtime
        src/a.ts -> src/link runtime
    "#]]
    .assert_eq(&edges(&outcome).split_inclusive('\n').filter(|line| !line.starts_with("error")).collect::<String>());
    let errors = errors(&outcome);
    assert_eq!(errors.lines().count(), 3, "{errors}");
    assert!(errors.contains("src/") && errors.contains("link.ts"), "{errors}");
}

#[test]
fn directories_that_are_named_like_files() {
    check(
        r#"
        //- /r/a.ts
        import './dir.ts';
        import './dir.js';
        import 'x.js';
        import 'y.js/lib';
        import './data.json';
        //- /r/dir.ts/index.ts
        //- /r/node_modules/x.js/package.json
        {"name": "x.js", "main": "main.js"}
        //- /r/node_modules/x.js/main.js
        //- /r/node_modules/y.js/lib.js
        //- /r/data.json/index.ts
        "#,
        expect![[r#"
            a.ts -> data.json/index.ts runtime
            a.ts -> dir.js runtime
            a.ts -> dir.ts/index.ts runtime
            a.ts -> node_modules/x.js/main.js runtime
            a.ts -> node_modules/y.js/lib.js runtime
        "#]],
    );
}

#[test]
fn pipes_and_sockets_are_never_opened() {
    let system = MemorySystem::from_fixture("//- /r/a.ts\nimport './pipe'; import './socket.css';\n");
    system
        .set_other("/r/pipe.ts")
        .set_other("/r/socket.css")
        .set_other("/r/package.json")
        .set_other("/r/tsconfig.json");
    let outcome = cold(&system, &GraphOptions::new(ROOT));
    let graph = graph_of(&outcome);
    assert!(graph.nodes().iter().all(|node| node.file.is_none() || &*node.id == "a.ts"), "{}", nodes(&outcome));
    assert_eq!(targets(&outcome, "a.ts"), ["pipe", "socket.css"]);
}

#[test]
fn many_errors_are_cut() {
    let system = MemorySystem::new();
    for i in 0..60 {
        system.set_file(format!("{ROOT}/{i:02}.ts"), ")(");
    }
    let outcome = cold(&system, &GraphOptions::new(ROOT));
    assert_eq!(outcome.errors.len(), 50);
    assert_eq!(outcome.errors.last().map(String::as_str), Some("errors truncated: showing 49 of 60"));
    assert_eq!(outcome.dirty, 60);
}

/// Files are read and parsed in batches of some bytes, within portions of some files, and large ones separately: the boundaries
/// must not mix up the results of files.
#[test]
fn batches_and_portions_do_not_mix_files_up() {
    let name = |number: usize| match number % 7 {
        6 => format!("images/{number:03}.png"),
        _ => format!("src/{}/{number:03}.ts", number / 150),
    };
    let text = |number: usize| {
        let length = if number % 50 == 49 { 140 << 10 } else { number * 37 % 3_000 };
        let next = (number + 1..400).find(|next| next % 7 != 6).map_or(String::new(), |next| {
            format!("import '../{}';", name(next).trim_start_matches("src/").trim_end_matches(".ts"))
        });
        format!("{next}// {number}{}", "x".repeat(length))
    };
    let folder = tempfile::tempdir().unwrap();
    let root = stan_repo::real_path(&OsSystem, folder.path()).unwrap();
    let memory = MemorySystem::new();
    for number in 0..400 {
        let path = folder.path().join(name(number));
        OsSystem.create_dir_all(path.parent().unwrap()).unwrap();
        OsSystem.write_atomic(&path, text(number).as_bytes()).unwrap();
        memory.set_file(format!("{ROOT}/{}", name(number)), text(number));
    }
    let on_disk = cold(&OsSystem, &GraphOptions::new(&*root));
    let in_memory = cold(&memory, &GraphOptions::new(ROOT));
    assert_eq!(support::json(&on_disk), support::json(&in_memory));
    let graph = graph_of(&on_disk);
    assert_eq!(graph.node_count(), 400);
    for number in 0..400 {
        let index = graph.find(&name(number)).unwrap();
        let file = graph.node(index).file.unwrap();
        let text = text(number);
        assert_eq!((file.size, file.digest), (text.len() as u64, stan_repo::sha256(text.as_bytes())), "{number}");
        let next = (number + 1..400).find(|next| next % 7 != 6).filter(|_| number % 7 != 6);
        assert_eq!(targets(&on_disk, &name(number)), next.map(name).into_iter().collect::<Vec<_>>(), "{number}");
    }
}
