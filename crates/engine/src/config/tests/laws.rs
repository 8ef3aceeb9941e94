//! Laws that hold for each text, including hostile ones.

use crate::config::{Position, parse};

#[test]
fn hostile_files_are_parsed_in_linear_time() {
    let size = (1 << 20) - 20;
    let bomb: String = (1..10_000).map(|n| format!("a{n}: &a{n} [*a{}, *a{}]\n", n - 1, n - 1)).collect();
    let texts = [
        "[".repeat(size),
        "{a: ".repeat(size / 4),
        "- ".repeat(size / 2),
        "a: 1\n".repeat(size / 5),
        "? ".repeat(size / 2),
        "*a ".repeat(size / 3),
        "'".repeat(size),
        "\n".repeat(size),
        "#".repeat(size),
        format!("stan-core:\n  includes: [{}]", "a,".repeat(size / 3)),
        format!("stan-core: {{{}}}", (0..60_000).map(|n| format!("k{n}: 1, ")).collect::<String>()),
        format!("a0: &a0 x\n{bomb}"),
        format!("a: {}", "x".repeat(size)),
    ];
    for text in texts {
        // A super-linear reader would time out on these.
        drop(parse(&text, "x.yml"));
        drop(parse(&text, "x.json"));
    }
}

#[test]
fn mistakes_are_reported_up_to_a_limit() {
    let keys: String = (0..500).map(|index| format!("  zzzzzzzzzz{index}: 1\n")).collect();
    let error = parse(&format!("stan-core:\n{keys}"), "x.yml").unwrap_err();
    assert_eq!(error.findings.len(), 50);
}

proptest::proptest! {
    /// No text makes the parser panic, and every finding has a position in the text.
    #[test]
    fn any_text_is_read_or_refused(text in r"(stan-core:|  (includes|imports|context):|[\[\]{}:,&*!'#a0\t\n -]){0,24}") {
        for name in ["x.yml", "x.json"] {
            if let Err(error) = parse(&text, name) {
                let lines = text.lines().count() as u32;
                let is_inside = |place: Position| place.line >= 1 && place.line <= lines + 1;
                assert!(!error.findings.is_empty());
                assert!(error.findings.iter().all(|finding| finding.place.is_some_and(is_inside)), "{text:?} {error}");
            }
        }
    }

    /// JSON is YAML: both parsers give the same values.
    #[test]
    fn json_means_the_same_as_yaml(
        depth in 0u32..9,
        outside in proptest::bool::ANY,
        globs in proptest::collection::vec("[a-zä*/.]{1,6}", 0..4),
        unknown in "[a-z]{0,3}",
    ) {
        let globs = serde_json::to_string(&globs).unwrap();
        let text = format!(
            "{{\"stan-core\": {{\"includes\": {globs}, \"context\":\n {{\"externalDepth\": {depth}, \"outsideRoot\": {outside}}}, \"{unknown}\": 1}}}}"
        );
        let findings = |name| parse(&text, name).map_err(|error| error.findings);
        assert_eq!(findings("x.json"), findings("x.yml"));
    }
}
