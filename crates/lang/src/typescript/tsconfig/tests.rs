//! Small repositories, and the configuration of each of their files.

use proptest::prelude::*;
use stan_model::Problem;

use super::memory::Memory;
use super::*;

/// Compares `file → its configuration` for each file, and the problems.
#[track_caller]
fn check_owners(files: &[(&str, &str)], owners: &[(&str, &str)], problems: &[&str]) {
    let memory = Memory::new("/r", files);
    let configs = Configs::new(&memory, "/r");
    for (file, owner) in owners {
        let config = configs.for_file(&paths::normalize(file, "/r"));
        let found = config.file.as_deref().map_or("none", |path| path.strip_prefix("/r/").unwrap_or(path));
        assert_eq!(found, *owner, "{file}");
    }
    let found: Vec<String> = configs.problems().iter().map(Problem::to_string).collect();
    assert_eq!(found, problems);
}

/// The configuration of `/r/tsconfig.json` among the given files.
fn config(files: &[(&str, &str)]) -> Config {
    let memory = Memory::new("/r", files);
    Config::clone(&Configs::new(&memory, "/r").load("/r/tsconfig.json"))
}

/// The configuration that `compilerOptions` in `/r/tsconfig.json` give.
fn options(compiler_options: &str) -> Config {
    config(&[("tsconfig.json", &format!("{{\"compilerOptions\":{compiler_options}}}"))])
}

/// Every pair of lines is a configuration, and the files of the first line that TypeScript 5.9.3 lists for it.
#[test]
fn files_belong_to_a_configuration_as_in_typescript() {
    let mut lines = include_str!("membership_cases.txt").lines();
    let tree: Vec<&str> = lines.next().unwrap_or_default().split(' ').collect();
    let mut count = 0;
    while let (Some(config), Some(expected)) = (lines.next(), lines.next()) {
        let files: Vec<(String, &str)> = tree.iter().map(|file| (paths::normalize(file, "/t/r"), "")).collect();
        let mut files: Vec<(&str, &str)> = files.iter().map(|(path, text)| (path.as_str(), *text)).collect();
        files.push(("/t/r/tsconfig.json", config));
        let memory = Memory::new("/", &files);
        let configs = Configs::new(&memory, "/t");
        let project = configs.project("/t/r/tsconfig.json");
        let is_member = |file: &&&str| project.files.includes(&memory, &paths::normalize(file, "/t/r"));
        let members: Vec<&str> = tree.iter().filter(is_member).copied().collect();
        let expected: Vec<&str> = expected.trim().split(' ').filter(|file| *file != "-").collect();
        assert_eq!(members, expected, "{config}");
        count += 1;
    }
    assert!(count > 60, "only {count} cases");
}

#[test]
fn the_nearest_configuration_governs() {
    let files = [
        ("tsconfig.json", r#"{"files":[]}"#),
        ("a/jsconfig.json", "{}"),
        ("a/b/tsconfig.json", "{}"),
        ("a/b/jsconfig.json", "{}"),
        ("a/b/c/tsconfig.json/x", ""),
        ("/tsconfig.json", "{}"),
    ];
    let owners = [
        ("x.ts", "tsconfig.json"),
        ("a/x.ts", "a/jsconfig.json"),
        ("a/b/c/x.ts", "a/b/tsconfig.json"),
        ("q/r/s/x.js", "tsconfig.json"),
        ("../x.ts", "none"),
    ];
    check_owners(&files, &owners, &["a/b/c/tsconfig.json: is a directory, not a configuration; it is ignored"]);
    check_owners(&[("src/x.ts", ""), ("/tsconfig.json", "{}")], &[("src/x.ts", "none")], &[]);
}

#[test]
fn references_are_searched_breadth_first_for_files_that_are_not_included() {
    let files = [
        ("tsconfig.json", r#"{"files":[],"references":[{"path":"./app.json"},{"path":"lib"},{"path":"./gone"}]}"#),
        ("app.json", r#"{"include":["src"],"references":[{"path":"deep.json"},{"path":"tsconfig.json"}]}"#),
        ("deep.json", r#"{"include":["deep","lib"]}"#),
        ("lib/tsconfig.json", r#"{"include":["../lib","../own.ts"]}"#),
    ];
    let owners = [
        ("src/x.ts", "app.json"),
        ("src/x.vue", "app.json"),
        ("deep/x.ts", "deep.json"),
        ("own.ts", "lib/tsconfig.json"),
        ("lib/x.ts", "lib/tsconfig.json"),
        ("other/x.ts", "tsconfig.json"),
    ];
    check_owners(
        &files,
        &owners,
        &["tsconfig.json: `references` names \"./gone\", which does not exist; it is left out"],
    );
}

#[test]
fn references_are_not_inherited() {
    let files = [
        ("tsconfig.json", r#"{"extends":"./base.json","files":[]}"#),
        ("base.json", r#"{"references":[{"path":"./app.json"}]}"#),
        ("app.json", "{}"),
    ];
    check_owners(&files, &[("x.ts", "tsconfig.json")], &[]);
}

#[test]
fn module_and_resolution_defaults() {
    use ModuleKind as M;
    use ModuleResolution as R;
    let cases = [
        ("{}", M::EsNext, R::Bundler),
        (r#"{"target":"es5"}"#, M::EsNext, R::Bundler),
        (r#"{"module":"CommonJS"}"#, M::CommonJs, R::Node10),
        (r#"{"module":"esnext"}"#, M::EsNext, R::Bundler),
        (r#"{"module":"amd"}"#, M::Amd, R::Bundler),
        (r#"{"module":"none"}"#, M::None, R::Bundler),
        (r#"{"module":"preserve"}"#, M::Preserve, R::Bundler),
        (r#"{"module":"node16"}"#, M::Node16, R::Node16),
        (r#"{"module":"Node18"}"#, M::Node18, R::Node16),
        (r#"{"module":"node20"}"#, M::Node20, R::Node16),
        (r#"{"module":"NodeNext"}"#, M::NodeNext, R::NodeNext),
        (r#"{"moduleResolution":"node"}"#, M::CommonJs, R::Node10),
        (r#"{"moduleResolution":"node","target":"ES2017"}"#, M::Es2015, R::Node10),
        (r#"{"moduleResolution":"nodenext","target":"es3"}"#, M::CommonJs, R::NodeNext),
        (r#"{"moduleResolution":"classic"}"#, M::CommonJs, R::Bundler),
        (r#"{"module":"commonjs","moduleResolution":"bundler"}"#, M::CommonJs, R::Bundler),
        (r#"{"module":"x","moduleResolution":null}"#, M::EsNext, R::Bundler),
    ];
    for (text, module, resolution) in cases {
        let config = options(text);
        assert_eq!((config.module, config.module_resolution), (module, resolution), "{text}");
    }
}

#[test]
fn paths_are_absolute_and_in_order() {
    let config = options(
        r#"{"baseUrl":"./src/","paths":{"z":["b"],"a/*":["c/*","${configDir}/d"]},"rootDirs":["x","../y"],
            "typeRoots":["t"],"outDir":"dist","moduleSuffixes":[".ios",""],"customConditions":["source"]}"#,
    );
    assert_eq!(config.base_url.as_deref(), Some("/r/src"));
    assert_eq!(config.paths_base, "/r/src");
    let mapping = [("z", vec!["b"]), ("a/*", vec!["c/*", "/r/d"])];
    assert_eq!(config.paths.entries().len(), mapping.len());
    for ((pattern, targets), (expected, expected_targets)) in config.paths.entries().iter().zip(&mapping) {
        assert_eq!(**pattern, **expected);
        assert!(targets.iter().map(|target| &**target).eq(expected_targets.iter().copied()));
    }
    assert_eq!(config.root_dirs, ["/r/x", "/y"]);
    assert_eq!(config.type_roots.as_deref(), Some(["/r/t".to_owned()].as_slice()));
    assert_eq!((config.out_dir.as_deref(), config.composite), (Some("/r/dist"), false));
    assert_eq!(
        (config.module_suffixes, config.custom_conditions),
        (vec![".ios".into(), String::new()], vec!["source".into()])
    );
}

#[test]
fn extends_lays_files_over_each_other() {
    let leaf = |extends: &str| format!(r#"{{"extends":{extends},"compilerOptions":{{"outDir":null}}}}"#);
    let one = r#"{"compilerOptions":{"paths":{"a":["x"]},"outDir":"out","baseUrl":"./b"},"include":["src"]}"#;
    let two = r#"{"extends":"./one","compilerOptions":{"baseUrl":null,"rootDir":"${configDir}/s"},"exclude":["${configDir}/e"]}"#;
    let files = |extends: &str| {
        let leaf = leaf(extends);
        config(&[("tsconfig.json", &leaf), ("conf/one.json", one), ("conf/two.json", two)])
    };
    let merged = files(r#""./conf/two""#);
    assert_eq!((merged.base_url.as_deref(), merged.paths_base.as_str()), (None, "/r/conf"));
    assert_eq!((merged.out_dir.as_deref(), merged.root_dir.as_deref()), (None, Some("/r/s")));
    let later_wins = files(r#"["./conf/two.json","./conf/one.json"]"#);
    assert_eq!((later_wins.base_url.as_deref(), later_wins.paths_base.as_str()), (Some("/r/conf/b"), "/r/conf/b"));
    assert_eq!(later_wins.root_dir.as_deref(), Some("/r/s"));
}

#[test]
fn lists_are_inherited_relative_to_their_file() {
    let files = [
        ("tsconfig.json", r#"{"files":[],"references":[{"path":"app"}]}"#),
        ("app/tsconfig.json", r#"{"extends":["../conf/base.json","../conf/more.json"]}"#),
        ("conf/base.json", r#"{"include":["../src","${configDir}/gen"],"exclude":["../never"]}"#),
        ("conf/more.json", r#"{"exclude":["../src/not"]}"#),
    ];
    let owners = [
        ("src/x.ts", "app/tsconfig.json"),
        ("src/not/x.ts", "tsconfig.json"),
        ("conf/gen/x.ts", "tsconfig.json"),
        ("other.ts", "tsconfig.json"),
    ];
    check_owners(&files, &owners, &[]);
}

/// The file that an `extends` in `/r/p` resolves to, identified by its `outDir`.
#[test]
fn extends_finds_configurations_in_packages() {
    let files = [
        ("tsconfig.json", "{}"),
        ("p/package.json", r##"{"name":"self","exports":{"./c":"./own.json"},"imports":{"#c":"./own.json"}}"##),
        ("p/own.json", "{}"),
        ("p/tsconfig.json", "{}"),
        ("node_modules/plain/tsconfig.json", "{}"),
        ("node_modules/plain/strict.json", "{}"),
        ("node_modules/@s/field/package.json", r#"{"tsconfig":"./conf/main.json"}"#),
        ("node_modules/@s/field/conf/main.json", "{}"),
        ("node_modules/@s/field/tsconfig.json", "{}"),
        (
            "node_modules/exp/package.json",
            r#"{"exports":{".":{"import":"./no.json","types":"./t.json"},"./p/*":["./gone.json","./c/*.json"],"./d/":"./c/","./n":null}}"#,
        ),
        ("node_modules/exp/t.json", "{}"),
        ("node_modules/exp/c/x.json", "{}"),
        ("node_modules/exp/n.json", "{}"),
        ("node_modules/linked", "-> /store/linked"),
        ("/store/linked/tsconfig.json", "{}"),
        ("/node_modules/above/tsconfig.json", "{}"),
    ];
    let memory = Memory::new("/r", &files);
    let cases = [
        ("./own", Some("/r/p/own.json")),
        ("./own.json", Some("/r/p/own.json")),
        ("/r/p/own", Some("/r/p/own.json")),
        ("./gone.json", None),
        ("..", Some("/r/tsconfig.json")),
        (".", Some("/r/p/tsconfig.json")),
        ("", None),
        ("plain", Some("/r/node_modules/plain/tsconfig.json")),
        ("plain/strict", Some("/r/node_modules/plain/strict.json")),
        ("plain/strict.json", Some("/r/node_modules/plain/strict.json")),
        ("@s/field", Some("/r/node_modules/@s/field/conf/main.json")),
        ("@s/field/conf/main", Some("/r/node_modules/@s/field/conf/main.json")),
        ("exp", Some("/r/node_modules/exp/t.json")),
        ("exp/p/x", Some("/r/node_modules/exp/c/x.json")),
        ("exp/d/x.json", Some("/r/node_modules/exp/c/x.json")),
        ("exp/n", None),
        ("exp/t.json", None),
        ("linked", Some("/store/linked/tsconfig.json")),
        ("above", Some("/node_modules/above/tsconfig.json")),
        ("self/c", Some("/r/p/own.json")),
        ("#c", Some("/r/p/own.json")),
        ("http://x", None),
    ];
    for (name, expected) in cases {
        let place = extends::ExtendsScope::new(inside::Inside::new(&memory, "/r"));
        assert_eq!(extends::resolve(&place, name, "/r/p").as_deref(), expected, "{name}");
    }
}

#[test]
fn a_broken_link_costs_that_link_only_and_is_reported_once() {
    let files = [
        ("tsconfig.json", r#"{"extends":["./gone","./broken.json","./good.json"]}"#),
        ("other/tsconfig.json", r#"{"extends":"../broken.json"}"#),
        ("broken.json", "{\n\"compilerOptions\": {\"outDir\":\"x\"}"),
        ("good.json", r#"{"compilerOptions":{"baseUrl":"."}}"#),
    ];
    let problems = [
        "broken.json:2: not valid JSON: `}` expected; only what could be read counts",
        "tsconfig.json: `extends` names \"./gone\", which does not exist; that link is left out",
    ];
    check_owners(&files, &[("x.ts", "tsconfig.json"), ("other/x.ts", "other/tsconfig.json")], &problems);
    let config = config(&files);
    assert_eq!((config.out_dir, config.base_url.as_deref()), (None, Some("/r")));
}

#[test]
fn damaged_configurations_still_apply() {
    let cases: [(&str, &str, Option<&str>); 6] = [
        (
            r#"{"compilerOptions":{"baseUrl":"src""#,
            "not valid JSON: `}` expected; only what could be read counts",
            Some("/r/src"),
        ),
        ("[{\"compilerOptions\":{\"baseUrl\":\".\"}}]", "the root of a configuration must be an object", Some("/r")),
        ("true", "the root of a configuration must be an object", None),
        (r#"{"compilerOptions":[]}"#, "`compilerOptions` must be an object; it is ignored", None),
        (r#"{"compilerOptions":{"baseUrl":1}}"#, "`baseUrl` must be a string; it is ignored", None),
        (r#"{"extends":1}"#, "`extends` must be a string or a list of strings; it is ignored", None),
    ];
    for (text, message, base_url) in cases {
        let memory = Memory::new("/r", &[("tsconfig.json", text)]);
        let configs = Configs::new(&memory, "/r");
        assert_eq!(configs.for_file("/r/x.ts").base_url.as_deref(), base_url, "{text}");
        let found: Vec<String> = configs.problems().into_iter().map(|problem| problem.message).collect();
        assert_eq!(found, [message], "{text}");
    }
}

#[test]
fn cycles_are_reported_once_wherever_they_are_entered() {
    let files = [
        ("a/tsconfig.json", r#"{"extends":"../b/tsconfig.json","compilerOptions":{"outDir":"a"}}"#),
        ("b/tsconfig.json", r#"{"extends":"../a/tsconfig.json","compilerOptions":{"rootDir":"b"}}"#),
    ];
    let message = "a/tsconfig.json: `extends` goes round in a circle: a/tsconfig.json -> b/tsconfig.json -> a/tsconfig.json; the last step is left out";
    check_owners(&files, &[("a/x.ts", "a/tsconfig.json"), ("b/x.ts", "b/tsconfig.json")], &[message]);
    let memory = Memory::new("/r", &files);
    for order in [["/r/a/x.ts", "/r/b/x.ts"], ["/r/b/x.ts", "/r/a/x.ts"]] {
        let configs = Configs::new(&memory, "/r");
        for file in order {
            let config = configs.for_file(file);
            assert_eq!((config.out_dir.as_deref(), config.root_dir.as_deref()), (Some("/r/a/a"), Some("/r/b/b")));
        }
    }
}

#[test]
fn hostile_chains_terminate() {
    // Every file extends every other one: the number of paths is astronomical.
    let names: Vec<String> = (0..30).map(|i| format!("c{i}.json")).collect();
    let all: Vec<String> = names.iter().map(|name| format!("\"./{name}\"")).collect();
    let text = format!("{{\"extends\":[{}]}}", all.join(","));
    let mut files: Vec<(&str, &str)> = names.iter().map(|name| (name.as_str(), text.as_str())).collect();
    files.push(("tsconfig.json", &text));
    config(&files);
    // A chain that would overflow the stack.
    let links: Vec<(String, String)> =
        (0..5_000).map(|i| (format!("l{i}.json"), format!("{{\"extends\":\"./l{}.json\"}}", i + 1))).collect();
    let mut files: Vec<(&str, &str)> = links.iter().map(|(name, text)| (name.as_str(), text.as_str())).collect();
    files.push(("tsconfig.json", r#"{"extends":"./l0.json"}"#));
    config(&files);
    // Nested diamonds: each file is reached on twice as many paths as the previous one, but there is no cycle.
    let links: Vec<(String, String)> = (0..90)
        .map(|i| (format!("d{i}.json"), format!("{{\"extends\":[\"./d{0}.json\",\"./d{0}.json\"]}}", i + 1)))
        .collect();
    let mut files: Vec<(&str, &str)> = links.iter().map(|(name, text)| (name.as_str(), text.as_str())).collect();
    files.push(("d90.json", r#"{"compilerOptions":{"baseUrl":"."}}"#));
    files.push(("tsconfig.json", r#"{"extends":"./d0.json"}"#));
    assert_eq!(config(&files).base_url.as_deref(), Some("/r"));
    // A backtracking matcher would take exponential time for this pattern.
    let stars = format!(r#"{{"include":["{}b.ts"],"references":[{{"path":"."}}]}}"#, "*a".repeat(2_000));
    let memory = Memory::new("/r", &[("tsconfig.json", &stars)]);
    Configs::new(&memory, "/r").for_file(&format!("/r/{}.ts", "a".repeat(250)));
}

#[test]
fn one_of_many_references_owns_a_file() {
    let mut files: Vec<(String, String)> = (0..40)
        .map(|i| (format!("p{i}/tsconfig.json"), format!(r#"{{"include":["../src/{i}/**/*","../all/*"]}}"#)))
        .collect();
    files.push((
        "p7/tsconfig.json".to_owned(),
        r#"{"files":["../src/x.ts"],"references":[{"path":"../deep"}]}"#.to_owned(),
    ));
    files.push(("deep/tsconfig.json".to_owned(), r#"{"include":["../below/*"]}"#.to_owned()));
    let references: Vec<String> = (0..40).map(|i| format!(r#"{{"path":"./p{i}"}}"#)).collect();
    files.push(("tsconfig.json".to_owned(), format!(r#"{{"files":[],"references":[{}]}}"#, references.join(","))));
    let files: Vec<(&str, &str)> = files.iter().map(|(name, text)| (name.as_str(), text.as_str())).collect();
    let memory = Memory::new("/r", &files);
    let configs = Configs::new(&memory, "/r");
    let owner = |file: &str| configs.for_file(file).file.clone().unwrap_or_default();
    assert_eq!(owner("/r/src/31/a/b.ts"), "/r/p31/tsconfig.json");
    assert_eq!(owner("/r/src/x.ts"), "/r/p7/tsconfig.json");
    assert_eq!(owner("/r/all/a.ts"), "/r/p0/tsconfig.json");
    assert_eq!(owner("/r/below/a.ts"), "/r/deep/tsconfig.json");
    assert_eq!(owner("/r/src/y.ts"), "/r/tsconfig.json");
}

#[test]
fn projects_that_refer_to_each_other_without_end_are_cut() {
    let files: Vec<(String, String)> = (0..2_000)
        .map(|i| {
            let text = format!(r#"{{"files":[],"references":[{{"path":"../p{}"}}]}}"#, (i + 1) % 2_000);
            (format!("p{i}/tsconfig.json"), text)
        })
        .collect();
    let files: Vec<(&str, &str)> = files.iter().map(|(name, text)| (name.as_str(), text.as_str())).collect();
    let memory = Memory::new("/r", &files);
    let configs = Configs::new(&memory, "/r");
    assert_eq!(configs.for_file("/r/p0/a.ts").file.as_deref(), Some("/r/p0/tsconfig.json"));
    let problems = configs.problems();
    assert!(problems[0].message.starts_with("`references` reaches more than 1024 projects"), "{problems:?}");
}

#[test]
fn inherited_paths_are_shared() {
    let memory = Memory::new(
        "/r",
        &[
            ("base.json", r#"{"compilerOptions":{"paths":{"@/*":["./src/*"]}}}"#),
            ("a/tsconfig.json", r#"{"extends":"../base.json"}"#),
            ("b/tsconfig.json", r#"{"extends":"../base.json"}"#),
        ],
    );
    let configs = Configs::new(&memory, "/r");
    let (a, b) = (configs.for_file("/r/a/x.ts"), configs.for_file("/r/b/x.ts"));
    assert!(Arc::ptr_eq(&a.paths, &b.paths));
    assert_eq!(a.paths_base, "/r");
}

#[test]
fn lists_that_every_import_would_try_are_cut() {
    let many: Vec<String> = (0..200).map(|i| format!(r#""d{i}""#)).collect();
    let text = format!(r#"{{"compilerOptions":{{"rootDirs":[{0}],"paths":{{"a/*":[{0}]}}}}}}"#, many.join(","));
    let memory = Memory::new("/r", &[("tsconfig.json", &text)]);
    let configs = Configs::new(&memory, "/r");
    let config = configs.for_file("/r/x.ts");
    assert_eq!((config.root_dirs.len(), config.paths.entries()[0].1.len()), (100, 100));
    assert_eq!(configs.problems().len(), 2);
}

proptest! {
    #[test]
    fn patterns_and_paths_never_panic(spec in "[a*?./{}$\\\\]{0,12}", path in "(/[a.*]{1,4}){0,5}") {
        for usage in [Usage::Include, Usage::Exclude] {
            if let Some(pattern) = patterns::Pattern::new(&spec, "/a", usage) {
                pattern.matches(&path);
            }
            patterns::refusal(&spec, usage);
        }
    }

    /// `exclude` removes a folder with everything below it.
    #[test]
    fn excludes_reach_downwards(spec in "[ab*?]{1,3}(/[ab*?]{1,3}){0,2}", path in "(/[ab]{1,2}){1,4}", below in "[a.]{1,3}") {
        if let Some(pattern) = patterns::Pattern::new(&spec, "/", Usage::Exclude)
            && pattern.matches(&path)
        {
            prop_assert!(pattern.matches(&paths::join(&path, &below)));
        }
    }
}
