//! Descriptions of modules.

use super::super::{ExtractOptions, Extractor};

#[track_caller]
fn check(source: &str, expected: Option<&str>) {
    check_limit(160, source, expected);
}

#[track_caller]
fn check_limit(description_limit: usize, source: &str, expected: Option<&str>) {
    let options = ExtractOptions { description_limit, ..ExtractOptions::default() };
    let facts = Extractor::new().extract("a.tsx", source.as_bytes(), &options).facts;
    assert_eq!(facts.description.as_deref(), expected, "{source}");
}

#[test]
fn prose_of_the_tagged_comment() {
    check("/** Prose. @module */", Some("Prose."));
    check("/**\n * Two\n *   lines.\n * @packageDocumentation\n */", Some("Two lines."));
    check("/**\n * @module name\n * Below.\n * @other x\n */", Some("Below."));
    check("/** @module name */", None);
    check("/** @packageDocumentation Beside. */", Some("Beside."));
    check("/**\n * Prose.\n * @author Me\n * @module\n */", Some("Prose."));
    check("/** Prose. */", Some("Prose."));
    check("/** Prose. `@module` */", Some("Prose."));
    check("/* Prose. @module */ // Prose. @module", None);
    check("/**\n * ```\n * @module\n * ```\n */", None);
    check("let a = '/** A. @module */', b = <a>/** B. @module */</a>, c = `/** C. @module */`", None);
    check("a;\n/** Late. @module */", Some("Late."));
}

#[test]
fn markup_is_reduced() {
    check("/** A {@link B|b}, {@link C c d}, {@link E}. @module */", Some("A b, c d, E."));
    check(
        "/** A `b*c*` **bold** *em* _it_ snake_case_name [text](u) ![alt](u). @module */",
        Some("A b*c* bold em it snake_case_name text alt."),
    );
    check("/** Mail a@b.c of @scope/name. @module */", Some("Mail a@b.c of @scope/name."));
    check("/** `unclosed [x {@link y. @module */", Some("`unclosed [x {@link y."));
    check("/** `<p>/context/**` and src/** or a ** b. @module */", Some("<p>/context/** and src/** or a ** b."));
    check("/** Both a/** and b/** stay. @module */", Some("Both a/** and b/** stay."));
}

#[test]
fn hidden_characters_are_dropped() {
    check("/** A\u{202e}b \u{200b} c\u{e0041}\u{1b}[0m. @module */", Some("Ab c[0m."));
    check(
        "/** \u{26a0}\u{fe0f} \u{1f469}\u{200D}\u{1f680} @module */",
        Some("\u{26a0}\u{fe0f} \u{1f469}\u{200D}\u{1f680}"),
    );
    check("/** \u{200b}\u{feff} @module */", None);
}

#[test]
fn ordinary_doc_comments_serve_where_no_tag_is() {
    check("/** First. Second. */\nimport 'a';", Some("First."));
    check("/** Uses a.b and `c`. More\n */\nimport 'a';", Some("Uses a.b and c."));
    check("/** @license MIT */\n/** What it does */\nimport 'a';", Some("What it does"));
    check("/** Copyright 2020 somebody. */\nimport 'a';", None);
    check("// Prose.\nimport 'a';\n/* Prose. */\nexport default 1;", None);
}

#[test]
fn the_longest_description_wins() {
    check("/** Short. @module */ /** Longer one. @packageDocumentation */", Some("Longer one."));
    check("/** Bb. @packageDocumentation */ /** Aa. @module */", Some("Aa."));
}

#[test]
fn a_long_description_is_cut_between_characters() {
    check_limit(4, "/** abcd @module */", Some("abcd"));
    check_limit(4, "/** abcde @module */", Some("abcd..."));
    check_limit(4, "/** äöü💡ß @module */", Some("äöü💡..."));
    check_limit(4, "/** abc def @module */", Some("abc..."));
    check_limit(4, "/** abce\u{301}f @module */", Some("abc..."));
    check_limit(4, "/** ab👩\u{200D}🚀c @module */", Some("ab..."));
}

#[test]
fn without_a_tag_the_first_sentence_of_the_leading_comment() {
    check("/** First, e.g. this. Second. */\nimport 'a';", Some("First, e.g. this."));
    check("/**\n * One\n * line.\n *\n * More.\n * @param x y\n */\nfunction f(x) {}", Some("One line."));
    check("#!/usr/bin/env node\n/* no */ // no\n'use strict';\n", None);
    check("/** @license MIT. Words. */\n/** Copyright me. */\n/** About. */\na;", Some("About."));
    check("/** @type {x} */\na;\n/** Late. */", None);
    check("a;\n/** Main. More. */\nexport default function f() {}\n/** Other. */\nexport const x = 1;", Some("Main."));
    check("a;\n/** Only. */\nexport class C {}", Some("Only."));
    check("a;\n/** One. */\nexport class C {}\n/** Two. */\nexport class D {}", None);
    check("/** Plain. */ a; /** Tagged. @module */", Some("Tagged."));
}

#[test]
fn leading_descriptions_are_found_without_parsing() {
    use super::super::describe::leading_description;
    let options = ExtractOptions::default();
    for (text, expected) in [
        ("/** A library of things. @module */ x", Some("A library of things.")),
        ("\u{feff}#! node\n'use strict';\n// x\n/* y */\n/** Words here. More. */", Some("Words here.")),
        ("/** @license x */ /** Plain. */ /** Tagged one. @packageDocumentation */", Some("Tagged one.")),
        ("import x; /** Late. @module */", None),
        ("/** open", None),
        ("'use", None),
        ("", None),
    ] {
        assert_eq!(leading_description(text, &options).as_deref(), expected, "{text}");
    }
}
